# A group is one server's. A clone that has not been promoted by Citus, and an old worker that lives on after
# citus_update_node, have the same group and would make the same IDs. snowid.check_node() has the coordinator's word on
# which of them is the group's: the other one refuses, durably, until a check finds that it is the group's again.
#
# Runs in make test-all: it has three servers.

use strict;
use warnings;

use Snowid;
use Test::More;

my $coordinator = new_server('coordinator');
my $worker = new_server('worker', allows_streaming => 1);
foreach my $node ($coordinator, $worker)
{
    $node->append_conf('postgresql.conf', "listen_addresses = ''\n");
    $node->start;
    $node->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE ROLE app LOGIN');
    create_citus($node);
}

sub check { return attempt($_[0], 'SELECT snowid.check_node()') }

sub drawn { return attempt($_[0], 'SELECT snowid_shard(snowid_next())') }

sub problem_of { return attempt($_[0], 'SELECT node_number, source, problem FROM snowid.node_status') }

# What a check says that is to fail.
sub message_of
{
    my ($node) = @_;
    my (undef, undef, $message) = $node->psql('postgres', 'SELECT snowid.check_node()');
    return $message;
}

# 1. What cannot be asked is an error, and changes nothing.
my $cluster = citus_cluster(citus_place($coordinator));
citus_add_node($cluster, 'worker', citus_place($worker));
is(check($worker), 'ERROR 0A000', 'a Citus without the functions');
like(message_of($worker), qr/HINT:  Upgrade Citus/, 'says what to do');
create_citus_commands($_) foreach $coordinator, $worker;
is(attempt($worker, $_), 'ERROR 55000', "a registry has no say: $_")
  foreach 'SELECT snowid.take_over_node()', 'SELECT snowid.accept_registry()';
is(attempt($worker, 'SET ROLE app; SELECT snowid.check_node()'), 'ERROR 42501', 'not for everybody');

# 2. The right servers.
is(check($worker), '1', 'a worker') for 1, 2;
$worker->safe_psql('postgres', 'GRANT EXECUTE ON FUNCTION snowid.check_node() TO app');
is(attempt($worker, 'SET ROLE app; SELECT snowid.check_node()'), '1', 'as a role that may');
is(check($coordinator), '0', 'the coordinator');
$coordinator->safe_psql('postgres', q(INSERT INTO pg_dist_node VALUES (9, 1, 'nowhere', 1, 'secondary')));
is(check($worker), '1', 'a worker whose standby is listed, too');
$coordinator->safe_psql('postgres', 'DELETE FROM pg_dist_node WHERE nodeid = 9');
is(attempt($worker, 'BEGIN; SELECT snowid.check_node(); SELECT snowid.check_node(); COMMIT'), "1\n1", 'twice in a transaction');
$worker->safe_psql('postgres', 'DELETE FROM pg_dist_local_group');
is(check($worker), 'ERROR 55000', 'a worker without its group');
like(message_of($worker), qr/this node has no group in Citus/, 'is told so');
citus_set_group($worker, 0);
$worker->safe_psql('postgres', 'INSERT INTO pg_dist_local_group VALUES (1)');
citus_start_sync($cluster, 'worker');
is(check($worker), '1', 'which is told again');

# 3. A clone beside it.
my $clone = new_standby($worker, 'clone');
$clone->start;
$worker->wait_for_catchup($clone);
is(check($clone), 'ERROR 25006', 'a standby');
# It goes by what its primary has found.
my $reading = open_session($clone);
is(ask($reading, 'SELECT snowid_default_shard()'), '1', 'which says what its primary has');
foreach my $case ([ $coordinator->port, 'ERROR 55000', 'ERROR 55000' ], [ $worker->port, '1', '1' ])
{
    my ($port, $found, $read) = @$case;
    $coordinator->safe_psql('postgres', "UPDATE pg_dist_node SET nodename = '@{[ $worker->host ]}', nodeport = $port WHERE groupid = 1");
    is(check($worker), $found, "its primary's group is at port $port");
    $worker->wait_for_catchup($clone);
    is(ask($reading, 'SELECT snowid_default_shard()'), $read, 'and the standby learns of it');
}
close_session($reading);
$clone->promote;
my $drawing = open_session($clone);
my $busy = open_session($clone);
is(ask($drawing, 'SELECT snowid_shard(snowid_next())'), '1', 'a clone draws as its original');
ask($busy, 'PREPARE draw AS SELECT snowid_shard(snowid_next()); BEGIN');
is(ask($busy, 'EXECUTE draw'), '1', 'and in a transaction') for 1 .. 8;
# The original checks, too, in a transaction that is still open.
my $checking = open_session($worker);
is(ask($checking, 'BEGIN; SELECT snowid.check_node()'), '1', 'its original is right');
is(check($clone), 'ERROR 55000', 'it is found');
close_session($checking);
like(message_of($clone), qr/another server has Citus' group 1\nDETAIL:  .*\nHINT:  If the other server replaces this one, stop this one/, 'and told why');
is(ask($busy, 'EXECUTE draw'), 'ERROR 55000', 'it refuses in the middle of a transaction');
is(ask($drawing, $_), 'ERROR 55000', "it refuses: $_")
  foreach 'SELECT snowid_next()', 'SELECT snowid_default_shard()', 'SELECT snowid_next(7)', 'SET snowid.shard = 7; SELECT snowid_next()';
is(problem_of($clone), q(|citus|another server has Citus' group 1), 'which is shown');
close_session($drawing, $busy);
is(drawn($worker) . check($worker), '11', 'its original goes on');
crash($clone, 'kill');
$clone->start;
is(drawn($clone), 'ERROR 55000', 'it refuses after a crash');
is(check($clone), 'ERROR 55000', 'is found again');

# 4. Whoever cannot be reached says nothing.
$coordinator->stop;
foreach my $case ([ $clone, 'ERROR 55000' ], [ $worker, '1' ])
{
    my ($node, $draws) = @$case;
    is(check($node), 'ERROR 08006', $node->name . ': the coordinator is away');
    is(drawn($node), $draws, $node->name . ': and nothing changes');
}
$coordinator->start;
$worker->stop;
is(check($clone), 'ERROR 08006', 'the group\'s server is away');
like(message_of($clone), qr/could not ask the server of Citus' group 1\nDETAIL:  .*connection/, 'which is told');
is(drawn($clone), 'ERROR 55000', 'and nothing changes');
$worker->start;

# 5. The clone takes its original's place, and that lives on.
my $old = open_session($worker);
is(ask($old, 'SELECT snowid_shard(snowid_next())'), '1', 'the old worker');
$cluster->{places}{old} = $cluster->{places}{worker};
citus_update_node($cluster, 'worker', citus_place($clone));
is(drawn($clone), 'ERROR 55000', 'it refuses until it checks');
my $waiting = open_session($clone);
is(ask($waiting, 'SELECT snowid_next()'), 'ERROR 55000', 'also here');
is(check($clone), '1', 'found right');
is(ask($waiting, 'SELECT snowid_shard(snowid_next()), snowid_shard(snowid_next(7))'), '1|7', 'and draws at once');
is(drawn($clone), '1', 'in all sessions');
is(check($worker), 'ERROR 55000', 'the old worker is found');
is(ask($old, 'SELECT snowid_next()'), 'ERROR 55000', 'and refuses');
crash($clone, 'kill');
$clone->start;
is(drawn($clone) . check($clone), '11', 'right after a crash');

# 6. One that Citus has given a group of its own draws from that once it has checked.
citus_add_node($cluster, 'again', citus_place($worker));
is(check($worker) . drawn($worker), '22', 'the old worker has another group');
$coordinator->safe_psql('postgres', 'DELETE FROM pg_dist_node WHERE groupid = 2');
is(check($worker), 'ERROR 55000', 'a group that the coordinator does not list');
like(message_of($worker), qr/coordinator lists no server of group 2\nHINT:/, 'is told so');
is(drawn($worker), '2', 'and draws on, for nobody gets that group');
$worker->safe_psql('postgres', 'DELETE FROM pg_dist_node WHERE groupid = 0');
is(check($worker), 'ERROR P0001', 'a worker that does not know where the coordinator is');
is(drawn($worker), '2', 'and draws on');

# 7. The coordinator itself. What is marked does not count where there is no Citus.
citus_start_sync($cluster, 'coordinator');
is(check($coordinator), '0', 'the coordinator is right');
citus_update_node($cluster, 'coordinator', citus_place($clone));
$coordinator->safe_psql('postgres', "UPDATE pg_dist_node SET nodename = '@{[ $clone->host ]}', nodeport = @{[ $clone->port ]} WHERE groupid = 0");
is(check($coordinator), 'ERROR 55000', 'a coordinator beside the one that has its address');
like(message_of($coordinator), qr/another server has Citus' group 0/, 'is told so');
is(drawn($coordinator), 'ERROR 55000', 'and refuses');
$coordinator->safe_psql('postgres', 'DELETE FROM pg_dist_node');
is(check($coordinator), 'ERROR 55000', 'one without a cluster has nothing to check');
is(drawn($coordinator), 'ERROR 55000', 'and refuses all the same');
$coordinator->safe_psql('postgres', 'DROP EXTENSION citus CASCADE');
is(drawn($coordinator), '0', 'but not without Citus');

close_session($old, $waiting);
check_log($_) foreach $coordinator, $clone;
$_->stop foreach $clone, $worker, $coordinator;
done_testing();
