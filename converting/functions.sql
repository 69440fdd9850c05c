-- Functions that call the sequences of keys, without those of extensions. A step of docs/converting.md.
SELECT p.oid::regprocedure FROM pg_proc AS p JOIN pg_language AS l ON l.oid = p.prolang
 WHERE l.lanname IN ('sql', 'plpgsql') AND p.pronamespace <> 'pg_catalog'::regnamespace
   AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
   AND coalesce(pg_get_function_sqlbody(p.oid), p.prosrc) ~* 'nextval|currval|lastval|pg_get_serial_sequence';
