# In parallel plans every call makes an ID of its own: what makes IDs is PARALLEL RESTRICTED, so that the leader makes them, above
# scans that stay parallel. Where it was PARALLEL SAFE, PostgreSQL took equal calls above a Gather for one.

use Snowid;

my $node = ready_server('parallel', sql => objects_for_workers() . ';CREATE DATABASE restored');

# How a call of each function that makes something looks. A function that is missing here fails the test.
my %call = (
    'snowid_next()' => 'snowid_next()',
    'snowid_next(bigint)' => 'snowid_next(1)',
    'snowid_next(bigint,snowid_layout)' => q(snowid_next(1, 'twitter')),
    'snowid_next_batch(integer)' => 'snowid_next_batch(1)',
    'snowid_next_batch(bigint,integer,snowid_layout)' => 'snowid_next_batch(2, 1)',
    'snowid_reserve(integer)' => 'snowid_reserve(2)',
    'snowid_reserve(bigint,integer,snowid_layout)' => 'snowid_reserve(3, 2)',
    'snowid_uuidv7()' => 'snowid_uuidv7()',
    'objectid_next()' => 'objectid_next()');
my $volatile = <<'SQL';
SELECT %s FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
 WHERE d.deptype = 'e' AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowid') AND provolatile = 'v' AND %s ORDER BY 1
SQL
is($node->safe_psql('postgres', sprintf($volatile, 'p.oid::regprocedure::text COLLATE "C"', q(proname ~ '^(snowid|objectid)_(next|reserve|uuidv)'))),
    join("\n", sort keys %call), 'all that makes IDs');
is($node->safe_psql('postgres', sprintf($volatile, 'proname COLLATE "C"', q(proparallel = 's' AND prorettype <> 'internal'::regtype))),
    "get_ceiling\nget_skipped_times\nlast_allocated\nsnowid_ceiling", 'what is volatile and parallel safe reads');

# Two equal calls, over a scan by workers, and where PostgreSQL puts a Gather wherever it may. The first is also the server's
# first use of shared memory, in a query that cannot have a transaction ID.
$node->restart;
my ($scanning, $forced) = map { open_session($node) } 1 .. 2;
make_parallel($scanning);
ask($forced, 'SET ' . ($node->pg_version >= 16 ? 'debug_parallel_query' : 'force_parallel_mode') . ' = on');
foreach my $session ($scanning, $forced)
{
    ask($session, q(SET snowid.max_wait = '1min'; SET snowid.max_lead = '1min'));
    foreach my $name (sort keys %call)
    {
        my $how = ($session == $scanning ? 'by workers' : 'forced') . ": $name";
        my $rows = "SELECT $call{$name} AS a, $call{$name} AS b FROM rows WHERE n % 2 = 0";
        like(ask($session, "EXPLAIN (COSTS off) $rows"), qr/Gather.*Parallel Seq Scan/s, "$how: the scan is parallel") if $session == $scanning;
        is(ask($session, "CREATE TEMP TABLE made AS $rows; SELECT count(*), count(DISTINCT v) FROM made, LATERAL (VALUES (a), (b)) AS each (v); DROP TABLE made"),
            '20000|20000', "$how: 10,000 rows, all different");
    }
}

# A user's function that calls one of them, and says that it is safe, is refused in a worker: there it would repeat.
my $make = 'CREATE TEMP TABLE made AS SELECT own_id() AS a, own_id() AS b FROM rows';
ask($scanning, q(CREATE FUNCTION own_id() RETURNS bigint PARALLEL SAFE LANGUAGE plpgsql AS 'BEGIN RETURN snowid_next(1); END'));
is(ask($scanning, $make), 'ERROR 25000', 'a worker makes none');
like($scanning->{err}, qr/cannot generate IDs in a parallel worker\nHINT:  .*PARALLEL UNSAFE/, 'with what to do');
is(ask($scanning, "ALTER FUNCTION own_id() PARALLEL UNSAFE; $make; SELECT count(*) FROM made WHERE a = b"), '0', 'who does has two');

# One message of a transaction that has made the extension draws, sets the ceiling 4 s ahead, and draws again, in parallel plans.
# The two statements have the same time, and what the setval said was taken for what a worker had raised.
my $restoring = open_session($node, dbname => 'restored');
ask($restoring, objects_for_workers());
make_parallel($restoring);
ask($restoring, q(SET max_parallel_workers = 0; SET snowid.max_lead = '1min'; BEGIN; CREATE EXTENSION snowid));
my $set = int(time * 1000) + 4000;
is(ask($restoring, <<"SQL"), '100|t', 'IDs are above what was set');
CREATE TABLE first AS SELECT snowid_next(1) AS id FROM rows WHERE n <= 100\\;
DO \$\$ BEGIN PERFORM setval('snowid_internal.ceiling', $set); END \$\$\\;
CREATE TABLE second AS SELECT snowid_next(1) AS id FROM rows WHERE n <= 100;
SELECT count(*), bool_and(snowid_timestamp(id) > to_timestamp($set / 1000.0)) FROM second
SQL
is(ask($restoring, 'COMMIT'), '', 'committed');
end_test($node);
