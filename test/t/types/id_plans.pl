# Plans of queries of snowid columns, their costs and estimates, and what they give, are those of bigint columns.
# Runs in make test-all: the regression test id_type has most of it.

use Snowid;

my $node = new_server('plans');
$node->append_conf('postgresql.conf', "timezone = 'UTC'\nmax_parallel_workers_per_gather = 0\n");
$node->start;

# Two databases are equal but for the type, and have the same sample.
my $tables = <<'SQL';
CREATE EXTENSION snowid;
CREATE TABLE posts (id TYPE PRIMARY KEY, parent TYPE, number int NOT NULL, small smallint, big bigint);
INSERT INTO posts SELECT 1000000000000000 + n * n, 1000000000000000 + (n / 7) * (n / 7), n, n % 100, 1000000000000000 + n * n FROM generate_series(1::bigint, 20000) AS n;
CREATE INDEX ON posts (parent);
CREATE TABLE brin_minmax AS TABLE posts; CREATE INDEX ON brin_minmax USING brin (id) WITH (pages_per_range = 4);
CREATE TABLE brin_multi AS TABLE posts; CREATE INDEX ON brin_multi USING brin (id int8_minmax_multi_ops) WITH (pages_per_range = 4);
CREATE TABLE brin_bloom AS TABLE posts; CREATE INDEX ON brin_bloom USING brin (id int8_bloom_ops) WITH (pages_per_range = 4);
CREATE TABLE hashed AS TABLE posts; CREATE INDEX ON hashed USING hash (id);
CREATE TABLE events (id TYPE PRIMARY KEY, n int) PARTITION BY RANGE (id);
CREATE TABLE events_1 PARTITION OF events FOR VALUES FROM (0) TO (1000000000000000);
CREATE TABLE events_2 PARTITION OF events FOR VALUES FROM (1000000000000000) TO ('1000000100000000');
CREATE TABLE events_3 PARTITION OF events FOR VALUES FROM (1000000100000000) TO (MAXVALUE);
INSERT INTO events SELECT id, number FROM posts;
CREATE TABLE spread (id TYPE PRIMARY KEY, n int) PARTITION BY HASH (id);
CREATE TABLE spread_1 PARTITION OF spread FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE spread_2 PARTITION OF spread FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO spread SELECT id, number FROM posts;
CREATE TABLE numbers AS SELECT id::bigint AS id, number FROM posts WHERE number % 50 = 0;
CREATE INDEX ON numbers (id);
SELECT setseed(0.5);
SQL
my @queries = split /\n/, <<'SQL';
SELECT * FROM posts WHERE id = 1000000000000009
SELECT * FROM posts WHERE id = '1000000000000009'
SELECT * FROM posts WHERE id = 9
SELECT * FROM posts WHERE id = 9::smallint
SELECT * FROM posts WHERE 1000000000000009 = id
SELECT * FROM posts WHERE id IN (1000000000000009, 1000000000000016)
SELECT * FROM posts WHERE id IN (9, 16, 25)
SELECT * FROM posts WHERE id = ANY ('{1000000000000009,1000000000000016}')
SELECT * FROM posts WHERE id > 1000000350000000 AND id <= '1000000390000000' ORDER BY id
SELECT * FROM posts WHERE id BETWEEN 1000000010000000 AND 1000000010100000 ORDER BY id DESC LIMIT 5
SELECT * FROM posts WHERE id <= 5
SELECT * FROM posts WHERE parent = 1000000000000009 OR parent IS NULL
SELECT * FROM posts WHERE parent <> 1000000000000009
SELECT * FROM posts WHERE snowid_in_range(id, '2011-09-01Z', '2011-09-09Z')
SELECT * FROM posts ORDER BY parent, id LIMIT 10
SELECT * FROM posts WHERE (parent, id) > (1000000000000009, 1000000000000200) ORDER BY parent, id LIMIT 10
SELECT min(id), max(id), min(parent) FROM posts
SELECT max(id) FROM posts WHERE parent = 1000000000000009
SELECT count(DISTINCT parent) FROM posts
SELECT parent, count(*) FROM posts WHERE id > 1000000390000000 GROUP BY parent ORDER BY parent
SELECT * FROM posts AS a JOIN posts AS b ON a.id = b.parent WHERE b.id = 1000000000000400
SELECT * FROM posts AS a JOIN posts AS b USING (id) ORDER BY id
SELECT * FROM posts AS a JOIN numbers AS n ON a.id = n.id AND n.number < 500
SELECT * FROM numbers AS n LEFT JOIN posts AS a ON n.id = a.parent WHERE n.id = 1000000000002500
SELECT * FROM posts AS a JOIN posts AS b ON a.id = b.number
SELECT * FROM posts AS a JOIN posts AS b ON a.id = b.small WHERE b.number < 20
SELECT * FROM posts AS a WHERE id IN (SELECT id FROM numbers)
SELECT * FROM posts AS a WHERE NOT EXISTS (SELECT FROM numbers AS n WHERE n.id = a.id)
SELECT * FROM posts AS a WHERE id IN (SELECT parent FROM posts WHERE number < 100)
SELECT * FROM posts AS a, LATERAL (SELECT * FROM posts AS b WHERE b.id < a.id ORDER BY b.id DESC LIMIT 1) AS b WHERE a.number < 10
SELECT *, count(*) OVER (ORDER BY id RANGE BETWEEN 100 PRECEDING AND CURRENT ROW) FROM posts
SELECT * FROM brin_minmax WHERE id BETWEEN 1000000350000000 AND 1000000351000000
SELECT * FROM brin_minmax WHERE id < 200
SELECT * FROM brin_multi WHERE id BETWEEN 1000000350000000 AND 1000000351000000
SELECT * FROM brin_bloom WHERE id = 1000000000000009
SELECT * FROM hashed WHERE id = 1000000000000009
SELECT * FROM hashed WHERE id = '1000000000000009'
SELECT * FROM events WHERE id > 1000000350000000
SELECT * FROM events WHERE id IN (5, 1000000350000000)
SELECT * FROM events WHERE id = (SELECT 1000000000000009)
SELECT * FROM events AS e JOIN numbers AS n ON e.id = n.id WHERE n.id = 1000000000002500
SELECT * FROM events WHERE snowid_in_range(id, '2011-09-01Z', '2011-09-05Z') ORDER BY id
SELECT * FROM spread AS a JOIN posts AS b ON a.id = b.parent WHERE b.number = 40
UPDATE posts SET number = 1 WHERE id = 1000000000000009
DELETE FROM posts WHERE id < 1000000000000009
SQL
my %plans;
foreach my $type (qw(bigint snowid))
{
    $node->safe_psql('postgres', "CREATE DATABASE of_$type");
    $node->safe_psql("of_$type", $tables =~ s/\bTYPE\b/$type/gr);
    $node->safe_psql("of_$type", 'SET default_statistics_target = 1000; VACUUM ANALYZE');
    foreach my $off ('', 'SET enable_hashjoin = off; SET enable_nestloop = off;', 'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_sort = off;')
    {
        my $plans = $node->safe_psql("of_$type", "$off\n" . join '', map { "EXPLAIN $_;\nSELECT '====';\n" } @queries);
        push @{ $plans{$type} }, map { s/::bigint(\[\])?//gr =~ s/[()]//gr } split /====\n?/, $plans;
        my $rows = join '', map { "SELECT count(*), md5(string_agg(r::text, ' ' ORDER BY r::text)) FROM ($_) AS r;\n" } grep { /^SELECT/ } @queries;
        push @{ $plans{$type} }, split /\n/, $node->safe_psql("of_$type", "$off\n$rows");
    }
    # A range of time, prepared, prunes when it is run.
    like($node->safe_psql("of_$type", <<'SQL'), qr/Subplans Removed: 2/, "$type: partitions are pruned by a parameter");
SET plan_cache_mode = force_generic_plan;
PREPARE since (bigint) AS SELECT * FROM events WHERE id > $1;
EXPLAIN (COSTS OFF) EXECUTE since (1000000350000000);
SQL
}
# Since PostgreSQL 17 "IS NOT NULL" is left out for a column that has no nulls, but not where it is read as another type; since
# 19 a column that is read as another type, too, is wider by a column.
foreach my $plans (values %plans)
{
    s/ width=\d+//g foreach @$plans;
    s/cost=\S+|\n +Index Cond: \w+ IS NOT NULL//g foreach grep { /^Result.*InitPlan/s } @$plans;
}
is($plans{snowid}[$_], $plans{bigint}[$_], "plan or result $_") foreach 0 .. $#{ $plans{bigint} };
like(join("\n", @{ $plans{snowid} }), qr/$_/, "among them: $_") foreach 'Index Only Scan Backward using posts_pkey', 'Bitmap Index Scan on brin_minmax_id_idx',
  'Bitmap Index Scan on brin_multi_id_idx', 'Bitmap Index Scan on brin_bloom_id_idx', 'Index Scan using hashed_id_idx', 'Merge Join', 'Hash Join',
  'Index Cond: id = .*n\.id', 'Index Scan using events_2_pkey';
# But for a node that changes the type of what is read of partitions.
like($node->safe_psql('of_snowid', 'EXPLAIN SELECT max(id) FROM events'), qr/Limit.*Result.*Append.*Index Only Scan Backward using events_3_pkey/s, 'the greatest of partitions');
end_test($node);
