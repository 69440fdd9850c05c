-- Partitions by an ID's time. Everything runs as the table's owner, even if called by a member of that role: new
-- objects belong to the owner, and triggers run as for the owner's own statement. Rows of other owners, and other
-- tables, are never changed. The result follows from the existing partitions and the layout in the column's default,
-- never from the time of the call alone.

-- Raises an error if the caller may not create and drop partitions of the table, or cannot lock it for this: its lock
-- protects the partitions, their bounds, and the default from changes. Returns its column and its owner.
CREATE FUNCTION snowid.require_partitioned(parent pg_catalog.regclass, OUT key pg_catalog.name, OUT owner pg_catalog.name)
  STABLE PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  tbl pg_class;
BEGIN
  SELECT * INTO tbl FROM pg_class WHERE oid = parent;
  IF NOT FOUND THEN
    RAISE 'relation with OID % does not exist', parent::oid USING ERRCODE = 'undefined_table';
  ELSIF NOT pg_has_role(tbl.relowner, 'USAGE') THEN
    RAISE 'must be owner of table %', tbl.relname USING ERRCODE = 'insufficient_privilege';
  ELSIF tbl.relkind <> 'p' THEN
    RAISE '"%" is not a partitioned table', tbl.relname USING ERRCODE = 'wrong_object_type';
  ELSIF tbl.relpersistence = 't' THEN
    RAISE 'partitions of temporary table "%" are not supported', tbl.relname USING ERRCODE = 'feature_not_supported';
  ELSIF pg_get_partkeydef(parent) !~ '^RANGE [(]([[:alnum:]_]+|"([^"]|"")+")[)]$' THEN
    RAISE 'table "%" is not partitioned by range of one column', tbl.relname
      USING ERRCODE = 'wrong_object_type', DETAIL = format('It is partitioned by %s.', pg_get_partkeydef(parent));
  ELSIF (snowid.partition_key(parent)).attnum IS NULL THEN
    RAISE 'table "%" is partitioned by a column without IDs', tbl.relname
      USING ERRCODE = 'datatype_mismatch', DETAIL = 'IDs are of type bigint or uuid, and in its order.';
  END IF;
  IF NOT has_table_privilege(tbl.relowner, parent, 'UPDATE, DELETE, TRUNCATE') THEN
    RAISE 'permission denied to lock table %', tbl.relname USING ERRCODE = 'insufficient_privilege',
      HINT = 'Grant UPDATE, DELETE or TRUNCATE on it to its owner.';
  END IF;
  SELECT a.attname INTO STRICT key FROM pg_attribute AS a
   WHERE a.attrelid = parent AND a.attnum = (snowid.partition_key(parent)).attnum;
  owner := pg_get_userbyid(tbl.relowner);
END $$;
COMMENT ON FUNCTION snowid.require_partitioned(pg_catalog.regclass) IS
  'Raises an error unless a table is partitioned by ID, and owned by the caller.';

-- The layout of a table's partitions: the definition's, or else the argument.
CREATE FUNCTION snowid.layout_of_partitions(parent pg_catalog.regclass, given @extschema@.snowid_layout)
  RETURNS @extschema@.snowid_layout
  STABLE PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  said CONSTANT given%TYPE := snowid.layout_of_key(parent);
BEGIN
  IF given IS NOT NULL AND (snowid.partition_key(parent)).is_uuid THEN
    RAISE 'table % is partitioned by UUIDs, which have no layout', parent
      USING ERRCODE = 'invalid_object_definition', HINT = 'Leave the layout out.';
  ELSIF snowid.layout_ne(said, given) THEN
    RAISE 'layout of table % is "%", not "%"', parent, said, given
      USING ERRCODE = 'invalid_object_definition', DETAIL = 'The default of the partition key sets the layout.',
        HINT = 'Leave the layout out.';
  ELSIF said IS NULL AND given IS NULL THEN
    RAISE 'layout of table % is not known', parent
      USING ERRCODE = 'null_value_not_allowed',
        DETAIL = 'The default of the partition key is not a call of snowid_next() with constants.',
        HINT = 'Pass it in the argument "layout".';
  ELSIF NOT snowid.layout_is_ordered(coalesce(said, given)) THEN
    RAISE 'IDs of layout "%" are not in the order of their time', coalesce(said, given)
      USING ERRCODE = 'invalid_parameter_value', DETAIL = 'No range of them is a range of time.';
  END IF;
  RETURN coalesce(said, given);
END $$;
COMMENT ON FUNCTION snowid.layout_of_partitions(pg_catalog.regclass, @extschema@.snowid_layout) IS 'Returns the layout of a table''s partitions.';

-- Start of the period (UTC) of a moment. Periods of several days are counted from a Monday, to start with weeks.
CREATE FUNCTION snowid.period_start(step pg_catalog.interval, moment pg_catalog.timestamp) RETURNS pg_catalog.timestamp
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  months CONSTANT int := extract(year FROM step) * 12 + extract(month FROM step);
  days CONSTANT int := extract(day FROM step);
  seconds CONSTANT numeric := extract(epoch FROM step - make_interval(months => months, days => days));
  n int;
BEGIN
  IF months > 0 AND days = 0 AND seconds = 0 AND (12 % months = 0 OR months % 12 = 0) AND months <= 1200 THEN
    n := extract(year FROM moment) * 12 + extract(month FROM moment) - 1;
    n := n - n % months;
    RETURN make_timestamp(n / 12, n % 12 + 1, 1, 0, 0, 0);
  ELSIF months = 0 AND days BETWEEN 1 AND 36525 AND seconds = 0 THEN
    n := floor((moment::date - '2000-01-03'::date)::numeric / days);
    RETURN '2000-01-03'::date + n * days;
  ELSIF months = 0 AND days = 0 AND seconds >= 3600 AND seconds % 3600 = 0 AND 86400 % seconds = 0 THEN
    n := extract(hour FROM moment);
    RETURN date_trunc('day', moment) + make_interval(hours => n - n % (seconds / 3600)::int);
  END IF;
  RAISE '"%" is not a valid step between partitions', step
    USING ERRCODE = 'invalid_parameter_value', DETAIL = 'It can be 1, 2, 3, 4 or 6 months or whole years; weeks or days; '
      'or 1, 2, 3, 4, 6, 8, 12 or 24 hours; and 100 years at most.';
END $$;
COMMENT ON FUNCTION snowid.period_start(pg_catalog.interval, pg_catalog.timestamp) IS 'Returns the start of a month, day, or other step.';

-- A partition's name: the table's name and the date, to the second unless a period starts there. If too long, a hash of
-- the table's name makes it unique.
CREATE FUNCTION snowid.partition_name(tbl pg_catalog.text, step pg_catalog.interval, begins pg_catalog.timestamp)
  RETURNS pg_catalog.text
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  is_whole CONSTANT boolean := snowid.period_start(step, begins) = begins;
  longest CONSTANT int := current_setting('max_identifier_length')::int;
  hash CONSTANT text := '_' || lpad(to_hex(hashtext(tbl)), 8, '0');
  date text;
BEGIN
  date := to_char(begins, CASE
    WHEN is_whole AND extract(year FROM step) >= 1 THEN '_YYYY'
    WHEN is_whole AND extract(month FROM step) >= 1 THEN '_YYYY_MM'
    WHEN extract(minute FROM begins) <> 0 OR trunc(extract(second FROM begins)) <> 0 THEN '_YYYY_MM_DD_HH24MISS'
    WHEN extract(hour FROM begins) <> 0 OR is_whole AND extract(day FROM step) = 0 THEN '_YYYY_MM_DD_HH24'
    ELSE '_YYYY_MM_DD' END);
  IF octet_length(tbl || date) <= longest THEN RETURN tbl || date; END IF;
  WHILE octet_length(tbl || hash || date) > longest LOOP tbl := left(tbl, -1); END LOOP;
  RETURN tbl || hash || date;
END $$;
COMMENT ON FUNCTION snowid.partition_name(pg_catalog.text, pg_catalog.interval, pg_catalog.timestamp) IS 'Returns the name of a new partition.';

-- The bound of a partition, at the first ID of a time unit.
CREATE FUNCTION snowid.bound_of(id bigint, layout @extschema@.snowid_layout, is_uuid boolean) RETURNS pg_catalog.text
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE SQL
  RETURN CASE WHEN is_uuid THEN snowid.first_uuidv7_from(@extschema@.snowid_timestamp(id, layout))::pg_catalog.text
    ELSE id::pg_catalog.text END;
COMMENT ON FUNCTION snowid.bound_of(bigint, @extschema@.snowid_layout, boolean) IS 'Returns an ID as a bound of a partition.';

-- Missing partitions up to a moment, oldest first: from the current one, or from the end of the last one that begins
-- before now; including gaps between later ones. A partition holds the IDs whose time unit begins within its period.
-- Bounds are the calendar's, except next to a partition of another width or one made by hand, where it is shorter; no
-- ID is left between two. "next" and the upper bound are null if the layout ends within it. All checks are here.
CREATE FUNCTION snowid.missing_partitions(parent pg_catalog.regclass, step pg_catalog.interval,
    until pg_catalog.timestamptz, given @extschema@.snowid_layout,
    OUT name pg_catalog.text, OUT first bigint, OUT next bigint, OUT lower_bound pg_catalog.text, OUT upper_bound pg_catalog.text)
  RETURNS SETOF pg_catalog.record
  STABLE PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  most CONSTANT int := 1000;
  is_uuid CONSTANT boolean := (snowid.partition_key(parent)).is_uuid;
  layout given%TYPE;
  greatest_id bigint;
  tbl CONSTANT text := (SELECT c.relname FROM pg_class AS c WHERE c.oid = parent);
  now_first bigint;
  count int := 0;
  begins timestamp;
  period timestamp;
  there record;
BEGIN
  PERFORM snowid.require_partitioned(parent);
  layout := snowid.layout_of_partitions(parent, given);
  -- Raises an error for a moment beyond the layout.
  PERFORM snowid.first_at(until, layout, is_uuid);
  PERFORM snowid.period_start(step, until AT TIME ZONE 'UTC');
  -- A month counts as 27 days.
  IF (extract(epoch FROM step) * CASE WHEN step >= '1 month' THEN 0.9 ELSE 1 END < extract(epoch FROM snowid.unit_of(layout))) THEN
    RAISE '"%" is shorter than the unit of time of ID layout "%"', step, layout USING ERRCODE = 'invalid_parameter_value';
  END IF;
  greatest_id := snowid.last_before('infinity', layout);
  now_first := snowid.first_of_unit(clock_timestamp(), layout);
  SELECT r.next, r.upper_bound INTO first, lower_bound FROM snowid.ranges_of(parent) AS r
   WHERE NOT r.is_default AND coalesce(r.first <= now_first, true)
   ORDER BY r.next DESC NULLS FIRST, r.upper_bound DESC LIMIT 1;
  IF FOUND AND first IS NULL THEN
    RETURN;
  ELSIF NOT FOUND THEN
    -- The current time unit's period, which may be the previous one.
    begins := snowid.timestamp_of(snowid.first_at(clock_timestamp(), layout, is_uuid), layout) AT TIME ZONE 'UTC';
    first := snowid.first_from(snowid.period_start(step, begins) AT TIME ZONE 'UTC', layout);
  END IF;
  IF first < 0 THEN
    first := 0;
    lower_bound := NULL;
  END IF;
  -- Up to each existing partition, and after the last one.
  FOR there IN
    SELECT r.first, r.next, r.lower_bound, r.upper_bound FROM snowid.ranges_of(parent) AS r
     WHERE r.first >= missing_partitions.first
    UNION ALL SELECT NULL, NULL, NULL, NULL ORDER BY 1, 3
  LOOP
    WHILE first <= greatest_id AND coalesce(first < there.first, true) LOOP
      begins := snowid.timestamp_of(first, layout) AT TIME ZONE 'UTC';
      period := snowid.period_start(step, begins);
      next := snowid.first_from((period + step) AT TIME ZONE 'UTC', layout);
      -- Time units need not begin with periods.
      IF first = snowid.first_from(period AT TIME ZONE 'UTC', layout) AND first > 0 THEN begins := period; END IF;
      IF begins AT TIME ZONE 'UTC' > until THEN RETURN; END IF;
      count := count + 1;
      IF count > most THEN
        RAISE 'cannot create more than % partitions at once', most
          USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('The first %s would end at %s.', most, begins AT TIME ZONE 'UTC'),
            HINT = 'Use a longer step, or several calls, each in a transaction of its own.';
      END IF;
      name := snowid.partition_name(tbl, step, begins);
      next := nullif(least(next, there.first), 9223372036854775807);
      -- A neighbor's bound is exact. One of UUIDs can lie among the UUIDs of one place in the order of time.
      lower_bound := coalesce(lower_bound, snowid.bound_of(first, layout, is_uuid));
      upper_bound := CASE WHEN next = there.first THEN there.lower_bound ELSE snowid.bound_of(next, layout, is_uuid) END;
      RETURN NEXT;
      first := next;
      lower_bound := upper_bound;
    END LOOP;
    first := there.next;
    lower_bound := there.upper_bound;
  END LOOP;
END $$;
COMMENT ON FUNCTION snowid.missing_partitions(pg_catalog.regclass, pg_catalog.interval, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'Returns the partitions for snowid.create_partitions() to create.';

-- Raises 55000 if the default partition has rows of missing partitions, with a hint to move them. They are not moved
-- here, because triggers and foreign keys of the table may act on it. Moments are printed in a form every session can
-- read.
CREATE FUNCTION snowid.refuse_rows_by_default(parent pg_catalog.regclass, step pg_catalog.interval,
    until pg_catalog.timestamptz, given @extschema@.snowid_layout)
  RETURNS pg_catalog.void
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET row_security = off
  SET datestyle = 'ISO' AS $$
DECLARE
  key CONSTANT name := (snowid.require_partitioned(parent)).key;
  owner CONSTANT name := (snowid.require_partitioned(parent)).owner;
  rest regclass;
  condition text;
  columns text;
  count bigint;
BEGIN
  SELECT p.partdefid INTO rest FROM pg_partitioned_table AS p WHERE p.partrelid = parent AND p.partdefid <> 0;
  IF NOT FOUND THEN RETURN; END IF;
  SELECT concat_ws(' AND ', format('%I >= %L', key, (array_agg(m.lower_bound ORDER BY m.first))[1]),
      CASE WHEN bool_and(m.next IS NOT NULL) THEN format('%I < %L', key, (array_agg(m.upper_bound ORDER BY m.first DESC))[1]) END)
    INTO condition FROM snowid.missing_partitions(parent, step, until, given) AS m HAVING count(*) > 0;
  IF NOT FOUND THEN RETURN; END IF;
  count := snowid.execute(owner, format('SELECT pg_catalog.count(*) FROM %s WHERE %s', rest, condition));
  IF count = 0 THEN RETURN; END IF;
  SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) INTO columns FROM pg_attribute AS a
   WHERE a.attrelid = parent AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '';
  RAISE 'default partition % has rows of new partitions', rest
    USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = format('Rows where %s: %s.', condition, count),
      HINT = concat_ws(E'\n', 'These statements move them. Many rows are better moved in batches, see docs/partitions.md.',
        'BEGIN;',
        format('ALTER TABLE %s DETACH PARTITION %s;', parent, rest),
        format('SELECT snowid.create_partitions(%L, %L, %L%s);', parent, step, until,
          CASE WHEN given IS NULL THEN '' ELSE format(', %L', given) END),
        format('INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM %s WHERE %s;', parent, columns, columns, rest, condition),
        format('DELETE FROM %s WHERE %s;', rest, condition),
        format('ALTER TABLE %s ATTACH PARTITION %s DEFAULT;', parent, rest), 'COMMIT;');
END $$;
COMMENT ON FUNCTION snowid.refuse_rows_by_default(pg_catalog.regclass, pg_catalog.interval, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'Raises an error if the default partition holds rows of new partitions.';

-- Creates one partition, as PostgreSQL's own statement, and publishes its changes as the table's.
CREATE FUNCTION snowid.create_partition(parent pg_catalog.regclass, part pg_catalog.text, lower_bound pg_catalog.text,
    upper_bound pg_catalog.text)
  RETURNS pg_catalog.regclass
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  made regclass;
  identity text;
BEGIN
  PERFORM snowid.execute(pg_get_userbyid(c.relowner), format('CREATE %sTABLE %I.%I PARTITION OF %s FOR VALUES FROM (%L) TO (%s)',
      CASE c.relpersistence WHEN 'u' THEN 'UNLOGGED ' END, n.nspname, part, parent, lower_bound,
      coalesce(quote_literal(upper_bound), 'MAXVALUE')))
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = parent;
  SELECT i.inhrelid INTO made FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
   WHERE i.inhparent = parent AND c.relname = part;
  IF NOT FOUND THEN
    RAISE 'partition "%" of table % no longer exists', part, parent USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  SELECT CASE c.relreplident WHEN 'f' THEN 'FULL' WHEN 'n' THEN 'NOTHING' WHEN 'i' THEN
      (SELECT format('USING INDEX %I', o.relname) FROM pg_index AS i
         JOIN pg_inherits AS h ON h.inhparent = i.indexrelid JOIN pg_index AS j ON j.indexrelid = h.inhrelid
         JOIN pg_class AS o ON o.oid = j.indexrelid
        WHERE i.indrelid = parent AND i.indisreplident AND j.indrelid = made) END
    INTO identity FROM pg_class AS c WHERE c.oid = parent;
  IF identity IS NOT NULL THEN
    PERFORM snowid.execute(pg_get_userbyid(c.relowner), format('ALTER TABLE %s REPLICA IDENTITY %s', made, identity))
      FROM pg_class AS c WHERE c.oid = parent;
  END IF;
  RETURN made;
END $$;
COMMENT ON FUNCTION snowid.create_partition(pg_catalog.regclass, pg_catalog.text, pg_catalog.text, pg_catalog.text) IS 'Creates a partition.';

CREATE FUNCTION snowid.create_partitions(parent pg_catalog.regclass, step pg_catalog.interval,
    until pg_catalog.timestamptz, layout @extschema@.snowid_layout DEFAULT NULL)
  RETURNS SETOF pg_catalog.regclass
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  patience CONSTANT text := current_setting('lock_timeout');
  missing record;
BEGIN
  IF parent IS NULL OR step IS NULL OR until IS NULL THEN
    RAISE 'table, step and moment must not be null' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  PERFORM snowid.require_read_committed('snowid.create_partitions');
  -- First without a lock: no session waits if there is nothing to do.
  IF NOT EXISTS (SELECT FROM snowid.missing_partitions(parent, step, until, layout)) THEN RETURN; END IF;

  -- The locks of this check are released, or two callers would wait for each other.
  BEGIN
    PERFORM snowid.refuse_rows_by_default(parent, step, until, layout);
    RAISE SQLSTATE 'SN000';
  EXCEPTION WHEN SQLSTATE 'SN000' THEN NULL;
  END;
  -- In the order of PostgreSQL's own statement: tables at the other end of foreign keys first.
  PERFORM snowid.lock_tables(array_agg(l.relid ORDER BY l.place, l.relid), array_agg(l.mode ORDER BY l.place, l.relid))
    FROM (SELECT c.confrelid, 'SHARE ROW EXCLUSIVE', 1 FROM pg_constraint AS c
           WHERE c.conrelid = parent AND c.contype = 'f' AND c.confrelid <> parent
          UNION SELECT c.conrelid, 'SHARE ROW EXCLUSIVE', 1 FROM pg_constraint AS c
           WHERE c.confrelid = parent AND c.contype = 'f' AND c.conrelid <> parent
          UNION SELECT parent, 'ACCESS EXCLUSIVE', 2
          UNION SELECT t.relid, 'ACCESS EXCLUSIVE', 3 FROM pg_partitioned_table AS p, snowid.tree_of(p.partdefid) AS t (relid)
           WHERE p.partrelid = parent) AS l (relid, mode, place);
  -- Meanwhile other sessions may have created some, or changed the layout, or inserted rows.
  BEGIN
    FOR missing IN SELECT m.name, m.lower_bound, m.upper_bound FROM snowid.missing_partitions(parent, step, until, layout) AS m LOOP
      RETURN NEXT snowid.create_partition(parent, missing.name, missing.lower_bound, missing.upper_bound);
    END LOOP;
  EXCEPTION WHEN check_violation THEN
    PERFORM snowid.refuse_rows_by_default(parent, step, until, layout);
    RAISE;
  END;
  PERFORM set_config('lock_timeout', patience, true);
END $$;
COMMENT ON FUNCTION snowid.create_partitions(pg_catalog.regclass, pg_catalog.interval, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'Creates the missing partitions of a table up to a moment, and returns them.';

CREATE VIEW snowid.partitions AS
  SELECT p.partrelid::pg_catalog.regclass AS parent, r.relid::pg_catalog.regclass AS partition,
    CASE WHEN NOT k.is_uuid THEN s.layout END AS layout,
    CASE WHEN r.is_default THEN NULL
      WHEN r.first IS NULL OR r.first OPERATOR(pg_catalog.<) 0::bigint THEN '-infinity'
      WHEN r.first OPERATOR(pg_catalog.>) g.id THEN 'infinity'
      ELSE @extschema@.snowid_timestamp(r.first, s.layout) END AS range_start,
    CASE WHEN r.is_default THEN NULL
      WHEN r.next OPERATOR(pg_catalog.<) 0::bigint THEN '-infinity'
      WHEN r.next IS NULL OR r.next OPERATOR(pg_catalog.>) g.id THEN 'infinity'
      ELSE @extschema@.snowid_timestamp(r.next, s.layout) END AS range_end,
    r.is_default,
    CASE WHEN c.relkind OPERATOR(pg_catalog.=) 'p'::pg_catalog."char"
      THEN (SELECT pg_catalog.sum(NULLIF(l.reltuples, '-1'::pg_catalog.float4))
              FROM snowid.tree_of(c.oid) AS t (relid)
              JOIN pg_catalog.pg_class AS l ON l.oid OPERATOR(pg_catalog.=) t.relid
             WHERE l.relkind OPERATOR(pg_catalog.<>) 'p'::pg_catalog."char")
      ELSE NULLIF(c.reltuples, '-1'::pg_catalog.float4) END::bigint AS estimated_rows
  FROM pg_catalog.pg_partitioned_table AS p,
    LATERAL snowid.partition_key(p.partrelid) AS k,
    LATERAL snowid.layout_of_key(p.partrelid) AS s (layout),
    LATERAL (SELECT CASE WHEN snowid.layout_is_ordered(s.layout) THEN snowid.last_before('infinity', s.layout) END) AS g (id),
    LATERAL snowid.ranges_of(p.partrelid) AS r
  JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) r.relid
  WHERE s.layout IS NOT NULL;
COMMENT ON VIEW snowid.partitions IS 'partitions by IDs or UUIDs';
COMMENT ON COLUMN snowid.partitions.parent IS 'partitioned table';
COMMENT ON COLUMN snowid.partitions.partition IS 'partition';
COMMENT ON COLUMN snowid.partitions.layout IS 'layout of the IDs; null for UUIDs';
COMMENT ON COLUMN snowid.partitions.range_start IS 'time of the first ID';
COMMENT ON COLUMN snowid.partitions.range_end IS 'time of the first ID after the partition';
COMMENT ON COLUMN snowid.partitions.is_default IS 'true for the default partition';
COMMENT ON COLUMN snowid.partitions.estimated_rows IS 'rows estimated by ANALYZE or VACUUM';
