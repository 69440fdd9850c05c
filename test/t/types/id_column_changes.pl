# ALTER TABLE makes a snowid column of a bigint column, and back, without a look at rows or indexes, which go on to work, as foreign keys
# between the types do.
# Runs in make test-all: the regression test id_type has most of it.

use Snowid;

my $node = ready_server('columns', sql => <<'SQL');
CREATE EXTENSION amcheck;
CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(), parent bigint REFERENCES photos, other bigint UNIQUE);
CREATE INDEX photos_hash ON photos USING hash (parent);
CREATE INDEX photos_brin ON photos USING brin (id, parent int8_minmax_multi_ops, other int8_bloom_ops);
CREATE INDEX photos_two ON photos (parent DESC, id) INCLUDE (other);
INSERT INTO photos SELECT n, nullif(n / 2, 0), n FROM generate_series(1, 1000) AS n;
CREATE TABLE comments (photo bigint REFERENCES photos ON DELETE CASCADE, small int REFERENCES photos);
INSERT INTO comments (photo) SELECT n FROM generate_series(1, 1000) AS n; INSERT INTO comments (small) SELECT n FROM generate_series(1, 1000) AS n;
SQL
my $files = "SELECT string_agg(relname || ' ' || relfilenode, ', ' ORDER BY relname) FROM pg_class WHERE relname ~ '^(photos|comments)'";
my $before = $node->safe_psql('postgres', $files);
foreach my $statement ('ALTER TABLE photos ALTER id TYPE snowid, ALTER parent TYPE snowid, ALTER other TYPE snowid', 'ALTER TABLE comments ALTER photo TYPE snowid',
    'ALTER TABLE photos ALTER id TYPE bigint, ALTER other TYPE bigint', 'ALTER TABLE comments ALTER photo TYPE bigint', 'ALTER TABLE photos ALTER parent TYPE bigint')
{
    my ($status, $out, $err) = $node->psql('postgres', "SET client_min_messages = debug1; $statement");
    is($status, 0, $statement);
    unlike($err, qr/rewriting|verifying|building|validating/, "$statement: looks at no row");
    is($node->safe_psql('postgres', $files), $before, "$statement: tables and indexes are the same files");
    is($node->safe_psql('postgres', <<'SQL'), 't|1|1|1', "$statement: indexes are right");
SET enable_seqscan = off;
SELECT bool_and(checked) AND count(*) = 3 AS checked, (SELECT count(*) FROM photos WHERE id = 500), (SELECT count(*) FROM photos WHERE parent = 500 AND id = 1000),
    (SELECT count(*) FROM photos WHERE other BETWEEN 700 AND '700')
  FROM (SELECT bt_index_parent_check(indexrelid, true) IS NOT NULL AS checked FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid
         WHERE indrelid = 'photos'::regclass AND relam = (SELECT oid FROM pg_am WHERE amname = 'btree')) AS c
SQL
    is(attempt($node, $_), 'ERROR 23503', "$statement: foreign keys are checked: $_")
      foreach 'INSERT INTO comments VALUES (5000)', 'INSERT INTO comments (small) VALUES (5000)', 'DELETE FROM photos WHERE id = 1000';
    is(attempt($node, 'BEGIN; DELETE FROM comments WHERE small > 0; DELETE FROM photos WHERE id > 500; SELECT count(*), (SELECT max(photo) FROM comments) FROM photos'),
        '500|500', "$statement: rows go that nothing refers to");
}
like($node->safe_psql('postgres', 'SET enable_seqscan = off; EXPLAIN SELECT 1 FROM photos x WHERE id = 5::snowid::bigint FOR KEY SHARE OF x'),
    qr/Index Scan using photos_pkey/, 'the trigger of a foreign key uses an index');
end_test($node);
