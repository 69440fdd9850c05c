-- What is written to and read in order, by a watermark and in other ways, on any server. Needs the psql
-- variable `calls`: the path of the library made from calls.c.

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
