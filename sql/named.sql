-- Layouts of a millisecond, by their names: their ends, their IDs. test/t/portable/same_regression.pl runs this with
-- portable/snowid.sql, too.

SET timezone = 'UTC';
SET datestyle = 'ISO';

-- Vectors of the field.
SELECT snowid_encode('2018-06-09 10:00:00Z', 786, 0, 'discord'),
       snowid_encode('2018-06-09 10:00:00Z', 786, 3450, 'discord');
SELECT * FROM snowid_decode(454947766275222906, 'discord');

-- The first of each and the last, and what lies beyond.
CREATE TABLE named AS
  SELECT name, last FROM (VALUES ('instagram', 9223372036854775807), ('twitter', 9223372036854775807), ('discord', 9223372036854775807),
    ('leaf', 9223372036854775807), ('pgedge', 9223372036854775807), ('taobao', 9223372036854775807),
    ('js53', 9007199254740991)) AS names (name, last);
SELECT name, snowid_decode(0, name::snowid_layout), snowid_decode(last, name::snowid_layout) FROM named;
SELECT name, last, snowid_encode(created_at, shard, sequence, name::snowid_layout) = last AS same, snowid_last_at(created_at, name::snowid_layout) = last AS greatest,
       snowid_first_at(created_at, name::snowid_layout)
  FROM named, snowid_decode(last, name::snowid_layout);
SELECT name, attempt(format('SELECT snowid_encode(%L, 0, 0, %L)', created_at + interval '1 ms', name)) AS late,
       attempt(format('SELECT snowid_last_at(%L, %L)', first - interval '1 us', name)) AS early
  FROM named, snowid_decode(last, name::snowid_layout), snowid_timestamp(0, name::snowid_layout) first;
SELECT name, attempt(format('SELECT snowid_encode(%L, %s, 0, %L)', created_at, shard + 1, name)) AS shard,
       attempt(format('SELECT snowid_encode(%L, 0, %s, %L)', created_at, sequence + 1, name)) AS sequence,
       snowid_shard(-1, name::snowid_layout) AS negative
  FROM named, snowid_decode(last, name::snowid_layout);
SELECT snowid_decode(9007199254740992, 'js53');
SELECT left(attempt($$SELECT snowid_decode(1, 'Twitter')$$), 5) AS none;

-- Ranges of time.
SELECT name, snowid_in_range(last, '-infinity', 'infinity', name::snowid_layout) AS all_of_time,
       snowid_in_range(last, '-infinity', created_at, name::snowid_layout) AS until,
       snowid_in_range(0, 'infinity', '-infinity', name::snowid_layout) AS none
  FROM named, snowid_decode(last, name::snowid_layout);

-- Generation: the right time, shard and sequence for each, and none twice.
SELECT l.name, count(DISTINCT id) AS ids, bool_and(snowid_shard(id, l.layout) = 3) AS shard_3,
       bool_and(snowid_timestamp(id, l.layout) BETWEEN now() - interval '1 minute' AND now() + interval '1 minute') AS of_now,
       bool_and(id = snowid_encode(snowid_timestamp(id, l.layout), 3, snowid_sequence(id, l.layout), l.layout)) AS encoded,
       bool_and(ordered) AS ordered
  FROM (SELECT name, name::snowid_layout AS layout FROM named) l,
       LATERAL (SELECT id, id > lag(id, 1, 0::bigint) OVER () AS ordered
                  FROM (SELECT snowid_next(3, layout) AS id FROM generate_series(1, 500)) drawn) ids
 GROUP BY l.name ORDER BY l.name;
SELECT snowid_reserve(3, 4096, 'twitter') AS first \gset
SELECT snowid_sequence(:first, 'twitter') AS sequence, snowid_next(3, 'leaf') > :first + 4095 AS past;
SELECT attempt($$SELECT snowid_reserve(3, 4097, 'twitter')$$);
SELECT attempt($$SELECT snowid_next(32, 'js53')$$);
SET snowid.default_shard = 3;
SELECT snowid_shard(snowid_next(snowid_default_shard(), 'pgedge'), 'pgedge');
RESET snowid.default_shard;
SELECT snowid_next(NULL, 'js53') IS NULL AND snowid_next(1, NULL) IS NULL AS null_in_null_out;
DROP TABLE named;
