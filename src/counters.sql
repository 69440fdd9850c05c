
-- Segments

CREATE FUNCTION snowid_segment_next(seq regclass) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_next';
COMMENT ON FUNCTION snowid_segment_next(regclass) IS
  'next number of a sequence, whose increment is what is bought at a time for all sessions';

CREATE FUNCTION snowid_segment_next(seq regclass, size int) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_next_size';
COMMENT ON FUNCTION snowid_segment_next(regclass, int) IS
  'next number of a sequence, of which blocks have this size and leave the rest of the increment to others';

CREATE FUNCTION snowid_segment_batch(seq regclass, count int) RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_batch'
  SUPPORT snowid_batch_support;
COMMENT ON FUNCTION snowid_segment_batch(regclass, int) IS
  'next numbers of a sequence, as snowid_segment_next gives them';

CREATE FUNCTION snowid_segment_batch(seq regclass, count int, size int) RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_batch_size'
  SUPPORT snowid_batch_support;
COMMENT ON FUNCTION snowid_segment_batch(regclass, int, int) IS
  'next numbers of a sequence, in blocks of this size';

CREATE TABLE snowid_segment_sources (
  seq regclass PRIMARY KEY,
  server text NOT NULL,
  remote_seq text NOT NULL
);
COMMENT ON TABLE snowid_segment_sources IS
  'sequences whose numbers are bought from another server, see snowid_segment_attach';
COMMENT ON COLUMN snowid_segment_sources.seq IS 'sequence here';
COMMENT ON COLUMN snowid_segment_sources.server IS 'foreign server';
COMMENT ON COLUMN snowid_segment_sources.remote_seq IS 'sequence there';
COMMENT ON CONSTRAINT snowid_segment_sources_pkey ON snowid_segment_sources IS
  'a sequence has one source';
COMMENT ON INDEX snowid_segment_sources_pkey IS 'a sequence has one source';
GRANT SELECT ON snowid_segment_sources TO PUBLIC;
-- Who restores a dump may be no superuser.
GRANT INSERT ON snowid_segment_sources TO @extowner@;

CREATE FUNCTION snowid_segment_check_source() RETURNS trigger
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_check_source';
COMMENT ON FUNCTION snowid_segment_check_source() IS
  'sees to it that only the owner of a sequence gives it a source';

CREATE TRIGGER check_source BEFORE INSERT OR UPDATE ON snowid_segment_sources
  FOR EACH ROW EXECUTE FUNCTION snowid_segment_check_source();
COMMENT ON TRIGGER check_source ON snowid_segment_sources IS
  'sees to it that only the owner of a sequence gives it a source';
-- Not of sequences that were dropped: their numbers may be those of others where it is restored.
SELECT pg_extension_config_dump('snowid_segment_sources',
                                'WHERE seq IN (SELECT seqrelid FROM pg_catalog.pg_sequence)');

CREATE FUNCTION snowid_segment_attach(seq regclass, server name, remote_seq text) RETURNS void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_attach';
COMMENT ON FUNCTION snowid_segment_attach(regclass, name, text) IS
  'have a sequence''s numbers be bought from a sequence on another server';

CREATE FUNCTION snowid_segment_detach(seq regclass) RETURNS void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_detach';
COMMENT ON FUNCTION snowid_segment_detach(regclass) IS
  'have a sequence''s numbers be its own again, above those bought';

-- Sections

CREATE FUNCTION snowid_section_next(section regclass, key bigint) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_section_next';
COMMENT ON FUNCTION snowid_section_next(regclass, bigint) IS
  'next number of a key, greater than all that it was given before';

CREATE FUNCTION snowid_section_current(section regclass, key bigint) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_section_current';
COMMENT ON FUNCTION snowid_section_current(regclass, bigint) IS
  'last number given to a key, null where memory does not know';
