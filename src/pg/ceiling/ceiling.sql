-- The ceiling: upper bound on the time, in Unix milliseconds, of all IDs. Dumps contain it: a restored database
-- continues above it. It is the script's last relation, because it is the last to be locked (docs/design.md, "The SQL
-- interface").

CREATE SEQUENCE snowid_internal.ceiling AS bigint MINVALUE 0 MAXVALUE 253402300799999 START 0 NO CYCLE;
COMMENT ON SEQUENCE snowid_internal.ceiling IS 'ceiling in Unix milliseconds, maintained by snowid';
SELECT pg_catalog.pg_extension_config_dump('snowid_internal.ceiling'::pg_catalog.regclass, ''::pg_catalog.text);

-- A server that issued IDs in this database before remembers its ceiling: the new sequence contains it at once, not
-- only after the next ID.
CREATE FUNCTION snowid_internal.carry_ceiling_over() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_carry_ceiling_over';
COMMENT ON FUNCTION snowid_internal.carry_ceiling_over() IS 'Stores the server''s ceiling in snowid_internal.ceiling.';
SELECT snowid_internal.carry_ceiling_over();
