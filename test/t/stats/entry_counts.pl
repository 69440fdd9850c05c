# The memory of entries that snowid.stat_database shows, which is counted as they are made and deleted, is that of a walk over all entries:
# after sessions have made, swept and dropped shards, sequences and keys beside one another, and a database was dropped.
# Runs in make test-all: it has 144 sessions, one after another.

use Snowid;

my $node = ready_server('entries', sql => join ' ', map { "CREATE DATABASE $_;" } qw(app gone));
foreach my $dbname (qw(postgres app gone))
{
    $node->safe_psql($dbname, 'CREATE EXTENSION IF NOT EXISTS snowid');
    lower_bounds($node, $dbname, max_shards => 300, max_shards_of_database => 100, shards_between_sweeps => 200,
        max_counters => 60, max_counters_of_database => 30, least_section_keys => 20);
}
# With nothing in memory of what the other library has made.
$node->stop;
start_server($node);

# Each transaction is of a session of its own, so that what others leave can be swept. A bound that is reached is no error.
my $other = q('time:41 shard:13 seq:10 unit:1ms epoch:2012-01-01T00:00:00Z');
my $script = <<"SQL";
\\set shard random(0, 2000)
\\set key random(0, 300)
\\set name random(0, 40)
DO \$\$
BEGIN
  PERFORM snowid_next(:shard + n), snowid_next(:shard + n, $other) FROM generate_series(1, 30) AS n;
  FOR i IN :name .. :name + 4 LOOP
    EXECUTE format('CREATE SEQUENCE IF NOT EXISTS s%s INCREMENT 10', i);
    PERFORM snowid_segment_next(format('s%s', i)::regclass);
    PERFORM snowid_section_next(format('s%s', i)::regclass, :key + n) FROM generate_series(1, 30) AS n;
    IF i % 5 = 0 THEN EXECUTE format('DROP SEQUENCE s%s', i); END IF;
  END LOOP;
EXCEPTION WHEN OTHERS THEN RAISE LOG 'not made: %', SQLERRM;
END \$\$;
SQL
foreach my $run (map { my $hour = $_; map { [ $hour, $_ ] } qw(postgres app gone) } 0 .. 1)
{
    my ($hour, $dbname) = @$run;
    set_clock(3600 * $hour, $node);
    $node->pgbench("-n -C -c 4 -j 2 -t 6 -d $dbname", 0, [qr/actually processed: 24\/24/], [qr/^(?!.*ERROR)/s], "$dbname, hour $hour", { "entries_${dbname}_$hour" => $script });
}
my $session = open_session($node, dbname => 'app');
is(ask($session, "SELECT count(snowid_next(n, $other)) FROM generate_series(3000, 3200) n"), 'ERROR 53400', 'shards come to their bound');
ask($session, "CREATE SEQUENCE t$_") foreach 1 .. 31;
is(ask($session, q(SELECT count(snowid_segment_next(format('t%s', n)::regclass)) FROM generate_series(1, 31) n)), 'ERROR 53400', 'and counters');
close_session($session);
# What dropped databases have left goes now and then.
$node->safe_psql('postgres', 'DROP DATABASE gone');
$node->safe_psql('app', 'SELECT snowid_next(n) FROM generate_series(3000, 3300) n; SELECT objectid_next()');

my $memory = 'SELECT ids_memory, kinds_memory, counters_memory FROM snowid.stat_database';
my ($counted, $walked) = split /\n/, $node->safe_psql('app', "$memory; SET snowid.debug_walk_tables = 1; $memory");
like($counted, qr/^[1-9]\d*\|[1-9]\d*\|[1-9]\d*$/, 'there are entries of each kind');
is($counted, $walked, 'as many are counted as there are');
end_test($node);
