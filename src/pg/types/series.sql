-- MariaDB's sequence tables

CREATE FUNCTION snowid.seq_support(pg_catalog.internal) RETURNS pg_catalog.internal
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_seq_support';
COMMENT ON FUNCTION snowid.seq_support(pg_catalog.internal) IS
  'planner support for seq_x_to_y(bigint, bigint, bigint)';

CREATE FUNCTION @extschema@.seq_x_to_y(x bigint, y bigint, step bigint DEFAULT 1, OUT seq bigint)
  RETURNS SETOF bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_seq'
  SUPPORT snowid.seq_support;
COMMENT ON FUNCTION @extschema@.seq_x_to_y(bigint, bigint, bigint) IS 'Returns the numbers from x to y.';

CREATE FUNCTION snowid.seq_name_support(pg_catalog.internal) RETURNS pg_catalog.internal
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_seq_name_support';
COMMENT ON FUNCTION snowid.seq_name_support(pg_catalog.internal) IS 'planner support for seq_x_to_y(text)';

CREATE FUNCTION @extschema@.seq_x_to_y(name pg_catalog.text, OUT seq bigint) RETURNS SETOF bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_seq_name'
  SUPPORT snowid.seq_name_support;
COMMENT ON FUNCTION @extschema@.seq_x_to_y(pg_catalog.text) IS
  'Returns the numbers named by a sequence table of MariaDB, such as seq_1_to_15_step_3.';
