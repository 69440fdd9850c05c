-- MariaDB's sequence tables. Each result is what MariaDB 10.11 gives, but at the top of the range,
-- where MariaDB is wrong.

SET datestyle = 'ISO';

SELECT seq FROM seq_x_to_y(1, 15, 3);
SELECT * FROM seq_x_to_y('seq_1_to_5');
SELECT name, (SELECT string_agg(seq::text, ' ') FROM seq_x_to_y(name) seq) AS numbers
  FROM unnest(ARRAY['seq_1_to_5', 'seq_1_to_15_step_3', 'seq_5_to_1_step_2', 'seq_0_to_0',
                    'seq_15_to_1_step_3', 'seq_15_to_2_step_3', 'seq_10_to_1_step_9',
                    'seq_10_to_1_step_10', 'seq_1_to_10_step_10', 'seq_007_to_0009_step_01',
                    'seq_9223372036854775806_to_9223372036854775807',
                    'seq_9223372036854775807_to_0_step_9223372036854775807']) name;

-- As a function of numbers there may be negative ones too.
SELECT string_agg(seq::text, ' ') FROM seq_x_to_y(-2, 2);
SELECT string_agg(seq::text, ' ') FROM seq_x_to_y(2, -3, 2);
SELECT string_agg(seq::text, ' ')
  FROM seq_x_to_y((-9223372036854775808)::bigint, 9223372036854775807, 9223372036854775807);
SELECT string_agg(seq::text, ' ')
  FROM seq_x_to_y(9223372036854775807, (-9223372036854775808)::bigint, 9223372036854775807);
SELECT seq_x_to_y(1, 3), seq_x_to_y(4, 6);

SELECT attempt('SELECT seq_x_to_y(1, 5, 0)');
SELECT attempt('SELECT seq_x_to_y(1, 5, -1)');
SELECT name, attempt(format('SELECT seq_x_to_y(%L)', name))
  FROM unnest(ARRAY['', 'seq', 'seq_', 'seq_1', 'seq_1_to', 'seq_1_to_', 'seq__to_5', 'seq_1_to_5_',
                    'seq_1_to_5_step', 'seq_1_to_5_step_', 'seq_1_to_5_step_0', 'seq_1_to_5_step_1_',
                    'seq_-1_to_5', 'seq_1_to_-5', 'seq_1_to_+5', 'seq_+1_to_5', 'seq_1.0_to_5',
                    'seq_1_to_5 ', ' seq_1_to_5', 'SEQ_1_to_5', 'seq_1_TO_5', 'seq_1_to_5_step_-1',
                    'seq_1_to_9223372036854775808', 'seq_0_to_18446744073709551615',
                    'seq_1_to_5_step_9223372036854775808', 'seq_1_to_0x5', 'seq_1to5']) name;
SELECT count(*) FROM seq_x_to_y(NULL, 5);
SELECT count(*) FROM seq_x_to_y(1, 5, NULL);
SELECT count(*) FROM seq_x_to_y(NULL::text);

-- The planner knows how many rows there will be. (Of JIT, where that is forced, a plan would say more.)
SET jit = off;
EXPLAIN SELECT * FROM seq_x_to_y(1, 12345);
EXPLAIN SELECT * FROM seq_x_to_y(15, 1, 3);
EXPLAIN SELECT * FROM seq_x_to_y(1, 10, 10);
EXPLAIN SELECT * FROM seq_x_to_y('seq_1_to_1000000_step_10');
EXPLAIN SELECT * FROM seq_x_to_y(1, NULL);
PREPARE upto AS SELECT * FROM seq_x_to_y(1, $1);
SET plan_cache_mode = force_generic_plan;
EXPLAIN EXECUTE upto(5);
RESET plan_cache_mode;
RESET jit;

-- Uses. Holes in a column:
CREATE TEMP TABLE t (i int);
INSERT INTO t VALUES (1), (2), (4), (5), (9);
SELECT seq AS missing FROM seq_x_to_y(1, 9) WHERE seq NOT IN (SELECT i FROM t) ORDER BY seq;
-- Common divisors of 40 and 28:
SELECT seq FROM seq_x_to_y(1, 28) WHERE 40 % seq = 0 AND 28 % seq = 0 ORDER BY seq;
-- Runs of letters and of dates:
SELECT string_agg(chr(seq::int), '') FROM seq_x_to_y('seq_97_to_122');
SELECT date '2026-02-27' + seq::int AS day FROM seq_x_to_y('seq_0_to_3');
-- Everything paired with everything:
SELECT count(*) FROM seq_x_to_y('seq_1_to_10') a, seq_x_to_y('seq_1_to_20') b;
-- Read in part, the rest is never made.
SELECT seq_x_to_y(1, 9223372036854775807) LIMIT 2;
SELECT * FROM seq_x_to_y('seq_9223372036854775807_to_1') LIMIT 2;
