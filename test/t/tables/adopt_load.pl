# A table is adopted while sessions insert into it: none of them is told of an error, no row is lost, no ID comes twice, and those of
# after the adoption are above those of before.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('adopt_load', sql => <<'SQL');
CREATE TABLE stopped (name text);
-- Inserts a row after another, each in a transaction of its own, until it is told to stop.
CREATE PROCEDURE fill(name text, who int) LANGUAGE plpgsql AS $$
BEGIN
  FOR n IN 1 .. 1000000 LOOP
    IF name = 'serial' THEN
      -- With a plan that is kept.
      INSERT INTO serial (who, n) VALUES (who, n);
    ELSE
      EXECUTE format('INSERT INTO %I (who, n) VALUES ($1, $2)', name) USING who, n;
    END IF;
    COMMIT;
    EXIT WHEN n % 50 = 0 AND EXISTS (SELECT FROM stopped s WHERE s.name = fill.name);
  END LOOP;
END $$;
CREATE SEQUENCE table_id_seq;
CREATE FUNCTION next_id(OUT result bigint) LANGUAGE plpgsql AS $$
DECLARE
  seq_id bigint;
  now_millis bigint;
BEGIN
  -- Without a lock it repeats where a session is held up between the two, and others draw 1,024 times meanwhile.
  PERFORM pg_advisory_lock(1);
  SELECT nextval('table_id_seq') % 1024 INTO seq_id;
  SELECT floor(extract(epoch FROM clock_timestamp()) * 1000) INTO now_millis;
  PERFORM pg_advisory_unlock(1);
  result := ((now_millis - 1314220021721) << 23) | (5 << 10) | seq_id;
END $$;
CREATE TABLE serial (id bigserial PRIMARY KEY, who int, n int);
CREATE TABLE identity (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, who int, n int);
CREATE TABLE instagram (id bigint PRIMARY KEY DEFAULT next_id(), who int, n int);
CREATE TABLE parts (id bigserial, who int, n int, PRIMARY KEY (id, who)) PARTITION BY LIST (who);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1, 2);
CREATE TABLE parts_3 PARTITION OF parts FOR VALUES IN (3, 4);
SQL

foreach ([ 'serial', '' ], [ 'identity', 3 ], [ 'instagram', 5 ], [ 'parts', '' ])
{
    my ($table, $shard) = @$_;
    my @filling = map { open_session($node) } 1 .. 4;
    start_asking($filling[ $_ - 1 ], "CALL fill('$table', $_)") foreach 1 .. 4;
    my $rows = sub { $node->safe_psql('postgres', "SELECT count(*) FROM $table WHERE $_[0]") };
    wait_for(sub { $rows->('true') > 500 }, 'rows before');
    is($node->safe_psql('postgres', "SELECT snowid.adopt('$table', 'id'" . ($shard && ", $shard") . ')'),
        $shard ? "public.snowid_next(($shard)::bigint)" : 'public.snowid_next()', "$table: adopted");
    # What is committed by now, and what follows.
    my $since = $node->safe_psql('postgres', "SELECT max(id) FROM $table");
    wait_for(sub { $rows->("id > $since") > 500 }, 'rows after');
    $node->safe_psql('postgres', "INSERT INTO stopped VALUES ('$table')");
    is(answer($_), '', "$table: a session had no error") foreach @filling;
    close_session(@filling);
    # Instagram's function has its sequence begin anew within a millisecond.
    my $unordered = 'id <= before';
    $unordered .= " AND (before > $since OR snowid_timestamp(id) <> snowid_timestamp(before))" if $table eq 'instagram';
    is($node->safe_psql('postgres', <<"SQL"), '0|0|0|4', "$table: no row is lost, none has another's ID, all are in order");
SELECT count(*) FILTER (WHERE n <> place), count(*) - count(DISTINCT id), count(*) FILTER (WHERE $unordered), count(DISTINCT who)
  FROM (SELECT *, row_number() OVER w AS place, lag(id, 1, 0::bigint) OVER w AS before FROM $table WINDOW w AS (PARTITION BY who ORDER BY n)) s
SQL
    is($node->safe_psql('postgres', <<"SQL"), 't|0', "$table: its sequence is gone, and so is the identity");
SELECT pg_get_serial_sequence('$table', 'id') IS NULL, count(*) FROM pg_attribute WHERE attrelid = '$table'::regclass AND attidentity <> ''
SQL
}
end_test($node);
