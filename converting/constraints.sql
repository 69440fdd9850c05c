-- Constraints of the new columns, for rows written from now on. validate.sql extends them to old rows.
:begin
SELECT format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%I IS NOT NULL) NOT VALID', tbl, 'filled_' || col, 'new_' || col)
  FROM widened WHERE attnotnull \gexec
SELECT format('ALTER TABLE %s ADD CONSTRAINT %I %s NOT VALID', tbl, 'new_' || conname,
         regexp_replace(def, '\(([^)]*)\)(.*)\(([^)]*)\)', '(new_\1)\2(new_\3)'))
  FROM widened WHERE conname IS NOT NULL \gexec
COMMIT;
