# What a watermark promises: rows whose ID is at or below it are visible to later statements, or never will be. Whom it
# waits for, and whom it does not; where it is refused; and that no shard issues an ID below it afterwards.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('watermark');
$node->append_conf('postgresql.conf', "max_prepared_transactions = 10\n");
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION snowid;
CREATE ROLE app LOGIN;
CREATE TABLE events (id bigint PRIMARY KEY DEFAULT snowid_next(), note text);
GRANT INSERT ON events TO app;
CREATE TABLE elsewhere (id bigint PRIMARY KEY DEFAULT snowid_next());
CREATE TABLE parts (id bigint DEFAULT snowid_next(7), note text) PARTITION BY LIST (note);
CREATE TABLE parts_a PARTITION OF parts FOR VALUES IN ('a');
CREATE TABLE parts_b PARTITION OF parts FOR VALUES IN ('b');
SQL
my ($writer, $reader, $other) = map { open_session($node) } 1 .. 3;
backend_of($_) foreach $writer, $reader, $other;

# PostgreSQL 15 and 16 have no events of extensions' own.
my $event = $node->pg_version >= 17 ? 'SnowidWatermark' : 'virtualxid';

sub sql { return $node->safe_psql('postgres', $_[0]) }

# The watermark of a table waits for the writer's transaction, which `end` ends, and is at or above an ID.
sub waits_for_writer
{
    my ($name, $table, $insert, $end) = @_;
    ask($writer, 'BEGIN');
    my $id = ask($writer, "$insert RETURNING id");
    start_asking($reader, "SELECT snowid_watermark('$table')");
    wait_until_waiting($node, $reader, $event);
    ok(!is_answered($reader), "$name: it waits");
    ask($writer, $end);
    my $watermark = answer($reader);
    cmp_ok($watermark, '>=', $id, "$name: it is at or above the ID");
    return ($id, $watermark);
}

# It does not wait while a session has done this in its transaction.
sub ignores
{
    my ($name, $table, @statements) = @_;
    ask($other, $_) foreach 'BEGIN', @statements;
    cmp_ok(ask($reader, "SET statement_timeout = '30s'; SELECT snowid_watermark('$table')"), '>', 0, "not waited for: $name");
    is(ask($reader, 'RESET statement_timeout'), '', "$name: reset");
    ask($other, 'ROLLBACK');
    return;
}

# All that was committed is covered at once: also a burst, whose IDs are ahead of the clock.
sql('INSERT INTO events SELECT FROM generate_series(1, 100000)');
cmp_ok(sql("SELECT snowid_watermark('events')"), '>=', sql('SELECT max(id) FROM events'), 'a burst is covered');

waits_for_writer('INSERT', 'events', 'INSERT INTO events DEFAULT VALUES', 'COMMIT');
waits_for_writer('rolled back', 'events', 'INSERT INTO events DEFAULT VALUES', 'ROLLBACK');
waits_for_writer('through the parent', 'parts', "INSERT INTO parts (note) VALUES ('a')", 'COMMIT');
waits_for_writer('a partition, by the parent', 'parts_a', "INSERT INTO parts (note) VALUES ('a')", 'COMMIT');
waits_for_writer('a partition, by itself', 'parts', "INSERT INTO parts_b (note) VALUES ('b')", 'COMMIT');

# A prepared transaction is one that holds its locks.
ask($writer, 'BEGIN');
my $prepared = ask($writer, 'INSERT INTO events DEFAULT VALUES RETURNING id');
ask($writer, q(PREPARE TRANSACTION 'p'));
start_asking($reader, q(SELECT snowid_watermark('events')));
wait_until_waiting($node, $reader, $node->pg_version >= 17 ? $event : 'Lock');
sql(q(COMMIT PREPARED 'p'));
cmp_ok(answer($reader), '>=', $prepared, 'a prepared transaction is waited for');
ask($writer, 'BEGIN');
$prepared = ask($writer, 'INSERT INTO events DEFAULT VALUES RETURNING id');
ask($writer, q(PREPARE TRANSACTION 'q'));
close_session($writer, $reader, $other);
crash($node);
$node->start;
($writer, $reader, $other) = map { open_session($node) } 1 .. 3;
backend_of($_) foreach $writer, $reader, $other;
start_asking($reader, q(SELECT snowid_watermark('events')));
wait_until_waiting($node, $reader, $node->pg_version >= 17 ? $event : 'Lock');
sql(q(COMMIT PREPARED 'q'));
cmp_ok(answer($reader), '>=', $prepared, 'also after a crash');

# Whom it does not wait for.
ignores('another table', 'events', 'INSERT INTO elsewhere DEFAULT VALUES');
ignores('readers', 'events', 'SELECT count(*) FROM events');
ignores('FOR UPDATE', 'events', 'SELECT FROM events LIMIT 1 FOR UPDATE');
ignores('what locks as VACUUM does', 'events', 'LOCK TABLE events IN SHARE UPDATE EXCLUSIVE MODE');
ignores('CREATE INDEX', 'events', 'CREATE INDEX ON events (note)');
ignores('a partition beside it', 'parts_b', q(INSERT INTO parts_a (note) VALUES ('a')));
ignores('a savepoint rolled back', 'events', 'SAVEPOINT s', 'INSERT INTO events DEFAULT VALUES', 'ROLLBACK TO s');
cmp_ok(ask($reader, "BEGIN; INSERT INTO events DEFAULT VALUES; SELECT snowid_watermark('events')"), '>', 0, 'nor for itself');
is(ask($reader, 'COMMIT'), '', 'committed');

# Nobody queues behind it.
ask($writer, 'BEGIN');
ask($writer, 'INSERT INTO events DEFAULT VALUES');
start_asking($reader, q(SELECT snowid_watermark('events')));
wait_until_waiting($node, $reader, $event);
my $later = ask($other, 'INSERT INTO events DEFAULT VALUES RETURNING id');
cmp_ok($later, '>', 0, 'others insert while it waits');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_locks WHERE pid = $reader->{backend} AND locktype = 'relation' AND relation = 'events'::regclass"),
    '0', 'it has no lock on the table');
ask($writer, 'COMMIT');
cmp_ok(answer($reader), '<', $later, 'an ID that was issued later is above it');

# The wait ends by lock_timeout, by a cancel, and by a deadlock.
ask($writer, 'BEGIN');
ask($writer, 'INSERT INTO events DEFAULT VALUES');
is(ask($reader, q(SET lock_timeout = '50ms'; SELECT snowid_watermark('events'))), 'ERROR 55P03', 'lock_timeout');
is(ask($reader, q(RESET lock_timeout; SET statement_timeout = '50ms'; SELECT snowid_watermark('events'))), 'ERROR 57014', 'a cancel');
is(ask($reader, q(RESET statement_timeout; SELECT wait_event IS NULL FROM pg_stat_activity WHERE pid = pg_backend_pid())),
    't', 'the wait event is gone after an error');
ask($reader, 'BEGIN');
ask($reader, 'LOCK TABLE elsewhere');
start_asking($writer, 'INSERT INTO elsewhere DEFAULT VALUES');
wait_until_waiting($node, $writer, 'Lock');
like(join(' ', ask($reader, q(SELECT snowid_watermark('events'))), do { ask($reader, 'ROLLBACK'); answer($writer) }),
    qr/ERROR 40P01/, 'a deadlock is found');
ask($writer, 'ROLLBACK');

# All shards are above it from then on: those that were behind, those that are made later, and those that are opened.
sql("SELECT snowid_next(3), snowid_next(8000)");
ask($other, 'BEGIN');
ask($other, 'SELECT snowid.release_shard(4)');
sql('SELECT count(snowid_next(5)) FROM generate_series(1, 500000)');
my $mark = sql("SELECT snowid_watermark('events')");
ask($other, 'ROLLBACK');
cmp_ok(sql("SELECT snowid_next($_)"), '>', $mark, "shard $_ goes on above it") foreach 0, 3, 4, 5, 6, 8000;
cmp_ok(sql("SELECT snowid_watermark('events')"), '>=', $mark, 'it does not go back');

# Layouts
sql(<<'SQL');
CREATE TABLE tweets (id bigint PRIMARY KEY DEFAULT snowid_next(5, 'twitter'), views bigint DEFAULT 0);
CREATE TABLE by_expression (id bigint DEFAULT snowid_next(random()::int, 'sonyflake'));
CREATE DOMAIN tweet_id AS bigint DEFAULT snowid_next(1, 'twitter');
CREATE TABLE by_domain (id tweet_id);
CREATE TABLE by_hand (id bigint);
CREATE TABLE serial (id bigserial);
CREATE TABLE identity (id bigint GENERATED ALWAYS AS IDENTITY);
CREATE FUNCTION my_id() RETURNS bigint VOLATILE LANGUAGE plpgsql AS 'BEGIN RETURN snowid_next(); END';
CREATE TABLE wrapped (id bigint DEFAULT my_id());
CREATE TABLE mixed (id bigint DEFAULT snowid_next(), tweet bigint DEFAULT snowid_next(1, 'twitter'));
CREATE TABLE with_counter (id bigint DEFAULT snowid_next(1, 'twitter'), n bigserial);
INSERT INTO tweets DEFAULT VALUES; INSERT INTO by_expression DEFAULT VALUES; INSERT INTO by_domain DEFAULT VALUES;
INSERT INTO with_counter DEFAULT VALUES; INSERT INTO by_hand VALUES (snowid_next(77));
SQL
foreach my $table (qw(tweets by_domain by_hand with_counter))
{
    is(sql("SELECT w >= (SELECT max(id) FROM $table) FROM (VALUES (" . sql("SELECT snowid_watermark('$table')") . ")) AS v (w)"),
        't', "$table: covered by the layout of its default");
}
# Units of 10 ms
is(sql('SELECT ' . sql("SELECT snowid_watermark('by_expression')") . ' >= (SELECT max(id) FROM by_expression)'), 't', 'units of 10 ms');
is(attempt($node, "SELECT snowid_watermark('$_')"), 'ERROR 22023', "$_: the layout is not known") foreach qw(serial identity wrapped mixed);
cmp_ok(sql("SELECT snowid_watermark('$_', 'instagram')"), '>', 0, "$_: unless it is named") foreach qw(serial wrapped mixed);
# Which the session has remembered, of a table.
ask($reader, "SELECT snowid_watermark('$_')") foreach 'tweets', 'by_domain';
sql('ALTER TABLE tweets ALTER COLUMN id SET DEFAULT snowid_next()');
is(ask($reader, q(SELECT snowid_timestamp(w) BETWEEN now() - interval '1 min' AND now() + interval '1 min' FROM snowid_watermark('tweets') AS w)),
    't', 'another default counts at once');
sql('ALTER DOMAIN tweet_id SET DEFAULT snowid_next()');
is(ask($reader, q(SELECT snowid_timestamp(w) BETWEEN now() - interval '1 min' AND now() + interval '1 min' FROM snowid_watermark('by_domain') AS w)),
    't', 'also one of a domain');

# The last IDs of a shard that was released, whose tick is lost
$node->safe_psql('postgres', q(CREATE TABLE moving (id bigint DEFAULT snowid_next(9)); INSERT INTO moving SELECT FROM generate_series(1, 300000)));
sql('SELECT snowid.release_shard(9)');
wait_for(sub { sql('SELECT ' . sql(q(SELECT snowid_watermark('moving'))) . ' >= max(id) FROM moving') eq 't' },
    'the time covers the IDs of a shard that was released');
is(attempt($node, 'SELECT snowid_next(9)'), 'ERROR 55000', 'which a watermark does not open');

# Units of a second: nobody skips the rest of one, so its rows are covered when the next one has begun.
my $seconds = q('time:39 shard:4 seq:20 unit:1s epoch:2020-01-01T00:00:00Z');
sql("CREATE TABLE by_second (id bigint DEFAULT snowid_next(1, $seconds))");
sql('INSERT INTO by_second DEFAULT VALUES');
sql(q(SELECT snowid_watermark('by_second')));
is(sql("SET snowid.max_wait = 0; SELECT count(snowid_next(i, $seconds)) FROM generate_series(0, 3) AS i"), '4', 'no shard waits');
wait_for(sub { sql('SELECT ' . sql(q(SELECT snowid_watermark('by_second'))) . ' >= max(id) FROM by_second') eq 't' },
    'the next second covers the last one');
$mark = sql(q(SELECT snowid_watermark('by_second')));
is(sql("SELECT min(snowid_next(i, $seconds)) > $mark FROM generate_series(0, 4) AS i"), 't', 'all shards go on above it');

# A layout that is yet to begin
sql(q(CREATE TABLE to_come (id bigint DEFAULT snowid_next(1, 'time:39 shard:4 seq:20 unit:1s epoch:2120-01-01T00:00:00Z'))));
is(sql(q(SELECT snowid_watermark('to_come'))), '0', 'a layout without IDs');

done_testing();
