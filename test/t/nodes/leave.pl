# Leaving retires a number, at once: nobody gets it again, so those who are drawing from it do no harm, and nobody
# waits for them. Where the registry is not told nothing has changed. The number of a node that is gone for good is
# retired on the registry; should it live after all, it finds at its next check that it has lost the number. An
# administrator can make a retired number free, once no unit of time can hold an ID of it.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $registry = new_server('registry', allows_streaming => 1);
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
sub new_session { my ($member) = @_; my $session = open_session($node, dbname => $member); backend_of($session); return $session }
my $take_over = 'SELECT snowid_check(take_over => true)';

is(at('east', q(SELECT snowid_join('registry'))), 'ERROR 58000', 'nothing to be named by');
like(message_of('east', q(SELECT snowid_join('registry'))), qr/HINT:  Name the node/, 'and what to do');
crash($node, 'kill');
start_server($node);

# Nobody waits, whoever is drawing, holds a batch, or has joined just now.
is(join_as($_->[0]), $_->[1], "$_->[0] has joined") foreach [ 'east', 1 ], [ 'west', 2 ];
my ($drawing, $batch, $idle) = map { new_session('east') } 1 .. 3;
ask($idle, q(BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1));
ask($drawing, 'BEGIN');
is(ask($drawing, 'SELECT snowid_shard(snowid_next())'), '1', 'drawing');
ask($batch, 'BEGIN; DECLARE own CURSOR FOR SELECT snowid_next_batch(snowid_default_shard(), 100000)');
like(ask($batch, 'FETCH own'), qr/^\d+$/, 'in the middle of a batch');
my $count = 'SELECT count(*) FROM snowid_internal.nodes WHERE node IS NOT NULL';
is(at('east', q(SET lock_timeout = '10s'; SELECT snowid_leave())), '', 'left, and waited for nobody');
is(message_of('west', 'SELECT snowid_leave()'), '', 'nothing is said');
is(on_registry($count), '0', 'both numbers are retired');
is(ask($drawing, 'SELECT snowid_shard(snowid_next())'), '0', 'who was drawing draws from 0');
is(ask($batch, 'MOVE 3000 FROM own'), 'ERROR 55000', 'the batch ends');
ask($_, 'ROLLBACK') foreach $drawing, $batch, $idle;
close_session($drawing, $batch, $idle);
is(number_of($_), '0|0', "$_: draws from 0") foreach 'east', 'west';
is(at('east', $_), 'ERROR 55000', "has left: $_") foreach 'SELECT snowid_leave()', 'SELECT snowid_check()', $take_over;
is(join_as('west'), 3, 'west has joined again, with a number that was never given');
is(on_registry(q(SELECT string_agg(number || coalesce(node, '-') || coalesce(left_node, '-'), ' ' ORDER BY number) FROM snowid_internal.nodes)),
    '1-east 2-west 3west-', 'which the registry knows');
is($registry->safe_psql('postgres', 'SELECT number, node, left_node, retired IS NOT NULL, is_free FROM snowid.registered_nodes ORDER BY 1'),
    "1||east|t|f\n2||west|t|f\n3|west||f|f", 'and shows');

# Durable before it is heard of, whatever the settings.
crash($registry, 'kill');
start_server($registry);
is(on_registry($count), '1', 'the registry has crashed: retired all the same');
my $held = hold_commits($registry);
my $leaving = new_session('west');
start_asking($leaving, 'SELECT snowid_leave()');
wait_for_waiting($registry, 1, 'SyncRep', 'register');
ok(!is_answered($leaving), 'who leaves waits for the registry\'s synchronous standby');
# He gives up: what the registry has heard of may be done.
$node->safe_psql('postgres', "SELECT pg_cancel_backend($leaving->{backend})");
is(answer($leaving), 'ERROR 57014', 'or gives up');
release_commits($registry, $held);
wait_for(sub { $registry->safe_psql('postgres', q(SELECT count(*) FROM pg_stat_activity WHERE state <> 'idle' AND query ~ 'register' AND pid <> pg_backend_pid())) eq '0' },
    'the registry to be done');
is(number_of('west'), '3|3', 'it was not yet retired: west goes on');
is(at('west', 'SELECT snowid_check()'), '3', 'and is who it is');
close_session($leaving);

# Not reached, refused there, or answered and lost.
crash($registry, 'kill');
is(at('west', 'SELECT snowid_leave()'), 'ERROR 08006', 'the registry is down: not left');
is(number_of('west'), '3|3', 'and draws as before');
start_server($registry);
is(at('west', 'SELECT snowid_check()'), '3', 'and is who it is');
is(at('west', 'BEGIN; SELECT snowid_leave(); ROLLBACK'), '', 'left and rolled back');
is(at('west', $_), 'ERROR 55000', "what was retired is not taken back: $_") foreach $take_over, 'SELECT snowid_check()', 'SELECT snowid_next()';
like(message_of('west', 'SELECT snowid_next()'), qr/node "west" has left the registry\nDETAIL:.*\nHINT:.*snowid_leave\(\) again/, 'and is told what to do');
is(at('west', 'SELECT snowid_leave(); SELECT snowid_default_shard()'), "\n0", 'but left');

# On the registry, for who is gone. Whoever may needs no right to the table.
is(join_as('west'), 4, 'west has joined anew');
is(attempt($registry, "SET ROLE mallory; $_"), 'ERROR 42501', "not for everybody: $_")
  foreach q(SELECT snowid.retire_node('west')), 'SELECT snowid.free_number(1)', 'SELECT snowid.settle_registry(8000)';
$registry->safe_psql('postgres', 'GRANT EXECUTE ON FUNCTION snowid.retire_node(text), snowid.free_number(bigint, interval) TO keeper');
is(on_registry("BEGIN READ ONLY; SELECT snowid.retire_node('west')"), 'ERROR 25006', 'read-only');
is(on_registry('SELECT snowid.retire_node(NULL)'), '', 'null for none');
foreach my $name ('nowhere', 'east')
{
    is(on_registry("SELECT snowid.retire_node('$name')"), 'ERROR 42704', "no node: $name");
    like(($registry->psql('postgres', "SELECT snowid.retire_node('$name')"))[2], qr/node "$name" does not exist\nHINT:.*snowid\.registered_nodes/, "no node: $name: says so");
}
my $row = q(SELECT node, left_node, retired BETWEEN now() - interval '1 min' AND now(), is_free FROM snowid_internal.nodes WHERE number = );
my $session = new_session('west');
is(ask($session, 'SELECT snowid_shard(snowid_next())'), '4', 'west draws');
is(on_registry("SET ROLE keeper; SELECT snowid.retire_node('west')"), '', 'west is retired');
crash($registry, 'kill');
start_server($registry);
is(on_registry("$row 4"), '|west|t|f', 'also after a crash');
is(on_registry("SELECT snowid.retire_node('west')"), 'ERROR 42704', 'once only');
is(ask($session, 'SELECT snowid_shard(snowid_next())'), '4', 'west lives, and draws until it asks');
close_session($session);
sub check_lost
{
    my ($member, $name) = @_;
    is(at($member, 'SELECT snowid_check()'), 'ERROR 55000', "$name: found at the next check");
    is(at($member, $_), 'ERROR 55000', "$name: refuses: $_") foreach 'SELECT snowid_next()', 'SELECT snowid_next(77)';
    crash($node, 'kill');
    start_server($node);
    like(message_of($member, "SELECT snowid_next($_)"), qr/another server uses number/, "$name: also after a crash") foreach '', 77;
    is(at($member, $take_over), 'ERROR 55000', "$name: and cannot take it over");
    like(message_of($member, $take_over), qr/is retired or another's/, "$name: and is told why");
    is(at($member, 'SELECT snowid_leave(); SELECT snowid_default_shard(), snowid_shard(snowid_next(77))'), "\n0|77", "$name: but forget it");
    return;
}
check_lost('west', 'retired');

# Who claims a number by a name, and does not come to an end, keeps others from that name, and not for ever.
$registry->safe_psql('postgres', 'GRANT EXECUTE ON FUNCTION snowid.register TO mallory');
my $holder = open_session($registry, user => 'mallory');
is(ask($holder, q(BEGIN; SELECT verdict FROM snowid.register('claim', 'north', 0, 'mine', 0, 17, 'd', 1, 1, 1, ''))), 'held', 'a claim that is not committed');
my $claiming = new_session('north');
start_asking($claiming, q(SELECT snowid_join('registry', 'north')));
wait_for_waiting($registry, 1, 'Lock', 'snowid.register');
set_clock(60, $registry);
is(answer($claiming), 'ERROR 08006', 'who claims by the same name gives up');
like($claiming->{err}, qr/somebody else is claiming a number as node "north"/, 'and says why');
set_clock(0, $registry);
like(ask($claiming, q(SELECT snowid_join('registry', 'the north'))), qr/^\d+$/, 'by another name it joins');
is(ask($claiming, 'SELECT snowid_leave()'), '', 'and leaves');
ask($holder, 'ROLLBACK');
close_session($holder, $claiming);

# Made free, and given to another.
is(join_as('west'), 5, 'west has joined anew');
is(on_registry("SELECT snowid.retire_node('west')"), '', 'west is retired');
is(on_registry("SET ROLE keeper; SELECT snowid.free_number(5, '0')"), 'ERROR 55000', 'not free at once');
set_clock(3600);
is(on_registry("SET ROLE keeper; SELECT snowid.free_number(5)"), 'ERROR 55000', 'nor an hour later, as long as nobody says that units are shorter');
is(join_as('south'), 7, 'so nobody gets it');
is(on_registry("SET ROLE keeper; SELECT snowid.free_number(5, '1 h')"), 'ERROR 55000', 'nor before a minute more');
set_clock(3720);
is(on_registry("SET ROLE keeper; SELECT snowid.free_number(5, '1 h')"), '', 'free');
crash($registry, 'kill');
start_server($registry);
is(on_registry("$row 5"), '|west|f|t', 'also after a crash');
is(join_as('north'), 5, 'and given to another');
check_lost('west', 'given to another');
is(at('north', 'SELECT snowid_check(), snowid_shard(snowid_next())'), '5|5', 'who has noticed nothing');
is(on_registry('SELECT snowid.free_number(5)'), 'ERROR 55000', 'whose number is not free');

# Who monitors sees all but secrets.
my $monitor = 'SET ROLE pg_monitor; ';
is(at('north', "${monitor}SELECT number, node, registry, joined <= checked, checked > now() - interval '1 h' FROM snowid.member"), '5|north|registry|t|t', 'a node, as monitors see it');
is(on_registry("${monitor}SELECT node, database, claimed <= last_seen, retired FROM snowid.registered_nodes WHERE number = 5"), 'north|north|t|', 'and at the registry');
is(at('north', $monitor . $_), 'ERROR 42501', "but not $_") foreach 'SELECT * FROM snowid_internal.membership', 'SELECT * FROM snowid_internal.nodes';
is($registry->safe_psql('postgres', q(SELECT string_agg(attname, ' ') FROM pg_attribute WHERE attrelid IN ('snowid.member'::regclass, 'snowid.registered_nodes'::regclass)
  AND attname ~ 'secret|token|incarnation')), '', 'no secret is in a view');

# A server that must join draws from no number that is not its own.
my $must = 'SET snowid.require_node_number = on; ';
is(at('east', "${must}SELECT snowid_next()"), 'ERROR 55000', 'it has to join');
like(at('east', "${must}SELECT problem FROM snowid.node_status"), qr/no number of its own/, 'and says so');
is(at('east', "${must}SELECT snowid_shard(snowid_next(77)), snowid_uuidv7() IS NOT NULL"), '77|t', 'it draws from shards that are named');
is(at('east', "SELECT snowid_next() > 0; ${must}SELECT snowid_next()"), 'ERROR 55000', 'also a session that has drawn');
is(at('east', "${must}SET snowid.shard = 7; SELECT snowid_shard(snowid_next())"), '7', 'or that a setting names');
is(at('north', "${must}SELECT snowid_shard(snowid_next())"), '5', 'who has joined draws');
is(at('east', "SELECT snowid_next(77); SET ROLE pg_monitor; ${must}"), 'ERROR 42501', 'superusers alone say so');

# By hand no number is forgotten.
foreach my $setting ('', 'SET session_replication_role = replica; ')
{
    my $sql = "${setting}DELETE FROM snowid_internal.nodes WHERE number = 7";
    is(on_registry($sql), 'ERROR 0A000', $sql);
}
like(($registry->psql('postgres', 'DELETE FROM snowid_internal.nodes'))[2], qr/HINT:.*snowid\.retire_node\(\)/, 'and what to do instead');
is(at('south', 'SELECT snowid_check()'), '7', 'nothing was deleted');

# The foreign server is gone.
foreach my $sql ('SELECT snowid_check()', 'SELECT snowid_leave()', $take_over)
{
    $node->safe_psql('south', 'ALTER SERVER registry RENAME TO central');
    is(at('south', $sql), 'ERROR 42704', "no server: $sql");
    like(message_of('south', $sql), qr/server "registry" does not exist\nHINT:.*rename it back: .*as node "south"/, "no server: $sql: what to do");
    unlike(message_of('west', q(SELECT snowid_join('nowhere'))), qr/HINT/, 'nothing to tell who has not joined');
    $node->safe_psql('south', 'ALTER SERVER central RENAME TO registry');
    is(at('south', 'SELECT snowid_check()'), '7', 'renamed back: as before');
}
check_log($_) foreach $node, $registry;
$_->stop foreach $node, $registry;
done_testing();
