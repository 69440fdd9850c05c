-- Making IDs

CREATE FUNCTION @extschema@.snowid_next() RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next';
COMMENT ON FUNCTION @extschema@.snowid_next() IS
  'next ID of the shard that is this node''s own number, or that snowid.default_shard names';

CREATE FUNCTION @extschema@.snowid_next(shard bigint) RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next_shard';
COMMENT ON FUNCTION @extschema@.snowid_next(bigint) IS 'next ID of a shard';

CREATE FUNCTION @extschema@.snowid_default_shard() RETURNS bigint
  STABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_default_shard';
COMMENT ON FUNCTION @extschema@.snowid_default_shard() IS
  'shard of snowid_next(): this node''s own number, or what snowid.default_shard names; to be passed to '
  'snowid_next(bigint, snowid_layout)';

CREATE FUNCTION @extschema@.snowid_next(shard bigint, layout @extschema@.snowid_layout) RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next_layout';
COMMENT ON FUNCTION @extschema@.snowid_next(bigint, @extschema@.snowid_layout) IS
  'next ID of a shard and layout';

CREATE FUNCTION @extschema@.snowid_next_batch(count int) RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next_batch'
  SUPPORT snowid.batch_support;
COMMENT ON FUNCTION @extschema@.snowid_next_batch(int) IS
  'next IDs of the shard of snowid_next(), in the order of issue';

CREATE FUNCTION @extschema@.snowid_next_batch(shard bigint, count int,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next_batch'
  SUPPORT snowid.batch_support;
COMMENT ON FUNCTION @extschema@.snowid_next_batch(bigint, int, @extschema@.snowid_layout) IS
  'next IDs of a shard and layout, in the order of issue';

CREATE FUNCTION @extschema@.snowid_reserve(count int) RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_reserve';
COMMENT ON FUNCTION @extschema@.snowid_reserve(int) IS
  'first of a number of consecutive IDs of the shard of snowid_next(), all of them the caller''s';

CREATE FUNCTION @extschema@.snowid_reserve(shard bigint, count int,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_reserve';
COMMENT ON FUNCTION @extschema@.snowid_reserve(bigint, int, @extschema@.snowid_layout) IS
  'first of a number of consecutive IDs of a shard and layout, all of them the caller''s';

CREATE FUNCTION @extschema@.snowid_lastval() RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_lastval';
COMMENT ON FUNCTION @extschema@.snowid_lastval() IS 'last ID that this session got';

CREATE FUNCTION @extschema@.snowid_currval(shard bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_currval';
COMMENT ON FUNCTION @extschema@.snowid_currval(bigint, @extschema@.snowid_layout) IS
  'last ID of a shard and layout that this session got';

-- Reading tables in the order of their IDs

CREATE FUNCTION @extschema@.snowid_watermark(tbl pg_catalog.regclass) RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL UNSAFE ROWS 1 LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_watermark';
COMMENT ON FUNCTION @extschema@.snowid_watermark(pg_catalog.regclass) IS
  'Returns an ID up to which later statements see all rows of a table.';

CREATE FUNCTION @extschema@.snowid_watermark(tbl pg_catalog.regclass, layout @extschema@.snowid_layout) RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL UNSAFE ROWS 1 LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_watermark';
COMMENT ON FUNCTION @extschema@.snowid_watermark(pg_catalog.regclass, @extschema@.snowid_layout) IS
  'Returns an ID of a layout up to which later statements see all rows of a table.';
