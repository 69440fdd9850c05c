-- Partitions by an ID's time

CREATE FUNCTION @extschema@.snowid_create_partitions(parent pg_catalog.regclass, step pg_catalog.interval,
    until pg_catalog.timestamptz, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS SETOF pg_catalog.regclass
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_create_partitions';
COMMENT ON FUNCTION @extschema@.snowid_create_partitions(pg_catalog.regclass, pg_catalog.interval, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'have a table partitioned by ID have partitions of months, days or the like up to a moment; those that were made';

CREATE FUNCTION @extschema@.snowid_drop_partitions(parent pg_catalog.regclass, before pg_catalog.timestamptz,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS SETOF pg_catalog.text
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_drop_partitions';
COMMENT ON FUNCTION @extschema@.snowid_drop_partitions(pg_catalog.regclass, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'drop the partitions that end before a moment; their names';

CREATE FUNCTION @extschema@.snowid_detach_partitions(parent pg_catalog.regclass, before pg_catalog.timestamptz,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS SETOF pg_catalog.regclass
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_detach_partitions';
COMMENT ON FUNCTION @extschema@.snowid_detach_partitions(pg_catalog.regclass, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'make tables of their own of the partitions that end before a moment; those tables';
