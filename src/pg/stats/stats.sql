-- Statistics: their reset

CREATE FUNCTION @extschema@.snowid_stat_reset() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_stat_reset';
COMMENT ON FUNCTION @extschema@.snowid_stat_reset() IS 'reset all statistics of this database';
