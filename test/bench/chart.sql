-- What the chart shows: snowid beside what one would use instead, as figures without a limit, each as a multiple
-- of what snowid_next() takes. First a call of each, over an empty C function; then INSERTs of rows with it as
-- the default.

CREATE TABLE with_snowid_uuidv7 (id uuid PRIMARY KEY DEFAULT snowid_uuidv7(), n bigint);
CREATE TABLE bars (place serial, name text, function text, argument text DEFAULT '0', into_table text,
                   rows_race text DEFAULT 'long insert');
INSERT INTO bars (name, function, into_table)
  VALUES ('snowid_next()', 'snowid_next()', 'with_snowid'),
         ('snowid_uuidv7()', 'snowid_uuidv7()', 'with_snowid_uuidv7');
INSERT INTO bars (name, function, argument, into_table, rows_race)
  VALUES ('bigserial, nextval', 'nextval(regclass)', '''numbers''::regclass::oid::int', 'with_bigserial', 'insert');
INSERT INTO bars (name, function, into_table)
  VALUES ('gen_random_uuid()', 'gen_random_uuid()', 'with_uuid'),
         ('Instagram''s PL/pgSQL', 'instagram_next_id()', 'with_instagram');

-- These are not everywhere.
SELECT to_regclass('with_uuidv7') IS NOT NULL AS there_is_uuidv7,
  to_regclass('with_pgedge') IS NOT NULL AS there_is_pgedge,
  EXISTS (SELECT FROM pg_available_extensions WHERE name = 'uuid-ossp') AS there_is_ossp \gset
\if :there_is_uuidv7
INSERT INTO bars (name, function, into_table) VALUES ('uuidv7()', 'uuidv7()', 'with_uuidv7');
\endif
\if :there_is_ossp
CREATE EXTENSION "uuid-ossp";
CREATE TABLE with_ossp (id uuid PRIMARY KEY DEFAULT uuid_generate_v1mc(), n bigint);
INSERT INTO bars (name, function, into_table)
  VALUES ('uuid-ossp, version 1', 'uuid_generate_v1mc()', 'with_ossp');
\endif
\if :there_is_pgedge
INSERT INTO bars (name, function, argument, into_table)
  VALUES ('pgEdge''s snowflake', 'snowflake.nextval(regclass)', '''snowflakes''::regclass::oid::int', 'with_pgedge');
\endif

INSERT INTO races (race, repetitions) VALUES ('peers', 101);
INSERT INTO sides (race, side, run)
  SELECT 'peers', name, format('SELECT repeat(%L, %s, 0, 20000)', function, argument)
  FROM (SELECT 'nothing' AS name, 'empty()' AS function, '0' AS argument, 0 AS place
        UNION ALL SELECT name, function, argument, place FROM bars) AS calls
  ORDER BY place;

-- INSERTs that no race has yet
INSERT INTO sides (race, side, prepare, run)
  SELECT race, into_table, replace(prepare, side, into_table), replace(run, side, into_table)
  FROM sides JOIN bars ON race = rows_race
  WHERE side = 'with_snowid'
    AND NOT EXISTS (SELECT FROM sides AS made WHERE made.race = rows_race AND made.side = bars.into_table)
  ORDER BY bars.place;

INSERT INTO figures (race, figure, expression)
  SELECT 'peers', format('an ID, over an empty C function: %s ÷ snowid_next()', name),
    format($$ excess('peers', %L, 'nothing') / excess('peers', 'snowid_next()', 'nothing') $$, name)
  FROM bars WHERE name <> 'snowid_next()' ORDER BY place;
INSERT INTO figures (race, figure, expression)
  SELECT rows_race, format('1M-row INSERT: DEFAULT %s ÷ DEFAULT snowid_next()', name),
    format('ratio(%L, %L, ''with_snowid'')', rows_race, into_table)
  FROM bars WHERE name <> 'snowid_next()' ORDER BY place;

-- What is drawn: a line for each bar. Null is what was not measured.
CREATE VIEW chart AS
  SELECT place, name, CASE name WHEN 'snowid_next()' THEN 1 ELSE draw.measured END AS draw,
    CASE name WHEN 'snowid_next()' THEN 1 ELSE fill.measured END AS fill
  FROM bars
    LEFT JOIN (SELECT figure, measured FROM figures) AS draw
      ON draw.figure = format('an ID, over an empty C function: %s ÷ snowid_next()', name)
    LEFT JOIN (SELECT figure, measured FROM figures) AS fill
      ON fill.figure = format('1M-row INSERT: DEFAULT %s ÷ DEFAULT snowid_next()', name);
