# A watermark cannot be used wrongly in silence: a statement that reads the table by a snapshot older than the watermark is
# refused, and so is what no watermark can be computed of.
#
# Runs in make test-all: it starts many sessions.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('watermark_misuse');
$node->append_conf('postgresql.conf', "max_prepared_transactions = 10\n");
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION snowid;
CREATE ROLE app LOGIN;
CREATE TABLE events (id bigint PRIMARY KEY DEFAULT snowid_next(), note text);
CREATE TABLE consumers (name text PRIMARY KEY, last bigint NOT NULL DEFAULT 0);
INSERT INTO events DEFAULT VALUES;
INSERT INTO consumers VALUES ('mail');
CREATE VIEW recent AS SELECT * FROM events;
CREATE FUNCTION mark() RETURNS bigint VOLATILE LANGUAGE plpgsql AS $$ BEGIN RETURN snowid_watermark('events'); END $$;
CREATE FUNCTION mark_sql() RETURNS bigint VOLATILE LANGUAGE sql AS $$ SELECT snowid_watermark('events') $$;
CREATE FUNCTION poll(after bigint) RETURNS SETOF bigint VOLATILE LANGUAGE plpgsql AS $$
DECLARE
  mark bigint;
BEGIN
  SELECT w INTO mark FROM snowid_watermark('events') AS w;
  RETURN QUERY SELECT id FROM events WHERE id > after AND id <= mark ORDER BY id;
END $$;
CREATE FUNCTION poll_stable(after bigint) RETURNS SETOF bigint STABLE LANGUAGE plpgsql AS $$
DECLARE
  mark bigint;
BEGIN
  SELECT w INTO mark FROM snowid_watermark('events') AS w;
  RETURN QUERY SELECT id FROM events WHERE id > after AND id <= mark ORDER BY id;
END $$;
CREATE FUNCTION deep() RETURNS bigint VOLATILE LANGUAGE plpgsql AS $$
DECLARE
  n bigint;
BEGIN
  SELECT count(*) INTO n FROM events WHERE id <= mark();
  RETURN n;
END $$;
CREATE FUNCTION deep_stable() RETURNS bigint VOLATILE LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT count(*) FROM poll_stable(0)); END $$;
CREATE FUNCTION deep_poll() RETURNS bigint VOLATILE LANGUAGE plpgsql AS $$
DECLARE
  n bigint;
BEGIN
  SELECT count(*) INTO n FROM poll(0);
  RETURN n;
END $$;
SQL

# The statement ends with this SQLSTATE, or returns a number.
sub ends_with
{
    my ($sql, $state, $name) = @_;
    my $answer = attempt($node, $sql);
    is($answer =~ /^[0-9]+$/ ? 'a number' : $answer, $state =~ /^[0-9A-Z]{5}$/ ? "ERROR $state" : $state, $name // $sql);
    return;
}

foreach my $call (q{snowid_watermark('events')}, 'mark()', 'mark_sql()')
{
    ends_with("SELECT $call", 'a number');
    ends_with("SELECT w FROM $call AS w", 'a number');
    ends_with("SELECT w FROM (SELECT $call) AS s (w)", 'a number');
    ends_with("WITH w AS MATERIALIZED (SELECT $call AS w) SELECT w FROM w", 'a number');
    foreach my $table ('events', 'recent')
    {
        ends_with("SELECT count(*) FROM $table, $call AS w WHERE id <= w", '0A000');
        ends_with("SELECT count(*) FROM $table WHERE id <= (SELECT $call)", '0A000');
        ends_with("WITH w AS MATERIALIZED (SELECT $call AS w) SELECT count(*) FROM $table, w WHERE id <= w", '0A000');
        ends_with("SELECT count(*) FROM $table AS e, LATERAL (SELECT $call + e.id) AS s", '0A000');
    }
}
ends_with(q{SELECT count(*) FROM events WHERE id <= snowid_watermark('events')}, '0A000', 'not in WHERE');
ends_with(q{SELECT count(*) FROM events WHERE id <= mark()}, '0A000', 'nor by a function');
ends_with(q{UPDATE consumers SET last = (SELECT snowid_watermark('events'))}, '0A000', 'nor in UPDATE');
ends_with(q{UPDATE consumers SET last = mark()}, '', 'a function of its own statements may, where another table is written');
ends_with(q{SELECT count(*) >= 1 FROM poll(0)}, 't', 'a function that takes it, and then reads');
ends_with(q{SELECT count(*) FROM poll_stable(0)}, '0A000', 'not one whose statements have the snapshot of its caller');
ends_with(q{SELECT count(*) FROM events, poll(0)}, '0A000', 'nor beside the table');
ends_with('SELECT deep()', '0A000', 'nor in a function that reads the table beside it');
ends_with('SELECT deep_stable()', '0A000', 'nor in one that calls a function with its snapshot');
ends_with('SELECT deep_poll()', 'a number', 'a function that calls one that polls');
ends_with('DO $$ BEGIN PERFORM count(*) FROM events WHERE id <= mark(); END $$', '0A000', 'nor in a DO block');
{
    my $session = open_session($node);
    ask($session, 'BEGIN');
    ask($session, 'DECLARE c CURSOR FOR SELECT id FROM events');
    is(ask($session, q{SELECT snowid_watermark('events')}), 'ERROR 0A000', 'nor while a cursor reads the table');
    ask($session, 'ROLLBACK');
    ask($session, q{PREPARE w AS SELECT snowid_watermark($1::regclass)});
    like(ask($session, q{EXECUTE w('events')}), qr/^\d+$/, 'a prepared statement may') foreach 1 .. 7;
    close_session($session);
}
is(attempt($node, <<'SQL'), '', 'a DO block');
DO $$
DECLARE
  mark bigint;
BEGIN
  SELECT w INTO mark FROM snowid_watermark('events') AS w;
  PERFORM FROM events WHERE id <= mark;
  mark := snowid_watermark('events');
END $$
SQL
foreach my $level ('REPEATABLE READ', 'SERIALIZABLE')
{
    my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nBEGIN ISOLATION LEVEL $level; SELECT snowid_watermark('events');");
    is(sqlstate_of($err), '25001', "$level is refused");
    like($err, qr/cannot run in a $level transaction/, "$level is named");
}
ends_with(q{BEGIN READ ONLY; SELECT snowid_watermark('events'); COMMIT}, 'a number', 'a read-only transaction may');

# The hint has the two statements, which work as they are printed.
{
    my ($status, $out, $err) = $node->psql('postgres', q{SELECT count(*) FROM events, snowid_watermark('events') AS w WHERE id <= w});
    my ($first) = $err =~ /HINT:.*?(SELECT snowid_watermark\('[^']+'\))/;
    ends_with($first, 'a number', 'the statement of the hint');
}

# Of what there is none
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION postgres_fdw;
CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw;
CREATE FOREIGN TABLE there (id bigint) SERVER far;
CREATE TABLE with_far (id bigint DEFAULT snowid_next(), place text) PARTITION BY LIST (place);
CREATE FOREIGN TABLE far_part PARTITION OF with_far FOR VALUES IN ('far') SERVER far;
CREATE SEQUENCE numbers;
CREATE TABLE columns_only (id bigint DEFAULT snowid_next(), secret text);
GRANT SELECT (id) ON columns_only TO app;
CREATE TABLE shard_first (id bigint DEFAULT snowid_next(1, 'shard:13 time:41 seq:10 unit:1ms epoch:2015-01-01T00:00:00Z'));
SQL
ends_with(q{SELECT snowid_watermark('there')}, '0A000', 'a foreign table');
ends_with(q{SELECT snowid_watermark('with_far')}, '0A000', 'a table with a foreign partition');
ends_with(q{SELECT snowid_watermark('recent')}, '42809', 'a view');
ends_with(q{SELECT snowid_watermark('numbers')}, '42809', 'a sequence');
ends_with(q{SELECT snowid_watermark('shard_first')}, '0A000', 'a layout that is not ordered by time');
ends_with(q{SELECT snowid_watermark(0)}, '42P01', 'no relation');
ends_with(q{SELECT count(*) FROM snowid_watermark(NULL)}, 'a number', 'null');
ends_with(q{SET ROLE app; SELECT snowid_watermark('events')}, '42501', 'without SELECT');
ends_with(q{SET ROLE app; SELECT snowid_watermark('columns_only')}, 'a number', 'SELECT on a column is enough');

done_testing();
