-- New bigint columns for integer keys and references to them, a trigger to fill them in written rows, and a procedure
-- to fill them in old rows. A step of docs/converting.md, which sets the variables.
:begin

-- The columns to be widened, with the foreign keys to them.
CREATE TABLE widened AS
SELECT c.oid::regclass AS tbl, c.relname, a.attname AS col, a.attname = 'id' AS is_key, a.attnotnull, k.conname,
       pg_get_constraintdef(k.oid) AS def
  FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
  LEFT JOIN pg_constraint AS k ON k.contype = 'f' AND k.conrelid = c.oid AND k.conkey = ARRAY[a.attnum]
   AND k.confrelid = ANY (:'tables'::regclass[])
 WHERE c.oid = ANY (:'tables'::regclass[]) AND a.atttypid = 'integer'::regtype
   AND (a.attname = 'id' OR k.oid IS NOT NULL);

-- Constraints, indexes, statistics, and properties of columns of these tables, which swap.sql compares.
CREATE VIEW definitions AS
SELECT * FROM (
  SELECT conrelid::regclass, pg_get_constraintdef(oid) FROM pg_constraint
  UNION ALL
  SELECT indrelid::regclass, concat_ws(', ', regexp_replace(pg_get_indexdef(indexrelid), 'INDEX .* ON (\S+ USING)',
      'INDEX ON \1'), CASE WHEN indisreplident THEN 'REPLICA IDENTITY' END, CASE WHEN indisclustered THEN 'CLUSTER' END)
    FROM pg_index
  UNION ALL
  SELECT stxrelid::regclass, concat_ws(' ', 'STATISTICS', stxkind, 'ON', pg_get_statisticsobjdef_expressions(oid),
      (SELECT string_agg(attname, ', ' ORDER BY attname) FROM pg_attribute
        WHERE attrelid = stxrelid AND attnum = ANY (stxkeys)))
    FROM pg_statistic_ext
  UNION ALL
  SELECT attrelid::regclass, concat_ws(', ', 'COLUMN ' || attname, CASE WHEN attnotnull THEN 'NOT NULL' END,
      'STATISTICS ' || nullif(attstattarget, -1), substring(attoptions::text FROM 'n_distinct[^},]*'),
      'GRANT ' || attacl::text, 'COMMENT ' || col_description(attrelid, attnum))
    FROM pg_attribute WHERE attnum > 0 AND NOT attisdropped) AS d (tbl, definition)
 WHERE tbl = ANY (ARRAY(SELECT tbl FROM widened));
CREATE TABLE definitions_before AS TABLE definitions;

-- ENABLE ALWAYS: also for rows from logical replication.
SELECT format('CREATE FUNCTION widen_%s() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN %s RETURN NEW; END $f$',
         tbl::oid, string_agg(format('NEW.%I := NEW.%I;', 'new_' || col, col), ' ')),
       format('CREATE TRIGGER widen BEFORE INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION widen_%s()', tbl,
         tbl::oid),
       format('ALTER TABLE %s ENABLE ALWAYS TRIGGER widen, %s', tbl,
         string_agg(format('ADD COLUMN %I bigint', 'new_' || col), ', '))
  FROM widened GROUP BY tbl \gexec

-- Writes each row with a null in the column, some pages per transaction, until there are none. Rows locked by a client
-- are retried in the next pass: the procedure waits for no client, and cannot deadlock.
CREATE PROCEDURE fill(tbl regclass, col name, pages int DEFAULT 50) LANGUAGE plpgsql AS $$
DECLARE
  page bigint;
  is_left bool := true;
BEGIN
  WHILE is_left LOOP
    page := 0;
    WHILE page < pg_relation_size(tbl) / current_setting('block_size')::int LOOP
      EXECUTE format('UPDATE %1$s SET %2$I = NULL WHERE ctid = ANY (ARRAY(SELECT ctid FROM %1$s'
        ' WHERE ctid >= $1 AND ctid < $2 AND %2$I IS NULL FOR NO KEY UPDATE SKIP LOCKED))', tbl, col)
        USING format('(%s,0)', page)::tid, format('(%s,0)', page + pages)::tid;
      COMMIT;
      page := page + pages;
    END LOOP;
    EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE %I IS NULL)', tbl, col) INTO is_left;
    COMMIT;
    IF is_left THEN PERFORM pg_sleep(0.1); END IF;
  END LOOP;
END $$;
COMMIT;
