-- Times of UUIDs, and IDs in UUIDs. test/t/portable/same_regression.pl runs this with portable/snowid.sql, too.

SET timezone = 'UTC';
SET datestyle = 'ISO';

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
  ('00000000-0000-0000-0000-000000000000'), ('ffffffff-ffff-ffff-ffff-ffffffffffff'),
  ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
SELECT count(*), count(at) AS with_a_time FROM mixed;
DROP TABLE mixed;

-- An ID as a UUID: what is stored must never change.
SELECT snowid_to_uuid(11637205501278089), snowid_to_uuid(0), snowid_to_uuid(9223372036854775807),
       snowid_to_uuid(454947766275222906, 'discord');
SELECT snowid_to_uuid(1, 'taobao');
SELECT snowid_uuid_timestamp(snowid_to_uuid(11637205501278089)) = snowid_timestamp(11637205501278089) AS same_time;
SELECT attempt('SELECT snowid_to_uuid(-1)');
SELECT attempt($$SELECT snowid_to_uuid(9007199254740992, 'js53')$$);

-- One that did not come from here, or of another layout, or with any bit changed, is refused.
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

-- In each layout an ID is in a UUID, in order, and comes back.
SELECT name, count(*) AS ids, count(*) FILTER (WHERE snowid_from_uuid(u, name::snowid_layout) = id) AS back,
       count(*) FILTER (WHERE u > before) AS in_order, array_agg(DISTINCT substr(u::text, 15, 1)) AS version
  FROM (SELECT name, id, u, lag(u, 1, '00000000-0000-0000-0000-000000000000') OVER (PARTITION BY name ORDER BY id) AS before
          FROM (SELECT name, id, snowid_to_uuid(id, name::snowid_layout) AS u
                  FROM (SELECT name, CASE name WHEN 'js53' THEN 9007199254740991 ELSE 9223372036854775807 END AS last
                          FROM unnest(ARRAY['instagram', 'twitter', 'discord', 'leaf', 'pgedge', 'taobao', 'js53']) name) named,
                       LATERAL (SELECT n * (last / 201) + n * n AS id FROM generate_series(0::bigint, 200) n) numbers) made) pairs
 GROUP BY name ORDER BY name;
