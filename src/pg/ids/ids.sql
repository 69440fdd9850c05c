-- Generating IDs

CREATE FUNCTION @extschema@.snowid_next() RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next';
COMMENT ON FUNCTION @extschema@.snowid_next() IS 'Returns the next ID of the default shard.';

CREATE FUNCTION @extschema@.snowid_next(shard bigint) RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next_shard';
COMMENT ON FUNCTION @extschema@.snowid_next(bigint) IS 'Returns the next ID of a shard.';

CREATE FUNCTION @extschema@.snowid_default_shard() RETURNS bigint
  STABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_default_shard';
COMMENT ON FUNCTION @extschema@.snowid_default_shard() IS 'Returns the default shard: the node number, or the setting snowid.default_shard.';

CREATE FUNCTION @extschema@.snowid_next(shard bigint, layout @extschema@.snowid_layout) RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next_layout';
COMMENT ON FUNCTION @extschema@.snowid_next(bigint, @extschema@.snowid_layout) IS 'Returns the next ID of a shard in a layout.';

CREATE FUNCTION @extschema@.snowid_next_batch(count int) RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next_batch'
  SUPPORT snowid.batch_support;
COMMENT ON FUNCTION @extschema@.snowid_next_batch(int) IS 'Returns the next IDs of the default shard, in order.';

CREATE FUNCTION @extschema@.snowid_next_batch(shard bigint, count int,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next_batch'
  SUPPORT snowid.batch_support;
COMMENT ON FUNCTION @extschema@.snowid_next_batch(bigint, int, @extschema@.snowid_layout) IS 'Returns the next IDs of a shard, in order.';

CREATE FUNCTION @extschema@.snowid_reserve(count int) RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_reserve';
COMMENT ON FUNCTION @extschema@.snowid_reserve(int) IS 'Reserves consecutive IDs of the default shard, and returns the first.';

CREATE FUNCTION @extschema@.snowid_reserve(shard bigint, count int,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_reserve';
COMMENT ON FUNCTION @extschema@.snowid_reserve(bigint, int, @extschema@.snowid_layout) IS
  'Reserves consecutive IDs of a shard, and returns the first.';

CREATE FUNCTION @extschema@.snowid_lastval() RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_lastval';
COMMENT ON FUNCTION @extschema@.snowid_lastval() IS 'Returns the last ID generated in this session.';

CREATE FUNCTION @extschema@.snowid_currval(shard bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_currval';
COMMENT ON FUNCTION @extschema@.snowid_currval(bigint, @extschema@.snowid_layout) IS 'Returns the last ID of a shard generated in this session.';

-- Reading tables in the order of their IDs

CREATE FUNCTION @extschema@.snowid_watermark(tbl pg_catalog.regclass) RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL UNSAFE ROWS 1 LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_watermark';
COMMENT ON FUNCTION @extschema@.snowid_watermark(pg_catalog.regclass) IS 'Returns an upper bound of IDs for reading a table without missing rows.';

CREATE FUNCTION @extschema@.snowid_watermark(tbl pg_catalog.regclass, layout @extschema@.snowid_layout) RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL UNSAFE ROWS 1 LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_watermark';
COMMENT ON FUNCTION @extschema@.snowid_watermark(pg_catalog.regclass, @extschema@.snowid_layout) IS
  'Returns an upper bound of a layout''s IDs for reading a table without missing rows.';
