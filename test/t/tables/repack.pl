# REPACK, which PostgreSQL has since version 19, rewrites a table whose keys are IDs, whose time is stored and indexed by
# functions of snowid: plain, and concurrently under writers. No row is lost, no ID is changed or comes twice, and new
# ones go on above. snowid's own tables can be repacked, too.
#
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = new_server('repack', allows_streaming => 'logical');
plan skip_all => 'PostgreSQL has REPACK from version 19 on' if $node->pg_version->major < 19;
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION snowid;
CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(), n int,
  made timestamptz GENERATED ALWAYS AS (snowid_timestamp(id)) STORED);
CREATE INDEX photos_made ON photos (snowid_timestamp(id));
INSERT INTO photos (n) SELECT n FROM generate_series(1, 20000) AS n;
DELETE FROM photos WHERE n % 3 = 0;
CREATE TABLE before AS SELECT * FROM photos;
SELECT snowid.release_shard(7);
CREATE TABLE enough (is_so bool);
CREATE TABLE wrote (how_many int);
CREATE PROCEDURE write() LANGUAGE plpgsql AS $$
DECLARE
  how_many int = 0;
BEGIN
  LOOP
    INSERT INTO photos (n) VALUES (-1);
    how_many = how_many + 1;
    COMMIT;
    EXIT WHEN EXISTS (SELECT FROM enough);
  END LOOP;
  INSERT INTO wrote VALUES (how_many);
END $$;
SQL

sub check_whole
{
    my ($name) = @_;
    is($node->safe_psql('postgres', 'SELECT count(*) FROM before LEFT JOIN photos USING (id, n, made) WHERE photos.id IS NULL'), '0',
        "$name: every row is there as it was");
    is($node->safe_psql('postgres', q(SET enable_seqscan = off; SELECT count(*), count(DISTINCT id) = count(*), bool_and(made = snowid_timestamp(id))
        FROM photos WHERE snowid_timestamp(id) > '2020-01-01')), $node->safe_psql('postgres', 'SELECT count(*) FROM photos') . '|t|t', "$name: by the index, too");
    is($node->safe_psql('postgres', 'INSERT INTO photos (n) VALUES (0) RETURNING id > (SELECT max(id) FROM photos)'), 't', "$name: new ones are above");
    return;
}

my $file = q(SELECT pg_relation_filenode('photos'));
foreach my $repack ('REPACK photos', 'REPACK photos USING INDEX photos_made')
{
    my $was = $node->safe_psql('postgres', $file);
    $node->safe_psql('postgres', $repack);
    isnt($node->safe_psql('postgres', $file), $was, "$repack: is another file");
    check_whole($repack);
}

# Concurrently: two sessions write all the while.
my $was = $node->safe_psql('postgres', $file);
my @writers = map { open_session($node) } 1 .. 2;
start_asking($_, 'CALL write()') foreach @writers;
my $written = 'SELECT count(*) FROM photos WHERE n = -1';
wait_for(sub { $node->safe_psql('postgres', $written) > 10 }, 'rows');
$node->safe_psql('postgres', 'REPACK (CONCURRENTLY) photos');
my $then = $node->safe_psql('postgres', $written);
wait_for(sub { $node->safe_psql('postgres', $written) > $then }, 'more rows');
$node->safe_psql('postgres', 'INSERT INTO enough VALUES (true)');
is(answer($_), '', 'a writer has gone on') foreach @writers;
close_session(@writers);
isnt($node->safe_psql('postgres', $file), $was, 'concurrently: is another file');
is($node->safe_psql('postgres', 'SELECT sum(how_many) FROM wrote'), $node->safe_psql('postgres', $written),
    'concurrently: every row that was written meanwhile is there');
check_whole('concurrently');

$node->safe_psql('postgres', "REPACK snowid_internal.$_") foreach qw(moved_shards membership segment_sources nodes registry_identities);
is(attempt($node, 'SELECT snowid_next(7)'), 'ERROR 55000', 'a released shard stays so');
check_whole('its own tables');
$node->stop;
done_testing();
