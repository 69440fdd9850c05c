# Who can set snowid's settings, and where: PostgreSQL learns of them when the library is loaded. In a session
# that has not used snowid, ALTER DATABASE, ALTER ROLE and ALTER SYSTEM are refused to all but superusers, and
# not checked; in one that has, and wherever the library is preloaded, they work, and bad values are refused.
# Preloading is allowed, changes nothing else, and does no harm where the extension is not.
#
# Runs in make test-all: it starts a thousand sessions.

use strict;
use warnings;

use File::Spec;
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('settings');
$node->append_conf('postgresql.conf', "timezone = 'UTC'");
$node->start;
my $version = $node->safe_psql('postgres', 'SHOW server_version_num');
$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN; CREATE ROLE plain LOGIN; CREATE ROLE boss LOGIN SUPERUSER;'
      . ' CREATE DATABASE app OWNER owner');
$node->safe_psql('postgres', 'CREATE DATABASE bare');
$node->safe_psql('app', 'SET ROLE owner; CREATE EXTENSION snowid; CREATE SEQUENCE numbers INCREMENT 1000;'
      . ' CREATE SEQUENCE keyed INCREMENT 1000; CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(), n int);'
      . ' GRANT ALL ON photos, numbers, keyed TO plain;'
      . ' SELECT snowid.release_shard(77)');

# In a session of its own: `first`, and then the statement that is asked for.
sub in_session
{
    my ($user, $first, $sql, $dbname) = @_;
    my $session = open_session($node, user => $user, dbname => $dbname // 'app');
    ask($session, $first) if $first;
    my $answer = ask($session, $sql);
    close_session($session);
    return $answer;
}

# The ways to store a setting. The database's is stored for its sessions of all roles, the others for those of
# the role that stores it.
sub ways
{
    my ($user) = @_;
    return ('ALTER DATABASE' => 'ALTER DATABASE app', 'ALTER ROLE' => "ALTER ROLE $user",
        'ALTER ROLE IN DATABASE' => "ALTER ROLE $user IN DATABASE app");
}

# Stores a shard in a way that works, and looks for it in a new session.
sub check_stored
{
    my ($name, $user, $first, $way) = @_;
    is(in_session($user, $first, "$way SET snowid.default_shard = 7"), '', "$name: stored");
    is(in_session($user, '', 'SELECT snowid_shard(snowid_next())'), '7', "$name: new sessions have it");
    is(in_session($user, $first, "$way RESET snowid.default_shard"), '', "$name: taken back");
    is(in_session($user, '', 'SELECT snowid_shard(snowid_next())'), '0', "$name: and gone");
    return;
}

# What is so in a session that knows the settings: `first` is what makes it know them.
sub check_known
{
    my ($how, $first) = @_;
    foreach my $user (qw(boss owner plain))
    {
        my %way = ways($user);
        foreach my $way (sort keys %way)
        {
            my $name = "$how, $user, $way";
            if ($user eq 'plain' && $way eq 'ALTER DATABASE')
            {
                is(in_session($user, $first, "$way{$way} SET snowid.default_shard = 7"), 'ERROR 42501', "$name: not the owner");
                next;
            }
            check_stored($name, $user, $first, $way{$way});
            # At both ends of what each may be; and what may not be stored there, or not by everyone.
            foreach my $bad ("shard = 'x'", 'shard = -2', 'max_wait = -1', q(max_wait = 'x'), q(segment_adapt = 'x'))
            {
                is(in_session($user, $first, "$way{$way} SET snowid.$bad"), 'ERROR 22023', "$name: $bad");
            }
            is(in_session($user, $first, "$way{$way} SET snowid.ceiling_step = 1000"), 'ERROR 55P02', "$name: ceiling_step");
            is(in_session($user, $first, "$way{$way} SET snowid.no_such = 1"), 'ERROR 42602', "$name: no such setting");
            is(in_session($user, $first, "$way{$way} SET snowid.max_lead = '2s'"), $user eq 'boss' ? '' : 'ERROR 42501',
                "$name: max_lead");
            is(in_session('boss', $first, "$way{$way} RESET snowid.max_lead"), '', "$name: max_lead is taken back");
        }
        is(in_session($user, $first, 'ALTER SYSTEM SET snowid.default_shard = 7'), $user eq 'boss' ? '' : 'ERROR 42501', "$how, $user: ALTER SYSTEM");
        is(in_session('boss', $first, 'ALTER SYSTEM RESET snowid.default_shard'), '', "$how, $user: ALTER SYSTEM is taken back");
    }
    foreach my $bad ("shard = 'x'", 'shard = -2', 'ceiling_step = 9', 'ceiling_step = 5001', 'section_keys = 0', 'max_lead = -1')
    {
        is(in_session('boss', $first, "ALTER SYSTEM SET snowid.$bad"), 'ERROR 22023', "$how: ALTER SYSTEM: $bad");
    }
    is(in_session('boss', $first, 'ALTER SYSTEM SET snowid.ceiling_step = 5000'), '', "$how: ALTER SYSTEM: ceiling_step");
    $node->reload;
    wait_for(sub { in_session('plain', 'SELECT snowid_timestamp(0)', 'SHOW snowid.ceiling_step') eq '5s' },
        'new sessions to have it');
    is(in_session('boss', $first, 'ALTER SYSTEM RESET snowid.ceiling_step'), '', "$how: ALTER SYSTEM: RESET");
    $node->reload;
    wait_for(sub { in_session('plain', 'SELECT snowid_timestamp(0)', 'SHOW snowid.ceiling_step') eq '1s' },
        'new sessions to have the default');
    is(in_session($_, $first, 'SHOW snowid.max_lead'), '1s', "$how, $_: SHOW") foreach qw(boss plain);
    return;
}

# Something of every family. It is the same however the library was loaded, and all draw from the same shared
# memory: what comes is above what came before.
my $greatest = 0;
my $least = 0;

sub check_draws
{
    my ($how, @sessions) = @_;
    my @opened = @sessions ? () : open_session($node, user => 'plain', dbname => 'app');
    foreach my $session (@sessions, @opened)
    {
        is(ask($session, 'INSERT INTO photos (n) SELECT generate_series(1, 100); SELECT count(*) FROM photos'
                  . " WHERE id > $greatest AND snowid_shard(id) = 0"), '100', "$how: IDs, above those of before");
        $greatest = ask($session, 'SELECT greatest(max(snowid_next_batch), snowid_reserve(0, 10)) + 9 FROM snowid_next_batch(0, 2000)');
        cmp_ok($greatest, '>', ask($session, 'SELECT max(id) FROM photos'), "$how: batches and reserves");
        my $next = ask($session, q(SELECT snowid_segment_next('numbers')));
        cmp_ok($next, '>', $least, "$how: segments");
        $least = $next;
        is(ask($session, q(SELECT b > a, d > c, f > e FROM (SELECT snowid_section_next('keyed', 7) AS a, snowid_section_next('keyed', 7 + 0) AS b,
            snowid_uuidv7() AS c, snowid_uuidv7() AS d, objectid_next() AS e, objectid_next() AS f OFFSET 0) t)),
            't|t|t', "$how: sections, UUIDs, ObjectIDs");
        is(ask($session, 'SELECT * FROM snowid_decode(11637205501278089)'), '2011-09-09 22:28:04.721+00|1341|905', "$how: reading");
        is(ask($session, 'SELECT node_number, source, problem FROM snowid.node_status'), '0|none|', "$how: the node's number");
        is(ask($session, 'SELECT snowid_next(77)'), 'ERROR 55000', "$how: a shard that was released");
        is(ask($session, 'SELECT snowid.advance_shard(1)'), 'ERROR 42501', "$how: rights");
    }
    close_session(@opened);
    return;
}

# A database without the extension, in which sessions may load the library all the same.
sub check_bare
{
    my ($how) = @_;
    my $session = open_session($node, dbname => 'bare');
    is(ask($session, 'SELECT 1'), '1', "$how, no extension: served");
    is($session->{err}, '', "$how, no extension: without a word");
    is(ask($session, 'SHOW snowid.default_shard'), '-1', "$how, no extension: the settings are known");
    is(ask($session, 'ALTER DATABASE bare SET snowid.default_shard = 3'), '', "$how, no extension: and can be set");
    is(ask($session, q(SELECT to_regnamespace('snowid') IS NULL, count(*) FROM pg_proc WHERE proname ~ 'snowid')), 't|0',
        "$how, no extension: nothing is made");
    is(ask($session, 'SELECT snowid_next()'), 'ERROR 42883', "$how, no extension: nor called");
    is(ask($session, 'CREATE EXTENSION snowid; SELECT snowid_shard(snowid_next())'), '0', "$how: created");
    is(in_session('boss', '', 'SELECT snowid_shard(snowid_next())', 'bare'), '3', "$how: created, with what was set");
    is(ask($session, 'DROP EXTENSION snowid; ALTER DATABASE bare RESET snowid.default_shard'), '', "$how: dropped");
    is(ask($session, 'SHOW snowid.default_shard'), '-1', "$how: dropped, the session goes on");
    close_session($session);
    return;
}

# As it comes: the session has not used snowid.
foreach my $user (qw(boss owner plain))
{
    my %way = ways($user);
    foreach my $way (sort keys %way)
    {
        my $name = "not used, $user, $way";
        if ($user eq 'boss')
        {
            check_stored($name, $user, '', $way{$way});
            # Nobody looks at the value before it is used. Then nobody takes the default for it.
            is(in_session($user, '', "$way{$way} SET snowid.default_shard = 'x'"), '', "$name: a bad value is stored");
            is(in_session($user, '', 'SELECT snowid_next()'), 'ERROR 22023', "$name: and refused when it is used");
            is(in_session($user, '', "$way{$way} RESET snowid.default_shard"), '', "$name: taken back");
            next;
        }
        is(in_session($user, '', "$way{$way} SET snowid.default_shard = 7"), 'ERROR 42501', "$name: refused");
    }
    is(in_session($user, '', 'SHOW snowid.default_shard'), 'ERROR 42704', "not used, $user: SHOW");
    is(in_session($user, '', 'SET snowid.default_shard = 9; SELECT snowid_shard(snowid_next())'), '9', "not used, $user: SET");
}
my $system = in_session('boss', '', 'ALTER SYSTEM SET snowid.default_shard = 7');
is($system, 'ERROR 42704', 'not used: ALTER SYSTEM on PostgreSQL 15') if $version < 160000;
is($system, '', 'not used: ALTER SYSTEM from PostgreSQL 17 on') if $version >= 170000;
is(in_session('boss', q(LOAD 'snowid'), 'ALTER SYSTEM RESET snowid.default_shard'), '', 'not used: ALTER SYSTEM is taken back');
is(in_session('owner', '', q(LOAD 'snowid')), 'ERROR 42501', 'LOAD is for superusers');
check_draws('not used');

# A superuser may let others set what the session does not know yet.
is(in_session('boss', '', 'GRANT SET ON PARAMETER snowid.default_shard TO PUBLIC'), '', 'granted');
check_stored('granted: the owner', 'owner', '', 'ALTER DATABASE app');
check_stored('granted: a plain role', 'plain', '', 'ALTER ROLE plain');
is(in_session('plain', '', 'ALTER DATABASE app SET snowid.default_shard = 7'), 'ERROR 42501', 'granted: not the owner');
is(in_session('plain', '', 'ALTER ROLE plain SET snowid.max_wait = 7'), 'ERROR 42501', 'granted: that one alone');
is(in_session('boss', '', 'REVOKE SET ON PARAMETER snowid.default_shard FROM PUBLIC'), '', 'revoked');
is(in_session('owner', '', 'ALTER DATABASE app SET snowid.default_shard = 7'), 'ERROR 42501', 'revoked: refused again');

# Once it has used snowid, in whatever way, and be it refused.
check_known('used', 'SELECT snowid_timestamp(0)');
my $before = open_session($node, user => 'plain', dbname => 'app');
check_draws('a session of before', $before);

# Loaded when a session begins: by the configuration, which sessions that begin after a reload have; and for one
# database.
$node->safe_psql('postgres', q(ALTER SYSTEM SET session_preload_libraries = 'snowid'));
$node->reload;
wait_for(sub { in_session('plain', '', 'SHOW snowid.default_shard') eq '-1' }, 'new sessions to load the library');
check_known('session_preload_libraries', '');
check_draws('session_preload_libraries');
check_draws('session_preload_libraries: old and new sessions', $before, my $after = open_session($node, user => 'plain', dbname => 'app'));
close_session($after);
check_bare('session_preload_libraries');
crash($node, 'kill');
$node->start;
close_session($before);
check_draws('session_preload_libraries, after a crash');
$node->safe_psql('postgres', 'ALTER SYSTEM RESET session_preload_libraries');
$node->reload;
wait_for(sub { in_session('plain', '', 'SHOW snowid.default_shard') eq 'ERROR 42704' }, 'new sessions not to load the library');

is(in_session('owner', '', q(ALTER DATABASE app SET session_preload_libraries = 'snowid')), 'ERROR 42501', 'one database: not its owner');
is(in_session('boss', '', q(ALTER DATABASE app SET session_preload_libraries = 'snowid')), '', 'one database: a superuser');
check_stored('one database: its owner', 'owner', '', 'ALTER DATABASE app');
check_stored('one database: a plain role', 'plain', '', 'ALTER ROLE plain IN DATABASE app');
is(in_session('boss', '', 'SHOW snowid.default_shard', 'bare'), 'ERROR 42704', 'one database: not in others');
check_draws('one database');
is(in_session('boss', '', 'ALTER DATABASE app RESET session_preload_libraries'), '', 'one database: taken back');

# Loaded when the server starts.
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'snowid'\n");
$node->restart;
check_known('shared_preload_libraries', '');
check_draws('shared_preload_libraries');
check_bare('shared_preload_libraries');
crash($node, 'kill');
$node->start;
check_draws('shared_preload_libraries, after a crash');
check_log($node);

# So loaded it is the server's until a restart: whoever replaces the file changes nothing before, for new
# sessions neither. Here the new one arranges shared memory differently, and would be refused.
my $new = build_library('new', '-DSNOWID_SHARED_ABI=12');
my $installed = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir()) . '/snowid.so';
my $pg_config = $ENV{PG_CONFIG} // 'pg_config';
system_or_bail('cp', `$pg_config --pkglibdir` =~ s/\n//r . '/snowid.so', $installed);
use_library($node, 'app', $installed);
$node->append_conf('postgresql.conf', "shared_preload_libraries = '$installed'\n");
$node->restart;
check_draws('before the library is replaced');
system_or_bail('cp', $new, "$installed.new");
rename "$installed.new", $installed or die "$installed: $!";
check_draws('the library is replaced');
$node->restart;
check_draws('the library is replaced, and the server restarted');

$node->stop;
done_testing();
