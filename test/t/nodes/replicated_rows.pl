# Logical replication of all tables brings a node no other node's row, and a registry no other registry's nodes or identity.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use SnowidNodes;

my $node = ready_server('node', allows_streaming => 'logical', conf => "max_worker_processes = 20\nmax_logical_replication_workers = 10\n", databases => ['copied']);
add_members($node, $node, 'east', 'west');
$node->safe_psql($_, 'CREATE TABLE rows (n int PRIMARY KEY)') foreach qw(postgres east west copied);
is(join_as($node, $_->[0], $_->[0]), $_->[1], "$_->[0] joins") foreach [ 'east', 1 ], [ 'west', 2 ];
my $identities = 'SELECT * FROM snowid_internal.registry_identities';
my $of_copied = $node->safe_psql('copied', $identities);
foreach my $pair ([ 'east', 'west' ], [ 'postgres', 'copied' ])
{
    my ($from, $to) = @$pair;
    my $connection = $node->connstr($from) =~ s{'}{''}gr;
    $node->safe_psql($from, 'CREATE PUBLICATION everything FOR ALL TABLES');
    $node->safe_psql($from, "SELECT pg_create_logical_replication_slot('to_$to', 'pgoutput')");
    $node->safe_psql($to, "CREATE SUBSCRIPTION sub_$to CONNECTION '$connection' PUBLICATION everything"
          . " WITH (create_slot = false, slot_name = 'to_$to')");
    # East's row changes, too.
    is(check_node($node, 'east'), '1', 'east checks');
    is(join_as($node, 'east', 'east'), '1', 'and joins again');
    $node->safe_psql($from, 'INSERT INTO rows VALUES (1)');
    wait_for(sub { $node->safe_psql($to, 'SELECT count(*) FROM rows') eq '1' }, "what $from has done to reach $to");
    # On one server a first copy that begins its slot waits for the transaction that drops the subscription, and that for the slot.
    $node->wait_for_subscription_sync(undef, undef, $to);
    $node->safe_psql($to, "DROP SUBSCRIPTION sub_$to");
}
is($node->safe_psql('west', 'SELECT node_number FROM snowid_internal.membership'), '2', "no other node's row");
is($node->safe_psql('copied', 'SELECT count(*) FROM snowid_internal.nodes'), '0', "no other registry's nodes");
is($node->safe_psql('copied', $identities), $of_copied, 'nor its identity');
is(number_of($node, 'west'), '2|2', 'the number is its own');
end_test($node);
