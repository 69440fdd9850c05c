-- Sequences as the default of the tables' keys again, above all IDs of the database: the sequence TABLE_id_seq if it
-- exists, else an identity. A step of docs/converting.md, which sets the variables.
:begin
SELECT format('ALTER TABLE %s ALTER COLUMN id DROP DEFAULT, ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY', t)
  :each WHERE to_regclass(t || '_id_seq') IS NULL \gexec
SELECT format('ALTER SEQUENCE %1$s_id_seq AS bigint OWNED BY %1$s.id', t),
       format('ALTER TABLE %1$s ALTER COLUMN id SET DEFAULT nextval(''%1$s_id_seq'')', t)
  :each JOIN pg_attribute ON attrelid = t AND attname = 'id' AND attidentity = '' \gexec
SELECT format('SELECT setval(pg_get_serial_sequence(%L, ''id''), snowid_last_at(snowid_ceiling()))', t) :each \gexec
COMMIT;
