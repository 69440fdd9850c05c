# Statistics are a database's own: snowid.reset_stats() has those of this database alone begin anew, whom the owner
# of the extension lets may read and reset them, and a crash begins them anew.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('reset', sql => 'CREATE ROLE plain; CREATE ROLE owner');
$node->safe_psql('postgres', 'CREATE DATABASE other OWNER owner');

# What a role's session is answered in the other database.
sub as { my ($role, $sql) = @_; return attempt($node, "SET ROLE $role; $sql", dbname => 'other') }

my $all = 'ceiling_raises, wal_flushes, wal_flush_time, waits, wait_time, errors, backward_clock_steps, max_lead';
as('owner', 'CREATE EXTENSION snowid');
set_clock(3600, $node);
unlike(as('owner', 'SELECT snowid_next(5)'), qr/ERROR/, 'the other database');
$node->safe_psql('postgres', 'SELECT snowid_next(5)');
set_clock(0, $node);
is(attempt($node, 'SELECT snowid_next(5)'), 'ERROR SN001', 'an error');
is($node->safe_psql('postgres', q(SELECT ceiling_raises > 0, wal_flushes > 0, wal_flush_time > 0, errors, backward_clock_steps, stats_reset IS NULL FROM snowid.stat_database)),
    't|t|t|1|1|t', 'counted');
my $others = as('owner', "SELECT $all FROM snowid.stat_database");
$node->safe_psql('postgres', 'SELECT snowid.reset_stats()');
is($node->safe_psql('postgres', "SELECT $all, stats_reset <= clock_timestamp() FROM snowid.stat_database"), '0|0|0|0|0|0|0|0|t', 'reset');
is($node->safe_psql('postgres', 'SELECT sum(issued), count(last_id) FROM snowid.stat_shards'), '0|0', 'shards');
is(as('owner', "SELECT $all FROM snowid.stat_database"), $others, 'the other database has its counts');
is(as('owner', 'SELECT shard, issued FROM snowid.stat_shards'), '5|1', 'and its shards');
set_clock(3600, $node);
$node->safe_psql('postgres', 'SELECT snowid_next(5)');
is($node->safe_psql('postgres', 'SELECT shard, issued FROM snowid.stat_shards'), '5|1', 'counted from there');

# Whom the owner of the extension lets may read and reset. (The regression tests have who may at first.)
is(as('plain', 'SELECT snowid.reset_stats()'), 'ERROR 42501', 'not everyone');
as('owner', 'GRANT EXECUTE ON FUNCTION snowid.reset_stats() TO plain');
unlike(as('plain', 'SELECT snowid.reset_stats()'), qr/ERROR/, 'the owner lets a role reset');
foreach my $of ([ 'shards', 'shard' ], [ 'database', 'database' ], [ 'counters', 'counter' ])
{
    as('owner', "GRANT SELECT ON snowid.stat_$of->[0] TO plain; GRANT EXECUTE ON FUNCTION snowid.$of->[1]_statistics() TO plain");
    is(as('plain', "SELECT count(*) >= 0 FROM snowid.stat_$of->[0]"), 't', "and read snowid.stat_$of->[0]");
}

crash_and_start($node, 'kill');
is($node->safe_psql('postgres', 'SELECT count(*) FROM snowid.stat_shards'), 0, 'a crash: no shard');
is($node->safe_psql('postgres', "SELECT $all, stats_reset IS NULL FROM snowid.stat_database"), '0|0|0|0|0|0|0|0|t', 'a crash: nothing of the database');
end_test($node);
