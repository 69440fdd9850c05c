# A server that is copied while it asks the registry, or after an answer was lost: both know the token or the claim that was
# sent. One of the two is the node, whichever comes first, and the other one is found.
# Runs in make test-all: it starts several servers, or crashes them.

use Snowid;
use SnowidNodes;

my $registry = ready_server('registry');
my $original = ready_server('original', allows_streaming => 1);
add_source($original, $registry, name => 'registry');
is(join_as($original, 'the node'), '1', 'joined');
foreach my $first ('original', 'copy')
{
    stand_between($registry, $first eq 'copy' ? ('', "RAISE 'lost';") : "RAISE 'not asked';");
    is(check_node($original), 'ERROR P0001', 'a check that is broken off');
    my $copy = start_in_time(new_copy($original));
    stand_aside($registry);
    my ($one, $other) = $first eq 'copy' ? ($copy, $original) : ($original, $copy);
    is(check_node($one), '1', "the $first comes first");
    is(check_node($other), 'ERROR 55000', 'the other one is found');
    is(check_node($one), '1', 'who came first goes on');
    is(take_over($original), '1', 'the original is stated');
    $copy->stop;
}

# A claim: one gets the number, and the other one another.
stand_between($registry, '', "IF request = 'exchange' THEN RAISE 'lost'; END IF;");
add_members($original, $registry, 'late');
is(join_as($original, 'late', 'late'), 'ERROR P0001', 'a claim whose answer is lost');
$original->safe_psql('postgres', 'CREATE DATABASE later TEMPLATE late');
stand_aside($registry);
is(join_as($original, 'later', 'later'), '2', 'CREATE DATABASE meanwhile: one gets the number');
is(join_as($original, 'late', 'late'), 'ERROR 55000', 'the other one is told that its claim is lost');
is(number_of($original, 'late'), '0|0', 'and has joined nothing');
is(join_as($original, 'late', 'late'), '3', 'it gets another');
end_test($original, $registry);
