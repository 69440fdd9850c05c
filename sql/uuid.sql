-- UUIDs: those of version 7, and those that hold an ID.

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

-- The examples of RFC 9562 that have a time, of versions 7, 1 and 6, and the ends of each.
SELECT u, snowid_uuid_timestamp(u::uuid) FROM unnest(ARRAY[
  '017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 'c232ab00-9414-11ec-b3c8-9f6bdeced846',
  '1ec9414c-232a-6b00-b3c8-9f6bdeced846',
  '00000000-0000-7000-8000-000000000000', 'ffffffff-ffff-7fff-bfff-ffffffffffff',
  '00000000-0000-1000-8000-000000000000', 'ffffffff-ffff-1fff-bfff-ffffffffffff',
  '00000000-0000-6000-8000-000000000000', 'ffffffff-ffff-6fff-bfff-ffffffffffff']) u;
-- Null for all that have none: a generated column over keys of every kind.
CREATE TABLE mixed (u uuid, at timestamptz GENERATED ALWAYS AS (snowid_uuid_timestamp(u)) STORED);
INSERT INTO mixed VALUES ('919108f7-52d1-4320-9bac-f847db4148a8'), ('5df41881-3aed-3515-88a7-2f4a814cf09e'),
  ('2ed6657d-e927-568b-95e1-2665a8aea6a2'), ('2489e9ad-2ee2-8e00-8ec9-32d5f69181c0'),
  ('017f22e2-79b0-7cc3-18c4-dc0c0c07398f'), ('017f22e2-79b0-7cc3-d8c4-dc0c0c07398f'),
  ('c232ab00-9414-11ec-33c8-9f6bdeced846'), ('1ec9414c-232a-6b00-f3c8-9f6bdeced846'),
  ('00000000-0000-0000-0000-000000000000'), ('ffffffff-ffff-ffff-ffff-ffffffffffff'), (snowid_uuidv7());
SELECT count(*), count(at) AS with_a_time FROM mixed;
DROP TABLE mixed;

-- An ID as a UUID: what is stored must never change.
SELECT snowid_to_uuid(11637205501278089), snowid_to_uuid(0), snowid_to_uuid(9223372036854775807),
       snowid_to_uuid(454947766275222906, 'discord');
SELECT snowid_to_uuid(1, 'taobao'), snowid_to_uuid(1, 'shard:13 time:41 seq:10 unit:1ms epoch:2020-01-01T00:00:00Z');
SELECT snowid_uuid_timestamp(snowid_to_uuid(11637205501278089)) = snowid_timestamp(11637205501278089) AS same_time;
SELECT attempt('SELECT snowid_to_uuid(-1)');
SELECT attempt($$SELECT snowid_to_uuid(9007199254740992, 'js53')$$);

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

-- One that did not come from here, or of another layout, or with any bit changed, is refused.
SELECT attempt('SELECT snowid_from_uuid(snowid_uuidv7())') AS made_anew;
SELECT attempt($$SELECT snowid_from_uuid('919108f7-52d1-4320-9bac-f847db4148a8')$$);
SELECT attempt($$SELECT snowid_from_uuid(snowid_to_uuid(11637205501278089), 'twitter')$$);
SELECT attempt($$SELECT snowid_from_uuid(snowid_to_uuid(5, 'discord'), 'pgedge')$$);
SELECT l AS layout, array_agg(DISTINCT left(attempt(format('SELECT snowid_from_uuid(%L, %L)',
         encode(set_bit(u, bit, 1 - get_bit(u, bit)), 'hex'), l)), 5)) AS changed
  FROM unnest(ARRAY['instagram', 'taobao']) l, uuid_send(snowid_to_uuid(11637205501278089, l::snowid_layout)) u,
       generate_series(0, 127) bit
 GROUP BY l ORDER BY l;
SELECT num_nulls(snowid_uuid_timestamp(NULL), snowid_to_uuid(NULL), snowid_to_uuid(1, NULL),
                 snowid_from_uuid(NULL), snowid_from_uuid(snowid_to_uuid(1), NULL));
