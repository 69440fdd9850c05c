-- What the chart shows: snowid beside what one would use instead, as figures without a limit, in nanoseconds. First a
-- call of each, over an empty C function; then a row of an INSERT of 1,000,000 with it as the default.

-- What is not drawn would set the scale for all others; a line below the bars says what it takes.
CREATE TABLE bars (place serial, name text, function text, argument text DEFAULT '0', into_table text,
                   drawn boolean DEFAULT true);
CREATE TABLE with_snowid_uuidv7 (id uuid PRIMARY KEY DEFAULT snowid_uuidv7(), n bigint);
INSERT INTO bars (name, function, into_table)
  VALUES ('snowid_next()', 'snowid_next()', 'with_snowid'),
         ('snowid_uuidv7()', 'snowid_uuidv7()', 'with_snowid_uuidv7');
INSERT INTO bars (name, function, argument, into_table)
  VALUES ('bigserial, nextval', 'nextval(regclass)', '''numbers''::regclass::oid::int', 'with_bigserial');

-- These are not everywhere.
SELECT to_regclass('with_uuidv7') IS NOT NULL AS there_is_uuidv7,
  to_regclass('with_pgedge') IS NOT NULL AS there_is_pgedge \gset
\if :there_is_pgedge
INSERT INTO bars (name, function, argument, into_table)
  VALUES ('pgEdge''s snowflake', 'snowflake.nextval(regclass)', '''snowflakes''::regclass::oid::int', 'with_pgedge');
\endif
\if :there_is_uuidv7
INSERT INTO bars (name, function, into_table) VALUES ('uuidv7()', 'uuidv7()', 'with_uuidv7');
\endif

INSERT INTO bars (name, function, into_table) VALUES ('gen_random_uuid()', 'gen_random_uuid()', 'with_uuid');
INSERT INTO bars (name, function, into_table, drawn)
  VALUES ('Instagram''s PL/pgSQL', 'instagram_next_id()', 'with_instagram', false);

-- Calls enough to be timed, and so few that the machine seldom does something else meanwhile
INSERT INTO races (race, repetitions) VALUES ('peers', 401);
INSERT INTO sides (race, side, run)
  SELECT 'peers', name, format('SELECT repeat(%L, %s, 0, 5000)', function, argument)
  FROM (SELECT 'nothing' AS name, 'empty()' AS function, '0' AS argument, 0 AS place
        UNION ALL SELECT name, function, argument, place FROM bars) AS calls
  ORDER BY place;

-- INSERTs that the race does not have yet
INSERT INTO sides (race, side, prepare, run)
  SELECT race, into_table, replace(prepare, side, into_table), replace(run, side, into_table)
  FROM sides, bars
  WHERE race = 'long insert' AND side = 'with_snowid'
    AND NOT EXISTS (SELECT FROM sides AS made WHERE made.race = 'long insert' AND made.side = bars.into_table)
  ORDER BY bars.place;

INSERT INTO figures (race, figure, expression)
  SELECT 'peers', format('an ID, over an empty C function: %s, ns', name),
    format('1e9 / 5000 * excess(''peers'', %L, ''nothing'')', name)
  FROM bars ORDER BY place;
INSERT INTO figures (race, figure, expression)
  SELECT 'long insert', format('1M-row INSERT: DEFAULT %s, ns a row', name),
    format('1e9 / 1e6 * median(''long insert'', %L)', into_table)
  FROM bars ORDER BY place;

-- A line for each of them. Null is what was not measured.
CREATE VIEW chart AS
  SELECT place, name, drawn, draw.measured AS call_ns, fill.measured AS row_ns
  FROM bars
    LEFT JOIN (SELECT figure, measured FROM figures) AS draw
      ON draw.figure = format('an ID, over an empty C function: %s, ns', name)
    LEFT JOIN (SELECT figure, measured FROM figures) AS fill
      ON fill.figure = format('1M-row INSERT: DEFAULT %s, ns a row', name);

-- The small lines below the bars: what is not drawn, and which settings of the server were not left alone.
CREATE VIEW chart_lines AS
  SELECT format('Not drawn, to keep the scale: %s, %s ns a call and %s ns a row.', name,
                to_char(call_ns, 'FM999,999,990'), to_char(row_ns, 'FM999,999,990')) AS line
  FROM (SELECT * FROM chart WHERE NOT drawn ORDER BY place) AS beside
  UNION ALL
  SELECT string_agg(format('%s=%s', name, current_setting(name)), ', ' ORDER BY name) || '.'
  FROM pg_settings
  WHERE source = 'configuration file'
    AND name IN ('autovacuum', 'checkpoint_timeout', 'jit', 'max_wal_size', 'shared_buffers', 'synchronous_commit',
                 'wal_buffers');
