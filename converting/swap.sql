-- The new columns in place of the old ones, which are dropped. Reads no table. Fails, and changes nothing, if the new
-- columns lack something of the old ones.
:begin
SELECT DISTINCT format('DROP FUNCTION widen_%s CASCADE', tbl::oid) FROM widened \gexec
SELECT format('ALTER SEQUENCE %s OWNED BY NONE', pg_get_serial_sequence(attrelid::regclass::text, attname))
  FROM pg_attribute
 WHERE attrelid = ANY (:'tables'::regclass[]) AND attname = 'id' AND attidentity = ''
   AND pg_get_serial_sequence(attrelid::regclass::text, attname) IS NOT NULL \gexec
SELECT format('ALTER TABLE %s DROP COLUMN %I', tbl, col) FROM widened ORDER BY is_key \gexec
SELECT format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL', tbl, 'new_' || col),
       format('ALTER TABLE %s DROP CONSTRAINT %I', tbl, 'filled_' || col) FROM widened WHERE attnotnull \gexec
SELECT format('ALTER TABLE %s ADD CONSTRAINT %I PRIMARY KEY USING INDEX %I', tbl, relname || '_pkey',
         relname || '_new_id') FROM widened WHERE is_key \gexec
SELECT format('ALTER TABLE %s RENAME COLUMN %I TO %I', tbl, 'new_' || col, col) FROM widened \gexec
SELECT format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', tbl, 'new_' || conname, conname)
  FROM widened WHERE conname IS NOT NULL \gexec
SELECT format('SELECT snowid.adopt(%L, %L)', t, 'id') FROM unnest(:'tables'::regclass[]) AS t \gexec
-- Add REPLICA IDENTITY and CLUSTER ON here: they name indexes.
DO $$
DECLARE
  lost text := (SELECT string_agg(tbl || ': ' || definition, E'\n' ORDER BY tbl, definition)
    FROM (TABLE definitions_before EXCEPT TABLE definitions) AS d);
BEGIN
  IF lost IS NOT NULL THEN
    RAISE 'the new columns lack what the old ones had' USING ERRCODE = '55000', DETAIL = lost;
  END IF;
END $$;
DROP PROCEDURE fill;
DROP VIEW definitions;
DROP TABLE definitions_before, widened;
COMMIT;
