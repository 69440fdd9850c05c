# What docs/node-numbers.md says of a registry that has standbys, followed to the letter: the foreign server names all hosts, of
# which the primary is asked; a standby is no registry. After a promotion nodes draw on, and numbers are given when the page's steps,
# and docs/runbook.md's, are taken; so are those of a registry that had given none. The old primary, alive beside it, is found.
# Runs in make test-all: it follows many steps of the page.

use Snowid;
use SnowidNodes;

my ($hosts, $recover) = blocks_of('docs/node-numbers.md', 'The registry');
my $accept = said_in('docs/runbook.md', 'The registry may have lost numbers', 'SELECT snowid.accept_registry()');
my $registry = ready_server('registry0', allows_streaming => 1, databases => ['empty']);
my $node = ready_server('node');
add_members($node, $registry, qw(one two late later));
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
point_at($node, $standby, name => 'registry', dbname => 'late');
like(message_of($node, q(SELECT snowid.join('registry')), 'late'), qr/server "registry" is read-only\nDETAIL:.*\nHINT:.*target_session_attrs/, 'a standby is none');
follow($node, 'berlin', $hosts =~ s/^--> 2/--> $number{$_}/mr, here => \&here, dbname => $_) foreach sort keys %number;
crash($registry, 'kill');
is(check_node($node, 'one'), 'ERROR 08006', 'no primary is there');
$standby->promote;
like(message_of($node, 'SELECT snowid.check_node()', 'one'), qr/WARNING: .*^DETAIL:  The registry was .*promoted/ms, 'it is another one until it is said that it is not');
is(number_of($node, $_), "$number{$_}|$number{$_}", "$_ draws on") foreach sort keys %number;
is(join_as($node, 'late', 'late'), 'ERROR 55000', 'no number before it is recovered');
follow($standby, 'registry', $recover);
is(attempt($node, "$accept; SELECT problem IS NULL FROM snowid.node_status", dbname => $_), "$number{$_}\nt", "$_: accepted") foreach sort keys %number;
is(join_as($node, 'late', 'late'), '3', 'then the next one');
is(check_node($node, $_), $number{$_}, "checks of $_ go on") foreach sort keys %number;
# The old one, and one that has given nothing yet.
$registry->append_conf('postgresql.conf', "synchronous_standby_names = ''\n");
start_server($registry);
point_at($node, $registry, name => 'registry', dbname => 'one');
like(message_of($node, 'SELECT snowid.check_node()', 'one'), qr/WARNING:.*not confirmed number 1/, 'the old primary');
point_at($node, $standby, name => 'registry', dbname => 'later');
$node->safe_psql('later', q(ALTER SERVER registry OPTIONS (SET dbname 'empty')));
is(join_as($node, 'later', 'later'), 'ERROR 55000', 'restored to before the first node: nobody joins');
is(attempt($standby, 'SELECT snowid.recover_registry(1)', dbname => 'empty'), '', 'recovered');
is(join_as($node, 'later', 'later'), '2', 'and gives the next');
$node->stop;
end_test($standby, $registry);
