# On a node of Citus the shard of snowid_next() is the node's group, which no other node has. It is looked up and never stored,
# so it is right whatever becomes of the cluster: sessions that are open learn of each change at their next statement, a
# transaction goes by its own until it is rolled back, and so do parallel workers, standbys and clones. (Citus itself is in
# no package: what fills its tables here is a stand-in.)
# Runs in make test-all: it starts many sessions.

use Snowid;

my $node = ready_server('citus', allows_streaming => 1, conf => "max_prepared_transactions = 2\n");
# A coordinator and two workers, each a database, which is all that a node is to snowid. Two sessions of each: one asks anew
# each time, the other has its plans ready.
my (%place, %sessions);
foreach my $dbname (qw(coordinator one two))
{
    $node->safe_psql('postgres', "CREATE DATABASE $dbname");
    $node->safe_psql($dbname, 'CREATE EXTENSION snowid; CREATE TABLE photos (id bigint DEFAULT snowid_next(), n int)');
    create_citus($node, $dbname);
    $place{$dbname} = citus_place($node, $dbname);
    $sessions{$dbname} = [ map { open_session($node, dbname => $dbname) } 1, 2 ];
    ask($sessions{$dbname}[1], q(SET plan_cache_mode = force_generic_plan; PREPARE draw AS SELECT snowid_shard(snowid_next());
      PREPARE tell AS SELECT snowid_default_shard(); PREPARE put AS INSERT INTO photos DEFAULT VALUES RETURNING snowid_shard(id)));
}

# The numbers that the sessions in these places go by, as their next statements.
sub numbers_of
{
    my (@names) = @_;
    return join ' ', map {
        my ($asking, $prepared) = @{ $sessions{$_} };
        join '/', sort keys %{ { map { $_ => 1 } ask($asking, 'SELECT snowid_shard(snowid_next())'), ask($prepared, 'EXECUTE draw'),
              ask($asking, 'SELECT snowid_default_shard()'), ask($prepared, 'EXECUTE tell'), ask($prepared, 'EXECUTE put'),
              ask($asking, q(SELECT snowid_shard(snowid_next(snowid_default_shard(), 'twitter'), 'twitter'))) } }
    } @names;
}

my @all = qw(coordinator one two);
is(numbers_of(@all), '0 0 0', 'Citus without a cluster');
my $cluster = citus_cluster($place{coordinator});
is(citus_add_node($cluster, 'one', $place{one}), 1, 'a worker is added');
is(numbers_of(@all), '0 1 0', 'it has a number');
citus_add_node($cluster, 'two', $place{two});
is(numbers_of(@all), '0 1 2', 'another one');
is(ask($sessions{two}[0], q(SELECT concat_ws('|', node_number, source, node_name, registry, problem) FROM snowid.node_status)), '2|citus', 'and shown');
citus_remove_node($cluster, 'one');
is(numbers_of(qw(coordinator two)), '0 2', 'one is removed; the others keep theirs');
is(citus_add_node($cluster, 'one', $place{one}), 3, 'and added again');
citus_stop_sync($cluster, 'two');
citus_start_sync($cluster, 'two');
is(numbers_of(@all), '0 3 2', 'it has a new number; one that is disabled and activated has its own again');

my ($changing, $other) = @{ $sessions{one} };
my $drawn = 'SELECT snowid_shard(snowid_next())';
is(ask($changing, "BEGIN; UPDATE pg_dist_local_group SET groupid = 9; $drawn"), '9', 'a change within a transaction');
is(ask($other, 'EXECUTE draw'), '3', 'which others do not see');
is(ask($changing, "SAVEPOINT s; UPDATE pg_dist_local_group SET groupid = 10; $drawn; ROLLBACK TO s; $drawn"), "10\n9", 'in a part of it, which is rolled back');
ask($changing, 'ROLLBACK');
is(numbers_of('one'), '3', 'and then all of it');
ask($changing, q(BEGIN; UPDATE pg_dist_local_group SET groupid = 9; SELECT snowid_next(); PREPARE TRANSACTION 'moved'));
is(numbers_of('one'), '3', 'one that is prepared');
ask($changing, q(COMMIT PREPARED 'moved'));
is(numbers_of('one'), '9', 'and committed');
citus_start_sync($cluster, 'one');
ask($changing, 'BEGIN; LOCK TABLE pg_dist_node, pg_dist_local_group IN EXCLUSIVE MODE');
is(attempt($node, $drawn, dbname => 'one'), '3', 'while Citus is at it nobody waits');
ask($changing, 'ROLLBACK');

my $parallel = open_session($node, dbname => 'one');
$node->safe_psql('one', objects_for_workers());
make_parallel($parallel);
my $columns = 'snowid_default_shard() AS number';
make_by_workers($parallel, $columns);
is(ask($parallel, 'SELECT DISTINCT number FROM drawn'), '3', 'parallel workers');
is(ask($parallel, "BEGIN; UPDATE pg_dist_local_group SET groupid = 11; CREATE TABLE moved AS SELECT $columns FROM rows; SELECT DISTINCT number FROM moved"),
    '11', 'also of a change that is not committed');
ask($parallel, 'ROLLBACK');
citus_stop_sync($cluster, 'one');
ask($parallel, q(SET application_name = 'citus_internal gpid=10000000044'));
is(make_by_workers($parallel, $columns), 'ERROR 55000', 'they are refused as the session is');
like($parallel->{err}, qr/Citus has not synchronized its metadata to this node\nDETAIL:.*\nHINT:/, 'with the same words');
citus_start_sync($cluster, 'one');
is(make_by_workers($parallel, $columns), '', 'and served again');

# Copies have what the original has: a promoted standby takes its primary's place, a clone gets one of its own.
my $standby = new_standby($node, 'standby');
$standby->start;
my $reader = open_session($standby, dbname => 'one');
foreach my $group (12, 3)
{
    $node->safe_psql('one', "UPDATE pg_dist_local_group SET groupid = $group");
    $node->wait_for_catchup($standby);
    is(ask($reader, 'SELECT snowid_default_shard()'), $group, 'a standby says what its primary has');
}
is(ask($reader, 'SELECT snowid_next()'), 'ERROR 25006', 'but makes no IDs');
$standby->promote;
is(ask($reader, $drawn), '3', 'promoted, it goes on as its primary');
citus_update_node($cluster, 'one', citus_place($standby, 'one'));
is(ask($reader, $drawn), '3', 'whose group it has');
is(citus_add_node($cluster, 'clone', citus_place($standby, 'two')), 4, 'a clone is promoted');
is(attempt($standby, $drawn, dbname => 'two') . numbers_of('two'), '42', 'it has a number of its own, beside its original');
end_test($standby, $node);
