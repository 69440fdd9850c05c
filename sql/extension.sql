-- The extension as a whole: what CREATE EXTENSION makes, where, and who may use it.

CREATE EXTENSION snowid;

-- Every object says what it is. (Array types and the row types of
-- relations come with what they belong to, and are members since PostgreSQL 17.)
SELECT pg_describe_object(classid, objid, objsubid) AS without_comment
  FROM pg_depend
 WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
   AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowid')
   AND coalesce(obj_description(objid, (SELECT relname FROM pg_class WHERE oid = classid)), '') = ''
   AND NOT EXISTS (SELECT FROM pg_type
                    WHERE classid = 'pg_type'::regclass
                      AND (typarray = objid OR oid = objid AND typrelid <> 0));

-- What the planner and the executor may assume of each function.
SELECT p.oid::regprocedure AS function, provolatile AS volatile, proisstrict AS strict,
       proparallel AS parallel, pg_get_function_result(p.oid) AS result
  FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
 WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
   AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowid')
 ORDER BY p.oid::regprocedure::text COLLATE "C";

-- Functions that users call are in a schema of their choice; all else is in the extension's own, whatever
-- is in search_path.
DROP EXTENSION snowid;
CREATE SCHEMA elsewhere;
CREATE EXTENSION snowid SCHEMA elsewhere;
SELECT DISTINCT nspname FROM pg_depend d JOIN pg_class c ON c.oid = objid JOIN pg_namespace n ON n.oid = relnamespace
 WHERE classid = 'pg_class'::regclass AND d.deptype = 'e' AND refclassid = 'pg_extension'::regclass;
CREATE TABLE placed (n int, id bigint DEFAULT elsewhere.snowid_next(1));
INSERT INTO placed VALUES (1);
SET search_path = pg_catalog;
INSERT INTO public.placed VALUES (2);
SELECT elsewhere.snowid_in_range(id, elsewhere.snowid_timestamp(id),
                                elsewhere.snowid_timestamp(id) + interval '1 ms') AS between
  FROM public.placed WHERE n = 1;
RESET search_path;
SELECT count(DISTINCT id), array_agg(n ORDER BY n) = array_agg(n ORDER BY id) AS in_order FROM placed;
-- It cannot be moved, and its own schema cannot be somebody else's.
SELECT attempt('ALTER EXTENSION snowid SET SCHEMA public');
DROP TABLE placed;
DROP EXTENSION snowid;
DROP SCHEMA elsewhere;
CREATE SCHEMA snowid;
SELECT attempt('CREATE EXTENSION snowid');
SELECT attempt('CREATE EXTENSION snowid SCHEMA snowid');
DROP SCHEMA snowid;
CREATE SCHEMA snowid_internal;
SELECT attempt('CREATE EXTENSION snowid');
DROP SCHEMA snowid_internal;

-- It is trusted: who may create objects in the database may create it. The database's owner gets the rights that are not
-- for everyone.
CREATE ROLE regress_snowid_owner;
CREATE ROLE regress_snowid_user;
SELECT format('ALTER DATABASE %I OWNER TO regress_snowid_owner', current_database()) \gexec
GRANT CREATE ON SCHEMA public TO regress_snowid_owner;
SET ROLE regress_snowid_owner;
CREATE EXTENSION snowid;
SELECT snowid.advance_shard(snowid_next(2));
SELECT last_value > 0 AS readable FROM snowid_internal.ceiling;
SET ROLE regress_snowid_user;
SELECT snowid_next() > 0 AS for_everyone;
SELECT snowid.advance_shard(1);
SELECT last_value > 0 AS readable FROM snowid_internal.ceiling;
SELECT count(*) FROM snowid.segment_sources;
SELECT setval('snowid_internal.ceiling', 1);
CREATE TABLE snowid.mine ();
SELECT snowid_internal.carry_ceiling_over();
-- The owner of the database may grant what is not for everyone.
SET ROLE regress_snowid_owner;
GRANT EXECUTE ON FUNCTION snowid.advance_shard(bigint, snowid_layout) TO regress_snowid_user;
SET ROLE regress_snowid_user;
SELECT snowid.advance_shard(1);
RESET ROLE;
DROP EXTENSION snowid;
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I OWNER TO %I', current_database(), current_user); END $$;
REVOKE CREATE ON SCHEMA public FROM regress_snowid_owner;
DROP ROLE regress_snowid_owner, regress_snowid_user;
CREATE EXTENSION snowid;

-- Dropped and created again, in one transaction too, it goes on above the IDs of before.
SELECT snowid_next(3) AS before \gset
DROP EXTENSION snowid;
CREATE EXTENSION snowid;
SELECT last_value >= extract(epoch FROM snowid_timestamp(:before)) * 1000 AS ceiling_carried_over
  FROM snowid_internal.ceiling;
SELECT snowid_next(3) AS after \gset
SELECT :after > :before AS above;
BEGIN;
DROP EXTENSION snowid;
CREATE EXTENSION snowid;
SELECT attempt('SELECT snowid_next(3)');
COMMIT;
SELECT snowid_next(3) AS outside \gset
SELECT :outside > :after AS above;

-- The ceiling is where the IDs are, and somebody who looks at it sees it as any other sequence's.
SELECT last_value >= extract(epoch FROM snowid_timestamp(:outside)) * 1000 AS covers
  FROM snowid_internal.ceiling;
SELECT last_value IS NOT NULL AS shown FROM pg_sequences WHERE schemaname = 'snowid_internal' AND sequencename = 'ceiling';

-- A ceiling that cannot be durable is refused. (New storage, so the session looks at it again.)
ALTER SEQUENCE snowid_internal.ceiling SET UNLOGGED;
SELECT attempt('SELECT snowid_next(3)');
ALTER SEQUENCE snowid_internal.ceiling SET LOGGED;
SELECT attempt('SELECT snowid_next(3)');
-- A reset one is raised again at once.
ALTER SEQUENCE snowid_internal.ceiling RESTART;
SELECT last_value FROM snowid_internal.ceiling;
SELECT snowid_next(3) > :outside AS above;
SELECT last_value >= extract(epoch FROM snowid_timestamp(:outside)) * 1000 AS covers
  FROM snowid_internal.ceiling;
