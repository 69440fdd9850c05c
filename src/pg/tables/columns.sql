-- Columns with IDs, found by the catalogs alone. Defaults are not evaluated.
--
-- A default, a domain's default, and a function with an SQL-standard body (BEGIN ATOMIC, RETURN) depend on the
-- functions they call: pg_depend tells whether one of snowid's is reached. A function with a text body has no
-- dependencies: it is listed if its text has the name of one of snowid's functions, and the row shows this. Uses
-- unknown to the catalogs are left out: triggers, names composed by a function, and statements of clients.

CREATE FUNCTION snowid.get_columns(OUT table_name pg_catalog.regclass, OUT column_name pg_catalog.name, OUT shard bigint,
    OUT layout @extschema@.snowid_layout, OUT column_default pg_catalog.text, OUT found_in pg_catalog.text)
  RETURNS SETOF pg_catalog.record
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
  SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
  WITH RECURSIVE member AS (
    SELECT d.objid AS oid, p.proname, p.provolatile = 'v' AND p.pronamespace = e.extnamespace AS is_maker
      FROM pg_extension AS e
      JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
        AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
      JOIN pg_proc AS p ON p.oid = d.objid
     WHERE e.extname = 'snowid'
  ), expression AS (
    SELECT 'pg_attrdef'::regclass::oid AS class, d.oid AS object, a.attrelid, a.attnum, a.attname,
        pg_get_expr(d.adbin, 0) AS text, d.adbin AS tree, NULL::oid AS domain
      FROM pg_attrdef AS d JOIN pg_attribute AS a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
     WHERE a.attgenerated = ''
    UNION ALL
    -- A column of the domain's type without a default of its own.
    SELECT 'pg_type'::regclass, t.oid, a.attrelid, a.attnum, a.attname, pg_get_expr(t.typdefaultbin, 0),
        t.typdefaultbin, t.oid
      FROM pg_type AS t
      JOIN pg_attribute AS a ON a.atttypid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
      JOIN pg_class AS c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p', 'f', 'v')
     WHERE t.typtype = 'd' AND t.typdefaultbin IS NOT NULL
       AND NOT EXISTS (SELECT FROM pg_attrdef AS d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum)
  ), called AS (
    -- `by` is the function called by the expression itself.
    SELECT DISTINCT x.class, x.object, d.refobjid AS by, d.refobjid AS function
      FROM expression AS x
      JOIN pg_depend AS d ON d.classid = x.class AND d.objid = x.object AND d.refclassid = 'pg_proc'::regclass
    UNION
    SELECT c.class, c.object, c.by, d.refobjid
      FROM called AS c
      JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = c.function AND d.refclassid = 'pg_proc'::regclass
  ), reached AS (
    SELECT c.class, c.object, c.by, CASE WHEN c.function = c.by THEN 0 ELSE 1 END AS how
      FROM called AS c JOIN member AS m ON m.oid = c.function AND m.is_maker
    UNION ALL
    SELECT c.class, c.object, c.by, 2
      FROM called AS c
      JOIN pg_proc AS p ON p.oid = c.function AND p.prosqlbody IS NULL
      JOIN pg_language AS l ON l.oid = p.prolang AND l.lanname NOT IN ('internal', 'c')
     WHERE p.oid NOT IN (SELECT m.oid FROM member AS m)
       AND p.prosrc ~* (SELECT concat(E'\\m(', string_agg(DISTINCT m.proname, '|'), E')\\M') FROM member AS m WHERE m.is_maker)
  )
  SELECT DISTINCT ON (x.attrelid, x.attnum)
      x.attrelid, x.attname, s.shard, s.layout, x.text,
      concat_ws(': ', CASE WHEN x.domain IS NULL THEN 'default' ELSE 'domain ' || format_type(x.domain, NULL) END,
        CASE r.how WHEN 1 THEN 'function ' || r.by::regprocedure WHEN 2 THEN 'text of function ' || r.by::regprocedure END)
    FROM expression AS x
    JOIN reached AS r ON r.class = x.class AND r.object = x.object,
      LATERAL snowid.source_of_expression(x.tree) AS s
   ORDER BY x.attrelid, x.attnum, r.how, r.by
$$;
COMMENT ON FUNCTION snowid.get_columns() IS 'implementation of view snowid.columns';

CREATE VIEW snowid.columns AS
  SELECT table_name, column_name, shard, layout, column_default, found_in FROM snowid.get_columns();
COMMENT ON VIEW snowid.columns IS 'columns with a default of snowid';
COMMENT ON COLUMN snowid.columns.table_name IS 'table';
COMMENT ON COLUMN snowid.columns.column_name IS 'column';
COMMENT ON COLUMN snowid.columns.shard IS 'shard of the default';
COMMENT ON COLUMN snowid.columns.layout IS 'layout of the default';
COMMENT ON COLUMN snowid.columns.column_default IS 'default of the column or its domain';
COMMENT ON COLUMN snowid.columns.found_in IS 'place of the call of snowid';
