-- IDs in base 62

CREATE FUNCTION @extschema@.snowid_to_base62(id bigint) RETURNS pg_catalog.text
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_to_base62';
COMMENT ON FUNCTION @extschema@.snowid_to_base62(bigint) IS 'Returns an ID as 11 characters of base 62, sorted like the IDs under COLLATE "C".';

CREATE FUNCTION @extschema@.snowid_from_base62(digits pg_catalog.text) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_from_base62';
COMMENT ON FUNCTION @extschema@.snowid_from_base62(pg_catalog.text) IS 'Returns the ID written in base 62.';

-- IDs scattered over the key space, as TiDB's users do. Increasing keys send all writes to one region of TiDB; with the
-- digit that changes fastest in second place, to ten.
CREATE FUNCTION snowid.move_digits(id bigint, digits integer, is_back boolean) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  written CONSTANT text := id;
  moved text;
BEGIN
  IF digits NOT BETWEEN 1 AND 3 THEN
    RAISE 'number of digits to move must be between 1 and 3' USING ERRCODE = 'invalid_parameter_value';
  ELSIF id < 0 THEN
    RAISE 'negative IDs cannot be scattered' USING ERRCODE = 'invalid_parameter_value';
  ELSIF length(written) <= digits THEN
    RAISE 'ID % has too few digits to move % of them', id, digits USING ERRCODE = 'invalid_parameter_value',
      DETAIL = format('They go behind the first one, so at least %s digits are needed.', digits + 1);
  END IF;
  moved := left(written, 1) || CASE WHEN is_back THEN substr(written, digits + 2) || substr(written, 2, digits)
    ELSE right(written, digits) || substr(left(written, -digits), 2) END;
  IF moved::numeric > 9223372036854775807 THEN
    RAISE 'ID % with its digits moved is out of range for type bigint', id USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN moved;
END $$;
COMMENT ON FUNCTION snowid.move_digits(bigint, integer, boolean) IS 'Moves decimal digits behind the first, or back.';

CREATE FUNCTION @extschema@.snowid_scatter(id bigint, digits int DEFAULT 1) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE SQL
  RETURN snowid.move_digits(id, digits, false);
COMMENT ON FUNCTION @extschema@.snowid_scatter(bigint, int) IS 'Moves an ID''s last decimal digits behind its first.';

CREATE FUNCTION @extschema@.snowid_unscatter(id bigint, digits int DEFAULT 1) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE SQL
  RETURN snowid.move_digits(id, digits, true);
COMMENT ON FUNCTION @extschema@.snowid_unscatter(bigint, int) IS 'Reverses snowid_scatter().';
