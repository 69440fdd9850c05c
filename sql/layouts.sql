-- Layouts: the type, the named ones, and every function with other layouts than Instagram's.

SET timezone = 'UTC';
SET datestyle = 'ISO';

-- The named ones.
SELECT name, specification FROM snowid.layouts;
SELECT name, epoch, unit, max_shard, ids_per_second, expires_at FROM snowid.layouts;
SELECT count(*) AS not_read_back FROM snowid.layouts
 WHERE specification::snowid_layout <> name::snowid_layout;
SELECT n::snowid_layout FROM unnest(ARRAY['leaf', ' taobao ',
  'time:41 shard:13 seq:10 unit:1ms epoch:2011-08-24T21:07:01.721Z',
  'epoch:2011-08-24T21:07:01.721Z  unit:1000us time:41 shard:13 seq:10',
  'time:41 shard:13 seq:10 unit:1ms epoch:1314220021721', 'time:40 shard:4 seq:9 unit:1s epoch:-1',
  'time:41 seq:10 shard:13 unit:1ms epoch:2011-08-24T21:07:01.721Z',
  'seq:20 shard:0 time:40 unit:24h epoch:0001-01-01T00:00:00.000001Z']) n;

-- What is no layout: the part that is wrong, where it is, and what it may be.
SELECT l, substr(regexp_replace(attempt(format('SELECT %L::snowid_layout', l)), ' \| Use a name that .*', ''), 9) AS error
  FROM unnest(ARRAY['', ' Twitter', 'twitter2', 'time:41 twitter',
  'time:41 shrd:13 seq:10 unit:1ms epoch:0', 'time:41 shard:13 seq:10 unit:1ms time:41', 'é:1 time:41',
  '   é    time:x', 'time:41 shard:13 seq:10 unit:1ms', 'time:41 shard:13 seq:11 unit:1ms epoch:2011-08-24T21:07:01.721Z',
  'time:0 shard:13 seq:10 unit:1ms epoch:2011-08-24T21:07:01.721Z', 'time:41 shard:64', 'time:41 shard: seq:10',
  'time:41 shard:13 seq:ten', 'time:41 shard:13 seq:10 unit:2d epoch:2011-08-24T21:07:01.721Z', 'time:41 unit:1m',
  'time:41 shard:13 seq:10 unit:1ms epoch:2011-02-29T21:07:01.721Z',
  'time:41 shard:13 seq:10 unit:1ms epoch:2011-08-24', 'time:41 shard:13 seq:10 unit:1ms epoch:',
  'time:41 shard:13 seq:10 unit:1ms epoch:253402300800000']) l;
SELECT attempt($$SELECT 'twiter'::snowid_layout$$);

-- It is a value: compared, hashed, grouped by, stored, sent as binary. What plans go by must not depend
-- on what autovacuum has come to.
SELECT layout, count(*) FROM (SELECT name::snowid_layout AS layout FROM snowid.layouts) l
 GROUP BY layout HAVING count(*) > 1;
SELECT 'twitter'::snowid_layout = 'leaf' AS equal, 'twitter'::snowid_layout <> 'discord' AS unequal,
       'twitter'::snowid_layout = 'time:41 shard:10 seq:12 unit:1ms epoch:2010-11-04T01:42:54.657Z'
         AS the_same_value;
CREATE TABLE stored (name text, layout snowid_layout) PARTITION BY HASH (layout);
CREATE TABLE stored_0 PARTITION OF stored FOR VALUES WITH (MODULUS 2, REMAINDER 0) WITH (autovacuum_enabled = off);
CREATE TABLE stored_1 PARTITION OF stored FOR VALUES WITH (MODULUS 2, REMAINDER 1) WITH (autovacuum_enabled = off);
INSERT INTO stored SELECT name, name::snowid_layout FROM snowid.layouts;
CREATE INDEX ON stored USING hash (layout);
SELECT name, layout FROM stored WHERE layout = 'leaf' ORDER BY name;
SELECT count(*) FROM stored a JOIN stored b USING (layout);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT name FROM stored_0 WHERE layout = 'leaf';
RESET enable_seqscan;
RESET enable_bitmapscan;
-- Grouping by sorting, too.
SELECT layout, count(DISTINCT name), array_agg(name ORDER BY name) FROM stored
 GROUP BY layout HAVING count(*) > 1;
SELECT count(DISTINCT layout) FROM stored;
SELECT count(*) FILTER (WHERE (a.layout <= b.layout) <> (a.layout < b.layout OR a.layout = b.layout)) AS le_wrong,
       count(*) FILTER (WHERE (a.layout > b.layout) <> (b.layout < a.layout)) AS gt_wrong,
       count(*) FILTER (WHERE (a.layout >= b.layout) <> (b.layout <= a.layout)) AS ge_wrong,
       count(*) FILTER (WHERE (a.layout <> b.layout) = (a.layout = b.layout)) AS ne_wrong,
       count(*) FILTER (WHERE (a.layout < b.layout)::int + (a.layout = b.layout)::int + (a.layout > b.layout)::int <> 1)
         AS not_one_of_three,
       count(*) FILTER (WHERE snowid.layout_cmp(a.layout, b.layout) <>
                              (a.layout > b.layout)::int - (a.layout < b.layout)::int) AS cmp_wrong
  FROM stored a, stored b;
SELECT count(*) AS unsorted FROM (SELECT layout, lag(layout) OVER (ORDER BY layout) AS before FROM stored) s
 WHERE layout < before;
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'snowid_layout_ops';
SELECT encode(snowid.layout_send('sonyflake'), 'hex');
-- There and back as binary, which has a file of the server's to go through.
CREATE TABLE received (LIKE stored);
SELECT current_setting('data_directory') || '/layouts.binary' AS file \gset
COPY stored_0 TO :'file' (FORMAT binary);
COPY received FROM :'file' (FORMAT binary);
SELECT count(*) = (SELECT count(*) FROM stored_0) AS all, count(*) FILTER (WHERE layout <> name::snowid_layout) AS wrong
  FROM received;
DROP TABLE stored, received;

-- Vectors of the field.
SELECT snowid_encode('2018-06-09 10:00:00Z', 786, 0, 'discord'),
       snowid_encode('2018-06-09 10:00:00Z', 786, 3450, 'discord');
SELECT * FROM snowid_decode(454947766275222906, 'discord');
SELECT snowid_decode(11637205501278089), snowid_decode(11637205501278089, 'instagram');

-- IDs that are published with their times.
SELECT layout, snowid_decode(id, layout) FROM (VALUES ('instagram'::snowid_layout, 2384288897814875714),
  ('twitter', 1233161576649121792), ('discord', 175928847299117063), ('sonyflake2', 61926663650345416),
  ('mastodon', 103270115826048975), ('linkedin', 7402746946853253120), ('tiktok', 6854717870488702213),
  ('bluesky', 1728652679052295174), ('yitter', 129053495681099)) published (layout, id);

-- A sequence without bits: one ID a unit, wherever its place among the fields is said to be.
SELECT l::snowid_layout FROM unnest(ARRAY['seq:0 time:53 shard:10 unit:1us epoch:0', 'shard:9 seq:0 time:40 unit:1s epoch:0',
  'seq:0 shard:0 time:40 unit:1ms epoch:0']) l;
SELECT snowid_decode(snowid_encode('2026-01-01 00:00:00.000001Z', 1023, 0, 'bluesky'), 'bluesky'),
       snowid_reserve(1, 1, 'bluesky') > 0 AS reserved;
SELECT attempt($$SELECT snowid_encode('2026-01-01Z', 0, 1, 'bluesky')$$);
SELECT attempt($$SELECT snowid_reserve(1, 2, 'bluesky')$$);
SELECT count(DISTINCT snowid_timestamp(id, 'bluesky')) FROM snowid_next_batch(2, 1000, 'bluesky') id;
SELECT count(DISTINCT id) AS ids, max(id) - min(id) >= 9 AS one_per_unit, snowid_timestamp(min(id), l) > now() - interval '1 minute' AS of_now
  FROM (SELECT 'time:41 shard:0 seq:0 unit:1ms epoch:0'::snowid_layout AS l) one, snowid_next_batch(0, 10, l) id GROUP BY l;
SELECT snowid_from_uuid(snowid_to_uuid(id, l), l) = id AS same, snowid_uuid_timestamp(snowid_to_uuid(id, l)) = snowid_timestamp(id, l) AS same_time
  FROM (SELECT 1767225600000 AS id, 'time:41 shard:0 seq:0 unit:1ms epoch:0'::snowid_layout AS l) one;

-- Which layout is it? The right one is among those found, and comes first for IDs of now.
SELECT l.name, g.layout, g.latest BETWEEN now() - interval '1 minute' AND now() + interval '1 minute' AS of_now, g.shards
  FROM (SELECT name, name::snowid_layout AS layout, least(5, max_shard) AS shard FROM snowid.layouts WHERE name <> 'baidu') l,
       LATERAL (SELECT array_agg(snowid_encode(now() - i * interval '1 h', least(i, l.shard), 0, l.layout)) AS ids
                  FROM generate_series(0, 9) i) made,
       LATERAL (SELECT * FROM snowid.guess_layout(made.ids) LIMIT 1) g;
-- Of earlier ones it may come later; and none is found that would have made one of them before its epoch, or later than now.
SELECT l.name, string_agg(g.layout::text, ' ' ORDER BY g.place) AS guesses
  FROM (VALUES ('instagram', 2384288897814875714), ('twitter', 1233161576649121792), ('discord', 175928847299117063),
    ('sonyflake2', 61926663650345416), ('mastodon', 103270115826048975), ('linkedin', 7402746946853253120),
    ('tiktok', 6854717870488702213), ('bluesky', 1728652679052295174), ('yitter', 129053495681099)) l (name, id),
       LATERAL (SELECT layout, row_number() OVER () AS place FROM snowid.guess_layout(ARRAY[l.id])) g
 WHERE g.layout::text = l.name GROUP BY l.name ORDER BY l.name;
SELECT l.name, bool_or(g.layout = l.name::snowid_layout) AS found
  FROM snowid.layouts l, LATERAL (SELECT snowid_encode(l.epoch + i, 0, 0, l.name::snowid_layout) AS id
    FROM unnest(ARRAY[interval '1 day', interval '1 day' - l.unit]) i) made LEFT JOIN LATERAL snowid.guess_layout(ARRAY[made.id]) g ON true
 WHERE l.name = 'twitter' GROUP BY l.name, made.id ORDER BY made.id;
SELECT count(*) FILTER (WHERE layout = 'twitter') AS twitter
  FROM snowid.guess_layout(ARRAY[snowid_encode(now() + interval '2 minutes', 0, 0, 'twitter')]);
SELECT layout, earliest, latest, shards
  FROM snowid.guess_layout(ARRAY[1233161576649121792, NULL, snowid_encode('2020-02-27 23:00Z', 335, 0, 'twitter')]);
SELECT count(*) FROM snowid.guess_layout('{}');
SELECT count(*) FROM snowid.guess_layout(NULL);
SELECT count(*) FROM snowid.guess_layout(ARRAY[1233161576649121792, -1]);

-- The ends of each, and what lies beyond.
SELECT name, snowid_decode(greatest, name::snowid_layout) AS last, greatest
  FROM (SELECT name, snowid_encode(expires_at - unit, max_shard,
                                   (ids_per_second * extract(epoch FROM unit))::bigint - 1,
                                   name::snowid_layout) AS greatest FROM snowid.layouts) l;
SELECT name, attempt(format('SELECT snowid_encode(%L, 0, 0, %L)', expires_at, name)) AS late
  FROM snowid.layouts WHERE name IN ('twitter', 'js53');
SELECT attempt($$SELECT snowid_encode('2018-06-09 10:00:00Z', 1024, 0, 'discord')$$);
SELECT attempt($$SELECT snowid_encode('2018-06-09 10:00:00Z', 0, 4096, 'discord')$$);
SELECT snowid_decode(9007199254740992, 'js53'), snowid_timestamp(9007199254740992, 'js53') IS NULL AS no_time,
       snowid_decode(-1, 'js53');
SELECT snowid_decode(9007199254740991, 'js53');
-- Shards and sequences that only a bigint holds.
SELECT snowid_decode(9223372036854775807, 'time:10 shard:43 seq:10 unit:1ms epoch:2020-01-01T00:00:00Z'),
       snowid_sequence(9223372036854775807, 'time:10 shard:10 seq:43 unit:1ms epoch:2020-01-01T00:00:00Z');
SELECT snowid_encode('2020-01-01Z', 4611686018427387903, 0, 'time:1 shard:62 seq:1 unit:1d epoch:2020-01-01T00:00:00Z');
SELECT snowid_shard(snowid_next(shard, wide), wide) = shard AS same,
       snowid_currval(shard, wide) = snowid_lastval() AS current
  FROM unnest(ARRAY[2147483647, 2147483648, 4294967295, 4294967296, 1099511627775]) shard,
       CAST('time:22 shard:40 seq:2 unit:1h epoch:2020-01-01T00:00:00Z' AS snowid_layout) wide;
SELECT attempt($$SELECT snowid_next(1099511627776, 'time:22 shard:40 seq:2 unit:1h epoch:2020-01-01T00:00:00Z')$$);
SELECT attempt($$SELECT snowid_next((-9223372036854775808)::bigint, 'time:22 shard:40 seq:2 unit:1h epoch:2020-01-01T00:00:00Z')$$);
SELECT snowid_timestamp(9223372036854775807, 'time:10 shard:43 seq:10 unit:1ms epoch:2020-01-01T00:00:00Z');
-- A time that the layout's bits can hold, and a timestamptz cannot.
SELECT snowid_decode(9223372036854775807, 'time:62 shard:0 seq:1 unit:1d epoch:2020-01-01T00:00:00Z');
SELECT * FROM snowid_describe_layout('time:63 shard:0 seq:1 unit:1d epoch:2020-01-01T00:00:00Z');

-- Generation: the right time, shard and sequence for each, and none twice.
SELECT l.name, count(DISTINCT id) AS ids, bool_and(id > 0) AS positive,
       bool_and(snowid_shard(id, l.layout) = l.shard) AS of_shard,
       bool_and(snowid_timestamp(id, l.layout) BETWEEN now() - interval '1 minute'
                AND now() + interval '1 minute') AS of_now,
       bool_and(id = snowid_encode(snowid_timestamp(id, l.layout), l.shard, snowid_sequence(id, l.layout), l.layout))
         AS encoded,
       bool_and(ordered) AS ordered
  FROM (SELECT name, name::snowid_layout AS layout, least(3, max_shard) AS shard FROM snowid.layouts WHERE name <> 'baidu') l,
       LATERAL (SELECT id, id > lag(id, 1, 0::bigint) OVER () AS ordered
                  FROM (SELECT snowid_next(l.shard, l.layout) AS id FROM generate_series(1, 2000)) drawn) ids
 GROUP BY l.name ORDER BY l.name;

-- Past its end, one says so clearly.
SELECT attempt($$SELECT snowid_next(0, 'baidu')$$);
SELECT attempt($$SELECT snowid_next_batch(0, 10, 'baidu')$$);
SELECT snowid_timestamp(0, 'baidu');

-- Two layouts share no tick, two names of one layout do.
SELECT snowid_next(9, 'twitter') AS one \gset
SELECT snowid_next(9, 'discord') AS two \gset
SELECT snowid_currval(9, 'twitter') = :one AS one, snowid_currval(9, 'discord') = :two AS two,
       snowid_currval(9, 'leaf') = :one AS leaf, snowid_lastval() = :two AS last;
SELECT attempt($$SELECT snowid_currval(9, 'pgedge')$$);
SELECT attempt($$SELECT snowid_currval(1024, 'pgedge')$$);
DISCARD SEQUENCES;
SELECT attempt($$SELECT snowid_currval(9, 'twitter')$$);

-- In each kind of call.
SET snowid.default_shard = 7;
SELECT snowid_shard(snowid_next(snowid_default_shard(), 'twitter'), 'twitter'),
       snowid_shard(snowid_next(shard => 8, layout => 'js53'), 'js53');
RESET snowid.default_shard;
SELECT attempt($$SELECT snowid_next(32, 'js53')$$);
SELECT attempt($$SELECT snowid_next(-1, 'js53')$$);
SELECT snowid_next(NULL, 'js53') IS NULL AND snowid_next(1, NULL) IS NULL AS null_in_null_out;
SELECT count(*), count(DISTINCT id), bool_and(snowid_shard(id, 'sonyflake') = 11) AS shard_11
  FROM snowid_next_batch(11, 1000, 'sonyflake') id;
SELECT snowid_reserve(3, 4096, 'twitter') AS first \gset
SELECT snowid_sequence(:first, 'twitter') AS sequence, snowid_next(3, 'twitter') > :first + 4095 AS past;
SELECT attempt($$SELECT snowid_reserve(3, 4097, 'twitter')$$);
SELECT snowid_shard(snowid_reserve(3, 1, 'sonyflake'), 'sonyflake');
SELECT attempt($$SELECT snowid_reserve(3, 2, 'sonyflake')$$);

-- A literal without a type is a bigint.
PREPARE untyped AS SELECT snowid_shard(snowid_next($1));
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'untyped';
EXECUTE untyped(5);
SELECT snowid_shard(snowid_next('6'));
SELECT attempt($$SELECT snowid_timestamp('454947766275222906')$$);
SELECT snowid_timestamp('454947766275222906'::bigint, 'discord');

-- Shards far apart; those with great numbers are found by another way.
SELECT count(DISTINCT id) AS ids, bool_and(snowid_shard(id, 'time:32 shard:31 seq:1 unit:1s epoch:2020-01-01T00:00:00Z') = s)
         AS of_its_shard
  FROM (SELECT s, snowid_next(s, 'time:32 shard:31 seq:1 unit:1s epoch:2020-01-01T00:00:00Z') AS id
          FROM unnest(ARRAY[0, 63, 64, 1048575, 1048576, 1048577, 2000000000, 2147483647]) s,
               generate_series(1, 2)) drawn;
SELECT snowid_shard(snowid_currval(2147483647, 'time:32 shard:31 seq:1 unit:1s epoch:2020-01-01T00:00:00Z'),
                    'time:32 shard:31 seq:1 unit:1s epoch:2020-01-01T00:00:00Z');
DISCARD SEQUENCES;
SELECT attempt($$SELECT snowid_currval(2147483647, 'time:32 shard:31 seq:1 unit:1s epoch:2020-01-01T00:00:00Z')$$);

-- Long units begin their sequence at 0, and have all of it.
SELECT min(s), max(s), count(DISTINCT s) FROM (
  SELECT snowid_sequence(snowid_next(1, l), l) AS s
    FROM (SELECT 'time:30 shard:4 seq:12 unit:1d epoch:2020-01-01T00:00:00Z'::snowid_layout AS l) one,
         generate_series(1, 4000)) drawn;

-- A layout whose epoch has yet to come.
SET snowid.max_wait = 0;
SELECT regexp_replace(attempt($$SELECT snowid_next(1, 'time:40 shard:4 seq:12 unit:1ms epoch:9999-01-01T00:00:00Z')$$),
                      'is \d+ days [0-9:]+ behind.*', 'is … behind');
RESET snowid.max_wait;

-- Ranges of time: exact in every order of the fields, and by index where the time comes first.
CREATE TABLE events (id bigint PRIMARY KEY) WITH (autovacuum_enabled = off);
INSERT INTO events SELECT snowid_encode('2026-01-01Z'::timestamptz + n * interval '1 minute', n % 1000, n % 4096, 'twitter')
  FROM generate_series(0, 9999) n;
ANALYZE events;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowid_in_range(id, '2026-01-02Z', '2026-01-02 00:10Z', 'twitter');
SELECT count(*) FROM events WHERE snowid_in_range(id, '2026-01-02Z', '2026-01-02 00:10Z', 'twitter');
SELECT o, count(*) AS ids, count(*) FILTER (WHERE snowid_in_range(id, a, b, o::snowid_layout) <>
         (snowid_timestamp(id, o::snowid_layout) >= a AND snowid_timestamp(id, o::snowid_layout) < b)) AS wrong
  FROM unnest(ARRAY['time:4 shard:2 seq:2 unit:1s epoch:2026-01-01T00:00:00Z',
                    'time:4 seq:2 shard:2 unit:1s epoch:2026-01-01T00:00:00Z',
                    'shard:2 time:4 seq:2 unit:1s epoch:2026-01-01T00:00:00Z',
                    'shard:2 seq:2 time:4 unit:1s epoch:2026-01-01T00:00:00Z',
                    'seq:2 time:4 shard:2 unit:1s epoch:2026-01-01T00:00:00Z',
                    'seq:2 shard:2 time:4 unit:1s epoch:2026-01-01T00:00:00Z']) o,
       generate_series(0, 255) id,
       unnest(ARRAY['2025-12-31Z', '2026-01-01Z', '2026-01-01 00:00:03Z', '2026-01-01 00:00:03.5Z',
                    '2026-01-01 00:00:16Z']::timestamptz[]) a,
       unnest(ARRAY['2025-12-31Z', '2026-01-01 00:00:04Z', '2026-01-01 00:00:09.5Z', '2026-01-02Z']::timestamptz[]) b
 GROUP BY o ORDER BY o;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowid_in_range(id, '2026-01-02Z', '2026-01-02 00:10Z',
  'shard:12 time:41 seq:10 unit:1ms epoch:2020-01-01T00:00:00Z');
SELECT num_nulls(snowid_in_range(1, now(), now(), NULL), snowid_timestamp(1, NULL), snowid_encode(now(), 0, 0, NULL),
                 snowid_first_at(now(), NULL), snowid_last_at(now(), NULL), snowid_shard(1, NULL), snowid_sequence(1, NULL),
                 snowid_describe_layout(NULL));
SELECT snowid_first_at('2026-01-01Z', 'sonyflake'), snowid_last_at('2026-01-01Z', 'sonyflake');
DROP TABLE events;

-- In a default, a generated column and an index, as dumps show them.
CREATE TABLE tweets (
  id bigint PRIMARY KEY DEFAULT snowid_next(5, 'leaf'),
  created_at timestamptz GENERATED ALWAYS AS (snowid_timestamp(id, 'twitter')) STORED,
  other bigint DEFAULT snowid_next(5, 'time:41 shard:13 seq:10 unit:1ms epoch:2020-01-01T00:00:00Z'));
CREATE INDEX ON tweets (snowid_shard(other, 'time:41 shard:13 seq:10 unit:1ms epoch:2020-01-01T00:00:00Z'));
INSERT INTO tweets DEFAULT VALUES;
SELECT created_at BETWEEN now() - interval '1 minute' AND now() + interval '1 minute' AS of_now FROM tweets;
SELECT column_name, coalesce(column_default, generation_expression) AS expression
  FROM information_schema.columns WHERE table_name = 'tweets' ORDER BY ordinal_position;
DROP TABLE tweets;
