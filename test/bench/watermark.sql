-- Reading in order (events.sql): what a watermark costs the reader, and the writers meanwhile; compared with
-- other ways to miss no row. On the plain server, whose databases have few shards, since a watermark looks at
-- all shards in use.

-- How many rows a second eight sessions insert, while another one polls in this way, or none does.
CREATE FUNCTION write_rate(way text, rows int, longest float8) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  into_table text := CASE way WHEN 'xid8' THEN 'events_with_xid' ELSE 'events' END;
  started timestamptz;
  rate float8;
BEGIN
  IF NOT is_open('reader') THEN PERFORM connect('reader', 'plain'); END IF;
  PERFORM crowd(1, 'SELECT pg_advisory_lock(35)', 'plain');
  IF way <> 'none' THEN PERFORM dblink_send_query('reader', format('CALL read_events(%L)', way)); END IF;
  started := clock_timestamp();
  PERFORM crowd(8, format('CALL write_events(%L, %s, %s)', into_table, rows / 8, longest), 'plain');
  rate := rows / extract(epoch FROM clock_timestamp() - started);
  PERFORM crowd(1, 'SELECT pg_advisory_unlock(35)', 'plain');
  IF way <> 'none' THEN
    PERFORM FROM dblink_get_result('reader') AS answer (x text);
    PERFORM FROM dblink_get_result('reader') AS answer (x text);
  END IF;
  RETURN rate;
END $$;

INSERT INTO races (race, repetitions) VALUES ('watermark', 401), ('readers', 21);
INSERT INTO sides (race, side, run)
  SELECT 'watermark', format('%s(%s), %s', function, of_table, server), format('SELECT crowd(1, %L, %L)',
    format('SELECT count(*) FROM (SELECT %s(%L) FROM generate_series(1, %s)) AS calls', function, of_table, calls), server)
  FROM (VALUES ('quiet', 'plain', 20), ('parted', 'plain', 20), ('quiet', 'server', 1)) AS tables (of_table, server, calls),
    unnest(ARRAY['empty_set', 'snowid_watermark']) AS function;
INSERT INTO sides (race, side, prepare, run, counted)
  SELECT 'readers', way || pauses, 'SELECT crowd(1, ''TRUNCATE events, events_with_xid'', ''plain'')',
    format('SELECT write_rate(%L, %s, %s)', way, rows, longest), true
  FROM (VALUES ('', 40000, 0), (', pauses', 800, 0.02)) AS writers (pauses, rows, longest),
    unnest(ARRAY['none', 'watermark', 'xid8', 'lock']) AS way;
