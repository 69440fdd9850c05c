-- Segments

CREATE FUNCTION @extschema@.snowid_segment_next(seq pg_catalog.regclass) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_next';
COMMENT ON FUNCTION @extschema@.snowid_segment_next(pg_catalog.regclass) IS
  'next number of a sequence, allocated for all sessions in blocks as large as its increment';

CREATE FUNCTION @extschema@.snowid_segment_next(seq pg_catalog.regclass, size int) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_next';
COMMENT ON FUNCTION @extschema@.snowid_segment_next(pg_catalog.regclass, int) IS
  'next number of a sequence, in blocks of this size; the rest of its increment is left to others';

CREATE FUNCTION @extschema@.snowid_segment_batch(seq pg_catalog.regclass, count int) RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_batch'
  SUPPORT snowid.batch_support;
COMMENT ON FUNCTION @extschema@.snowid_segment_batch(pg_catalog.regclass, int) IS
  'next numbers of a sequence, as snowid_segment_next gives them';

CREATE FUNCTION @extschema@.snowid_segment_batch(seq pg_catalog.regclass, count int, size int)
  RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_batch'
  SUPPORT snowid.batch_support;
COMMENT ON FUNCTION @extschema@.snowid_segment_batch(pg_catalog.regclass, int, int) IS
  'next numbers of a sequence, in blocks of this size';

-- Sections

CREATE FUNCTION @extschema@.snowid_section_next(section pg_catalog.regclass, key bigint) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_section_next';
COMMENT ON FUNCTION @extschema@.snowid_section_next(pg_catalog.regclass, bigint) IS
  'next number of a key, greater than all that it was given before';

CREATE FUNCTION @extschema@.snowid_section_current(section pg_catalog.regclass, key bigint) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_section_current';
COMMENT ON FUNCTION @extschema@.snowid_section_current(pg_catalog.regclass, bigint) IS
  'last number given to a key; null if it is not in memory';
