-- User tables: the common parts of adopting and partitions. All of it runs with the caller's rights.
--
-- Statements on a table, and queries of it, can run its owner's code: constraints, expressions of indexes and
-- statistics. Therefore they go through snowid.execute(), which gives this code only the owner's rights, and restores
-- search_path and role. Afterwards everything read before is stale, and is looked up again.
--
-- A function that changes a table first locks it, then reads the catalogs, then acts. It also reads them before the
-- lock, to raise its errors before any session has to wait. Both checks are the same function, called as a statement of
-- its own to see what was committed before. REPEATABLE READ would prevent this, hence snowid.require_read_committed().
--
-- No body names the extension's schema, see types/decode.sql.

-- Raises: 25001 in a transaction whose snapshot is older than the statement.
CREATE FUNCTION snowid.require_read_committed(function pg_catalog.text) RETURNS pg_catalog.void
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  level CONSTANT text := current_setting('transaction_isolation');
BEGIN
  IF level IN ('repeatable read', 'serializable') THEN
    RAISE '%() cannot run in a % transaction', function, upper(level)
      USING ERRCODE = 'active_sql_transaction', DETAIL = 'Its snapshot hides what other sessions have committed since it began.',
        HINT = 'Use BEGIN ISOLATION LEVEL READ COMMITTED.';
  END IF;
END $$;
COMMENT ON FUNCTION snowid.require_read_committed(pg_catalog.text) IS
  'Raises an error unless the transaction is READ COMMITTED.';

-- The extension's current schema, quoted and followed by a dot; empty for pg_catalog, as printed by pg_get_expr().
CREATE FUNCTION snowid.extension_prefix() RETURNS pg_catalog.text
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
  RETURN (SELECT CASE n.nspname WHEN 'pg_catalog'::pg_catalog.name THEN ''
        ELSE pg_catalog.quote_ident(n.nspname::pg_catalog.text) OPERATOR(pg_catalog.||) '.' END
    FROM pg_catalog.pg_extension AS e JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
   WHERE e.extname OPERATOR(pg_catalog.=) 'snowid'::pg_catalog.name);
COMMENT ON FUNCTION snowid.extension_prefix() IS 'Returns the extension''s schema, quoted, with a dot.';

CREATE FUNCTION snowid.unit_of(layout @extschema@.snowid_layout) RETURNS pg_catalog.interval
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE SQL
  RETURN (SELECT d.unit FROM @extschema@.snowid_describe_layout(layout) AS d);
COMMENT ON FUNCTION snowid.unit_of(@extschema@.snowid_layout) IS 'Returns the unit of time of a layout.';

-- The column of a table partitioned by ranges of one bigint or UUID, and which of them; nulls for every other table.
CREATE FUNCTION snowid.partition_key(tbl pg_catalog.oid, OUT attnum pg_catalog.int2, OUT is_uuid boolean)
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT p.partattrs[0], c.opcname OPERATOR(pg_catalog.=) 'uuid_ops'::pg_catalog.name
    FROM pg_catalog.pg_partitioned_table AS p
    JOIN pg_catalog.pg_opclass AS c ON c.oid OPERATOR(pg_catalog.=) p.partclass[0]
   WHERE p.partrelid OPERATOR(pg_catalog.=) tbl
     AND p.partstrat OPERATOR(pg_catalog.=) 'r'::pg_catalog."char"
     AND p.partnatts OPERATOR(pg_catalog.=) 1::pg_catalog.int2
     AND p.partattrs[0] OPERATOR(pg_catalog.>) 0::pg_catalog.int2
     AND c.opcname OPERATOR(pg_catalog.=) ANY (ARRAY['int8_ops'::pg_catalog.name, 'uuid_ops'::pg_catalog.name])
     AND c.opcnamespace OPERATOR(pg_catalog.=) 'pg_catalog'::pg_catalog.regnamespace::pg_catalog.oid;
END;
COMMENT ON FUNCTION snowid.partition_key(pg_catalog.oid) IS
  'Returns the column of a table partitioned by ranges of one bigint or UUID.';

-- UUIDs of version 7 in the order of time, for functions on IDs and their layout: the milliseconds and the next 12
-- bits.
CREATE FUNCTION snowid.uuidv7_layout() RETURNS @extschema@.snowid_layout
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE SQL
  RETURN 'time:48 shard:0 seq:12 unit:1ms epoch:1970-01-01T00:00:00Z'::@extschema@.snowid_layout;
COMMENT ON FUNCTION snowid.uuidv7_layout() IS 'Returns the layout of snowid.key_of_uuid_bound().';

CREATE FUNCTION snowid.key_of_uuid_bound(bound pg_catalog.uuid) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_key_of_uuid_bound';
COMMENT ON FUNCTION snowid.key_of_uuid_bound(pg_catalog.uuid) IS
  'Returns the place of a bound of UUIDs in the order of time, rounded up.';

-- For PL/pgSQL, as snowid.timestamp_of(); of UUIDs, their place in the order of time. Raises: 22008 for a moment beyond
-- the layout, or beyond UUIDs of version 7.
CREATE FUNCTION snowid.first_at(moment pg_catalog.timestamptz, layout @extschema@.snowid_layout, is_uuid boolean)
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE SQL
  RETURN CASE WHEN is_uuid THEN snowid.key_of_uuid_bound(@extschema@.snowid_uuidv7_first_at(moment))
    ELSE @extschema@.snowid_first_at(moment, layout) END;
COMMENT ON FUNCTION snowid.first_at(pg_catalog.timestamptz, @extschema@.snowid_layout, boolean) IS
  'Returns the first ID or UUID of a moment''s time unit.';

-- A partition's bound, as printed by PostgreSQL, as an ID.
CREATE FUNCTION snowid.key_of_bound(bound pg_catalog.text) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE SQL
  RETURN CASE WHEN pg_catalog.length(bound) OPERATOR(pg_catalog.=) 36
    THEN snowid.key_of_uuid_bound(bound::pg_catalog.uuid) ELSE bound::bigint END;
COMMENT ON FUNCTION snowid.key_of_bound(pg_catalog.text) IS 'Returns a bigint, or the place of a UUID in the order of time.';

-- The partitions of such a table: ranges of IDs, and the bounds. A null bound is no bound; both are null for the
-- default partition. With the table as argument, pg_get_expr() would lock it, and views of all tables would wait for
-- every session.
CREATE FUNCTION snowid.ranges_of(parent pg_catalog.oid, OUT relid pg_catalog.oid, OUT first bigint, OUT next bigint,
    OUT is_default boolean, OUT is_leaving boolean, OUT lower_bound pg_catalog.text, OUT upper_bound pg_catalog.text)
  RETURNS SETOF pg_catalog.record
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT b.relid, snowid.key_of_bound(NULLIF(b.bounds[1], 'MINVALUE')), snowid.key_of_bound(NULLIF(b.bounds[2], 'MAXVALUE')),
      b.bounds IS NULL, b.inhdetachpending, NULLIF(b.bounds[1], 'MINVALUE'), NULLIF(b.bounds[2], 'MAXVALUE')
    FROM (SELECT c.oid AS relid, i.inhdetachpending, pg_catalog.regexp_match(pg_catalog.pg_get_expr(c.relpartbound, 0),
              '^FOR VALUES FROM [(]''?(-?[0-9]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|MINVALUE)''?[)] '
              'TO [(]''?(-?[0-9]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|MAXVALUE)''?[)]$') AS bounds
            FROM pg_catalog.pg_inherits AS i
            JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) i.inhrelid
           WHERE i.inhparent OPERATOR(pg_catalog.=) parent
          -- Reads bounds once.
          OFFSET 0) AS b;
END;
COMMENT ON FUNCTION snowid.ranges_of(pg_catalog.oid) IS 'Returns the partitions of a table, with their ranges of IDs.';

-- The source of an expression's IDs if it is a call of snowid_next() with constants, however written; else nulls. The
-- shard is null for snowid_default_shard(). The expression is not evaluated.
CREATE FUNCTION snowid.source_of_expression(tree pg_catalog.pg_node_tree,
    OUT shard bigint, OUT layout @extschema@.snowid_layout)
  STABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_source_of_expression';
COMMENT ON FUNCTION snowid.source_of_expression(pg_catalog.pg_node_tree) IS 'Returns the shard and layout of a default.';

CREATE FUNCTION snowid.source_of_ids(tbl pg_catalog.oid, col pg_catalog.int2,
    OUT shard bigint, OUT layout @extschema@.snowid_layout)
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  SELECT s.shard, s.layout INTO shard, layout
    FROM pg_attrdef AS d
    JOIN pg_attribute AS a ON a.attrelid = d.adrelid AND a.attnum = d.adnum AND a.attgenerated = '',
      LATERAL snowid.source_of_expression(d.adbin) AS s
   WHERE d.adrelid = tbl AND d.adnum = col;
END $$;
COMMENT ON FUNCTION snowid.source_of_ids(pg_catalog.oid, pg_catalog.int2) IS 'Returns the shard and layout of a column''s default.';

-- The layout of a table's partition key, IDs or UUIDs, by its definition; else null.
CREATE FUNCTION snowid.layout_of_key(tbl pg_catalog.oid) RETURNS @extschema@.snowid_layout
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT CASE WHEN k.is_uuid THEN snowid.uuidv7_layout() ELSE (SELECT s.layout FROM snowid.source_of_ids(tbl, k.attnum) AS s) END
    FROM snowid.partition_key(tbl) AS k;
END;
COMMENT ON FUNCTION snowid.layout_of_key(pg_catalog.oid) IS 'Returns the layout of a table''s partition key.';

-- The first ID of the time unit of a moment, even beyond the layout. An ID has the start of its unit as its time:
-- current IDs are at or above it.
CREATE FUNCTION snowid.first_of_unit(moment pg_catalog.timestamptz, layout @extschema@.snowid_layout) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN snowid.first_from(moment - snowid.unit_of(layout) + interval '1 us', layout);
END $$;
COMMENT ON FUNCTION snowid.first_of_unit(pg_catalog.timestamptz, @extschema@.snowid_layout) IS 'Returns the first ID of a moment''s time unit.';

-- A table and its children. Unlike pg_partition_tree() it locks nothing.
CREATE FUNCTION snowid.tree_of(tbl pg_catalog.oid) RETURNS SETOF pg_catalog.oid
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  WITH RECURSIVE tree(relid) AS (
    SELECT tbl
    UNION
    SELECT i.inhrelid FROM tree AS t JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) t.relid)
  SELECT t.relid FROM tree AS t;
END;
COMMENT ON FUNCTION snowid.tree_of(pg_catalog.oid) IS 'Returns a table and all its descendants.';

-- Runs a statement on a table as its owner, see catalog_table.cpp. Returns the selected value if it has the type of `kind`.
CREATE FUNCTION snowid.execute(owner pg_catalog.name, statement pg_catalog.text, kind anyelement DEFAULT 0::bigint)
  RETURNS anyelement
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_execute';
COMMENT ON FUNCTION snowid.execute(pg_catalog.name, pg_catalog.text, anyelement) IS
  'Runs a statement as a role, restricted if it differs from the caller.';

-- Locks tables in the given order, each in its mode, with ONLY. Tables the caller cannot lock are left to the statement
-- that needs them.
--
-- A session waiting for a strong lock blocks all later ones, and one waiting with locks held can deadlock. Therefore it
-- tries in turns: a turn waits at most half of deadlock_timeout for all locks together, then releases them. Always this
-- call yields. Raises: 55P03 after lock_timeout, or after 10 s if there is none. Afterwards lock_timeout is the turn's:
-- the caller must restore it.
CREATE FUNCTION snowid.lock_tables(tables pg_catalog.oid[], modes pg_catalog.text[]) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  patience CONSTANT interval := coalesce(nullif(current_setting('lock_timeout')::interval, '0'), '10 s');
  turn CONSTANT interval := least(patience, current_setting('deadlock_timeout')::interval / 2);
  gives_up CONSTANT timestamptz := clock_timestamp() + patience;
  turn_ends timestamptz;
  one record;
  relation text;
BEGIN
  LOOP
    BEGIN
      turn_ends := least(clock_timestamp() + turn, gives_up);
      FOR one IN SELECT * FROM unnest(tables, modes) WITH ORDINALITY AS l (relid, mode, place) ORDER BY l.place LOOP
        -- Looked up again: it may be gone after the waits for the others.
        SELECT format('%I.%I', n.nspname, c.relname) INTO relation
          FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
         WHERE c.oid = one.relid AND c.relkind IN ('r', 'p') AND has_table_privilege(c.oid, 'UPDATE, DELETE, TRUNCATE');
        CONTINUE WHEN NOT FOUND;
        PERFORM set_config('lock_timeout',
          greatest(1, ceil(extract(epoch FROM turn_ends - clock_timestamp()) * 1000))::bigint::text, true);
        EXECUTE format('LOCK TABLE ONLY %s IN %s MODE', relation, one.mode);
        -- It was locked by name, which may have become another table's meanwhile.
        IF to_regclass(relation) IS DISTINCT FROM one.relid THEN
          RAISE 'table % was renamed', relation USING ERRCODE = 'lock_not_available';
        END IF;
      END LOOP;
      PERFORM set_config('lock_timeout', greatest(1, extract(epoch FROM turn) * 1000)::bigint::text, true);
      RETURN;
    EXCEPTION WHEN lock_not_available THEN
      IF clock_timestamp() >= gives_up THEN RAISE; END IF;
    END;
    PERFORM pg_sleep(0.1);
  END LOOP;
END $$;
COMMENT ON FUNCTION snowid.lock_tables(pg_catalog.oid[], pg_catalog.text[]) IS 'Locks tables, and releases all locks while it waits.';
