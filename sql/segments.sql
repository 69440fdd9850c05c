-- Segments: numbers of a sequence, drawn from blocks in shared memory.

SET snowid.segment_adapt = off;

-- As a column default, and through each function.
CREATE SEQUENCE orders_seq INCREMENT 1000;
CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT snowid_segment_next('orders_seq'), n int);
INSERT INTO orders (n) SELECT generate_series(1, 2500);
SELECT count(*), min(id), max(id), bool_and(id = n) AS in_order FROM orders;
SELECT snowid_segment_next('orders_seq'), snowid_segment_next('orders_seq'::regclass);
SELECT * FROM snowid_segment_batch('orders_seq', 3) AS id;
SELECT snowid_segment_batch('orders_seq', 2), snowid_segment_next('orders_seq');
SELECT count(*), min(id), max(id) FROM snowid_segment_batch('orders_seq', 5000) id;
SELECT count(*) FROM snowid_segment_batch('orders_seq', 0);
SELECT snowid_segment_next('orders_seq');
-- What a batch is not read of is left out, to the end of the block or of 1,024 numbers.
CREATE SEQUENCE long_seq INCREMENT 100000;
SELECT snowid_segment_batch('long_seq', 5000) LIMIT 2;
SELECT snowid_segment_next('long_seq');

-- The sequence says what was allocated.
SELECT last_value, is_called FROM orders_seq;
SELECT nextval('orders_seq');
SELECT snowid_segment_next('orders_seq');
-- lastval and currval know nextval's alone: they stay what they were.
SELECT currval('orders_seq'), lastval();
SELECT snowid_lastval();

-- Blocks of a size, which leave the rest of the increment to others.
CREATE SEQUENCE left_seq INCREMENT 2000;
CREATE SEQUENCE right_seq INCREMENT 2000 START 1001;
SELECT count(DISTINCT id), min(id), max(id), count(*) FILTER (WHERE id % 2000 BETWEEN 1 AND 1000) AS own
  FROM snowid_segment_batch('left_seq', 2500, 1000) id;
SELECT count(DISTINCT id), min(id), max(id), count(*) FILTER (WHERE id % 2000 BETWEEN 1 AND 1000) AS others
  FROM snowid_segment_batch('right_seq', 2500, 1000) id;
SELECT snowid_segment_next('left_seq', 1000), snowid_segment_next('right_seq', 1000);
CREATE SEQUENCE odd_seq INCREMENT 2;
CREATE SEQUENCE even_seq INCREMENT 2 START 2;
SELECT snowid_segment_next('odd_seq', 1) AS odd, snowid_segment_next('even_seq', 1) AS even FROM generate_series(1, 4);
-- Another size begins another block.
SELECT snowid_segment_next('left_seq', 2000), snowid_segment_next('left_seq'), snowid_segment_next('left_seq', 1);

-- Ranges of arguments.
SELECT size, attempt(format('SELECT snowid_segment_next(''left_seq'', %s)', size)) AS next,
       attempt(format('SELECT snowid_segment_batch(''left_seq'', 10, %s)', size)) =
         attempt(format('SELECT snowid_segment_next(''left_seq'', %s)', size)) AS batch_too
  FROM unnest(ARRAY[0, -1, -2147483648, 2001, 2147483647]) size;
SELECT count, attempt(format('SELECT snowid_segment_batch(''left_seq'', %s)', count)) AS batch,
       attempt(format('SELECT snowid_segment_batch(''left_seq'', %s, 5)', count)) =
         attempt(format('SELECT snowid_segment_batch(''left_seq'', %s)', count)) AS with_size_too
  FROM unnest(ARRAY[-1, -2147483648]) count;
SELECT num_nulls(snowid_segment_next(NULL), snowid_segment_next(NULL, 1), snowid_segment_next('left_seq', NULL));
SELECT (SELECT count(*) FROM snowid_segment_batch(NULL, 1)) +
       (SELECT count(*) FROM snowid_segment_batch('left_seq', NULL)) +
       (SELECT count(*) FROM snowid_segment_batch('left_seq', 1, NULL)) AS rows;

-- What is no sequence that numbers can be drawn from.
CREATE VIEW orders_view AS SELECT * FROM orders;
CREATE TEMP SEQUENCE own_seq;
CREATE SEQUENCE down_seq INCREMENT -1;
CREATE SEQUENCE round_seq MAXVALUE 3 CYCLE;
CREATE SEQUENCE short_seq INCREMENT 100 MAXVALUE 5;
SELECT name, attempt(format('SELECT snowid_segment_next(%L)', name)) AS next,
       attempt(format('SELECT snowid_segment_batch(%L, 10)', name)) =
         attempt(format('SELECT snowid_segment_next(%L)', name)) AS batch_too
  FROM unnest(ARRAY['orders', 'orders_pkey', 'orders_view', 'own_seq', 'down_seq', 'round_seq', 'nothing']) name;
SELECT attempt('SELECT snowid_segment_next(1)'), attempt('SELECT snowid_segment_next(0)');

-- The extension's own, of which IDs would suffer, wherever somebody has moved one; and nothing of them has changed.
CREATE VIEW own_sequences AS
  SELECT c.oid::regclass AS name
  FROM pg_depend d JOIN pg_class c ON c.oid = d.objid JOIN pg_extension e ON e.oid = d.refobjid
  WHERE d.deptype = 'e' AND d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_extension'::regclass
    AND c.relkind = 'S' AND e.extname = 'snowid';
CREATE TEMP TABLE state_before AS SELECT last_value, is_called, log_cnt FROM snowid_internal.ceiling;
SELECT attempt('SELECT snowid_segment_next(''snowid_internal.ceiling'')');
SELECT count(*) > 0 AS are_there, bool_and(attempt(format(call, name)) LIKE '42809 | cannot issue numbers of %') AS are_refused
  FROM own_sequences,
       unnest(ARRAY['SELECT snowid_segment_next(%L)', 'SELECT snowid_segment_next(%L, 1)',
                    'SELECT snowid_segment_batch(%L, 1)', 'SELECT snowid_section_next(%L, 1)',
                    'SELECT snowid_section_current(%L, 1)', 'SELECT snowid_segment_attach(%L, ''nosuch'', ''x'')',
                    'SELECT snowid_segment_detach(%L)']) call;
TABLE state_before EXCEPT SELECT last_value, is_called, log_cnt FROM snowid_internal.ceiling;
BEGIN;
ALTER SEQUENCE snowid_internal.ceiling SET SCHEMA public;
SELECT attempt('SELECT snowid_segment_next(''public.ceiling'')') LIKE '42809 | cannot issue numbers of %' AS is_refused;
ROLLBACK;
DROP VIEW own_sequences;
DROP TABLE state_before;

SELECT snowid_segment_next('short_seq') FROM generate_series(1, 5);
SELECT attempt('SELECT snowid_segment_next(''short_seq'')');
SELECT attempt('SELECT snowid_segment_batch(''short_seq'', 1)');

-- Where nothing may be written.
BEGIN READ ONLY;
SELECT attempt('SELECT snowid_segment_next(''orders_seq'')');
SELECT attempt('SELECT snowid_segment_next(''orders_seq'', 10)');
SELECT attempt('SELECT snowid_segment_batch(''orders_seq'', 10)');
SELECT attempt('SELECT snowid_segment_batch(''orders_seq'', 10, 10)');
COMMIT;

-- Rights.
CREATE ROLE regress_snowid_clerk;
SET ROLE regress_snowid_clerk;
SELECT attempt('SELECT snowid_segment_next(''orders_seq'')');
SELECT attempt('SELECT snowid_segment_batch(''orders_seq'', 10)');
RESET ROLE;
GRANT USAGE ON SEQUENCE orders_seq TO regress_snowid_clerk;
SET ROLE regress_snowid_clerk;
SELECT attempt('SELECT snowid_segment_next(''orders_seq'')');
RESET ROLE;

-- A rolled back transaction gives nothing back.
BEGIN;
SELECT snowid_segment_next('orders_seq');
ROLLBACK;
SELECT snowid_segment_next('orders_seq');

-- A sequence that was set back, and has come to the same value again, is not what it was.
SET snowid.segment_adapt = on;
CREATE SEQUENCE back_seq;
SELECT count(*) FROM snowid_segment_batch('back_seq', 100);
SELECT last_value AS reached FROM back_seq \gset
SELECT setval('back_seq', 50);
SELECT max(nextval('back_seq')) = :reached AS is_back FROM generate_series(51, :reached);
SELECT snowid_segment_next('back_seq') = :reached + 1 AS goes_on;
SET snowid.segment_adapt = off;
-- Where INCREMENT is lowered, what was given of the last block is not given again.
CREATE SEQUENCE shrunk_seq INCREMENT 1000;
SELECT max(n) FROM snowid_segment_batch('shrunk_seq', 50) n;
ALTER SEQUENCE shrunk_seq INCREMENT 10;
SELECT snowid_segment_next('shrunk_seq');
-- Nor where the last number that was given is the one that the sequence itself would go on with.
CREATE SEQUENCE met_seq INCREMENT 1000;
SELECT max(n) FROM snowid_segment_batch('met_seq', 11) n;
ALTER SEQUENCE met_seq INCREMENT 10;
SELECT snowid_segment_next('met_seq');
-- From one end of the bigints to the other.
CREATE SEQUENCE wide_seq MINVALUE -9223372036854775808 START -9223372036854775808 INCREMENT 4611686018427387904;
SELECT array_agg(n) FROM snowid_segment_batch('wide_seq', 4, 1) n;
SELECT attempt('SELECT snowid_segment_next(''wide_seq'', 1)');
DROP SEQUENCE back_seq, shrunk_seq, met_seq, wide_seq;

-- The planner knows how many rows there will be; and it leaves them to this session.
EXPLAIN (COSTS OFF) SELECT snowid_segment_next('orders_seq') FROM orders;
SET jit = off;
EXPLAIN SELECT * FROM snowid_segment_batch('orders_seq', 1234);
EXPLAIN SELECT * FROM snowid_segment_batch('orders_seq', 1234, 10);
RESET jit;
SELECT DISTINCT p.provolatile, p.proparallel, p.proisstrict FROM pg_proc p WHERE p.proname ~ '^snowid_segment_(next|batch)$';

DROP VIEW orders_view;
DROP TABLE orders;
DROP SEQUENCE orders_seq, long_seq, left_seq, right_seq, odd_seq, even_seq, own_seq, down_seq, round_seq, short_seq;
DROP ROLE regress_snowid_clerk;
RESET snowid.segment_adapt;

-- A sequence never says more than its last number: a dump with such a value could not be restored. Near its end it
-- says what comes next, as long as there is something.
CREATE SEQUENCE last_seq INCREMENT 10 MAXVALUE 95;
SELECT count(*), max(n) FROM snowid_segment_batch('last_seq', 95) AS n;
SELECT last_value, is_called FROM last_seq;
ALTER SEQUENCE last_seq RESTART WITH 90;
SELECT snowid_segment_next('last_seq');
SELECT last_value, is_called FROM last_seq;
SELECT nextval('last_seq');
SELECT attempt('SELECT snowid_segment_next(''last_seq'')');
DROP SEQUENCE last_seq;
