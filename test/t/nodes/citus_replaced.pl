# A group is one server's. A clone that Citus has not promoted, and an old worker that lives on after citus_update_node, have the
# same group and would make the same IDs. snowid.check_node() has the coordinator's word on which of them is the group's: the
# other one refuses, durably, until a check finds that it is the group's again. What cannot be asked changes nothing.
# Runs in make test-all: it has three servers.

use Snowid;
use SnowidNodes;

my ($coordinator, $worker) =
  map { ready_server($_, allows_streaming => 1, conf => "listen_addresses = ''\n", sql => 'CREATE ROLE app LOGIN') } 'coordinator', 'worker';
create_citus($_) foreach $coordinator, $worker;
my $check = 'SELECT snowid.check_node()';
sub drawn { return attempt($_[0], 'SELECT snowid_shard(snowid_next())') }

# What cannot be asked.
my $cluster = citus_cluster(citus_place($coordinator));
citus_add_node($cluster, 'worker', citus_place($worker));
is(check_node($worker), 'ERROR 0A000', 'a Citus without the functions');
like(message_of($worker, $check), qr/HINT:  Upgrade Citus/, 'says what to do');
create_citus_commands($_) foreach $coordinator, $worker;
is(attempt($worker, "SELECT snowid.$_()"), 'ERROR 55000', "a registry has no say: $_") foreach qw(take_over_node accept_registry);
is(attempt($worker, "SET ROLE app; $check"), 'ERROR 42501', 'not for everybody');

# The right servers.
$worker->safe_psql('postgres', 'GRANT EXECUTE ON FUNCTION snowid.check_node() TO app');
is(attempt($worker, "SET ROLE app; $check; BEGIN; $check; $check; COMMIT"), "1\n1\n1", 'a worker, as a role that may, and twice in a transaction');
is(check_node($coordinator), '0', 'the coordinator');
$coordinator->safe_psql('postgres', q(INSERT INTO pg_dist_node VALUES (9, 1, 'nowhere', 1, 'secondary')));
is(check_node($worker), '1', 'a worker whose standby is listed, too');
$coordinator->safe_psql('postgres', 'DELETE FROM pg_dist_node WHERE nodeid = 9');

# A standby goes by what its primary has found.
my $clone = new_standby($worker, 'clone');
$clone->start;
my $reading = open_session($clone);
foreach my $case ([ $coordinator->port, 'ERROR 55000' ], [ $worker->port, '1' ])
{
    my ($port, $found) = @$case;
    $coordinator->safe_psql('postgres', "UPDATE pg_dist_node SET nodename = '@{[ $worker->host ]}', nodeport = $port WHERE groupid = 1");
    is(check_node($worker), $found, "its primary's group is at port $port");
    $worker->wait_for_catchup($clone);
    is(ask($reading, 'SELECT snowid_default_shard()'), $found, 'and the standby learns of it');
}
is(check_node($clone), 'ERROR 25006', 'it does not check');
close_session($reading);

# Promoted it is a clone. The original checks, too, in a transaction that is still open.
$clone->promote;
my ($drawing, $busy) = map { open_session($clone) } 1, 2;
is(ask($drawing, 'SELECT snowid_shard(snowid_next())'), '1', 'a clone draws as its original');
ask($busy, 'PREPARE draw AS SELECT snowid_shard(snowid_next()); BEGIN');
is(ask($busy, 'EXECUTE draw'), '1', 'and in a transaction') for 1 .. 8;
my $checking = open_session($worker);
is(ask($checking, "BEGIN; $check"), '1', 'its original is right');
like(message_of($clone, $check), qr/another server has Citus' group 1\nDETAIL:  .*\nHINT:  If the other server replaces this one, stop this one/, 'it is found');
close_session($checking);
is(ask($busy, 'EXECUTE draw'), 'ERROR 55000', 'it refuses in the middle of a transaction');
is(ask($drawing, $_), 'ERROR 55000', "it refuses: $_")
  foreach 'SELECT snowid_next()', 'SELECT snowid_default_shard()', 'SELECT snowid_next(7)', 'SET snowid.default_shard = 7; SELECT snowid_next()';
is(attempt($clone, 'SELECT node_number, source, problem FROM snowid.node_status'), q(|citus|another server has Citus' group 1), 'which is shown');
close_session($drawing, $busy);
is(drawn($worker) . check_node($worker), '11', 'its original goes on');
crash($clone, 'kill');
$clone->start;
is($_->($clone), 'ERROR 55000', 'also after a crash') foreach \&drawn, \&check_node;

# Whoever cannot be reached says nothing.
$coordinator->stop;
foreach my $case ([ $clone, 'ERROR 55000' ], [ $worker, '1' ])
{
    my ($node, $draws) = @$case;
    is(check_node($node), 'ERROR 08006', $node->name . ': the coordinator is away');
    is(drawn($node), $draws, $node->name . ': and nothing changes');
}
$coordinator->start;
$worker->stop;
like(message_of($clone, $check), qr/could not ask the server of Citus' group 1\nDETAIL:  .*connection/, 'the group\'s server is away');
is(drawn($clone), 'ERROR 55000', 'and nothing changes');
$worker->start;

# The clone takes its original's place, and that lives on.
my $old = open_session($worker);
is(ask($old, 'SELECT snowid_shard(snowid_next())'), '1', 'the old worker');
$cluster->{places}{old} = $cluster->{places}{worker};
citus_update_node($cluster, 'worker', citus_place($clone));
my $waiting = open_session($clone);
is(ask($waiting, 'SELECT snowid_next()'), 'ERROR 55000', 'it refuses until it checks');
is(check_node($clone), '1', 'found right');
is(ask($waiting, 'SELECT snowid_shard(snowid_next()), snowid_shard(snowid_next(7))') . drawn($clone), '1|71', 'and draws at once, in all sessions');
is(check_node($worker), 'ERROR 55000', 'the old worker is found');
is(ask($old, 'SELECT snowid_next()'), 'ERROR 55000', 'and refuses');
close_session($old, $waiting);
crash($clone, 'kill');
$clone->start;
is(drawn($clone) . check_node($clone), '11', 'right after a crash');

# One that Citus has given a group of its own draws from that once it has checked; and on, where nobody gets that group.
citus_add_node($cluster, 'again', citus_place($worker));
is(check_node($worker) . drawn($worker), '22', 'the old worker has another group');
$coordinator->safe_psql('postgres', 'DELETE FROM pg_dist_node WHERE groupid = 2');
like(message_of($worker, $check), qr/coordinator lists no server of group 2\nHINT:/, 'a group that the coordinator does not list');
$worker->safe_psql('postgres', 'DELETE FROM pg_dist_node WHERE groupid = 0');
is(check_node($worker), 'ERROR P0001', 'a worker that does not know where the coordinator is');
is(drawn($worker), '2', 'draws on');

# The coordinator itself. What is marked does not count where there is no Citus.
citus_start_sync($cluster, 'coordinator');
is(check_node($coordinator), '0', 'the coordinator is right');
citus_update_node($cluster, 'coordinator', citus_place($clone));
$coordinator->safe_psql('postgres', "UPDATE pg_dist_node SET nodename = '@{[ $clone->host ]}', nodeport = @{[ $clone->port ]} WHERE groupid = 0");
like(message_of($coordinator, $check), qr/another server has Citus' group 0/, 'a coordinator beside the one that has its address');
is(drawn($coordinator), 'ERROR 55000', 'refuses');
$coordinator->safe_psql('postgres', 'DELETE FROM pg_dist_node');
is($_->($coordinator), 'ERROR 55000', 'so does one without a cluster') foreach \&check_node, \&drawn;
$coordinator->safe_psql('postgres', 'DROP EXTENSION citus CASCADE');
is(drawn($coordinator), '0', 'but not without Citus');
$worker->stop;
end_test($clone, $coordinator);
