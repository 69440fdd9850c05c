# Expressions that the server compiles: what its JIT compiler makes of snowid's functions, by the bitcode
# that is installed beside the library, gives what the library gives: the same results, the same errors,
# in order and none twice where numbers are drawn.
#
# Runs in make test-all: make test has the main tests of its module.

use File::Find;
use Snowid;

my $node = ready_server('jit', sql => <<'SQL');
CREATE SEQUENCE invoice_seq INCREMENT 1000;
CREATE SEQUENCE inbox_seq INCREMENT 1000;
CREATE TABLE photos (id bigint PRIMARY KEY, layout snowid_layout, objectid objectid, written text, uuid uuid);
INSERT INTO photos SELECT id, (CASE n % 3 WHEN 0 THEN 'instagram' WHEN 1 THEN 'twitter' ELSE 'time:40 seq:12 shard:11 unit:1ms epoch:2020-01-01T00:00:00Z' END)::snowid_layout,
  (lpad(to_hex(n * 104729), 8, '0') || lpad(to_hex(n), 16, '0'))::objectid, snowid_to_base62(id), snowid_to_uuid(id)
FROM generate_series(1, 3000) AS n, LATERAL snowid_encode('2026-01-01Z'::timestamptz + n * interval '1 minute', n % 8192, n % 1024) AS id;
CREATE TABLE drawn (n int, id bigint DEFAULT snowid_next(), named bigint DEFAULT snowid_next(7, 'twitter'),
  uuid uuid DEFAULT snowid_uuidv7(), objectid objectid DEFAULT objectid_next(),
  segment bigint DEFAULT snowid_segment_next('invoice_seq'), section bigint DEFAULT snowid_section_next('inbox_seq', 7));
ANALYZE;
SQL

# The bitcode. A server that was built with LLVM has one for each source of the library, and a list of
# them; one that was not has none.
my $pg_config = $ENV{PG_CONFIG} // 'pg_config';
chomp(my ($pgxs, $pkglibdir) = map { scalar `$pg_config --$_` } qw(pgxs pkglibdir));
my $makes_bitcode = slurp_file($pgxs =~ s{makefiles/pgxs\.mk$}{Makefile.global}r) =~ /^with_llvm\s*=\s*yes$/m;
my @sources;
find({ wanted => sub { push @sources, $_ if /[.]cpp$/ }, no_chdir => 1 }, 'src/pg');
is(-e "$pkglibdir/bitcode/snowid.index.bc" ? 'a list' : 'none', $makes_bitcode ? 'a list' : 'none', 'the list of bitcode');
# (There may be others, of a version that was installed before.)
my @missing = grep { $makes_bitcode && !-e "$pkglibdir/bitcode/snowid/" . s/[.]cpp$/.bc/r } @sources;
is("@missing", '', 'bitcode of each source');
cmp_ok(scalar @sources, '>', 10, 'of which there are many');

# One session compiles all that it can, the other nothing.
my $has_jit = $node->safe_psql('postgres', 'SET jit = on; SELECT pg_jit_available()') eq 't';
my ($compiled, $plain) = map { open_session($node) } 1 .. 2;
ask($compiled, 'SET jit = on; SET jit_above_cost = 0; SET jit_inline_above_cost = 0; SET jit_optimize_above_cost = 0');
ask($plain, 'SET jit = off');
ask($_, q(SET max_parallel_workers_per_gather = 0; SET TimeZone = 'UTC')) foreach $compiled, $plain;

# The plan of a statement that is executed, and that its expressions are compiled in it.
sub plan_of
{
    my ($name, $sql) = @_;
    my $plan = ask($compiled, "EXPLAIN (ANALYZE, TIMING OFF) $sql");
    my $is_compiled = $plan =~ /^JIT:\n  Functions: [1-9]\d*\n  Options: Inlining true, Optimization true, Expressions true/m;
    is($is_compiled ? 'compiled' : 'not', $has_jit ? 'compiled' : 'not', "$name: compiled where the server can") or diag($plan);
    return $plan;
}

# Functions of their arguments alone.
my %queries = (
    'parts in a filter' => q(SELECT count(*), sum(id) FROM photos WHERE snowid_shard(id) % 3 = 1
      AND snowid_sequence(id) > 100 AND snowid_timestamp(id) < '2026-01-02 12:00Z'),
    'all parts' => q(SELECT md5(string_agg(snowid_decode(id)::text, ' ' ORDER BY id)) FROM photos),
    'parts made one' => q(SELECT count(*) FROM photos
      WHERE snowid_encode(snowid_timestamp(id), snowid_shard(id), snowid_sequence(id)) = id),
    'a named layout' => q(SELECT sum(snowid_shard(id, 'twitter')), sum(snowid_sequence(id, 'discord')) FROM photos),
    'a layout of each row' => q(SELECT md5(string_agg(snowid_decode(id % (2::bigint ^ 53)::bigint, layout)::text, ' ' ORDER BY id)) FROM photos),
    'bounds of a time' => q(SELECT sum(snowid_first_at(snowid_timestamp(id)) % 1000007 + snowid_last_at(snowid_timestamp(id)) % 1000007) FROM photos),
    'texts' => q(SELECT count(*) FROM photos WHERE snowid_to_base62(id) = written AND snowid_from_base62(written) = id),
    'UUIDs' => q(SELECT count(*), max(snowid_uuid_timestamp(uuid)) FROM photos WHERE snowid_from_uuid(uuid) = id AND snowid_to_uuid(id) = uuid),
    'scattered' => q(SELECT count(*), sum(snowid_scatter(id) % 1000007) FROM photos WHERE snowid_unscatter(snowid_scatter(id)) = id),
    'ObjectIDs' => q(SELECT count(*), max(objectid_timestamp(objectid)), md5(string_agg(objectid::text, ' ' ORDER BY objectid DESC))
      FROM photos WHERE objectid > '100000000000000000000000'));
foreach my $name (sort keys %queries)
{
    my $answer = ask($plain, $queries{$name});
    unlike($answer, qr/ERROR/, "$name: no error");
    is(ask($compiled, $queries{$name}), $answer, "$name: the same");
    plan_of($name, $queries{$name});
}

# A range of time becomes one of IDs, by the index or not.
my $between = q(SELECT count(*) FROM photos WHERE snowid_in_range(id, '2026-01-01 06:00Z', '2026-01-01 07:00Z'));
foreach my $off ('seqscan', 'indexscan, indexonlyscan, bitmapscan')
{
    my $settings = join '; ', (map { "SET enable_$_ = on" } qw(seqscan indexscan indexonlyscan bitmapscan)), map { "SET enable_$_ = off" } split /, /, $off;
    ask($_, $settings) foreach $compiled, $plain;
    is(ask($compiled, $between), '60', "a range, no $off: what is in it");
    like(plan_of("a range, no $off", $between), ($off eq 'seqscan' ? qr/Index Cond/ : qr/Filter/), "a range, no $off: how it is found");
}
# With a layout that puts the time last nothing but the function can tell.
my $late = q('shard:20 seq:2 time:41 unit:1ms epoch:2020-01-01T00:00:00Z');
my $of_late = "SELECT count(*) FROM photos WHERE snowid_in_range(id >> 1, '2030-01-01Z', '2050-01-01Z', $late)";
is(ask($compiled, $of_late), ask($plain, $of_late), 'a range that is none of IDs: the same');

# Errors leave compiled code, too, and the session goes on.
foreach my $case (
    [ '22023', 'count(snowid_to_uuid(-id))' ], [ '22008', q(sum(snowid_encode(snowid_timestamp(id) - interval '50 years', 0, 0))) ],
    [ '22P02', q(sum(snowid_from_base62(written || '!'))) ], [ '22023', 'sum(snowid_from_uuid(gen_random_uuid()))' ],
    [ '22P02', q(sum(snowid_shard(id, (layout::text || ' x')::snowid_layout))) ])
{
    my ($state, $expression) = @$case;
    is(ask($compiled, "SELECT $expression FROM photos"), "ERROR $state", "an error: $expression");
    is(ask($compiled, q(SELECT count(*) FROM photos WHERE snowid_timestamp(id) > '2026-01-01Z')), 3000, 'after which the session goes on');
}

# What draws: as defaults of rows that come from a query, by both sessions in turn.
my $insert = 'INSERT INTO drawn (n) SELECT n FROM generate_series(%d, %d) AS n';
foreach my $round (0 .. 3)
{
    my $statement = sprintf $insert, 500 * $round + 1, 500 * $round + 500;
    if ($round % 2) { is(ask($plain, $statement), '', 'drawn without') }
    else { plan_of("drawn in round $round", $statement) }
}
is(ask($plain, <<'SQL'), '2000|0|0|0|0|1|2000|1|2000', 'drawn: in order, none twice; counters without a gap');
SELECT count(*), count(*) FILTER (WHERE id <= was), count(*) FILTER (WHERE named <= named_was),
  count(*) FILTER (WHERE uuid <= uuid_was), count(*) FILTER (WHERE objectid <= objectid_was),
  min(segment), max(segment), min(section), max(section)
FROM (SELECT *, lag(id) OVER w AS was, lag(named) OVER w AS named_was, lag(uuid) OVER w AS uuid_was,
    lag(objectid) OVER w AS objectid_was FROM drawn WINDOW w AS (ORDER BY n)) AS drawn
SQL
is(ask($plain, q(SELECT count(DISTINCT snowid_shard(id)), min(snowid_shard(named, 'twitter')) FROM drawn)), '1|7', 'drawn: of their shards');
my $batch = q(SELECT count(*), count(DISTINCT id) FROM generate_series(1, 20) AS n, LATERAL snowid_next_batch(n, 50) AS id WHERE snowid_shard(id) = n);
is(ask($compiled, $batch), '1000|1000', 'batches');
plan_of('batches', $batch);

close_session($compiled, $plain);
end_test($node);
