# Who can change the registry can answer anything, and that costs a node no more than an error.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use SnowidNodes;

my $node = ready_server('node');
add_members($node, $node, 'east');
sub lies { stand_between($node, '', "$_[0];"); return }

foreach my $lie (
    q(held_number := '0'), q(held_number := '8192'), q(held_number := '7x'), 'held_number := NULL', 'held_claim := gen_random_uuid()', q(verdict := 'grand'),
    q(held_token := '-1'), q(held_token := '9223372036854775808'), 'identity := NULL', q(identity := ''), q(identity := repeat('r', 64)), q(held_max_lead := '-1'))
{
    lies($lie);
    is(join_as($node, 'east', 'east'), 'ERROR 08P01', "told who joins: $lie");
}
is(number_of($node, 'east'), '0|0', 'it has not joined');
stand_aside($node);
is(join_as($node, 'east', 'east'), '1', 'told the truth: joined');
foreach my $lie (q(held_number := '2000'), 'held_claim := gen_random_uuid()', q(identity := ''), q(held_exchange := '9223372036854775807'), q(held_exchange := '1'))
{
    lies($lie);
    is(check_node($node, 'east'), 'ERROR 08P01', "told who checks: $lie");
}
stand_aside($node);
is(check_node($node, 'east'), '1', 'lies are forgotten') for 1, 2;
end_test($node);
