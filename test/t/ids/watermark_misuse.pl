# A watermark cannot be used wrongly in silence: a statement that reads the table by a snapshot older than the watermark is refused,
# and so is what no watermark can be computed of.
# Runs in make test-all: it starts many sessions.

use Snowid;

my $take = q(SELECT w INTO mark FROM snowid_watermark('events') AS w; RETURN QUERY SELECT id FROM events WHERE id > after AND id <= mark);
my $node = ready_server('watermark_misuse', sql => <<"SQL");
CREATE ROLE app LOGIN;
CREATE TABLE events (id bigint PRIMARY KEY DEFAULT snowid_next(), note text);
CREATE TABLE consumers (name text PRIMARY KEY, last bigint NOT NULL DEFAULT 0);
INSERT INTO events DEFAULT VALUES;
INSERT INTO consumers VALUES ('mail');
CREATE VIEW recent AS SELECT * FROM events;
CREATE FUNCTION mark() RETURNS bigint VOLATILE LANGUAGE plpgsql AS 'BEGIN RETURN snowid_watermark(''events''); END';
CREATE FUNCTION mark_sql() RETURNS bigint VOLATILE LANGUAGE sql AS 'SELECT snowid_watermark(''events'')';
CREATE FUNCTION poll(after bigint) RETURNS SETOF bigint VOLATILE LANGUAGE plpgsql AS \$\$ DECLARE mark bigint; BEGIN $take; END \$\$;
CREATE FUNCTION poll_stable(after bigint) RETURNS SETOF bigint STABLE LANGUAGE plpgsql AS \$\$ DECLARE mark bigint; BEGIN $take; END \$\$;
CREATE FUNCTION deep() RETURNS bigint VOLATILE LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT count(*) FROM events WHERE id <= mark()); END';
CREATE FUNCTION deep_stable() RETURNS bigint VOLATILE LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT count(*) FROM poll_stable(0)); END';
CREATE FUNCTION deep_poll() RETURNS bigint VOLATILE LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT count(*) FROM poll(0)); END';
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

my $mark = q(snowid_watermark('events'));
my @cases;
foreach my $call ($mark, 'mark()', 'mark_sql()')
{
    push @cases, map { [ $_, 'a number' ] } "SELECT $call", "SELECT w FROM $call AS w", "SELECT w FROM (SELECT $call) AS s (w)",
      "WITH w AS MATERIALIZED (SELECT $call AS w) SELECT w FROM w";
    foreach my $table ('events', 'recent')
    {
        push @cases, map { [ $_, '0A000' ] } "SELECT count(*) FROM $table, $call AS w WHERE id <= w", "SELECT count(*) FROM $table WHERE id <= (SELECT $call)",
          "WITH w AS MATERIALIZED (SELECT $call AS w) SELECT count(*) FROM $table, w WHERE id <= w",
          "SELECT count(*) FROM $table AS e, LATERAL (SELECT $call + e.id) AS s";
    }
}
foreach (
    @cases,
    # Statements, and how they end: by an SQLSTATE, or with a number.
    [ "SELECT count(*) FROM events WHERE id <= $mark", '0A000' ],
    [ 'SELECT count(*) FROM events WHERE id <= mark()', '0A000' ],
    [ "UPDATE consumers SET last = (SELECT $mark)", '0A000' ],
    # A function of its own statements may, where another table is written; so may one that takes it, and then reads.
    [ 'UPDATE consumers SET last = mark() RETURNING last', 'a number' ],
    [ 'SELECT count(*) FROM poll(0)', 'a number' ],
    # Not one whose statements have the snapshot of its caller.
    [ 'SELECT count(*) FROM poll_stable(0)', '0A000' ],
    [ 'SELECT count(*) FROM events, poll(0)', '0A000' ],
    [ 'SELECT deep()', '0A000' ],
    [ 'SELECT deep_stable()', '0A000' ],
    [ 'SELECT deep_poll()', 'a number' ],
    [ 'DO $$ BEGIN PERFORM count(*) FROM events WHERE id <= mark(); END $$', '0A000' ],
    [ "DO \$\$ DECLARE mark bigint := $mark; BEGIN PERFORM FROM events WHERE id <= mark; mark := $mark; END \$\$; SELECT 1", 'a number' ],
    [ "BEGIN; DECLARE c CURSOR FOR SELECT id FROM events; SELECT $mark", '0A000' ],
    [ 'PREPARE w AS SELECT snowid_watermark($1::regclass);' . "EXECUTE w('events') \\g /dev/null\n" x 6 . q(EXECUTE w('events')), 'a number' ],
    [ "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT $mark", '25001' ],
    [ "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT $mark", '25001' ],
    [ "BEGIN READ ONLY; SELECT $mark; COMMIT", 'a number' ],
    # Of what there is none.
    [ q(SELECT snowid_watermark('there')), '0A000' ],
    [ q(SELECT snowid_watermark('with_far')), '0A000' ],
    [ q(SELECT snowid_watermark('recent')), '42809' ],
    [ q(SELECT snowid_watermark('numbers')), '42809' ],
    [ q(SELECT snowid_watermark('shard_first')), '0A000' ],
    [ 'SELECT snowid_watermark(0)', '42P01' ],
    [ 'SELECT count(*) FROM snowid_watermark(NULL)', 'a number' ],
    [ "SET ROLE app; SELECT $mark", '42501' ],
    [ q(SET ROLE app; SELECT snowid_watermark('columns_only')), 'a number' ])
{
    my ($sql, $end) = @$_;
    is(attempt($node, $sql) =~ s/^\d+$/a number/r =~ s/^ERROR //r, $end, $sql);
}

# The hint has the two statements, which work as they are printed.
my (undef, undef, $err) = $node->psql('postgres', "SELECT count(*) FROM events, $mark AS w WHERE id <= w");
my ($first) = $err =~ /HINT:.*?(SELECT snowid_watermark\('[^']+'\))/;
like(attempt($node, $first), qr/^\d+$/, 'the statement of the hint');
end_test($node);
