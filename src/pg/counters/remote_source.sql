-- Remote sequences

-- A sequence by its name, as regclass; logical replication may bring names unknown to this database.
CREATE TYPE snowid_internal.sequence_name;

CREATE FUNCTION snowid_internal.sequence_name_in(pg_catalog.cstring) RETURNS snowid_internal.sequence_name
  STABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_sequence_in';
COMMENT ON FUNCTION snowid_internal.sequence_name_in(pg_catalog.cstring) IS 'I/O';

CREATE FUNCTION snowid_internal.sequence_name_out(snowid_internal.sequence_name) RETURNS pg_catalog.cstring
  STABLE STRICT PARALLEL SAFE LANGUAGE internal AS 'regclassout';
COMMENT ON FUNCTION snowid_internal.sequence_name_out(snowid_internal.sequence_name) IS 'I/O';

CREATE FUNCTION snowid_internal.sequence_name_recv(pg_catalog.internal) RETURNS snowid_internal.sequence_name
  STABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_sequence_recv';
COMMENT ON FUNCTION snowid_internal.sequence_name_recv(pg_catalog.internal) IS 'I/O';

CREATE FUNCTION snowid_internal.sequence_name_send(snowid_internal.sequence_name) RETURNS pg_catalog.bytea
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE internal AS 'regclasssend';
COMMENT ON FUNCTION snowid_internal.sequence_name_send(snowid_internal.sequence_name) IS 'I/O';

CREATE TYPE snowid_internal.sequence_name (
  INPUT = snowid_internal.sequence_name_in, OUTPUT = snowid_internal.sequence_name_out,
  RECEIVE = snowid_internal.sequence_name_recv, SEND = snowid_internal.sequence_name_send, LIKE = pg_catalog.regclass
);
COMMENT ON TYPE snowid_internal.sequence_name IS 'sequence with a remote source';

CREATE CAST (snowid_internal.sequence_name AS pg_catalog.oid) WITHOUT FUNCTION AS IMPLICIT;
COMMENT ON CAST (snowid_internal.sequence_name AS pg_catalog.oid) IS 'OID of the sequence';
CREATE CAST (snowid_internal.sequence_name AS pg_catalog.regclass) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (snowid_internal.sequence_name AS pg_catalog.regclass) IS 'the same relation';
CREATE CAST (pg_catalog.regclass AS snowid_internal.sequence_name) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (pg_catalog.regclass AS snowid_internal.sequence_name) IS 'the same relation';

CREATE TABLE snowid_internal.segment_sources (
  seq snowid_internal.sequence_name PRIMARY KEY,
  server pg_catalog.text NOT NULL,
  remote_seq pg_catalog.text NOT NULL,
  source_identity pg_catalog.text NOT NULL,
  owner pg_catalog.text NOT NULL,
  server_oid pg_catalog.oid NOT NULL,
  owner_oid pg_catalog.oid NOT NULL
) USING heap;
COMMENT ON TABLE snowid_internal.segment_sources IS 'sequences with a remote source';
COMMENT ON COLUMN snowid_internal.segment_sources.seq IS 'local sequence';
COMMENT ON COLUMN snowid_internal.segment_sources.server IS 'name of the foreign server when attached';
COMMENT ON COLUMN snowid_internal.segment_sources.remote_seq IS 'remote sequence';
COMMENT ON COLUMN snowid_internal.segment_sources.source_identity IS 'identity of the remote sequence when attached';
COMMENT ON COLUMN snowid_internal.segment_sources.owner IS 'owner of the local sequence when attached';
COMMENT ON COLUMN snowid_internal.segment_sources.server_oid IS 'OID of the foreign server when attached';
COMMENT ON COLUMN snowid_internal.segment_sources.owner_oid IS 'OID of the owner when attached';
COMMENT ON CONSTRAINT segment_sources_pkey ON snowid_internal.segment_sources IS 'one remote source per sequence';
COMMENT ON INDEX snowid_internal.segment_sources_pkey IS 'one remote source per sequence';

-- The page tells what pg_sequence_last_value() does not: it returns null if the page stores the next number.
CREATE FUNCTION snowid.last_allocated(seq pg_catalog.regclass) RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  result bigint;
BEGIN
  EXECUTE format('SELECT CASE WHEN s.is_called THEN least(s.last_value::numeric + q.seqincrement - 1, q.seqmax)
      WHEN s.last_value > -9223372036854775808 THEN s.last_value - 1 END FROM %s AS s, pg_sequence AS q WHERE q.seqrelid = %L::oid', seq, seq::oid)
    INTO result;
  RETURN result;
END $$;
COMMENT ON FUNCTION snowid.last_allocated(pg_catalog.regclass) IS 'Returns the last number allocated to a sequence, issued or not.';

CREATE VIEW snowid.segment_sources AS
  SELECT s.seq::pg_catalog.regclass AS seq, s.server, s.remote_seq, s.owner, s.source_identity,
    CASE WHEN pg_catalog.has_sequence_privilege(s.seq::pg_catalog.oid, 'SELECT'::pg_catalog.text)
      THEN snowid.last_allocated(s.seq::pg_catalog.regclass) END AS last_allocated
  FROM snowid_internal.segment_sources AS s;
COMMENT ON VIEW snowid.segment_sources IS 'sequences with a remote source';
COMMENT ON COLUMN snowid.segment_sources.seq IS 'local sequence';
COMMENT ON COLUMN snowid.segment_sources.server IS 'name of the foreign server when attached';
COMMENT ON COLUMN snowid.segment_sources.remote_seq IS 'remote sequence';
COMMENT ON COLUMN snowid.segment_sources.owner IS 'owner of the local sequence when attached';
COMMENT ON COLUMN snowid.segment_sources.source_identity IS 'identity of the remote sequence when attached';
COMMENT ON COLUMN snowid.segment_sources.last_allocated IS 'last number allocated to the sequence';

CREATE FUNCTION snowid_internal.keep_own_rows() RETURNS pg_catalog.trigger
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_keep_own_rows';
COMMENT ON FUNCTION snowid_internal.keep_own_rows() IS 'Ignores rows added or deleted by logical replication.';

-- A superuser may name another owner, as a dump does. The owner is checked, because refills have its rights.
CREATE FUNCTION snowid_internal.resolve_source() RETURNS pg_catalog.trigger
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  owner oid := (SELECT c.relowner FROM pg_class AS c WHERE c.oid = NEW.seq::oid AND c.relkind = 'S');
BEGIN
  -- Null for a role newer than the snapshot.
  IF (SELECT r.rolsuper FROM pg_roles AS r WHERE r.rolname = current_user) IS NOT TRUE THEN
    NEW.owner := NULL;
    IF owner IS NULL OR NOT pg_has_role(owner, 'USAGE') THEN
      RAISE 'must be owner of sequence %', NEW.seq USING ERRCODE = 'insufficient_privilege';
    END IF;
  END IF;
  NEW.owner := coalesce(NEW.owner, (SELECT r.rolname FROM pg_roles AS r WHERE r.oid = owner));
  NEW.owner_oid := coalesce((SELECT r.oid FROM pg_roles AS r WHERE r.rolname = NEW.owner), 0);
  NEW.server_oid := coalesce((SELECT s.oid FROM pg_foreign_server AS s WHERE s.srvname = NEW.server), 0);
  RETURN NEW;
END $$;
COMMENT ON FUNCTION snowid_internal.resolve_source() IS
  'Rejects a source added by a role other than the sequence''s owner, and stores the OIDs of names.';

-- In the order of their names.
CREATE TRIGGER keep_own_rows BEFORE INSERT OR UPDATE OR DELETE ON snowid_internal.segment_sources
  FOR EACH ROW EXECUTE FUNCTION snowid_internal.keep_own_rows();
COMMENT ON TRIGGER keep_own_rows ON snowid_internal.segment_sources IS 'Ignores rows of another server.';
CREATE TRIGGER resolve_source BEFORE INSERT OR UPDATE ON snowid_internal.segment_sources
  FOR EACH ROW EXECUTE FUNCTION snowid_internal.resolve_source();
COMMENT ON TRIGGER resolve_source ON snowid_internal.segment_sources IS
  'Rejects a source added by a role other than the sequence''s owner, and stores the OIDs of names.';
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON snowid_internal.segment_sources
  FOR EACH STATEMENT EXECUTE FUNCTION snowid_internal.keep_own_rows();
COMMENT ON TRIGGER refuse_truncate ON snowid_internal.segment_sources IS 'Rejects TRUNCATE, also by logical replication.';
-- Also for logical replication, whose rows describe another server's sequences.
ALTER TABLE snowid_internal.segment_sources ENABLE ALWAYS TRIGGER keep_own_rows;
ALTER TABLE snowid_internal.segment_sources ENABLE ALWAYS TRIGGER resolve_source;
ALTER TABLE snowid_internal.segment_sources ENABLE ALWAYS TRIGGER refuse_truncate;
-- Without dropped sequences: after a restore their OIDs may be those of others.
SELECT pg_catalog.pg_extension_config_dump('snowid_internal.segment_sources'::pg_catalog.regclass,
  'WHERE seq IN (SELECT seqrelid FROM pg_catalog.pg_sequence)'::pg_catalog.text);

CREATE FUNCTION @extschema@.snowid_segment_attach(
    seq pg_catalog.regclass, server pg_catalog.name, remote_seq pg_catalog.text)
  RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_attach';
COMMENT ON FUNCTION @extschema@.snowid_segment_attach(pg_catalog.regclass, pg_catalog.name, pg_catalog.text) IS
  'Attaches a sequence to a remote sequence, its source of numbers.';

CREATE FUNCTION @extschema@.snowid_segment_detach(seq pg_catalog.regclass) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_detach';
COMMENT ON FUNCTION @extschema@.snowid_segment_detach(pg_catalog.regclass) IS 'Detaches a sequence from its remote source.';
