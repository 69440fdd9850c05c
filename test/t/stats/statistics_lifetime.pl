# A shard's statistics go with its entry, when a full database sweeps it, and begin anew when it comes back; a standby has none until it is
# promoted. Errors of parallel queries count as those of sessions do, and subtransactions that release a shard issue nothing.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

# A database has 200 shards of other layouts; the log hears of everything.
my $other = q('time:41 shard:13 seq:10 unit:1ms epoch:2012-01-01T00:00:00Z');
my $node = ready_server('lifetime', allows_streaming => 1, sql => objects_for_workers());
lower_bounds($node, 'postgres', max_shards_of_database => 200, log_every => 0);
# With nothing in memory of what the other library has made.
$node->stop;
start_server($node);
sub shard { return $node->safe_psql('postgres', "SELECT $_[0] FROM snowid.stat_shards WHERE shard = $_[1]") }

set_clock(3600);
is(attempt($node, 'SELECT snowid_next(0) > 0'), 't', 'an ID');
set_clock(0);
my $session = open_session($node);
make_parallel($session);
is(ask($session, 'CREATE TABLE made AS SELECT snowid_next(0) AS id FROM rows'), 'ERROR SN001', 'an error in a parallel query');
is(attempt($node, 'SELECT snowid_next(0)'), 'ERROR SN001', 'an error in a session') foreach 1 .. 2;
is($node->safe_psql('postgres', 'SELECT errors FROM snowid.stat_database'), 3, 'counted');
my $log = slurp_file($node->logfile);
is(join(' ', $log =~ /Errors in this database so far: (\d)[.]/g), '1 2 3', 'and logged, as often as it is time for');

ask($session, 'SELECT snowid_next(50); BEGIN');
is(ask($session, q(DO $$ BEGIN FOR i IN 1 .. 1500 LOOP BEGIN PERFORM snowid.release_shard(50); RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN NULL; END; END LOOP; END $$)),
    '', 'a shard that subtransactions release');
is(shard('issued', 50), 1, 'no ID in them');
ask($session, 'COMMIT');
is(shard('issued', 50), 1, 'nor for good');
close_session($session);

set_clock(7200);
$session = open_session($node);
is(ask($session, "SELECT count(snowid_next(s, $other)) FROM generate_series(2000, 2199) s"), '200', 'a full database');
is(shard('issued', 2000), 1, 'has the shard');
close_session($session);
$session = open_session($node);
set_clock(7300);
ask($session, "SELECT snowid_next(2001, $other)");
wait_for(sub { ask($session, "SELECT count(snowid_next(s, $other)) FROM generate_series(3000, 3099) s") eq '100' }, 'a sweep');
is(shard('count(*)', 2000), 0, 'swept');
ask($session, "SELECT snowid_next(2000, $other)");
is(shard('issued', 2000), 1, 'it comes back with nothing else counted');
is(shard('issued', 0), 1, 'one of the default layout is never swept');
close_session($session);

my $standby = new_standby($node, 'standby');
start_server($standby);
$node->wait_for_catchup($standby);
is($standby->safe_psql('postgres', 'SELECT count(*) FROM snowid.stat_shards'), 0, 'a standby has no shards');
is($standby->safe_psql('postgres', 'SELECT ceiling IS NOT NULL, ceiling_raises FROM snowid.stat_database'), 't|0', 'and the ceiling');
$node->stop;
$standby->promote;
set_clock(7400);
is(attempt($standby, 'SELECT snowid_next(0) > 0'), 't', 'promoted');
is($standby->safe_psql('postgres', 'SELECT shard, issued FROM snowid.stat_shards'), '0|1', 'it counts');
end_test($node, $standby);
