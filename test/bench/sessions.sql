-- A session: what the first ID of a fresh one costs, in time and in memory of its own. Needs the psql
-- variable `work`: the directory that has each server's own, with its socket.

CREATE EXTENSION dblink;

CREATE FUNCTION where_is(server text) RETURNS text
  RETURN format('host=%s/%s user=postgres dbname=postgres', :'work', server);
CREATE FUNCTION is_open(connection text) RETURNS boolean
  RETURN connection = ANY (coalesce(dblink_get_connections(), '{}'));

-- Opens a connection, in place of the one of this name, if there is one.
CREATE FUNCTION connect(connection text, server text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF is_open(connection) THEN PERFORM dblink_disconnect(connection); END IF;
  PERFORM dblink_connect(connection, where_is(server));
END $$;

-- The text of a statement that has a connection run another one.
CREATE FUNCTION over(connection text, statement text) RETURNS text
  RETURN format('SELECT FROM dblink(%L, %L) AS answer (x text)', connection, statement);

-- Of the server that preloads snowid, only some of the others are of interest: they are as on the plain one.
ALTER TABLE peers ADD with_preloading boolean
  GENERATED ALWAYS AS (coalesce(into_table, '') IN ('', 'with_snowid', 'with_bigserial')) STORED;

-- The first ID. Where a library is needed, loading it is a side of its own, and the connection's first
-- statement; the draw comes next. So it is with a C function that does nothing, which pays for all that
-- the first call of any function costs. A statement that does nothing tells what LOAD costs.
INSERT INTO races (race, repetitions) VALUES ('first', 301), ('memory', 15);
INSERT INTO sides (race, side, prepare, run)
  VALUES ('first', 'nothing', 'SELECT connect(''fresh'', ''plain'')', over('fresh', 'UNLISTEN *'));
INSERT INTO sides (race, side, prepare, run)
  SELECT 'first', format('%s %s, %s', step, name, server),
    CASE WHEN step <> 'ID' OR library IS NULL THEN format('SELECT connect(''fresh'', %L)', server) END,
    over('fresh', CASE step WHEN 'LOAD' THEN format('LOAD %L', library) WHEN 'ID' THEN draw
                            ELSE format('INSERT INTO %s (n) VALUES (0)', into_table) END)
  FROM unnest(ARRAY['plain', 'preloaded']) AS server, peers,
    unnest(ARRAY['LOAD', 'ID', 'INSERT']) WITH ORDINALITY AS steps (step, nth)
  WHERE draw IS NOT NULL AND (server = 'plain' OR with_preloading)
    AND CASE step WHEN 'LOAD' THEN library WHEN 'ID' THEN draw ELSE into_table END IS NOT NULL
  ORDER BY server, place, nth;
-- No default that a library of C brings can cost less than this.
INSERT INTO sides (race, side, prepare, run)
  VALUES ('first', 'INSERT an empty C function, plain', 'SELECT connect(''fresh'', ''plain'')',
          over('fresh', 'INSERT INTO with_empty (n) VALUES (0)'));

-- Memory that a process has for itself, in kB. What others have mapped too is not in it, but what only
-- this one has touched so far is, even of a library's file or of shared memory.
CREATE FUNCTION private_memory(pid int) RETURNS int RETURN (
  SELECT sum(line[1]::int)
  FROM regexp_matches(pg_read_file('/proc/' || pid || '/smaps_rollup'),
                      '^Private_(?:Clean|Dirty): +([0-9]+) kB', 'gn') AS line);

-- How much of that statements take in a fresh session that has run nothing yet. So that what all sessions
-- share is not counted as this one's, another session has run them before, and is still there. It also says
-- which process is the fresh one.
CREATE FUNCTION private_memory_of(statements text[]) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  statement text;
  fresh int;
  before int;
BEGIN
  PERFORM connect('fellow', 'plain');
  FOREACH statement IN ARRAY statements LOOP
    EXECUTE over('fellow', statement);
  END LOOP;
  PERFORM connect('fresh', 'plain');
  SELECT pid INTO STRICT fresh FROM dblink('fellow', $fellow$
    SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' ORDER BY backend_start DESC LIMIT 1
    $fellow$) AS newest (pid int);
  before := private_memory(fresh);
  FOREACH statement IN ARRAY statements LOOP
    EXECUTE over('fresh', statement);
  END LOOP;
  RETURN private_memory(fresh) - before;
END $$;

INSERT INTO sides (race, side, run, counted)
  SELECT 'memory', name,
    format('SELECT private_memory_of(%L)',
           array_remove(ARRAY['LOAD ' || quote_literal(library), draw], NULL)), true
  FROM peers WHERE draw IS NOT NULL ORDER BY place;
