-- Validates the tables' constraints, and foreign keys to the tables, for old rows.
SELECT format('ALTER TABLE %s VALIDATE CONSTRAINT %I', conrelid::regclass, conname) FROM pg_constraint
 WHERE (conrelid = ANY (:'tables'::regclass[]) OR confrelid = ANY (:'tables'::regclass[])) AND NOT convalidated \gexec
