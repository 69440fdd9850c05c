# All shards issue IDs above a watermark from then on: those that were behind, those that are made later, and those that are
# released or opened; also where units of time are long. It does not go back.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $seconds = q('time:39 shard:4 seq:20 unit:1s epoch:2020-01-01T00:00:00Z');
my $node = ready_server('watermark_above', sql => <<"SQL");
CREATE TABLE events (id bigint DEFAULT snowid_next());
CREATE TABLE moving (id bigint DEFAULT snowid_next(9));
CREATE TABLE by_second (id bigint DEFAULT snowid_next(1, $seconds));
SQL
sub sql { return $node->safe_psql('postgres', $_[0]) }

# A watermark covers all rows of a table; a session that comes later sees that it does.
sub covers { my ($table) = @_; return sql('SELECT ' . sql("SELECT snowid_watermark('$table')") . " >= max(id) FROM $table") eq 't' }

sql('SELECT snowid_next(3), snowid_next(8000)');
my $other = open_session($node);
ask($other, 'BEGIN; SELECT snowid.release_shard(4)');
# A burst of another shard, ahead of the clock: 800 milliseconds of IDs.
my $burst = sql('SELECT max(snowid_reserve(5, 1024)) + 1023 FROM generate_series(1, 800)');
my $mark = sql(q(SELECT snowid_watermark('events')));
cmp_ok($mark, '>=', $burst, 'it covers what another shard has issued');
ask($other, 'ROLLBACK');
cmp_ok(sql("SELECT snowid_next($_)"), '>', $mark, "shard $_ goes on above it") foreach 0, 3, 4, 5, 6, 8000;
cmp_ok(sql(q(SELECT snowid_watermark('events'))), '>=', $mark, 'it does not go back');
close_session($other);

# The last IDs of a shard that was released, whose tick is lost.
sql('INSERT INTO moving SELECT FROM generate_series(1, 300000); SELECT snowid.release_shard(9)');
wait_for(sub { covers('moving') }, 'the time covers the IDs of a shard that was released');
is(attempt($node, 'SELECT snowid_next(9)'), 'ERROR 55000', 'a released shard: a watermark does not open it');

# Nobody skips the rest of a second, so its rows are covered when the next one has begun.
sql('INSERT INTO by_second DEFAULT VALUES');
sql(q(SELECT snowid_watermark('by_second')));
is(sql("SET snowid.max_wait = 0; SELECT count(snowid_next(i, $seconds)) FROM generate_series(0, 3) AS i"), '4', 'units of a second: no shard waits');
wait_for(sub { covers('by_second') }, 'the next second to cover the last one');
$mark = sql(q(SELECT snowid_watermark('by_second')));
is(sql("SELECT min(snowid_next(i, $seconds)) > $mark FROM generate_series(0, 4) AS i"), 't', 'units of a second: all shards go on above it');
end_test($node);
