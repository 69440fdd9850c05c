-- Partitions by the time of IDs: which are made, what they are like, which are dropped, and what is refused.
-- Dates are fixed: each table has a first partition made by hand, which the others go on from; and one to come, where
-- partitions are dropped, for some must stay.
--
-- By IDs here; tables/partitions_by_uuid.pl has it done by UUIDs of version 7, with the same results. A column that the
-- functions of partitions go by is of the type in "key", with its constraint. What is about layouts stays with bigint.

\if :{?key}
\else
  \set type bigint
  \set key bigint
  \set next snowid_next()
  \set first_at snowid_first_at(moment)
  \set within 'snowid_first_at(moment) + 12345'
  \set timestamp_of snowid_timestamp(key)
  \set in_range 'snowid_in_range(key, since, before)'
\endif
CREATE FUNCTION first_at(moment timestamptz) RETURNS :type IMMUTABLE LANGUAGE sql RETURN :first_at;
CREATE FUNCTION within(moment timestamptz) RETURNS :type IMMUTABLE LANGUAGE sql RETURN :within;
CREATE FUNCTION timestamp_of(key :type) RETURNS timestamptz IMMUTABLE LANGUAGE sql RETURN :timestamp_of;
CREATE FUNCTION in_time(key :type, since timestamptz, before timestamptz) RETURNS boolean IMMUTABLE LANGUAGE sql RETURN :in_range;

\set SHOW_CONTEXT never
SET timezone = 'America/New_York';
SET datestyle = 'ISO';
SET intervalstyle = 'postgres';

-- Partitions of a table, with the moments that they are from and to, in UTC.
CREATE FUNCTION moment_of(bound text, layout snowid_layout) RETURNS timestamp LANGUAGE sql AS $$
  SELECT CASE WHEN bound <> 'MINVALUE' AND bound <> 'MAXVALUE' THEN
    CASE WHEN length(bound) = 36 THEN snowid_uuid_timestamp(bound::uuid) ELSE snowid_timestamp(bound::bigint, layout) END END AT TIME ZONE 'UTC' $$;
CREATE FUNCTION parts_of(parent regclass, layout snowid_layout DEFAULT 'instagram')
  RETURNS TABLE (part regclass, begins timestamp, ends timestamp) LANGUAGE sql AS $$
  SELECT inhrelid::regclass, moment_of(m[1], layout), moment_of(m[2], layout)
    FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid,
         regexp_match(pg_get_expr(relpartbound, inhrelid), $x$FROM \('?(.*?)'?\) TO \('?(.*?)'?\)$x$) AS m
   WHERE inhparent = parent ORDER BY 2 NULLS FIRST, inhrelid::regclass::text $$;

-- What a query looks into.
CREATE FUNCTION scanned(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  plan jsonb;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  RETURN QUERY SELECT jsonb_path_query(plan, '$.**."Relation Name"') #>> '{}' ORDER BY 1;
END $$;

-- Months. They are UTC's, whatever the session's time zone, and begin where the last one ends.
CREATE TABLE photos (id :key PRIMARY KEY DEFAULT :next, title text) PARTITION BY RANGE (id);
CREATE TABLE photos_old PARTITION OF photos FOR VALUES FROM (MINVALUE) TO (first_at('2016-10-01Z'));
SELECT snowid.create_partitions('photos', '1 month', '2016-12-15Z');
SELECT * FROM parts_of('photos');
-- Again there is nothing to do, nor for a moment before.
SELECT snowid.create_partitions('photos', '1 month', '2016-12-31 23:59:59Z');
SELECT snowid.create_partitions('photos', '1 month', '2013-01-01Z');
-- The period that holds `until` is made: here it is the first moment of one.
SELECT * FROM snowid.create_partitions('photos', '1 month', '2017-01-01Z');

-- Rows land where their time is, and snowid_in_range looks into no other partition.
INSERT INTO photos SELECT first_at(moment), moment::text FROM unnest(ARRAY[
  '2016-09-30 23:59:59.999Z', '2016-10-01 00:00:00Z', '2016-10-31 23:59:59.999Z', '2016-11-01 00:00:00Z',
  '2016-12-31 23:59:59.999Z', '2017-01-01 00:00:00Z']::timestamptz[]) AS moment;
SELECT tableoid::regclass, timestamp_of(id) AT TIME ZONE 'UTC' AS made FROM photos ORDER BY id;
SELECT scanned($$SELECT FROM photos WHERE in_time(id, '2016-11-01Z', '2016-12-01Z')$$);
SELECT scanned($$SELECT FROM photos WHERE in_time(id, '2016-11-30 23:00Z', '2016-12-01 00:00:00.001Z')$$);

-- Other steps go on from where the last one ended: the first is shorter, and named by where it begins.
SELECT snowid.create_partitions('photos', '7 days', '2017-02-08Z');
SELECT snowid.create_partitions('photos', '3 months', '2017-04-01Z');
SELECT snowid.create_partitions('photos', '1 year', '2018-12-31Z');
SELECT snowid.create_partitions('photos', '1 day', '2019-01-02Z');
SELECT snowid.create_partitions('photos', '6 hours', '2019-01-03 12:00Z');
SELECT * FROM parts_of('photos') WHERE begins >= '2017-02-01';

-- Made by hand, with an end in the middle of a month, and in another schema; and a gap, which stays one.
CREATE SCHEMA attic;
CREATE TABLE odd (id :key DEFAULT :next) PARTITION BY RANGE (id);
CREATE TABLE attic.odd_first PARTITION OF odd FOR VALUES FROM (MINVALUE) TO (first_at('2016-03-01Z'));
CREATE TABLE attic.odd_other PARTITION OF odd
  FOR VALUES FROM (first_at('2016-05-01Z')) TO (within('2016-06-15 13:07:01Z'));
SELECT snowid.create_partitions('odd', '1 month', '2016-08-01Z');
SELECT * FROM parts_of('odd');
-- Where the last has no end there is nothing to make.
CREATE TABLE odd_rest PARTITION OF odd FOR VALUES FROM (first_at('2016-09-01Z')) TO (MAXVALUE);
SELECT snowid.create_partitions('odd', '1 month', '2020-01-01Z');

-- From now on there is no gap. Where the first partition is one to come, those before it are made from the current one on.
SELECT date_trunc('month', now() AT TIME ZONE 'UTC') AS month \gset
CREATE TABLE ahead (id :key DEFAULT :next) PARTITION BY RANGE (id);
CREATE TABLE ahead_far PARTITION OF ahead
  FOR VALUES FROM (first_at((:'month'::timestamp + '2 months 9 days') AT TIME ZONE 'UTC'))
  TO (first_at((:'month'::timestamp + '3 months 9 days') AT TIME ZONE 'UTC'));
CREATE VIEW ahead_now AS
  SELECT row_number() OVER w AS n, part = 'ahead_far'::regclass AS is_by_hand, begins = :'month' AS is_now,
      begins = lag(ends) OVER w AS no_gap, extract(day FROM begins) AS "from", extract(day FROM ends) AS until
    FROM parts_of('ahead') WINDOW w AS (ORDER BY begins);
SELECT count(*) FROM snowid.create_partitions('ahead', '1 month', :'month'::timestamp + '1 month 5 days');
SELECT * FROM ahead_now;
SELECT count(*) FROM snowid.create_partitions('ahead', '1 month', :'month'::timestamp + '5 months 5 days');
SELECT * FROM ahead_now;
INSERT INTO ahead DEFAULT VALUES;
SELECT to_char(:'month'::timestamp + '1 month', '"ahead_"YYYY_MM') AS next_month \gset
DROP TABLE :next_month;
SELECT name::text = :'next_month' AS is_it FROM snowid.create_partitions('ahead', '1 month', :'month'::timestamp + '5 months') AS name;
SELECT count(*), bool_and(no_gap) FROM ahead_now;
-- One that has no end is the last.
CREATE TABLE ahead_end PARTITION OF ahead FOR VALUES FROM (first_at((:'month'::timestamp + '7 months 9 days') AT TIME ZONE 'UTC')) TO (MAXVALUE);
SELECT count(*) FROM snowid.create_partitions('ahead', '1 month', :'month'::timestamp + '20 months');
SELECT snowid.create_partitions('ahead', '1 month', :'month'::timestamp + '40 months');
DROP VIEW ahead_now;
DROP TABLE ahead;

-- The table may be a partition itself, and the column any of it.
CREATE TABLE regions (region text, id :key NOT NULL DEFAULT :next) PARTITION BY LIST (region);
CREATE TABLE regions_eu PARTITION OF regions FOR VALUES IN ('eu') PARTITION BY RANGE (id);
CREATE TABLE regions_eu_0 PARTITION OF regions_eu FOR VALUES FROM (MINVALUE) TO (first_at('2016-11-01Z'));
SELECT snowid.create_partitions('regions_eu', '1 month', '2016-11-01Z');
INSERT INTO regions VALUES ('eu', first_at('2016-11-11Z'));
SELECT tableoid::regclass FROM regions;

-- What a partition is like: as those that PARTITION OF makes, and what is published of it too.
CREATE ROLE owner_of_all;
CREATE SCHEMA "Its Own" AUTHORIZATION owner_of_all;
CREATE TABLE users (id int PRIMARY KEY);
GRANT REFERENCES ON users TO owner_of_all;
SET ROLE owner_of_all;
CREATE FUNCTION "Its Own".note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TABLE "Its Own"."Odd ""Name""" (
  gone int, "Key" bigint NOT NULL DEFAULT public.snowid_next(public.snowid_default_shard(), 'instagram'), made timestamptz GENERATED ALWAYS AS (snowid_timestamp("Key")) STORED,
  n int GENERATED BY DEFAULT AS IDENTITY, title text NOT NULL DEFAULT 'none' CHECK (title <> ''),
  user_id int REFERENCES public.users, PRIMARY KEY ("Key")) PARTITION BY RANGE ("Key");
ALTER TABLE "Its Own"."Odd ""Name""" DROP COLUMN gone;
ALTER TABLE "Its Own"."Odd ""Name""" ALTER title SET STORAGE EXTERNAL;
CREATE INDEX by_title ON "Its Own"."Odd ""Name""" (lower(title));
CREATE TRIGGER note BEFORE INSERT ON "Its Own"."Odd ""Name""" FOR EACH ROW EXECUTE FUNCTION "Its Own".note();
ALTER TABLE "Its Own"."Odd ""Name""" REPLICA IDENTITY FULL;
CREATE TABLE "Its Own".first PARTITION OF "Its Own"."Odd ""Name""" FOR VALUES FROM (0) TO (snowid_first_at('2016-11-01Z'));
RESET ROLE;
SELECT snowid.create_partitions('"Its Own"."Odd ""Name"""', '1 month', '2016-11-01Z');
SELECT oid AS part, relowner::regrole, relreplident FROM pg_class WHERE relname = 'Odd "Name"_2016_11' \gset
SELECT :'relowner' AS owner, :'relreplident' AS replica_identity;
SELECT attname, attnotnull, attgenerated, attstorage, pg_get_expr(adbin, adrelid) AS expression
  FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
 WHERE attrelid = :part AND attnum > 0 ORDER BY attnum;
SELECT indexrelid::regclass, indisprimary FROM pg_index WHERE indrelid = :part ORDER BY 1;
SELECT contype, coninhcount, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = :part AND contype IN ('c', 'f') ORDER BY 1;
SELECT tgname, tgparentid <> 0 AS is_cloned FROM pg_trigger WHERE tgrelid = :part AND NOT tgisinternal;
INSERT INTO "Its Own"."Odd ""Name""" ("Key") VALUES (snowid_first_at('2016-11-05Z'));
SELECT tableoid::regclass, n, title, made = '2016-11-05Z' AS made FROM "Its Own"."Odd ""Name""";
-- The index that is the replica identity is the partition's own.
CREATE TABLE quick (id :key NOT NULL DEFAULT :next, other bigint NOT NULL) PARTITION BY RANGE (id);
CREATE UNIQUE INDEX quick_key ON quick (id, other);
ALTER TABLE quick REPLICA IDENTITY USING INDEX quick_key;
CREATE TABLE quick_0 PARTITION OF quick FOR VALUES FROM (MINVALUE) TO (first_at('2016-11-01Z'));
SELECT snowid.create_partitions('quick', '1 month', '2016-11-01Z');
SELECT relreplident, (SELECT count(*) FROM pg_index WHERE indrelid = pg_class.oid AND indisreplident)
  FROM pg_class WHERE relname = 'quick_2016_11';

-- Names that would be too long are shortened, and those of two tables stay apart.
CREATE TABLE a_table_whose_name_is_as_long_as_a_name_can_be_in_postgresql_1 (id :key DEFAULT :next) PARTITION BY RANGE (id);
CREATE TABLE a_table_whose_name_is_as_long_as_a_name_can_be_in_postgresql_2 (id :key DEFAULT :next) PARTITION BY RANGE (id);
CREATE TABLE long_1 PARTITION OF a_table_whose_name_is_as_long_as_a_name_can_be_in_postgresql_1
  FOR VALUES FROM (MINVALUE) TO (first_at('2016-11-01Z'));
CREATE TABLE long_2 PARTITION OF a_table_whose_name_is_as_long_as_a_name_can_be_in_postgresql_2
  FOR VALUES FROM (MINVALUE) TO (first_at('2016-11-01Z'));
SELECT regexp_replace(p::text, '_[0-9a-f]{8}_', '_HASH_') AS name, length(p::text)
  FROM pg_class c, snowid.create_partitions(c.oid, '1 month', '2016-11-01Z') p
 WHERE relname LIKE 'a_table%' ORDER BY relname;
-- No character is cut in two.
CREATE TABLE "xäääääääääääääääääääääääääääääää" (id :key DEFAULT :next) PARTITION BY RANGE (id);
CREATE TABLE long_3 PARTITION OF "xäääääääääääääääääääääääääääääää" FOR VALUES FROM (MINVALUE) TO (first_at('2016-11-01Z'));
SELECT regexp_replace(p::text, '_[0-9a-f]{8}_', '_HASH_') AS name, octet_length(p::text) AS bytes
  FROM snowid.create_partitions('"xäääääääääääääääääääääääääääääää"', '1 month', '2016-11-01Z') p;

-- Another layout; its last partition has no end.
CREATE TABLE ticks (id bigint DEFAULT snowid_next(0, 'baidu')) PARTITION BY RANGE (id);
CREATE TABLE ticks_0 PARTITION OF ticks FOR VALUES FROM (0) TO (snowid_first_at('2024-11-01Z', 'baidu'));
SELECT snowid.create_partitions('ticks', '1 month', '2024-11-01Z', 'baidu');
SELECT pg_get_expr(relpartbound, oid) ~ 'TO \(MAXVALUE\)' AS no_end FROM pg_class WHERE relname = 'ticks_2024_11';
SELECT attempt($$SELECT snowid.create_partitions('ticks', '1 month', '2025-01-01Z', 'baidu')$$);
SELECT snowid.create_partitions('ticks', '1 month', '2024-11-10Z', 'baidu');
-- That of a table whose default says none is given.
CREATE TABLE own_days (id bigint) PARTITION BY RANGE (id);
CREATE TABLE own_days_0 PARTITION OF own_days FOR VALUES FROM (MINVALUE) TO (0);
SELECT snowid.create_partitions('own_days', '7 days', '2016-01-10Z', 'time:20 shard:10 seq:10 unit:1d epoch:2016-01-01T12:00:00Z');
SELECT * FROM parts_of('own_days', 'time:20 shard:10 seq:10 unit:1d epoch:2016-01-01T12:00:00Z');

-- The longest steps there are.
CREATE TABLE ages (id bigint DEFAULT snowid_next()) PARTITION BY RANGE (id);
CREATE TABLE ages_0 PARTITION OF ages FOR VALUES FROM (0) TO (snowid_first_at('2016-11-01Z'));
BEGIN;
SELECT snowid.create_partitions('ages', '100 years', '2016-11-01Z');
SELECT * FROM snowid.partitions WHERE parent = 'ages'::regclass;
ROLLBACK;
SELECT snowid.create_partitions('ages', '36525 days', '2016-11-01Z');
INSERT INTO ages VALUES (9223372036854775807);

-- Dropped is what ends before a moment, wherever it is; what only begins before it is not.
SELECT snowid.drop_partitions('odd', '2016-04-15Z');
SELECT snowid.drop_partitions('odd', '2016-06-15Z');
SELECT snowid.drop_partitions('odd', '2016-07-01Z');
SELECT * FROM parts_of('odd');
SELECT snowid.drop_partitions('odd', '2016-07-01Z');
SELECT to_regclass('attic.odd_first'), to_regclass('attic.odd_other'), to_regclass('odd_2016_06_15_130701');
-- One that has no beginning ends all the same, and one that has no end does not. IDs are kept that were made
-- at the moment itself.
SELECT snowid.detach_partitions('photos', '2016-11-01Z');
SELECT tableoid::regclass, count(*) FROM photos GROUP BY 1 ORDER BY 1;
SELECT relispartition, (SELECT count(*) FROM photos_2016_10) FROM pg_class WHERE relname = 'photos_2016_10';
SELECT snowid.drop_partitions('ticks', '2024-11-10Z', 'baidu');
-- (Where no default says the layout, there must be partitions to come.)
ALTER TABLE own_days ALTER id SET DEFAULT snowid_next(0, 'time:20 shard:10 seq:10 unit:1d epoch:2016-01-01T12:00:00Z');
-- Before the layout's first moment there is nothing, whatever ends there.
SELECT snowid.drop_partitions('own_days', '2016-01-01 11:59:59Z'), snowid.detach_partitions('own_days', now() - interval '200 years');
SELECT snowid.drop_partitions('own_days', '2016-01-01 12:00Z', 'time:20 shard:10 seq:10 unit:1d epoch:2016-01-01T12:00:00Z');
ALTER TABLE own_days ALTER id DROP DEFAULT;
-- Partitioned ones go with theirs.
CREATE TABLE odd_hashed PARTITION OF odd FOR VALUES FROM (MINVALUE) TO (first_at('2013-01-01Z')) PARTITION BY HASH (id);
CREATE TABLE odd_hashed_0 PARTITION OF odd_hashed FOR VALUES WITH (MODULUS 1, REMAINDER 0);
SELECT snowid.drop_partitions('odd', '2013-01-01Z');
SELECT to_regclass('odd_hashed_0');
-- A foreign table goes as one.
CREATE FOREIGN DATA WRAPPER nothing;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;
CREATE FOREIGN TABLE odd_far PARTITION OF odd FOR VALUES FROM (MINVALUE) TO (first_at('2013-01-01Z')) SERVER nowhere;
SELECT snowid.drop_partitions('odd', '2013-01-01Z');
-- What refers to rows keeps them; what does not, lets them go.
CREATE TABLE likes (photo_id :type REFERENCES photos);
INSERT INTO likes SELECT id FROM photos WHERE tableoid = 'photos_2016_12'::regclass;
SELECT snowid.detach_partitions('photos', '2016-10-01Z');
SELECT attempt($$SELECT snowid.drop_partitions('photos', now() - interval '-1 day')$$) LIKE '22023 | cannot remove partitions of the future%' AS future;
CREATE TABLE past (id :key PRIMARY KEY DEFAULT :next) PARTITION BY RANGE (id);
CREATE TABLE past_0 PARTITION OF past FOR VALUES FROM (MINVALUE) TO (first_at('2019-12-01Z'));
SELECT snowid.create_partitions('past', '1 month', '2020-03-01Z');
CREATE TABLE past_likes (past_id :type REFERENCES past ON DELETE CASCADE);
INSERT INTO past SELECT first_at('2020-01-15Z');
INSERT INTO past_likes SELECT id FROM past;
SELECT left(attempt($$SELECT snowid.drop_partitions('past', '2020-02-01Z')$$), 5) AS sqlstate;
SELECT count(*) FROM past_likes;
SELECT snowid.drop_partitions('past', '2020-01-31Z');
DELETE FROM past_likes;
SELECT snowid.drop_partitions('past', '2020-02-01Z');
CREATE VIEW upon AS SELECT * FROM past_2020_02;
SELECT left(attempt($$SELECT snowid.drop_partitions('past', '2020-03-01Z')$$), 5) AS sqlstate;
SELECT snowid.detach_partitions('past', '2020-03-01Z');

-- The default partition is never dropped. Where rows in it belong to new partitions, none is made, and nothing is
-- moved. What is said to move them does, whatever the columns are like.
CREATE TABLE notes (n int GENERATED ALWAYS AS IDENTITY, id :key PRIMARY KEY DEFAULT :next,
  day date GENERATED ALWAYS AS (timestamp_of(id)::timestamptz AT TIME ZONE 'UTC') STORED, "the Body" text) PARTITION BY RANGE (id);
CREATE TABLE notes_0 PARTITION OF notes FOR VALUES FROM (MINVALUE) TO (first_at('2020-01-01Z'));
CREATE TABLE "Notes' ""rest""" ("the Body" text, id :key NOT NULL, dropped int, day date GENERATED ALWAYS AS (timestamp_of(id)::timestamptz AT TIME ZONE 'UTC') STORED, n int NOT NULL);
ALTER TABLE "Notes' ""rest""" DROP COLUMN dropped;
ALTER TABLE notes ATTACH PARTITION "Notes' ""rest""" DEFAULT;
INSERT INTO notes (id, "the Body") SELECT first_at('2019-12-31Z'::timestamptz + n * interval '10 days'), repeat('x', n * 1000) FROM generate_series(0, 9) n;
CREATE FUNCTION hint_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  hint text;
BEGIN
  EXECUTE statement;
  RETURN NULL;
EXCEPTION WHEN object_not_in_prerequisite_state THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN hint;
END $$;
SELECT attempt($$SELECT snowid.create_partitions('notes', '1 month', '2020-02-29Z')$$);
-- The moment in them is the same to any session. Its own form would be Israel's time here.
SET datestyle = 'SQL, DMY';
SET timezone = 'Asia/Kolkata';
SELECT substring(hint_of($$SELECT snowid.create_partitions('notes', '1 month', '2020-02-29Z')$$) FROM $$'[^']*'[)];$$) AS moment;
SET timezone = 'America/New_York';
SET datestyle = 'ISO';
SELECT tableoid::regclass, n, day, length("the Body") FROM notes ORDER BY id;
SELECT statement FROM regexp_split_to_table(hint_of($$SELECT snowid.create_partitions('notes', '1 month', '2020-02-29Z')$$), '\n')
  WITH ORDINALITY AS s (statement, n) WHERE n > 1 ORDER BY n \gexec
SELECT tableoid::regclass, n, day, length("the Body") FROM notes ORDER BY id;
SELECT snowid.drop_partitions('notes', '2020-02-01Z');
-- So it is without an end, and where the default partition is partitioned itself.
CREATE TABLE far (id bigint DEFAULT snowid_next(0, 'baidu')) PARTITION BY RANGE (id);
CREATE TABLE far_0 PARTITION OF far FOR VALUES FROM (0) TO (snowid_first_at('2024-11-01Z', 'baidu'));
CREATE TABLE far_default PARTITION OF far DEFAULT PARTITION BY HASH (id);
CREATE TABLE far_default_0 PARTITION OF far_default FOR VALUES WITH (MODULUS 1, REMAINDER 0);
INSERT INTO far VALUES (snowid_first_at('2024-11-02Z', 'baidu'));
SELECT attempt($$SELECT snowid.create_partitions('far', '1 month', '2024-11-01Z')$$);
DELETE FROM far;
SELECT snowid.create_partitions('far', '1 month', '2024-11-01Z');
-- Owners that may not see all rows are refused by PostgreSQL itself. A superuser sees them.
CREATE TABLE veiled (id :key DEFAULT :next) PARTITION BY RANGE (id);
CREATE TABLE veiled_0 PARTITION OF veiled FOR VALUES FROM (MINVALUE) TO (first_at('2020-01-01Z'));
CREATE TABLE veiled_default PARTITION OF veiled DEFAULT;
INSERT INTO veiled VALUES (first_at('2020-01-05Z'));
ALTER TABLE veiled_default ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
DO $$ DECLARE t text; BEGIN
  FOREACH t IN ARRAY ARRAY['veiled', 'veiled_0', 'veiled_default'] LOOP EXECUTE format('ALTER TABLE %I OWNER TO owner_of_all', t); END LOOP;
END $$;
GRANT CREATE ON SCHEMA public TO owner_of_all;
SET ROLE owner_of_all;
SELECT attempt($$SELECT snowid.create_partitions('veiled', '1 month', '2020-01-01Z')$$);
RESET ROLE;
SELECT left(attempt($$SELECT snowid.create_partitions('veiled', '1 month', '2020-01-01Z')$$), 77);

-- The layout is that of the column's default, where that is a call of snowid_next() with constants. Another one that is
-- given is refused; where the default says none, one must be given. So it is for all three.
CREATE TABLE said (id bigint) PARTITION BY RANGE (id);
CREATE TABLE said_0 PARTITION OF said FOR VALUES FROM (0) TO (1);
CREATE FUNCTION same(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT $1';
CREATE SCHEMA beside;
CREATE FUNCTION beside.snowid_next() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
DO $$
DECLARE
  source text;
BEGIN
  FOREACH source IN ARRAY ARRAY['snowid_next()', 'snowid_next(7::bigint)', $x$snowid_next('7')$x$, $x$snowid_next(7, 'twitter')$x$,
    $x$snowid_next('5000000000', 'time:30 shard:33 seq:1 unit:1s epoch:2020-01-01T00:00:00Z')$x$,
    $x$snowid_next(snowid_default_shard(), 'twitter'::snowid_layout)$x$, 'snowid_next(same(7))', 'snowid_next() + 0',
    'snowid_next(shard => 7)', $x$snowid_next(shard => 7, layout => 'twitter')$x$, $x$snowid_next(7, layout => 'twitter')$x$,
    $x$snowid_next(layout => 'twitter', shard => '5000000000')$x$, $x$snowid_next(shard := snowid_default_shard(), layout := 'twitter')$x$,
    $x$snowid_next(layout => 'twitter', shard => same(7))$x$,
    'same(snowid_next())', 'beside.snowid_next()', 'snowid_next(7)', $x$snowid_next(same(7), 'twitter')$x$, '1', 'NULL'] LOOP
    IF source = 'snowid_next(7)' THEN CREATE FUNCTION public.snowid_next(integer) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'; END IF;
    EXECUTE 'ALTER TABLE said ALTER id SET DEFAULT ' || source;
    RAISE NOTICE '%: %', source, (SELECT s FROM snowid.source_of_ids('said'::regclass, 1::int2) AS s);
  END LOOP;
END $$;
DROP FUNCTION snowid_next(integer) CASCADE;
SELECT attempt(call) FROM unnest(ARRAY[$$SELECT snowid.create_partitions('said', '1 month', '2020-01-01Z')$$,
  $$SELECT snowid.drop_partitions('said', '2020-01-01Z')$$, $$SELECT snowid.detach_partitions('said', '2020-01-01Z')$$]) AS call;
ALTER TABLE said ALTER id SET DEFAULT snowid_next(7, 'twitter');
SELECT attempt(call) FROM unnest(ARRAY[$$SELECT snowid.create_partitions('said', '1 month', '2020-01-01Z', 'instagram')$$,
  $$SELECT snowid.drop_partitions('said', '2020-01-01Z', 'instagram')$$, $$SELECT snowid.detach_partitions('said', '2020-01-01Z', 'instagram')$$]) AS call;
SELECT attempt($$SELECT snowid.drop_partitions('said', '2020-01-01Z', 'twitter')$$);
DROP TABLE said;

-- Whatever is asked for, the partition of now stays, and all after it; and some partition always does.
CREATE TABLE tweets (id bigint, body text) PARTITION BY RANGE (id);
SELECT count(*) FROM snowid.create_partitions('tweets', '1 month', now() + interval '2 months', 'twitter');
CREATE TABLE tweets_old PARTITION OF tweets FOR VALUES FROM (0) TO (snowid_first_at('2020-01-01Z', 'twitter'));
INSERT INTO tweets VALUES (snowid_next(1, 'twitter'));
-- (By Instagram's layout all of this is old.)
SELECT attempt($$SELECT snowid.drop_partitions('tweets', date_trunc('month', now()), 'instagram')$$);
-- Whatever rows there are, and none.
CREATE TABLE tweets_to_come PARTITION OF tweets FOR VALUES FROM (snowid_first_at('2060-01-01Z', 'twitter')) TO (MAXVALUE);
INSERT INTO tweets VALUES (9100000000000000000);
SELECT attempt($$SELECT snowid.drop_partitions('tweets', date_trunc('month', now()), 'instagram')$$);
DELETE FROM tweets;
SELECT attempt($$SELECT snowid.detach_partitions('tweets', date_trunc('month', now()), 'instagram')$$);
DROP TABLE tweets_to_come;
SELECT snowid.drop_partitions('tweets', now(), 'twitter');
SELECT count(*) AS stay FROM pg_inherits WHERE inhparent = 'tweets'::regclass;
SELECT snowid.drop_partitions('tweets', now(), 'twitter');
DROP TABLE tweets;
-- An ID has the time at which its unit began: where units are long that may be in the period before this one.
SELECT format('CREATE TABLE %1$I (id bigint PRIMARY KEY DEFAULT snowid_next(1, %2$L), b int) PARTITION BY RANGE (id)', name, layout),
    format('SELECT count(*) > 0 AS made FROM snowid.create_partitions(%L, %L, now() + interval ''2 days'')', name, step),
    format('INSERT INTO %I VALUES (snowid_encode(now(), 1, 0, %L), 1)', name, layout),
    format('SELECT count(*) AS dropped FROM snowid.drop_partitions(%L, now())', name),
    format('SELECT count(*) AS rows FROM %I', name), format('DROP TABLE %I', name)
  FROM (VALUES ('late_days', 'time:20 shard:10 seq:20 unit:1d epoch:2020-01-01T20:00:00Z', '1 day'),
    ('half_hours', 'time:24 shard:10 seq:20 unit:1h epoch:2020-01-01T00:30:00Z', '1 hour')) AS t (name, layout, step) \gexec

-- At most so many at once, the oldest first.
CREATE TABLE many (id :key DEFAULT :next) PARTITION BY RANGE (id);
CREATE TABLE many_0 PARTITION OF many FOR VALUES FROM (MINVALUE) TO (first_at('2020-01-01Z'));
SELECT count(*) FROM snowid.create_partitions('many', '1 day', '2020-06-01Z');
SELECT count(*), max(name) FROM snowid.drop_partitions('many', '2020-05-01Z') AS name;
SELECT name FROM snowid.drop_partitions('many', '2020-05-01Z', max_partitions => 2) AS name;
SELECT part FROM snowid.detach_partitions('many', '2020-05-01Z', max_partitions => 1) AS part;
SELECT count(*) FROM snowid.drop_partitions('many', '2020-05-01Z', NULL, 100);
SELECT count(*) FROM snowid.drop_partitions('many', '2020-05-01Z');
SELECT attempt(format('SELECT snowid.drop_partitions(%L, %L, max_partitions => %s)', 'many', '2020-05-01Z', most)) FROM unnest(ARRAY['0', '-1', 'NULL']) AS most;
DROP TABLE many, many_2020_04_11;

-- What partitions there are.
CREATE TABLE shown (id bigint NOT NULL DEFAULT snowid_next(1, 'twitter')) PARTITION BY RANGE (id);
CREATE TABLE shown_0 PARTITION OF shown FOR VALUES FROM (MINVALUE) TO (snowid_first_at('2020-01-01Z', 'twitter'));
SELECT snowid.create_partitions('shown', '1 month', '2020-01-01Z');
CREATE TABLE shown_sub PARTITION OF shown FOR VALUES FROM (snowid_first_at('2020-03-01Z', 'twitter')) TO (MAXVALUE) PARTITION BY HASH (id);
CREATE TABLE shown_sub_0 PARTITION OF shown_sub FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE shown_sub_1 PARTITION OF shown_sub FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE shown_rest PARTITION OF shown DEFAULT;
SELECT partition, estimated_rows FROM snowid.partitions WHERE parent = 'shown'::regclass ORDER BY 1;
INSERT INTO shown SELECT snowid_first_at('2020-03-01Z', 'twitter') + n FROM generate_series(0, 9) AS n;
INSERT INTO shown SELECT snowid_first_at('2020-02-01Z', 'twitter') + n FROM generate_series(0, 2) AS n;
ANALYZE shown;
SET ROLE owner_of_all;
SELECT partition, layout, range_start AT TIME ZONE 'UTC' AS range_start, range_end AT TIME ZONE 'UTC' AS range_end, is_default, estimated_rows
  FROM snowid.partitions WHERE parent = 'shown'::regclass ORDER BY 1;
RESET ROLE;
-- A bound that is no ID has no time, and is no reason to fail for all other tables.
CREATE TABLE odd_units (id bigint DEFAULT snowid_next(0, 'shard:1 time:61 seq:1 unit:1d epoch:2020-01-01T00:00:00Z')) PARTITION BY RANGE (id);
CREATE TABLE odd_units_0 PARTITION OF odd_units FOR VALUES FROM (0) TO (2305843009213693952);
CREATE TABLE odd_units_1 PARTITION OF odd_units FOR VALUES FROM (2305843009213693952) TO (MAXVALUE);
SELECT partition, range_start AT TIME ZONE 'UTC' AS range_start, range_end FROM snowid.partitions
 WHERE parent IN ('odd_units'::regclass, 'shown'::regclass) ORDER BY partition::text COLLATE "C";
DROP TABLE odd_units;
DROP TABLE shown;

-- What is refused: other tables,
SELECT attempt($$SELECT snowid.create_partitions('users', '1 month', '2016-11-01Z')$$);
SELECT attempt($$SELECT snowid.create_partitions('photos_pkey', '1 month', '2016-11-01Z')$$);
SELECT attempt($$SELECT snowid.create_partitions(0, '1 month', '2016-11-01Z')$$);
SELECT attempt($$SELECT snowid.drop_partitions('regions', '2020-11-01Z')$$);
CREATE TABLE hashed (id bigint) PARTITION BY HASH (id);
CREATE TABLE pairs (id bigint, n int) PARTITION BY RANGE (id, n);
CREATE TABLE computed (id bigint) PARTITION BY RANGE ((id + 1));
CREATE TABLE narrow (id int) PARTITION BY RANGE (id);
CREATE TEMPORARY TABLE shortlived (id bigint) PARTITION BY RANGE (id);
SELECT attempt(format('SELECT snowid.create_partitions(%L, %L, %L)', t, '1 month', '2016-11-01Z'))
  FROM unnest(ARRAY['hashed', 'pairs', 'computed', 'narrow', 'shortlived']) t;
-- other people's,
CREATE ROLE stranger;
SET ROLE stranger;
SELECT attempt($$SELECT snowid.create_partitions('photos', '1 month', '2016-11-01Z')$$);
SELECT attempt($$SELECT snowid.drop_partitions('photos', '2020-11-01Z')$$);
SELECT attempt($$SELECT snowid.detach_partitions('photos', '2020-11-01Z')$$);
RESET ROLE;
-- no steps,
SELECT step, attempt(format('SELECT snowid.create_partitions(%L, %L, %L)', 'photos', step, '2017-11-01Z'))
  FROM unnest(ARRAY['0', '-1 month', '1 month 1 day', '5 months', '18 months', '5 hours', '30 minutes', '1 day 00:00:01']) step;
SELECT attempt($$SELECT snowid.create_partitions('own_days', '1 hour', '2017-11-01Z', 'time:40 shard:5 seq:8 unit:1d epoch:1970-01-01T00:00:00Z')$$);
-- no moments,
SELECT moment, attempt(format('SELECT snowid.create_partitions(%L, %L, %L)', 'ages', '1 month', moment)) AS created,
       attempt(format('SELECT snowid.drop_partitions(%L, %L)', 'ages', moment)) AS dropped
  FROM unnest(ARRAY['infinity', '-infinity', '2011-08-24Z', '2046-07-01Z']) moment;
-- more than there may be at once,
SELECT attempt($$SELECT snowid.create_partitions('quick', '1 hour', '2020-11-01Z')$$);
-- layouts in another order, whose ranges are none of time,
SELECT attempt($$SELECT snowid.create_partitions('own_days', '1 month', '2017-11-01Z', 'shard:10 time:41 seq:12 unit:1ms epoch:2020-01-01T00:00:00Z')$$);
SELECT attempt($$SELECT snowid.drop_partitions('own_days', '2021-11-01Z', 'shard:10 time:41 seq:12 unit:1ms epoch:2020-01-01T00:00:00Z')$$);
-- names that are taken,
CREATE VIEW quick_2016_12 AS SELECT 1 AS one;
SELECT attempt($$SELECT snowid.create_partitions('quick', '1 month', '2017-01-01Z')$$);
-- schemas in which the owner may make nothing, whoever calls,
ALTER SCHEMA "Its Own" OWNER TO CURRENT_USER;
GRANT USAGE ON SCHEMA "Its Own" TO owner_of_all;
SELECT attempt($$SELECT snowid.create_partitions('"Its Own"."Odd ""Name"""', '1 month', '2016-12-01Z')$$);
-- and a table that a statement is writing to.
DROP VIEW quick_2016_12;
SELECT left(attempt($$INSERT INTO quick
  SELECT first_at('2016-11-02Z'), snowid.create_partitions('quick', '1 month', '2016-12-01Z')::oid::bigint$$), 5) AS sqlstate;
-- Nulls are refused.
SELECT attempt(call) FROM unnest(ARRAY[$$SELECT snowid.create_partitions('quick', NULL, '2016-12-01Z')$$, $$SELECT snowid.create_partitions(NULL, '1 day', '2016-12-01Z')$$,
  $$SELECT snowid.create_partitions('quick', '1 day', NULL)$$, $$SELECT snowid.drop_partitions('quick', NULL)$$, $$SELECT snowid.detach_partitions(NULL, now())$$]) AS call;
BEGIN READ ONLY;
SELECT snowid.create_partitions('quick', '1 month', '2016-12-01Z');
ROLLBACK;

-- In a transaction that rolls back, nothing was done.
BEGIN;
SELECT snowid.create_partitions('quick', '1 month', '2016-12-01Z');
SELECT snowid.drop_partitions('quick', '2016-11-15Z');
ROLLBACK;
SELECT * FROM parts_of('quick');

-- Whoever calls, partitions are the owner's, and so is the role that the owner's code runs with; it has not the caller's
-- search_path; and what it does to either does not last.
CREATE FUNCTION "Its Own".who(x int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('spy.armed', true) = 'yes' THEN
    RAISE 'run by %, path %', current_user, current_setting('search_path');
  END IF;
  RETURN true;
END $$;
-- As an index's expression; as a constraint of the default partition, which PostgreSQL looks at.
CREATE TABLE spied (id :key DEFAULT :next) PARTITION BY RANGE (id);
CREATE TABLE spied_0 PARTITION OF spied FOR VALUES FROM (MINVALUE) TO (first_at('2020-01-01Z'));
CREATE INDEX ON spied (("Its Own".who(1)));
CREATE TABLE spying (id :key DEFAULT :next, x int CHECK ("Its Own".who(1))) PARTITION BY RANGE (id);
CREATE TABLE spying_0 PARTITION OF spying FOR VALUES FROM (MINVALUE) TO (first_at('2020-01-01Z'));
CREATE TABLE spying_default PARTITION OF spying DEFAULT;
DO $$
DECLARE
  t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['spied', 'spied_0', 'spying', 'spying_0', 'spying_default'] LOOP
    EXECUTE format('ALTER TABLE %I OWNER TO owner_of_all', t);
  END LOOP;
END $$;
SET spy.armed = yes;
SELECT attempt($$SELECT snowid.create_partitions('spied', '1 month', '2020-01-05Z')$$);
SELECT attempt($$SELECT snowid.create_partitions('spying', '1 month', '2020-01-05Z')$$);
SET spy.armed = no;
CREATE OR REPLACE FUNCTION "Its Own".who(x int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('search_path', '"Its Own", pg_catalog', true);
  RETURN true;
END $$;
CREATE FUNCTION "Its Own".trap(bigint, bigint) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped %', current_user; END $$;
CREATE OPERATOR "Its Own".= (FUNCTION = "Its Own".trap, LEFTARG = bigint, RIGHTARG = bigint);
CREATE OPERATOR "Its Own".<= (FUNCTION = "Its Own".trap, LEFTARG = bigint, RIGHTARG = bigint);
SET lock_timeout = '7s';
SELECT snowid.create_partitions('spying', '1 month', '2020-02-05Z');
SELECT relname, relowner::regrole FROM pg_class WHERE relname ~ '^spying_2';
SELECT current_user = session_user AS is_itself, current_setting('search_path') AS path, current_setting('lock_timeout') AS patience;
RESET lock_timeout;
SELECT snowid.drop_partitions('spying', '2020-02-05Z');
-- A member of the owner is as good; one who is none is not, and neither is a role that may do all else.
CREATE ROLE member IN ROLE owner_of_all;
SET ROLE member;
SELECT snowid.create_partitions('spying', '1 month', '2020-03-05Z');
SELECT snowid.drop_partitions('spying', '2020-03-01Z'), current_user;
RESET ROLE;
SELECT relowner::regrole FROM pg_class WHERE relname = 'spying_2020_03';
GRANT ALL ON spying TO stranger;
SET ROLE stranger;
SELECT attempt($$SELECT snowid.create_partitions('spying', '1 month', '2020-04-05Z')$$);
RESET ROLE;

-- A role without rights may be lent them by a SECURITY DEFINER function of the owner's. Whoever calls, role, search_path
-- and lock_timeout are afterwards what they were, in the same transaction, and where an error was caught.
CREATE TABLE lent (id :key DEFAULT :next) PARTITION BY RANGE (id);
CREATE TABLE lent_0 PARTITION OF lent FOR VALUES FROM (MINVALUE) TO (first_at('2020-01-01Z'));
ALTER TABLE lent OWNER TO owner_of_all;
ALTER TABLE lent_0 OWNER TO owner_of_all;
CREATE FUNCTION settings() RETURNS text LANGUAGE sql AS $$
  SELECT concat_ws(' | ', current_user, current_setting('role'), current_setting('search_path'), current_setting('lock_timeout')) $$;
CREATE FUNCTION keep_lent(until timestamptz) RETURNS SETOF text SECURITY DEFINER LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT snowid.create_partitions('lent', '1 month', until)::text;
  RETURN NEXT settings();
  RETURN QUERY SELECT snowid.detach_partitions('lent', until - interval '1 month', max_partitions => 1)::text;
  RETURN QUERY SELECT snowid.drop_partitions('lent', until - interval '1 month');
  RETURN NEXT settings();
EXCEPTION WHEN duplicate_table THEN
  RETURN NEXT settings();
END $$;
ALTER FUNCTION keep_lent OWNER TO owner_of_all;
CREATE VIEW lent_2020_04 AS SELECT 1 AS one;
SET search_path = beside, public;
SET lock_timeout = '7s';
SET ROLE stranger;
BEGIN;
SELECT keep_lent('2020-03-05Z');
SELECT settings();
SELECT keep_lent('2020-04-05Z');
SELECT settings();
COMMIT;
RESET ROLE;
BEGIN;
SET LOCAL ROLE member;
SELECT attempt($$SELECT snowid.create_partitions('lent', '1 month', '2020-04-05Z')$$);
SELECT settings();
SELECT snowid.drop_partitions('lent', '2020-03-01Z');
SELECT settings();
ROLLBACK;
BEGIN;
SELECT snowid.drop_partitions('lent', '2020-03-01Z');
SELECT current_user = session_user AS is_itself, current_setting('role');
ROLLBACK;
RESET search_path;
RESET lock_timeout;
DROP VIEW lent_2020_04;
DROP TABLE lent, lent_0;
DROP FUNCTION settings, keep_lent;

-- Where a partition that is to go belongs to another role, nothing is done, whoever calls; those before it can go.
CREATE TABLE shared (id :key DEFAULT :next) PARTITION BY RANGE (id);
CREATE TABLE shared_0 PARTITION OF shared FOR VALUES FROM (MINVALUE) TO (first_at('2020-01-01Z'));
ALTER TABLE shared OWNER TO owner_of_all;
ALTER TABLE shared_0 OWNER TO owner_of_all;
SELECT snowid.create_partitions('shared', '1 month', '2020-03-05Z');
ALTER TABLE shared_2020_01 OWNER TO stranger;
SELECT attempt(format('SELECT snowid.%s_partitions(%L, %L)', verb, 'shared', '2020-03-01Z')) FROM unnest(ARRAY['drop', 'detach']) AS verb;
SET ROLE owner_of_all;
SELECT attempt(format('SELECT snowid.%s_partitions(%L, %L)', verb, 'shared', '2020-03-01Z')) FROM unnest(ARRAY['drop', 'detach']) AS verb;
SELECT snowid.drop_partitions('shared', '2020-03-01Z', max_partitions => 1);
RESET ROLE;
SELECT part FROM parts_of('shared');
GRANT stranger TO owner_of_all;
SELECT snowid.drop_partitions('shared', '2020-03-01Z');
REVOKE stranger FROM owner_of_all;
DROP TABLE shared;

-- Code of the owner's that drops, or changes, what is being worked on leads to an ordinary error: a check of the default
-- partition while partitions are made. Each partition is looked up when it is to go: what a cast in a foreign key has
-- dropped meanwhile is passed over.
GRANT CREATE ON SCHEMA "Its Own" TO owner_of_all;
SET ROLE owner_of_all;
CREATE TABLE wild (id bigint PRIMARY KEY DEFAULT snowid_next(), x int) PARTITION BY RANGE (id);
CREATE TABLE wild_0 PARTITION OF wild FOR VALUES FROM (0) TO (snowid_first_at('2020-01-01Z'));
CREATE FUNCTION "Its Own".run_wild() RETURNS boolean VOLATILE LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('wild.statement', true) <> '' THEN EXECUTE current_setting('wild.statement'); END IF;
  RETURN true;
END $$;
CREATE FUNCTION "Its Own".go_wild(int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN "Its Own".run_wild(); END';
CREATE TABLE wild_rest PARTITION OF wild (CHECK ("Its Own".go_wild(1))) DEFAULT;
CREATE TYPE "Its Own".key AS (id bigint);
RESET ROLE;
SELECT attempt(format('SELECT set_config(%L, %L, false), snowid.create_partitions(%L, %L, %L)', 'wild.statement', statement, 'wild', '1 month', '2020-03-01Z'))
  FROM unnest(ARRAY['DROP TABLE public.wild_0', 'DROP TABLE public.wild', 'ALTER TABLE public.wild DETACH PARTITION public.wild_rest',
    'ALTER TABLE public.wild ALTER x TYPE text', 'ALTER TABLE public.wild RENAME id TO other', 'RESET ROLE', 'SET lock_timeout = 1']) AS statement;
RESET wild.statement;
SELECT current_user = session_user AS is_itself;
SELECT count(*) FROM pg_inherits WHERE inhparent = 'wild'::regclass;
SELECT relowner::regrole, count(*) FROM pg_class WHERE relname ~ '^wild' AND relkind IN ('r', 'p') GROUP BY 1;
CREATE FUNCTION "Its Own".drop_it("Its Own".key) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  DROP TABLE public.wild_2020_01 CASCADE;
  RETURN 7;
END $$;
SELECT count(*) FROM snowid.create_partitions('wild', '1 month', '2020-03-01Z');
CREATE CAST ("Its Own".key AS bigint) WITH FUNCTION "Its Own".drop_it("Its Own".key) AS IMPLICIT;
INSERT INTO wild VALUES (1);
CREATE TABLE tame (id "Its Own".key REFERENCES wild);
ALTER TABLE tame OWNER TO owner_of_all;
SET session_replication_role = replica;
INSERT INTO tame VALUES (ROW(1));
RESET session_replication_role;
SELECT snowid.drop_partitions('wild', '2020-03-01Z');
SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'wild'::regclass ORDER BY 1;
DROP TABLE tame, wild;

-- An event trigger that moves what is made elsewhere is no obstacle; one that drops it leads to an error.
CREATE FUNCTION move_it() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE
  made record;
BEGIN
  FOR made IN SELECT * FROM pg_event_trigger_ddl_commands() WHERE command_tag = 'CREATE TABLE' AND object_identity ~ 'public.moved' LOOP
    RAISE NOTICE '% by %', made.object_identity, current_user;
    EXECUTE format(current_setting('move.statement'), made.object_identity);
  END LOOP;
END $$;
CREATE EVENT TRIGGER move_it ON ddl_command_end EXECUTE FUNCTION move_it();
CREATE TABLE movable (id :key DEFAULT :next) PARTITION BY RANGE (id);
CREATE TABLE movable_0 PARTITION OF movable FOR VALUES FROM (MINVALUE) TO (first_at('2020-01-01Z'));
ALTER TABLE movable OWNER TO owner_of_all;
ALTER TABLE movable_0 OWNER TO owner_of_all;
ALTER TABLE movable RENAME TO moved;
GRANT CREATE ON SCHEMA "Its Own" TO owner_of_all;
SET move.statement = 'ALTER TABLE %s SET SCHEMA "Its Own"';
SELECT snowid.create_partitions('moved', '1 month', '2020-02-05Z');
SET move.statement = 'DROP TABLE %s';
SELECT attempt($$SELECT snowid.create_partitions('moved', '1 month', '2020-03-05Z')$$);
DROP EVENT TRIGGER move_it;
SELECT snowid.drop_partitions('moved', '2020-02-05Z');
-- Where a foreign key refers to the table, a partition is detached and then dropped. One that is another table's after the
-- first of these is not dropped.
CREATE TABLE left_behind (id :key PRIMARY KEY DEFAULT :next) PARTITION BY RANGE (id);
CREATE TABLE left_behind_0 PARTITION OF left_behind FOR VALUES FROM (MINVALUE) TO (first_at('2020-01-01Z'));
CREATE TABLE left_behind_rest PARTITION OF left_behind FOR VALUES FROM (first_at('2020-01-01Z')) TO (MAXVALUE);
CREATE TABLE refers (id :type REFERENCES left_behind);
CREATE TABLE new_home (id :key PRIMARY KEY) PARTITION BY RANGE (id);
CREATE FUNCTION take_it() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT (SELECT relispartition FROM pg_class WHERE oid = 'public.left_behind_0'::regclass) THEN
    ALTER TABLE public.new_home ATTACH PARTITION public.left_behind_0 DEFAULT;
  END IF;
END $$;
CREATE EVENT TRIGGER take_it ON ddl_command_end WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION take_it();
SELECT attempt($$SELECT snowid.drop_partitions('left_behind', '2020-01-01Z')$$);
SELECT inhparent::regclass FROM pg_inherits WHERE inhrelid = 'left_behind_0'::regclass;
DROP EVENT TRIGGER take_it;
DROP FUNCTION take_it;
DROP TABLE refers, left_behind, new_home;
-- What PostgreSQL evaluates of the owner's has his rights and no others, whoever calls: it cannot go back to the role of
-- the session.
GRANT ALL ON SCHEMA attic TO owner_of_all;
SET ROLE owner_of_all;
CREATE SEQUENCE attic.evaluated;
CREATE SEQUENCE attic.with_more_rights;
CREATE FUNCTION attic.note() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  PERFORM nextval('attic.evaluated'), CASE WHEN current_user <> 'owner_of_all' THEN nextval('attic.with_more_rights') END;
  BEGIN RESET ROLE; EXCEPTION WHEN insufficient_privilege THEN NULL; END;
  RETURN CASE WHEN current_user <> 'owner_of_all' THEN nextval('attic.with_more_rights') END;
END $$;
CREATE FUNCTION attic.five() RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN IF current_setting('spy.armed', true) = 'yes' THEN PERFORM attic.note(); END IF; RETURN 5; END $$;
CREATE TABLE planned (id bigint DEFAULT snowid_next()) PARTITION BY RANGE (id);
CREATE INDEX ON planned ((id + attic.five()));
CREATE TABLE planned_0 PARTITION OF planned FOR VALUES FROM (0) TO (snowid_first_at('2020-01-01Z'));
CREATE TABLE planned_rest PARTITION OF planned (CHECK (id > attic.five() - 100)) DEFAULT;
CREATE STATISTICS attic.estimates ON (id + attic.five()) FROM planned_rest;
RESET ROLE;
SET spy.armed = yes;
SELECT snowid.create_partitions('planned', '1 month', '2020-02-05Z');
SELECT snowid.detach_partitions('planned', '2020-01-01Z');
SELECT snowid.drop_partitions('planned', '2020-02-01Z');
SELECT e.is_called AS evaluated, r.is_called AS with_more_rights FROM attic.evaluated AS e, attic.with_more_rights AS r;
RESET spy.armed;
DROP TABLE planned, planned_0;
-- The table's own lock is what all this goes by: an owner who cannot lock it changes nothing.
REVOKE ALL ON moved FROM owner_of_all;
SELECT attempt(call) FROM unnest(ARRAY[$$SELECT snowid.drop_partitions('moved', '2020-03-05Z')$$, $$SELECT snowid.create_partitions('moved', '1 month', '2020-05-05Z')$$]) AS call;
-- Nor does anybody whose snapshot is older than the lock.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT attempt(call) FROM unnest(ARRAY[$$SELECT snowid.drop_partitions('moved', '2020-03-05Z')$$, $$SELECT snowid.detach_partitions('moved', '2020-03-05Z')$$,
  $$SELECT snowid.create_partitions('moved', '1 month', '2020-05-05Z')$$]) AS call;
ROLLBACK;

SET client_min_messages = warning;
DROP SCHEMA attic, "Its Own" CASCADE;
DROP TABLE photos, photos_old, photos_2016_10, odd, regions, quick, ticks, ages, own_days, likes, past, past_2020_02, past_likes,
  notes, far, veiled, moved, hashed, pairs, computed, narrow, shortlived, spied, spying, users CASCADE;
DROP TABLE a_table_whose_name_is_as_long_as_a_name_can_be_in_postgresql_1,
  a_table_whose_name_is_as_long_as_a_name_can_be_in_postgresql_2, "xäääääääääääääääääääääääääääääää";
DROP SCHEMA beside CASCADE;
DROP FUNCTION parts_of, moment_of, scanned, hint_of, same, move_it, first_at, within, timestamp_of, in_time;
DROP FOREIGN DATA WRAPPER nothing CASCADE;
REVOKE CREATE ON SCHEMA public FROM owner_of_all;
DROP ROLE owner_of_all, stranger, member;
