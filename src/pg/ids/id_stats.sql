-- Statistics: their reset

CREATE FUNCTION snowid.reset_stats() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_reset_stats';
COMMENT ON FUNCTION snowid.reset_stats() IS 'Resets all statistics of this database.';

-- Statistics of shards. A role that may read the view must be allowed to call its function.

CREATE FUNCTION snowid.shard_statistics(OUT layout @extschema@.snowid_layout, OUT shard bigint, OUT issued bigint,
    OUT last_id bigint)
  RETURNS SETOF pg_catalog.record
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_shard_statistics';
COMMENT ON FUNCTION snowid.shard_statistics() IS 'implementation of view snowid.stat_shards';

CREATE VIEW snowid.stat_shards AS
  SELECT s.layout, s.shard, s.issued, s.last_id, @extschema@.snowid_timestamp(s.last_id, s.layout) AS last_time,
    GREATEST(pg_catalog."extract"('epoch'::pg_catalog.text, @extschema@.snowid_timestamp(s.last_id, s.layout)
      OPERATOR(pg_catalog.-) pg_catalog.clock_timestamp()) OPERATOR(pg_catalog.*) 1000::numeric,
      0::numeric)::double precision AS lead,
    (@extschema@.snowid_describe_layout(s.layout)).expires_at
  FROM snowid.shard_statistics() AS s;
COMMENT ON VIEW snowid.stat_shards IS 'statistics of shards';
COMMENT ON COLUMN snowid.stat_shards.layout IS 'layout of the IDs';
COMMENT ON COLUMN snowid.stat_shards.shard IS 'shard';
COMMENT ON COLUMN snowid.stat_shards.issued IS 'IDs issued';
COMMENT ON COLUMN snowid.stat_shards.last_id IS 'last ID issued';
COMMENT ON COLUMN snowid.stat_shards.last_time IS 'time of the last ID';
COMMENT ON COLUMN snowid.stat_shards.lead IS 'lead of last_time over the clock, in milliseconds';
COMMENT ON COLUMN snowid.stat_shards.expires_at IS 'expiration time of the layout';

-- Statistics of the database

CREATE FUNCTION snowid.database_statistics(OUT ceiling pg_catalog.timestamptz, OUT ceiling_raises bigint,
    OUT wal_flushes bigint, OUT wal_flush_time double precision, OUT waits bigint, OUT wait_time double precision,
    OUT errors bigint, OUT backward_clock_steps bigint, OUT max_lead double precision, OUT ids_memory bigint,
    OUT kinds_memory bigint, OUT counters_memory bigint, OUT total_memory bigint, OUT stats_reset pg_catalog.timestamptz)
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_database_statistics';
COMMENT ON FUNCTION snowid.database_statistics() IS 'implementation of view snowid.stat_database';

CREATE VIEW snowid.stat_database AS
  SELECT pg_catalog.current_database() AS database, s.ceiling, s.ceiling_raises, s.wal_flushes, s.wal_flush_time,
    s.waits, s.wait_time, s.errors, s.backward_clock_steps, s.max_lead,
    s.ids_memory, s.kinds_memory, s.counters_memory, s.total_memory, s.stats_reset
  FROM snowid.database_statistics() s;
COMMENT ON VIEW snowid.stat_database IS 'statistics of this database';
COMMENT ON COLUMN snowid.stat_database.database IS 'name of the database';
COMMENT ON COLUMN snowid.stat_database.ceiling IS 'durable upper bound on all IDs'' times';
COMMENT ON COLUMN snowid.stat_database.ceiling_raises IS 'number of times the ceiling was raised';
COMMENT ON COLUMN snowid.stat_database.wal_flushes IS 'waits for WAL flush and synchronous standbys';
COMMENT ON COLUMN snowid.stat_database.wal_flush_time IS 'total time of these waits, in milliseconds';
COMMENT ON COLUMN snowid.stat_database.waits IS 'waits for the clock';
COMMENT ON COLUMN snowid.stat_database.wait_time IS 'total time of waits, in milliseconds';
COMMENT ON COLUMN snowid.stat_database.errors IS 'number of failed calls';
COMMENT ON COLUMN snowid.stat_database.backward_clock_steps IS 'backward clock steps of over 5 ms';
COMMENT ON COLUMN snowid.stat_database.max_lead IS 'greatest lead of an ID, in milliseconds';
COMMENT ON COLUMN snowid.stat_database.ids_memory IS 'bytes of shared memory for IDs';
COMMENT ON COLUMN snowid.stat_database.kinds_memory IS 'bytes of shared memory for UUIDs and ObjectIDs';
COMMENT ON COLUMN snowid.stat_database.counters_memory IS 'bytes of shared memory for counters';
COMMENT ON COLUMN snowid.stat_database.total_memory IS 'bytes of shared memory allocated by snowid';
COMMENT ON COLUMN snowid.stat_database.stats_reset IS 'time of the last statistics reset';
