# What docs say of a server that has a copy, run as it stands there: how a copy that issues IDs gets a number of its own, while
# the original takes over (docs/runbook.md), and the script that has a promoted standby take over, as Patroni calls it
# (docs/replication.md).
#
# Runs in make test-all: it has four servers.

use Snowid;
use SnowidNodes;

my ($page, $heading) = ('docs/runbook.md', 'A clone is found');
my ($check, $take_over, $join) = map { said_in($page, $heading, "SELECT $_") } 'snowid.check_node()', 'snowid.take_over_node()', q(snowid.join('registry', 'another name'));
my ($replaced, $joined) = map { said_in($page, $heading, $_) =~ s/ … *$| …$//gr } 'another server has replaced this one …', 'database has joined as node …';
my $number = 'SELECT snowid_shard(snowid_next())';
my $registry = ready_server('registry');
my $node = ready_server('node', allows_streaming => 1);
add_source($node, $registry, name => 'registry');
is(join_as($node, 'the node'), '1', 'joined');
my $twin = start_in_time(new_copy($node));
is(attempt($twin, $number), '1', 'a copy issues IDs');
like(message_of($twin, $join), qr/\Q$joined\E "the node", with number 1/, 'the copy may not join yet');
my $taking = start_taking_over($node);
is(attempt($node, $number), 'ERROR SN001', 'while the original takes over, it issues none');
my $waiting = open_session($node);
backend_of($waiting);
start_asking($waiting, "SET snowid.max_wait = '15s'; $number");
pass_time();
is(answer($_), '1', 'taken over, also for who waits') foreach $taking, $waiting;
close_session($taking, $waiting);
like(message_of($twin, $check), qr/\Q$replaced\E/, 'then the copy checks, and is told');
is(attempt($twin, $_), 'ERROR 55000', "and issues none: $_") foreach $number, 'SELECT snowid_next(42)';
is(attempt($twin, "$join; $number"), "2\n2", 'now it joins, and issues IDs of its own number');
is(attempt($node, $check), '1', 'the original keeps its number');
$twin->stop;

# A promoted standby.
my $scratch = PostgreSQL::Test::Utils::tempdir_short();
my ($callback) = slurp_file('docs/replication.md') =~ /^```\n(#!\/bin\/sh\n\[ .*?)^```$/ms;
$callback =~ s/in berlin app;/in postgres;/;
append_to_file("$scratch/snowid-take-over", $callback);
chmod 0755, "$scratch/snowid-take-over";
my $standby = new_standby($node, 'standby');
start_in_time($standby);
$node->wait_for_catchup($standby);
$standby->promote;
is(attempt($_, $number), '1', $_->name . ' issues IDs') foreach $standby, $node;

sub call_back
{
    my ($role) = @_;
    local ($ENV{PGPORT}, $ENV{PGHOST}) = ($standby->port, $standby->host);
    return scalar `$scratch/snowid-take-over on_role_change $role cluster 2>/dev/null`;
}
is(call_back('replica'), '', 'a server that becomes a replica does nothing');
like(call_back('primary'), qr/^ +1$/m, 'one that becomes the primary takes over');
is(attempt($standby, "$check; SELECT problem IS NULL FROM snowid.node_status"), "1\nt", 'and is the node');
is(attempt($node, $_), 'ERROR 55000', "the old one: $_") foreach $check, $number;
$_->stop foreach $node, $standby;
end_test($registry);
