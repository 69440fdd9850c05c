-- Partitions by UUIDs of version 7: what is not as with IDs. All else is in partitions.sql, which
-- tables/partitions_by_uuid.pl runs by UUIDs.

\set SHOW_CONTEXT never
SET timezone = 'UTC';
SET datestyle = 'ISO';

-- UUIDs of other versions lie anywhere, so partitions go only where a constraint keeps them out, which holds for all rows.
CREATE TABLE visits (id uuid PRIMARY KEY DEFAULT snowid_uuidv7(), body text) PARTITION BY RANGE (id);
CREATE TABLE visits_0 PARTITION OF visits FOR VALUES FROM (MINVALUE) TO (snowid_uuidv7_first_at('2020-01-01Z'));
SELECT snowid.create_partitions('visits', '1 month', '2020-02-15Z');
INSERT INTO visits VALUES ('00c5d4a8-7a1e-4b2f-9c3d-5e6f708192a3', 'of version 4, of today');
CREATE TABLE attempts (verb text);
INSERT INTO attempts VALUES ('drop'), ('detach');
SELECT attempt(format('SELECT snowid.%s_partitions(%L, %L)', verb, 'visits', '2020-01-01Z')) FROM attempts;
ALTER TABLE visits ADD CONSTRAINT not_yet CHECK (snowid_is_uuidv7(id)) NOT VALID;
SELECT left(attempt(format('SELECT snowid.%s_partitions(%L, %L)', verb, 'visits', '2020-01-01Z')), 80) FROM attempts;
SELECT left(attempt('ALTER TABLE visits VALIDATE CONSTRAINT not_yet'), 5) AS sqlstate;
SELECT tableoid::regclass, body FROM visits;
DELETE FROM visits;
ALTER TABLE visits DROP CONSTRAINT not_yet;
-- Others say something else.
CREATE SCHEMA aside;
CREATE FUNCTION aside.snowid_is_uuidv7(uuid) RETURNS boolean IMMUTABLE LANGUAGE sql RETURN true;
ALTER TABLE visits ADD CONSTRAINT negated CHECK (NOT snowid_is_uuidv7(id) OR true), ADD CONSTRAINT either CHECK (snowid_is_uuidv7(id) OR body IS NOT NULL),
  ADD CONSTRAINT another CHECK (aside.snowid_is_uuidv7(id)), ADD other uuid CHECK (snowid_is_uuidv7(other));
SELECT left(attempt(format('SELECT snowid.%s_partitions(%L, %L)', verb, 'visits', '2020-01-01Z')), 80) FROM attempts;
-- The hint's statement. Made without waiting, and checked afterwards, it is as good.
SELECT substring(attempt($$SELECT snowid.drop_partitions('visits', '2020-01-01Z')$$) FROM 'Use (ALTER .*)[.]$') AS statement \gset
:statement;
SELECT snowid.drop_partitions('visits', '2020-01-01Z');
ALTER TABLE visits DROP CONSTRAINT visits_id_check;
ALTER TABLE visits ADD CONSTRAINT is_version_7 CHECK (snowid_is_uuidv7(id)) NOT VALID;
ALTER TABLE visits VALIDATE CONSTRAINT is_version_7;
SET quote_all_identifiers = on;
SELECT snowid.detach_partitions('visits', '2020-02-01Z');
RESET quote_all_identifiers;
SELECT left(attempt($$INSERT INTO visits VALUES (overlay(snowid_uuidv7_first_at('2020-02-15Z')::text PLACING '4' FROM 15)::uuid)$$), 5) AS sqlstate;
-- Nothing is asked of a table that nothing goes from.
ALTER TABLE visits DROP CONSTRAINT is_version_7;
SELECT snowid.drop_partitions('visits', '2020-01-01Z');
DROP TABLE visits, visits_2020_01;

-- A column of a domain, whose name is quoted.
CREATE DOMAIN visit_id AS uuid;
CREATE TABLE "Visits" ("Key" visit_id PRIMARY KEY DEFAULT snowid_uuidv7() CHECK (snowid_is_uuidv7("Key"))) PARTITION BY RANGE ("Key");
CREATE TABLE visits_0 PARTITION OF "Visits" FOR VALUES FROM (MINVALUE) TO (snowid_uuidv7_first_at('2020-01-01Z'));
SELECT snowid.create_partitions('"Visits"', '1 month', '2020-02-15Z');
SELECT snowid.drop_partitions('"Visits"', '2020-02-01Z');
DROP TABLE "Visits";
-- Not by a function of the same name that is another's.
CREATE FUNCTION snowid_is_uuidv7(visit_id) RETURNS boolean IMMUTABLE LANGUAGE sql RETURN true;
CREATE TABLE "Visits" ("Key" visit_id CHECK (snowid_is_uuidv7("Key"))) PARTITION BY RANGE ("Key");
CREATE TABLE visits_0 PARTITION OF "Visits" FOR VALUES FROM (MINVALUE) TO (snowid_uuidv7_first_at('2020-01-01Z'));
CREATE TABLE visits_rest PARTITION OF "Visits" FOR VALUES FROM (snowid_uuidv7_first_at('2020-01-01Z')) TO (MAXVALUE);
SELECT left(attempt($$SELECT snowid.drop_partitions('"Visits"', '2020-01-01Z')$$), 72);
DROP TABLE "Visits";
DROP FUNCTION snowid_is_uuidv7(visit_id);

-- UUIDs have no layout.
CREATE TABLE visits (id uuid CHECK (snowid_is_uuidv7(id))) PARTITION BY RANGE (id);
SELECT attempt(call) FROM unnest(ARRAY[$$SELECT snowid.create_partitions('visits', '1 month', '2020-01-01Z', 'instagram')$$,
  $$SELECT snowid.drop_partitions('visits', '2020-01-01Z', 'instagram')$$, $$SELECT snowid.detach_partitions('visits', '2020-01-01Z', 'instagram')$$]) AS call;
-- Times that no UUID of version 7 has; the first there is.
SELECT moment, attempt(format('SELECT snowid.create_partitions(%L, %L, %L)', 'visits', '1 month', moment)) AS created,
       attempt(format('SELECT snowid.drop_partitions(%L, %L)', 'visits', moment)) AS dropped
  FROM unnest(ARRAY['infinity', '-infinity', '1969-12-31Z', '10890-01-01Z']) AS moment;
SELECT count(*) > 0 AS from_now_on FROM snowid.create_partitions('visits', '1 month', now() + interval '1 month');
SELECT bool_and(range_start = date_trunc('month', range_start) AND range_end = range_start + interval '1 month') AS months FROM snowid.partitions
 WHERE parent = 'visits'::regclass;
DROP TABLE visits;

-- Partitions by hand: from and to bounds of any version, and within the UUIDs that have the same time and the same 12 bits
-- after it. Those that are made fit between them to the bit.
CREATE TABLE visits (id uuid CHECK (snowid_is_uuidv7(id)), body text) PARTITION BY RANGE (id);
SELECT date_trunc('month', now()) AS month, date_trunc('month', now()) + interval '1 month 10 days' AS day, date_trunc('month', now()) + interval '2 months' AS next \gset
CREATE FUNCTION at(moment timestamptz, rest text) RETURNS uuid LANGUAGE sql
  RETURN overlay(snowid_uuidv7_first_at(moment)::text PLACING rest FROM 15 FOR length(rest))::uuid;
CREATE TABLE visits_one PARTITION OF visits FOR VALUES FROM (at(:'day', '7abc-9')) TO (at(:'day', '7abc-a'));
CREATE TABLE visits_two PARTITION OF visits FOR VALUES FROM (at(:'day', '7abc-a')) TO (at(:'next', 'f123'));
SELECT count(*) FROM snowid.create_partitions('visits', '1 month', :'month'::timestamptz + interval '3 months');
SELECT count(*) AS partitions, count(*) FILTER (WHERE ends <> begins) AS gaps FROM (
  SELECT substring(bounds FROM $$TO \('(.{36})'$$)::uuid AS ends, lead(substring(bounds FROM $$FROM \('(.{36})'$$)::uuid) OVER (ORDER BY bounds) AS begins
    FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid, pg_get_expr(relpartbound, inhrelid) AS bounds WHERE inhparent = 'visits'::regclass) AS p;
SELECT partition, layout, range_start = :'day' AS from_day, range_end = :'day' AS to_day, range_end = :'next'::timestamptz + interval '1 ms' AS after_next
  FROM snowid.partitions WHERE partition = ANY ('{visits_one,visits_two}'::regclass[]) ORDER BY partition;
INSERT INTO visits SELECT at(:'day', rest), rest FROM unnest('{7abb,7abc-8,7abc-9,7abc-a,7abd,7fff}'::text[]) AS rest;
INSERT INTO visits SELECT at(:'next', rest), 'next ' || rest FROM unnest('{7fff-b,7000}'::text[]) AS rest;
SELECT regexp_replace(tableoid::regclass::text, '\d{4}_\d\d', 'DATE') AS partition, body FROM visits ORDER BY id;
-- A partition ends after all that it has: where its bound lies within a millisecond, it goes with the next one.
CREATE TABLE visits_old PARTITION OF visits FOR VALUES FROM ('00000000-0000-0000-0000-000000000000') TO (at('2020-06-01Z', '7005-8123'));
SELECT snowid.drop_partitions('visits', '2020-06-01Z');
SELECT snowid.drop_partitions('visits', '2020-06-01 00:00:00.000999Z');
SELECT snowid.drop_partitions('visits', '2020-06-01 00:00:00.001Z');
DROP TABLE visits;

-- A row of a new partition that is in the default one is found, and moved by what is said.
CREATE TABLE visits (id uuid PRIMARY KEY CHECK (snowid_is_uuidv7(id))) PARTITION BY RANGE (id);
CREATE TABLE visits_0 PARTITION OF visits FOR VALUES FROM (MINVALUE) TO (snowid_uuidv7_first_at('2020-01-01Z'));
CREATE TABLE visits_rest PARTITION OF visits DEFAULT;
INSERT INTO visits VALUES (snowid_uuidv7_first_at('2020-01-01Z')), (snowid_uuidv7_last_at('2020-02-29 23:59:59.999Z')), (snowid_uuidv7_first_at('2020-03-01Z'));
SELECT attempt($$SELECT snowid.create_partitions('visits', '1 month', '2020-02-15Z')$$);
SELECT statement FROM regexp_split_to_table(attempt($$SELECT snowid.create_partitions('visits', '1 month', '2020-02-15Z')$$), '\n')
  WITH ORDINALITY AS s (statement, n) WHERE n > 1 ORDER BY n \gexec
SELECT tableoid::regclass, snowid_uuid_timestamp(id) FROM visits ORDER BY id;
DROP TABLE visits;

-- Tables partitioned by UUIDs that are of no time, and by what only looks like one, are no reason to fail.
CREATE TABLE random_ones (id uuid DEFAULT gen_random_uuid()) PARTITION BY RANGE (id);
CREATE TABLE random_ones_0 PARTITION OF random_ones FOR VALUES FROM (MINVALUE) TO ('80000000-0000-0000-0000-000000000000');
CREATE TABLE random_ones_1 PARTITION OF random_ones FOR VALUES FROM ('80000000-0000-0000-0000-000000000000') TO ('ffffffff-ffff-ffff-ffff-ffffffffffff');
CREATE TABLE random_ones_2 PARTITION OF random_ones FOR VALUES FROM ('ffffffff-ffff-ffff-ffff-ffffffffffff') TO (MAXVALUE);
CREATE TABLE texts (id text) PARTITION BY RANGE (id);
CREATE TABLE texts_0 PARTITION OF texts FOR VALUES FROM ('00000000-0000-0000-0000-000000000000') TO ('80000000-0000-0000-0000-000000000000');
CREATE TABLE days (day date) PARTITION BY RANGE (day);
CREATE TABLE days_0 PARTITION OF days FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
SELECT * FROM snowid.partitions ORDER BY partition;
DROP TABLE random_ones, texts, days, attempts;
DROP SCHEMA aside CASCADE;
DROP DOMAIN visit_id;
DROP FUNCTION at;
