# Columns of the type snowid, views of them, and rows go through dumps of both forms, COPY in binary, logical replication and postgres_fdw,
# also to and from bigint columns.
# Runs in make test-all: the regression test id_type has most of it.

use Snowid;

my $node = ready_server('carried', conf => "wal_level = logical\nmax_wal_senders = 10\nmax_replication_slots = 10\n", sql => <<'SQL');
CREATE TABLE posts (id snowid PRIMARY KEY, parent snowid, number int);
INSERT INTO posts SELECT 1000000000000000 + n * n, n, n FROM generate_series(1::bigint, 2000) AS n;
CREATE TABLE events (id snowid PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE events_1 PARTITION OF events FOR VALUES FROM (0) TO ('1000000100000000');
INSERT INTO events SELECT id FROM posts WHERE number < 100;
CREATE VIEW replies AS SELECT id, coalesce(parent, 0) AS parent, max(id)::snowid AS last FROM posts WHERE id > 5 GROUP BY id;
SQL
my $rows = "SELECT count(*), md5(string_agg(p::text, ' ' ORDER BY id)) FROM posts AS p";
my $all = "$rows UNION ALL SELECT count(*), max(id)::text FROM events UNION ALL SELECT count(*), max(last)::text FROM replies;"
  . " SELECT format_type(atttypid, NULL), pg_get_viewdef('replies') FROM pg_attribute WHERE attrelid = 'events_1'::regclass AND attname = 'id'";
sub sql { my ($sql, $database) = @_; return $node->safe_psql($database // 'postgres', $sql) }

my $dir = PostgreSQL::Test::Utils::tempdir();
sql("CREATE DATABASE $_") foreach qw(plain custom of_bigint);
system_or_bail('pg_dump', '-d', $node->connstr('postgres'), '-f', "$dir/plain.sql");
system_or_bail('pg_dump', '-d', $node->connstr('postgres'), '-f', "$dir/custom", '-Fc');
command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('plain'), '-f', "$dir/plain.sql" ], 'restored');
command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('custom'), "$dir/custom" ], 'restored from a custom dump');
is(sql($all, $_), sql($all), "$_: rows, the type, and a view") foreach qw(plain custom);

sql("COPY posts TO '$dir/binary' (FORMAT binary)");
sql('CREATE TABLE posts (id bigint PRIMARY KEY, parent bigint, number int)', 'of_bigint');
foreach my $database (qw(of_bigint plain))
{
    sql("TRUNCATE posts; COPY posts FROM '$dir/binary' (FORMAT binary)", $database);
    is(sql($rows, $database), sql($rows), "COPY in binary to $database");
}

sql('CREATE PUBLICATION posts FOR TABLE posts');
my %binary = (plain => 'false', custom => 'true', of_bigint => 'false');
foreach my $database (sort keys %binary)
{
    sql("SELECT pg_create_logical_replication_slot('$database', 'pgoutput')");
    sql("TRUNCATE posts; CREATE SUBSCRIPTION $database CONNECTION \$\$" . $node->connstr('postgres') . "\$\$ PUBLICATION posts"
          . " WITH (create_slot = false, slot_name = '$database', binary = $binary{$database})", $database);
    $node->poll_query_until($database, "SELECT count(*) > 0 AND bool_and(srsubstate IN ('s', 'r')) FROM pg_subscription_rel") or die 'no synchronization';
}
sql('UPDATE posts SET parent = id + 1 WHERE number = 3; DELETE FROM posts WHERE number = 4; INSERT INTO posts (id, number) VALUES (9223372036854775807, 7)');
foreach my $database (sort keys %binary)
{
    $node->wait_for_catchup($database, 'replay', $node->lsn('insert'));
    is(sql($rows, $database), sql($rows), "replicated to $database, binary $binary{$database}");
    sql("DROP SUBSCRIPTION $database", $database);
}

my ($host, $port) = ($node->host, $node->port);
sql(<<"SQL", 'plain');
DROP TABLE posts CASCADE;
CREATE EXTENSION postgres_fdw;
CREATE SERVER other FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
CREATE USER MAPPING FOR PUBLIC SERVER other;
IMPORT FOREIGN SCHEMA public LIMIT TO (posts) FROM SERVER other INTO public;
CREATE FOREIGN TABLE numbers (id bigint, parent bigint, number int) SERVER other OPTIONS (table_name 'posts');
SQL
is(sql($rows, 'plain'), sql($rows), 'read through postgres_fdw');
is(sql('INSERT INTO posts (id, number) VALUES (5, 5) RETURNING id; UPDATE posts SET parent = 6 WHERE id = 5 RETURNING parent;'
          . ' SELECT number FROM numbers WHERE id = 5; DELETE FROM posts WHERE id = 5 RETURNING parent', 'plain'), "5\n6\n5\n6", 'written through it');
my $explain = 'EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM posts WHERE id = 1000000000000009';
unlike(sql($explain, 'plain'), qr/Remote SQL.*WHERE/, 'a condition stays here');
like(sql("ALTER SERVER other OPTIONS (ADD extensions 'snowid'); $explain", 'plain'), qr/Remote SQL: .*WHERE \(\(id = 1000000000000009(::bigint)?\)\)/,
    'and is sent where the server has the extension');
end_test($node);
