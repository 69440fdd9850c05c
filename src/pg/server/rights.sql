
-- The end of the script. What ALTER DEFAULT PRIVILEGES gives others of each new object is taken back: some of these
-- objects read secrets, others set IDs back. The roles that the script itself names keep what it gives them.
SET LOCAL search_path = pg_catalog, pg_temp;
DO $$
DECLARE
  given record;
BEGIN
  FOR given IN
    SELECT DISTINCT o.name, a.grantee::regrole AS role
      FROM pg_extension AS e
      JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
      CROSS JOIN LATERAL (
        SELECT concat('SCHEMA ', n.oid::regnamespace) AS name, n.nspowner AS owner, n.nspacl AS acl
          FROM pg_namespace AS n WHERE d.classid = 'pg_namespace'::regclass AND n.oid = d.objid
        UNION ALL
        SELECT concat('TABLE ', c.oid::regclass), c.relowner, c.relacl
          FROM pg_class AS c WHERE d.classid = 'pg_class'::regclass AND c.oid = d.objid
        UNION ALL
        SELECT concat('FUNCTION ', p.oid::regprocedure), p.proowner, p.proacl
          FROM pg_proc AS p WHERE d.classid = 'pg_proc'::regclass AND p.oid = d.objid) AS o
      CROSS JOIN LATERAL aclexplode(o.acl) AS a
     WHERE e.extname = 'snowid'
       AND a.grantee <> ALL (ARRAY[0, o.owner, e.extowner, 'pg_monitor'::regrole, 'pg_database_owner'::regrole])
  LOOP
    EXECUTE format('REVOKE ALL ON %s FROM %s', given.name, given.role);
  END LOOP;
END $$;
