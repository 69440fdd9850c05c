-- The SQL interface of snowid.
--
-- This script runs as superuser, in a schema that an attacker may have filled. Therefore each name is written with
-- its schema, each argument is of the exact type, and the script calls nothing but what is in pg_catalog or in the
-- two schemas that it creates. Three schemas hold its objects:
--   the extension's schema  what applications call;
--   snowid                  what administrators call, views, and what functions of all roles call;
--   snowid_internal         tables, sequences, and what snowid alone calls. PUBLIC has no USAGE there, because several
--                           statements lock a relation before they check the caller's rights on it.
-- rights.sql grants all rights.

\echo Use "CREATE EXTENSION snowid" to load this file. \quit

-- These fail if a schema of that name exists, whatever it contains.
CREATE SCHEMA snowid;
COMMENT ON SCHEMA snowid IS 'administration and views of snowid';
CREATE SCHEMA snowid_internal;
COMMENT ON SCHEMA snowid_internal IS 'tables and internal functions of snowid';
