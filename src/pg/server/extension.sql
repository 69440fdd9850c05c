-- The SQL interface of snowid.
--
-- This script runs as superuser, in a schema that somebody else may have filled before. So each name is
-- written with its schema, each argument is of the exact type, and the script calls nothing but what is
-- in pg_catalog or in the schema snowid, which it makes: nobody could put anything there. What users call
-- is in the schema that they choose. Relations are in the schema snowid, and so is what only other functions call, and what
-- an administrator calls who must not run somebody else's function of that name.

\echo Use "CREATE EXTENSION snowid" to load this file. \quit

-- Fails where there is a schema of this name: whatever is in it is somebody else's.
CREATE SCHEMA snowid;
COMMENT ON SCHEMA snowid IS 'what snowid keeps, and functions that its other functions and administrators call';
REVOKE ALL ON SCHEMA snowid FROM PUBLIC;
GRANT USAGE ON SCHEMA snowid TO PUBLIC;
