-- One session: what an ID costs it, and what many do. Needs the psql variable `calls`: the path of the
-- library made from calls.c.

CREATE FUNCTION repeat(regprocedure, int, int, int) RETURNS void
  VOLATILE STRICT LANGUAGE C AS :'calls', 'repeat';
CREATE FUNCTION repeat(regprocedure, int, int, int, snowid_layout) RETURNS void
  VOLATILE STRICT LANGUAGE C AS :'calls', 'repeat';
CREATE FUNCTION repeat_keys(regprocedure, int, int, int) RETURNS void
  VOLATILE STRICT LANGUAGE C AS :'calls', 'repeat_keys';
CREATE FUNCTION clock_and_swap(bigint) RETURNS bigint
  VOLATILE STRICT LANGUAGE C AS :'calls', 'clock_and_swap';

-- Rows to insert, with keys made beforehand. The key comes last, or the precomputed side alone
-- could hand on the rows as they are, without a projection.
CREATE TABLE source AS
  SELECT n, id FROM snowid_next_batch(8191, 1000000) WITH ORDINALITY AS made (id, n);
VACUUM ANALYZE source;

CREATE SEQUENCE segment INCREMENT 1000;
CREATE SEQUENCE section INCREMENT 10000;
-- All of its keys are known.
SELECT count(snowid_section_next('section', key)) AS keys FROM generate_series(0, 99999) AS key \gset

INSERT INTO races (race, repetitions)
  VALUES ('call', 1001), ('keys', 401), ('insert', 15), ('long insert', 5), ('rows', 201), ('million', 31),
         ('shards', 41);
INSERT INTO sides (race, side, run)
  SELECT 'call', side, format('SELECT repeat(%L, %s, 0, 20000)', function, argument)
  FROM (VALUES ('empty()', 'empty()', '0'), ('clock_timestamp()', 'clock_timestamp()', '0'),
               ('empty({shard})', 'empty(bigint)', '{shard}'),
               ('clock_and_swap({shard})', 'clock_and_swap(bigint)', '{shard}'),
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
    unnest(ARRAY['empty', 'clock_and_swap', 'snowid_next']) AS call;
INSERT INTO sides (race, side, prepare, run)
  SELECT race, into_table, format('TRUNCATE %s; SET snowid.default_shard = {shard}; CHECKPOINT', into_table),
    CASE into_table WHEN 'precomputed' THEN 'INSERT INTO precomputed (id, n) SELECT id, n FROM source'
      ELSE format('INSERT INTO %s (n) SELECT n FROM source', into_table) END
  FROM (VALUES ('insert', 'precomputed'), ('insert', 'with_snowid'), ('insert', 'with_bigserial'),
               ('long insert', 'with_snowid'), ('long insert', 'with_instagram'),
               ('long insert', 'with_uuid')) AS tables (race, into_table);

