-- Indexes on the new columns, unique for keys.
SELECT format('CREATE %s INDEX CONCURRENTLY %I ON %s (%I)', CASE WHEN is_key THEN 'UNIQUE' END,
         relname || '_new_' || col, tbl, 'new_' || col) FROM widened \gexec
