# The registry itself is dumped and restored, copied, and its standby promoted. No node stops for that, and none
# is taken for a copy. Where it is another registry now, nodes go on and ask it nothing before they are told that
# it has moved, so that two that are alive are found out; where it is the same one, and older, it learns from each
# node that asks. It gives no new number before somebody has said which ones it may have given.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $registry = new_server('registry', allows_streaming => 1);
$registry->start;
# Who dumps and restores need be no superuser.
$registry->safe_psql('postgres', 'CREATE ROLE keeper LOGIN CREATEDB');
$registry->safe_psql('postgres', "CREATE DATABASE $_ OWNER keeper") foreach 'first', 'second';
$registry->safe_psql('first', 'SET ROLE keeper; CREATE EXTENSION snowid');
my $node = new_server('node');
$node->start;
my @members = qw(a b c d e f g h i);
foreach my $member (@members)
{
    $node->safe_psql('postgres', "CREATE DATABASE $member");
    add_source($node, $registry, name => 'registry', dbname => $member);
}

sub point
{
    my ($member, $dbname, $server) = @_;
    point_at($node, $server // $registry, name => 'registry', dbname => $member);
    $node->safe_psql($member, "ALTER SERVER registry OPTIONS (SET dbname '$dbname')");
    return;
}
sub ask_at { my ($dbname, $server) = @_; point($_, $dbname, $server) foreach @members; return }
sub at { my ($member, $sql) = @_; return attempt($node, $sql, dbname => $member) }
sub check { my ($member) = @_; return at($member, 'SELECT snowid_check()') }
my $moved = 'SELECT snowid_check(registry_moved => true)';
sub join_as { my ($member) = @_; return at($member, "SELECT snowid_join('registry', '$member')") }
sub message_of { my ($member, $sql) = @_; return ($node->psql($member, $sql))[2] }
sub settle { my ($dbname, $greatest, $server) = @_; return attempt($server // $registry, "SET ROLE keeper; SELECT snowid.settle_registry($greatest)", dbname => $dbname) }
sub given
{
    my ($dbname, $server) = @_;
    return ($server // $registry)->safe_psql($dbname, q(SELECT string_agg(number || coalesce(node, '-'), ' ' ORDER BY number) FROM snowid_internal.nodes));
}

# A check that the registry has learnt from, and says so, there and here.
sub check_older
{
    my ($member, $number, $server, $name, $sql) = @_;
    my $place = -s $server->logfile;
    my ($status, $out, $message) = $node->psql($member, $sql // 'SELECT snowid_check()');
    is("$status $out", "0 $number", "$name: $member is who it is");
    like($message, qr/WARNING:.*registry over server "registry" is older than this node\nDETAIL:.*number $number.*\nHINT:.*settle_registry/, "$name: $member warns");
    like(slurp_file($server->logfile, $place), qr/WARNING:.*registry is older than node "$member", and has learnt of number $number/, "$name: so does the registry");
    return;
}
sub check_quiet
{
    my ($member, $number, $name, $sql) = @_;
    my ($status, $out, $message) = $node->psql($member, $sql // 'SELECT snowid_check()');
    is("$status $out $message", "0 $number ", "$name: $member is who it is");
    return;
}

# Another registry than $number's of $member: it goes on, and has it retired only there where it was given.
sub check_moved
{
    my ($member, $number, $name) = @_;
    foreach my $sql ('SELECT snowid_check()', 'SELECT snowid_check(take_over => true)', 'SELECT snowid_leave()')
    {
        is(at($member, $sql), 'ERROR 55000', "$name: $member: $sql");
    }
    like(message_of($member, 'SELECT snowid_check()'),
        qr/is not the registry that node "$member" has joined\nDETAIL:.*keeps its number $number.*\nHINT:.*snowid_check\(registry_moved => true\)/, "$name: $member is told what to do");
    is(at($member, 'SELECT snowid_shard(snowid_next()), snowid_shard(snowid_next(77))'), "$number|77", "$name: $member goes on");
    return;
}
sub check_unsettled
{
    my ($member, $name) = @_;
    is(join_as($member), 'ERROR 55000', "$name: gives no new number");
    like(message_of($member, "SELECT snowid_join('registry', '$member')"), qr/may have given numbers that it does not know of\nDETAIL:.*\nHINT:.*settle_registry/, "$name: and says why");
    return;
}

ask_at('first');
is(join_as($_->[0]), $_->[1], "$_->[0] has joined") foreach [ 'a', 1 ], [ 'b', 2 ], [ 'c', 3 ];
is(at('c', 'SELECT snowid_leave()'), '', 'c has left');
my $dump = "$dir/registry.sql";
command_ok([ 'pg_dump', '-d', $registry->connstr('first') . ' user=keeper', '-f', $dump ], 'the registry is dumped by its owner');
# Later than the dump: two more exchanges, a node, and one that has left again.
check_quiet(@$_, 'dumped') foreach [ 'a', 1 ], [ 'a', 1 ];
is(join_as('c'), '4', 'c joins again');
is(join_as('d'), '5', 'd joins');
is(at('d', 'SELECT snowid_leave()'), '', 'd has left');
# And a copy of b, with all that b knows.
$node->stop;
$node->backup_fs_cold('copy');
$node->start;
my $copy = PostgreSQL::Test::Cluster->new('copy');
$copy->init_from_backup($node, 'copy');
$copy->start;

sub restore
{
    my ($dbname, $file) = @_;
    command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $registry->connstr($dbname) . ' user=keeper', '-f', $file ],
        "restored in $dbname");
    return;
}

# 1. Restored from a dump: another registry.
restore('second', $dump);
my $rows = q(SELECT md5(string_agg(n::text, ',' ORDER BY number)) FROM snowid_internal.nodes n);
my $restored = $registry->safe_psql('second', $rows);
ask_at('second');
check_moved(@$_, 'restored') foreach [ 'a', 1 ], [ 'b', 2 ], [ 'c', 4 ];
check_unsettled('d', 'restored');
is($registry->safe_psql('second', $rows), $restored, 'restored: nothing has changed');
check_older('a', 1, $registry, 'restored', $moved);
check_quiet('a', 1, 'restored, again') for 1, 2;
check_older('c', 4, $registry, 'restored: not known there', $moved);
check_quiet('c', 4, 'restored, again') for 1, 2;
is(given('second'), '1a 2b 3- 4c', 'which is known there from now on');
check_unsettled('d', 'restored, and heard of some');
is(settle('second', $_), $_ eq '3' ? 'ERROR 55000' : 'ERROR 22023', "not settled: $_") foreach '3', '-1', '8192', 'NULL';
like(($registry->psql('second', 'SELECT snowid.settle_registry(3)'))[2], qr/number 4 was given/, 'not settled: says why');
check_unsettled('d', 'not settled');
is(attempt($registry, 'SELECT snowid.settle_registry(5)', dbname => 'first'), '0', 'the old one has nothing to settle');
is(settle('second', 5), '1', 'settled: one number that it did not know');
is(join_as('d'), '6', 'what was given after the dump is not given again');
is(given('second'), '1a 2b 3- 4c 5- 6d', 'nor later');
is(attempt($registry, 'SELECT snowid.free_number(5)', dbname => 'second'), 'ERROR 55000', 'but if somebody says so, and not at once');

# A node that lies about its number costs no other: the registry's administrator need not believe it, then and later.
$registry->safe_psql('postgres', 'CREATE DATABASE lied_to');
$registry->safe_psql('lied_to', 'CREATE EXTENSION snowid; GRANT EXECUTE ON FUNCTION snowid.settle_registry TO keeper');
my $request_text = q(SELECT verdict, held_number FROM snowid.register('%s', '%s', %s, '%2$s', 1, 1, 'd', 1, 1, 1, ''));
sub request { return attempt($registry, sprintf($request_text, @_), dbname => 'lied_to') }
is(request('claim', 'honest', 0), 'held|1', 'an honest node');
is(request('check', 'liar', 8191), 'older|8191', 'a node says that it has the last number');
is(request('claim', 'next', 0), 'ERROR 55000', 'it may be so');
is(settle('lied_to', 1), 'ERROR 55000', 'and is believed');
is(attempt($registry, q(SELECT snowid.retire_node('liar')), dbname => 'lied_to'), '', 'it is not any more');
is(request('claim', 'next', 0), 'ERROR 55000', 'but nobody has said which is the greatest');
is(settle('lied_to', $_->[0]), $_->[1], "settled from $_->[0] on") foreach [ 0, 'ERROR 55000' ], [ 1, '0' ];
is(request('claim', 'next', 0), 'held|2', 'the next joins');
is(settle('lied_to', 2), '0', 'settled another time');
is(request('claim', 'last', 0), 'held|3', 'and another one joins');

# Of two copies one is found here, too.
is(attempt($copy, q(ALTER SERVER registry OPTIONS (SET dbname 'second')), dbname => 'b'), '', 'a copy of b');
is(attempt($copy, $moved, dbname => 'b'), '2', 'the copy of b comes first');
is(at('b', $moved), 'ERROR 55000', 'b comes second, and is found');
is(at('b', $_), 'ERROR 55000', "and refuses: $_") foreach 'SELECT snowid_next()', 'SELECT snowid_next(77)';
is(at('b', 'SELECT snowid_check(take_over => true)'), 'ERROR 55000', 'it does not take over at another registry');
is(at('b', 'SELECT snowid_check(take_over => true, registry_moved => true)'), '2', 'before it is told that it is the one');
is(attempt($copy, 'SELECT snowid_check()', dbname => 'b'), 'ERROR 55000', 'and the copy is found');
is(join_as('b'), '2', 'b has joined');

# Two registries that are alive: who asks both is told.
point('a', 'first');
check_moved('a', 1, 'the old registry lives');
point('e', 'first');
is(join_as('e'), '6', 'which gives a number that the new one has given');
point('e', 'second');
check_moved('e', 6, 'the new registry');
is(at('e', $moved), 'ERROR 55000', 'it has given the number to another');
is(at('e', 'SELECT snowid_next()'), 'ERROR 55000', 'so e refuses');
check_quiet('d', 6, 'the other one has noticed nothing');
is(at('e', 'SELECT snowid_leave(); SELECT snowid_default_shard()'), "\n0", 'e forgets it');
point('a', 'second');
check_quiet('a', 1, 'back at the new one');

# 2. Restored in the same database, and copied by CREATE DATABASE.
sub restore_in_place
{
    $registry->safe_psql('second', 'DROP EXTENSION snowid; DROP SCHEMA IF EXISTS snowid');
    restore('second', @_);
    return;
}
command_ok([ 'pg_dump', '-d', $registry->connstr('second') . ' user=keeper', '-f', "$dir/second.sql" ], 'dumped once more');
check_quiet('a', 1, 'dumped once more') for 1, 2;
restore_in_place("$dir/second.sql");
check_moved(@$_, 'restored in place') foreach [ 'a', 1 ], [ 'd', 6 ];
check_older('a', 1, $registry, 'restored in place', $moved);
check_quiet(@$_, 'restored in place, nothing to learn', $moved) foreach [ 'b', 2 ], [ 'c', 4 ], [ 'd', 6 ];
check_unsettled('e', 'restored in place');
is(settle('second', 6), '0', 'settled: it has known all');
is(join_as('e'), '7', 'and gives the next');
$registry->safe_psql('postgres', 'CREATE DATABASE third TEMPLATE second OWNER keeper');
ask_at('third');
check_moved('a', 1, 'CREATE DATABASE');
check_quiet('a', 1, 'CREATE DATABASE', $moved);
check_unsettled('f', 'CREATE DATABASE');
ask_at('second');
check_older('a', 1, $registry, 'and back', $moved);
check_unsettled('f', 'and back');
is(settle('second', 7), '0', 'settled: it has known all');

# 3. A base backup of its server that is started is the same registry, as far as can be told; and its nodes go on.
$registry->backup('backup');
check_quiet('a', 1, 'backed up') for 1, 2;
is(join_as('f'), '8', 'f joins after that');
is(join_as('g'), '9', 'g joins after that');
is(at('g', 'SELECT snowid_leave()'), '', 'and leaves');
my $backup = PostgreSQL::Test::Cluster->new('restored');
$backup->init_from_backup($registry, 'backup');
$backup->start;
ask_at('second', $backup);
check_older('a', 1, $backup, 'from a backup');
check_older('f', 8, $backup, 'from a backup: not known there');
foreach my $member ([ 'a', 1 ], [ 'b', 2 ], [ 'c', 4 ], [ 'd', 6 ], [ 'e', 7 ], [ 'f', 8 ])
{
    check_quiet(@$member, 'from a backup') for 1, 2;
    is(at($member->[0], 'SELECT snowid_shard(snowid_next())'), $member->[1], "from a backup: $member->[0] draws");
}
check_unsettled('g', 'from a backup');
is(settle('second', 9, $backup), '1', 'settled: one number that it did not know');
is(join_as('g'), '10', 'the next one');

# 4. Promoted, and numbers behind: another registry.
my $standby = new_standby($backup, 'standby');
$standby->start;
$backup->wait_for_catchup($standby);
$standby->append_conf('postgresql.conf', "primary_conninfo = ''\n");
$standby->reload;
wait_for(sub { $backup->safe_psql('postgres', 'SELECT count(*) FROM pg_stat_replication') eq '0' }, 'the standby to be cut off');
check_quiet('a', 1, 'later than the standby') for 1, 2;
is(join_as('h'), '11', 'h joins, and its number is lost');
ask_at('second', $standby);
is(check('a'), 'ERROR 25006', 'a standby is no registry');
like(message_of('a', 'SELECT snowid_check()'), qr/server "registry" is read-only\nDETAIL:.*\nHINT:.*target_session_attrs/, 'and says so');
is(join_as('i'), 'ERROR 25006', 'for nobody');
$standby->promote;
wait_for(sub { $standby->safe_psql('postgres', 'SELECT pg_is_in_recovery()') eq 'f' }, 'the promotion');
check_moved(@$_, 'promoted') foreach [ 'a', 1 ], [ 'h', 11 ];
check_unsettled('i', 'promoted');
check_older('a', 1, $standby, 'promoted', $moved);
check_quiet('b', 2, 'promoted', $moved);
check_older('h', 11, $standby, 'promoted', $moved);
is(settle('second', 11, $standby), '0', 'settled: it has learnt of all');
is(join_as('i'), '12', 'and gives the next');
# The old one is alive: it is found.
ask_at('second', $backup);
check_moved(@$_, 'the old primary lives') foreach [ 'a', 1 ], [ 'i', 12 ];
is(join('', grep { /(?:WARNING|PANIC):|TRAP/ && !/registry is older than node|is older than this node$/ } split /^/, slurp_file($node->logfile)), '', 'no other warning in the log of the node');
$_->stop foreach $node, $copy, $standby, $backup, $registry;
done_testing();
