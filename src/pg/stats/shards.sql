-- Statistics of shards. A role that may read the view must be able to call its function, too.

CREATE FUNCTION snowid.shard_statistics(OUT layout @extschema@.snowid_layout, OUT shard bigint, OUT issued bigint,
    OUT last_id bigint, OUT last_time pg_catalog.timestamptz, OUT lead double precision,
    OUT layout_end pg_catalog.timestamptz)
  RETURNS SETOF pg_catalog.record
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_shard_statistics';
COMMENT ON FUNCTION snowid.shard_statistics() IS 'what the view snowid.stat_shards shows';

CREATE VIEW snowid.stat_shards AS
  SELECT layout, shard, issued, last_id, last_time, lead, layout_end
  FROM snowid.shard_statistics();
COMMENT ON VIEW snowid.stat_shards IS
  'the shards that this server keeps for this database, and what each has issued since the server started '
  'or statistics were reset; counts may lag by a transaction';
COMMENT ON COLUMN snowid.stat_shards.layout IS 'layout of the IDs';
COMMENT ON COLUMN snowid.stat_shards.shard IS 'number of the shard';
COMMENT ON COLUMN snowid.stat_shards.issued IS 'IDs issued, also to transactions that were rolled back';
COMMENT ON COLUMN snowid.stat_shards.last_id IS
  'last ID issued, or one above which the shard goes on; null where it has issued none, or is closed';
COMMENT ON COLUMN snowid.stat_shards.last_time IS 'time of the last ID';
COMMENT ON COLUMN snowid.stat_shards.lead IS
  'milliseconds by which the time of the last ID is ahead of the clock now; 0 where it is not';
COMMENT ON COLUMN snowid.stat_shards.layout_end IS 'when IDs of the layout would turn negative: none are issued then';
