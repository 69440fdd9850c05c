-- Statistics: their reset

CREATE FUNCTION @extschema@.snowid_stat_reset() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_stat_reset';
COMMENT ON FUNCTION @extschema@.snowid_stat_reset() IS 'reset all statistics of this database';

-- Statistics of shards. A role that may read the view must be able to call its function, too.

CREATE FUNCTION snowid.shard_statistics(OUT layout @extschema@.snowid_layout, OUT shard bigint, OUT issued bigint,
    OUT last_id bigint, OUT last_time pg_catalog.timestamptz, OUT lead double precision,
    OUT expires_at pg_catalog.timestamptz)
  RETURNS SETOF pg_catalog.record
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_shard_statistics';
COMMENT ON FUNCTION snowid.shard_statistics() IS 'what the view snowid.stat_shards shows';

CREATE VIEW snowid.stat_shards AS
  SELECT layout, shard, issued, last_id, last_time, lead, expires_at
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
COMMENT ON COLUMN snowid.stat_shards.expires_at IS 'when the layout expires: no ID is issued from then on';

-- Statistics of the database

CREATE FUNCTION snowid.database_statistics(OUT ceiling pg_catalog.timestamptz, OUT ceiling_raises bigint,
    OUT wal_flushes bigint, OUT wal_flush_time double precision, OUT waits bigint, OUT wait_time double precision,
    OUT errors bigint, OUT backward_clock_steps bigint, OUT max_lead double precision, OUT ids_memory bigint,
    OUT kinds_memory bigint, OUT counters_memory bigint, OUT total_memory bigint, OUT stats_reset pg_catalog.timestamptz)
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_database_statistics';
COMMENT ON FUNCTION snowid.database_statistics() IS 'what the view snowid.stat_database shows';

CREATE VIEW snowid.stat_database AS
  SELECT pg_catalog.current_database() AS database, s.ceiling, s.ceiling_raises, s.wal_flushes, s.wal_flush_time,
    s.waits, s.wait_time, s.errors, s.backward_clock_steps, s.max_lead,
    s.ids_memory, s.kinds_memory, s.counters_memory, s.total_memory, s.stats_reset
  FROM snowid.database_statistics() s;
COMMENT ON VIEW snowid.stat_database IS
  'one row: the ceiling, events and memory of this database; counts are since the server started or '
  'statistics were reset';
COMMENT ON COLUMN snowid.stat_database.database IS 'name of the database';
COMMENT ON COLUMN snowid.stat_database.ceiling IS
  'no ID carries a time above this one, which is durable; null before the first ID';
COMMENT ON COLUMN snowid.stat_database.ceiling_raises IS 'how often the ceiling was raised';
COMMENT ON COLUMN snowid.stat_database.wal_flushes IS
  'how often a caller has waited for that to be on disk, here and on synchronous standbys';
COMMENT ON COLUMN snowid.stat_database.wal_flush_time IS 'milliseconds that they have waited';
COMMENT ON COLUMN snowid.stat_database.waits IS 'callers that have waited for the clock';
COMMENT ON COLUMN snowid.stat_database.wait_time IS 'milliseconds that they have waited';
COMMENT ON COLUMN snowid.stat_database.errors IS
  'calls that raised an error: the clock was too far behind, the layout used up, or the shard closed';
COMMENT ON COLUMN snowid.stat_database.backward_clock_steps IS 'how often a caller has seen that the clock had been set back';
COMMENT ON COLUMN snowid.stat_database.max_lead IS
  'the most that an ID was ahead of the clock, in milliseconds, as seen twice in each snowid.ceiling_step and after each wait';
COMMENT ON COLUMN snowid.stat_database.ids_memory IS
  'bytes of shared memory that entries for IDs take, of all databases of the server';
COMMENT ON COLUMN snowid.stat_database.kinds_memory IS 'the same for other kinds of ID';
COMMENT ON COLUMN snowid.stat_database.counters_memory IS 'the same for segments, sections and their keys';
COMMENT ON COLUMN snowid.stat_database.total_memory IS
  'bytes of shared memory that snowid has of the system, with what is free in it; null before PostgreSQL 17';
COMMENT ON COLUMN snowid.stat_database.stats_reset IS
  'when statistics were last reset, null where they were not since the server started';
