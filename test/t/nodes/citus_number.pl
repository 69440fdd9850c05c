# On a node of Citus the shard of snowid_next() is the node's group, which no other node has. It is looked up
# and never stored, so it is right whatever becomes of the cluster; sessions that are open learn of each change
# at their next statement. What a group does not tell, that of a worker which Citus has not told its own, is
# refused. (Citus itself is in no package: what fills its tables here is a stand-in.)
#
# Runs in make test-all: it starts many sessions.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('citus', allows_streaming => 1);
$node->append_conf('postgresql.conf', "max_prepared_transactions = 2\n");
$node->start;
# A coordinator and two workers, each a database, which is all that a node is to snowid.
my %place = map { $_ => citus_place($node, $_) } qw(coordinator one two);
foreach my $dbname (sort keys %place)
{
    $node->safe_psql('postgres', "CREATE DATABASE $dbname");
    $node->safe_psql($dbname, 'CREATE EXTENSION snowid; CREATE TABLE photos (id bigint DEFAULT snowid_next(), n int)');
    create_citus($node, $dbname);
}

# Two sessions of each: one asks anew each time, the other has its plans ready.
my %sessions = map { $_ => [ map { open_session($node, dbname => $_) } ($_) x 2 ] } keys %place;
foreach my $pair (values %sessions)
{
    ask($pair->[1], q(SET plan_cache_mode = force_generic_plan; PREPARE draw AS SELECT snowid_shard(snowid_next());
      PREPARE tell AS SELECT snowid_default_shard(); PREPARE put AS INSERT INTO photos DEFAULT VALUES RETURNING snowid_shard(id)));
}

# The numbers that the sessions in these places go by, as their next statements.
sub numbers_of
{
    my (@names) = @_;
    return join ' ', map {
        my ($asking, $prepared) = @{ $sessions{$_} };
        my %seen = map { $_ => 1 } ask($asking, 'SELECT snowid_shard(snowid_next())'), ask($prepared, 'EXECUTE draw'),
          ask($asking, 'SELECT snowid_default_shard()'), ask($prepared, 'EXECUTE tell'), ask($prepared, 'EXECUTE put'),
          ask($asking, q(SELECT snowid_shard(snowid_next(snowid_default_shard(), 'twitter'), 'twitter')));
        join '/', sort keys %seen
    } @names;
}

sub shown
{
    my ($session) = @_;
    return ask($session, q(SELECT concat_ws('|', coalesce(node_number::text, 'null'), source, node_name, registry, problem) FROM snowid.node_status));
}

is(numbers_of(qw(coordinator one two)), '0 0 0', 'Citus without a cluster');
is(shown($sessions{one}[0]), '0|citus', 'which is where that comes from');

# 1. The life of a cluster.
my $cluster = citus_cluster($place{coordinator});
is(citus_add_node($cluster, 'one', $place{one}), 1, 'a worker is added');
is(numbers_of(qw(coordinator one two)), '0 1 0', 'it has a number');
citus_add_node($cluster, 'two', $place{two});
is(numbers_of(qw(coordinator one two)), '0 1 2', 'another one');
is(shown($sessions{two}[0]), '2|citus', 'and shown');
citus_remove_node($cluster, 'one');
is(numbers_of(qw(coordinator two)), '0 2', 'one is removed; the others keep theirs');
is(citus_add_node($cluster, 'one', $place{one}), 3, 'and added again');
is(numbers_of(qw(coordinator one two)), '0 3 2', 'it has a new number');
citus_stop_sync($cluster, 'two');
citus_start_sync($cluster, 'two');
is(numbers_of(qw(coordinator one two)), '0 3 2', 'one that is disabled and activated has its own again');

# A worker that is not told its number has the coordinator's. Who comes from Citus is refused; others may be
# where there is no cluster.
my @own_sessions = ('citus_internal gpid=10000000042', 'citus_internal', 'citus_run_command gpid=10000000042',
    'citus_rebalancer gpid=10000000042');
my @others = ('', 'psql', 'my citus_internal', 'citus', 'Citus_internal gpid=1', 'citus_run_commander');
citus_stop_sync($cluster, 'two');
foreach my $name (@own_sessions)
{
    local $ENV{PGAPPNAME} = $name;
    is(attempt($node, $_, dbname => 'two'), 'ERROR 55000', "not synchronized, $name: $_")
      foreach 'SELECT snowid_next()', 'SELECT snowid_default_shard()', 'INSERT INTO photos (n) SELECT 1';
    is(attempt($node, 'SELECT snowid_shard(snowid_next(7))', dbname => 'two'), '7', "$name: who names a shard is served");
    is(attempt($node, 'SELECT snowid_shard(snowid_next())', dbname => $_->[0]), $_->[1], "$name: $_->[0] goes on")
      foreach [ 'coordinator', 0 ], [ 'one', 3 ];
}
foreach my $name (@others)
{
    local $ENV{PGAPPNAME} = $name;
    is(attempt($node, 'SELECT snowid_shard(snowid_next())', dbname => 'two'), '0', "not synchronized, '$name': not Citus'");
}
# A session of a pool, whose clients come and go.
my ($pooled) = @{ $sessions{two} };
is(ask($pooled, 'SELECT snowid_shard(snowid_next())'), '0', 'a session of a pool, not synchronized');
ask($pooled, q(SET application_name = 'citus_internal gpid=10000000043'));
is(ask($pooled, 'SELECT snowid_next()'), 'ERROR 55000', 'Citus is its next client');
like($pooled->{err}, qr/ERROR:  55000: Citus has not synchronized its metadata to this node\nDETAIL:  .*pg_dist_node" is empty\.\nHINT:  .*start_metadata_sync_to_node/,
    'and is told why');
is(shown($pooled), 'null|citus|Citus has not synchronized its metadata to this node', 'which is shown, too');
citus_start_sync($cluster, 'two');
is(ask($pooled, 'SELECT snowid_shard(snowid_next())'), '2', 'until the node has its number');
ask($pooled, 'RESET application_name');

# 2. Transactions: what has not been committed counts for who has done it, and for nobody after a rollback.
my ($changing, $other) = @{ $sessions{one} };
ask($changing, 'BEGIN; UPDATE pg_dist_local_group SET groupid = 9');
is(ask($changing, 'SELECT snowid_shard(snowid_next())'), '9', 'a change within a transaction');
is(ask($other, 'EXECUTE draw'), '3', 'which others do not see');
ask($changing, 'SAVEPOINT s; UPDATE pg_dist_local_group SET groupid = 10');
is(ask($changing, 'SELECT snowid_shard(snowid_next())'), '10', 'and one within a part of it');
ask($changing, 'ROLLBACK TO s');
is(ask($changing, 'SELECT snowid_shard(snowid_next())'), '9', 'which is rolled back');
ask($changing, 'ROLLBACK');
is(numbers_of('one'), '3', 'and then all of it');
ask($changing, q(BEGIN; UPDATE pg_dist_local_group SET groupid = 9; SELECT snowid_next(); PREPARE TRANSACTION 'moved'));
is(numbers_of('one'), '3', 'one that is prepared');
ask($changing, q(COMMIT PREPARED 'moved'));
is(numbers_of('one'), '9', 'and committed');
citus_start_sync($cluster, 'one');
# While Citus is at it nobody waits.
ask($changing, 'BEGIN; LOCK TABLE pg_dist_node, pg_dist_local_group IN EXCLUSIVE MODE');
is(attempt($node, 'SELECT snowid_shard(snowid_next())', dbname => 'one'), '3', 'while Citus has its tables locked');
ask($changing, 'ROLLBACK');

# Who looks while Citus tells the node its number, and has to wait, has that or none.
citus_stop_sync($cluster, 'one');
ask($other, q(SET application_name = 'citus_internal gpid=10000000045'));
backend_of($other);
ask($changing, 'BEGIN; LOCK TABLE pg_dist_node IN ACCESS EXCLUSIVE MODE');
start_asking($other, 'EXECUTE draw');
wait_until_waiting($node, $other, 'Lock');
ask($changing, 'UPDATE pg_dist_local_group SET groupid = 3; INSERT INTO pg_dist_node VALUES (0, 0, 0, 0), (3, 3, 3, 3); COMMIT');
is(answer($other), '3', 'while the node is told its number');
is(ask($other, 'EXECUTE draw'), '3', 'and from then on');
ask($other, 'RESET application_name');

# The view says why there is no number; it does not take another error for that.
ask($changing, 'BEGIN; LOCK TABLE pg_dist_local_group IN ACCESS EXCLUSIVE MODE');
is(ask($other, q(BEGIN; SET LOCAL statement_timeout = '10ms'; RESET snowid.shard; SELECT * FROM snowid.node_status)), 'ERROR 57014', 'the view, cancelled');
ask($_, 'ROLLBACK') foreach $changing, $other;

# 3. Parallel workers.
my $parallel = open_session($node, dbname => 'one');
$node->safe_psql('one', objects_for_workers());
make_parallel($parallel);
my $columns = 'snowid_default_shard() AS number';
my $drawn = 'SELECT DISTINCT number FROM drawn';
make_by_workers($parallel, $columns);
is(ask($parallel, $drawn), '3', 'parallel workers');
ask($parallel, 'BEGIN; UPDATE pg_dist_local_group SET groupid = 11');
is(ask($parallel, "CREATE TABLE moved AS SELECT $columns FROM rows; SELECT DISTINCT number FROM moved"), '11',
    'also of a change that is not committed');
ask($parallel, 'ROLLBACK');
citus_stop_sync($cluster, 'one');
ask($parallel, q(SET application_name = 'citus_internal gpid=10000000044'));
is(make_by_workers($parallel, $columns), 'ERROR 55000', 'they are refused as the session is');
like($parallel->{err}, qr/Citus has not synchronized its metadata to this node\nDETAIL:.*\nHINT:/, 'with the same words');
citus_start_sync($cluster, 'one');
is(make_by_workers($parallel, $columns), '', 'and served again');
close_session($parallel);

# 4. Copies of a server have what the original has. Citus knows which of them it uses: a standby that is
# promoted takes its primary's place, a clone gets a place of its own.
my $standby = new_standby($node, 'standby');
$standby->start;
$node->wait_for_catchup($standby);
my $reader = open_session($standby, dbname => 'one');
is(ask($reader, 'SELECT snowid_default_shard()'), '3', 'a standby says what its primary has');
is(shown($reader), '3|citus', 'and why');
is(ask($reader, 'SELECT snowid_next()'), 'ERROR 25006', 'but makes no IDs');
$node->safe_psql('one', 'UPDATE pg_dist_local_group SET groupid = 12');
$node->wait_for_catchup($standby);
is(ask($reader, 'SELECT snowid_default_shard()'), '12', 'it learns as others do');
citus_start_sync($cluster, 'one');
$node->wait_for_catchup($standby);
$standby->promote;
is(ask($reader, 'SELECT snowid_shard(snowid_next())'), '3', 'promoted, it goes on as its primary');
citus_update_node($cluster, 'one', citus_place($standby, 'one'));
is(ask($reader, 'SELECT snowid_shard(snowid_next())'), '3', 'whose group it has');
is(citus_add_node($cluster, 'clone', citus_place($standby, 'two')), 4, 'a clone is promoted');
my $clone = open_session($standby, dbname => 'two');
is(ask($clone, 'SELECT snowid_shard(snowid_next())') . numbers_of('two'), '42', 'it has a number of its own, beside its original');

close_session($reader, $clone, map { @$_ } values %sessions);
check_log($_) foreach $node, $standby;
$_->stop foreach $standby, $node;
done_testing();
