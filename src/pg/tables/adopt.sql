-- Columns that become IDs. Everything is checked before the first change and the first lock, and again under the lock,
-- because it may have changed meanwhile.

-- The greatest key of a table and its children, by indexes, or by reading at most 8 MB of all tables together.
-- Requires: the right to read all their rows.
CREATE FUNCTION snowid.greatest_key(tbl pg_catalog.regclass, col pg_catalog.name) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
  SET enable_seqscan = off SET enable_indexscan = on SET enable_indexonlyscan = on SET row_security = off AS $$
DECLARE
  most CONSTANT bigint := 8388608;
  size bigint := 0;
  one record;
  key bigint;
  greatest_key bigint;
BEGIN
  FOR one IN
    SELECT f.relid FROM snowid.family_of(tbl, col) AS f
     WHERE f.relkind = 'r' AND NOT EXISTS (
       SELECT FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_am AS m ON m.oid = c.relam
         JOIN pg_opclass AS o ON o.oid = i.indclass[0] JOIN pg_opfamily AS p ON p.oid = o.opcfamily
        WHERE i.indrelid = f.relid AND i.indisvalid AND i.indkey[0] = f.attnum AND i.indpred IS NULL
          AND m.amname = 'btree' AND p.opfname = 'integer_ops' AND p.opfnamespace = 'pg_catalog'::regnamespace)
  LOOP
    size := size + pg_relation_size(one.relid);
    IF size > most THEN
      RAISE 'no index finds the greatest "%" of table %', col, one.relid
        USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = 'More than 8 MB would have to be read under a lock.',
          HINT = format('Use CREATE INDEX CONCURRENTLY ON %s (%I). The index may be dropped afterwards.', one.relid, col);
    END IF;
  END LOOP;
  FOR one IN
    SELECT f.relid, pg_get_userbyid(c.relowner) AS owner
      FROM snowid.family_of(tbl, col) AS f JOIN pg_class AS c ON c.oid = f.relid WHERE f.relkind = 'r'
  LOOP
    key := snowid.execute(one.owner, format('SELECT pg_catalog.max(%I) FROM ONLY %s', col, one.relid));
    greatest_key := greatest(greatest_key, key);
  END LOOP;
  RETURN greatest_key;
END $$;
COMMENT ON FUNCTION snowid.greatest_key(pg_catalog.regclass, pg_catalog.name) IS
  'Returns the greatest value of a column, if few pages need to be read.';

-- For PL/pgSQL, as snowid.timestamp_of().
CREATE FUNCTION snowid.next_of(shard bigint, layout @extschema@.snowid_layout) RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE SQL
  RETURN @extschema@.snowid_next(shard, layout);
COMMENT ON FUNCTION snowid.next_of(bigint, @extschema@.snowid_layout) IS 'Returns snowid_next(shard, layout).';

-- Not a SQL body, because without arguments a function of another owner can match as well.
CREATE FUNCTION snowid.get_default_shard() RETURNS bigint
  STABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_default_shard';
COMMENT ON FUNCTION snowid.get_default_shard() IS 'Returns snowid_default_shard().';

CREATE FUNCTION snowid.may_advance() RETURNS boolean
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
  RETURN pg_catalog.has_function_privilege(
    'snowid.advance_shard(bigint, @extschema@.snowid_layout)'::pg_catalog.regprocedure::pg_catalog.oid,
    'EXECUTE'::pg_catalog.text);
COMMENT ON FUNCTION snowid.may_advance() IS 'Returns whether the caller may execute snowid.advance_shard().';

-- Advances a shard to the time unit of a key: to its last ID there if below the key, else to the ID with the key's
-- sequence. The shard's next ID is above the key.
CREATE FUNCTION snowid.advance_to(key bigint, shard bigint, layout @extschema@.snowid_layout) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT snowid.advance_shard(CASE WHEN i.last OPERATOR(pg_catalog.<=) key THEN i.last ELSE i.same END, layout)
    FROM (SELECT @extschema@.snowid_encode(m.moment, shard, @extschema@.snowid_sequence(key, layout), layout) AS same,
            @extschema@.snowid_encode(m.moment, shard,
              @extschema@.snowid_sequence(@extschema@.snowid_last_at(m.moment, layout), layout), layout) AS last
          FROM (SELECT @extschema@.snowid_timestamp(key, layout) AS moment) AS m) AS i;
END;
COMMENT ON FUNCTION snowid.advance_to(bigint, bigint, @extschema@.snowid_layout) IS 'Moves a shard above a key.';

-- Generates an ID of a shard and layout above a key. If the next one is not, advances the shard, with the rights
-- required by snowid.advance_shard().
CREATE FUNCTION snowid.draw_above(key bigint, shard bigint, layout @extschema@.snowid_layout) RETURNS bigint
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  id bigint := snowid.next_of(shard, layout);
  moment timestamptz;
BEGIN
  IF id > coalesce(key, -1) THEN RETURN id; END IF;
  IF key <= snowid.last_before('infinity', layout) THEN moment := snowid.timestamp_of(key, layout); END IF;
  IF coalesce(moment > clock_timestamp() + current_setting('snowid.max_lead')::interval, true) THEN
    RAISE 'key % is above the next IDs', key
      USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = CASE WHEN moment IS NULL
        THEN format('It is above all IDs of layout "%s".', layout)
        ELSE format('An ID of layout "%s" above it has the time %s, and IDs run ahead of the clock by at most %s.',
          layout, moment, current_setting('snowid.max_lead')) END,
      HINT = 'Change these keys first, or choose a layout with greater IDs. If another server generated the key, '
        'compare the clocks.';
  ELSIF NOT snowid.may_advance() THEN
    RAISE 'permission denied to move shard % ahead', shard
      USING ERRCODE = 'insufficient_privilege', DETAIL = format('Key %s is ahead of the clock: its time is %s.', key, moment),
        HINT = 'Wait until the clock has passed it, or make the call as a role with EXECUTE on snowid.advance_shard().';
  END IF;
  PERFORM snowid.advance_to(key, shard, layout);
  RETURN snowid.next_of(shard, layout);
END $$;
COMMENT ON FUNCTION snowid.draw_above(bigint, bigint, @extschema@.snowid_layout) IS 'Returns an ID above a key.';

-- Shards used in this database by a default without one, in this session and in others. A role's setting for itself
-- does not count, because any role can set anything; see snowid.tell_role_shards().
CREATE FUNCTION snowid.default_shards() RETURNS bigint[]
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  shards bigint[] := ARRAY[snowid.get_default_shard()];
  others text;
BEGIN
  FOR others IN
    SELECT unnest(ARRAY[s.boot_val, s.reset_val]) FROM pg_settings AS s WHERE s.name = 'snowid.default_shard'
    UNION
    SELECT split_part(c.setting, '=', 2) FROM pg_db_role_setting AS r, unnest(r.setconfig) AS c (setting)
     WHERE split_part(c.setting, '=', 1) = 'snowid.default_shard' AND r.setrole = 0
       AND r.setdatabase IN (0, (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))
  LOOP
    CONTINUE WHEN others = current_setting('snowid.default_shard');
    BEGIN
      PERFORM set_config('snowid.default_shard', others, true);
      shards := shards || snowid.get_default_shard();
      -- Undoes the setting, including more than its value.
      RAISE SQLSTATE 'SN000';
    EXCEPTION
      WHEN SQLSTATE 'SN000' THEN NULL;
      -- A setting without a shard is used by no session.
      WHEN invalid_parameter_value OR object_not_in_prerequisite_state THEN NULL;
    END;
  END LOOP;
  RETURN shards;
END $$;
COMMENT ON FUNCTION snowid.default_shards() IS 'Returns the default shards of this session and of the database.';

-- Names the roles with a shard of their own, in a notice.
CREATE FUNCTION snowid.tell_role_shards() RETURNS pg_catalog.void
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  settings CONSTANT text := (
    SELECT string_agg(format('%I%s: %s', pg_get_userbyid(r.setrole), CASE WHEN r.setdatabase <> 0 THEN ' in this database' END,
          left(split_part(c.setting, '=', 2), 20)), ', ' ORDER BY pg_get_userbyid(r.setrole), r.setdatabase)
      FROM pg_db_role_setting AS r, unnest(r.setconfig) AS c (setting)
     WHERE split_part(c.setting, '=', 1) = 'snowid.default_shard' AND r.setrole <> 0
       AND r.setdatabase IN (0, (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())));
BEGIN
  IF settings IS NOT NULL THEN
    RAISE NOTICE 'roles have settings of their own for parameter "snowid.default_shard"'
      USING DETAIL = format('These are: %s.', settings),
        HINT = 'If a key is ahead of the clock, use snowid.advance_shard() to move these shards above it.';
  END IF;
END $$;
COMMENT ON FUNCTION snowid.tell_role_shards() IS 'Names the roles with a shard of their own.';

-- Raises an error if a column cannot be adopted; advances its shard above the existing keys. Returns whether it is
-- adopted already.
CREATE FUNCTION snowid.is_adopted(tbl pg_catalog.regclass, col pg_catalog.name, shard bigint,
    layout @extschema@.snowid_layout, call pg_catalog.text, is_first boolean)
  RETURNS boolean
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  key bigint;
  id bigint;
BEGIN
  PERFORM snowid.require_table(tbl);
  PERFORM snowid.require_wide_column(tbl, col, is_first);
  PERFORM snowid.require_table(f.relid), snowid.require_local_table(f.relid, col, layout, call) FROM snowid.family_of(tbl, col) AS f;
  IF (SELECT bool_and(a.attidentity = '' AND s.shard IS NOT DISTINCT FROM is_adopted.shard
          AND coalesce(snowid.layout_eq(s.layout, is_adopted.layout), false))
        FROM snowid.family_of(tbl, col) AS f JOIN pg_attribute AS a ON a.attrelid = f.relid AND a.attnum = f.attnum,
          LATERAL snowid.source_of_ids(f.relid, f.attnum) AS s) THEN
    RETURN true;
  END IF;
  key := snowid.greatest_key(tbl, col);
  SELECT max(snowid.draw_above(key, s.shard, layout)) INTO id
    FROM (SELECT DISTINCT unnest(CASE WHEN is_adopted.shard IS NULL THEN snowid.default_shards() ELSE ARRAY[is_adopted.shard] END)) AS s (shard);
  PERFORM snowid.try_id(tbl, col, id, NOT is_first);
  RETURN false;
END $$;
COMMENT ON FUNCTION snowid.is_adopted(pg_catalog.regclass, pg_catalog.name, bigint, @extschema@.snowid_layout, pg_catalog.text, boolean) IS
  'Returns whether a column is adopted, and raises an error if it cannot be.';

-- Drops a sequence, by a statement, and reports its privileges.
CREATE FUNCTION snowid.drop_sequence(seq pg_catalog.regclass, statement pg_catalog.text) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  name CONSTANT text := seq;
  granted CONSTANT text := (
    SELECT string_agg(format('%s to %s', g.rights, g.grantee), '; ' ORDER BY g.grantee)
      FROM (SELECT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS grantee,
                string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type) AS rights
              FROM pg_class AS c, aclexplode(c.relacl) AS a WHERE c.oid = seq AND a.grantee <> c.relowner GROUP BY 1) AS g);
  dependents text;
BEGIN
  PERFORM snowid.execute(current_user, statement);
  IF granted IS NOT NULL THEN
    RAISE NOTICE 'privileges on sequence % are dropped with it', name
      USING DETAIL = format('The privileges are: %s.', granted), HINT = 'Roles inserting into the table no longer need them.';
  END IF;
EXCEPTION WHEN dependent_objects_still_exist THEN
  GET STACKED DIAGNOSTICS dependents = PG_EXCEPTION_DETAIL;
  RAISE 'cannot drop sequence % because other objects depend on it', name
    USING ERRCODE = 'dependent_objects_still_exist', DETAIL = dependents,
      HINT = format('Use another source of numbers for these first; or keep a serial''s sequence, by ALTER SEQUENCE %s OWNED BY NONE.', name);
END $$;
COMMENT ON FUNCTION snowid.drop_sequence(pg_catalog.regclass, pg_catalog.text) IS 'Drops the sequence of a column.';

CREATE FUNCTION snowid.adopt(tbl pg_catalog.regclass, col pg_catalog.name, shard bigint DEFAULT NULL,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS pg_catalog.text
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  patience CONSTANT text := current_setting('lock_timeout');
  own CONSTANT text := snowid.extension_prefix();
  call text;
  is_done boolean;
  family oid[];
  replaced text;
  one record;
  serials regclass[] := '{}';
  serial regclass;
  serial_name text;
BEGIN
  IF tbl IS NULL OR col IS NULL OR layout IS NULL THEN
    RAISE 'table, column and layout must not be null' USING ERRCODE = 'null_value_not_allowed';
  ELSIF NOT snowid.layout_is_ordered(layout) THEN
    RAISE 'IDs of layout "%" are not in the order of their times', layout USING ERRCODE = 'invalid_parameter_value',
      DETAIL = 'The time is not its first field, so new IDs can equal existing keys.';
  END IF;
  PERFORM snowid.require_read_committed('snowid.adopt');
  call := CASE WHEN shard IS NULL THEN own || 'snowid_default_shard()'
    WHEN shard <= 2147483647 THEN format('(%s)::bigint', shard) ELSE format('%L::bigint', shard) END;
  call := format('%ssnowid_next(%s)', own, CASE
    WHEN snowid.layout_ne(layout, 'instagram') THEN format('%s, %L::%ssnowid_layout', call, layout, own)
    WHEN shard IS NULL THEN '' ELSE call END);

  -- First without a lock, to keep sessions from waiting for a call that fails. Locks taken nevertheless are released,
  -- or two callers would wait for each other.
  BEGIN
    is_done := snowid.is_adopted(tbl, col, shard, layout, call, true);
    RAISE SQLSTATE 'SN000';
  EXCEPTION WHEN SQLSTATE 'SN000' THEN NULL;
  END;
  IF NOT is_done THEN
    IF EXISTS (SELECT FROM snowid.family_of(tbl, col) AS f WHERE NOT has_table_privilege(f.relid, 'UPDATE, DELETE, TRUNCATE')) THEN
      RAISE 'permission denied to lock table %', tbl USING ERRCODE = 'insufficient_privilege',
        HINT = 'Grant UPDATE, DELETE or TRUNCATE on it to its owner.';
    END IF;
    -- Repeated if a partition was added meanwhile, on which writers are not locked out.
    LOOP
      family := ARRAY(SELECT f.relid FROM snowid.family_of(tbl, col) AS f);
      PERFORM snowid.lock_tables(family, array_fill('ACCESS EXCLUSIVE'::text, ARRAY[cardinality(family)]));
      EXIT WHEN family @> ARRAY(SELECT f.relid::oid FROM snowid.family_of(tbl, col) AS f);
    END LOOP;
    is_done := snowid.is_adopted(tbl, col, shard, layout, call, false);
  END IF;
  IF is_done THEN
    PERFORM set_config('lock_timeout', patience, true);
    RAISE NOTICE 'column "%" of relation % already has this default, nothing changed', col, tbl;
    RETURN call;
  END IF;

  -- Replaces a default that uses a sequence. Any other one, such as a constant, may have a purpose.
  SELECT string_agg(DISTINCT pg_get_expr(d.adbin, d.adrelid), ', ') INTO replaced
    FROM snowid.family_of(tbl, col) AS f JOIN pg_attrdef AS d ON d.adrelid = f.relid AND d.adnum = f.attnum,
      LATERAL snowid.source_of_ids(f.relid, f.attnum) AS s
   WHERE s.layout IS NULL AND NOT EXISTS (
     SELECT FROM pg_depend AS e JOIN pg_class AS c ON c.oid = e.refobjid AND c.relkind = 'S'
      WHERE e.classid = 'pg_attrdef'::regclass AND e.objid = d.oid AND e.refclassid = 'pg_class'::regclass);
  IF replaced IS NOT NULL THEN
    RAISE NOTICE 'default of column "%" of relation % is replaced', col, tbl USING DETAIL = format('It was: %s.', replaced);
  END IF;
  IF EXISTS (SELECT FROM snowid.family_of(tbl, col) AS f JOIN pg_attribute AS a ON a.attrelid = f.relid AND a.attnum = f.attnum
      WHERE a.attidentity <> '') THEN
    RAISE NOTICE 'column "%" of relation % is no longer an identity column', col, tbl
      USING DETAIL = 'INSERT with OVERRIDING USER VALUE stores the given value, which it ignored so far.';
  END IF;
  IF shard IS NULL THEN PERFORM snowid.tell_role_shards(); END IF;

  -- Identity columns. From PostgreSQL 17 on, partitions have the table's, and lose it with the table.
  FOR one IN
    SELECT f.relid, d.objid::regclass AS seq, d.deptype = 'i' AND a.attidentity <> '' AS is_identity, d.deptype = 'a' AND EXISTS (
        SELECT FROM pg_attrdef AS e JOIN pg_depend AS s ON s.classid = 'pg_attrdef'::regclass AND s.objid = e.oid
          AND s.refclassid = 'pg_class'::regclass AND s.refobjid = d.objid
         WHERE e.adrelid = f.relid AND e.adnum = f.attnum) AS is_used
      FROM snowid.family_of(tbl, col) AS f
      JOIN pg_attribute AS a ON a.attrelid = f.relid AND a.attnum = f.attnum
      JOIN pg_depend AS d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = f.relid AND d.refobjsubid = f.attnum
       AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
      JOIN pg_class AS c ON c.oid = d.objid AND c.relkind = 'S'
  LOOP
    -- pgEdge makes an identity column another one and leaves the sequence as it was.
    IF one.is_identity THEN
      PERFORM snowid.drop_sequence(one.seq, format('ALTER TABLE %s ALTER COLUMN %I DROP IDENTITY', one.relid, col));
    ELSIF one.is_used THEN
      serials := serials || one.seq;
    ELSE
      RAISE NOTICE 'sequence % is left', one.seq
        USING DETAIL = format('Column "%s" of relation %s owns it, and its default does not use it.', col, one.relid);
    END IF;
  END LOOP;
  PERFORM snowid.execute(current_user, format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', tbl, col, call));
  FOREACH serial IN ARRAY serials LOOP
    serial_name := serial;
    -- Locks the sequence, and changes nothing. If the table no longer owns it, its user keeps it.
    PERFORM snowid.execute(current_user, format('ALTER SEQUENCE %s OWNER TO %I', serial_name,
      (SELECT pg_get_userbyid(c.relowner) FROM pg_class AS c WHERE c.oid = serial)));
    IF serial_name <> serial::text THEN
      RAISE 'sequence % was renamed', serial_name USING ERRCODE = 'lock_not_available';
    ELSIF EXISTS (SELECT FROM pg_depend AS d WHERE d.classid = 'pg_class'::regclass AND d.objid = serial AND d.deptype = 'a'
        AND d.refclassid = 'pg_class'::regclass AND d.refobjid = ANY (family)) THEN
      PERFORM snowid.drop_sequence(serial, format('DROP SEQUENCE %s', serial_name));
    ELSE
      RAISE NOTICE 'sequence % is left', serial_name
        USING DETAIL = format('No column of relation %s owns it anymore.', tbl);
    END IF;
  END LOOP;
  -- The called function may have been removed from the extension.
  IF (SELECT bool_or(s.layout IS NULL) FROM snowid.family_of(tbl, col) AS f, snowid.source_of_ids(f.relid, f.attnum) AS s) THEN
    RAISE '% does not call a function of extension "snowid"', call USING ERRCODE = 'object_not_in_prerequisite_state',
      HINT = 'Restore it with ALTER EXTENSION snowid ADD FUNCTION.';
  END IF;
  IF snowid.layout_ne(layout, 'instagram') THEN
    RAISE NOTICE 'IDs of column "%" of relation % have layout "%"', col, tbl, layout
      USING HINT = format('Functions reading them need it, as in snowid_timestamp(%I, %L). A view or a generated column can '
        'name it once.', col, layout);
  END IF;
  PERFORM set_config('lock_timeout', patience, true);
  RETURN call;
END $$;
COMMENT ON FUNCTION snowid.adopt(pg_catalog.regclass, pg_catalog.name, bigint, @extschema@.snowid_layout) IS
  'Makes a column generate IDs above its existing keys, and returns its default.';
