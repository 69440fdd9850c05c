-- Segments

CREATE FUNCTION @extschema@.snowid_segment_next(seq pg_catalog.regclass) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_next';
COMMENT ON FUNCTION @extschema@.snowid_segment_next(pg_catalog.regclass) IS
  'Returns the next number of a sequence, from a block shared by all sessions.';

CREATE FUNCTION @extschema@.snowid_segment_next(seq pg_catalog.regclass, size int) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_next';
COMMENT ON FUNCTION @extschema@.snowid_segment_next(pg_catalog.regclass, int) IS
  'Returns the next number of a sequence, from a shared block of the given size.';

CREATE FUNCTION @extschema@.snowid_segment_batch(seq pg_catalog.regclass, count int) RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_batch'
  SUPPORT snowid.batch_support;
COMMENT ON FUNCTION @extschema@.snowid_segment_batch(pg_catalog.regclass, int) IS 'Returns the next numbers of a sequence.';

CREATE FUNCTION @extschema@.snowid_segment_batch(seq pg_catalog.regclass, count int, size int)
  RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_batch'
  SUPPORT snowid.batch_support;
COMMENT ON FUNCTION @extschema@.snowid_segment_batch(pg_catalog.regclass, int, int) IS
  'Returns the next numbers of a sequence, from blocks of the given size.';

-- Sections

CREATE FUNCTION @extschema@.snowid_section_next(section pg_catalog.regclass, key bigint) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_section_next';
COMMENT ON FUNCTION @extschema@.snowid_section_next(pg_catalog.regclass, bigint) IS 'Returns the next number of a key.';

CREATE FUNCTION @extschema@.snowid_section_current(section pg_catalog.regclass, key bigint) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_section_current';
COMMENT ON FUNCTION @extschema@.snowid_section_current(pg_catalog.regclass, bigint) IS
  'Returns the last number issued for a key, or null if it is not in memory.';
