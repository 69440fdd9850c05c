-- What ALTER DEFAULT PRIVILEGES gives of each new object is taken back from all roles: with it they could read secrets,
-- set IDs back, or have functions that run as their owner fire a trigger. From PUBLIC the script has revoked what is not
-- for everybody. What single roles get is in the files after this one, and nowhere before.

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
          FROM pg_proc AS p WHERE d.classid = 'pg_proc'::regclass AND p.oid = d.objid
        UNION ALL
        SELECT concat('TYPE ', t.oid::regtype), t.typowner, t.typacl
          FROM pg_type AS t WHERE d.classid = 'pg_type'::regclass AND t.oid = d.objid) AS o
      CROSS JOIN LATERAL aclexplode(o.acl) AS a
     WHERE e.extname = 'snowid' AND a.grantee NOT IN (0, o.owner)
  LOOP
    EXECUTE format('REVOKE ALL ON %s FROM %s', given.name, given.role);
  END LOOP;
END $$;
