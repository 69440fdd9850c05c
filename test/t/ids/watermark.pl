# What a watermark promises: rows whose ID is at or below it are visible to later statements, or never will be. It waits for whoever
# may yet commit such a row, and for nobody else; and others do not queue behind it.

use Snowid;

my $node = ready_server('watermark', conf => "max_prepared_transactions = 10\n", sql => <<'SQL');
CREATE TABLE events (id bigint PRIMARY KEY DEFAULT snowid_next(), note text);
CREATE TABLE elsewhere (id bigint PRIMARY KEY DEFAULT snowid_next());
CREATE TABLE parts (id bigint DEFAULT snowid_next(7), note text) PARTITION BY LIST (note);
CREATE TABLE parts_a PARTITION OF parts FOR VALUES IN ('a');
CREATE TABLE parts_b PARTITION OF parts FOR VALUES IN ('b');
SQL
my ($writer, $reader, $other);

sub open_all
{
    ($writer, $reader, $other) = map { open_session($node) } 1 .. 3;
    return;
}
open_all();

# PostgreSQL 15 and 16 have no events of extensions' own.
my $is_new = $node->pg_version >= 17;
my $event = $is_new ? 'SnowidWatermark' : 'virtualxid';

# All that was committed is covered at once: also a burst, whose IDs are ahead of the clock.
$node->safe_psql('postgres', 'INSERT INTO events SELECT FROM generate_series(1, 100000)');
cmp_ok($node->safe_psql('postgres', "SELECT snowid_watermark('events')"), '>=', $node->safe_psql('postgres', 'SELECT max(id) FROM events'), 'a burst is covered');

# Whom it waits for: of which table, what a transaction has done, and how it ends; in another session, where it is prepared.
my $insert = 'INSERT INTO events DEFAULT VALUES';
foreach (
    [ 'INSERT', 'events', $insert, 'COMMIT' ],
    [ 'rolled back', 'events', $insert, 'ROLLBACK' ],
    [ 'through the parent', 'parts', "INSERT INTO parts (note) VALUES ('a')", 'COMMIT' ],
    [ 'a partition, by the parent', 'parts_a', "INSERT INTO parts (note) VALUES ('a')", 'COMMIT' ],
    [ 'a partition, by itself', 'parts', "INSERT INTO parts_b (note) VALUES ('b')", 'COMMIT' ],
    [ 'prepared', 'events', $insert, q(COMMIT PREPARED 'p') ],
    [ 'prepared before a crash', 'events', $insert, q(COMMIT PREPARED 'p') ])
{
    my ($name, $table, $write, $end) = @$_;
    ask($writer, 'BEGIN');
    my $id = ask($writer, "$write RETURNING id");
    ask($writer, q(PREPARE TRANSACTION 'p')) if $name =~ /prepared/;
    if ($name =~ /crash/)
    {
        close_session($writer, $reader, $other);
        crash_and_start($node, 'kill');
        open_all();
    }
    start_waiting($reader, "SELECT snowid_watermark('$table')", $name =~ /prepared/ && !$is_new ? 'Lock' : $event);
    is(ask($writer, $end), '', "$name: it waits for the end");
    cmp_ok(answer($reader), '>=', $id, "$name: it is at or above the ID");
}

# Whom it does not wait for.
foreach (
    [ 'another table', 'events', 'INSERT INTO elsewhere DEFAULT VALUES' ],
    [ 'readers', 'events', 'SELECT count(*) FROM events' ],
    [ 'FOR UPDATE', 'events', 'SELECT FROM events LIMIT 1 FOR UPDATE' ],
    [ 'what locks as VACUUM does', 'events', 'LOCK TABLE events IN SHARE UPDATE EXCLUSIVE MODE' ],
    [ 'CREATE INDEX', 'events', 'CREATE INDEX ON events (note)' ],
    [ 'a partition beside it', 'parts_b', q(INSERT INTO parts_a (note) VALUES ('a')) ],
    [ 'a savepoint rolled back', 'events', "SAVEPOINT s; $insert; ROLLBACK TO s" ])
{
    my ($name, $table, $does) = @$_;
    ask($other, "BEGIN; $does");
    cmp_ok(ask($reader, "SET statement_timeout = '30s'; SELECT snowid_watermark('$table')"), '>', 0, "not waited for: $name");
    ask($other, 'ROLLBACK');
}
cmp_ok(ask($reader, "RESET statement_timeout; BEGIN; $insert; SELECT snowid_watermark('events')"), '>', 0, 'nor for itself');
ask($reader, 'COMMIT');

# Nobody queues behind it.
ask($writer, "BEGIN; $insert");
start_waiting($reader, q(SELECT snowid_watermark('events')), $event);
my $later = ask($other, "$insert RETURNING id");
is(ask($other, "SELECT count(*) FROM pg_locks WHERE pid = $reader->{backend} AND relation = 'events'::regclass"), '0', 'it has no lock on the table');
ask($writer, 'COMMIT');
cmp_ok(answer($reader), '<', $later, 'others insert while it waits, above it');

ask($writer, "BEGIN; $insert");
is(ask($reader, q(SET lock_timeout = '50ms'; SELECT snowid_watermark('events'))), 'ERROR 55P03', 'lock_timeout');
is(ask($reader, q(RESET lock_timeout; SET statement_timeout = '50ms'; SELECT snowid_watermark('events'))), 'ERROR 57014', 'a cancel');
is(ask($reader, q(RESET statement_timeout; SELECT wait_event IS NULL FROM pg_stat_activity WHERE pid = pg_backend_pid())), 't', 'no wait event after that');
ask($reader, 'BEGIN; LOCK TABLE elsewhere');
start_waiting($writer, 'INSERT INTO elsewhere DEFAULT VALUES');
like(join(' ', ask($reader, q(SELECT snowid_watermark('events'))), do { ask($reader, 'ROLLBACK'); answer($writer) }), qr/ERROR 40P01/, 'a deadlock is found');
end_test($node);
