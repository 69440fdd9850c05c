# Leaving: who waits says for whom, what has begun can be undone as long as the number is not given back, and
# nobody draws meanwhile. The number of a node that is gone for good is given back on the registry; should it
# live after all, it finds at its next check that it has lost the number, be it free, another's or waiting.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $registry = new_server('registry');
# Nobody but who has to flushes anything.
$registry->append_conf('postgresql.conf', "wal_writer_delay = '10s'\nsynchronous_commit = off\n");
start_server($registry);
$registry->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE ROLE keeper LOGIN; CREATE ROLE mallory LOGIN');
my $node = new_server('node');
# Its system knows no name of the host, until it is started again.
my $dir = PostgreSQL::Test::Utils::tempdir();
append_to_file("$dir/nameless.c", <<'C');
#include <errno.h>
#include <stddef.h>
int gethostname(char *name, size_t length) { errno = EPERM; return -1; }
C
system_or_bail('gcc', '-shared', '-fPIC', '-o', "$dir/nameless.so", "$dir/nameless.c");
{
    local $ENV{LD_PRELOAD} = "$dir/nameless.so";
    start_server($node);
}
foreach my $member ('east', 'west', 'north', 'south')
{
    $node->safe_psql('postgres', "CREATE DATABASE $member");
    add_source($node, $registry, name => 'registry', dbname => $member);
}
sub at { my ($member, $sql) = @_; return attempt($node, $sql, dbname => $member) }
sub join_as { my ($member) = @_; return at($member, "SELECT snowid_join('registry', '$member')") }
sub number_of { my ($member) = @_; return at($member, 'SELECT snowid_default_shard(), snowid_shard(snowid_next())') }
sub on_registry { my ($sql) = @_; return attempt($registry, $sql) }
sub message_of { my ($member, $sql) = @_; return ($node->psql($member, $sql))[2] }
sub new_session
{
    my ($member) = @_;
    my $session = open_session($node, dbname => $member);
    backend_of($session);
    return $session;
}
sub start_leaving
{
    my ($session, $notice) = @_;
    start_asking($session, 'SELECT snowid_leave()');
    wait_until_waiting($node, $session, 'Lock');
    wait_for(sub { is_answered($session); $session->{err} =~ /NOTICE:.* waiting for $notice of this database to end/ }, "NOTICE of $notice");
    return;
}
my $take_over = 'SELECT snowid_check(take_over => true)';

is(at('east', q(SELECT snowid_join('registry'))), 'ERROR 58000', 'nothing to be named by');

# Nobody to wait for, somebody to wait for, and a cancel.
is(join_as($_->[0]), $_->[1], "$_->[0] has joined") foreach [ 'east', 1 ], [ 'west', 2 ];
is(message_of('west', 'SELECT snowid_leave()'), '', 'nobody to wait for: nothing is said');
is(join_as('west'), 3, 'west has joined again');
my ($leaving, $late, $drawing) = map { new_session('east') } 1 .. 3;
ask($late, 'BEGIN');
is(ask($drawing, 'SELECT snowid_shard(snowid_next())'), '1', 'drawing');
start_leaving($leaving, '1 transaction');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($leaving->{backend})");
is(answer($leaving), 'ERROR 57014', 'cancelled');
is(ask($drawing, $_), 'ERROR 55000', "then: $_") foreach 'SELECT snowid_next()', 'SELECT snowid_check()';
like($drawing->{err}, qr/is leaving the registry\nDETAIL:.* has begun and has not come to its end\.\nHINT:.*snowid_leave\(\) again; or, to stay, .*take_over/,
    'and is told what can be done');

# Staying. Nobody draws before it is sure.
my $taking = new_session('east');
ask($taking, 'BEGIN');
is(ask($taking, $take_over), '1', 'taken back');
is(number_of('east'), 'ERROR 55000', 'nobody draws before that is committed');
ask($taking, 'ROLLBACK');
is(number_of('east'), 'ERROR 55000', 'nor where it is rolled back');
is(ask($taking, $take_over), '1', 'taken back again');
is(ask($drawing, 'SELECT snowid_shard(snowid_next())'), '1', 'all draw');
is(at('east', 'SELECT snowid_check()'), '1', 'the registry knows it');
is(on_registry('SELECT node FROM snowid.nodes WHERE number = 1'), 'east', 'as before');

# Taken back while somebody still waits to leave, and left anew: who had waited does not give it back, for he
# has not waited for those that have drawn meanwhile.
start_leaving($leaving, '1 transaction');
is(ask($taking, $take_over), '1', 'taken back while somebody waits');
ask($late, 'COMMIT');
is(answer($leaving), 'ERROR 55000', 'who has waited says so');
is(number_of('east'), '1|1', 'it has stayed');
ask($late, 'BEGIN');
start_leaving($leaving, '1 transaction');
is(ask($taking, $take_over), '1', 'taken back while somebody waits');
ask($drawing, 'BEGIN; SELECT snowid_next()');
start_leaving($taking, '3 transactions');
ask($late, 'COMMIT');
is(answer($leaving), 'ERROR 55000', 'who had begun first gives up');
is(on_registry('SELECT node FROM snowid.nodes WHERE number = 1'), 'east', 'not given back while somebody draws');
ask($drawing, 'COMMIT');
is(answer($taking), '', 'who had begun last has left');
is(number_of('east'), '0|0', 'it has left');

# What the registry has heard of is not undone.
is(join_as('north'), 4, 'north has joined');
is(at('north', 'BEGIN; SELECT snowid_leave(); ROLLBACK'), '', 'left and rolled back');
is(at('north', $take_over), 'ERROR 55000', 'what was given back is not taken back');
is(number_of('north'), 'ERROR 55000', 'and not drawn from');
is(at('north', 'SELECT snowid_leave(); SELECT snowid_default_shard()'), "\n0", 'but left');
close_session($leaving, $late, $drawing, $taking);

# On the registry, for who is gone. Whoever may needs no right to the table.
is(attempt($registry, "SET ROLE mallory; SELECT snowid_leave('west')"), 'ERROR 42501', 'not for everybody');
$registry->safe_psql('postgres', 'GRANT EXECUTE ON FUNCTION snowid_leave(text) TO keeper');
is(on_registry("BEGIN READ ONLY; SELECT snowid_leave('west')"), 'ERROR 25006', 'read-only');
is(on_registry('SELECT snowid_leave(NULL)'), '', 'null for none');
foreach my $name ('nowhere', 'east')
{
    is(on_registry("SELECT snowid_leave('$name')"), 'ERROR 42704', "no node: $name");
    like(($registry->psql('postgres', "SELECT snowid_leave('$name')"))[2], qr/node "$name" does not exist\nHINT:.*snowid\.nodes/, "no node: $name: says so");
}
my $row = q(SELECT node, left_node, free_from >= last_id_time + interval '1 min', free_from BETWEEN now() + interval '50 s' AND now() + interval '70 s'
  FROM snowid.nodes WHERE number = );
my $session = new_session('west');
is(ask($session, 'SELECT snowid_shard(snowid_next())'), '3', 'west draws');
is(on_registry("SET ROLE keeper; SELECT snowid_leave('west')"), '', 'west is given back');
crash($registry, 'kill');
start_server($registry);
is(on_registry("$row 3"), '|west|t|t', 'so that it is free a minute later, also after a crash');
is(on_registry("SELECT snowid_leave('west')"), 'ERROR 42704', 'once only');
sub check_lost
{
    my ($member, $name) = @_;
    is(at($member, 'SELECT snowid_check()'), 'ERROR 55000', "$name: found at the next check");
    is(number_of($member), 'ERROR 55000', "$name: refuses");
    crash($node, 'kill');
    start_server($node);
    like(message_of($member, 'SELECT snowid_next()'), qr/another server goes by number/, "$name: also after a crash");
    is(at($member, $take_over), 'ERROR 55000', "$name: and cannot take it over");
    is(at($member, 'SELECT snowid_leave(); SELECT snowid_default_shard()'), "\n0", "$name: but forget it");
    return;
}
is(ask($session, 'SELECT snowid_shard(snowid_next())'), '3', 'west lives, and draws until then');
check_lost('west', 'given back');
close_session($session);

# The row was restored; the node's IDs are ahead of the clock.
is(join_as('west'), 5, 'west has joined anew');
is(on_registry(q(UPDATE snowid.nodes SET written_by = NULL, last_id_time = now() + interval '1 h' WHERE number = 5)), '', 'changed by hand');
is(on_registry("SELECT snowid_leave('west')"), '', 'west is given back');
is(on_registry("$row 5"), '|west|t|f', 'free a minute after its last ID');
check_lost('west', 'restored and given back');

# Given to another.
is(join_as('west'), 6, 'west has joined anew');
is(on_registry("SELECT snowid_leave('west')"), '', 'west is given back');
$registry->safe_psql('postgres', 'UPDATE snowid.nodes SET free_from = now() WHERE number = 6');
is(join_as('south'), 6, 'and its number to another');
check_lost('west', 'given to another');
is(at('south', 'SELECT snowid_check(), snowid_shard(snowid_next())'), '6|6', 'who has noticed nothing');

# By hand no number is free too early.
foreach my $setting ('', 'SET session_replication_role = replica; ')
{
    my $sql = "${setting}DELETE FROM snowid.nodes WHERE number = 6";
    is(on_registry($sql), 'ERROR 0A000', $sql);
}
like(($registry->psql('postgres', 'DELETE FROM snowid.nodes'))[2], qr/HINT:.*snowid_leave\(node\)/, 'and what to do instead');
is(at('south', 'SELECT snowid_check()'), '6', 'nothing was deleted');

# The foreign server is gone.
foreach my $sql ('SELECT snowid_check()', 'SELECT snowid_leave()', $take_over)
{
    $node->safe_psql('south', 'ALTER SERVER registry RENAME TO central');
    is(at('south', $sql), 'ERROR 42704', "no server: $sql");
    like(message_of('south', $sql), qr/server "registry" does not exist\nHINT:.*rename it back: .*as node "south"/, "no server: $sql: what to do");
    unlike(message_of('west', q(SELECT snowid_join('nowhere'))), qr/HINT/, 'nothing to tell who has not joined');
    $node->safe_psql('south', 'ALTER SERVER central RENAME TO registry');
    is(at('south', 'SELECT snowid_check()'), '6', 'renamed back: as before');
}
check_log($_) foreach $node, $registry;
$_->stop foreach $node, $registry;
done_testing();
