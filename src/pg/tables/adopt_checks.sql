-- Requirements on a column for IDs: the errors of snowid.adopt(), with hints

-- A table and its children, itself first; their column.
CREATE FUNCTION snowid.family_of(tbl pg_catalog.regclass, col pg_catalog.name, OUT relid pg_catalog.regclass,
    OUT attnum pg_catalog.int2, OUT relkind pg_catalog."char")
  RETURNS SETOF pg_catalog.record
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT f.relid::pg_catalog.regclass, a.attnum, c.relkind
    FROM snowid.tree_of(tbl::pg_catalog.oid) AS f (relid)
    JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) f.relid
    LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) f.relid
      AND a.attname OPERATOR(pg_catalog.=) col AND NOT a.attisdropped
   ORDER BY f.relid OPERATOR(pg_catalog.<>) tbl::pg_catalog.oid, f.relid;
END;
COMMENT ON FUNCTION snowid.family_of(pg_catalog.regclass, pg_catalog.name) IS 'Returns a table and its descendants, with one column.';

-- Raises an error if the caller may not alter a relation, or its columns cannot hold IDs.
CREATE FUNCTION snowid.require_table(tbl pg_catalog.regclass) RETURNS pg_catalog.void
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  c pg_class;
BEGIN
  SELECT * INTO c FROM pg_class WHERE oid = tbl;
  IF NOT FOUND THEN
    RAISE 'relation with OID % does not exist', tbl::oid USING ERRCODE = 'undefined_table';
  ELSIF c.relkind = 'f' THEN
    RAISE '"%" is a foreign table', c.relname USING ERRCODE = 'wrong_object_type',
      DETAIL = 'Its keys are not known on this server.', HINT = 'Adopt the column on its own server.';
  ELSIF c.relkind NOT IN ('r', 'p') THEN
    RAISE '"%" is not a table', c.relname USING ERRCODE = 'wrong_object_type';
  ELSIF NOT pg_has_role(c.relowner, 'USAGE') THEN
    RAISE 'must be owner of table %', c.relname USING ERRCODE = 'insufficient_privilege';
  ELSIF c.oid < 16384 THEN
    RAISE 'permission denied: "%" is a system catalog', c.relname USING ERRCODE = 'insufficient_privilege';
  ELSIF pg_is_other_temp_schema(c.relnamespace) THEN
    RAISE 'cannot alter temporary tables of other sessions' USING ERRCODE = 'feature_not_supported';
  END IF;
END $$;
COMMENT ON FUNCTION snowid.require_table(pg_catalog.regclass) IS 'Raises an error if a relation cannot have IDs as defaults.';

-- Raises an error if Citus has distributed a table: its rows are on other nodes, each with a shard of its own.
CREATE FUNCTION snowid.require_local_table(tbl pg_catalog.regclass, col pg_catalog.name, layout @extschema@.snowid_layout,
    call pg_catalog.text)
  RETURNS pg_catalog.void
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  is_distributed boolean;
BEGIN
  IF to_regclass('pg_catalog.pg_dist_partition') IS NULL THEN RETURN; END IF;
  EXECUTE 'SELECT EXISTS (SELECT FROM pg_catalog.pg_dist_partition AS d WHERE d.logicalrelid = $1)' INTO is_distributed USING tbl;
  IF is_distributed THEN
    RAISE 'table % is distributed by Citus', tbl USING ERRCODE = 'feature_not_supported',
      DETAIL = 'Its rows are on other nodes, each of which generates IDs of its own.',
      HINT = concat_ws(E'\n', 'While no session writes to it:',
        format('SELECT run_command_on_all_nodes(pg_catalog.format(''SELECT snowid.advance_past(%%L::bigint, %%L)'','
          ' pg_catalog.max(%1$I), %3$L)) FROM %2$s WHERE %1$I >= 0;', col, tbl, layout),
        format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s;', tbl, col, call));
  END IF;
END $$;
COMMENT ON FUNCTION snowid.require_local_table(pg_catalog.regclass, pg_catalog.name, @extschema@.snowid_layout, pg_catalog.text) IS
  'Raises an error if Citus has distributed a table.';

-- A type, and the types under it if it is a domain.
CREATE FUNCTION snowid.types_below(type pg_catalog.oid) RETURNS SETOF pg_catalog.oid
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  WITH RECURSIVE types(oid) AS (
    SELECT type
    UNION
    SELECT t.typbasetype FROM types AS s JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) s.oid
     WHERE t.typtype OPERATOR(pg_catalog.=) 'd'::pg_catalog."char")
  SELECT t.oid FROM types AS t;
END;
COMMENT ON FUNCTION snowid.types_below(pg_catalog.oid) IS 'Returns a type, and its base types if it is a domain.';

CREATE FUNCTION snowid.base_type(type pg_catalog.oid) RETURNS pg_catalog.oid
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT b.oid FROM snowid.types_below(type) AS b (oid) JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) b.oid
   WHERE t.typtype OPERATOR(pg_catalog.<>) 'd'::pg_catalog."char";
END;
COMMENT ON FUNCTION snowid.base_type(pg_catalog.oid) IS 'Returns the base type of a domain, else the type itself.';

-- Raises an error if a column cannot hold IDs, with a hint to widen it and the columns that refer to it, searched if
-- has_time.
CREATE FUNCTION snowid.require_wide_column(tbl pg_catalog.regclass, col pg_catalog.name, has_time boolean)
  RETURNS pg_catalog.void
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  tbl_name CONSTANT name := (SELECT c.relname FROM pg_class AS c WHERE c.oid = tbl);
  a pg_attribute;
  base oid;
  topmost regclass;
  widening text;
  reference text;
BEGIN
  SELECT * INTO a FROM pg_attribute WHERE attrelid = tbl AND attname = col AND NOT attisdropped;
  IF NOT FOUND THEN
    RAISE 'column "%" of relation "%" does not exist', col, tbl_name USING ERRCODE = 'undefined_column';
  ELSIF a.attnum < 0 THEN
    RAISE 'cannot alter system column "%"', col USING ERRCODE = 'feature_not_supported';
  ELSIF a.attinhcount > 0 THEN
    WITH RECURSIVE above(relid, height) AS (
      SELECT tbl::oid, 0
      UNION
      SELECT i.inhparent, height + 1 FROM above JOIN pg_inherits AS i ON i.inhrelid = above.relid
        JOIN pg_attribute AS p ON p.attrelid = i.inhparent AND p.attname = col)
    SELECT relid INTO topmost FROM above ORDER BY height DESC LIMIT 1;
    RAISE 'column "%" of relation "%" is inherited', col, tbl_name USING ERRCODE = 'invalid_table_definition',
      HINT = format('Adopt that of table %s; its partitions and children go along.', topmost);
  ELSIF a.attgenerated <> '' THEN
    RAISE 'column "%" of relation "%" is a generated column', col, tbl_name USING ERRCODE = 'invalid_column_definition';
  END IF;
  base := snowid.base_type(a.atttypid);
  IF has_time AND (base = ANY (ARRAY['int2', 'int4']::regtype[]::oid[]) OR snowid.is_id_type(base)) THEN widening := snowid.widening(tbl, col); END IF;
  IF NOT snowid.is_id_type(base) THEN
    RAISE 'column "%" of relation "%" is of type %, and IDs are of type bigint', col, tbl_name, a.atttypid::regtype
      USING ERRCODE = 'datatype_mismatch', DETAIL = coalesce(widening, ''), HINT = CASE WHEN widening IS NULL THEN '' ELSE
        'Widen it and everything referring to it, also in functions and programs, then adopt it.' END;
  ELSIF widening IS NOT NULL THEN
    RAISE 'columns referring to column "%" of relation "%" cannot hold IDs', col, tbl_name
      USING ERRCODE = 'datatype_mismatch', DETAIL = widening,
        HINT = 'Widen them, also in functions and programs, then adopt the column.';
  END IF;
  SELECT pg_describe_object('pg_constraint'::regclass, c.oid, 0) INTO reference
    FROM snowid.family_of(tbl, col) AS f JOIN pg_constraint AS c ON c.conrelid = f.relid AND c.contype = 'f',
      LATERAL ROWS FROM (unnest(c.conkey), unnest(c.confkey)) AS k (own, referred)
   WHERE k.own = f.attnum
     AND NOT EXISTS (SELECT FROM snowid.family_of(tbl, col) AS g WHERE g.relid = c.confrelid AND g.attnum = k.referred)
   ORDER BY f.relid <> tbl, c.conparentid, c.conname LIMIT 1;
  IF FOUND THEN
    RAISE 'column "%" of relation "%" refers to another column', col, tbl_name USING ERRCODE = 'object_not_in_prerequisite_state',
      DETAIL = format('It does so by %s. The referenced column contains no new ID.', reference), HINT = 'Adopt the referenced column.';
  END IF;
END $$;
COMMENT ON FUNCTION snowid.require_wide_column(pg_catalog.regclass, pg_catalog.name, boolean) IS
  'Raises an error if a column''s type cannot hold IDs.';

-- The tables, among a table and its children, that receive rows with an ID. Raises: 55000 if there is no partition for
-- them.
CREATE FUNCTION snowid.tables_for(tbl pg_catalog.regclass, col pg_catalog.name, id bigint) RETURNS SETOF pg_catalog.regclass
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  left_over oid[] := ARRAY[tbl::oid];
  one oid;
  p record;
BEGIN
  WHILE left_over <> '{}' LOOP
    one := left_over[1];
    left_over := left_over[2:];
    RETURN NEXT one::regclass;
    SELECT t.partstrat, t.partdefid INTO p FROM pg_partitioned_table AS t
      JOIN pg_attribute AS a ON a.attrelid = t.partrelid AND a.attname = col
     WHERE t.partrelid = one AND t.partnatts = 1 AND t.partattrs[0] = a.attnum AND t.partstrat IN ('r', 'l');
    IF NOT FOUND THEN
      left_over := left_over || ARRAY(SELECT i.inhrelid FROM pg_inherits AS i WHERE i.inhparent = one ORDER BY 1);
    ELSE
      left_over := left_over || coalesce(
        (SELECT r.relid FROM snowid.ranges_of(one) AS r WHERE p.partstrat = 'r' AND NOT r.is_default
            AND coalesce(r.first <= id, true) AND coalesce(id < r.next, true)), nullif(p.partdefid, 0::oid));
      IF left_over[cardinality(left_over)] IS NULL THEN
        RAISE 'table % has no partition for a new ID', one::regclass
          USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = format('The new ID is %s.', id),
            HINT = 'Create one first, or a default partition.';
      END IF;
    END IF;
  END LOOP;
END $$;
COMMENT ON FUNCTION snowid.tables_for(pg_catalog.regclass, pg_catalog.name, bigint) IS 'Returns the partitions for rows with an ID.';

-- Objects evaluated for each new row of a table: checks, generated columns, expressions and predicates of indexes,
-- triggers. An expression is null if it needs other columns. If it returns false, it rejects the row.
CREATE FUNCTION snowid.lookers_at(tbl pg_catalog.regclass, col pg_catalog.int2, OUT what pg_catalog.text,
    OUT expression pg_catalog.text)
  RETURNS SETOF pg_catalog.record
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY
    WITH looker(classid, objid, expression, own) AS (
      SELECT 'pg_constraint'::regclass, c.oid, format('(%s)::boolean', pg_get_expr(c.conbin, tbl)), 0 FROM pg_constraint AS c
       WHERE c.conrelid = tbl AND c.contype = 'c' AND coalesce((to_jsonb(c) ->> 'conenforced')::boolean, true)
      UNION ALL
      -- The cast to the column's type is stored and not printed; one to varchar would truncate.
      SELECT 'pg_attrdef'::regclass, d.oid,
          format(CASE WHEN a.attnotnull THEN '(%1$s)::%2$s IS NOT NULL' ELSE '((%1$s)::%2$s IS NULL OR true)' END
            || CASE WHEN a.atttypid = 'varchar'::regtype THEN ' AND (%1$s)::%2$s::text IS NOT DISTINCT FROM (%1$s)::text' ELSE '' END,
            pg_get_expr(d.adbin, tbl), format_type(a.atttypid, a.atttypmod)), a.attnum
        FROM pg_attrdef AS d JOIN pg_attribute AS a ON a.attrelid = tbl AND a.attnum = d.adnum
       WHERE d.adrelid = tbl AND a.attgenerated <> ''
      UNION ALL
      SELECT 'pg_class'::regclass, i.indexrelid,
          format(CASE WHEN i.indpred IS NULL THEN 'ROW(%s)' ELSE 'CASE WHEN %2$s THEN ROW(%1$s) END' END,
            pg_get_expr(i.indexprs, tbl), pg_get_expr(i.indpred, tbl)), 0
        FROM pg_index AS i WHERE i.indrelid = tbl AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)),
    depending AS (
      SELECT l.classid, l.objid, d.refclassid, d.refobjid, d.refobjsubid
        FROM looker AS l JOIN pg_depend AS d ON NOT (l.own > 0 AND d.refobjid = tbl AND d.refobjsubid = l.own)
         AND (d.classid = l.classid AND d.objid = l.objid
           -- Up to PostgreSQL 15 the generated column depends on other columns.
           OR l.own > 0 AND d.classid = 'pg_class'::regclass AND d.objid = tbl AND d.objsubid = l.own))
    SELECT pg_describe_object(l.classid, l.objid, 0), CASE WHEN u.columns = ARRAY[col]::int[] THEN l.expression END
      FROM looker AS l, LATERAL (
        SELECT array_agg(DISTINCT d.refobjsubid) FILTER (WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = tbl
              AND d.refobjsubid > 0) AS columns
          FROM depending AS d WHERE d.classid = l.classid AND d.objid = l.objid) AS u
     -- Directly, or through a column generated from this one.
     WHERE col = ANY (u.columns) OR u.columns && ARRAY(
       SELECT g.own::int FROM looker AS g JOIN depending AS d ON d.classid = g.classid AND d.objid = g.objid
        WHERE g.own > 0 AND d.refclassid = 'pg_class'::regclass AND d.refobjid = tbl AND d.refobjsubid = col)
    UNION ALL
    -- For INSERT.
    SELECT pg_describe_object('pg_policy'::regclass, p.oid, 0), NULL
      FROM pg_policy AS p WHERE p.polrelid = tbl AND p.polcmd IN ('a', '*')
    UNION ALL
    SELECT pg_describe_object('pg_rewrite'::regclass, r.oid, 0), NULL
      FROM pg_rewrite AS r WHERE r.ev_class = tbl AND r.ev_type = '3'
    UNION ALL
    SELECT format('partitions of table %s', tbl::regclass), NULL
      FROM pg_partitioned_table AS t
     WHERE t.partrelid = tbl AND (t.partexprs IS NOT NULL OR t.partnatts > 1 AND col = ANY (t.partattrs::int2[]))
    UNION ALL
    SELECT pg_describe_object('pg_trigger'::regclass, t.oid, 0), NULL
      FROM pg_trigger AS t WHERE t.tgrelid = tbl AND NOT t.tgisinternal AND t.tgtype & 4 <> 0 AND t.tgenabled <> 'D'
     ORDER BY 1;
END $$;
COMMENT ON FUNCTION snowid.lookers_at(pg_catalog.regclass, pg_catalog.int2) IS
  'Returns the constraints, indexes, and expressions checked for new values of a column.';

-- Tests a new ID on everything that checks the column alone, to raise 55000 early, as the table's owner: its code must
-- not have the caller's rights. A notice, if is_told, lists the rest: what needs a whole row, names that depend
-- on search_path, or other rights, and domains of another owner than the table's.
CREATE FUNCTION snowid.try_id(tbl pg_catalog.regclass, col pg_catalog.name, id bigint, is_told boolean)
  RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  untried text[] := '{}';
  one record;
  is_right boolean;
  reason text;
BEGIN
  FOR one IN
    SELECT pg_get_userbyid(c.relowner) AS owner, l.*
      FROM snowid.tables_for(tbl, col, id) AS t (relid) JOIN pg_class AS c ON c.oid = t.relid
      JOIN pg_attribute AS a ON a.attrelid = t.relid AND a.attname = col,
        LATERAL (SELECT *, format_type(snowid.base_type(a.atttypid), NULL) AS type FROM snowid.lookers_at(t.relid, a.attnum)
          UNION ALL
          SELECT pg_describe_object('pg_type'::regclass, d.oid, 0),
              CASE WHEN NOT EXISTS (SELECT FROM snowid.types_below(d.oid) AS b (oid)
                JOIN pg_type AS y ON y.oid = b.oid WHERE y.typtype = 'd' AND y.typowner <> c.relowner) THEN format('%I', col) END,
              format_type(a.atttypid, a.atttypmod)
            FROM pg_type AS d WHERE d.oid = a.atttypid AND d.typtype = 'd' AND t.relid = tbl) AS l
  LOOP
    BEGIN
      -- Null for values other than booleans, and without an expression.
      is_right := snowid.execute(one.owner, 'SELECT ' || one.expression || format(
        ' FROM (SELECT %s::bigint::%s AS %I) AS "new row"', id, one.type, col), true);
      reason := CASE WHEN NOT is_right THEN 'It is not fulfilled.' END;
    EXCEPTION
      WHEN syntax_error_or_access_rule_violation THEN one.expression := NULL;
      WHEN OTHERS THEN reason := format('It fails: %s.', SQLERRM);
    END;
    IF one.expression IS NULL THEN
      untried := untried || one.what;
    ELSIF reason IS NOT NULL THEN
      RAISE 'column "%" of relation % cannot hold a new ID', col, tbl
        USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = format('%s refuses %s. %s', one.what, id, reason),
          HINT = 'Change or drop it first.';
    END IF;
  END LOOP;
  IF is_told AND untried <> '{}' THEN
    RAISE NOTICE 'a new ID was not tested on all checks of new rows'
      USING DETAIL = format('Look at these: %s.', array_to_string(ARRAY(SELECT DISTINCT unnest(untried) ORDER BY 1), ', '));
  END IF;
END $$;
COMMENT ON FUNCTION snowid.try_id(pg_catalog.regclass, pg_catalog.name, bigint, boolean) IS 'Raises an error if a column rejects a new ID.';
