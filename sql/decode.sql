-- Reading IDs and making them from their parts: FIELD vectors, the ends of the layout, and the uses
-- that need immutable functions.

SET timezone = 'UTC';
SET datestyle = 'ISO';

-- Instagram's published example: 1,387,263,000 ms after the epoch, shard 1341, sequence 5001 % 1024.
SELECT * FROM snowid_decode(11637205501278089);
SELECT snowid_timestamp(11637205501278089), snowid_shard(11637205501278089),
       snowid_sequence(11637205501278089);
SELECT snowid_encode('2011-08-24 21:07:01.721Z'::timestamptz + interval '1387263 seconds', 1341, 905);
-- A shift that must be done in 64 bits.
SELECT snowid_encode('2011-08-24 21:07:01.721Z'::timestamptz + interval '1992325.551 seconds', 0, 0);

-- The ends.
SELECT * FROM snowid_decode(0);
SELECT * FROM snowid_decode(9223372036854775807);
SELECT snowid_encode('2011-08-24 21:07:01.721Z', 0, 0),
       snowid_encode('2046-06-27 17:00:49.496Z', 8191, 1023);
-- What is no ID has no parts, and fails nowhere: the index below takes all keys of an adopted column.
SELECT id, snowid_decode(id), snowid_timestamp(id), snowid_shard(id), snowid_sequence(id)
  FROM unnest(ARRAY[-1, -9223372036854775808]::bigint[]) AS id;
CREATE TABLE keys (id bigint PRIMARY KEY, made timestamptz GENERATED ALWAYS AS (snowid_timestamp(id)) STORED);
INSERT INTO keys VALUES (-1), (0), (11637205501278089);
CREATE INDEX ON keys (snowid_timestamp(id), snowid_shard(id), snowid_sequence(id), snowid_timestamp(id, 'js53'));
SELECT * FROM keys ORDER BY id;
DROP TABLE keys;
SELECT attempt($$SELECT snowid_encode('2011-08-24 21:07:01.720999Z', 0, 0)$$);
SELECT attempt($$SELECT snowid_encode('2046-06-27 17:00:49.497Z', 0, 0)$$);
SELECT attempt($$SELECT snowid_encode('infinity', 0, 0)$$);
SELECT attempt($$SELECT snowid_encode('-infinity', 0, 0)$$);
SELECT attempt($$SELECT snowid_encode('294276-12-31 23:59:59.999999Z', 0, 0)$$);
SELECT attempt($$SELECT snowid_encode('4714-11-24 00:00:00Z BC', 0, 0)$$);
SELECT attempt($$SELECT snowid_encode('2026-01-01Z', -1, 0)$$);
SELECT attempt($$SELECT snowid_encode('2026-01-01Z', 8192, 0)$$);
SELECT attempt($$SELECT snowid_encode('2026-01-01Z', 0, -1)$$);
SELECT attempt($$SELECT snowid_encode('2026-01-01Z', 0, 1024)$$);

-- There and back, over the whole range.
SELECT count(*) AS wrong FROM (
  SELECT id, (snowid_decode(id)).* FROM (
    SELECT n * 92233720368547758 + (n * 7919) % 8388608 AS id FROM generate_series(0::bigint, 99) n) ids
  ) parts WHERE snowid_encode(created_at, shard, sequence) <> id;

-- Bounds of a time unit.
SELECT snowid_first_at('2026-01-01 00:00:00Z'), snowid_last_at('2026-01-01 00:00:00Z');
SELECT snowid_first_at('2026-01-01 00:00:00.0009Z') = snowid_first_at('2026-01-01 00:00:00Z') AS of_one_unit,
       snowid_last_at('2026-01-01 00:00:00Z') + 1 = snowid_first_at('2026-01-01 00:00:00.001Z') AS no_gap;
SELECT * FROM snowid_decode(snowid_first_at('2026-01-01Z'));
SELECT * FROM snowid_decode(snowid_last_at('2026-01-01Z'));
SELECT attempt($$SELECT snowid_first_at('2011-08-24 21:07:01.720Z')$$);
SELECT attempt($$SELECT snowid_last_at('2046-06-27 17:00:49.497Z')$$);
SELECT attempt($$SELECT snowid_last_at('infinity')$$);

-- NULL in gives NULL out.
SELECT num_nulls(snowid_timestamp(NULL), snowid_shard(NULL), snowid_sequence(NULL),
                 snowid_first_at(NULL), snowid_last_at(NULL), snowid_encode(NULL, 0, 0), snowid_encode(now(), NULL, 0),
                 snowid_encode(now(), 0, NULL), snowid_in_range(NULL, now(), now()),
                 snowid_in_range(1, NULL, '2012-01-01Z'), snowid_in_range(1, '2011-01-01Z', NULL));
-- But where one bound alone says that it is not in the range, as in any AND.
SELECT snowid_in_range(9223372036854775807, NULL, '2012-01-01Z') AS later, snowid_in_range(1, '2012-01-01Z', NULL) AS earlier;
SELECT snowid_decode(NULL) IS NULL AS null;

-- snowid_in_range is snowid_timestamp compared, at every edge and for every time there is.
SELECT count(*) AS compared, count(*) FILTER (WHERE snowid_in_range(id, a, b) <>
         (snowid_timestamp(id) >= a AND snowid_timestamp(id) < b)) AS wrong
  FROM unnest(ARRAY[0, 8388607, 8388608, snowid_first_at('2026-01-01Z') - 1, snowid_first_at('2026-01-01Z'),
                    snowid_last_at('2026-01-01Z'), snowid_last_at('2026-01-01Z') + 1,
                    9223372036854775806]) id,
       unnest(ARRAY['-infinity', '1970-01-01Z', '2011-08-24 21:07:01.720999Z', '2011-08-24 21:07:01.721Z',
                    '2011-08-24 21:07:01.721001Z', '2025-12-31 23:59:59.999001Z', '2026-01-01Z',
                    '2026-01-01 00:00:00.000001Z', '2026-01-01 00:00:00.001Z',
                    '2046-06-27 17:00:49.496Z', '2046-06-27 17:00:49.496001Z',
                    '2046-06-27 17:00:49.497Z', '2300-01-01Z', '294276-12-31 23:59:59.999999Z',
                    'infinity']::timestamptz[]) a,
       unnest(ARRAY['-infinity', '1970-01-01Z', '2011-08-24 21:07:01.720999Z', '2011-08-24 21:07:01.721Z',
                    '2011-08-24 21:07:01.721001Z', '2025-12-31 23:59:59.999001Z', '2026-01-01Z',
                    '2026-01-01 00:00:00.000001Z', '2026-01-01 00:00:00.001Z',
                    '2046-06-27 17:00:49.496Z', '2046-06-27 17:00:49.496001Z',
                    '2046-06-27 17:00:49.497Z', '2300-01-01Z', '294276-12-31 23:59:59.999999Z',
                    'infinity']::timestamptz[]) b;

-- A range scan uses the primary key.
CREATE TABLE events (id bigint PRIMARY KEY,
                     created_at timestamptz GENERATED ALWAYS AS (snowid_timestamp(id)) STORED);
INSERT INTO events
  SELECT snowid_encode('2026-01-01Z'::timestamptz + n * interval '1 minute', n % 8192, n % 1024)
    FROM generate_series(0, 9999) n;
ANALYZE events;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowid_in_range(id, '2026-01-02Z', '2026-01-02 00:10Z');
SELECT count(*), min(created_at), max(created_at) FROM events
 WHERE snowid_in_range(id, '2026-01-02Z', '2026-01-02 00:10Z');
PREPARE span AS SELECT count(*) FROM events WHERE snowid_in_range(id, $1, $2);
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE span('2026-01-02Z', '2026-01-02 00:10Z');
EXECUTE span('2026-01-02Z', '2026-01-02 00:10Z');
RESET plan_cache_mode;

-- An index on the time.
CREATE INDEX ON events (snowid_timestamp(id));
EXPLAIN (COSTS OFF) SELECT id FROM events WHERE snowid_timestamp(id) = '2026-01-02Z';
SELECT count(*) FROM events WHERE snowid_timestamp(id) = '2026-01-02Z';
DROP TABLE events;

-- Partitions by time, and the pruning of them.
CREATE TABLE posts (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE posts_2025 PARTITION OF posts
  FOR VALUES FROM (snowid_first_at('2025-01-01Z')) TO (snowid_first_at('2026-01-01Z'));
CREATE TABLE posts_2026 PARTITION OF posts
  FOR VALUES FROM (snowid_first_at('2026-01-01Z')) TO (snowid_first_at('2027-01-01Z'));
INSERT INTO posts SELECT snowid_encode(t, 0, 0)
  FROM unnest(ARRAY['2025-12-31 23:59:59.999999Z', '2026-01-01Z']::timestamptz[]) t;
SELECT tableoid::regclass, (snowid_decode(id)).created_at FROM posts ORDER BY id;
EXPLAIN (COSTS OFF) SELECT * FROM posts WHERE snowid_in_range(id, '2026-03-01Z', '2026-04-01Z');
DROP TABLE posts;
