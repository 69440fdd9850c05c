# A worker that Citus has not told its number looks like a Citus without a cluster, and has the coordinator's. Who comes from
# Citus is refused there, also a pool's session whose client Citus is next; others are, where snowid.require_node_number says
# so. Not so the coordinator, a node that has its group, nor who names a shard.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('citus', sql => 'CREATE TABLE photos (id bigint DEFAULT snowid_next(), n int)');
create_citus($node);
my ($session, $other) = map { open_session($node) } 1, 2;
my $drawn = 'SELECT snowid_shard(snowid_next())';
my $group = 'UPDATE pg_dist_local_group SET groupid';
my $list = 'INSERT INTO pg_dist_node VALUES (0, 0, 0, 0)';
sub shown { return ask($session, q(SELECT concat_ws('|', coalesce(node_number::text, 'null'), source, problem) FROM snowid.node_status)) }

foreach my $name ('citus_internal gpid=10000000042', 'citus_internal', 'citus_run_command gpid=10000000042', 'citus_rebalancer gpid=10000000042')
{
    local $ENV{PGAPPNAME} = $name;
    is(attempt($node, $_), 'ERROR 55000', "$name: $_") foreach 'SELECT snowid_next()', 'SELECT snowid_default_shard()', 'INSERT INTO photos (n) SELECT 1';
    is(attempt($node, 'SELECT snowid_shard(snowid_next(7))'), '7', "$name: who names a shard is served");
    is(attempt($node, "BEGIN; $list; $drawn"), '0', "$name: the coordinator goes on");
    is(attempt($node, "BEGIN; $group = 3; $drawn"), '3', "$name: so does a worker that knows its group");
}
foreach my $name ('', 'psql', 'my citus_internal', 'citus', 'Citus_internal gpid=1', 'citus_run_commander')
{
    local $ENV{PGAPPNAME} = $name;
    is(attempt($node, $drawn), '0', "'$name' is not Citus");
}
is(ask($session, $drawn), '0', 'a session of a pool');
is(ask($session, q(SET application_name = 'citus_internal gpid=10000000043'; SELECT snowid_next())), 'ERROR 55000', 'Citus is its next client');
like($session->{err}, qr/ERROR:  55000: Citus has not synchronized its metadata to this node\nDETAIL:  .*pg_dist_node" is empty\.\nHINT:  .*start_metadata_sync_to_node/,
    'and is told why');
is(shown(), 'null|citus|Citus has not synchronized its metadata to this node', 'which is shown, too');
is(ask($session, "BEGIN; $list; ALTER TABLE pg_dist_node RENAME TO nodes; SELECT snowid_next()"), 'ERROR 55000', 'without the list of nodes nothing tells the coordinator');

# Who looks while Citus tells the node its number, and has to wait, has that or none.
ask($session, 'ROLLBACK; BEGIN; LOCK TABLE pg_dist_node IN ACCESS EXCLUSIVE MODE');
ask($other, q(SET application_name = 'citus_internal gpid=10000000045'));
start_waiting($other, $drawn);
ask($session, "$group = 3; INSERT INTO pg_dist_node VALUES (0, 0, 0, 0), (3, 3, 3, 3); COMMIT");
is(answer($other), '3', 'while the node is told its number');
is(ask($_, $drawn), '3', 'and from then on') foreach $session, $other;

# The view says why there is no number; it does not take another error for that.
ask($session, 'BEGIN; LOCK TABLE pg_dist_local_group IN ACCESS EXCLUSIVE MODE');
is(ask($other, q(BEGIN; SET LOCAL statement_timeout = '10ms'; RESET snowid.default_shard; SELECT * FROM snowid.node_status)), 'ERROR 57014', 'the view, cancelled');
ask($_, 'ROLLBACK; RESET application_name') foreach $session, $other;

reload_with($node, 'snowid.require_node_number', 'on', $session, $other);
is(ask($other, $drawn), '3', 'require_node_number: a worker');
ask($session, "BEGIN; DELETE FROM pg_dist_node; $group = 0; COMMIT");
is(ask($_, $drawn), 'ERROR 55000', 'require_node_number: one without its metadata') foreach $session, $other;
like($session->{err}, qr/ERROR:  55000: Citus has not synchronized its metadata to this node\nDETAIL:.*\nHINT:  Call start_metadata_sync_to_node\(\)/, 'which says what to do');
is(shown(), 'null|citus|Citus has not synchronized its metadata to this node', 'and is shown');
is(ask($session, 'SELECT snowid_shard(snowid_next(7))'), '7', 'who names a shard is served');
is(ask($session, "$list; $drawn"), '0', 'require_node_number: the coordinator');
is(ask($session, "DELETE FROM pg_dist_node; SET client_min_messages = error; DROP EXTENSION citus CASCADE; $drawn"), 'ERROR 55000', 'require_node_number: without Citus');
like($session->{err}, qr/this server has no node number\n.*\nHINT:  Use snowid[.]join/, 'it may join');
end_test($node);
