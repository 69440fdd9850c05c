# Layouts through dump and restore: what uses them and the other kinds of ID is the same afterwards, and goes
# on above, on a server whose clock is behind.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $seconds = 'time:32 shard:10 seq:20 unit:1s epoch:2020-01-01T00:00:00Z';
my $shard_on_top = 'shard:10 time:41 seq:12 unit:1ms epoch:2020-01-01T00:00:00Z';
my $hours = 'time:24 shard:10 seq:12 unit:1h epoch:2020-01-01T00:00:00Z';
my $far = "SET snowid.max_lead = '1d'";
my $no_wait = 'SET snowid.max_wait = 0;';

my $source = new_server('source');
$source->start;
$source->safe_psql('postgres', <<SQL);
CREATE EXTENSION snowid;
CREATE TABLE tweets (
  id bigint PRIMARY KEY DEFAULT snowid_next(5, 'twitter'),
  created_at timestamptz GENERATED ALWAYS AS (snowid_timestamp(id, 'twitter')) STORED,
  leaf bigint UNIQUE DEFAULT snowid_next(5, 'leaf'),
  instagram bigint UNIQUE DEFAULT snowid_next(5),
  js53 bigint UNIQUE DEFAULT snowid_next(5, 'js53'),
  top bigint UNIQUE DEFAULT snowid_next(5, '$shard_on_top'),
  CHECK (snowid_between(id, '2020-01-01Z', '2080-01-01Z', 'twitter')));
CREATE INDEX tweets_shard ON tweets (snowid_shard(top, '$shard_on_top'));
CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT snowid_next(6, 'twitter')) PARTITION BY RANGE (id);
CREATE TABLE posts_early PARTITION OF posts
  FOR VALUES FROM (MINVALUE) TO (snowid_min('2026-01-01Z', 'twitter'));
CREATE TABLE posts_late PARTITION OF posts
  FOR VALUES FROM (snowid_min('2026-01-01Z', 'twitter')) TO (MAXVALUE);
CREATE TABLE layouts (layout snowid_layout DEFAULT 'js53', n int);
CREATE INDEX layouts_hash ON layouts USING hash (layout);
CREATE TABLE documents (id objectid PRIMARY KEY DEFAULT objectid_next(), key uuid UNIQUE DEFAULT snowid_uuidv7());
INSERT INTO tweets SELECT FROM generate_series(1, 1000);
INSERT INTO posts SELECT snowid_encode('2025-12-31 23:59Z'::timestamptz + n * interval '1 s', 6, n, 'twitter')
  FROM generate_series(1, 100) n;
INSERT INTO posts SELECT FROM generate_series(1, 100);
INSERT INTO layouts SELECT name::snowid_layout FROM snowid.layouts;
INSERT INTO layouts VALUES ('$seconds'), ('$shard_on_top'), ('$hours'), (NULL);
INSERT INTO documents SELECT FROM generate_series(1, 1000);
SQL

# All that the tables of a database hold, and where.
my @tables = qw(tweets posts posts_early posts_late layouts documents);
my $contents = sub {
    my ($node, $dbname) = @_;
    return map { $node->safe_psql($dbname, "SET timezone = 'UTC'; SELECT t FROM ONLY $_ t ORDER BY t::text") }
      @tables;
};
my %column = (
    tweets => [qw(id leaf instagram js53 top)],
    posts => ['id'],
    documents => [ 'id', 'key' ]);
my $dir = PostgreSQL::Test::Utils::tempdir();
system_or_bail('pg_dump', '-d', $source->connstr('postgres'), '-f', "$dir/plain.sql");
system_or_bail('pg_dump', '-d', $source->connstr('postgres'), '-Fc', '-f', "$dir/custom.dump");
my @before = $contents->($source, 'postgres');
my %greatest;
foreach my $table (sort keys %column)
{
    foreach my $column (@{ $column{$table} })
    {
        $greatest{"$table.$column"} =
          $source->safe_psql('postgres', "SELECT $column FROM $table ORDER BY 1 DESC LIMIT 1");
    }
}
$source->stop;

# The new server's clock is behind, and it has made UUIDs and ObjectIDs of its own.
my $target = new_server('target');
set_clock(-600, $target);
start_server($target);
$target->safe_psql('postgres', 'CREATE EXTENSION snowid; SELECT snowid_uuidv7(), objectid_next()');
foreach my $dbname (qw(plain custom))
{
    $target->safe_psql('postgres', "CREATE DATABASE $dbname");
    my $connection = $target->connstr($dbname);
    command_ok(
        $dbname eq 'plain'
        ? [ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $connection, '-f', "$dir/plain.sql" ]
        : [ 'pg_restore', '--exit-on-error', '-j2', '-d', $connection, "$dir/custom.dump" ],
        "$dbname: restored");
    my @after = $contents->($target, $dbname);
    ok($after[$_] eq $before[$_], "$dbname: $tables[$_] holds the same") foreach 0 .. $#tables;
    # A default of an ID as such: each in a session of its own, which a clock behind refuses.
    foreach my $call ("snowid_next(5, 'twitter')", "snowid_next(7, 'leaf')", "snowid_next(5, '$shard_on_top')",
        "snowid_next(5, '$seconds')", 'snowid_uuidv7()', 'objectid_next()')
    {
        is(attempt($target, "$no_wait SELECT $call", dbname => $dbname), 'ERROR SN001',
            "$dbname: refused while the clock is behind: $call");
    }
    foreach my $table (sort keys %column)
    {
        is(attempt($target, "$far; INSERT INTO $table SELECT FROM generate_series(1, 500)", dbname => $dbname),
            '', "$dbname: defaults of $table work");
        foreach my $column (@{ $column{$table} })
        {
            is(
                attempt($target,
                    "SELECT count(*) FROM $table WHERE $column > '" . $greatest{"$table.$column"} . q('),
                    dbname => $dbname),
                '500', "$dbname: $table.$column goes on above");
        }
    }
    my $lookup = "SET enable_seqscan = off; SET enable_bitmapscan = off;";
    is(attempt($target, "$lookup SELECT count(*) FROM tweets WHERE snowid_shard(top, '$shard_on_top') = 5",
            dbname => $dbname), '1500', "$dbname: the index on the shard serves");
    is(attempt($target, "$lookup SELECT count(*) FROM layouts a JOIN layouts b USING (layout)", dbname => $dbname),
        '14', "$dbname: the index on the layout serves");
    is(attempt($target, 'SELECT count(*) FROM tweets WHERE created_at <> snowid_timestamp(id, \'leaf\')',
            dbname => $dbname), '0', "$dbname: the generated column is right");
    is(attempt($target, 'SELECT (SELECT count(*) FROM posts_early), (SELECT count(*) FROM posts_late)',
            dbname => $dbname), '59|641', "$dbname: the partitions have what is theirs");
}
$target->stop;
done_testing();
