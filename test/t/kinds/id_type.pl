# The type snowid is a bigint to everything but JSON: the planner makes the same plans with the same estimates, ALTER
# TABLE rewrites nothing, and dumps, replication and foreign tables carry it. PostgreSQL's own checks of a type find
# nothing, and PostgreSQL's own objects are as they were. An ID is a string in JSON, which is read back exactly.
#
# Runs in make test-all: the regression test id_type has most of it.

use strict;
use warnings;

use JSON::PP;
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('id_type');
$node->append_conf('postgresql.conf', "timezone = 'UTC'\nwal_level = logical\nmax_wal_senders = 10\nmax_replication_slots = 10\nautovacuum = off\nmax_parallel_workers_per_gather = 0\njit = off\n");
$node->start;
sub ask_it { my ($sql, $database) = @_; return $node->safe_psql($database // 'postgres', $sql) }

# The operator families of integers, and what is in them.
my $integer = <<'SQL';
SELECT md5(string_agg(t::text, ' ' ORDER BY t::text)), count(*) FROM (
  SELECT a::text, amopfamily FROM pg_amop AS a UNION ALL SELECT a::text, amprocfamily FROM pg_amproc AS a
  UNION ALL SELECT o::text, opcfamily FROM pg_opclass AS o) AS x (t, family) JOIN pg_opfamily AS f ON f.oid = family
 WHERE opfname ~ '^integer_'
SQL
my $before = ask_it($integer);
ask_it('CREATE EXTENSION snowid');
is(ask_it($integer), $before, 'the families of integers are as they were');

# In the manner of PostgreSQL's type_sanity and opr_sanity: each query finds what is wrong.
my $members = "(SELECT d.objid FROM pg_depend AS d JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid"
  . " WHERE d.deptype = 'e' AND extname = 'snowid')";
my %sanity = (
    'types are complete' => <<"SQL",
SELECT t.oid::regtype FROM pg_type AS t JOIN pg_type AS a ON a.oid = t.typarray WHERE t.oid IN $members AND (NOT t.typisdefined
  OR a.typelem <> t.oid OR a.typalign <> CASE t.typalign WHEN 'd' THEN 'd' ELSE 'i' END OR a.typinput <> 'array_in'::regproc OR a.typsubscript <> 'array_subscript_handler'::regproc
  OR t.typbyval AND NOT (t.typlen IN (1, 2, 4, 8) AND t.typalign = CASE t.typlen WHEN 8 THEN 'd' WHEN 4 THEN 'i' WHEN 2 THEN 's' ELSE 'c' END)
  OR t.typcategory !~ '[A-Z]' OR t.typstorage <> 'p' AND t.typlen <> -1)
SQL
    'types have an array' => "SELECT oid::regtype FROM pg_type WHERE oid IN $members AND typtype = 'b' AND typelem = 0 AND typarray = 0",
    'functions of types have their arguments and results' => <<"SQL",
SELECT t.oid::regtype FROM pg_type AS t JOIN pg_proc AS i ON i.oid = t.typinput JOIN pg_proc AS o ON o.oid = t.typoutput
  JOIN pg_proc AS r ON r.oid = t.typreceive JOIN pg_proc AS s ON s.oid = t.typsend
 WHERE t.oid IN $members AND t.typtype = 'b' AND t.typelem = 0 AND (
  i.proargtypes <> ARRAY['cstring'::regtype]::oidvector OR i.prorettype <> t.oid OR o.proargtypes <> ARRAY[t.oid]::oidvector
  OR o.prorettype <> 'cstring'::regtype OR r.proargtypes <> ARRAY['internal'::regtype]::oidvector OR r.prorettype <> t.oid
  OR s.proargtypes <> ARRAY[t.oid]::oidvector OR s.prorettype <> 'bytea'::regtype
  OR 'v' IN (i.provolatile, o.provolatile, r.provolatile, s.provolatile)
  OR NOT (i.proisstrict AND o.proisstrict AND r.proisstrict AND s.proisstrict))
SQL
    'functions say of themselves what the built-in ones do' => <<"SQL",
SELECT p.oid::regprocedure FROM pg_proc AS p WHERE p.oid IN $members AND p.prolang = (SELECT oid FROM pg_language WHERE lanname = 'internal')
  AND NOT EXISTS (SELECT FROM pg_proc AS b WHERE b.oid < 10000 AND b.prosrc = p.prosrc AND b.prolang = p.prolang
    AND (b.prokind, b.prosecdef, b.proleakproof, b.proisstrict, b.proretset, b.provolatile, b.proparallel, b.pronargs, b.procost, b.probin IS NULL)
      = (p.prokind, p.prosecdef, p.proleakproof, p.proisstrict, p.proretset, p.provolatile, p.proparallel, p.pronargs, p.procost, p.probin IS NULL))
SQL
    'binary casts lead both ways' => <<"SQL",
SELECT castsource::regtype, casttarget::regtype FROM pg_cast AS c WHERE c.oid IN $members AND castmethod = 'b' AND 'snowid'::regtype IN (castsource, casttarget)
  AND NOT EXISTS (SELECT FROM pg_cast AS k WHERE k.castmethod = 'b' AND k.castsource = c.casttarget AND k.casttarget = c.castsource)
SQL
    'functions of casts have their arguments and results' => <<"SQL",
SELECT c.castsource::regtype, c.casttarget::regtype FROM pg_cast AS c JOIN pg_proc AS p ON p.oid = c.castfunc WHERE c.oid IN $members
  AND (p.pronargs <> 1 OR p.prorettype <> c.casttarget OR p.proargtypes[0] <> c.castsource OR p.provolatile <> 'i')
SQL
    'casts do not refer to themselves' => "SELECT oid FROM pg_cast WHERE oid IN $members AND castsource = casttarget",
    'binary casts are between types that are stored alike' => <<"SQL",
SELECT c.castsource::regtype, c.casttarget::regtype FROM pg_cast AS c JOIN pg_type AS s ON s.oid = castsource JOIN pg_type AS t ON t.oid = casttarget
 WHERE c.oid IN $members AND castmethod = 'b' AND (s.typlen, s.typbyval, s.typalign, s.typstorage) <> (t.typlen, t.typbyval, t.typalign, t.typstorage)
SQL
    'operator classes are complete' => 'SELECT oid::text FROM pg_opclass WHERE NOT amvalidate(oid)',
    'no operator takes the type' => "SELECT oid::regoperator FROM pg_operator WHERE 'snowid'::regtype IN (oprleft, oprright, oprresult)",
    'no operator class is for the type' => "SELECT oid FROM pg_opclass WHERE 'snowid'::regtype IN (opcintype, opckeytype)",
);
is(ask_it($sanity{$_}), '', $_) foreach sort keys %sanity;

# Plans and estimates. Two databases are equal but for the type.
my $tables = <<'SQL';
CREATE EXTENSION IF NOT EXISTS snowid;
CREATE TABLE posts (id TYPE PRIMARY KEY, parent TYPE, number int NOT NULL, small smallint, big bigint);
INSERT INTO posts SELECT 1000000000000000 + n * n, 1000000000000000 + (n / 7) * (n / 7), n, n % 100, 1000000000000000 + n * n FROM generate_series(1::bigint, 20000) AS n;
CREATE INDEX ON posts (parent);
CREATE INDEX posts_hash ON posts USING hash (big);
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
VACUUM ANALYZE;
SQL
my @queries = split /\n/, <<'SQL';
SELECT * FROM posts WHERE id = 1000000000000009
SELECT * FROM posts WHERE id = '1000000000000009'
SELECT * FROM posts WHERE id = 9
SELECT * FROM posts WHERE id = 9::smallint
SELECT * FROM posts WHERE 1000000000000009 = id
SELECT * FROM posts WHERE id IN (1000000000000009, 1000000000000016)
SELECT * FROM posts WHERE id IN ('1000000000000009', '1000000000000016')
SELECT * FROM posts WHERE id IN (9, 16, 25)
SELECT * FROM posts WHERE id = ANY ('{1000000000000009,1000000000000016}')
SELECT * FROM posts WHERE id > 1000000350000000
SELECT * FROM posts WHERE id > 1000000350000000 AND id <= '1000000390000000' ORDER BY id
SELECT * FROM posts WHERE id BETWEEN 1000000010000000 AND 1000000010100000 ORDER BY id DESC LIMIT 5
SELECT * FROM posts WHERE id <= 5
SELECT * FROM posts WHERE parent = 1000000000000009 OR parent IS NULL
SELECT * FROM posts WHERE parent <> 1000000000000009
SELECT * FROM posts WHERE snowid_in_range(id, '2011-09-01Z', '2011-09-09Z')
SELECT * FROM posts ORDER BY id LIMIT 10
SELECT * FROM posts ORDER BY parent, id LIMIT 10
SELECT * FROM posts WHERE (parent, id) > (1000000000000009, 1000000000000200) ORDER BY parent, id LIMIT 10
SELECT min(id), max(id), min(parent) FROM posts
SELECT max(id) FROM posts WHERE parent = 1000000000000009
SELECT count(DISTINCT parent) FROM posts
SELECT parent, count(*) FROM posts GROUP BY parent
SELECT parent, count(*) FROM posts WHERE id > 1000000390000000 GROUP BY parent ORDER BY parent
SELECT * FROM posts AS a JOIN posts AS b ON a.id = b.parent
SELECT * FROM posts AS a JOIN posts AS b ON a.id = b.parent WHERE b.id = 1000000000000400
SELECT * FROM posts AS a JOIN posts AS b USING (id) ORDER BY id
SELECT * FROM posts AS a JOIN numbers AS n USING (id)
SELECT * FROM posts AS a JOIN numbers AS n ON a.id = n.id AND n.number < 500
SELECT * FROM numbers AS n LEFT JOIN posts AS a ON n.id = a.parent WHERE n.id = 1000000000002500
SELECT * FROM posts AS a JOIN posts AS b ON a.id = b.number
SELECT * FROM posts AS a JOIN posts AS b ON a.id = b.small WHERE b.number < 20
SELECT * FROM posts AS a WHERE id IN (SELECT id FROM numbers)
SELECT * FROM posts AS a WHERE NOT EXISTS (SELECT FROM numbers AS n WHERE n.id = a.id)
SELECT * FROM posts AS a WHERE id IN (SELECT parent FROM posts WHERE number < 100)
SELECT * FROM posts AS a, LATERAL (SELECT * FROM posts AS b WHERE b.id < a.id ORDER BY b.id DESC LIMIT 1) AS b WHERE a.number < 10
SELECT *, lag(id) OVER (ORDER BY id) FROM posts
SELECT *, count(*) OVER (ORDER BY id RANGE BETWEEN 100 PRECEDING AND CURRENT ROW) FROM posts
SELECT * FROM brin_minmax WHERE id = 1000000000000009
SELECT * FROM brin_minmax WHERE id BETWEEN 1000000350000000 AND 1000000351000000
SELECT * FROM brin_minmax WHERE id < 1000000000000200::bigint
SELECT * FROM brin_minmax WHERE id < 200
SELECT * FROM brin_multi WHERE id BETWEEN 1000000350000000 AND 1000000351000000
SELECT * FROM brin_multi WHERE id < 200
SELECT * FROM brin_bloom WHERE id = 1000000000000009
SELECT * FROM hashed WHERE id = 1000000000000009
SELECT * FROM hashed WHERE id = '1000000000000009'
SELECT * FROM events WHERE id = 1000000000000009
SELECT * FROM events WHERE id > 1000000350000000
SELECT * FROM events WHERE id IN (5, 1000000350000000)
SELECT * FROM events WHERE id = (SELECT 1000000000000009)
SELECT * FROM events AS e JOIN numbers AS n ON e.id = n.id WHERE n.id = 1000000000002500
SELECT * FROM events WHERE snowid_in_range(id, '2011-09-01Z', '2011-09-05Z') ORDER BY id
SELECT * FROM spread WHERE id = 1000000000000009
SELECT * FROM spread AS a JOIN posts AS b ON a.id = b.parent WHERE b.number = 40
UPDATE posts SET number = 1 WHERE id = 1000000000000009
DELETE FROM posts WHERE id < 1000000000000009
SQL
my %plans;
foreach my $type (qw(bigint snowid))
{
    ask_it("CREATE DATABASE of_$type");
    # The same sample in both.
    ask_it($tables =~ s/\bTYPE\b/$type/gr =~ s/VACUUM ANALYZE;/SELECT setseed(0.5);/r, "of_$type");
    ask_it('SET default_statistics_target = 1000; VACUUM ANALYZE', "of_$type");
    my $separator = "SELECT '====';";
    foreach my $method ('', 'SET enable_hashjoin = off; SET enable_nestloop = off;', 'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_sort = off;')
    {
        my $all = ask_it("$method\n" . join('', map { "EXPLAIN $_;\n$separator\n" } @queries), "of_$type");
        push @{ $plans{$type} }, map { s/::bigint(\[\])?//gr =~ s/[()]//gr } split /====\n?/, $all;
        # And they give the same.
        my $rows = ask_it("$method\n" . join('', map { "SELECT count(*), md5(string_agg(r::text, ' ' ORDER BY r::text)) FROM ($_) AS r;\n" } grep { /^SELECT/ } @queries),
            "of_$type");
        push @{ $plans{$type} }, split /\n/, $rows;
    }
}
cmp_ok(scalar @{ $plans{bigint} }, '>', 300, 'plans are compared');
my @same = map { $plans{snowid}[$_] // '' } 0 .. $#{ $plans{bigint} };
my @different = grep { $same[$_] ne $plans{bigint}[$_] } 0 .. $#same;
is(scalar(@different), 0, 'plans with their costs and rows, and results, are those of bigint')
  or diag("bigint:\n$plans{bigint}[$different[0]]\nsnowid:\n$same[$different[0]]");
my $text = join "\n", @{ $plans{snowid} };
like($text, qr/$_/, "among them: $_") foreach 'Index Only Scan Backward using posts_pkey', 'Bitmap Index Scan on brin_minmax_id_idx', 'Bitmap Index Scan on brin_multi_id_idx',
  'Bitmap Index Scan on brin_bloom_id_idx', 'Index Scan using hashed_id_idx', 'Merge Join', 'Hash Join', 'Index Cond: id = .*n\.id', 'Index Scan using events_2_pkey';

# But for a node that changes the type of what is read of partitions.
like(ask_it('EXPLAIN SELECT max(id) FROM events', 'of_snowid'), qr/Limit.*Result.*Append.*Index Only Scan Backward using events_3_pkey/s, 'the greatest of partitions');

# A range of time, prepared, prunes when it is run.
foreach my $type (qw(bigint snowid))
{
    my $plan = ask_it(<<'SQL', "of_$type");
SET plan_cache_mode = force_generic_plan;
PREPARE since (bigint) AS SELECT * FROM events WHERE id > $1;
EXPLAIN (COSTS OFF) EXECUTE since (1000000350000000);
SQL
    like($plan, qr/Subplans Removed: 2/, "$type: partitions are pruned by a parameter");
}

# Changing a column rewrites nothing, and back.
ask_it('CREATE EXTENSION amcheck', 'of_bigint');
ask_it(<<'SQL', 'of_bigint');
CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(), parent bigint REFERENCES photos, other bigint UNIQUE);
CREATE INDEX photos_hash ON photos USING hash (parent);
CREATE INDEX photos_brin ON photos USING brin (id, parent int8_minmax_multi_ops, other int8_bloom_ops);
CREATE INDEX photos_two ON photos (parent DESC, id) INCLUDE (other);
INSERT INTO photos SELECT n, nullif(n / 2, 0), n FROM generate_series(1, 1000) AS n;
CREATE TABLE comments (photo bigint REFERENCES photos ON DELETE CASCADE, small int REFERENCES photos);
INSERT INTO comments (photo) SELECT n FROM generate_series(1, 1000) AS n; INSERT INTO comments (small) SELECT n FROM generate_series(1, 1000) AS n;
SQL
my $files = "SELECT string_agg(relname || ' ' || relfilenode, ', ' ORDER BY relname) FROM pg_class WHERE relname ~ '^(photos|comments)'";
my $files_before = ask_it($files, 'of_bigint');
my @alter = (
    'ALTER TABLE photos ALTER id TYPE snowid, ALTER parent TYPE snowid, ALTER other TYPE snowid',
    'ALTER TABLE comments ALTER photo TYPE snowid',
    'ALTER TABLE photos ALTER id TYPE bigint, ALTER other TYPE bigint',
    'ALTER TABLE comments ALTER photo TYPE bigint',
    'ALTER TABLE photos ALTER parent TYPE bigint');
foreach my $statement (@alter)
{
    my ($status, $out, $err) = $node->psql('of_bigint', "SET client_min_messages = debug1; $statement");
    is($status, 0, $statement);
    unlike($err, qr/rewriting|verifying|building|validating/, "$statement: looks at no row");
    is(ask_it($files, 'of_bigint'), $files_before, "$statement: tables and indexes are the same files");
    # They work, and so do foreign keys, whatever the types of the two columns.
    is(ask_it(<<'SQL', 'of_bigint'), 't|1|1|1', "$statement: indexes are right");
SET enable_seqscan = off;
SELECT bool_and(checked) AND count(*) = 3 AS checked, (SELECT count(*) FROM photos WHERE id = 500), (SELECT count(*) FROM photos WHERE parent = 500 AND id = 1000),
    (SELECT count(*) FROM photos WHERE other BETWEEN 700 AND '700')
  FROM (SELECT bt_index_parent_check(indexrelid, true) IS NOT NULL AS checked FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid
         WHERE indrelid = 'photos'::regclass AND relam = (SELECT oid FROM pg_am WHERE amname = 'btree')) AS c
SQL
    is(attempt($node, 'INSERT INTO comments VALUES (5000)', dbname => 'of_bigint'), 'ERROR 23503', "$statement: a foreign key is checked");
    is(attempt($node, 'INSERT INTO comments (small) VALUES (5000)', dbname => 'of_bigint'), 'ERROR 23503', "$statement: and that of an int");
    is(attempt($node, 'DELETE FROM photos WHERE id = 1000', dbname => 'of_bigint'), 'ERROR 23503', "$statement: and its other side");
    is(ask_it('BEGIN; DELETE FROM comments WHERE small > 0; DELETE FROM photos WHERE id > 500; SELECT count(*), (SELECT max(photo) FROM comments) FROM photos; ROLLBACK', 'of_bigint'), '500|500',
        "$statement: rows go that nothing refers to");
}
# The trigger of a foreign key uses an index.
like(ask_it("SET enable_seqscan = off; EXPLAIN SELECT 1 FROM photos x WHERE id = 5::snowid::bigint FOR KEY SHARE OF x", 'of_bigint'), qr/Index Scan using photos_pkey/, 'and an index is used');

# Dump and restore, in both forms of a dump, and COPY in binary, also between the types.
my $dir = PostgreSQL::Test::Utils::tempdir();
ask_it('CREATE VIEW replies AS SELECT id, coalesce(parent, 0) AS parent, max(id)::snowid AS last FROM posts WHERE id > 5 GROUP BY id', 'of_snowid');
my $dumped = 'SELECT count(*), md5(string_agg(p::text, $$ $$ ORDER BY id)) FROM posts AS p UNION ALL SELECT count(*), md5(string_agg(p::text, $$ $$ ORDER BY id)) FROM events AS p UNION ALL'
  . ' SELECT count(*), max(last)::text FROM replies';
system_or_bail('pg_dump', '-d', $node->connstr('of_snowid'), '-f', "$dir/plain.sql");
system_or_bail('pg_dump', '-d', $node->connstr('of_snowid'), '-f', "$dir/custom", '-Fc');
ask_it('CREATE DATABASE plain'); ask_it('CREATE DATABASE custom');
command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('plain'), '-f', "$dir/plain.sql" ], 'restored');
command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('custom'), "$dir/custom" ], 'restored from a custom dump');
foreach my $database (qw(plain custom))
{
    is(ask_it($dumped, $database), ask_it($dumped, 'of_snowid'), "$database: the same rows");
    is(ask_it("SELECT format_type(atttypid, NULL), pg_get_viewdef('replies') FROM pg_attribute WHERE attrelid = 'events_2'::regclass AND attname = 'id'", $database),
        ask_it("SELECT 'snowid', pg_get_viewdef('replies')", 'of_snowid'), "$database: the type, and a view");
}
ask_it("COPY posts TO '$dir/binary' (FORMAT binary)", 'of_snowid');
ask_it("TRUNCATE posts; COPY posts FROM '$dir/binary' (FORMAT binary)", $_) foreach qw(of_bigint plain);
is(ask_it('SELECT md5(string_agg(p::text, $$ $$ ORDER BY id)) FROM posts AS p', $_), ask_it('SELECT md5(string_agg(p::text, $$ $$ ORDER BY id)) FROM posts AS p', 'of_snowid'),
    "COPY in binary: $_") foreach qw(of_bigint plain);

# Logical replication, to a column of the type, and to bigint.
ask_it('CREATE PUBLICATION posts FOR TABLE posts', 'of_snowid');
my %subscriber = (plain => 'text', custom => 'binary', of_bigint => 'text');
foreach my $database (sort keys %subscriber)
{
    my $binary = $subscriber{$database} eq 'binary' ? 'true' : 'false';
    ask_it("SELECT pg_create_logical_replication_slot('$database', 'pgoutput')", 'of_snowid');
    ask_it("TRUNCATE posts; CREATE SUBSCRIPTION $database CONNECTION \$\$" . $node->connstr('of_snowid') . "\$\$ PUBLICATION posts WITH (create_slot = false, slot_name = '$database', binary = $binary)",
        $database);
    $node->poll_query_until($database, "SELECT count(*) > 0 AND bool_and(srsubstate IN ('s', 'r')) FROM pg_subscription_rel") or die 'no synchronization';
}
ask_it('UPDATE posts SET parent = id + 1 WHERE id = 1000000000000009; DELETE FROM posts WHERE id = 1000000000000016; INSERT INTO posts (id, number) VALUES (9223372036854775807, 7)', 'of_snowid');
foreach my $database (sort keys %subscriber)
{
    $node->wait_for_catchup($database, 'replay', $node->lsn('insert'));
    is(ask_it('SELECT count(*), md5(string_agg(p::text, $$ $$ ORDER BY id)) FROM posts AS p', $database),
        ask_it('SELECT count(*), md5(string_agg(p::text, $$ $$ ORDER BY id)) FROM posts AS p', 'of_snowid'), "replicated to $database, in $subscriber{$database}");
    ask_it("DROP SUBSCRIPTION $database", $database);
}

# Foreign tables.
my ($host, $port) = ($node->host, $node->port);
ask_it(<<"SQL");
CREATE EXTENSION postgres_fdw;
CREATE SERVER other FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'of_snowid');
CREATE USER MAPPING FOR PUBLIC SERVER other;
IMPORT FOREIGN SCHEMA public LIMIT TO (posts) FROM SERVER other INTO public;
CREATE FOREIGN TABLE numbers (id bigint, parent bigint, number int) SERVER other OPTIONS (table_name 'posts');
SQL
is(ask_it('SELECT md5(string_agg(p::text, $$ $$ ORDER BY id)) FROM posts AS p'), ask_it('SELECT md5(string_agg(p::text, $$ $$ ORDER BY id)) FROM posts AS p', 'of_snowid'), 'read through postgres_fdw');
is(ask_it('INSERT INTO posts (id, number) VALUES (5, 5) RETURNING id; UPDATE posts SET parent = 6 WHERE id = 5 RETURNING parent; SELECT number FROM numbers WHERE id = 5; DELETE FROM posts WHERE id = 5 RETURNING parent'),
    "5\n6\n5\n6", 'written through it');
my $explain = 'EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM posts WHERE id = 1000000000000009';
unlike(ask_it($explain), qr/Remote SQL.*WHERE/, 'a condition stays here');
ask_it("ALTER SERVER other OPTIONS (ADD extensions 'snowid')");
like(ask_it($explain), qr/Remote SQL: .*WHERE \(\(id = 1000000000000009(::bigint)?\)\)/, 'and is sent where the server has the extension');
is(ask_it('SELECT number FROM posts WHERE id = 1000000000000009'), '3', 'with the same result');

# JSON: 100,000 IDs of all sizes. test/clients/node-postgres.pl has JavaScript read them.
ask_it(<<'SQL');
CREATE TABLE many (id snowid PRIMARY KEY, other snowid, number bigint);
SELECT setseed(0.25);
INSERT INTO many SELECT id, -id, id FROM (SELECT DISTINCT
  ((floor(random() * 2147483648)::bigint << 32) | floor(random() * 4294967296)::bigint) >> floor(random() * 40)::int AS id
  FROM generate_series(1, 130000)) AS r
  ORDER BY id DESC LIMIT 99998;
INSERT INTO many VALUES (0, -9223372036854775808, 0), (9223372036854775807, NULL, 9223372036854775807);
SQL
my $ids = ask_it('SELECT id, other FROM many ORDER BY id');
is(scalar(split /\n/, $ids), 100_000, 'as many IDs');
my $json = ask_it('SELECT json_agg(m ORDER BY id) FROM (SELECT id, other, number FROM many) AS m');
sub all_read { return join "\n", map { "$_->{id}|" . ($_->{other} // '') } @{ $_[0] } }
my $read = decode_json($json);
ok(all_read($read) eq $ids, 'each is read back from JSON');
is(scalar(grep { ref(\$_->{id}) ne 'SCALAR' || JSON::PP->new->allow_nonref->encode($_->{id}) !~ /^"/ } @$read), 0, 'as a string');
ok(ask_it("SELECT json_agg(m ORDER BY id)::jsonb = jsonb_agg(m ORDER BY id) FROM many AS m") eq 't', 'json and jsonb have the same');
is(ask_it('SELECT count(*) FROM many AS m JOIN jsonb_populate_recordset(NULL::many, (SELECT jsonb_agg(m) FROM many AS m)) AS r ON r.id = m.id AND r.other IS NOT DISTINCT FROM m.other'),
    '100000', 'and PostgreSQL reads it back');
# PostgreSQL 15 has no SQL/JSON constructors.
is(ask_it(q(SELECT JSON_OBJECT('id': id, 'other': JSON_ARRAY(id)), JSON_OBJECTAGG(id: id), JSON_ARRAYAGG(id) FROM many WHERE id = 0 GROUP BY id)),
    '{"id" : "0", "other" : ["0"]}|{ "0" : "0" }|["0"]', 'SQL/JSON') if $node->pg_version >= 16;
# In a schema that is not in search_path, and under another name of that.
ask_it('CREATE DATABASE elsewhere');
ask_it(<<'SQL', 'elsewhere');
CREATE SCHEMA "my home";
CREATE EXTENSION snowid SCHEMA "my home";
CREATE TABLE photos (id "my home".snowid PRIMARY KEY DEFAULT "my home".snowid_next(), parent "my home".snowid);
INSERT INTO photos (parent) VALUES (5);
SQL
my $use = "SELECT count(*) FROM photos WHERE id > 5 AND id <> '7' AND parent = 5 AND parent IN (5, 6) AND coalesce(parent, 0) = 5";
is(ask_it($use, 'elsewhere'), '1', 'used where its schema is not in search_path');
ask_it('ALTER SCHEMA "my home" RENAME TO "other"', 'elsewhere');
is(ask_it("$use; SELECT format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = 'photos'::regclass AND attname = 'id'; SELECT snowid.adopt('photos', 'parent')", 'elsewhere'),
    "1\nother.snowid\nother.snowid_next()", 'and where it was renamed');

# The extension stays while a column is of the type, and leaves nothing.
is(attempt($node, 'DROP EXTENSION snowid', dbname => 'elsewhere'), 'ERROR 2BP01', 'it is not dropped');
is(ask_it('DROP TABLE photos; DROP EXTENSION snowid; SELECT count(*) FROM pg_cast WHERE oid >= 16384', 'elsewhere'), '0', 'unless no column is of the type');
is(ask_it($integer, 'elsewhere'), $before, 'the families of integers are as they were');
$node->stop;
done_testing();
