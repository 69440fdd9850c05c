# portable/snowid.sql: a watermark covers rows that later statements see, or never will; it waits for who may have written,
# and for nobody else; and no shard issues an ID below it.
#
# Runs in make test-all: writers and readers go on for long.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;
use Time::HiRes qw(sleep);

my $node = new_server('reads_in_order', allows_streaming => 1);
$node->append_conf('postgresql.conf', "max_prepared_transactions = 20\nmax_connections = 60\n");
$node->start;
my $owner = portable_owner();
create_portable($node, 'app', shards => [ 1 .. 9 ]);
$node->safe_psql('postgres', 'CREATE ROLE clerk LOGIN');
sub sql { return $node->safe_psql('app', $_[0]) }
sub fails { my ($sql, %options) = @_; return attempt($node, $sql, dbname => 'app', %options) }
$node->safe_psql('app', q(SELECT snowid.create_shard(n, 'twitter') FROM unnest(ARRAY[0, 5]) n), extra_params => [ '-U', $owner ]);
sql(<<'SQL');
CREATE TABLE events (id bigint PRIMARY KEY DEFAULT snowid_next(), note text);
CREATE TABLE elsewhere (id bigint DEFAULT snowid_next());
CREATE TABLE parts (id bigint DEFAULT snowid_next(7), note text) PARTITION BY LIST (note);
CREATE TABLE parts_a PARTITION OF parts FOR VALUES IN ('a');
CREATE TABLE parts_b PARTITION OF parts FOR VALUES IN ('b');
CREATE TABLE loaded (LIKE parts INCLUDING DEFAULTS);
CREATE TABLE tweets (id bigint DEFAULT snowid_next(5, 'twitter'));
CREATE DOMAIN tweet_id AS bigint DEFAULT snowid_next(5, 'twitter');
CREATE TABLE by_domain (id tweet_id);
CREATE TABLE serial (id bigserial);
CREATE TABLE identity (id bigint GENERATED ALWAYS AS IDENTITY);
CREATE TABLE by_hand (id bigint);
CREATE TABLE mixed (id bigint DEFAULT snowid_next(), tweet bigint DEFAULT snowid_next(5, 'twitter'));
CREATE VIEW recent AS SELECT * FROM events;
CREATE FOREIGN DATA WRAPPER far;
CREATE SERVER far FOREIGN DATA WRAPPER far;
CREATE FOREIGN TABLE there (id bigint) SERVER far;
GRANT SELECT (id) ON parts TO clerk;
GRANT INSERT ON ALL TABLES IN SCHEMA public TO clerk;
SQL
my ($writer, $reader, $other) = map { open_session($node, dbname => 'app') } 1 .. 3;
backend_of($_) foreach $writer, $reader, $other;

# The reader waits, which it does by naps, or has wrongly not waited.
sub wait_until_it_waits
{
    my $sql = "SELECT wait_event = 'PgSleep' FROM pg_stat_activity WHERE pid = $reader->{backend}";
    wait_for(sub { is_answered($reader) || $node->safe_psql('postgres', $sql) eq 't' }, 'the reader to wait');
    return;
}

sub waits_for_writer
{
    my ($name, $table, $end, @statements) = @_;
    ask($writer, 'BEGIN');
    my @answers = map { ask($writer, $_) } @statements;
    my $id = pop @answers;
    start_asking($reader, "SELECT snowid_watermark('$table')");
    wait_until_it_waits();
    ok(!is_answered($reader), "$name: it waits");
    ask($writer, $end);
    my $watermark = answer($reader);
    cmp_ok($watermark, '>=', $id, "$name: it is at or above the ID");
    return;
}

waits_for_writer('INSERT', 'events', 'COMMIT', 'INSERT INTO events DEFAULT VALUES RETURNING id');
waits_for_writer('rolled back', 'events', 'ROLLBACK', 'INSERT INTO events DEFAULT VALUES RETURNING id');
waits_for_writer('through the parent', 'parts', 'COMMIT', q(INSERT INTO parts (note) VALUES ('a') RETURNING id));
waits_for_writer('a partition, by the parent', 'parts_a', 'COMMIT', q(INSERT INTO parts (note) VALUES ('a') RETURNING id));
waits_for_writer('a partition, by itself', 'parts', 'COMMIT', q(INSERT INTO parts_b (note) VALUES ('b') RETURNING id));
# (The layout is named, since reading the defaults would wait for the lock of who makes a partition.)
waits_for_writer('a partition made before', q(parts', 'instagram), 'COMMIT', q(CREATE TABLE parts_c PARTITION OF parts FOR VALUES IN ('c')),
    q(INSERT INTO parts_c (note) VALUES ('c') RETURNING id));
waits_for_writer('a partition attached before', 'parts', 'COMMIT', q(ALTER TABLE parts ATTACH PARTITION loaded FOR VALUES IN ('d')),
    q(INSERT INTO loaded (note) VALUES ('d') RETURNING id));
waits_for_writer('another layout', 'tweets', 'COMMIT', 'INSERT INTO tweets DEFAULT VALUES RETURNING id');

# Who writes through the parent has an ID before he has locked the partition.
ask($other, 'SELECT pg_advisory_lock(1)');
start_asking($writer, q(INSERT INTO parts (id, note) SELECT snowid_next(7), CASE WHEN pg_advisory_xact_lock(1) IS NOT NULL THEN 'a' END RETURNING id));
wait_until_waiting($node, $writer, 'advisory');
start_asking($reader, q(SELECT snowid_watermark('parts_a')));
wait_until_it_waits();
ok(!is_answered($reader), 'who has not come to the partition yet is waited for');
ask($other, 'SELECT pg_advisory_unlock(1)');
my $routed = answer($writer);
cmp_ok(answer($reader), '>=', $routed, 'the watermark covers the row');

# A prepared transaction
ask($writer, 'BEGIN');
my $prepared = ask($writer, 'INSERT INTO events DEFAULT VALUES RETURNING id');
start_asking($reader, q(SELECT snowid_watermark('events')));
wait_until_it_waits();
is(ask($writer, q(PREPARE TRANSACTION 'p')), '', 'prepared meanwhile');
is(ask($other, q(SET lock_timeout = '50ms'; SELECT snowid_watermark('events'))), 'ERROR 55P03', 'a prepared transaction is waited for, up to lock_timeout');
ok(!is_answered($reader), 'also by who began before it was prepared');
sql(q(COMMIT PREPARED 'p'));
cmp_ok(answer($reader), '>=', $prepared, 'it is covered');
ask($other, 'RESET lock_timeout');

# Whom it does not wait for.
foreach my $case (
    [ 'another table', 'events', 'INSERT INTO elsewhere DEFAULT VALUES' ],
    [ 'readers', 'events', 'SELECT count(*) FROM events' ],
    [ 'what locks as VACUUM does', 'events', 'LOCK TABLE events IN SHARE UPDATE EXCLUSIVE MODE' ],
    [ 'a partition beside it', 'parts_b', q(INSERT INTO parts_a (note) VALUES ('a')) ],
    [ 'a savepoint rolled back', 'events', 'SAVEPOINT s; INSERT INTO events DEFAULT VALUES; ROLLBACK TO s' ])
{
    ask($other, 'BEGIN');
    ask($other, $case->[2]);
    cmp_ok(ask($reader, "SET lock_timeout = '30s'; SELECT snowid_watermark('$case->[1]')"), '>', 0, "not waited for: $case->[0]");
    ask($other, 'ROLLBACK');
}
ask($writer, 'BEGIN');
ask($writer, 'INSERT INTO events DEFAULT VALUES');
start_asking($reader, q(RESET lock_timeout; SELECT snowid_watermark('events')));
wait_until_it_waits();
my $later = ask($other, 'INSERT INTO events DEFAULT VALUES RETURNING id');
cmp_ok($later, '>', 0, 'others insert while it waits');
is(sql("SELECT count(*) FROM pg_locks WHERE pid = $reader->{backend} AND relation::regclass::text ~ 'events|_gate'"), '0', 'it has no lock that others wait for');
sql("SELECT pg_cancel_backend($reader->{backend})");
is(answer($reader), 'ERROR 57014', 'it can be cancelled');
ask($writer, 'COMMIT');

# All shards go on above it: those that are behind, those that are ahead, those that are made later, and those that are opened.
sql('SELECT count(*) FROM snowid_next_batch(5, 400000)');
my $mark = sql(q(SELECT snowid_watermark('events')));
cmp_ok($mark, '>=', sql('SELECT max(id) FROM events'), 'all that was committed is covered');
cmp_ok(sql("SELECT snowid_next($_)"), '>', $mark, "shard $_ goes on above it") foreach 0, 1, 5, 9;
$node->safe_psql('app', 'SELECT snowid.create_shard(500)', extra_params => [ '-U', $owner ]);
cmp_ok(sql('SELECT snowid_next(500)'), '>', $mark, 'so does one that is made');
cmp_ok(sql(q(SELECT snowid_watermark('events'))), '>=', $mark, 'it does not go back');
my $last = sql('INSERT INTO by_hand VALUES (snowid_next(9)) RETURNING id');
my $released = $node->safe_psql('app', 'SELECT snowid.release_shard(9)', extra_params => [ '-U', $owner ]);
cmp_ok(sql(q(SELECT snowid_watermark('by_hand'))), '>=', $last, 'rows of a shard that was released are covered');
is(fails('SELECT snowid_next(9)'), 'ERROR 55000', 'it stays closed');
$mark = sql(q(SELECT snowid_watermark('events')));
$node->safe_psql('app', "SELECT snowid.accept_shard(9, $released + 1)", extra_params => [ '-U', $owner ]);
cmp_ok(sql('SELECT snowid_next(9)'), '>', $mark, 'opened again it goes on above it');
# Also after a crash.
close_session($writer, $reader, $other);
crash($node);
$node->start;
cmp_ok(sql('SELECT min(snowid_next(n)) FROM generate_series(0, 9) AS n'), '>', $mark, 'also after a crash');

# Layouts and errors, with the words of the extension.
foreach my $table (qw(tweets by_domain))
{
    my $id = sql("INSERT INTO $table DEFAULT VALUES RETURNING id");
    my $covered = sql("SELECT snowid_watermark('$table')");
    ok($covered >= $id && $covered < $id + 2**22 * 60_000, "$table: the layout of its default");
}
is(fails("SELECT snowid_watermark('$_')"), 'ERROR 22023', "$_: the layout is not known") foreach qw(serial identity mixed);
cmp_ok(sql("SELECT snowid_watermark('$_', 'instagram')"), '>', 0, "$_: unless it is named") foreach qw(serial mixed);
is(fails("BEGIN ISOLATION LEVEL $_; SELECT snowid_watermark('events')"), 'ERROR 25001', $_) foreach 'REPEATABLE READ', 'SERIALIZABLE';
is(fails(q(BEGIN READ ONLY; SELECT snowid_watermark('events'))), 'ERROR 25006', 'it writes, unlike that of the extension');
is(fails(q(SELECT snowid_watermark('recent'))), 'ERROR 42809', 'a view');
is(fails(q(SELECT snowid_watermark('there'))), 'ERROR 0A000', 'a foreign table');
is(fails('SELECT snowid_watermark(0::oid::regclass)'), 'ERROR 42P01', 'no relation');
is(fails(q(SET ROLE clerk; SELECT snowid_watermark('events'))), 'ERROR 42501', 'without SELECT');
cmp_ok(fails(q(SET ROLE clerk; SELECT snowid_watermark('parts'))), '>', 0, 'SELECT on a column is enough');
is(fails(q(SELECT count(*) FROM events WHERE id <= snowid_watermark('events'))), 'ERROR 0A000', 'not in WHERE');
my $standby = new_standby($node, 'reads_standby');
$standby->start;
is(attempt($standby, q(SELECT snowid_watermark('events')), dbname => 'app'), 'ERROR 25006', 'on a standby');
$standby->stop;

# Writers of many shards beside a reader, who reads each row once; one by the last ID misses some.
my $dir = PostgreSQL::Test::Utils::tempdir();
sql('TRUNCATE events');
append_to_file("$dir/writes", <<'SQL' x 60);
INSERT INTO events (id) VALUES (snowid_next((random() * 8)::int));
BEGIN;
INSERT INTO events DEFAULT VALUES;
SELECT FROM pg_sleep(random() * 0.05);
COMMIT;
SQL
append_to_file("$dir/writes", "\\echo done\n");
my @writers = map { { file => "$dir/out$_", run => IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('app'), '-f', "$dir/writes" ],
      '<', \undef, '>', "$dir/out$_", '2>', "$dir/out$_.err") } } 1 .. 6;
($reader, $other, $writer) = map { open_session($node, dbname => 'app') } 1 .. 3;
# One that commits late for certain.
ask($writer, 'BEGIN');
my $late = ask($writer, 'INSERT INTO events DEFAULT VALUES RETURNING id');
my ($next, $after, $naive_after, $polls, @read, @naive) = (sql('INSERT INTO events DEFAULT VALUES RETURNING id'), 0, 0, 0);
my $poll_naive = sub { push @naive, split /\n/, ask($other, "SELECT id FROM events WHERE id > $naive_after ORDER BY id"); $naive_after = $naive[-1] // 0; return };
my $poll = sub {
    $poll_naive->();
    my $to = ask($reader, q(SELECT snowid_watermark('events')));
    push @read, split /\n/, ask($reader, "SELECT id FROM events WHERE id > $after AND id <= $to ORDER BY id");
    ($after, $polls) = ($to, $polls + 1);
    return;
};
$poll_naive->();
is(ask($reader, q(SET lock_timeout = '50ms'; SELECT snowid_watermark('events'))), 'ERROR 55P03', 'it waits for the late one');
ask($writer, 'COMMIT; RESET lock_timeout');
ask($reader, 'RESET lock_timeout');
do { $poll->() } while (grep { slurp_file($_->{file}) !~ /done/ } @writers);
finish(@writers);
$poll->() foreach 1 .. 2;
is(errors_of(@writers), '', 'no writer met an error');
my @there = split /\n/, sql('SELECT id FROM events ORDER BY id');
is(join(' ', @read), join(' ', @there), sprintf 'in %d polls %d rows are read once, and in order', $polls, scalar(@there));
my %naive = map { $_ => 1 } @naive;
ok(!$naive{$late} && $naive{$next}, 'by the last ID ' . grep({ !$naive{$_} } @there) . ' are missed');

close_session($reader, $other, $writer);
$node->stop;
done_testing();
