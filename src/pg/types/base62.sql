-- IDs in base 62

CREATE FUNCTION @extschema@.snowid_to_base62(id bigint) RETURNS pg_catalog.text
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_to_base62';
COMMENT ON FUNCTION @extschema@.snowid_to_base62(bigint) IS 'Returns an ID as 11 characters of base 62, sorted like the IDs under COLLATE "C".';

CREATE FUNCTION @extschema@.snowid_from_base62(digits pg_catalog.text) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_from_base62';
COMMENT ON FUNCTION @extschema@.snowid_from_base62(pg_catalog.text) IS 'Returns the ID written in base 62.';

-- IDs scattered over the key space, as TiDB's users do

CREATE FUNCTION @extschema@.snowid_scatter(id bigint, digits int DEFAULT 1) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_scatter';
COMMENT ON FUNCTION @extschema@.snowid_scatter(bigint, int) IS 'Moves an ID''s last decimal digits behind its first.';

CREATE FUNCTION @extschema@.snowid_unscatter(id bigint, digits int DEFAULT 1) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_unscatter';
COMMENT ON FUNCTION @extschema@.snowid_unscatter(bigint, int) IS 'Reverses snowid_scatter().';
