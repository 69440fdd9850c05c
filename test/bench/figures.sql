-- All figures, each with the race whose samples it is of. Needs the psql variables `first_bytes`,
-- `shard_bytes` and `key_bytes`.

CALL enter('call', 'snowid_next(shard) ÷ clock_timestamp(), over an empty C function', $$
  excess('call', 'snowid_next({shard})', 'empty({shard})') /
  excess('call', 'clock_timestamp()', 'empty()') $$, at_most => 1.45);
-- One atomic step is what it takes that the IDs of all sessions increase.
CALL enter('call', 'snowid_next(shard) ÷ clock reading and compare-and-swap, over an empty C function', $$
  excess('call', 'snowid_next({shard})', 'empty({shard})') /
  excess('call', 'clock_and_swap({shard})', 'empty({shard})') $$, at_most => 1.2);
CALL enter('call', 'clock reading and compare-and-swap ÷ clock_timestamp(), over an empty C function', $$
  excess('call', 'clock_and_swap({shard})', 'empty({shard})') /
  excess('call', 'clock_timestamp()', 'empty()') $$);
CALL enter('call', 'snowid_next(shard) ÷ nextval, over an empty C function', $$
  excess('call', 'snowid_next({shard})', 'empty({shard})') /
  excess('call', 'nextval(''numbers'')', 'empty({shard})') $$, at_most => 0.2);

CALL enter('call', 'snowid_next(shard, ''sonyflake'') ÷ snowid_next(shard), over empty C functions', $$
  excess('call', 'snowid_next({shard}, sonyflake)', 'empty({shard}, sonyflake)') /
  excess('call', 'snowid_next({shard})', 'empty({shard})') $$, at_most => 1.2);

CALL enter('call', 'snowid_uuidv7() ÷ gen_random_uuid(), over an empty C function', $$
  excess('call', 'snowid_uuidv7()', 'empty()') / excess('call', 'gen_random_uuid()', 'empty()') $$,
  at_most => 0.333);
CALL enter('call', 'objectid_next() ÷ gen_random_uuid(), over an empty C function', $$
  excess('call', 'objectid_next()', 'empty()') / excess('call', 'gen_random_uuid()', 'empty()') $$,
  at_most => 0.333);

CALL enter('call', 'snowid_segment_next ÷ nextval, over an empty C function', $$
  excess('call', 'snowid_segment_next(''segment'')', 'empty({shard})') /
  excess('call', 'nextval(''numbers'')', 'empty({shard})') $$, at_most => 0.5);
CALL enter('keys', 'snowid_section_next of 100,000 random keys ÷ nextval, over empty C functions', $$
  excess('keys', 'snowid_section_next(regclass, bigint)', 'empty(int, bigint)') /
  excess('keys', 'nextval(regclass)', 'empty(bigint)') $$, at_most => 1.2);

CALL enter('crowd', 'numbers/s of 8 sessions: snowid_segment_next ÷ nextval', $$
  ratio('crowd', 'segment of 8', 'nextval of 8') $$, at_least => 2);
CALL enter('crowd', 'numbers/s of 8 sessions: snowid_section_next of 100,000 random keys ÷ nextval', $$
  ratio('crowd', 'section of 8, 100000 keys', 'nextval of 8') $$, at_least => 1);
CALL enter('crowd', 'numbers/s of 8 sessions: snowid_section_next of one key ÷ nextval', $$
  ratio('crowd', 'section of 8, 1 keys', 'nextval of 8') $$);
CALL enter('crowd', 'numbers/s of 8 sessions: snowid_next of one shard, never waiting ÷ nextval', $$
  ratio('crowd', 'snowid_next of 8', 'nextval of 8') $$);
CALL enter('crowd', 'numbers/s, 64 sessions ÷ 8: snowid_next of one shard, more than its 1,024/ms', $$
  ratio('crowd', 'paced of 64', 'paced of 8') $$, at_least => 0.9);
CALL enter('crowd', 'numbers/s, 64 sessions ÷ 8: snowid_next of one shard, never waiting', $$
  ratio('crowd', 'snowid_next of 64', 'snowid_next of 8') $$, at_least => 0.9);
CALL enter('crowd', 'numbers/s, 64 sessions ÷ 8: snowid_segment_next', $$
  ratio('crowd', 'segment of 64', 'segment of 8') $$, at_least => 0.9);
CALL enter('crowd', 'numbers/s, 64 sessions ÷ 8: nextval', $$
  ratio('crowd', 'nextval of 64', 'nextval of 8') $$);
CALL enter('crowd', 'calls/s, 64 sessions ÷ 8: clock_timestamp()', $$
  ratio('crowd', 'clock of 64', 'clock of 8') $$);

-- A clock reading is in each, and takes as much on either side.
CALL enter('draws', 'p99 of a draw, 64 sessions: snowid_next of one shard, never waiting ÷ nextval', $$
  ratio('draws', 'snowid_next, p99', 'nextval, p99') $$, at_most => 2);
CALL enter('draws', 'p99 of a draw, 64 sessions: snowid_segment_next ÷ nextval', $$
  ratio('draws', 'segment, p99', 'nextval, p99') $$, at_most => 2);
INSERT INTO figures (race, figure, expression)
  SELECT 'draws', format('%s of a draw, 64 sessions: %s, µs', percent, side),
    format('1e6 * median(''draws'', %L)', side || ', ' || percent)
  FROM unnest(ARRAY['p99', 'p99.9']) AS percent, unnest(ARRAY['nextval', 'snowid_next', 'segment']) AS side;

-- All that a fresh session has to pay, with the library loaded by it and by the server
CALL enter('first', 'first ID after LOAD, over an empty C function''s first call: ms', $$
  1e3 * excess('first', 'ID snowid_next(), plain', 'ID an empty C function, plain') $$, at_most => 0.15);
CALL enter('first', 'first ID where snowid is preloaded, over an empty C function''s first call: ms', $$
  1e3 * excess('first', 'ID snowid_next(), preloaded', 'ID an empty C function, preloaded') $$);
INSERT INTO figures (race, figure, expression)
  SELECT 'first', 'LOAD ÷ LOAD of pgEdge''s', format($$
    excess('first', 'LOAD snowid_next(), plain', 'nothing') /
    excess('first', %L, 'nothing') $$, format('LOAD %s, plain', name))
  FROM peers WHERE into_table = 'with_pgedge';
INSERT INTO figures (race, figure, expression)
  SELECT 'first', format('LOAD, over a statement that does nothing: %s, ms', name),
    format('1e3 * excess(''first'', %L, ''nothing'')', format('LOAD %s, plain', name))
  FROM peers WHERE library IS NOT NULL ORDER BY place;
INSERT INTO figures (race, figure, expression)
  SELECT 'first', format('first ID, %s: %s, ms', server, name),
    format('1e3 * median(''first'', %L)', format('ID %s, %s', name, server))
  FROM unnest(ARRAY['plain', 'preloaded']) WITH ORDINALITY AS servers (server, nth), peers
  WHERE draw IS NOT NULL AND (server = 'plain' OR with_preloading) ORDER BY nth, place;
CALL enter('first', 'first INSERT, plain: DEFAULT an empty C function, ms', $$
  1e3 * median('first', 'INSERT an empty C function, plain') $$);
INSERT INTO figures (race, figure, expression)
  SELECT 'first', format('first INSERT, %s: DEFAULT %s, ms', server, name),
    format('1e3 * median(''first'', %L)', format('INSERT %s, %s', name, server))
  FROM unnest(ARRAY['plain', 'preloaded']) WITH ORDINALITY AS servers (server, nth), peers
  WHERE draw IS NOT NULL AND into_table IS NOT NULL AND (server = 'plain' OR with_preloading)
  ORDER BY nth, place;

INSERT INTO figures (race, figure, expression, at_most)
  SELECT 'memory', format('private memory of a first ID: %s, kB', name),
    format('median(''memory'', %L)', name),
    CASE into_table WHEN 'with_snowid' THEN 250 END
  FROM peers WHERE draw IS NOT NULL ORDER BY place;

-- The server itself flushes now and then; at the least rate that counts for much, so there it is taken off.
INSERT INTO figures (race, figure, expression, at_most)
  SELECT 'lone', format('WAL flushes an insert, %s/s: %s', rate, name),
    format('flushes_an_insert(%L, %L)', rate, name),
    CASE WHEN into_table = 'with_snowid' THEN
      CASE rate WHEN '2' THEN 1.08 WHEN '5' THEN 1.03 WHEN '20' THEN 1.03 END END
  FROM lone_rates JOIN lone_sides USING (rate) JOIN peers USING (name)
  ORDER BY rate::float8, place;
CALL enter('lone', 'WAL flushes an insert, 0.3/s: snowid_next() less precomputed keys', $$
  flushes_an_insert('0.3', 'snowid_next()') - flushes_an_insert('0.3', 'precomputed keys') $$,
  at_most => 1);
CALL enter('lone', 'latency of inserts, 5/s: snowid_next() ÷ bigserial', $$
  ratio('lone', 'snowid_next(), 5/s', 'bigserial, nextval, 5/s') $$, at_most => 1.05);
CALL enter('lone', 'latency of inserts, 5/s: precomputed keys ÷ bigserial', $$
  ratio('lone', 'precomputed keys, 5/s', 'bigserial, nextval, 5/s') $$);

CALL enter('insert', '1M-row INSERT, DEFAULT snowid_next() ÷ precomputed keys', $$
  ratio('insert', 'with_snowid', 'precomputed') $$, at_most => 1.10);
CALL enter('insert', '1M-row INSERT, DEFAULT snowid_next() ÷ bigserial', $$
  ratio('insert', 'with_snowid', 'with_bigserial') $$, at_most => 0.85);
CALL enter('long insert', '1M-row INSERT, DEFAULT snowid_next() ÷ Instagram''s PL/pgSQL', $$
  ratio('long insert', 'with_snowid', 'with_instagram') $$, at_most => 0.4);
CALL enter('long insert', '1M-row INSERT, DEFAULT snowid_next() ÷ gen_random_uuid()', $$
  ratio('long insert', 'with_snowid', 'with_uuid') $$, at_most => 0.4);

CALL enter('overload', 'overload of one shard, max_lead = 0: share of 1,024 IDs/ms', $$
  overload_share() $$, at_least => 0.99);
CALL enter('overload', 'overload of one shard, max_lead = 0: share in the fullest ms', $$
  (SELECT max(ids) / 1024 FROM overloaded) $$, at_most => 1);

CALL enter('rows', 'snowid_next_batch ÷ generate_series of as many rows', $$
  ratio('rows', 'snowid_next_batch({shard}, 100000)', 'generate_series(1::bigint, 100000)') $$,
  at_most => 1.5);
CALL enter('rows', 'seq_x_to_y ÷ generate_series', $$
  ratio('rows', 'seq_x_to_y(1, 100000)', 'generate_series(1::bigint, 100000)') $$, at_most => 1.05);

CALL enter('million', 'snowid_segment_batch of 1M ÷ generate_series', $$
  ratio('million', 'snowid_segment_batch(''segment'', 1000000)',
        'generate_series(1::bigint, 1000000)') $$, at_most => 1.5);

-- A column of type snowid has the plans of one of bigint, and takes no longer.
INSERT INTO figures (race, figure, expression, at_most)
  SELECT 'idtype', format('%s by a column of type snowid ÷ one of bigint', run), format('ratio(''idtype'', %L, %L)', run || ', snowid', run || ', bigint'), 1.02
  FROM typed_runs ORDER BY place;
CALL enter('idtype', 'lookups, each parsed and planned, by a column of type snowid ÷ one of bigint', $$
  ratio('idtype', 'statements, snowid', 'statements, bigint') $$);

CALL enter('shards', 'snowid_next(shard): 8,192 shards ÷ one, over an empty C function', $$
  excess('shards', 'snowid_next of 8,192', 'empty of 8,192') /
  excess('shards', 'snowid_next of one', 'empty of one') $$, at_most => 1.25);
-- How much of that is the cache that is further away, for words alone.
CALL enter('shards', 'clock reading and compare-and-swap: 8,192 words ÷ one, over an empty C function', $$
  excess('shards', 'clock_and_swap of 8,192', 'empty of 8,192') /
  excess('shards', 'clock_and_swap of one', 'empty of one') $$);

CALL enter('watermark', 'snowid_watermark without a writer, over an empty C function: µs', $$
  1e6 / 20 * excess('watermark', 'snowid_watermark(quiet), plain', 'empty_set(quiet), plain') $$, at_most => 30);
CALL enter('watermark', 'snowid_watermark of 100 partitions, over an empty C function: µs', $$
  1e6 / 20 * excess('watermark', 'snowid_watermark(parted), plain', 'empty_set(parted), plain') $$, at_most => 1000);
CALL enter('watermark', format('snowid_watermark where other databases have %s shards, over an empty C function: µs', 8 * 8192), $$
  1e6 * excess('watermark', 'snowid_watermark(quiet), server', 'empty_set(quiet), server') $$);
INSERT INTO figures (race, figure, expression, at_least)
  SELECT 'readers', format('rows/s of 8 writers%s, a reader 20 times a second ÷ none: %s', pauses, said),
    format('ratio(''readers'', %L, %L)', way || pauses, 'none' || pauses),
    CASE WHEN way = 'watermark' AND pauses = '' THEN 0.97 END
  FROM unnest(ARRAY['', ', pauses']) AS pauses,
    (VALUES ('watermark', 'snowid_watermark'), ('xid8', 'a column of type xid8'), ('lock', 'LOCK TABLE … IN SHARE MODE'))
      AS ways (way, said);

-- These are of no race: counted, not timed.
CALL enter(NULL, 'shared memory: bytes a shard', :'shard_bytes', at_most => 128);
CALL enter(NULL, 'shared memory: bytes a key of a section', :'key_bytes', at_most => 64);
CALL enter(NULL, 'shared memory at first: MiB', :'first_bytes' || ' / 1024.0 ^ 2', at_most => 1);
CALL enter(NULL, 'shared memory at first: KiB of the server''s own', $$
  (SELECT size / 1024.0 FROM pg_shmem_allocations WHERE name = 'snowid') $$, at_most => 4);
