-- IDs for old rows: of their own time, distinct, and in order, whatever the times are; and an error where
-- the window is not what that takes.

CREATE TABLE visits (n int, created_at timestamptz);

-- A row alone in its unit of time has its time to the unit, the shard, and the sequence 0.
INSERT INTO visits SELECT n, '2012-03-04 05:06:07.0005Z'::timestamptz + n * interval '90 minutes' FROM generate_series(1, 4) n;
SELECT n, (snowid_decode(id)).* FROM
  (SELECT n, snowid_backfill(created_at, 1341) OVER (ORDER BY created_at) AS id FROM visits) s ORDER BY n;
SELECT snowid_backfill('2011-08-24 21:07:01.721Z'::timestamptz + 1387263000 * interval '1 ms', 1341)
         OVER (ORDER BY 1) | 905 AS instagrams_vector;

-- 5,000 rows of one moment are 5,000 IDs, the last of them 4 ms later.
TRUNCATE visits;
INSERT INTO visits SELECT n, '2015-01-01Z' FROM generate_series(1, 5000) n;
SELECT count(*), count(DISTINCT id), min(snowid_timestamp(id)), max(snowid_timestamp(id)),
       bool_and(id > before) AS increasing, bool_and(sequence = (place - 1) % 1024) AS counting_up
  FROM (SELECT id, lag(id, 1, 0::bigint) OVER (ORDER BY place) AS before, place, snowid_sequence(id) AS sequence
          FROM (SELECT row_number() OVER w AS place, snowid_backfill(created_at, 3) OVER w AS id
                  FROM visits WINDOW w AS (ORDER BY created_at)) s) t;
-- Times that fall into what they have used go on above it; the first one after that has its own again.
INSERT INTO visits SELECT 5000 + n, '2015-01-01Z'::timestamptz + n * interval '1 ms' FROM generate_series(1, 10) n;
SELECT n, snowid_timestamp(id), snowid_sequence(id) FROM
  (SELECT n, snowid_backfill(created_at, 3) OVER (ORDER BY created_at, n) AS id FROM visits) s
 WHERE n >= 4999 ORDER BY n;

-- Rows without a time get no ID, wherever they stand; nor do those without a shard or a layout.
TRUNCATE visits;
INSERT INTO visits VALUES (1, '2015-01-01Z'), (2, NULL), (3, '2015-01-01Z'), (4, NULL), (5, '2016-01-01Z');
SELECT n, snowid_decode(id) FROM
  (SELECT n, snowid_backfill(created_at, 3) OVER (ORDER BY created_at NULLS FIRST) AS id FROM visits) s ORDER BY n;
SELECT n, snowid_decode(id) FROM
  (SELECT n, snowid_backfill(created_at, 3) OVER (ORDER BY created_at NULLS LAST) AS id FROM visits) s ORDER BY n;
SELECT n, snowid_sequence(id) FROM
  (SELECT n, snowid_backfill(created_at, nullif(n, 3)) OVER (ORDER BY created_at, n) AS id FROM visits) s ORDER BY n;
SELECT snowid_backfill(created_at, 3, NULL) OVER (ORDER BY created_at) IS NULL AS none FROM visits;

-- A window that is not ordered by the times is refused: descending, by something else, not at all (also
-- where the rows happen to be in order), or by less.
TRUNCATE visits;
INSERT INTO visits SELECT n, '2015-01-01Z'::timestamptz + n * interval '1 hour' FROM generate_series(1, 30) n;
SELECT w, attempt(format('SELECT snowid_backfill(created_at, 3) OVER (%s) FROM visits', w))
  FROM unnest(ARRAY['ORDER BY created_at DESC', '', 'ORDER BY date_trunc(''day'', created_at)', 'ORDER BY 1']) w;
SELECT left(attempt('SELECT snowid_backfill(created_at, 3) OVER (ORDER BY n % 2) FROM visits'), 5) AS by_something_else;
SELECT attempt('SELECT snowid_backfill(created_at, 3) FROM visits');
-- By what has the same order, and by more, is as good.
SELECT count(DISTINCT id) FROM (SELECT snowid_backfill(created_at, 3) OVER (ORDER BY n) AS id FROM visits) s;
SELECT count(DISTINCT id) FROM (SELECT snowid_backfill(created_at, 3) OVER (ORDER BY created_at, n DESC) AS id FROM visits) s;
-- Where all times are the same, or there is one row, any order is right.
SELECT count(DISTINCT id) FROM (SELECT snowid_backfill('2020-01-01Z', 3) OVER () AS id FROM visits) s;

-- Frames make no difference.
SELECT count(DISTINCT f) AS forms FROM (
  SELECT array_agg(id ORDER BY n) FROM (SELECT n, snowid_backfill(created_at, 3) OVER (ORDER BY created_at) AS id FROM visits) a
  UNION ALL
  SELECT array_agg(id ORDER BY n) FROM (SELECT n, snowid_backfill(created_at, 3) OVER (ORDER BY created_at
    ROWS BETWEEN 3 FOLLOWING AND 5 FOLLOWING EXCLUDE TIES) AS id FROM visits) b
  UNION ALL
  SELECT array_agg(id ORDER BY n) FROM (SELECT n, snowid_backfill(created_at, 3) OVER (ORDER BY created_at
    GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS id FROM visits) c) AS t (f);

-- Each partition counts by itself; within one, IDs of several shards are distinct, too.
SELECT count(*), count(DISTINCT id) FROM
  (SELECT snowid_backfill('2020-01-01Z', n % 3) OVER (PARTITION BY n % 3) AS id FROM visits) s;
SELECT max(snowid_sequence(id)) FROM
  (SELECT snowid_backfill('2020-01-01Z', n % 3) OVER (PARTITION BY n % 3) AS id FROM visits) s;
SELECT count(DISTINCT id), max(snowid_sequence(id)) FROM
  (SELECT snowid_backfill('2020-01-01Z', n % 3) OVER () AS id FROM visits) s;
-- Partitions that do not go with the shards repeat each other's: for whoever asks for that.
SELECT count(*), count(DISTINCT id) FROM
  (SELECT snowid_backfill('2020-01-01Z', 3) OVER (PARTITION BY n % 3) AS id FROM visits) s;
-- One layout for a partition.
SELECT attempt($$SELECT snowid_backfill('2020-01-01Z', 3, layout) OVER (ORDER BY n)
  FROM unnest('{twitter,twitter,discord}'::snowid_layout[]) WITH ORDINALITY AS l (layout, n)$$);
SELECT layout, snowid_timestamp(id, layout), snowid_sequence(id, layout) FROM (
  SELECT layout, snowid_backfill('2020-01-01Z', 3, layout) OVER (PARTITION BY layout ORDER BY n) AS id
    FROM unnest('{twitter,discord,twitter}'::snowid_layout[]) WITH ORDINALITY AS l (layout, n)) s
 ORDER BY layout::text, id;

-- Other layouts: units of ten milliseconds with the sequence before the shard, of a second; and one with the
-- sequence before the time, whose IDs are distinct and in no order.
SELECT layout, count(DISTINCT id), bool_and(id > before) AS increasing, max(snowid_timestamp(id, layout)) FROM (
  SELECT layout, id, lag(id, 1, -1::bigint) OVER (PARTITION BY layout::text ORDER BY place) AS before FROM (
    SELECT layout, row_number() OVER w AS place,
           snowid_backfill('2020-01-01 00:00:00Z'::timestamptz + n * interval '100 us', 3, layout) OVER w AS id
      FROM unnest('{sonyflake,baidu,seq:10 shard:13 time:41 unit:1ms epoch:2011-01-01T00:00:00Z}'::snowid_layout[]) layout,
           generate_series(1, 2000) n
    WINDOW w AS (PARTITION BY layout ORDER BY n)) s) t
 GROUP BY layout ORDER BY layout::text;

-- What no ID can hold.
SELECT attempt(format('SELECT snowid_backfill(%L, 3) OVER ()', moment))
  FROM unnest('{2011-08-24 21:07:01.720999Z,2046-06-27 17:00:49.497Z,infinity,-infinity,4714-11-24 00:00:00Z BC}'::text[]) moment;
SELECT attempt(format('SELECT snowid_backfill(%L, %s) OVER ()', '2020-01-01Z', shard))
  FROM unnest('{-1,8192,9223372036854775807}'::bigint[]) shard;
-- The last unit of a layout is full in the end.
SELECT attempt($$SELECT snowid_backfill('2046-06-27 17:00:49.496Z', 3) OVER () FROM generate_series(1, 1025)$$);
SELECT max(id) = snowid_encode('2046-06-27 17:00:49.496Z', 3, 1023) AS last FROM
  (SELECT snowid_backfill('2046-06-27 17:00:49.496Z', 3) OVER () AS id FROM generate_series(1, 1024)) s;

-- Whatever the plan does, it counts each row once: partitions that spill to disk, a scan that begins anew,
-- a cursor that goes back, another function that ends the scan early, parallel workers below it.
SET work_mem = '64kB';
SELECT count(*), count(DISTINCT id), bool_and(id > before) AS increasing FROM (
  SELECT id, lag(id, 1, 0::bigint) OVER (ORDER BY n) AS before FROM (
    SELECT n, snowid_backfill('2020-01-01Z'::timestamptz + n / 7 * interval '100 us', 3) OVER (ORDER BY n) AS id
      FROM generate_series(1, 50000) n) s) t;
SELECT count(*), count(DISTINCT id) FROM (
  SELECT snowid_backfill('2020-01-01Z', 3) OVER w AS id, sum(n) OVER w, last_value(n) OVER w
    FROM generate_series(1, 20000) n WINDOW w AS (ORDER BY n ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING)) s;
RESET work_mem;
SELECT a, min(place) FROM generate_series(1, 3) a,
  LATERAL (SELECT snowid_sequence(snowid_backfill('2020-01-01Z', a) OVER (ORDER BY n)) AS place FROM visits LIMIT 5 OFFSET 2) s
 GROUP BY a ORDER BY a;
BEGIN;
DECLARE back SCROLL CURSOR FOR SELECT snowid_sequence(snowid_backfill('2020-01-01Z', 3) OVER (ORDER BY n)) FROM visits;
FETCH 3 FROM back;
FETCH BACKWARD 2 FROM back;
FETCH 3 FROM back;
COMMIT;
SELECT max(snowid_sequence(id)), count(*) FROM (
  SELECT snowid_backfill('2020-01-01Z', 3) OVER w AS id, row_number() OVER w AS place
    FROM visits WINDOW w AS (ORDER BY n)) s WHERE place <= 4;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(DISTINCT id), bool_and(created_at = snowid_timestamp(id)) AS own_time FROM
  (SELECT created_at, snowid_backfill(created_at, 3) OVER (ORDER BY created_at) AS id FROM visits) s;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

-- Parts that are cut at whole units of time get the IDs that they get together.
SELECT bool_and(parts.id = whole.id) AS same FROM
  (SELECT n, snowid_backfill(created_at, 3) OVER (ORDER BY created_at, n) AS id FROM visits) whole JOIN
  (SELECT n, snowid_backfill(created_at, 3) OVER (PARTITION BY created_at >= '2015-01-02Z' ORDER BY created_at, n) AS id
     FROM visits) parts USING (n);

-- The keys of a table, and of what refers to it, in one statement. Keys of before, which are no IDs, have the
-- times of the layout's first moments.
CREATE TABLE people (id bigserial PRIMARY KEY, created_at timestamptz);
CREATE TABLE letters (person bigint REFERENCES people ON UPDATE CASCADE);
INSERT INTO people (created_at) SELECT '2014-01-01Z'::timestamptz + n * interval '1 day' FROM generate_series(1, 100) n;
INSERT INTO letters SELECT id FROM people WHERE id % 2 = 0;
SELECT max(snowid_timestamp(id)) FROM people;
UPDATE people SET id = made.id
  FROM (SELECT id AS old, snowid_backfill(created_at, 3) OVER (ORDER BY created_at, id) AS id FROM people) made
 WHERE people.id = made.old AND snowid_timestamp(people.id) < '2011-08-25Z';
SELECT count(*), bool_and(snowid_timestamp(id) = created_at) AS own_time FROM people;
SELECT count(*) FROM letters JOIN people ON person = id;

-- UUIDs of version 7, too, which are distinct from all others: of their own time, in order, going on where a millisecond is full.
TRUNCATE visits;
INSERT INTO visits SELECT n, '2015-01-01Z'::timestamptz + n / 5000 * interval '1 ms' FROM generate_series(1, 6000) n;
INSERT INTO visits VALUES (6001, '2016-01-01 00:00:00.0009Z'), (6002, NULL);
SELECT count(*), count(DISTINCT id), count(DISTINCT right(id::text, 16)) AS random, bool_and(snowid_is_uuidv7(id)) AS version_7, bool_and(id > before) AS increasing,
    min(snowid_uuid_timestamp(id)), max(snowid_uuid_timestamp(id) - created_at) AS latest FROM (
  SELECT created_at, id, lag(id, 1, '00000000-0000-0000-0000-000000000000') OVER (ORDER BY place) AS before FROM (
    SELECT created_at, row_number() OVER w AS place, snowid_backfill_uuidv7(created_at) OVER w AS id FROM visits WINDOW w AS (ORDER BY created_at, n)) s) t
 WHERE created_at IS NOT NULL;
SELECT snowid_uuid_timestamp(id), substr(id::text, 15, 4) AS sequence FROM
  (SELECT n, snowid_backfill_uuidv7(created_at) OVER (ORDER BY created_at, n) AS id FROM visits) s WHERE n IN (1, 4096, 4097, 5000, 6001, 6002) ORDER BY n;
SELECT count(DISTINCT u) AS each_call FROM (SELECT ARRAY[snowid_backfill_uuidv7('2015-01-01Z') OVER (), snowid_backfill_uuidv7('2015-01-01Z') OVER ()] AS two) s, unnest(two) AS u;
SELECT w, attempt(format('SELECT snowid_backfill_uuidv7(created_at) OVER (%s) FROM visits', w))
  FROM unnest(ARRAY['ORDER BY created_at DESC NULLS LAST', '', 'ORDER BY date_trunc(''day'', created_at)']) w;
SELECT attempt('SELECT snowid_backfill_uuidv7(created_at) FROM visits');
SELECT attempt(format('SELECT snowid_backfill_uuidv7(%L) OVER ()', moment))
  FROM unnest('{1969-12-31 23:59:59.999999Z,10889-08-02 05:31:50.656Z,infinity,-infinity}'::text[]) moment;
DROP TABLE visits, letters, people;
