-- Ranges of time: whatever their moments are, an index on the key serves, and partitions are pruned.

SET timezone = 'UTC';
SET datestyle = 'ISO';

-- 21 partitions of a day each, a row a minute, and a table of ranges to join.
CREATE TABLE ids (id bigint PRIMARY KEY, body int) PARTITION BY RANGE (id);
SELECT format('CREATE TABLE ids_%s PARTITION OF ids FOR VALUES FROM (%s) TO (%s)', n, snowid_first_at(day), snowid_first_at(day + interval '1 day'))
  FROM generate_series(0, 20) AS n, LATERAL (SELECT '2026-01-01Z'::timestamptz + n * interval '1 day' AS day) AS d \gexec
INSERT INTO ids SELECT snowid_encode('2026-01-01Z'::timestamptz + n * interval '1 minute', n % 8192, n % 1024), n FROM generate_series(0, 30239) AS n;
-- The same times in UUIDs of version 7, and UUIDs of version 4 among them.
CREATE TABLE uuids (id uuid PRIMARY KEY, body int) PARTITION BY RANGE (id);
SELECT format('CREATE TABLE uuids_%s PARTITION OF uuids FOR VALUES FROM (%L) TO (%L)', n, snowid_uuidv7_first_at(day), snowid_uuidv7_first_at(day + interval '1 day'))
  FROM generate_series(0, 20) AS n, LATERAL (SELECT '2026-01-01Z'::timestamptz + n * interval '1 day' AS day) AS d \gexec
INSERT INTO uuids SELECT CASE n % 2 WHEN 0 THEN snowid_uuidv7_first_at(moment) ELSE snowid_uuidv7_last_at(moment) END, n
  FROM generate_series(0, 30239) AS n, LATERAL (SELECT '2026-01-01Z'::timestamptz + n * interval '1 minute' AS moment) AS m;
INSERT INTO uuids SELECT overlay(id::text PLACING '4' FROM 15)::uuid, -body FROM uuids WHERE body % 100 = 1;
CREATE TABLE spans (name text, since timestamptz, before timestamptz, length interval, layout snowid_layout DEFAULT 'instagram');
INSERT INTO spans VALUES ('day', '2026-01-10Z', '2026-01-11Z', '1 day'), ('noon', '2026-01-05 11:59Z', '2026-01-05 12:01Z', '2 min'),
  ('none', NULL, '2026-01-11Z', NULL), ('hour', '2026-01-07 23:00Z', '2026-01-08Z', '1 hour');
ANALYZE ids, uuids, spans;

-- A moment of a function that says little of itself to the planner, and one that would give another moment each time.
CREATE FUNCTION first_day() RETURNS timestamptz STABLE LANGUAGE plpgsql AS $$ BEGIN RETURN '2026-01-10Z'; END $$;
CREATE SEQUENCE calls;
CREATE FUNCTION counted(moment timestamptz) RETURNS timestamptz VOLATILE LANGUAGE plpgsql AS $$
BEGIN PERFORM nextval('calls'); RETURN moment; END $$;

-- What a query scans: how, with which bounds, how many of the partitions when it runs, and whether it also looks at rows.
-- A subquery that is evaluated once is $ in the bounds.
CREATE FUNCTION scans(query text, OUT how text, OUT bounds text, OUT partitions bigint, OUT rows bigint, OUT filter boolean)
  LANGUAGE plpgsql AS $$
DECLARE
  plan jsonb;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT JSON) ' || query INTO plan;
  SELECT string_agg(DISTINCT n->>'Node Type', ', '), string_agg(DISTINCT b.bounds, ' / '), count(DISTINCT n->>'Relation Name'),
      coalesce(sum((n->>'Actual Rows')::numeric * (n->>'Actual Loops')::numeric), 0), bool_or(n ? 'Filter')
    INTO how, bounds, partitions, rows, filter
    FROM jsonb_path_query(plan, 'strict $.** ? (@.type() == "object" && exists(@."Relation Name"))') AS n,
      LATERAL (SELECT regexp_replace(regexp_replace(regexp_replace(n->>'Index Cond',
            '\m[a-z]+(_\d+)?\.id\M', 'id', 'g'), '[$]\d+|\(InitPlan \w+\)[.]col1', '$', 'g'),
          $re$'[0-9a-f-]{19,36}'::(bigint|uuid)|, 'instagram'::snowid_layout|::timestamp with time zone|::interval$re$, '', 'g')) AS b (bounds)
   WHERE n->>'Relation Name' ~ '^(ids|uuids)_' AND (n->>'Actual Loops')::numeric > 0;
END $$;
SET enable_bitmapscan = off;
SET enable_seqscan = off;
SET jit = off;

-- Of both kinds of keys.
CREATE FUNCTION forms(OUT form text, OUT query text) RETURNS SETOF record LANGUAGE sql AS $$
  VALUES ('constants', $q$SELECT * FROM keys WHERE in_range(id, '2026-01-10Z', '2026-01-11Z')$q$),
    ('stable', $q$SELECT * FROM keys WHERE in_range(id, now() - (now() - '2026-01-10Z'), now() - (now() - '2026-01-11Z'))$q$),
    ('plpgsql', $q$SELECT * FROM keys WHERE in_range(id, first_day(), first_day() + interval '1 day')$q$),
    ('long', $q$SELECT * FROM keys WHERE in_range(id, first_day() + (interval '1 h' * 2 * 3 * 4 * 5 / 5 - interval '2 days' / 2) * 2 * 2,
      first_day() + interval '1 day')$q$),
    ('subqueries', $q$SELECT * FROM keys WHERE in_range(id, (SELECT since FROM spans WHERE name = 'day'), (SELECT before FROM spans WHERE name = 'day'))$q$),
    ('one subquery', $q$SELECT * FROM keys WHERE in_range(id, (SELECT since FROM spans WHERE name = 'day'), '2026-01-11Z')$q$),
    ('volatile', $q$SELECT * FROM keys WHERE in_range(id, clock_timestamp() - (clock_timestamp() - counted('2026-01-10Z'))
      - interval '1 s', counted('2026-01-11Z'))$q$),
    ('volatile subqueries', $q$SELECT * FROM keys WHERE in_range(id, (SELECT counted('2026-01-10Z')), (SELECT counted('2026-01-11Z')) - interval '0')$q$),
    ('joined', $q$SELECT * FROM spans AS s JOIN keys ON in_range(id, s.since, s.before) WHERE s.name = 'day'$q$),
    ('joined, computed', $q$SELECT * FROM spans AS s, keys WHERE in_range(id, s.since, s.since + s.length) AND s.name = 'day'$q$),
    ('lateral', $q$SELECT * FROM spans AS s, LATERAL (SELECT * FROM keys WHERE in_range(id, s.since, s.before) OFFSET 0) AS k WHERE s.name = 'day'$q$),
    ('correlated', $q$SELECT (SELECT count(*) FROM keys WHERE in_range(id, s.since, counted('2026-01-11Z'))) FROM spans AS s WHERE s.name = 'day'$q$),
    ('in EXISTS', $q$SELECT * FROM spans WHERE EXISTS (SELECT FROM keys WHERE in_range(id, counted('2026-01-10Z'), counted('2026-01-11Z'))) AND name = 'day'$q$),
    ('of null', $q$SELECT * FROM keys WHERE in_range(id, NULL, '2026-01-11Z')$q$),
    ('infinite', $q$SELECT * FROM keys WHERE in_range(id, '2026-01-20Z', 'infinity')$q$),
    ('empty', $q$SELECT * FROM keys WHERE in_range(id, (SELECT timestamptz '2026-01-11Z'), '2026-01-11Z')$q$)
$$;
CREATE FUNCTION query_of(form text, keys text, in_range text) RETURNS text LANGUAGE sql AS $$
  SELECT replace(regexp_replace(query, '\mkeys\M', keys, 'g'), 'in_range', in_range) FROM forms() AS f WHERE f.form = $1 $$;
SELECT form, s.* FROM forms(), scans(query_of(form, 'ids', 'snowid_in_range')) AS s;
SELECT form, s.* FROM forms(), scans(query_of(form, 'uuids', 'snowid_uuidv7_in_range')) AS s;
-- How many rows are expected: 1440.
CREATE FUNCTION expected(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
  plan jsonb;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  RETURN plan->0->'Plan'->>'Plan Rows';
END $$;
SELECT keys, expected(format('SELECT FROM %s WHERE %s(id, %L, %L)', keys, in_range, '2026-01-10Z', '2026-01-11Z')) BETWEEN 1300 AND 1600 AS right
  FROM (VALUES ('ids', 'snowid_in_range'), ('uuids', 'snowid_uuidv7_in_range')) AS k (keys, in_range);

-- Parameters, also of a plan for all values.
SET plan_cache_mode = force_generic_plan;
PREPARE span AS SELECT * FROM ids WHERE snowid_in_range(id, $1, $2);
SELECT * FROM scans($$EXECUTE span('2026-01-10Z', '2026-01-11Z')$$);
SELECT * FROM scans($$EXECUTE span('2026-01-05 11:59Z', '2026-01-05 12:01Z')$$);
PREPARE volatile AS SELECT * FROM ids WHERE snowid_in_range(id, counted($1), counted($2));
SELECT * FROM scans($$EXECUTE volatile('2026-01-10Z', '2026-01-11Z')$$);

-- A plan has the function's body in it. It is made anew when the function changes, and fails for a role that may not
-- execute it. Few rows: a function that is called takes long where caches are discarded.
PREPARE few AS SELECT * FROM ids WHERE snowid_in_range(id, $1, $2) AND body BETWEEN 12960 AND 12979;
PREPARE volatile_few AS SELECT * FROM ids WHERE snowid_in_range(id, counted($1), counted($2)) AND body BETWEEN 12960 AND 12979;
SELECT bounds IS NULL AS called FROM scans($$EXECUTE few('2026-01-10Z', '2026-01-11Z')$$);
ALTER FUNCTION snowid_in_range SET work_mem = '4MB';
SELECT bounds IS NULL AS called FROM scans($$EXECUTE few('2026-01-10Z', '2026-01-11Z')$$);
SELECT bounds IS NULL AS called FROM scans($$EXECUTE volatile_few('2026-01-10Z', '2026-01-11Z')$$);
ALTER FUNCTION snowid_in_range RESET work_mem;
SELECT bounds IS NULL AS called FROM scans($$EXECUTE few('2026-01-10Z', '2026-01-11Z')$$);
CREATE ROLE barred;
GRANT SELECT ON ids TO barred;
REVOKE EXECUTE ON FUNCTION snowid_in_range FROM PUBLIC;
SET ROLE barred;
SELECT attempt($$SELECT count(*) FROM ids WHERE snowid_in_range(id, '2026-01-10Z', '2026-01-11Z')$$);
SELECT attempt($$SELECT count(*) FROM ids WHERE snowid_in_range(id, clock_timestamp(), clock_timestamp())$$);
RESET ROLE;
GRANT EXECUTE ON FUNCTION snowid_in_range TO PUBLIC;
DROP OWNED BY barred;
DROP ROLE barred;
DEALLOCATE ALL;
RESET plan_cache_mode;

-- A volatile moment is evaluated once, however many rows there are; but for one that depends on a row.
SELECT setval('calls', 1, false);
SELECT count(*) FROM ids WHERE snowid_in_range(id, counted('2026-01-01Z'), counted('2026-01-20Z'));
SELECT nextval('calls') - 1 AS evaluated;
SELECT count(*) FROM ids WHERE snowid_in_range(id, counted('2026-01-01Z') + body * interval '0', '2026-01-20Z') AND body % 10000 = 0;
SELECT nextval('calls') > 4 AS evaluated;

-- Wherever a call stands, a subquery in it is planned.
SELECT snowid_in_range(11637205501278089, counted('2011-09-09Z'), counted('2011-09-10Z')) AS without_rows;
SELECT count(*), bool_and(snowid_in_range(id, counted('2026-01-01Z'), 'infinity')) AS listed FROM ids
 WHERE snowid_in_range(id, counted('2026-01-10Z'), counted('2026-01-11Z'))
 GROUP BY snowid_in_range(id, counted('2026-01-01Z'), 'infinity') HAVING snowid_in_range(min(id), counted('2026-01-01Z'), 'infinity')
 ORDER BY snowid_in_range(min(id), counted('2026-01-01Z'), 'infinity');
SELECT count(*), count(*) FILTER (WHERE listed) AS listed
  FROM (SELECT snowid_in_range(id, generate_series(counted('2026-01-10Z'), '2026-01-11Z', '1 day'), 'infinity') AS listed FROM ids) AS two;
SELECT snowid_timestamp(min(id)), snowid_timestamp(max(id)) FROM ids WHERE snowid_in_range(id, counted('2026-01-10Z'), counted('2026-01-11Z'));
SELECT name, count(k.id) FROM spans LEFT JOIN ids AS k ON snowid_in_range(k.id, counted('2026-01-10Z'), counted('2026-01-11Z')) AND name = 'day'
 GROUP BY name ORDER BY name;
SELECT count(*) FROM (SELECT id FROM ids UNION ALL SELECT id FROM ids) AS two
 WHERE snowid_in_range(id, counted('2026-01-10Z'), counted('2026-01-11Z'));
SELECT name FROM spans AS s WHERE EXISTS (SELECT FROM ids AS k WHERE k.body = length(s.name)
  AND snowid_in_range(k.id, counted('2026-01-01Z'), 'infinity') LIMIT CASE WHEN snowid_in_range(5, counted('2026-01-01Z'), 'infinity') THEN 0 ELSE 1 END)
 ORDER BY name;
SELECT name, (SELECT count(*) FROM ids WHERE snowid_in_range(id, counted('2026-01-10Z') - s.length, counted('2026-01-10Z'))) FROM spans AS s ORDER BY name;
WITH RECURSIVE later AS (SELECT min(id) AS id, 1 AS n FROM ids UNION ALL
  SELECT k.id, n + 1 FROM later AS l, LATERAL (SELECT i.id FROM ids AS i WHERE i.id > l.id AND snowid_in_range(i.id, counted('2026-01-20Z'), 'infinity')
    ORDER BY i.id LIMIT 1) AS k WHERE n < 3) SELECT n, snowid_timestamp(id) FROM later ORDER BY n;
CREATE TABLE checked (id bigint CHECK (snowid_in_range(id, '2020-01-01Z', clock_timestamp() + interval '100 years', 'twitter')), body int);
INSERT INTO checked SELECT * FROM ids WHERE body < 10;
SET constraint_exclusion = on;
UPDATE checked SET body = -1 WHERE snowid_in_range(id, counted('2026-01-01 00:05Z'), 'infinity');
DELETE FROM checked WHERE snowid_in_range(id, counted('2026-01-01Z'), counted('2026-01-01 00:02Z'))
  RETURNING snowid_in_range(id, counted('2026-01-01 00:01Z'), 'infinity') AS returned;
SELECT body, count(*) FROM checked GROUP BY body ORDER BY body;
RESET constraint_exclusion;
DO $$
DECLARE
  moment timestamptz := '2026-01-10Z';
  found_one bigint := (SELECT min(id) FROM ids);
BEGIN
  IF snowid_in_range(found_one, counted(moment), 'infinity') THEN RAISE 'an ID before the range is in it'; END IF;
  IF (SELECT count(*) FROM ids WHERE snowid_in_range(id, counted(moment), counted(moment + interval '1 day'))) <> 1440 THEN
    RAISE 'IDs of the range are not in it';
  END IF;
END $$;

-- The layout may be a column or a subquery; then no index serves.
SELECT name, count(k.id) FROM spans AS s LEFT JOIN ids AS k ON snowid_in_range(k.id, s.since, s.before, s.layout) GROUP BY name ORDER BY name;
SELECT count(*) FROM ids WHERE snowid_in_range(id, '2026-01-10Z', '2026-01-11Z', (SELECT layout FROM spans WHERE name = 'day'));

-- An ID that is volatile is evaluated once for a row.
SELECT setval('calls', 1, false);
SELECT count(*) FROM (SELECT FROM spans WHERE snowid_in_range(nextval('calls'), '2000-01-01Z', 'infinity')) AS four;
SELECT nextval('calls') - 1 AS evaluated;

-- The same answer as of times compared, for random IDs and moments, nulls and infinities; by a call, and by the body.
SELECT setseed(0.36);
CREATE TABLE cases AS
  SELECT l::snowid_layout AS layout, CASE WHEN n % 97 = 0 THEN NULL WHEN n % 5 = 0 THEN ((random() - 0.5) * 1.8e19)::bigint
      ELSE snowid_encode('2026-01-01Z'::timestamptz + random() * interval '20 ms', (random() * 3)::int, (random() * 3)::int, l::snowid_layout) END AS id,
    CASE n % 11 WHEN 0 THEN NULL WHEN 1 THEN '-infinity' WHEN 2 THEN 'infinity'
      ELSE '2026-01-01Z'::timestamptz + (random() * 20000)::int * interval '1 us' END AS since,
    CASE n % 13 WHEN 0 THEN NULL WHEN 1 THEN '-infinity' WHEN 2 THEN 'infinity'
      ELSE '2026-01-01Z'::timestamptz + (random() * 20000)::int * interval '1 us' END AS before
    FROM unnest(ARRAY['instagram', 'sonyflake', 'js53', 'shard:12 time:41 seq:10 unit:1ms epoch:2020-01-01T00:00:00Z',
      'seq:10 shard:12 time:41 unit:1ms epoch:2020-01-01T00:00:00Z']) AS l, generate_series(1, 2000) AS n;
SELECT layout, count(*) FILTER (WHERE is_in) > 100 AS some, count(*) FILTER (WHERE is_in IS NULL) > 100 AS unknown,
    -- A key that is no ID of the layout has no time, and is in no range.
    count(*) FILTER (WHERE CASE WHEN id IS NOT NULL AND time IS NULL THEN is_in ELSE is_in IS DISTINCT FROM (time >= since AND time < before) END) AS wrong
  FROM (SELECT *, snowid_in_range(id, since, before, layout) AS is_in, snowid_timestamp(id, layout) AS time FROM cases) AS c
 GROUP BY layout ORDER BY layout::text;
CREATE FUNCTION by_body(c cases) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  answer boolean;
BEGIN
  EXECUTE format('SELECT snowid_in_range(id, %L, %L, %L) FROM (VALUES ($1)) AS v (id)', c.since, c.before, c.layout) INTO answer USING c.id;
  RETURN answer;
END $$;
SELECT count(*) FILTER (WHERE by_body(c) IS DISTINCT FROM snowid_in_range(id, since, before, layout)) AS different FROM cases AS c;
-- The one exception: where a layout has the greatest bigint, that is in each range that begins after the layout's last unit.
SELECT snowid_in_range(9223372036854775807, '2046-06-27 17:00:49.496Z', 'infinity') AS last,
  snowid_in_range(9223372036854775806, '2050-01-01Z', 'infinity') AS after_the_end,
  snowid_in_range(9223372036854775807, '2050-01-01Z', 'infinity') AS exception,
  snowid_in_range(9223372036854775807, '2020-01-01Z', '2046-06-27 17:00:49.496Z') AS before_it;

-- So it is of UUIDs of version 7, and no other is in any range.
CREATE TABLE uuid_cases AS
  SELECT CASE WHEN n % 97 = 0 THEN NULL WHEN n % 5 = 0 THEN overlay(u::text PLACING substr('0123456689abcdef', (random() * 15)::int + 1, 1) FROM 15)::uuid
      WHEN n % 7 = 0 THEN overlay(u::text PLACING substr('01234567cdef', (random() * 11)::int + 1, 1) FROM 20)::uuid
      WHEN n % 11 = 0 THEN repeat(substr('0f', n % 2 + 1, 1), 32)::uuid ELSE u END AS id,
    CASE n % 13 WHEN 0 THEN NULL WHEN 1 THEN '-infinity' WHEN 2 THEN 'infinity' ELSE '2026-01-01Z'::timestamptz + (random() * 20000)::int * interval '1 us' END AS since,
    CASE n % 17 WHEN 0 THEN NULL WHEN 1 THEN '-infinity' WHEN 2 THEN 'infinity' ELSE '2026-01-01Z'::timestamptz + (random() * 20000)::int * interval '1 us' END AS before
    FROM generate_series(1, 4000) AS n, LATERAL (SELECT CASE n % 3 WHEN 0 THEN snowid_uuidv7_first_at(moment) ELSE snowid_uuidv7_last_at(moment) END AS u
      FROM (SELECT '2026-01-01Z'::timestamptz + random() * interval '20 ms' + n * interval '0') AS m (moment)) AS of_time;
SELECT is_version_7, count(*) FILTER (WHERE is_in) > 100 AS some, count(*) FILTER (WHERE is_in IS NULL) > 10 AS unknown,
    count(*) FILTER (WHERE is_in IS DISTINCT FROM (time >= since AND time < before AND is_version_7)) AS wrong
  FROM (SELECT *, snowid_uuidv7_in_range(id, since, before) AS is_in, snowid_uuid_timestamp(id) AS time,
      uuid_send(id) IS NULL OR id::text ~ '^.{14}7.{4}[89ab]' AS is_version_7 FROM uuid_cases) AS c
 GROUP BY is_version_7 ORDER BY is_version_7;

DROP TABLE ids, uuids, spans, checked, cases, uuid_cases CASCADE;
DROP FUNCTION first_day, counted, scans, forms, query_of, expected;
DROP SEQUENCE calls;
