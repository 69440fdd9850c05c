-- Foreign keys with ON UPDATE CASCADE, in place of those to the tables, and a procedure for changing keys. A step of
-- docs/converting.md, which sets the variables. validate.sql extends the foreign keys to old rows.
:begin
SELECT format('ALTER TABLE %1$s DROP CONSTRAINT %2$I, ADD CONSTRAINT %2$I %3$s ON UPDATE CASCADE NOT VALID',
         conrelid::regclass, conname, pg_get_constraintdef(oid))
  FROM pg_constraint WHERE contype = 'f' AND confrelid = ANY (:'tables'::regclass[]) \gexec

-- Changes the keys of a table to those of new_keys, some rows per transaction. A batch waits at most 200 ms for a
-- client, and is then retried in the next pass.
CREATE PROCEDURE rekey(t regclass, batch int DEFAULT 200) LANGUAGE plpgsql AS $$
DECLARE
  first bigint;
  keys bigint[];
  is_left bool := true;
BEGIN
  WHILE is_left LOOP
    first := -9223372036854775808;
    LOOP
      SELECT array_agg(old), max(old) + 1 INTO keys, first
        FROM (SELECT old FROM new_keys WHERE tbl = t AND old >= first ORDER BY old LIMIT batch) AS next;
      EXIT WHEN keys IS NULL;
      BEGIN
        PERFORM set_config('lock_timeout', '200ms', true);
        EXECUTE format('UPDATE %s AS r SET id = k.new FROM new_keys AS k'
          ' WHERE k.tbl = $1 AND k.old = ANY ($2) AND r.id = k.old', t) USING t, keys;
      EXCEPTION WHEN lock_not_available THEN
        NULL; -- A client has locked one of the rows.
      END;
      COMMIT;
    END LOOP;
    EXECUTE format('SELECT EXISTS (SELECT FROM %s AS r JOIN new_keys AS k ON k.old = r.id WHERE k.tbl = $1)', t)
      INTO is_left USING t;
    COMMIT;
    IF is_left THEN PERFORM pg_sleep(0.1); END IF;
  END LOOP;
END $$;
COMMIT;
