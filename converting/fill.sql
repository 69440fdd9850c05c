-- The new columns of old rows. Because of session_replication_role, only the trigger of columns.sql fires.
SET session_replication_role = replica;
SELECT format('CALL fill(%L, %L)', t, 'new_id') FROM unnest(:'tables'::regclass[]) AS t \gexec
RESET session_replication_role;
