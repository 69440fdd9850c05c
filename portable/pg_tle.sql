-- Has pg_tle (https://github.com/aws/pg_tle) know portable/snowid.sql as an extension. To be run in this directory, by
-- a member of pgtle_admin; then: CREATE EXTENSION snowid; SELECT snowid.create_shard(0).
--
-- CREATE EXTENSION is a transaction of its own. And sequences of shards are no members of it: what pg_dump says of
-- members is not their values.

\set ON_ERROR_STOP on
\set script `sed -e '/^\\/d' -e '/^BEGIN;$/d' -e '/^COMMIT;$/d' -e '/^SELECT snowid.create_shard(0);$/d' snowid.sql`
SELECT pgtle.install_extension('snowid', '0.1.0', '64-bit, time-ordered IDs that never repeat, in SQL and PL/pgSQL',
  :'script');
