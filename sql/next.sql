-- Issuing IDs: the default, shards, batches, reserved runs, and what is refused. test/t/portable/same_regression.pl runs
-- this with portable/snowid.sql, too.

-- As a column default.
CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(), n int);
INSERT INTO photos (n) SELECT generate_series(1, 5000);
SELECT count(DISTINCT id), min(id) > 0 AS positive,
       array_agg(n ORDER BY n) = array_agg(n ORDER BY id) AS in_order,
       bool_and(snowid_shard(id) = 0) AS shard_0,
       bool_and(snowid_timestamp(id) BETWEEN now() - interval '1 minute' AND now() + interval '1 minute')
         AS of_now
  FROM photos;

-- Low bits are evenly spread: 5,000 consecutive IDs use every sequence.
SELECT count(DISTINCT id % 1024) FROM photos;
DROP TABLE photos;

-- Shards: by argument, or by the setting.
SELECT snowid_shard(snowid_next(0)), snowid_shard(snowid_next(8191));
SET snowid.default_shard = 5;
SELECT snowid_shard(snowid_next());
SET snowid.default_shard = 8192;
SELECT attempt('SELECT snowid_next()');
RESET snowid.default_shard;
SELECT attempt('SELECT snowid_next(-1)');
SELECT attempt('SELECT snowid_next(8192)');
SELECT attempt(format('SELECT snowid_next(%s)', shard))
  FROM unnest(ARRAY[2147483647, -2147483648, 4294967296, 9223372036854775807, -9223372036854775807]) shard;
-- What other types of numbers come to, without a cast.
SELECT snowid_shard(snowid_next(id % 64)) FROM unnest(ARRAY[130]::bigint[]) id;
SELECT snowid_shard(snowid_next(3::smallint));
SELECT snowid_next(NULL) IS NULL AS null_in_null_out;

-- Many shards in one session, each of which keeps its own order.
SELECT count(DISTINCT id) AS ids, bool_and(ordered) AS in_order FROM (
  SELECT id, id > lag(id, 1, 0::bigint) OVER (PARTITION BY snowid_shard(id) ORDER BY n) AS ordered
    FROM (SELECT n, snowid_next(n % 1000) AS id FROM generate_series(0, 19999) n) drawn) checked;

-- Batches.
SELECT count(*), count(DISTINCT id), bool_and(id > coalesce(before, 0)) AS increasing,
       bool_and(snowid_shard(id) = 3) AS shard_3
  FROM (SELECT id, lag(id) OVER () AS before FROM snowid_next_batch(3, 10000) id) batch;
SELECT snowid_next(3) AS after \gset
SELECT min(id) > :after AS above FROM snowid_next_batch(3, 10) id;
SELECT count(*) FROM snowid_next_batch(3, 0);
SELECT count(*) FROM (SELECT snowid_next_batch(3, 100000) LIMIT 3) read_in_part;
SELECT attempt('SELECT snowid_next_batch(3, -1)');
SELECT attempt('SELECT snowid_next_batch(8192, 1)');
SELECT count(*) FROM snowid_next_batch(NULL, 1);
SELECT count(*) FROM snowid_next_batch(1, NULL);
-- Without a shard they are of that of snowid_next(), and any count is a count.
SET snowid.default_shard = 6;
SELECT count(DISTINCT id), bool_and(snowid_shard(id) = 6) AS shard_6 FROM snowid_next_batch(3000) id;
RESET snowid.default_shard;
SELECT count(*), max(snowid_shard(id)) FROM (SELECT snowid_next_batch(7, 5) AS id) of_shard_7;
SELECT count(*) FROM snowid_next_batch(NULL);
SELECT attempt('SELECT snowid_next_batch(-1)');

-- Reserved runs: consecutive bigints of one time unit, nobody else's.
SELECT snowid_reserve(4, 1000) AS first \gset
SELECT snowid_next(4) AS next \gset
SELECT :next > :first + 999 AS past_the_run, snowid_timestamp(:first) = snowid_timestamp(:first + 999)
         AS one_unit, snowid_sequence(:first + 999) - snowid_sequence(:first) AS sequences;
SELECT snowid_reserve(4, 1024) AS first \gset
SELECT snowid_sequence(:first);
SELECT count(*), count(DISTINCT first / 1024) FROM (
  SELECT snowid_reserve(4, 1024) AS first FROM generate_series(1, 100)) runs;
SELECT attempt('SELECT snowid_reserve(4, 0)');
SELECT attempt('SELECT snowid_reserve(4, 1025)');
SELECT attempt('SELECT snowid_reserve(8192, 1)');
SELECT snowid_reserve(NULL, 1) IS NULL AND snowid_reserve(1, NULL) IS NULL AS null_in_null_out;
SET snowid.default_shard = 6;
SELECT snowid_reserve(9) AS first \gset
RESET snowid.default_shard;
SELECT snowid_shard(:first), snowid_shard(:first + 8), snowid_next(6) > :first + 8 AS past_the_run;
SELECT attempt('SELECT snowid_reserve(1025)');

-- Refused where nextval is refused.
SET default_transaction_read_only = on;
SELECT attempt('SELECT snowid_next()');
SELECT attempt('SELECT snowid_next(1)');
SELECT attempt('SELECT snowid_next_batch(1, 1)');
SELECT attempt('SELECT snowid_reserve(1, 1)');
SELECT attempt('SELECT snowid_next_batch(1)');
SELECT attempt('SELECT snowid_reserve(1)');
SELECT snowid_shard(4096) AS reading_is_not_refused;
RESET default_transaction_read_only;
