-- The state before columns.sql, at any time before swap.sql.
:begin
SELECT DISTINCT format('DROP FUNCTION widen_%s CASCADE', tbl::oid) FROM widened \gexec
SELECT format('ALTER TABLE %s DROP COLUMN %I CASCADE', tbl, 'new_' || col) FROM widened \gexec
DROP PROCEDURE fill;
DROP VIEW definitions;
DROP TABLE definitions_before, widened;
COMMIT;
