-- Rights and owners. Every object has the rights stated in this file and no others: those of default privileges are
-- replaced. All roles in it exist in every cluster and cannot be dropped. The owner is the bootstrap superuser, whoever
-- creates the extension: before PostgreSQL 17, the OID of a dropped role stays in pg_init_privs, and pg_dump writes it
-- into each dump.

SET LOCAL search_path = pg_catalog, pg_temp;
DO $$
DECLARE
  owner CONSTANT name := (SELECT r.rolname FROM pg_roles AS r WHERE r.oid = 10 AND r.rolsuper);
  member record;
BEGIN
  FOR member IN
    SELECT o.name, o.owner, o.is_granted, (
        SELECT string_agg(DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END, ', ')
          FROM aclexplode(o.acl) AS a WHERE a.grantee <> o.owner) AS grantees
      FROM pg_extension AS e
      JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
      CROSS JOIN LATERAL (
        SELECT format('SCHEMA %s', n.oid::regnamespace) AS name, n.nspowner AS owner, true AS is_granted,
            n.nspacl AS acl
          FROM pg_namespace AS n WHERE d.classid = 'pg_namespace'::regclass AND n.oid = d.objid
        UNION ALL
        SELECT format('TABLE %s', c.oid::regclass), c.relowner, true, c.relacl
          FROM pg_class AS c WHERE d.classid = 'pg_class'::regclass AND c.oid = d.objid
        UNION ALL
        SELECT format('FUNCTION %s', p.oid::regprocedure), p.proowner, true, coalesce(p.proacl, acldefault('f', p.proowner))
          FROM pg_proc AS p WHERE d.classid = 'pg_proc'::regclass AND p.oid = d.objid
        UNION ALL
        -- Unchanged rights stay unchanged, because pg_upgrade cannot transfer those of an extension's types.
        SELECT format('TYPE %s', t.oid::regtype), t.typowner, t.typacl IS NOT NULL, t.typacl
          FROM pg_type AS t WHERE d.classid = 'pg_type'::regclass AND t.oid = d.objid AND t.typelem = 0
            -- Since PostgreSQL 17, row types are members, too. They have their tables' owners.
            AND t.typrelid NOT IN (SELECT c.oid FROM pg_class AS c WHERE c.relkind <> 'c')
        UNION ALL
        SELECT format('%s %s', i.type, i.identity), x.owner, false, NULL
          FROM (SELECT oprowner AS owner FROM pg_operator WHERE d.classid = 'pg_operator'::regclass AND oid = d.objid
                UNION ALL
                SELECT opcowner FROM pg_opclass WHERE d.classid = 'pg_opclass'::regclass AND oid = d.objid
                UNION ALL
                SELECT opfowner FROM pg_opfamily WHERE d.classid = 'pg_opfamily'::regclass AND oid = d.objid) AS x,
            pg_identify_object(d.classid, d.objid, 0) AS i) AS o
     WHERE e.extname = 'snowid'
  LOOP
    IF member.owner <> 10 AND owner IS NOT NULL THEN
      EXECUTE format('ALTER %s OWNER TO %I', member.name, owner);
    END IF;
    IF member.is_granted THEN
      EXECUTE format('REVOKE ALL ON %s FROM %s', member.name, coalesce(member.grantees, 'PUBLIC'));
    END IF;
  END LOOP;
END $$;

-- PUBLIC
GRANT USAGE ON SCHEMA snowid TO PUBLIC;
GRANT SELECT ON snowid.layouts, snowid.skipped_times, snowid.node_status, snowid.released_shards, snowid.segment_sources,
  snowid.columns, snowid.partitions TO PUBLIC;
DO $$
DECLARE
  member record;
BEGIN
  FOR member IN
    SELECT CASE d.classid WHEN 'pg_proc'::regclass THEN format('EXECUTE ON FUNCTION %s', d.objid::regprocedure)
        ELSE format('USAGE ON TYPE %s', d.objid::regtype) END AS name
      FROM pg_extension AS e
      JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
      LEFT JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
      LEFT JOIN pg_type AS t ON d.classid = 'pg_type'::regclass AND t.oid = d.objid AND t.typelem = 0
     WHERE e.extname = 'snowid'
       AND (p.pronamespace <> 'snowid_internal'::regnamespace OR t.typacl IS NOT NULL)
  LOOP
    EXECUTE format('GRANT %s TO PUBLIC', member.name);
  END LOOP;
END $$;

-- Administrators, with grant option. return_to_clock() and its helpers are for superusers, because they also lower the
-- common slots of all databases.
DO $$
DECLARE
  administration CONSTANT regprocedure[] := ARRAY[
    'snowid.join(name, text)', 'snowid.check_node()', 'snowid.take_over_node()', 'snowid.accept_registry()', 'snowid.leave()',
    'snowid.release_shard(bigint, @extschema@.snowid_layout, text)',
    'snowid.accept_shard(bigint, bigint, @extschema@.snowid_layout)',
    'snowid.advance_shard(bigint, @extschema@.snowid_layout)',
    'snowid.advance_past(bigint, @extschema@.snowid_layout)', 'snowid.advance_past(timestamptz)',
    'snowid.reset_stats()',
    'snowid.register(text, text, uuid, bigint, bigint, bigint, bigint, text, text, bigint, bigint, bigint, bigint)',
    'snowid.retire_node(bigint)', 'snowid.recover_registry(bigint)'];
  statistics CONSTANT regprocedure[] := ARRAY[
    'snowid.counter_statistics()', 'snowid.database_statistics()', 'snowid.shard_statistics()'];
  superusers CONSTANT regprocedure[] := ARRAY[
    'snowid.return_to_clock(tstzmultirange)', 'snowid.future_times(regclass, name, @extschema@.snowid_layout, interval)'];
  function regprocedure;
BEGIN
  FOREACH function IN ARRAY administration || statistics || superusers LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', function);
  END LOOP;
  FOREACH function IN ARRAY administration || statistics LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO pg_database_owner WITH GRANT OPTION', function);
  END LOOP;
  FOREACH function IN ARRAY statistics LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO pg_monitor', function);
  END LOOP;
END $$;
GRANT SELECT ON snowid.stat_counters, snowid.stat_database, snowid.stat_shards, snowid.registry,
  snowid.registry_usage
  TO pg_monitor;
GRANT SELECT ON snowid.stat_counters, snowid.stat_database, snowid.stat_shards, snowid.registry,
  snowid.registry_usage
  TO pg_database_owner WITH GRANT OPTION;

-- Dumps: the owner of a database dumps and restores it, whoever created the extension.
GRANT USAGE ON SCHEMA snowid_internal TO pg_database_owner;
GRANT SELECT, INSERT ON snowid_internal.membership, snowid_internal.nodes, snowid_internal.registry_identities,
  snowid_internal.moved_shards, snowid_internal.segment_sources TO pg_database_owner;
GRANT SELECT, UPDATE ON snowid_internal.ceiling TO pg_database_owner;

-- No comment, because it belongs to the extension's owner: pg_dump would write it into each dump, and a database owner
-- could not restore it in a single transaction if a superuser created the extension. pg_available_extensions has it.
COMMENT ON EXTENSION snowid IS NULL;

-- The schema's owner can rename it at any time and create another one of its name. If that happened during this script,
-- objects of that role may have replaced others, such as types used by C functions, or an object may have the wrong
-- owner.
DO $$
BEGIN
  IF EXISTS (
    WITH member AS (
      SELECT d.classid, d.objid, e.extnamespace
        FROM pg_extension AS e
        JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
       WHERE e.extname = 'snowid'
    )
    SELECT FROM member AS m JOIN pg_depend AS d ON d.classid = m.classid AND d.objid = m.objid
     WHERE d.refobjid >= 16384 AND d.refclassid <> 'pg_extension'::regclass
       AND NOT (d.refclassid = 'pg_namespace'::regclass AND d.refobjid = m.extnamespace)
       AND (d.refclassid, d.refobjid) NOT IN (SELECT o.classid, o.objid FROM member AS o)
       AND NOT (d.refclassid = 'pg_type'::regclass AND d.refobjid IN (
         SELECT c.reltype FROM pg_class AS c JOIN member AS o ON o.classid = 'pg_class'::regclass AND o.objid = c.oid))
    UNION ALL
    -- Nothing is recorded for the bootstrap superuser.
    SELECT FROM member AS m JOIN pg_shdepend AS s ON s.classid = m.classid AND s.objid = m.objid
     WHERE s.deptype = 'o' AND s.dbid = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
       AND EXISTS (SELECT FROM pg_roles AS r WHERE r.oid = 10 AND r.rolsuper)) THEN
    RAISE 'schema of extension "snowid" was replaced while the extension was created'
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Try again.';
  END IF;
END $$;
