-- UUIDs

CREATE FUNCTION @extschema@.snowid_uuidv7() RETURNS pg_catalog.uuid
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_uuidv7';
COMMENT ON FUNCTION @extschema@.snowid_uuidv7() IS
  'next UUID of version 7, greater than all that this server has made before';

CREATE FUNCTION @extschema@.snowid_uuid_timestamp(uuid pg_catalog.uuid) RETURNS pg_catalog.timestamptz
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_uuid_timestamp';
COMMENT ON FUNCTION @extschema@.snowid_uuid_timestamp(pg_catalog.uuid) IS
  'time at which a UUID of version 1, 6 or 7 was made; null for any other';

CREATE FUNCTION @extschema@.snowid_to_uuid(id bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS pg_catalog.uuid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_to_uuid';
COMMENT ON FUNCTION @extschema@.snowid_to_uuid(bigint, @extschema@.snowid_layout) IS
  'UUID that holds an ID, in the order of the IDs';

CREATE FUNCTION @extschema@.snowid_from_uuid(uuid pg_catalog.uuid,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_from_uuid';
COMMENT ON FUNCTION @extschema@.snowid_from_uuid(pg_catalog.uuid, @extschema@.snowid_layout) IS
  'ID in a UUID that snowid_to_uuid has made';
