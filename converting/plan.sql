-- Assigns keys of the time created_at, in shard 8191, to rows with keys below all IDs of September 2011. A step of
-- docs/converting.md, which sets the variables.
BEGIN;
CREATE TABLE new_keys (tbl regclass, old bigint, new bigint, PRIMARY KEY (tbl, old), UNIQUE (tbl, new));
SELECT format('INSERT INTO new_keys SELECT %1$L, id, snowid_backfill(created_at, 8191) OVER (ORDER BY created_at, id)'
         ' FROM %1$s WHERE id < snowid_first_at(%2$L) AND created_at >= snowid_timestamp(0)', t, '2011-09-01Z')
  :each \gexec
COMMIT;
ANALYZE new_keys;
