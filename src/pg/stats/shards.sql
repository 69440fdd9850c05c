-- Statistics of shards. A role that may read the view must be able to call its function, too.

CREATE FUNCTION snowid.shard_statistics(OUT layout @extschema@.snowid_layout, OUT shard bigint, OUT issued bigint,
    OUT last_id bigint, OUT last_time pg_catalog.timestamptz, OUT lead double precision,
    OUT max_lead double precision, OUT waits bigint, OUT wait_time double precision, OUT refusals bigint,
    OUT clock_steps_back bigint, OUT layout_end pg_catalog.timestamptz)
  RETURNS SETOF pg_catalog.record
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_shard_statistics';
COMMENT ON FUNCTION snowid.shard_statistics() IS 'what the view snowid.stat_shards shows';

CREATE VIEW snowid.stat_shards AS
  SELECT layout, shard, issued, last_id, last_time, lead, max_lead, waits, wait_time, refusals, clock_steps_back,
    layout_end
  FROM snowid.shard_statistics();
COMMENT ON VIEW snowid.stat_shards IS
  'the shards that this server keeps for this database, and what has happened in each since the server started '
  'or statistics were reset; counts may lag by a transaction';
COMMENT ON COLUMN snowid.stat_shards.layout IS 'layout of the IDs';
COMMENT ON COLUMN snowid.stat_shards.shard IS 'number of the shard';
COMMENT ON COLUMN snowid.stat_shards.issued IS 'IDs issued, also to transactions that were rolled back';
COMMENT ON COLUMN snowid.stat_shards.last_id IS
  'last ID issued, or one above which the shard goes on; null where it has issued none, or is closed';
COMMENT ON COLUMN snowid.stat_shards.last_time IS 'time of the last ID';
COMMENT ON COLUMN snowid.stat_shards.lead IS
  'milliseconds by which the time of the last ID is ahead of the clock now; 0 where it is not';
COMMENT ON COLUMN snowid.stat_shards.max_lead IS
  'the most that a lead was, in milliseconds, as seen twice in each snowid.ceiling_step and after each wait';
COMMENT ON COLUMN snowid.stat_shards.waits IS 'callers that have waited for the clock';
COMMENT ON COLUMN snowid.stat_shards.wait_time IS 'milliseconds that they have waited';
COMMENT ON COLUMN snowid.stat_shards.refusals IS
  'draws that were refused: the clock was too far behind, the layout used up, or the shard closed';
COMMENT ON COLUMN snowid.stat_shards.clock_steps_back IS
  'how often a caller of this shard was the first in the database to see that the clock had been set back';
COMMENT ON COLUMN snowid.stat_shards.layout_end IS 'when IDs of the layout would turn negative: none are issued then';
