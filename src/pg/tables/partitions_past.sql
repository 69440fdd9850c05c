-- Past partitions: dropped, or detached. See partitions.sql.

-- Partitions that end before an ID and before current IDs, oldest first: candidates to drop or detach.
CREATE FUNCTION snowid.past_partitions(parent pg_catalog.regclass, least_kept bigint, layout @extschema@.snowid_layout)
  RETURNS SETOF pg_catalog.regclass
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY SELECT r.relid::regclass FROM snowid.ranges_of(parent) AS r
   WHERE NOT r.is_default AND NOT r.is_leaving
     AND r.next <= least(least_kept, snowid.first_of_unit(clock_timestamp(), layout))
   ORDER BY r.next;
END $$;
COMMENT ON FUNCTION snowid.past_partitions(pg_catalog.regclass, bigint, @extschema@.snowid_layout) IS 'Returns the partitions of earlier IDs.';

-- Without a default, the layout is only the caller's claim, and a wrong one could take current rows for old ones. The
-- bounds must confirm it: those of the partitions to drop are whole minutes in this layout (in another they are not),
-- and there is a current or future partition.
CREATE FUNCTION snowid.require_bounds_of(parent pg_catalog.regclass, layout @extschema@.snowid_layout,
    past pg_catalog.oid[])
  RETURNS pg_catalog.void
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (
      SELECT FROM snowid.ranges_of(parent) AS r, LATERAL (VALUES (r.first), (r.next)) AS b (id)
       WHERE r.relid = ANY (past) AND b.id <> 0
         AND (b.id <> snowid.first_at(snowid.timestamp_of(b.id, layout), layout, false)
           OR date_trunc('minute', snowid.timestamp_of(b.id, layout)) <> snowid.timestamp_of(b.id, layout)))
      OR NOT EXISTS (
      SELECT FROM snowid.ranges_of(parent) AS r
       WHERE NOT r.is_default AND coalesce(r.next > snowid.first_of_unit(clock_timestamp(), layout), true)) THEN
    RAISE 'partitions of table % are not by layout "%"', parent, layout
      USING ERRCODE = 'invalid_object_definition',
        DETAIL = 'With this layout, their bounds are not whole minutes, or there is no current or future partition.',
        HINT = 'If the layout is right, use it in the column''s default.';
  END IF;
END $$;
COMMENT ON FUNCTION snowid.require_bounds_of(pg_catalog.regclass, @extschema@.snowid_layout, pg_catalog.oid[]) IS
  'Raises an error if a layout does not fit the partitions'' bounds.';

-- UUIDs of other versions lie anywhere, new ones among old ones. A validated constraint must exclude them. It is a call
-- of this function by its text, in which the column may be cast from a domain, and calls no overload by its dependency.
CREATE FUNCTION snowid.require_uuidv7(parent pg_catalog.regclass) RETURNS pg_catalog.void
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
DECLARE
  key CONSTANT name := (snowid.require_partitioned(parent)).key;
  function CONSTANT text := snowid.extension_prefix() || 'snowid_is_uuidv7';
BEGIN
  IF NOT EXISTS (SELECT FROM pg_constraint AS c
      JOIN pg_depend AS d ON d.classid = 'pg_constraint'::regclass AND d.objid = c.oid
        AND d.refclassid = 'pg_proc'::regclass AND d.refobjid = to_regprocedure(function || '(uuid)')
     WHERE c.conrelid = parent AND c.contype = 'c' AND c.convalidated
       AND pg_get_expr(c.conbin, parent) IN (format('%s(%I)', function, key), format('%s((%I)::uuid)', function, key))) THEN
    RAISE 'table % may have UUIDs of other versions than 7', parent
      USING ERRCODE = 'invalid_object_definition', DETAIL = 'New UUIDs of other versions lie among old ones of version 7, and would be dropped with them.',
        HINT = format('Use ALTER TABLE %s ADD CHECK (%s(%I)).', parent, function, key);
  END IF;
END $$;
COMMENT ON FUNCTION snowid.require_uuidv7(pg_catalog.regclass) IS
  'Raises an error unless a constraint keeps UUIDs of other versions out.';

-- Partitions that may be dropped or detached, oldest first, at most max_partitions; their names, qualified. All checks
-- are here. Against mistakes: the current partition and all later ones stay, whatever the arguments; and at least one
-- partition always stays.
CREATE FUNCTION snowid.removable_partitions(parent pg_catalog.regclass, before pg_catalog.timestamptz,
    given @extschema@.snowid_layout, max_partitions int,
    OUT relid pg_catalog.regclass, OUT name pg_catalog.text, OUT is_foreign boolean)
  RETURNS SETOF pg_catalog.record
  STABLE PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  owner CONSTANT name := (snowid.require_partitioned(parent)).owner;
  layout CONSTANT given%TYPE := snowid.layout_of_partitions(parent, given);
  past regclass[];
  others record;
BEGIN
  -- Nothing is older than the layout. Raises an error for a moment after its end.
  IF snowid.last_before(before + interval '1 us', layout) < 0 THEN RETURN; END IF;
  PERFORM snowid.first_at(before, layout, (snowid.partition_key(parent)).is_uuid);
  IF before > clock_timestamp() THEN
    RAISE 'cannot remove partitions of the future'
      USING ERRCODE = 'invalid_parameter_value', DETAIL = format('The time is %s, and the argument is %s.', clock_timestamp(), before);
  END IF;
  past := ARRAY(SELECT snowid.past_partitions(parent, snowid.first_of_unit(before, layout), layout));
  IF past = '{}' THEN RETURN; END IF;

  IF (snowid.partition_key(parent)).is_uuid THEN
    PERFORM snowid.require_uuidv7(parent);
  ELSIF snowid.layout_of_key(parent) IS NULL THEN
    PERFORM snowid.require_bounds_of(parent, layout, past::oid[]);
  END IF;
  -- The statements run as the table's owner, who cannot drop tables of other owners.
  SELECT c.oid::regclass AS part, pg_get_userbyid(c.relowner) AS owner INTO others
    FROM unnest(past[:max_partitions]) WITH ORDINALITY AS p (part, place) JOIN pg_class AS c ON c.oid = p.part
   WHERE NOT pg_has_role(owner, c.relowner, 'USAGE') ORDER BY p.place LIMIT 1;
  IF FOUND THEN
    RAISE 'partition % does not belong to the owner of table %', others.part, parent
      USING ERRCODE = 'insufficient_privilege',
        DETAIL = format('It belongs to role "%s", the table to "%s".', others.owner, owner),
        HINT = format('Use ALTER TABLE %s OWNER TO %I.', others.part, owner);
  END IF;
  IF cardinality(past) = (SELECT count(*) FROM snowid.ranges_of(parent) AS r
       WHERE NOT r.is_default AND NOT r.is_leaving) THEN
    RAISE 'cannot remove all partitions of table %', parent
      USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = format('All of them end before %s.', before),
        HINT = 'First create current ones with snowid.create_partitions().';
  END IF;
  RETURN QUERY SELECT p.part, format('%I.%I', n.nspname, c.relname), c.relkind = 'f'
    FROM unnest(past[:max_partitions]) WITH ORDINALITY AS p (part, place)
    JOIN pg_class AS c ON c.oid = p.part JOIN pg_namespace AS n ON n.oid = c.relnamespace ORDER BY p.place;
END $$;
COMMENT ON FUNCTION snowid.removable_partitions(pg_catalog.regclass, pg_catalog.timestamptz, @extschema@.snowid_layout, int) IS
  'Returns the partitions before a moment, if they can be dropped or detached.';

-- Drops or detaches partitions that end before a moment, oldest first; returns their names, qualified.
CREATE FUNCTION snowid.remove_partitions(parent pg_catalog.regclass, before pg_catalog.timestamptz,
    given @extschema@.snowid_layout, max_partitions int, is_drop boolean, OUT relid pg_catalog.regclass, OUT name pg_catalog.text)
  RETURNS SETOF pg_catalog.record
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  patience CONSTANT text := current_setting('lock_timeout');
  owner name;
  is_referred boolean;
  is_foreign boolean;
BEGIN
  IF parent IS NULL OR before IS NULL OR max_partitions IS NULL THEN
    RAISE 'table, moment and number must not be null' USING ERRCODE = 'null_value_not_allowed';
  ELSIF max_partitions < 1 THEN
    RAISE 'number of partitions out of range: %', max_partitions USING ERRCODE = 'invalid_parameter_value';
  END IF;
  PERFORM snowid.require_read_committed(CASE WHEN is_drop THEN 'snowid.drop_partitions' ELSE 'snowid.detach_partitions' END);
  -- First without a lock: no session waits if there is nothing to do.
  IF NOT EXISTS (SELECT FROM snowid.removable_partitions(parent, before, given, max_partitions)) THEN RETURN; END IF;

  -- In the order of PostgreSQL's own statements: tables at the other end of foreign keys first.
  PERFORM snowid.lock_tables(array_agg(l.relid ORDER BY l.place, l.relid), array_agg(l.mode ORDER BY l.place, l.relid))
    FROM (SELECT EXISTS (SELECT FROM pg_constraint AS c WHERE c.confrelid = parent AND c.contype = 'f')) AS r (is_referred),
      LATERAL (
          SELECT c.confrelid, CASE WHEN is_drop THEN 'ACCESS EXCLUSIVE' ELSE 'SHARE ROW EXCLUSIVE' END, 1
            FROM pg_constraint AS c
           WHERE c.conrelid = parent AND c.contype = 'f' AND c.confrelid <> parent AND (r.is_referred OR NOT is_drop)
          UNION SELECT c.conrelid, 'ACCESS EXCLUSIVE', 1 FROM pg_constraint AS c
           WHERE c.confrelid = parent AND c.contype = 'f' AND c.conrelid <> parent
          UNION SELECT parent, 'ACCESS EXCLUSIVE', 2
          UNION SELECT p.partdefid, 'ACCESS EXCLUSIVE', 3 FROM pg_partitioned_table AS p WHERE p.partrelid = parent AND p.partdefid <> 0
          UNION SELECT t.relid, 'ACCESS EXCLUSIVE', 3
            FROM snowid.removable_partitions(parent, before, given, max_partitions) AS p, snowid.tree_of(p.relid) AS t (relid))
      AS l (relid, mode, place);
  -- Each is looked up just before it is dropped: statements run user code, which can change anything.
  FOR n IN 1 .. max_partitions LOOP
    SELECT p.relid, p.name, p.is_foreign, (snowid.require_partitioned(parent)).owner,
        EXISTS (SELECT FROM pg_constraint AS c WHERE c.confrelid = parent AND c.contype = 'f')
      INTO relid, name, is_foreign, owner, is_referred
      FROM snowid.removable_partitions(parent, before, given, 1) AS p;
    EXIT WHEN NOT FOUND;
    -- Detaching checks foreign keys to its rows; if there can be none, dropping takes weaker locks.
    IF is_referred OR NOT is_drop THEN
      PERFORM snowid.execute(owner, format('ALTER TABLE %s DETACH PARTITION %s', parent, name));
    END IF;
    IF is_drop THEN
      IF is_referred AND NOT EXISTS (SELECT FROM pg_class AS c WHERE c.oid = to_regclass(name) AND c.oid = relid AND NOT c.relispartition) THEN
        RAISE 'a partition of table % no longer exists', parent USING ERRCODE = 'object_not_in_prerequisite_state';
      END IF;
      PERFORM snowid.execute(owner, format('DROP %sTABLE %s', CASE WHEN is_foreign THEN 'FOREIGN ' END, name));
    END IF;
    -- If it could not be locked before, its statement waits for it, then uses the name.
    IF EXISTS (SELECT FROM pg_class AS c WHERE c.oid = relid AND (is_drop OR c.relispartition)) THEN
      RAISE 'a partition of table % was renamed', parent USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    RETURN NEXT;
  END LOOP;
  PERFORM set_config('lock_timeout', patience, true);
END $$;
COMMENT ON FUNCTION snowid.remove_partitions(pg_catalog.regclass, pg_catalog.timestamptz, @extschema@.snowid_layout, int, boolean) IS
  'Drops or detaches partitions before a moment.';

-- Limited, because each takes several entries of the server's lock table until the transaction ends.
CREATE FUNCTION snowid.drop_partitions(parent pg_catalog.regclass, before pg_catalog.timestamptz,
    layout @extschema@.snowid_layout DEFAULT NULL, max_partitions int DEFAULT 100)
  RETURNS SETOF pg_catalog.text
  VOLATILE PARALLEL UNSAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT r.name FROM snowid.remove_partitions(parent, before, layout, max_partitions, true) AS r;
END;
COMMENT ON FUNCTION snowid.drop_partitions(pg_catalog.regclass, pg_catalog.timestamptz, @extschema@.snowid_layout, int) IS
  'Drops the partitions before a moment, oldest first, and returns their names.';

CREATE FUNCTION snowid.detach_partitions(parent pg_catalog.regclass, before pg_catalog.timestamptz,
    layout @extschema@.snowid_layout DEFAULT NULL, max_partitions int DEFAULT 100)
  RETURNS SETOF pg_catalog.regclass
  VOLATILE PARALLEL UNSAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT r.relid FROM snowid.remove_partitions(parent, before, layout, max_partitions, false) AS r;
END;
COMMENT ON FUNCTION snowid.detach_partitions(pg_catalog.regclass, pg_catalog.timestamptz, @extschema@.snowid_layout, int) IS
  'Detaches the partitions before a moment, oldest first, and returns them.';
