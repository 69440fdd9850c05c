-- Has pg_tle (https://github.com/aws/pg_tle) know portable/snowid.sql as an extension. To be run in this directory, by
-- a member of pgtle_admin; then: CREATE EXTENSION snowid; SELECT snowid.create_shard(0).
--
-- CREATE EXTENSION is a transaction of its own. Of its members pg_dump dumps only the rows of tables that are
-- named to it. So sequences of shards are no members, and the settings are named; create_shard() adds their row, since
-- one that the script adds would be in the way of that of a dump.

\set ON_ERROR_STOP on
\set dump 'SELECT pg_extension_config_dump(\'snowid.settings\', \'\');'
\set script `sed -e '/^\\/d' -e '/^BEGIN;$/d' -e '/^COMMIT;$/d' -e '/^SELECT snowid.create_shard(0);$/d' snowid.sql`
SELECT pgtle.install_extension('snowid', '0.1.0', '64-bit, time-ordered IDs that never repeat, in SQL and PL/pgSQL',
  :'script' || chr(10) || :'dump');
