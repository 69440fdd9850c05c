# Preloading the library, for the server, its sessions or those of one database, is allowed, changes nothing of what snowid does, and
# does no harm where the extension is not. Loaded when the server starts it is the server's until a restart: whoever replaces the
# file changes nothing before.
# Runs in make test-all: it restarts the server often.

use Snowid;
use SnowidSettings;

my $node = server_with_roles();

# Something of every family, in a new session and those given. It is the same however the library was loaded, and all draw from the
# same shared memory: what comes is above what came before.
my ($greatest, $least) = (0, 0);

sub check_draws
{
    my ($how, @sessions) = @_;
    my $opened = open_session($node, user => 'plain', dbname => 'app');
    foreach my $session (@sessions, $opened)
    {
        my $answer = ask($session, <<"SQL");
INSERT INTO photos (n) SELECT generate_series(1, 100);
SELECT count(*) FROM photos WHERE id > $greatest AND snowid_shard(id) = 0;
SELECT b > a, d > c, f > e FROM (SELECT snowid_section_next('keyed', 7) AS a, snowid_section_next('keyed', 7 + 0) AS b,
    snowid_uuidv7() AS c, snowid_uuidv7() AS d, objectid_next() AS e, objectid_next() AS f OFFSET 0) t;
SELECT snowid_segment_next('numbers') > $least, snowid_timestamp(11637205501278089), node_number, source FROM snowid.node_status
SQL
        is($answer, "100\nt|t|t\nt|2011-09-09 22:28:04.721+00|0|none", "$how: all that snowid does");
        $greatest = ask($session, 'SELECT greatest(max(snowid_next_batch), snowid_reserve(0, 10)) + 9 FROM snowid_next_batch(0, 2000)');
        $least = ask($session, q(SELECT snowid_segment_next('numbers')));
        is(join(' ', map { ask($session, $_) } 'SELECT snowid_next(77)', 'SELECT snowid.advance_shard(1)'), 'ERROR 55000 ERROR 42501', "$how: released shards, rights");
    }
    close_session($opened);
    return;
}

# A database without the extension, in which sessions load the library all the same.
sub check_bare
{
    my ($how) = @_;
    is(join('|', ($node->psql('bare', 'SELECT 1'))[ 1, 2 ]), '1|', "$how, no extension: served, without a word");
    my $session = open_session($node, dbname => 'bare');
    foreach my $step (
        [ 'SHOW snowid.default_shard', '-1' ], [ q(SELECT to_regnamespace('snowid') IS NULL, count(*) FROM pg_proc WHERE proname ~ 'snowid'), 't|0' ],
        [ 'SELECT snowid_next()', 'ERROR 42883' ], [ 'ALTER DATABASE bare SET snowid.default_shard = 3', '' ],
        [ 'CREATE EXTENSION snowid; SELECT snowid_shard(snowid_next())', '0' ])
    {
        is(ask($session, $step->[0]), $step->[1], "$how, no extension: $step->[0]");
    }
    is(in_session($node, 'boss', '', 'SELECT snowid_shard(snowid_next())', 'bare'), '3', "$how: created, with what was set");
    is(ask($session, 'DROP EXTENSION snowid; ALTER DATABASE bare RESET snowid.default_shard; SHOW snowid.default_shard'), '-1', "$how: dropped, the session goes on");
    close_session($session);
    return;
}

check_draws('not preloaded');
my $before = open_session($node, user => 'plain', dbname => 'app');
check_draws('not preloaded', $before);
$node->safe_psql('postgres', q(ALTER SYSTEM SET session_preload_libraries = 'snowid'));
$node->reload;
wait_for(sub { in_session($node, 'plain', '', 'SHOW snowid.default_shard') eq '-1' }, 'new sessions to load the library');
check_draws('session_preload_libraries, with a session of before', $before);
close_session($before);
check_bare('session_preload_libraries');
crash_and_start($node, 'kill');
check_draws('session_preload_libraries, after a crash');
$node->safe_psql('postgres', 'ALTER SYSTEM RESET session_preload_libraries');
$node->restart;

my $alter = q(ALTER DATABASE app SET session_preload_libraries = 'snowid');
is(join('|', map { in_session($node, $_, '', $alter) } 'owner', 'boss'), 'ERROR 42501|', 'one database: a superuser says so, not its owner');
check_stored('one database', $node, 'owner', '', 'ALTER DATABASE app');
is(in_session($node, 'boss', '', 'SHOW snowid.default_shard', 'bare'), 'ERROR 42704', 'one database: not in others');
check_draws('one database');
is(in_session($node, 'boss', '', 'ALTER DATABASE app RESET session_preload_libraries'), '', 'one database: taken back');

$node->append_conf('postgresql.conf', "shared_preload_libraries = 'snowid'\n");
$node->restart;
check_draws('shared_preload_libraries');
check_bare('shared_preload_libraries');
crash_and_start($node, 'kill');
check_draws('shared_preload_libraries, after a crash');
check_log($node);
# The new one arranges shared memory differently, and would be refused.
my $new = build_library('new', '-DSNOWID_SHARED_ABI=12');
my $install = replaceable_library($node, installed_library(), 'app');
my $installed = $install->(installed_library());
$node->append_conf('postgresql.conf', "shared_preload_libraries = '$installed'\n");
$node->restart;
check_draws('before the library is replaced');
$install->($new);
check_draws('the library is replaced');
$node->restart;
check_draws('the library is replaced, and the server restarted');
end_test($node);
