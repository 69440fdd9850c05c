-- How often each of the extension's functions was called that SQLsmith can call, by what the server has counted.
SELECT p.oid::regprocedure::text || '|' || coalesce(calls, 0)
  FROM pg_catalog.pg_proc AS p LEFT JOIN pg_stat_user_functions ON funcid = p.oid
 WHERE p.oid IN (SELECT objid FROM pg_depend
                  WHERE classid = 'pg_catalog.pg_proc'::regclass AND deptype = 'e'
                    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowid'))
   AND prokind = 'f' AND NOT proretset
   AND prorettype NOT IN ('trigger'::regtype, 'internal'::regtype, 'record'::regtype);
