-- The SQL interface of snowid.
--
-- This script runs as superuser, in a schema that may contain an attacker's objects. It therefore qualifies every name,
-- matches every argument's type exactly, and calls only functions of pg_catalog and of the two schemas created here.
-- the extension's schema: functions for applications
-- snowid: functions for administrators, views, functions called by those of all roles
-- snowid_internal: tables, sequences, internal functions. PUBLIC has no USAGE, because several statements lock a
-- relation before they check the caller's rights.
-- rights.sql grants all rights.

\echo Use "CREATE EXTENSION snowid" to load this file. \quit

-- Both fail if the schema exists, whatever it contains.
CREATE SCHEMA snowid;
COMMENT ON SCHEMA snowid IS 'administration and views of snowid';
CREATE SCHEMA snowid_internal;
COMMENT ON SCHEMA snowid_internal IS 'tables and internal functions of snowid';
