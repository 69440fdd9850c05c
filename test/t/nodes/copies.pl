# Two servers with one node number would make the same IDs. The exchange of tokens finds a copy of all files, whichever of the
# two comes second: from then on, durably, it refuses all IDs, those of named shards, too, until it is stated that it is the
# node. Who takes over goes above all that the other one may have made.
# Runs in make test-all: it starts several servers, or crashes them.

use Snowid;
use SnowidNodes;

my $registry = ready_server('registry');
my $original = ready_server('original', allows_streaming => 1);
add_source($original, $registry, name => 'registry');

# Checks that a server has been found to be a copy, for good, and in all sessions.
my @drawn = ('EXECUTE draw', 'EXECUTE draw_named', 'SELECT snowid_next(7)', q(SELECT snowid_next(7, 'twitter')), 'SELECT snowid_next_batch(7, 2)',
    'SELECT snowid_next()');

sub check_found
{
    my ($node, $name) = @_;
    # Which looks at no catalog, and takes no lock, once it runs.
    my $busy = open_session($node);
    ask($busy, 'PREPARE draw AS SELECT snowid_shard(snowid_next()); PREPARE draw_named AS SELECT snowid_shard(snowid_next(7)); BEGIN');
    is(ask($busy, "EXECUTE $_->[0]"), $_->[1], "$name: draws until then") foreach ([ 'draw', 1 ], [ 'draw_named', 7 ]) x 8;
    is(check_node($node), 'ERROR 55000', "$name: found");
    foreach my $sql (@drawn, @drawn)
    {
        is(ask($busy, "SAVEPOINT before; $sql"), 'ERROR 55000', "$name: refuses in the middle of a transaction: $sql");
        ask($busy, 'ROLLBACK TO before');
    }
    is(ask($busy, 'SELECT snowid_uuidv7() IS NOT NULL, objectid_next() IS NOT NULL'), 't|t', "$name: but no UUIDs");
    close_session($busy);
    crash($node, 'kill');
    start_in_time($node);
    is(attempt($node, $_), 'ERROR 55000', "$name: also after a crash: $_") foreach @drawn[ 2 .. 5 ], 'SELECT snowid.check_node()';
    like(problem_of($node), qr/another server has replaced this one as node/, "$name: and says so");
    return;
}

is(join_as($original, 'the node'), '1', 'joined');
my $copy = start_in_time(new_copy($original));
is(number_of($copy), '1|1', 'a copy takes itself for the node');
is(check_node($original), '1', 'the original comes first');
check_found($copy, 'the copy comes second');
is(check_node($original) . number_of($original), '11|1', 'the original goes on');
is(attempt($copy, 'SELECT snowid.leave(); SELECT snowid_shard(snowid_next(7))'), "\n7", 'the copy leaves');
is(check_node($original), '1', 'which takes nothing from the original');
is(join_as($copy, 'the node'), '2', 'it joins as a node of its own');
is(check_node($_->[0]) . number_of($_->[0]), $_->[1], "node $_->[1]") foreach [ $original, '11|1' ], [ $copy, '22|2' ];
$copy->stop;

$copy = start_in_time(new_copy($original));
is(check_node($copy), '1', 'the copy comes first');
check_found($original, 'the original comes second');
my $moment = $registry->safe_psql('postgres', 'SELECT clock_timestamp()');
my $taking = start_taking_over($original);
like($taking->{err}, qr/NOTICE:.* waiting until .*\nDETAIL:.* 10 seconds ahead/, 'the original takes over, and waits');
$original->safe_psql('postgres', "SELECT pg_cancel_backend($taking->{backend})");
is(answer($taking), 'ERROR 57014', 'but not for the end of it');
close_session($taking);
is(number_of($original), 'ERROR 55000', 'it has not the number yet');
is(take_over($original), '1', 'the original takes over');
is(attempt($original, q(SET snowid.max_wait = '1min'; SELECT snowid_shard(snowid_next()), snowid_shard(snowid_next(7)))), '1|7', 'and draws');
is($original->safe_psql('postgres', "SELECT snowid_timestamp(snowid_next()) > '$moment'::timestamptz + interval '11 s'"),
    't', 'above what the copy can have made since');
is(check_node($copy), 'ERROR 55000', 'the copy comes second');

# Who leaves, and is a copy, takes nothing from the node; and of two that state it at once one gets the number.
is(take_over($copy), '1', 'the copy takes over');
is(message_of($original, 'SELECT snowid.leave()'), '', 'the original leaves, and is not advised to retire the number');
is(check_node($copy), '1', 'the original has left: the copy goes on');
stand_between($registry, "IF request = 'take over' THEN UPDATE snowid_internal.nodes AS n SET token = 5, exchange = n.exchange + 1 WHERE n.claim = register.claim; END IF;");
is(take_over($copy), 'ERROR 55000', 'a token that is another one by then: refused');
stand_aside($registry);
is(attempt($copy, q(SET snowid.max_lead = '1d'; SELECT snowid_default_shard(), snowid_shard(snowid_next()))), '1|1', 'nothing has changed, but that its IDs wait');
is(take_over($copy) . check_node($copy), '11', 'stated once more: it is the node');
$original->stop;
end_test($copy, $registry);
