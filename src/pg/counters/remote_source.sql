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

-- The statement for the remote server, which may lack the extension. It calls nextval once for each block, at most for a
-- sixteenth of the blocks left (core::kPart). The answer is one row: the source's identity, and the longest series of
-- blocks without a gap, because other sessions may call nextval meanwhile. Nothing is allocated if the identity differs,
-- as from the empty one of a source that is being attached, or the source's next block begins below the least number.
--
-- - If nextval was not called since the sequence was created or set, only SELECT could read the next number. Then one
--   block is allocated, and the caller checks it. While the source is being attached, such a sequence counts as being at
--   its start.
-- - The identity changes when the server is promoted, restored or upgraded, and when the sequence is created again. The
--   timeline is of the WAL being written: the control file has the old one until the first checkpoint after a promotion.
-- - An advisory lock excludes the same statement from other servers. The statement tries for 0.2 s, then continues
--   without it, because any role may hold it.
-- - Its own WAL record and a synchronous commit make the answer durable under any remote settings.
-- - The sequence's options are read after the first nextval, which keeps them from changing.
-- - Operators and the types of their operands are exact, because roles may overload them.
CREATE FUNCTION snowid_internal.source_statement(
    least_number bigint, remote_seq pg_catalog.text, identity pg_catalog.text, blocks bigint) RETURNS pg_catalog.text
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN format($statement$
SELECT b.identity, b.behind, pg_catalog.min(b.n), pg_catalog.count(*), b.increment, b.max, b.cycles
FROM (
  -- Numbers of one row have the same island.
  SELECT a.n, a.identity, a.behind, (a.p).increment AS increment, (a.p).maximum_value AS max,
    (a.p).cycle_option AS cycles,
    a.n::numeric OPERATOR(pg_catalog.-) ((a.p).increment::numeric OPERATOR(pg_catalog.*)
      (pg_catalog.row_number() OVER (ORDER BY a.n))::numeric) AS island
  FROM (
    SELECT s.identity, s.behind,
      CASE WHEN g.i IS NOT NULL THEN pg_catalog.nextval(s.seqrelid::pg_catalog.regclass) END AS n,
      pg_catalog.pg_sequence_parameters(s.seqrelid) AS p
    FROM (
      -- Evaluated before the first nextval, since OFFSET keeps this from being flattened.
      SELECT r.*,
        (SELECT x.next FROM (SELECT COALESCE(r.last OPERATOR(pg_catalog.+) r.seqincrement::numeric,
             CASE WHEN %L THEN r.seqstart::numeric END)) AS x(next)
         WHERE x.next OPERATOR(pg_catalog.<) %L::numeric) AS behind
      FROM (
        SELECT q.*,
          pg_catalog.set_config('lock_timeout', '2s', true),
          pg_catalog.set_config('synchronous_commit', 'on', true),
          (SELECT true FROM pg_catalog.generate_series(1::bigint, 10::bigint)
           WHERE CASE WHEN pg_catalog.pg_try_advisory_xact_lock(
               (1936617335::bigint OPERATOR(pg_catalog.<<) 32)
               OPERATOR(pg_catalog.|) q.seqrelid::bigint) THEN true
             ELSE pg_catalog.pg_sleep(0.02::double precision) IS NULL END
           LIMIT 1),
          -- On a standby a message is an internal error, and the transaction's number 25006.
          pg_catalog.pg_logical_emit_message(true, 'snowid'::pg_catalog.text,
            pg_catalog.txid_current()::pg_catalog.text),
          pg_catalog.concat_ws('/'::pg_catalog.text,
            (SELECT c.system_identifier FROM pg_catalog.pg_control_system() AS c),
            (SELECT d.oid FROM pg_catalog.pg_database AS d
             WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()),
            q.seqrelid, pg_catalog."left"(pg_catalog.pg_walfile_name(
              pg_catalog.pg_current_wal_insert_lsn()), 8)) AS identity,
          pg_catalog.pg_sequence_last_value(q.seqrelid)::numeric AS last
        FROM pg_catalog.pg_sequence AS q
        WHERE q.seqrelid OPERATOR(pg_catalog.=) %L::pg_catalog.regclass::pg_catalog.oid
        OFFSET 0
      ) AS r
      OFFSET 0
    ) AS s
    LEFT JOIN LATERAL pg_catalog.generate_series(1::bigint,
      CASE WHEN s.behind IS NOT NULL OR s.identity OPERATOR(pg_catalog.<>) %L::pg_catalog.text
        THEN 0::bigint
        WHEN s.last IS NULL THEN 1::bigint
        ELSE GREATEST(1, LEAST(%s,
          pg_catalog.div(s.seqmax::numeric OPERATOR(pg_catalog.-) s.last,
            s.seqincrement::numeric OPERATOR(pg_catalog.*) 16::numeric)))::bigint
        END) AS g(i) ON true
  ) AS a
) AS b
GROUP BY b.identity, b.behind, b.island, b.increment, b.max, b.cycles
ORDER BY 4 DESC
LIMIT 1$statement$, identity = '', least_number, remote_seq, identity, blocks);
END $$;
COMMENT ON FUNCTION snowid_internal.source_statement(bigint, pg_catalog.text, pg_catalog.text, bigint) IS
  'Returns the statement to allocate blocks of a remote sequence.';

CREATE FUNCTION @extschema@.snowid_segment_attach(
    seq pg_catalog.regclass, server pg_catalog.name, remote_seq pg_catalog.text)
  RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_attach';
COMMENT ON FUNCTION @extschema@.snowid_segment_attach(pg_catalog.regclass, pg_catalog.name, pg_catalog.text) IS
  'Attaches a sequence to a remote sequence, its source of numbers.';

CREATE FUNCTION @extschema@.snowid_segment_detach(seq pg_catalog.regclass) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_detach';
COMMENT ON FUNCTION @extschema@.snowid_segment_detach(pg_catalog.regclass) IS 'Detaches a sequence from its remote source.';
