-- What segments and sections count: exactly what sessions were given, whatever becomes of their
-- transactions; and who may see it.

SET snowid.segment_adapt = off;
CREATE SEQUENCE regress_many INCREMENT 100;
CREATE SEQUENCE regress_keys INCREMENT 1000;
CREATE VIEW counted AS
  SELECT kind, relation, issued, remaining, last_value, refills, block_size AS size, blocks, source,
    source_failures AS failures, last_failure, last_failure_at, keys, evictions
  FROM snowid.stat_counters WHERE relation::text LIKE 'regress%' ORDER BY kind, relation;

-- What nobody has drawn from has no row.
SELECT * FROM counted;
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
 WHERE attrelid = 'snowid.stat_counters'::regclass AND attnum > 0 ORDER BY attnum;

-- Segments: 250 of three blocks.
SELECT count(snowid_segment_next('regress_many')) FROM generate_series(1, 249);
SELECT snowid_segment_batch('regress_many', 1);
SELECT * FROM counted;
SELECT refill_time >= max_refill_time AND max_refill_time > 0 AS took FROM snowid.stat_counters
 WHERE relation = 'regress_many'::regclass;
-- Of blocks of another size, what is left is given up, and is not given. What is rolled back is.
SELECT snowid_segment_next('regress_many', 10);
BEGIN;
SELECT snowid_segment_next('regress_many', 10);
SAVEPOINT within;
SELECT snowid_segment_next('regress_many', 10);
ROLLBACK TO within;
SELECT snowid_segment_next('regress_many', 10);
ROLLBACK;
SELECT issued, remaining, refills, size, blocks FROM counted;
-- A draw that is refused gives nothing.
SELECT attempt($$SELECT snowid_segment_next('regress_many', 101)$$);
SELECT issued, remaining, refills FROM counted;

-- Sections, the same sequence too; a session's own draws are there before its transaction ends.
SELECT count(snowid_section_next('regress_keys', g % 7)) FROM generate_series(1, 60) AS g;
BEGIN;
SELECT snowid_section_next('regress_keys', 7);
SELECT issued FROM counted WHERE kind = 'section';
SAVEPOINT within;
SELECT snowid_section_next('regress_keys', 8);
ROLLBACK TO within;
SELECT issued FROM counted WHERE kind = 'section';
ROLLBACK;
SELECT count(snowid_segment_next('regress_keys')) FROM generate_series(1, 5);
SELECT * FROM counted WHERE relation = 'regress_keys'::regclass;
SELECT attempt($$SELECT snowid_section_next('regress_keys', 7) / 0$$);
SELECT issued, keys FROM counted WHERE kind = 'section';
-- What its memory knows may be thrown away, but was given; and no key has left for want of room.
SELECT setval('regress_keys', 1000000);
SELECT snowid_section_next('regress_keys', 1);
SELECT issued, last_value, refills, keys, evictions FROM counted WHERE kind = 'section';

-- What is dropped is there until its memory is needed.
DROP SEQUENCE regress_keys;
SELECT relation::text ~ '^\d+$' AS dropped, kind, issued FROM snowid.stat_counters
 WHERE relation::oid NOT IN (SELECT oid FROM pg_class) AND relation::oid > 'regress_many'::regclass::oid ORDER BY kind;

-- Who may look: nobody but pg_monitor.
CREATE ROLE regress_snowid_plain;
CREATE ROLE regress_snowid_watcher;
GRANT pg_monitor TO regress_snowid_watcher;
SET ROLE regress_snowid_plain;
SELECT count(*) FROM snowid.stat_counters;
SELECT count(*) FROM snowid.counter_statistics();
SET ROLE regress_snowid_watcher;
SELECT kind, issued, refills FROM snowid.stat_counters WHERE relation = 'regress_many'::regclass;
RESET ROLE;
DROP ROLE regress_snowid_plain, regress_snowid_watcher;

DROP VIEW counted;
DROP SEQUENCE regress_many;
RESET snowid.segment_adapt;
