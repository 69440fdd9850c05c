-- What a session keeps: the last IDs that it got, batches that it has not read to their end, settings.

-- Before the first ID of a session there is no last one.
SELECT attempt('SELECT snowid_lastval()');
SELECT attempt('SELECT snowid_currval(1)');

-- The session's last IDs.
SELECT snowid_next(1) AS one \gset
SELECT snowid_next(2) AS two \gset
SELECT snowid_lastval() = :two AS last, snowid_currval(1) = :one AS one, snowid_currval(2) = :two AS two;
SELECT attempt('SELECT snowid_currval(7777)');
SELECT attempt('SELECT snowid_currval(-1)');
SELECT snowid_currval(NULL) IS NULL AS null_in_null_out;

SELECT count(*) FROM snowid_next_batch(3, 10000);
SELECT snowid_currval(3) = snowid_lastval() AS last_of_batch;
SELECT snowid_reserve(4, 1024) AS first \gset
SELECT snowid_lastval() = :first + 1023 AS last_of_run;

-- A pooler's DISCARD ALL leaves the next client nothing of them.
DISCARD SEQUENCES;
SELECT attempt('SELECT snowid_lastval()');
SELECT attempt('SELECT snowid_currval(1)');

-- A batch that is open while the session's list of shards grows under it.
BEGIN;
DECLARE open_batch CURSOR FOR SELECT snowid_next_batch(3, 5000);
MOVE 1 FROM open_batch;
SELECT count(DISTINCT snowid_next(n)) FROM generate_series(1000, 5000) n;
MOVE ALL FROM open_batch;
SELECT snowid_shard(snowid_lastval()), snowid_currval(3) = snowid_lastval() AS current;
COMMIT;

-- How many rows the planner takes a batch to have. Of JIT, where that is forced, a plan would say more.
SET jit = off;
EXPLAIN SELECT * FROM snowid_next_batch(3, 4321);
EXPLAIN SELECT * FROM snowid_next_batch(3, NULL);
RESET jit;

-- The settings, their ranges, and who may change them.
SHOW snowid.default_shard;
SHOW snowid.max_lead;
SHOW snowid.max_wait;
SHOW snowid.ceiling_step;
-- (Releases word the range itself differently.)
SELECT split_part(attempt(format('SET snowid.%s = -1', name)), ' (', 1)
  FROM unnest(ARRAY['max_lead', 'max_wait']) name;
-- -1 is this node's own number, which is 0 where it stands alone.
SET snowid.default_shard = 6;
SELECT snowid_default_shard();
SET snowid.default_shard = -1;
SELECT snowid_default_shard(), snowid_shard(snowid_next());
SET snowid.default_shard = ' 9223372036854775807 ';
SELECT snowid_default_shard();
SELECT attempt('SELECT snowid_next()');
RESET snowid.default_shard;
SELECT attempt(format('SET snowid.default_shard = %L', shard))
  FROM unnest(ARRAY['-2', 'abc', '', ' ', '7 8', '0x7', '7.0', '1e3', '9223372036854775808']) shard;
SELECT snowid_default_shard();
SET snowid.max_wait = '10s';
SHOW snowid.max_wait;
RESET snowid.max_wait;
SET snowid.ceiling_step = '2s';
SET snowid.no_such_setting = 1;
SELECT name, context, min_val, max_val, unit FROM pg_settings
  WHERE name ~ '^snowid[.](default_shard|max_lead|max_wait|ceiling_step)$' ORDER BY name;
CREATE ROLE regress_snowid_user;
SET ROLE regress_snowid_user;
SET snowid.default_shard = 3;
SET snowid.max_wait = 3;
SET snowid.max_lead = 3;
RESET ROLE;
RESET snowid.default_shard;
RESET snowid.max_wait;
DROP ROLE regress_snowid_user;
