# A registry that has lost an exchange, or a node's row, as from a snapshot, warns its node, which goes on until it states that
# this is its registry. Nobody who may ask there takes a number so but one that was lost, and that costs its node an error.
# Runs in make test-all: it starts several servers, or crashes them.

use Snowid;
use SnowidNodes;

my $registry = ready_server('registry', sql => 'CREATE ROLE mallory LOGIN; GRANT EXECUTE ON FUNCTION snowid.register TO mallory');
my $node = ready_server('node', allows_streaming => 1);
add_members($node, $registry, 'a', 'b');
is(join_as($node, $_->[0], $_->[0]), $_->[1], "$_->[0] joins") foreach [ 'a', 1 ], [ 'b', 2 ];
$registry->safe_psql('postgres', 'SELECT snowid.recover_registry(2)');
sub accept_registry { my ($server) = @_; return attempt($server // $node, 'SELECT snowid.accept_registry()', dbname => 'b') }
sub mallory { return attempt($registry, 'SET SESSION AUTHORIZATION mallory; ' . request(@_)) }

foreach my $lost ('UPDATE snowid_internal.nodes SET exchange = exchange - 1, token = 5', 'DELETE FROM snowid_internal.nodes')
{
    $registry->safe_psql('postgres', "$lost WHERE node_number = 2");
    like(message_of($node, 'SELECT snowid.check_node()', 'b'), qr/WARNING:.*not confirmed number 2 of node.*\nDETAIL:.*\nHINT:.*accept_registry\(\)/, "warned: $lost");
    is(number_of($node, 'b'), '2|2', 'it goes on');
    is(accept_registry(), '2', 'it accepts the registry');
    is(message_of($node, 'SELECT snowid.check_node()', 'b'), '', 'which knows it');
}

is(mallory('accept', node_number => $_->[0]), $_->[1], "mallory says that he has $_->[0]") foreach [ 1, 'ERROR 23505' ], [ 3, 'ERROR 55000' ], [ 8191, 'ERROR 55000' ];
$registry->safe_psql('postgres', 'DELETE FROM snowid_internal.nodes WHERE node_number = 2');
is(mallory('accept', node_number => 2), 'held|2', 'a lost number');
like(message_of($node, 'SELECT snowid.accept_registry()', 'b'), qr/number 2 of node "b" belongs to node "mallory" of the registry\nHINT:.*join again/, 'its node is told');
is(number_of($node, 'b'), '2|2', 'and goes on');
$registry->safe_psql('postgres', q(DELETE FROM snowid_internal.nodes WHERE node_name = 'mallory'));
is(accept_registry(), '2', 'b accepts');

# Of two copies that accept one is found here, too.
my $copy = new_copy($node);
start_server($copy);
is(accept_registry($copy), '2', 'the copy of b comes first');
is(check_node($node, 'b'), 'ERROR 55000', 'b comes second');
is(attempt($node, "SELECT $_", dbname => 'b'), 'ERROR 55000', "and refuses: $_") foreach 'snowid_next()', 'snowid_next(77)', 'snowid.accept_registry()';
$node->stop;
end_test($copy, $registry);
