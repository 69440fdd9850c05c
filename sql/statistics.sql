-- Statistics: their columns, what they say of a shard that is used, and who sees them. (What is counted
-- under load, with other clocks and after crashes is for test/t.)

SELECT attrelid::regclass AS view, attname AS column, format_type(atttypid, atttypmod) AS type,
       col_description(attrelid, attnum) IS NOT NULL AS described
  FROM pg_attribute WHERE attrelid IN ('snowid.stat_shards'::regclass, 'snowid.stat_database'::regclass) AND attnum > 0
 ORDER BY attrelid::regclass::text, attnum;

-- A shard that was drawn from.
SELECT count(DISTINCT snowid_next(7001)) AS drawn FROM generate_series(1, 300);
SELECT count(*) AS drawn FROM snowid_next_batch(7001, 50);
SELECT shard, issued, last_id = snowid_currval(7001) AS is_last, last_time = snowid_timestamp(last_id) AS is_its_time,
       lead >= 0 AS lead, expires_at
  FROM snowid.stat_shards WHERE layout = 'instagram' AND shard = 7001;

-- The database has one row.
SELECT database = current_database() AS database, ceiling > now() - interval '1 h' AS ceiling,
       ceiling_raises > 0 AS raised, wal_flushes > 0 AS flushed, wal_flush_time > 0 AS took,
       ids_memory > 0 AS of_ids, kinds_memory >= 0 AS of_kinds, counters_memory >= 0 AS of_counters
  FROM snowid.stat_database;
SELECT count(*) FROM snowid.stat_database WHERE total_memory IS NULL
   AND current_setting('server_version_num')::int >= 170000;

-- All begins anew.
SELECT snowid.reset_stats();
SELECT issued, last_id, last_time, lead FROM snowid.stat_shards WHERE layout = 'instagram' AND shard = 7001;
SELECT ceiling_raises, wal_flushes, wal_flush_time, waits, wait_time, errors, backward_clock_steps, max_lead,
       stats_reset > now() - interval '1 h' AS reset FROM snowid.stat_database;

-- Not for everyone. They can be looked at in a read-only transaction.
CREATE ROLE regress_snowid_plain;
CREATE ROLE regress_snowid_monitor IN ROLE pg_monitor;
SET ROLE regress_snowid_plain;
SELECT attempt('SELECT FROM snowid.stat_shards');
SELECT attempt('SELECT FROM snowid.stat_database');
SELECT attempt('SELECT snowid.shard_statistics()');
SELECT attempt('SELECT snowid.database_statistics()');
SELECT attempt('SELECT snowid.reset_stats()');
SET ROLE regress_snowid_monitor;
BEGIN READ ONLY;
SELECT attempt('SELECT FROM snowid.stat_shards');
SELECT attempt('SELECT FROM snowid.stat_database');
COMMIT;
SELECT attempt('SELECT snowid.reset_stats()');
RESET ROLE;
DROP ROLE regress_snowid_plain, regress_snowid_monitor;
