-- IDs as the default of the tables' keys. Sequences of serial columns are kept, with their grants, for back.sql. A step
-- of docs/converting.md, which sets the variables.
SELECT format('ALTER SEQUENCE %s OWNED BY NONE', pg_get_serial_sequence(attrelid::regclass::text, attname))
  FROM pg_attribute
 WHERE attrelid = ANY (:'tables'::regclass[]) AND attname = 'id' AND attidentity = ''
   AND pg_get_serial_sequence(attrelid::regclass::text, attname) IS NOT NULL \gexec
SELECT format('SELECT snowid.adopt(%L, %L)', t, 'id') :each \gexec
