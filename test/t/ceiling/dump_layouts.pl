# What uses layouts and the other kinds of ID is the same after a dump and its restore: rows, defaults, generated columns, indexes,
# partitions, columns of the type. On a server whose clock is behind, and which has issued UUIDs and ObjectIDs of its own, each
# kind goes on above what it had.
#
# Runs in make test-all: it dumps and restores with many kinds of IDs.

use Snowid;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $seconds = 'time:32 shard:10 seq:20 unit:1s epoch:2020-01-01T00:00:00Z';
my $on_top = 'shard:10 time:41 seq:12 unit:1ms epoch:2020-01-01T00:00:00Z';
my $far = "SET snowid.max_lead = '1d'";
my $source = ready_server('source', sql => <<"SQL");
CREATE TABLE tweets (
  id bigint PRIMARY KEY DEFAULT snowid_next(5, 'twitter'),
  created_at timestamptz GENERATED ALWAYS AS (snowid_timestamp(id, 'twitter')) STORED,
  leaf bigint UNIQUE DEFAULT snowid_next(5, 'leaf'),
  instagram bigint UNIQUE DEFAULT snowid_next(5),
  js53 bigint UNIQUE DEFAULT snowid_next(5, 'js53'),
  top bigint UNIQUE DEFAULT snowid_next(5, '$on_top'),
  CHECK (snowid_in_range(id, '2020-01-01Z', '2080-01-01Z', 'twitter')));
CREATE INDEX tweets_shard ON tweets (snowid_shard(top, '$on_top'));
CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT snowid_next(6, 'twitter')) PARTITION BY RANGE (id);
CREATE TABLE posts_early PARTITION OF posts FOR VALUES FROM (MINVALUE) TO (snowid_first_at('2026-01-01Z', 'twitter'));
CREATE TABLE posts_late PARTITION OF posts FOR VALUES FROM (snowid_first_at('2026-01-01Z', 'twitter')) TO (MAXVALUE);
CREATE TABLE layouts (layout snowid_layout DEFAULT 'js53', n int);
CREATE INDEX layouts_hash ON layouts USING hash (layout);
CREATE TABLE documents (id objectid PRIMARY KEY DEFAULT objectid_next(), key uuid UNIQUE DEFAULT snowid_uuidv7());
INSERT INTO tweets SELECT FROM generate_series(1, 1000);
INSERT INTO posts SELECT snowid_encode('2025-12-31 23:59Z'::timestamptz + n * interval '1 s', 6, n, 'twitter') FROM generate_series(1, 100) n;
INSERT INTO posts SELECT FROM generate_series(1, 100);
INSERT INTO layouts SELECT name::snowid_layout FROM snowid.layouts;
INSERT INTO layouts VALUES ('$seconds'), ('$on_top'), (NULL);
INSERT INTO documents SELECT FROM generate_series(1, 1000);
SQL
my $target = new_server('target');
set_clock(-600, $target);
start_server($target);
$target->safe_psql('postgres', "CREATE EXTENSION snowid; $far; SELECT snowid_uuidv7(), objectid_next()");

# All that a database's tables hold, and where.
sub contents_of
{
    my ($node, $dbname) = @_;
    return [ map { $node->safe_psql($dbname, "SET timezone = 'UTC'; SELECT t FROM ONLY $_ t ORDER BY t::text") }
          qw(tweets posts posts_early posts_late layouts documents) ];
}
my $before = contents_of($source, 'postgres');
my %columns = (tweets => [qw(id leaf instagram js53 top)], posts => ['id'], documents => [ 'id', 'key' ]);
my %greatest;
foreach my $table (keys %columns)
{
    $greatest{"$table.$_"} = $source->safe_psql('postgres', "SELECT $_ FROM $table ORDER BY 1 DESC LIMIT 1") foreach @{ $columns{$table} };
}

my %restore = (plain => [ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-f', "$dir/p" ], custom => [ 'pg_restore', '--exit-on-error', '-j2', "$dir/c" ]);
foreach my $form (sort keys %restore)
{
    system_or_bail('pg_dump', '-d', $source->connstr('postgres'), '-F', substr($form, 0, 1), '-f', "$dir/" . substr $form, 0, 1);
    $target->safe_psql('postgres', "CREATE DATABASE $form");
    my ($program, @arguments) = @{ $restore{$form} };
    command_ok([ $program, '-d', $target->connstr($form), @arguments ], "$form: restored");
    is_deeply(contents_of($target, $form), $before, "$form: all tables hold the same");
    # A default of an ID as such: each in a session of its own, which a clock behind refuses.
    is(attempt($target, "SET snowid.max_wait = 0; SELECT $_", dbname => $form), 'ERROR SN001', "$form: refused while the clock is behind: $_")
      foreach "snowid_next(5, 'twitter')", "snowid_next(7, 'leaf')", "snowid_next(5, '$on_top')", "snowid_next(5, '$seconds')", 'snowid_uuidv7()', 'objectid_next()';
    foreach my $table (sort keys %columns)
    {
        my $above = join ' AND ', map { "$_ > '" . $greatest{"$table.$_"} . q(') } @{ $columns{$table} };
        is(attempt($target, "$far; INSERT INTO $table SELECT FROM generate_series(1, 500); SELECT count(*) FROM $table WHERE $above", dbname => $form),
            '500', "$form: defaults of $table go on above");
    }
    my $by_index = 'SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT count(*) FROM';
    foreach (
        [ "$by_index tweets WHERE snowid_shard(top, '$on_top') = 5", '1500', 'the index on the shard serves' ],
        [ "$by_index layouts a JOIN layouts b USING (layout)", '20', 'the index on the layout serves' ],
        [ q(SELECT count(*) FROM tweets WHERE created_at <> snowid_timestamp(id, 'leaf')), '0', 'the generated column is right' ],
        [ 'SELECT (SELECT count(*) FROM posts_early), (SELECT count(*) FROM posts_late)', '59|641', 'the partitions have what is theirs' ])
    {
        is($target->safe_psql($form, $_->[0]), $_->[1], "$form: $_->[2]");
    }
}
end_test($source, $target);
