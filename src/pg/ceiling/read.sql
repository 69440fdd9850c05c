CREATE FUNCTION @extschema@.snowid_ceiling() RETURNS pg_catalog.timestamptz
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_ceiling';
COMMENT ON FUNCTION @extschema@.snowid_ceiling() IS 'time that no ID that this database has issued so far is later than';

