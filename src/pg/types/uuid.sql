-- UUIDs

CREATE FUNCTION @extschema@.snowid_uuidv7() RETURNS pg_catalog.uuid
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_uuidv7';
COMMENT ON FUNCTION @extschema@.snowid_uuidv7() IS 'Returns the next UUID of version 7 of this server.';

CREATE FUNCTION @extschema@.snowid_uuid_timestamp(uuid pg_catalog.uuid) RETURNS pg_catalog.timestamptz
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_uuid_timestamp';
COMMENT ON FUNCTION @extschema@.snowid_uuid_timestamp(pg_catalog.uuid) IS 'Returns the time of a UUID of version 1, 6, or 7, else null.';

CREATE FUNCTION snowid.is_uuidv7_support(pg_catalog.internal) RETURNS pg_catalog.internal
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_is_uuidv7_support';
COMMENT ON FUNCTION snowid.is_uuidv7_support(pg_catalog.internal) IS 'planner support for snowid_is_uuidv7()';

CREATE FUNCTION @extschema@.snowid_is_uuidv7(uuid pg_catalog.uuid) RETURNS boolean
  IMMUTABLE STRICT PARALLEL SAFE SUPPORT snowid.is_uuidv7_support LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_is_uuidv7';
COMMENT ON FUNCTION @extschema@.snowid_is_uuidv7(pg_catalog.uuid) IS 'Returns whether a UUID is of version 7.';

CREATE FUNCTION @extschema@.snowid_uuidv7_first_at(moment pg_catalog.timestamptz) RETURNS pg_catalog.uuid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_uuidv7_first_at';
COMMENT ON FUNCTION @extschema@.snowid_uuidv7_first_at(pg_catalog.timestamptz) IS 'Returns the least UUID of version 7 of a moment''s millisecond.';

CREATE FUNCTION @extschema@.snowid_uuidv7_last_at(moment pg_catalog.timestamptz) RETURNS pg_catalog.uuid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_uuidv7_last_at';
COMMENT ON FUNCTION @extschema@.snowid_uuidv7_last_at(pg_catalog.timestamptz) IS 'Returns the greatest UUID of version 7 of a moment''s millisecond.';

-- Bounds of a time range, as snowid.first_from() and snowid.last_before() for IDs. Beyond UUIDs of version 7: the
-- greatest of all UUIDs, or the least.
CREATE FUNCTION snowid.first_uuidv7_from(moment pg_catalog.timestamptz) RETURNS pg_catalog.uuid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_first_uuidv7_from';
COMMENT ON FUNCTION snowid.first_uuidv7_from(pg_catalog.timestamptz) IS 'Returns the least UUID of version 7 not before a moment.';

CREATE FUNCTION snowid.last_uuidv7_before(moment pg_catalog.timestamptz) RETURNS pg_catalog.uuid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_last_uuidv7_before';
COMMENT ON FUNCTION snowid.last_uuidv7_before(pg_catalog.timestamptz) IS 'Returns the greatest UUID of version 7 before a moment.';

-- Inlined as snowid_in_range(). The bounds alone would accept UUIDs of other versions, which lie anywhere.
CREATE FUNCTION @extschema@.snowid_uuidv7_in_range(uuid pg_catalog.uuid, since pg_catalog.timestamptz,
    before pg_catalog.timestamptz) RETURNS boolean
  IMMUTABLE PARALLEL SAFE SUPPORT snowid.in_range_support LANGUAGE SQL
  RETURN uuid OPERATOR(pg_catalog.>=) snowid.first_uuidv7_from(since)
    AND uuid OPERATOR(pg_catalog.<=) snowid.last_uuidv7_before(before) AND @extschema@.snowid_is_uuidv7(uuid);
COMMENT ON FUNCTION @extschema@.snowid_uuidv7_in_range(pg_catalog.uuid, pg_catalog.timestamptz, pg_catalog.timestamptz) IS
  'Returns whether a UUID is of version 7 with a time in [since, before); can use an index.';

CREATE FUNCTION @extschema@.snowid_to_uuid(id bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS pg_catalog.uuid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_to_uuid';
COMMENT ON FUNCTION @extschema@.snowid_to_uuid(bigint, @extschema@.snowid_layout) IS 'Returns a UUID of an ID, in the order of the IDs.';

CREATE FUNCTION @extschema@.snowid_from_uuid(uuid pg_catalog.uuid,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_from_uuid';
COMMENT ON FUNCTION @extschema@.snowid_from_uuid(pg_catalog.uuid, @extschema@.snowid_layout) IS 'Returns the ID in a UUID of snowid_to_uuid().';
