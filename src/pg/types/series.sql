-- MariaDB's sequence tables, by generate_series()

CREATE FUNCTION snowid.require_step(step bigint) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF step < 1 THEN
    RAISE 'step must be greater than zero' USING ERRCODE = 'invalid_parameter_value',
      HINT = 'Exchange the ends of the series to have it descend.';
  END IF;
  RETURN step;
END $$;
COMMENT ON FUNCTION snowid.require_step(bigint) IS 'Returns a step, and raises an error unless it is positive.';

-- A descending series ends at y. In numeric, because the distance of two bigints can exceed a bigint. In the SELECT
-- list, to produce rows as they are read. Not STRICT, which would keep the planner from inlining it.
CREATE FUNCTION @extschema@.seq_x_to_y(x bigint, y bigint, step bigint DEFAULT 1, OUT seq bigint)
  RETURNS SETOF bigint
  IMMUTABLE PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT pg_catalog.generate_series(
    CASE WHEN step OPERATOR(pg_catalog.>) 0::bigint
        AND step::pg_catalog.numeric OPERATOR(pg_catalog.<=) d.difference
      THEN x OPERATOR(pg_catalog.-) pg_catalog.mod(d.difference, step::pg_catalog.numeric)::bigint ELSE x END,
    y,
    CASE WHEN x OPERATOR(pg_catalog.<=) y THEN 1::bigint ELSE (-1)::bigint END
      OPERATOR(pg_catalog.*) snowid.require_step(step))
    FROM (SELECT x::pg_catalog.numeric OPERATOR(pg_catalog.-) y::pg_catalog.numeric AS difference) AS d;
END;
COMMENT ON FUNCTION @extschema@.seq_x_to_y(bigint, bigint, bigint) IS 'Returns the numbers from x to y.';

CREATE FUNCTION snowid.number_of_name(name pg_catalog.text, place integer) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  numbers CONSTANT numeric[] := regexp_match(name, '^seq_([0-9]+)_to_([0-9]+)(?:_step_([0-9]+))?$');
BEGIN
  IF numbers IS NULL THEN
    RAISE 'invalid sequence table name: "%"', name USING ERRCODE = 'invalid_text_representation',
      HINT = 'Names have the form seq_FROM_to_TO or seq_FROM_to_TO_step_STEP.';
  ELSIF numbers[place] > 9223372036854775807 THEN
    RAISE 'number out of range in sequence table name "%"', name USING ERRCODE = 'invalid_text_representation',
      DETAIL = 'Numbers go from 0 to 9223372036854775807.';
  END IF;
  RETURN coalesce(numbers[place], 1);
END $$;
COMMENT ON FUNCTION snowid.number_of_name(pg_catalog.text, integer) IS
  'Returns an end, or the step, of the name of a sequence table.';

CREATE FUNCTION @extschema@.seq_x_to_y(name pg_catalog.text, OUT seq bigint) RETURNS SETOF bigint
  IMMUTABLE PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT s.seq
    FROM @extschema@.seq_x_to_y(snowid.number_of_name(name, 1), snowid.number_of_name(name, 2),
      snowid.number_of_name(name, 3)) AS s;
END;
COMMENT ON FUNCTION @extschema@.seq_x_to_y(pg_catalog.text) IS
  'Returns the numbers named by a sequence table of MariaDB, such as seq_1_to_15_step_3.';
