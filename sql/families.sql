-- What one family does to another. A shard that was only advanced has issued nothing, whatever its tick.
SELECT snowid.advance_shard(snowid_encode(now() - interval '1 day', 7002, 0));
SELECT shard, issued, last_id, last_time, lead
  FROM snowid.stat_shards WHERE layout = 'instagram' AND shard = 7002;

-- The other kinds of ID know no shard that could be released, and go on above what a database was advanced to.
CREATE TABLE moment AS SELECT clock_timestamp() + '0.7 s' AS moment;
SELECT snowid.release_shard(1) > 0;
SELECT attempt('SELECT snowid_next(1)') ~ 'was released' AS released, snowid_uuidv7() IS NOT NULL, objectid_next() IS NOT NULL;
SELECT snowid.advance_past(moment) FROM moment;
SELECT snowid_uuid_timestamp(snowid_uuidv7()) > moment AS uuid, objectid_timestamp(objectid_next()) > moment AS objectid
  FROM moment;
SELECT snowid.accept_shard(shard, snowid_encode(clock_timestamp() + '1 s', shard, 0)) FROM snowid.released_shards WHERE shard = 1;
DROP TABLE moment;

-- Columns that get numbers of any family, found by their defaults; their times are for snowid.future_times().
CREATE SEQUENCE columns_numbers INCREMENT 100;
CREATE TABLE columns_of_all (
  id bigint DEFAULT snowid_next(3, 'twitter'),
  uuid_id uuid DEFAULT snowid_to_uuid(snowid_next(9)),
  uuid uuid DEFAULT snowid_uuidv7(),
  object objectid DEFAULT objectid_next(),
  segment bigint DEFAULT snowid_segment_next('columns_numbers'),
  section bigint DEFAULT snowid_section_next('columns_numbers', 1));
SELECT column_name, shard, layout, column_default, found_in FROM snowid.columns WHERE table_name = 'columns_of_all'::regclass;
SELECT snowid.future_times(table_name, column_name, layout) IS NOT NULL AS future FROM snowid.columns
 WHERE table_name = 'columns_of_all'::regclass AND shard IS NOT NULL;
DROP TABLE columns_of_all;
DROP SEQUENCE columns_numbers;
