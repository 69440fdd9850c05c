-- UUIDs: those of version 7, and those that hold an ID of any layout. What they hold is in uuid_ids.sql.

SET timezone = 'UTC';
SET datestyle = 'ISO';

-- Version 7, in order, none twice, with the time of now and random bits behind it.
CREATE TABLE drawn (n serial, u uuid DEFAULT snowid_uuidv7());
INSERT INTO drawn SELECT FROM generate_series(1, 5000);
SELECT count(DISTINCT u), array_agg(n ORDER BY n) = array_agg(n ORDER BY u) AS in_order,
       bool_and(substr(u::text, 15, 1) = '7') AS version_7,
       bool_and(substr(u::text, 20, 1) IN ('8', '9', 'a', 'b')) AS of_rfc,
       count(DISTINCT right(u::text, 16)) AS random,
       bool_and(snowid_uuid_timestamp(u) BETWEEN now() - interval '1 minute' AND now() + interval '1 minute') AS of_now
  FROM drawn;
-- Each of the 62 random bits is set in about half of them.
SELECT count(*) AS bits, bool_and(ones BETWEEN 2200 AND 2800) AS random FROM (
  SELECT count(*) FILTER (WHERE get_bit(uuid_send(u), bit) = 1) AS ones
    FROM drawn, generate_series(64, 127) bit WHERE bit NOT IN (70, 71) GROUP BY bit) bits;
DROP TABLE drawn;
SET default_transaction_read_only = on;
SELECT attempt('SELECT snowid_uuidv7()');
RESET default_transaction_read_only;

-- The first and the last one of a millisecond, at the ends, too; and what has none.
SELECT moment, snowid_uuidv7_first_at(moment), snowid_uuidv7_last_at(moment)
  FROM unnest('{1970-01-01Z,2022-02-22 19:22:22.000999Z,10889-08-02 05:31:50.655999Z}'::timestamptz[]) AS moment;
SELECT moment, attempt(format('SELECT snowid_uuidv7_first_at(%L)', moment)), left(attempt(format('SELECT snowid_uuidv7_last_at(%L)', moment)), 5) AS last
  FROM unnest('{1969-12-31 23:59:59.999999Z,10889-08-02 05:31:50.656Z,-infinity,infinity}'::text[]) AS moment;
SELECT num_nulls(snowid_uuidv7_first_at(NULL), snowid_uuidv7_last_at(NULL), snowid_is_uuidv7(NULL)) AS nulls;
-- Those made just now are between them.
SELECT bool_and(u BETWEEN snowid_uuidv7_first_at(snowid_uuid_timestamp(u)) AND snowid_uuidv7_last_at(snowid_uuid_timestamp(u))
    AND snowid_uuidv7_in_range(u, now() - interval '1 minute', now() + interval '1 minute') AND snowid_is_uuidv7(u)) AS between
  FROM (SELECT snowid_uuidv7() AS u FROM generate_series(1, 100)) AS made;
-- So are PostgreSQL's own, which there are from 18 on.
DO $$
DECLARE
  is_in boolean;
BEGIN
  IF to_regprocedure('pg_catalog.uuidv7()') IS NULL THEN RETURN; END IF;
  EXECUTE $x$SELECT bool_and(snowid_uuidv7_in_range(u, now() - interval '1 minute', now() + interval '1 minute') AND snowid_is_uuidv7(u))
    FROM (SELECT pg_catalog.uuidv7() AS u FROM generate_series(1, 100)) AS made$x$ INTO is_in;
  IF is_in IS DISTINCT FROM true THEN RAISE 'a UUID of PostgreSQL''s own is not in the range of its time'; END IF;
END $$;
SELECT u, snowid_is_uuidv7(u) FROM unnest('{017f22e2-79b0-7cc3-98c4-dc0c0c07398f,017f22e2-79b0-7cc3-d8c4-dc0c0c07398f,c232ab00-9414-11ec-b3c8-9f6bdeced846,
  919108f7-52d1-4320-9bac-f847db4148a8,1ec9414c-232a-6b00-b3c8-9f6bdeced846,00000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff}'::uuid[]) AS u;

-- In a layout whose IDs are not in the order of time.
SELECT snowid_to_uuid(1, 'shard:13 time:41 seq:10 unit:1ms epoch:2020-01-01T00:00:00Z');

-- Back exactly, in the same order, in each layout.
SELECT l.name, count(*) AS ids, count(*) FILTER (WHERE snowid_from_uuid(u, l.layout) = id) AS back,
       count(*) FILTER (WHERE u > before) AS in_order,
       array_agg(DISTINCT substr(u::text, 15, 1)) AS version
  FROM (SELECT name, layout FROM snowid.layout_names()
        UNION ALL VALUES ('seq first', 'seq:10 time:40 shard:13 unit:1ms epoch:2020-01-01T00:00:00Z'::snowid_layout),
                         ('before 1970', 'time:50 shard:3 seq:10 unit:1us epoch:1969-01-01T00:00:00Z')) l,
       LATERAL (SELECT id, u, lag(u, 1, '00000000-0000-0000-0000-000000000000') OVER (ORDER BY id) AS before
                  FROM (SELECT id, snowid_to_uuid(id, l.layout) AS u
                          FROM (SELECT (power(2, n / 10.0) * CASE l.name WHEN 'js53' THEN 1 ELSE 1000 END)::bigint + n AS id
                                  FROM generate_series(0, 529) n) numbers) made) pairs
 GROUP BY l.name ORDER BY l.name;

-- One that did not come from here is refused.
SELECT attempt('SELECT snowid_from_uuid(snowid_uuidv7())') AS made_anew;
