-- Columns to widen before a column can hold IDs: the column itself and those that refer to it

-- Columns that share a column's values through foreign keys and inheritance, itself included. Types are ignored:
-- foreign keys may lead over a wide column to a narrow one.
CREATE FUNCTION snowid.related_columns(tbl pg_catalog.regclass, col pg_catalog.name,
    OUT relid pg_catalog.oid, OUT attnum pg_catalog.int2)
  RETURNS SETOF pg_catalog.record
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  -- Paths from a column to others, in steps, each for all columns at once: a lookup for each column would read
  -- pg_constraint each time. A null column has the same name; it has a cast, because PostgreSQL's versions name an
  -- untyped NULL differently.
  WITH RECURSIVE ways(relid, attnum, to_relid, to_attnum) AS MATERIALIZED (
    SELECT c.confrelid, k.referred, c.conrelid, k.own
      FROM pg_catalog.pg_constraint AS c,
        LATERAL ROWS FROM (pg_catalog.unnest(c.conkey), pg_catalog.unnest(c.confkey)) AS k(own, referred)
     WHERE c.contype OPERATOR(pg_catalog.=) 'f'::pg_catalog."char"
    UNION ALL
    SELECT i.inhrelid, NULL::pg_catalog.int2, i.inhparent, NULL::pg_catalog.int2 FROM pg_catalog.pg_inherits AS i
    UNION ALL
    SELECT i.inhparent, NULL::pg_catalog.int2, i.inhrelid, NULL::pg_catalog.int2 FROM pg_catalog.pg_inherits AS i),
  related(relid, attnum, attname) AS (
    SELECT a.attrelid, a.attnum, a.attname
      FROM pg_catalog.pg_attribute AS a
     WHERE a.attrelid OPERATOR(pg_catalog.=) tbl AND a.attname OPERATOR(pg_catalog.=) col
       AND a.attnum OPERATOR(pg_catalog.>) 0::pg_catalog.int2 AND NOT a.attisdropped
    UNION
    SELECT a.attrelid, a.attnum, a.attname
      FROM related AS r
      JOIN ways AS w ON w.relid OPERATOR(pg_catalog.=) r.relid
       AND (w.attnum IS NULL OR w.attnum OPERATOR(pg_catalog.=) r.attnum)
      JOIN pg_catalog.pg_attribute AS a
        ON a.attrelid OPERATOR(pg_catalog.=) w.to_relid AND NOT a.attisdropped
       AND CASE WHEN w.to_attnum IS NULL THEN a.attname OPERATOR(pg_catalog.=) r.attname
             ELSE a.attnum OPERATOR(pg_catalog.=) w.to_attnum END)
  SELECT r.relid, r.attnum FROM related AS r;
END;
COMMENT ON FUNCTION snowid.related_columns(pg_catalog.regclass, pg_catalog.name) IS
  'Returns the columns tied to a column by foreign keys and inheritance.';

-- Statements that widen a column and those that refer to it to bigint, as text; null if none is needed. Objects that
-- block ALTER TABLE are all named; PostgreSQL would name one at a time. A function's arguments declared by the column's
-- type keep no dependency on it: functions with narrow arguments that mention one of the tables are named, too.
CREATE FUNCTION snowid.widening(tbl pg_catalog.regclass, col pg_catalog.name) RETURNS pg_catalog.text
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  WITH narrow AS (
    SELECT a.attrelid, a.attnum, a.attinhcount::pg_catalog.int4 AS inherited, c.relname, c.reltype,
        pg_catalog.format('%I.%I', n.nspname, c.relname) AS relation, a.attname,
        a.attrelid OPERATOR(pg_catalog.=) tbl AND a.attname OPERATOR(pg_catalog.=) col AS itself,
        EXISTS (SELECT FROM pg_catalog.pg_partitioned_table AS p
          WHERE p.partrelid OPERATOR(pg_catalog.=) a.attrelid
            AND a.attnum OPERATOR(pg_catalog.=) ANY (p.partattrs::pg_catalog.int2[])) AS divides
      FROM snowid.related_columns(tbl, col) AS r
      JOIN pg_catalog.pg_attribute AS a
        ON a.attrelid OPERATOR(pg_catalog.=) r.relid AND a.attnum OPERATOR(pg_catalog.=) r.attnum
      JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) a.atttypid
      JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) a.attrelid
      JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
     WHERE t.typcategory OPERATOR(pg_catalog.=) 'N'::pg_catalog."char"
       AND t.typlen OPERATOR(pg_catalog.=) ANY (ARRAY[2, 4]::pg_catalog.int2[])),
  statements AS (
    SELECT pg_catalog.string_agg(
        pg_catalog.format('ALTER TABLE %s ALTER COLUMN %I TYPE bigint;', relation, attname),
        pg_catalog.chr(10) ORDER BY itself DESC, relation COLLATE pg_catalog."C", attnum) AS list
      FROM narrow WHERE inherited OPERATOR(pg_catalog.=) 0 AND NOT divides),
  blocking AS (
    SELECT DISTINCT CASE WHEN w.ev_class IS NOT NULL AND w.rulename OPERATOR(pg_catalog.=) '_RETURN'::pg_catalog.name
        THEN pg_catalog.pg_describe_object('pg_catalog.pg_class'::pg_catalog.regclass, w.ev_class, 0)
        WHEN e.oid IS NOT NULL
        THEN pg_catalog.pg_describe_object('pg_catalog.pg_class'::pg_catalog.regclass, e.adrelid, e.adnum::pg_catalog.int4)
        ELSE pg_catalog.pg_describe_object(d.classid, d.objid, d.objsubid) END AS object
      FROM narrow AS r
      JOIN pg_catalog.pg_depend AS d
        ON d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
       AND d.refobjid OPERATOR(pg_catalog.=) r.attrelid
       AND d.refobjsubid OPERATOR(pg_catalog.=) r.attnum::pg_catalog.int4
      LEFT JOIN pg_catalog.pg_rewrite AS w
        ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_rewrite'::pg_catalog.regclass
       AND w.oid OPERATOR(pg_catalog.=) d.objid
      LEFT JOIN pg_catalog.pg_attrdef AS e
        ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_attrdef'::pg_catalog.regclass
       AND e.oid OPERATOR(pg_catalog.=) d.objid
     WHERE d.classid OPERATOR(pg_catalog.=) ANY (ARRAY['pg_catalog.pg_rewrite', 'pg_catalog.pg_proc',
        'pg_catalog.pg_policy', 'pg_catalog.pg_trigger', 'pg_catalog.pg_publication_rel']::pg_catalog.regclass[])
        OR (d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
            AND d.objsubid OPERATOR(pg_catalog.>) 0)
        OR (e.adrelid OPERATOR(pg_catalog.=) r.attrelid AND e.adnum OPERATOR(pg_catalog.<>) r.attnum)
    UNION
    SELECT pg_catalog.pg_describe_object(d.classid, d.objid, d.objsubid)
      FROM narrow AS r
      JOIN pg_catalog.pg_depend AS d
        ON d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_type'::pg_catalog.regclass
       AND d.refobjid OPERATOR(pg_catalog.=) r.reltype
     WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
       AND d.objsubid OPERATOR(pg_catalog.>) 0),
  blockers AS (
    SELECT pg_catalog.string_agg(object, ', ' ORDER BY object COLLATE pg_catalog."C") AS list FROM blocking),
  fixed AS (
    SELECT pg_catalog.string_agg(r.relation, ', ' ORDER BY r.relation COLLATE pg_catalog."C") AS list FROM narrow AS r WHERE r.divides),
  functions AS (
    SELECT pg_catalog.string_agg(p.oid::pg_catalog.regprocedure::pg_catalog.text, ', '
        ORDER BY p.oid::pg_catalog.regprocedure::pg_catalog.text COLLATE pg_catalog."C") AS list
      FROM pg_catalog.pg_proc AS p
      JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
      JOIN pg_catalog.pg_language AS l ON l.oid OPERATOR(pg_catalog.=) p.prolang
     WHERE n.nspname OPERATOR(pg_catalog.<>) ALL (ARRAY['pg_catalog', 'information_schema', 'snowid']::pg_catalog.name[])
       -- The source of a compiled function is a symbol.
       AND l.lanname OPERATOR(pg_catalog.<>) ALL (ARRAY['c', 'internal']::pg_catalog.name[])
       AND COALESCE(p.proallargtypes, p.proargtypes::pg_catalog.oid[]) OPERATOR(pg_catalog.&&)
         ARRAY['pg_catalog.int4'::pg_catalog.regtype::pg_catalog.oid, 'pg_catalog.int2'::pg_catalog.regtype::pg_catalog.oid]
       AND EXISTS (SELECT FROM narrow AS r
         WHERE pg_catalog.strpos(pg_catalog.lower(p.prosrc), pg_catalog.lower(r.relname::pg_catalog.text))
           OPERATOR(pg_catalog.>) 0))
  SELECT pg_catalog.concat_ws(pg_catalog.chr(10),
      pg_catalog.concat('Each of these statements rewrites its table while it is locked:',
        pg_catalog.chr(10)) OPERATOR(pg_catalog.||) s.list,
      'These stand in the way: drop them before, and create them again afterwards: '
        OPERATOR(pg_catalog.||) b.list OPERATOR(pg_catalog.||) '.',
      'The type of a partition key cannot be changed. Create these tables again: '
        OPERATOR(pg_catalog.||) f.list OPERATOR(pg_catalog.||) '.',
      'Look at these functions, which have narrow arguments and mention the tables: '
        OPERATOR(pg_catalog.||) p.list OPERATOR(pg_catalog.||) '.')
    FROM statements AS s, blockers AS b, fixed AS f, functions AS p
   WHERE s.list IS NOT NULL OR f.list IS NOT NULL;
END;
COMMENT ON FUNCTION snowid.widening(pg_catalog.regclass, pg_catalog.name) IS 'Returns the statements to widen a column and its references to bigint.';
