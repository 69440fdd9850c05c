# portable/snowid.sql: no shard issues an ID below a watermark: none that is behind it, is made later, or was released and is opened
# again; also after a crash. It is of the layout of the table's default, and of nothing that has no such rows.
# Runs in make test-all: it crashes a server.

use Snowid;
use Time::HiRes qw(time);

my $node = new_server('reads_above', allows_streaming => 1);
start_server($node);
my @as_owner = (extra_params => [ '-U', portable_owner() ]);
create_portable($node, 'app', shards => [ 1 .. 9 ]);
sub sql { return $node->safe_psql('app', @_) }
sub attempted { my ($sql) = @_; return attempt($node, $sql, dbname => 'app') }
sql(q(SELECT snowid.create_shard(5, 'twitter')), @as_owner);
sql(<<'SQL');
CREATE ROLE clerk LOGIN;
CREATE TABLE events (id bigint PRIMARY KEY DEFAULT snowid_next(), note text);
CREATE TABLE tweets (id bigint DEFAULT snowid_next(5, 'twitter'));
CREATE DOMAIN tweet_id AS bigint DEFAULT snowid_next(5, 'twitter');
CREATE TABLE by_domain (id tweet_id);
CREATE TABLE serial (id bigserial);
CREATE TABLE by_hand (id bigint);
CREATE TABLE mixed (id bigint DEFAULT snowid_next(), tweet bigint DEFAULT snowid_next(5, 'twitter'));
CREATE TABLE parts (id bigint DEFAULT snowid_next(7));
GRANT SELECT (id) ON parts TO clerk;
INSERT INTO events DEFAULT VALUES;
SQL

# The clock stands still: no shard goes on above by itself.
stop_clock(time, $node);
my $watermark = q(SELECT snowid_watermark('events'));
sql('SELECT count(*) FROM snowid_next_batch(5, 400000)');
my $mark = sql($watermark);
cmp_ok($mark, '>=', sql('SELECT max(id) FROM events'), 'all that was committed is covered');
cmp_ok(sql("SELECT snowid_next($_)"), '>', $mark, "shard $_ goes on above it") foreach 0, 1, 5, 9;
sql('SELECT snowid.create_shard(500)', @as_owner);
cmp_ok(sql('SELECT snowid_next(500)'), '>', $mark, 'so does one that is made');
cmp_ok(sql($watermark), '>=', $mark, 'it does not go back');
my $last = sql('INSERT INTO by_hand VALUES (snowid_next(9)) RETURNING id');
my $released = sql('SELECT snowid.release_shard(9)', @as_owner);
cmp_ok(sql(q(SELECT snowid_watermark('by_hand'))), '>=', $last, 'rows of a shard that was released are covered');
is(attempted('SELECT snowid_next(9)'), 'ERROR 55000', 'it stays closed');
$mark = sql($watermark);
sql("SELECT snowid.accept_shard(9, $released + 1)", @as_owner);
cmp_ok(sql('SELECT snowid_next(9)'), '>', $mark, 'opened again it goes on above it');
set_clock(0, $node);
crash($node);
start_server($node);
cmp_ok(sql('SELECT min(snowid_next(n)) FROM generate_series(0, 9) AS n'), '>', $mark, 'also after a crash');

foreach my $table (qw(tweets by_domain))
{
    my $id = sql("INSERT INTO $table DEFAULT VALUES RETURNING id");
    is(sql("SELECT w >= $id AND w < $id + (60000::bigint << 22) FROM snowid_watermark('$table') AS w"), 't', "$table: the layout of its default");
}
# (What it is of no use for, and its words: portable/same_draws.)
foreach my $case (
    [ q(SELECT snowid_watermark('mixed')), 'ERROR 22023' ], [ q(SELECT snowid_watermark('serial', 'instagram') > 0), 't' ],
    [ "BEGIN ISOLATION LEVEL REPEATABLE READ; $watermark", 'ERROR 25001' ], [ "BEGIN ISOLATION LEVEL SERIALIZABLE; $watermark", 'ERROR 25001' ],
    [ "BEGIN READ ONLY; $watermark", 'ERROR 25006' ], [ "SET ROLE clerk; $watermark", 'ERROR 42501' ],
    [ q(SET ROLE clerk; SELECT snowid_watermark('parts') > 0), 't' ], [ q(SELECT count(*) FROM events WHERE id <= snowid_watermark('events')), 'ERROR 0A000' ])
{
    is(attempted($case->[0]), $case->[1], $case->[0]);
}
my $standby = new_standby($node, 'reads_standby');
$standby->start;
is(attempt($standby, $watermark, dbname => 'app'), 'ERROR 25006', 'on a standby');
end_test($standby, $node);
