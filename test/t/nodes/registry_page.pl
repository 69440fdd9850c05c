# What docs/node-numbers.md says of a registry that has standbys, followed to the letter: the foreign server names all hosts, of
# which the primary is asked. After a promotion nodes draw on, and numbers are given when the page's steps, and docs/runbook.md's, are taken.
#
# Runs in make test-all: it follows many steps of the page.

use Snowid;
use SnowidNodes;

my ($hosts, $recover) = blocks_of('docs/node-numbers.md', 'The registry');
my $accept = said_in('docs/runbook.md', 'The registry may have lost numbers', 'SELECT snowid.accept_registry()');
my $registry = ready_server('registry0', allows_streaming => 1);
my $node = ready_server('node');
add_members($node, $registry, qw(one two late));
my %number = (one => 1, two => 2);
is(join_as($node, $_, $_), $number{$_}, "$_ joins") foreach sort keys %number;
my $standby = new_standby($registry, 'registry1');
start_server($standby);
wait_until_synchronous($registry, $standby);

# The standby is listed first, and is passed over until it is promoted.
sub here
{
    my ($block) = @_;
    my ($host, $port) = map { my $what = $_; join ',', map { $_->$what } $standby, $registry } qw(host port);
    return $block =~ s/host '[^']*'/host '$host', SET port '$port'/r;
}
follow($node, 'berlin', $hosts =~ s/^--> 2/--> $number{$_}/mr, here => \&here, dbname => $_) foreach sort keys %number;
$registry->stop;
is(check_node($node, 'one'), 'ERROR 08006', 'no primary is there');
$standby->promote;
like(message_of($node, 'SELECT snowid.check_node()', 'one'), qr/WARNING: .*^DETAIL:  The registry was .*promoted/ms, 'it is another one until it is said that it is not');
is(number_of($node, $_), "$number{$_}|$number{$_}", "$_ draws on") foreach sort keys %number;
point_at($node, $standby, name => 'registry', dbname => 'late');
is(join_as($node, 'late', 'late'), 'ERROR 55000', 'no number before it is recovered');
follow($standby, 'registry', $recover);
is(attempt($node, "$accept; SELECT problem IS NULL FROM snowid.node_status", dbname => $_), "$number{$_}\nt", "$_: accepted") foreach sort keys %number;
is(join_as($node, 'late', 'late'), '3', 'then the next one');
is(check_node($node, $_), $number{$_}, "checks of $_ go on") foreach sort keys %number;
$node->stop;
end_test($standby);
