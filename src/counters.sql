
-- Segments

CREATE FUNCTION @extschema@.snowid_segment_next(seq pg_catalog.regclass) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_next';
COMMENT ON FUNCTION @extschema@.snowid_segment_next(pg_catalog.regclass) IS
  'next number of a sequence, whose increment is what is bought at a time for all sessions';

CREATE FUNCTION @extschema@.snowid_segment_next(seq pg_catalog.regclass, size int) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_next_size';
COMMENT ON FUNCTION @extschema@.snowid_segment_next(pg_catalog.regclass, int) IS
  'next number of a sequence, of which blocks have this size and leave the rest of the increment to others';

CREATE FUNCTION @extschema@.snowid_segment_batch(seq pg_catalog.regclass, count int) RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_batch'
  SUPPORT snowid.batch_support;
COMMENT ON FUNCTION @extschema@.snowid_segment_batch(pg_catalog.regclass, int) IS
  'next numbers of a sequence, as snowid_segment_next gives them';

CREATE FUNCTION @extschema@.snowid_segment_batch(seq pg_catalog.regclass, count int, size int)
  RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_batch_size'
  SUPPORT snowid.batch_support;
COMMENT ON FUNCTION @extschema@.snowid_segment_batch(pg_catalog.regclass, int, int) IS
  'next numbers of a sequence, in blocks of this size';

CREATE TABLE snowid.segment_sources (
  seq pg_catalog.regclass PRIMARY KEY,
  server pg_catalog.text NOT NULL,
  remote_seq pg_catalog.text NOT NULL
);
COMMENT ON TABLE snowid.segment_sources IS
  'sequences whose numbers are bought from another server, see snowid_segment_attach';
COMMENT ON COLUMN snowid.segment_sources.seq IS 'sequence here';
COMMENT ON COLUMN snowid.segment_sources.server IS 'foreign server';
COMMENT ON COLUMN snowid.segment_sources.remote_seq IS 'sequence there';
COMMENT ON CONSTRAINT segment_sources_pkey ON snowid.segment_sources IS
  'a sequence has one source';
COMMENT ON INDEX snowid.segment_sources_pkey IS 'a sequence has one source';
GRANT SELECT ON snowid.segment_sources TO PUBLIC;
-- Who restores a dump may be no superuser.
GRANT INSERT ON snowid.segment_sources TO @extowner@;

CREATE FUNCTION snowid.check_source() RETURNS pg_catalog.trigger
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_check_source';
COMMENT ON FUNCTION snowid.check_source() IS
  'sees to it that only the owner of a sequence gives it a source';

CREATE TRIGGER check_source BEFORE INSERT OR UPDATE ON snowid.segment_sources
  FOR EACH ROW EXECUTE FUNCTION snowid.check_source();
COMMENT ON TRIGGER check_source ON snowid.segment_sources IS
  'sees to it that only the owner of a sequence gives it a source';
-- Not of sequences that were dropped: their numbers may be those of others where it is restored.
SELECT pg_catalog.pg_extension_config_dump('snowid.segment_sources'::pg_catalog.regclass,
  'WHERE seq IN (SELECT seqrelid FROM pg_catalog.pg_sequence)'::pg_catalog.text);

CREATE FUNCTION @extschema@.snowid_segment_attach(
    seq pg_catalog.regclass, server pg_catalog.name, remote_seq pg_catalog.text)
  RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_attach';
COMMENT ON FUNCTION @extschema@.snowid_segment_attach(pg_catalog.regclass, pg_catalog.name, pg_catalog.text) IS
  'have a sequence''s numbers be bought from a sequence on another server';

CREATE FUNCTION @extschema@.snowid_segment_detach(seq pg_catalog.regclass) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_detach';
COMMENT ON FUNCTION @extschema@.snowid_segment_detach(pg_catalog.regclass) IS
  'have a sequence''s numbers be its own again, above those bought';

-- Sections

CREATE FUNCTION @extschema@.snowid_section_next(section pg_catalog.regclass, key bigint) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_section_next';
COMMENT ON FUNCTION @extschema@.snowid_section_next(pg_catalog.regclass, bigint) IS
  'next number of a key, greater than all that it was given before';

CREATE FUNCTION @extschema@.snowid_section_current(section pg_catalog.regclass, key bigint) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_section_current';
COMMENT ON FUNCTION @extschema@.snowid_section_current(pg_catalog.regclass, bigint) IS
  'last number given to a key, null where memory does not know';
