-- New keys for old rows, in all tables. Can be interrupted, and run again.
SELECT format('CALL rekey(%L)', t) FROM unnest(:'tables'::regclass[]) AS t \gexec
