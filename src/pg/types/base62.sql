-- IDs in base 62

CREATE FUNCTION @extschema@.snowid_to_base62(id bigint) RETURNS pg_catalog.text
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_to_base62';
COMMENT ON FUNCTION @extschema@.snowid_to_base62(bigint) IS
  'an ID in base 62: 11 characters that sort, under COLLATE "C", as the numbers do';

CREATE FUNCTION @extschema@.snowid_from_base62(digits pg_catalog.text) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_from_base62';
COMMENT ON FUNCTION @extschema@.snowid_from_base62(pg_catalog.text) IS 'ID that is written in base 62';

-- IDs scattered over the key space, as TiDB's users do

CREATE FUNCTION @extschema@.snowid_scatter(id bigint, digits int DEFAULT 1) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_scatter';
COMMENT ON FUNCTION @extschema@.snowid_scatter(bigint, int) IS
  'ID with its last decimal digits, up to three, moved behind its first one';

CREATE FUNCTION @extschema@.snowid_unscatter(id bigint, digits int DEFAULT 1) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_unscatter';
COMMENT ON FUNCTION @extschema@.snowid_unscatter(bigint, int) IS
  'ID that snowid_scatter was given, with the same number of digits';
