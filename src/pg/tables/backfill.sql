-- IDs and UUIDs for old rows

CREATE FUNCTION @extschema@.snowid_backfill(created_at pg_catalog.timestamptz, shard bigint,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  WINDOW IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_backfill';
COMMENT ON FUNCTION @extschema@.snowid_backfill(pg_catalog.timestamptz, bigint, @extschema@.snowid_layout) IS
  'Returns IDs with the times of existing rows, distinct and in order.';

-- VOLATILE, because each call has random bits of its own.
CREATE FUNCTION @extschema@.snowid_backfill_uuidv7(created_at pg_catalog.timestamptz) RETURNS pg_catalog.uuid
  WINDOW VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_backfill_uuidv7';
COMMENT ON FUNCTION @extschema@.snowid_backfill_uuidv7(pg_catalog.timestamptz) IS
  'Returns UUIDs of version 7 with the times of existing rows, distinct and in order.';
