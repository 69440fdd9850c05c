-- Rows whose new columns differ from the old ones. A step of docs/converting.md.
SELECT 'SELECT ' || string_agg(format('(SELECT count(*) FROM %s WHERE %I IS DISTINCT FROM %I)', tbl, 'new_' || col,
         col), ' + ') FROM widened \gexec
