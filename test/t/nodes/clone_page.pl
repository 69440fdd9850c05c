# The script of docs/replication.md that has a promoted standby take over, run as it stands there, as Patroni calls it.
# Runs in make test-all: it has three servers.

use Snowid;
use SnowidNodes;

my $number = 'SELECT snowid_shard(snowid_next())';
my $registry = ready_server('registry');
my $node = ready_server('node', allows_streaming => 1);
add_source($node, $registry, name => 'registry');
is(join_as($node, 'the node'), '1', 'joined');

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
is(attempt($standby, "SELECT snowid.check_node(); SELECT problem IS NULL FROM snowid.node_status"), "1\nt", 'and is the node');
is(attempt($node, $_), 'ERROR 55000', "the old one: $_") foreach 'SELECT snowid.check_node()', $number;
$_->stop foreach $node, $standby;
end_test($registry);
