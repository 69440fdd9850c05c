-- Functions that call the sequences of keys. A step of docs/converting.md.
SELECT p.oid::regprocedure FROM pg_proc AS p JOIN pg_language AS l ON l.oid = p.prolang
 WHERE l.lanname IN ('sql', 'plpgsql') AND p.pronamespace <> 'pg_catalog'::regnamespace
   AND coalesce(pg_get_function_sqlbody(p.oid), p.prosrc) ~* 'nextval|currval|lastval|pg_get_serial_sequence';
