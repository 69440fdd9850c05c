# Leaving stops the node, at once, durably, and for good, whatever the registry hears; and waits for nobody who is drawing.
# Runs in make test-all: it starts and crashes servers often.

use Snowid;
use SnowidNodes;

my $registry = ready_server('registry', allows_streaming => 1);
my $node = ready_server('node', conf => "wal_writer_delay = '10s'\nsynchronous_commit = off\n");
add_members($node, $registry, 'east', 'west');
sub at { my ($member, $sql) = @_; return attempt($node, $sql, dbname => $member) }
sub leaving { my ($member) = @_; return message_of($node, 'SELECT snowid.leave()', $member) }
sub retired { my ($number) = @_; return $registry->safe_psql('postgres', "SELECT retired IS NOT NULL FROM snowid.registry WHERE node_number = $number") }

# Nobody waits, whoever is drawing, holds a batch, or has joined just now.
is(join_as($node, $_->[0], $_->[0]), $_->[1], "$_->[0] has joined") foreach [ 'east', 1 ], [ 'west', 2 ];
my ($drawing, $batch, $idle) = map { open_session($node, dbname => 'east') } 1 .. 3;
ask($idle, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
is(ask($drawing, 'BEGIN; SELECT snowid_shard(snowid_next())'), '1', 'drawing');
ask($batch, 'BEGIN; DECLARE own CURSOR FOR SELECT snowid_next_batch(snowid_default_shard(), 100000); DECLARE named CURSOR FOR SELECT snowid_next_batch(7, 100000)');
like(ask($batch, "FETCH $_"), qr/^\d+$/, "in the middle of a batch: $_") foreach 'own', 'named';
is(at('east', q(SET lock_timeout = '10s'; SELECT snowid.leave())), '', 'left, and waited for nobody');
is(leaving('west'), '', 'nothing is said');
is(retired($_), 't', "number $_ is retired") foreach 1, 2;
is(ask($drawing, 'SELECT snowid_next()'), 'ERROR 55000', 'who was drawing draws no more');
is(ask($batch, 'MOVE 3000 FROM named; SELECT'), '', 'a batch of another shard goes on');
is(ask($batch, 'MOVE 3000 FROM own'), 'ERROR 55000', 'that of the number ends');
close_session($drawing, $batch, $idle);
foreach my $member ('east', 'west')
{
    is(at($member, "SELECT $_"), 'ERROR 55000', "$member has left: $_")
      foreach 'snowid_next()', 'snowid.check_node()', 'snowid.take_over_node()', 'snowid.accept_registry()';
    like(message_of($node, 'SELECT snowid_next()', $member), qr/node "$member" has left the registry\nHINT:.*snowid\.join\(\).*snowid\.default_shard/, "$member: and is told what to do");
    is(at($member, 'SELECT snowid_shard(snowid_next(7)); SET snowid.default_shard = 0; SELECT snowid_shard(snowid_next())'), "7\n0", "$member: draws from shards that are named");
    is(at($member, 'SELECT snowid.leave()'), '', "$member leaves once more");
}
set_clock(86400 * 400, $_) foreach $node, $registry;
is(join_as($node, 'west', 'west'), 3, 'a year later: a number that was never given');
set_clock(0, $_) foreach $node, $registry;

# Durable before it is heard of.
my $held = hold_commits($registry);
my $leaving = open_session($node, dbname => 'west');
start_asking($leaving, 'SELECT snowid.leave()');
wait_for_waiting($registry, 1, 'SyncRep', 'register');
ok(!is_answered($leaving), 'who leaves waits for the registry\'s synchronous standby');
is(at('west', 'SELECT snowid_next()'), 'ERROR 55000', 'and has stopped already');
crash_and_start($node, 'kill');
close_session($leaving);
release_commits($registry, $held);
is(at('west', 'SELECT snowid_next()'), 'ERROR 55000', 'also after a crash');
is(leaving('west') . retired(3), 't', 'which it says once more: the number is retired');

# Whatever the registry hears.
is(join_as($node, 'east', 'east'), 4, 'east joins anew');
stand_between($registry, "IF request = 'leave' THEN " . done_apart($registry) . " RAISE 'lost'; END IF;");
is(at('east', 'SELECT snowid.leave()'), '', 'leaving: the answer is lost');
is(at('east', 'SELECT snowid_next()'), 'ERROR 55000', 'it has stopped');
crash_and_start($node, 'kill');
is(at('east', 'SELECT snowid_next()'), 'ERROR 55000', 'also after a crash');
is(retired(4), 't', 'the number is retired');
stand_aside($registry);
is(leaving('east'), '', 'left again: done, without a warning');
is(join_as($node, 'east', 'east'), 5, 'joined anew');
crash($registry, 'kill');
like(message_of($node, 'BEGIN; SELECT snowid.leave(); ROLLBACK', 'east'),
    qr/WARNING:  registry has not confirmed that node "east" has left\nDETAIL:.*\nHINT:.*snowid\.retire_node\(5\)/, 'left while the registry is down: a warning');
is(at('east', 'SELECT snowid_next()'), 'ERROR 55000', 'stopped all the same, and rolled back nothing');
start_server($registry);
is(retired(5), 'f', 'the registry has not heard of it');
is(leaving('east') . retired(5), 't', 'told again: it has');

# The foreign server is gone.
is(join_as($node, 'west', 'west'), 6, 'west joins');
$node->safe_psql('west', 'ALTER SERVER registry RENAME TO central');
foreach my $sql ('SELECT snowid.check_node()', 'SELECT snowid.take_over_node()', 'SELECT snowid.accept_registry()')
{
    is(at('west', $sql), 'ERROR 42704', "no server: $sql");
    like(message_of($node, $sql, 'west'), qr/server "registry" does not exist\nHINT:.*rename it back: .*as node "west"/, "no server: $sql: what to do");
}
like(leaving('west'), qr/WARNING:  registry has not confirmed that node "west" has left\nDETAIL:  server "registry" does not exist/, 'left without it: a warning');
is(at('west', 'SELECT snowid_next()'), 'ERROR 55000', 'and it has stopped');
$node->stop;
end_test($registry);
