-- All figures, each with the race whose samples it is of. Needs the psql variables `first_bytes`,
-- `shard_bytes` and `key_bytes`.

CALL enter('call', 'snowid_next(shard) ÷ clock_timestamp(), over an empty C function', $$
  excess('call', 'snowid_next({shard})', 'empty({shard})') /
  excess('call', 'clock_timestamp()', 'empty()') $$, at_most => 1.6);
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
CALL enter('contended', 'numbers/s of 8 sessions: snowid_segment_next ÷ nextval', $$
  ratio('contended', 'nextval', 'snowid_segment_next') $$, at_least => 2);
CALL enter('keys', 'snowid_section_next of 100,000 random keys ÷ nextval, over empty C functions', $$
  excess('keys', 'snowid_section_next(regclass, bigint)', 'empty(int, bigint)') /
  excess('keys', 'nextval(regclass)', 'empty(bigint)') $$, at_most => 1.2);

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

CALL enter('shards', 'snowid_next(shard): 8,192 shards ÷ one, over an empty C function', $$
  excess('shards', 'snowid_next of 8,192', 'empty of 8,192') /
  excess('shards', 'snowid_next of one', 'empty of one') $$, at_most => 1.5);

-- These are of no race: counted, not timed.
CALL enter(NULL, 'shared memory: bytes a shard', :'shard_bytes', at_most => 128);
CALL enter(NULL, 'shared memory: bytes a key of a section', :'key_bytes', at_most => 64);
CALL enter(NULL, 'shared memory at first: MiB', :'first_bytes' || ' / 1024.0 ^ 2', at_most => 1);
CALL enter(NULL, 'shared memory at first: KiB of the server''s own', $$
  (SELECT size / 1024.0 FROM pg_shmem_allocations WHERE name = 'snowid') $$, at_most => 4);
