-- Reading in order: what a watermark costs who asks for it, and those who write meanwhile; beside other ways to miss no
-- row. Needs the psql variable `calls`: the path of the library made from calls.c.

CREATE FUNCTION empty_set(regclass) RETURNS SETOF bigint
  VOLATILE STRICT ROWS 1 LANGUAGE C AS :'calls', 'empty_set';

-- Without writers
CREATE TABLE quiet (id bigint PRIMARY KEY DEFAULT snowid_next());
CREATE TABLE parted (id bigint PRIMARY KEY DEFAULT snowid_next()) PARTITION BY HASH (id);
SELECT format('CREATE TABLE parted_%s PARTITION OF parted FOR VALUES WITH (MODULUS 100, REMAINDER %s)', n, n)
FROM generate_series(0, 99) AS n \gexec
INSERT INTO parted SELECT FROM generate_series(1, 1000);

-- What is written to and read, by each way
CREATE TABLE events (id bigint PRIMARY KEY DEFAULT snowid_next(), body text);
CREATE TABLE events_with_xid (id bigint PRIMARY KEY DEFAULT snowid_next(), body text,
                              xid xid8 NOT NULL DEFAULT pg_current_xact_id());
CREATE INDEX ON events_with_xid (xid, id);

-- Inserts rows, each in a transaction of its own that pauses before its end, for `longest` seconds at most.
CREATE PROCEDURE write_events(into_table text, rows int, longest float8) LANGUAGE plpgsql AS $$
BEGIN
  FOR nth IN 1..rows LOOP
    EXECUTE format('INSERT INTO %I (body) VALUES (''hello'')', into_table);
    IF longest > 0 THEN PERFORM pg_sleep(random() * longest); END IF;
    COMMIT;
  END LOOP;
END $$;

-- Polls 20 times a second, while another session holds the advisory lock 35.
CREATE PROCEDURE read_events(way text) LANGUAGE plpgsql AS $$
DECLARE
  last bigint := 0;
  mark bigint;
  last_xid xid8 := '0';
  mark_xid xid8;
BEGIN
  LOOP
    CASE way
      WHEN 'watermark' THEN
        mark := snowid_watermark('events');
        PERFORM count(body) FROM events WHERE id > last AND id <= mark;
        last := mark;
      WHEN 'lock' THEN
        LOCK TABLE events IN SHARE MODE;
        SELECT max(id) INTO mark FROM events;
        COMMIT;
        PERFORM count(body) FROM events WHERE id > last AND id <= mark;
        last := coalesce(mark, last);
      WHEN 'xid8' THEN
        mark_xid := pg_snapshot_xmin(pg_current_snapshot());
        PERFORM count(body) FROM events_with_xid WHERE xid >= last_xid AND xid < mark_xid;
        last_xid := mark_xid;
    END CASE;
    COMMIT;
    EXIT WHEN pg_try_advisory_xact_lock(35);
    PERFORM pg_sleep(0.05);
  END LOOP;
END $$;

-- How many rows a second eight sessions insert, while another one polls in this way, or none does.
CREATE FUNCTION write_rate(way text, rows int, longest float8) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  into_table text := CASE way WHEN 'xid8' THEN 'events_with_xid' ELSE 'events' END;
  started timestamptz;
  rate float8;
BEGIN
  IF way <> 'none' THEN
    IF NOT is_open('reader') THEN PERFORM connect('reader', 'server'); END IF;
    PERFORM pg_advisory_lock(35);
    PERFORM dblink_send_query('reader', format('CALL read_events(%L)', way));
  END IF;
  started := clock_timestamp();
  PERFORM crowd(8, format('CALL write_events(%L, %s, %s)', into_table, rows / 8, longest));
  rate := rows / extract(epoch FROM clock_timestamp() - started);
  IF way <> 'none' THEN
    PERFORM pg_advisory_unlock(35);
    PERFORM FROM dblink_get_result('reader') AS answer (x text);
    PERFORM FROM dblink_get_result('reader') AS answer (x text);
  END IF;
  RETURN rate;
END $$;

INSERT INTO races (race, repetitions) VALUES ('watermark', 401), ('readers', 21);
INSERT INTO sides (race, side, run)
  SELECT 'watermark', format('%s(%s)', function, of_table),
    format('SELECT count(*) FROM (SELECT %s(%L) FROM generate_series(1, %s)) AS calls', function, of_table, calls)
  FROM (VALUES ('quiet', 20), ('parted', 5)) AS tables (of_table, calls),
    unnest(ARRAY['empty_set', 'snowid_watermark']) AS function;
INSERT INTO sides (race, side, prepare, run, counted)
  SELECT 'readers', way || pauses, 'TRUNCATE events, events_with_xid',
    format('SELECT write_rate(%L, %s, %s)', way, rows, longest), true
  FROM (VALUES ('', 40000, 0), (', pauses', 800, 0.02)) AS writers (pauses, rows, longest),
    unnest(ARRAY['none', 'watermark', 'xid8', 'lock']) AS way;
