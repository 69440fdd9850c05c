# portable/snowid.sql: a watermark waits for who may have written rows of a table, whichever way, and then covers them; and for
# nobody else. Others insert meanwhile, and it can be cancelled.
# Runs in make test-all: it has many sessions.

use Snowid;

my $node = new_server('reads_wait');
$node->append_conf('postgresql.conf', "max_prepared_transactions = 20\n");
$node->start;
create_portable($node, 'app', shards => [7]);
$node->safe_psql('app', q(SELECT snowid.create_shard(5, 'twitter')), extra_params => [ '-U', portable_owner() ]);
$node->safe_psql('app', <<'SQL');
CREATE TABLE events (id bigint PRIMARY KEY DEFAULT snowid_next(), note text);
CREATE TABLE elsewhere (id bigint DEFAULT snowid_next());
CREATE TABLE parts (id bigint DEFAULT snowid_next(7), note text) PARTITION BY LIST (note);
CREATE TABLE parts_a PARTITION OF parts FOR VALUES IN ('a');
CREATE TABLE parts_b PARTITION OF parts FOR VALUES IN ('b');
CREATE TABLE loaded (LIKE parts INCLUDING DEFAULTS);
CREATE TABLE tweets (id bigint DEFAULT snowid_next(5, 'twitter'));
SQL
my ($writer, $reader, $other) = map { open_session($node, dbname => 'app') } 1 .. 3;

# Has the reader ask for a watermark, and checks that it waits, which it does by naps.
sub start_reading
{
    my ($name, $table) = @_;
    start_asking($reader, "SELECT snowid_watermark('$table')");
    my $sql = "SELECT wait_event = 'PgSleep' FROM pg_stat_activity WHERE pid = $reader->{backend}";
    wait_for(sub { is_answered($reader) || $node->safe_psql('postgres', $sql) eq 't' }, 'the reader to wait');
    return ok(!is_answered($reader), "$name: it waits");
}
sub covers { my ($name, $id) = @_; return cmp_ok(answer($reader), '>=', $id, "$name: it is at or above the ID") }

# (The layout is named where reading the defaults would wait for the lock of who makes a partition.)
foreach my $case (
    [ 'INSERT', 'events', 'COMMIT', 'INSERT INTO events DEFAULT VALUES RETURNING id' ],
    [ 'rolled back', 'events', 'ROLLBACK', 'INSERT INTO events DEFAULT VALUES RETURNING id' ],
    [ 'through the parent', 'parts', 'COMMIT', q(INSERT INTO parts (note) VALUES ('a') RETURNING id) ],
    [ 'a partition, by the parent', 'parts_a', 'COMMIT', q(INSERT INTO parts (note) VALUES ('a') RETURNING id) ],
    [ 'a partition, by itself', 'parts', 'COMMIT', q(INSERT INTO parts_b (note) VALUES ('b') RETURNING id) ],
    [ 'a partition made before', q(parts', 'instagram), 'COMMIT', q(CREATE TABLE parts_c PARTITION OF parts FOR VALUES IN ('c')),
        q(INSERT INTO parts_c (note) VALUES ('c') RETURNING id) ],
    [ 'a partition attached before', 'parts', 'COMMIT', q(ALTER TABLE parts ATTACH PARTITION loaded FOR VALUES IN ('d')),
        q(INSERT INTO loaded (note) VALUES ('d') RETURNING id) ],
    [ 'another layout', 'tweets', 'COMMIT', 'INSERT INTO tweets DEFAULT VALUES RETURNING id' ])
{
    my ($name, $table, $end, @statements) = @$case;
    my $id = ask($writer, join ';', 'BEGIN', @statements);
    start_reading($name, $table);
    ask($writer, $end);
    covers($name, $id);
}

# Who writes through the parent has an ID before he has locked the partition.
ask($other, 'SELECT pg_advisory_lock(1)');
start_waiting($writer, q(INSERT INTO parts (id, note) SELECT snowid_next(7), CASE WHEN pg_advisory_xact_lock(1) IS NOT NULL THEN 'a' END RETURNING id), 'advisory');
start_reading('who has not come to the partition yet', 'parts_a');
ask($other, 'SELECT pg_advisory_unlock(1)');
covers('who has not come to the partition yet', answer($writer));

my $prepared = ask($writer, 'BEGIN; INSERT INTO events DEFAULT VALUES RETURNING id');
start_reading('to be prepared', 'events');
is(ask($writer, q(PREPARE TRANSACTION 'p')), '', 'prepared meanwhile');
is(ask($other, q(SET lock_timeout = '50ms'; SELECT snowid_watermark('events'))), 'ERROR 55P03', 'a prepared transaction is waited for, up to lock_timeout');
ok(!is_answered($reader), 'also by who began before it was prepared');
$node->safe_psql('app', q(COMMIT PREPARED 'p'));
covers('prepared', $prepared);

# Whom it does not wait for.
foreach my $case (
    [ 'another table', 'events', 'INSERT INTO elsewhere DEFAULT VALUES' ],
    [ 'readers', 'events', 'SELECT count(*) FROM events' ],
    [ 'what locks as VACUUM does', 'events', 'LOCK TABLE events IN SHARE UPDATE EXCLUSIVE MODE' ],
    [ 'a partition beside it', 'parts_b', q(INSERT INTO parts_a (note) VALUES ('a')) ],
    [ 'a savepoint rolled back', 'events', 'SAVEPOINT s; INSERT INTO events DEFAULT VALUES; ROLLBACK TO s' ])
{
    my ($name, $table, $sql) = @$case;
    ask($other, "BEGIN; $sql");
    cmp_ok(ask($reader, "SET lock_timeout = '30s'; SELECT snowid_watermark('$table')"), '>', 0, "not waited for: $name");
    ask($other, 'ROLLBACK');
}
ask($reader, 'RESET lock_timeout');
ask($writer, 'BEGIN; INSERT INTO events DEFAULT VALUES');
start_reading('a writer', 'events');
cmp_ok(ask($other, 'INSERT INTO events DEFAULT VALUES RETURNING id'), '>', 0, 'others insert while it waits');
is($node->safe_psql('app', "SELECT count(*) FROM pg_locks WHERE pid = $reader->{backend} AND relation::regclass::text ~ 'events|_gate'"), '0', 'it has no lock that others wait for');
$node->safe_psql('app', "SELECT pg_cancel_backend($reader->{backend})");
is(answer($reader), 'ERROR 57014', 'it can be cancelled');
end_test($node);
