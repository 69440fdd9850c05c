-- Registers portable/snowid.sql as an extension of pg_tle (https://github.com/aws/pg_tle). A member of pgtle_admin runs
-- it in this directory, then CREATE EXTENSION snowid; SELECT snowid.create_shard(0).
--
-- Of an extension's members, pg_dump dumps only rows of configuration tables. Sequences of shards are therefore no
-- members, and the settings are a configuration table. create_shard() adds their row, because a row added by the script
-- would conflict with the dump's.

\set ON_ERROR_STOP on
\set dump 'SELECT pg_extension_config_dump(\'snowid.settings\', \'\');'
\set script `sed -e '/^\\/d' -e '/^BEGIN;$/d' -e '/^COMMIT;$/d' -e '/^SELECT snowid.create_shard(0);$/d' snowid.sql`
SELECT pgtle.install_extension('snowid', '0.1.0', '64-bit, time-ordered IDs that never repeat, in SQL and PL/pgSQL',
  :'script' || chr(10) || :'dump');
