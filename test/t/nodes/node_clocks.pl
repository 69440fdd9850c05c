# A node's clock is compared with the registry's where it joins, checks or takes a number over: one that is more than 10 s off
# is refused, naming the difference, and nothing has changed. A copy is found out also where its clock is wrong.
# Runs in make test-all: it starts several servers, or crashes them.

use Snowid;
use SnowidNodes;

my $registry = ready_server('registry');
my $node = ready_server('node', allows_streaming => 1);
add_members($node, $registry, 'early', 'late');

# Fails, and says by how much the clock is off.
sub check_off
{
    my ($member, $sql, $how, $name) = @_;
    my $error = message_of($node, $sql, $member);
    like($error, qr/clock is \d+ ms $how the clock of server "registry"\nDETAIL:.*10000 ms/, "$name: $sql says so");
    my ($ms) = $error =~ /clock is (\d+) ms/;
    ok($ms > 17_000 && $ms < 23_000, "$name: by how much") or diag($error);
    return;
}

foreach my $offset (-20, 20)
{
    set_clock($offset, $node);
    check_off('early', q(SELECT snowid.join('registry')), $offset < 0 ? 'behind' : 'ahead of', "$offset s");
    is($registry->safe_psql('postgres', 'SELECT count(*) FROM snowid_internal.nodes'), '0', "$offset s: has not claimed");
}
foreach my $case ([ -8, 'early', 1 ], [ 8, 'late', 2 ])
{
    my ($offset, $member, $number) = @$case;
    set_clock($offset, $node);
    is(join_as($node, $member, $member) . check_node($node, $member), $number x 2, "$offset s: joins, and checks");
}
set_clock(0, $node);
my $token = 'SELECT token FROM snowid_internal.nodes WHERE node_number = 2';
foreach my $offset (-20, 20)
{
    set_clock($offset, $registry);
    my $how = $offset < 0 ? 'ahead of' : 'behind';
    check_off('late', 'SELECT snowid.check_node()', $how, "the registry $offset s");
    my $before = $registry->safe_psql('postgres', $token);
    check_off('late', 'SELECT snowid.take_over_node()', $how, "the registry $offset s");
    is($registry->safe_psql('postgres', $token), $before, "the registry $offset s: nothing is taken over");
    is(number_of($node, 'late'), '2|2', "the registry $offset s: the node goes on");
    set_clock(0, $registry);
    is(check_node($node, 'late'), '2', "the registry $offset s, and right again");
}

my $copy = new_copy($node);
set_clock(280, $copy);
start_server($copy);
is(check_node($node, 'late'), '2', 'the original comes first');
like(message_of($copy, 'SELECT snowid.check_node()', 'late'), qr/another server has replaced this one as node/, 'a copy is found, though its clock is wrong');
is(attempt($copy, $_, dbname => 'late'), 'ERROR 55000', "and refuses: $_") foreach 'SELECT snowid_next()', 'SELECT snowid_next(77)';
is(check_node($copy, 'early'), 'ERROR 55000', 'a copy that comes first, with a wrong clock');
is(number_of($copy, 'early'), '1|1', 'is the node');
is($_->($node, 'early'), 'ERROR 55000', 'the original is found') foreach \&check_node, \&number_of;
end_test($copy, $node, $registry);
