-- Integer keys, and references to them, as bigint, in place: this rewrites the tables. Then IDs as the default of the
-- keys. A step of docs/converting.md, which sets the variables.
:begin
SELECT format('ALTER TABLE %s %s', a.attrelid::regclass,
         string_agg(format('ALTER COLUMN %I TYPE bigint', a.attname), ', '))
  FROM pg_attribute AS a
 WHERE a.attrelid = ANY (:'tables'::regclass[]) AND a.atttypid = 'integer'::regtype
   AND (a.attname = 'id' OR EXISTS (SELECT FROM pg_constraint AS k WHERE k.contype = 'f' AND k.conrelid = a.attrelid
     AND k.conkey = ARRAY[a.attnum] AND k.confrelid = ANY (:'tables'::regclass[])))
 GROUP BY a.attrelid \gexec
\ir adopt.sql
COMMIT;
