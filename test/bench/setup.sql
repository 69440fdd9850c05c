-- What is compared, and how it is timed and judged. Needs the psql variable `empty`: the path of
-- the library made from empty.c.

CREATE EXTENSION snowid;
CREATE FUNCTION empty() RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS :'empty', 'empty';
CREATE FUNCTION empty(bigint) RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS :'empty', 'empty_bigint';
CREATE FUNCTION empty(bigint, snowid_layout) RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS :'empty', 'empty_bigint_layout';
CREATE FUNCTION empty(int, bigint) RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS :'empty', 'empty_key';

CREATE FUNCTION repeat(regprocedure, int, int, int) RETURNS void
  VOLATILE STRICT LANGUAGE C AS :'empty', 'repeat';
CREATE FUNCTION repeat(regprocedure, int, int, int, snowid_layout) RETURNS void
  VOLATILE STRICT LANGUAGE C AS :'empty', 'repeat';
CREATE FUNCTION repeat_keys(regprocedure, int, int, int) RETURNS void
  VOLATILE STRICT LANGUAGE C AS :'empty', 'repeat_keys';

-- Instagram's function as published, of shard 5
CREATE SEQUENCE table_id_seq;
CREATE FUNCTION instagram_next_id(OUT result bigint) AS $$
DECLARE
    our_epoch bigint := 1314220021721;
    seq_id bigint;
    now_millis bigint;
    shard_id int := 5;
BEGIN
    SELECT nextval('table_id_seq') % 1024 INTO seq_id;
    SELECT FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) INTO now_millis;
    result := (now_millis - our_epoch) << 23;
    result := result | (shard_id << 10);
    result := result | (seq_id);
END;
$$ LANGUAGE PLPGSQL;

-- Rows to insert, with keys made beforehand. The key comes last, or the precomputed side alone
-- could hand on the rows as they are, without a projection.
CREATE TABLE source AS
  SELECT n, id FROM snowid_next_batch(8191, 1000000) WITH ORDINALITY AS made (id, n);
CREATE TABLE precomputed (id bigint PRIMARY KEY, n bigint);
CREATE TABLE with_snowid (id bigint PRIMARY KEY DEFAULT snowid_next(), n bigint);
CREATE TABLE with_bigserial (id bigserial PRIMARY KEY, n bigint);
CREATE TABLE with_instagram (id bigint PRIMARY KEY DEFAULT instagram_next_id(), n bigint);
CREATE TABLE with_uuid (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), n bigint);

CREATE SEQUENCE numbers;
CREATE SEQUENCE segment INCREMENT 1000;
CREATE SEQUENCE section INCREMENT 10000;
VACUUM ANALYZE source;

-- What is timed. Sides of one race take turns, and many short turns even out what else the machine
-- does. {shard} stands for a shard that is another one each time, so that none runs too far ahead of
-- the clock.
CREATE TABLE sides (place serial, race text, side text, prepare text, run text);
INSERT INTO sides (race, side, run)
  SELECT 'call', side, format('SELECT repeat(%L, %s, 0, 20000)', function, argument)
  FROM (VALUES ('empty()', 'empty()', '0'), ('clock_timestamp()', 'clock_timestamp()', '0'),
               ('empty({shard})', 'empty(bigint)', '{shard}'),
               ('snowid_next({shard})', 'snowid_next(bigint)', '{shard}'),
               ('snowid_uuidv7()', 'snowid_uuidv7()', '0'),
               ('objectid_next()', 'objectid_next()', '0'),
               ('gen_random_uuid()', 'gen_random_uuid()', '0'),
               ('nextval(''numbers'')', 'nextval(regclass)', '''numbers''::regclass::oid::int'),
               ('snowid_segment_next(''segment'')', 'snowid_segment_next(regclass)',
                '''segment''::regclass::oid::int'))
    AS calls (side, function, argument);
INSERT INTO sides (race, side, run)
  SELECT 'call', format('%s({shard}, sonyflake)', function),
    format('SELECT repeat(''%s(bigint, snowid_layout)'', {shard}, 0, 20000, ''sonyflake'')', function)
  FROM unnest(ARRAY['empty', 'snowid_next']) AS function;
INSERT INTO sides (race, side, run)
  SELECT 'keys', function,
    format('SELECT repeat_keys(%L, ''section''::regclass::oid::int, 100000, 20000)', function)
  FROM unnest(ARRAY['empty(int, bigint)', 'snowid_section_next(regclass, bigint)']) AS function;
INSERT INTO sides (race, side, run)
  SELECT 'keys', function,
    format('SELECT repeat(%L, ''numbers''::regclass::oid::int, 0, 20000)', function)
  FROM unnest(ARRAY['empty(bigint)', 'nextval(regclass)']) AS function;
INSERT INTO sides (race, side, run)
  SELECT 'rows', rows, 'SELECT count(*) FROM ' || rows
  FROM unnest(ARRAY['generate_series(1::bigint, 100000)', 'seq_x_to_y(1, 100000)',
                    'snowid_next_batch({shard}, 100000)']) AS rows;
INSERT INTO sides (race, side, run)
  SELECT 'million', rows, 'SELECT count(*) FROM ' || rows
  FROM unnest(ARRAY['generate_series(1::bigint, 1000000)',
                    'snowid_segment_batch(''segment'', 1000000)']) AS rows;
INSERT INTO sides (race, side, run)
  SELECT 'shards', call || ' ' || shards,
    format('SELECT repeat(%L, {shard}, %s, 200000)', call || '(bigint)', mask)
  FROM (VALUES ('of one', 0), ('of 8,192', 8191)) AS draws (shards, mask),
    unnest(ARRAY['empty', 'snowid_next']) AS call;
INSERT INTO sides (race, side, prepare, run)
  SELECT race, into_table, format('TRUNCATE %s; SET snowid.shard = {shard}; CHECKPOINT', into_table),
    CASE into_table WHEN 'precomputed' THEN 'INSERT INTO precomputed (id, n) SELECT id, n FROM source'
      ELSE format('INSERT INTO %s (n) SELECT n FROM source', into_table) END
  FROM (VALUES ('insert', 'precomputed'), ('insert', 'with_snowid'), ('insert', 'with_bigserial'),
               ('long insert', 'with_snowid'), ('long insert', 'with_instagram'),
               ('long insert', 'with_uuid')) AS tables (race, into_table);

CREATE SEQUENCE next_shard MAXVALUE 8190 MINVALUE 0 CYCLE;
CREATE TABLE samples (race text, repetition int, side text, seconds float8);

-- How often a race is run before it is looked at for the first time
CREATE TABLE races (place serial, race text PRIMARY KEY, repetitions int);
INSERT INTO races (race, repetitions)
  VALUES ('call', 1001), ('keys', 401), ('insert', 15), ('long insert', 5), ('rows', 201), ('million', 31),
         ('shards', 41);

-- The number of the last repetition of a race, 0 before the first.
CREATE FUNCTION last_repetition(of_race text) RETURNS int LANGUAGE sql AS $$
  SELECT coalesce(max(repetition), 0) FROM samples WHERE race = of_race
$$;

-- Runs all sides of a race in turn, so many times, after once for warming up. Adds to its samples.
CREATE PROCEDURE race(which text) LANGUAGE plpgsql AS $$
DECLARE
  warming_up int := last_repetition(which);
  entry sides;
  shard text;
  started timestamptz;
  ended timestamptz;
BEGIN
  FOR repetition IN warming_up..warming_up + (SELECT repetitions FROM races WHERE race = which) LOOP
    FOR entry IN SELECT * FROM sides WHERE race = which ORDER BY place LOOP
      shard := nextval('next_shard');
      EXECUTE coalesce(replace(entry.prepare, '{shard}', shard), 'SELECT');
      COMMIT;
      started := clock_timestamp();
      EXECUTE replace(entry.run, '{shard}', shard);
      ended := clock_timestamp();
      INSERT INTO samples
        SELECT which, repetition, entry.side, extract(epoch FROM ended - started)
        WHERE repetition > warming_up;
      COMMIT;
    END LOOP;
  END LOOP;
END $$;

-- The median, over the repetitions of a race, of how much longer one side took than another.
CREATE FUNCTION excess(of_race text, of text, beyond text) RETURNS float8 LANGUAGE sql AS $$
  SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY mine.seconds - base.seconds)
  FROM samples AS mine JOIN samples AS base USING (race, repetition)
  WHERE race = of_race AND mine.side = of AND base.side = beyond
$$;

-- The median, over the repetitions of a race, of the ratio of two sides' times.
CREATE FUNCTION ratio(of_race text, of text, by text) RETURNS float8 LANGUAGE sql AS $$
  SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY mine.seconds / base.seconds)
  FROM samples AS mine JOIN samples AS base USING (race, repetition)
  WHERE race = of_race AND mine.side = of AND base.side = by
$$;

-- How many IDs a session got in a round of the overload with a millisecond in them
CREATE TABLE overload (round int, ms bigint, ids bigint);

-- How many IDs all got together with each millisecond in them; `nth` counts those of a round.
CREATE VIEW overloaded AS
  SELECT round, ms - min(ms) OVER of_round AS nth, max(ms) OVER of_round - min(ms) OVER of_round AS last,
    sum(ids) AS ids
  FROM overload GROUP BY round, ms WINDOW of_round AS (PARTITION BY round);

-- The share of 1,024 IDs a millisecond, as the median of all full quarters of a second; in a round's first
-- and last millisecond only a part was drawn in.
CREATE FUNCTION overload_share() RETURNS float8 LANGUAGE sql AS $$
  SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY share)
  FROM (SELECT sum(ids) / (250 * 1024) AS share
        FROM overloaded WHERE nth > 0 AND nth < last
        GROUP BY round, (nth - 1) / 250, last HAVING ((nth - 1) / 250 + 1) * 250 < last) AS quarters
$$;

-- What is measured, and judged: an expression over the samples of a race, which must be above 0 and no more
-- than `at_most`, or no less than `at_least`.
CREATE TABLE figures (place serial, race text, figure text, expression text, at_most float8,
                      at_least float8, measured float8, pass boolean);

CREATE PROCEDURE enter(race text, figure text, expression text, at_most float8 = NULL,
                       at_least float8 = NULL)
LANGUAGE sql AS $$
  INSERT INTO figures (race, figure, expression, at_most, at_least)
  VALUES (race, figure, expression, at_most, at_least)
$$;

-- Evaluates all figures anew.
CREATE PROCEDURE judge() LANGUAGE plpgsql AS $$
DECLARE
  entry figures;
  value float8;
BEGIN
  FOR entry IN SELECT * FROM figures LOOP
    EXECUTE 'SELECT ' || entry.expression INTO value;
    UPDATE figures
      SET measured = value, pass = coalesce(value > 0 AND (value <= at_most OR value >= at_least), false)
      WHERE place = entry.place;
  END LOOP;
END $$;
