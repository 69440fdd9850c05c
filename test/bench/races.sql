-- The figures that are ratios of times.

CALL race('call', 51);
CALL enter('snowid_next(shard) ÷ clock_timestamp(), both over an empty C function',
  (median('snowid_next({shard})') - median('empty({shard})')) /
  (median('clock_timestamp()') - median('empty()')), at_most => 1.6);
CALL enter('snowid_next(shard) ÷ nextval, both over an empty C function',
  (median('snowid_next({shard})') - median('empty({shard})')) /
  (median('nextval(''numbers'')') - median('empty({shard})')), at_most => 0.2);

CALL race('insert', 7);
CALL enter('1M-row INSERT, DEFAULT snowid_next() ÷ precomputed keys',
  median('with_snowid') / median('precomputed'), at_most => 1.10);
CALL enter('1M-row INSERT, DEFAULT snowid_next() ÷ bigserial',
  median('with_snowid') / median('with_bigserial'), at_most => 0.85);
CALL enter('1M-row INSERT, DEFAULT snowid_next() ÷ Instagram''s PL/pgSQL function',
  median('with_snowid') / median('with_instagram'), at_most => 0.4);
CALL enter('1M-row INSERT, DEFAULT snowid_next() ÷ gen_random_uuid()',
  median('with_snowid') / median('with_uuid'), at_most => 0.4);

CALL race('rows', 51);
CALL enter('snowid_next_batch ÷ generate_series of as many rows',
  median('snowid_next_batch({shard}, 500000)') / median('generate_series(1::bigint, 500000)'),
  at_most => 1.5);
CALL enter('seq_x_to_y ÷ generate_series',
  median('seq_x_to_y(1, 500000)') / median('generate_series(1::bigint, 500000)'), at_most => 1.05);

CALL race('shards', 31);
CALL enter('snowid_next(shard) with 8,192 shards in use ÷ with one, over an empty C function',
  (median('snowid_next any_of') - median('empty any_of')) /
  (median('snowid_next same') - median('empty same')), at_most => 1.5);
