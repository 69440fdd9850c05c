-- The SQL face of snowid. Everything here is schema-safe: C functions, and SQL bodies parsed now.

\echo Use "CREATE EXTENSION snowid" to load this file. \quit

-- The ceiling: the time, in Unix milliseconds, up to which IDs may have been issued. It is dumped, so
-- that a restored database goes on above it.

CREATE SEQUENCE snowid_ceiling AS bigint MINVALUE 0 MAXVALUE 253402300799999 START 0 NO CYCLE;
COMMENT ON SEQUENCE snowid_ceiling IS
  'no ID carries a time above this one, in Unix milliseconds; kept by snowid, not to be set by hand';
SELECT pg_extension_config_dump('snowid_ceiling', '');
GRANT SELECT, UPDATE ON SEQUENCE snowid_ceiling TO @extowner@;

-- Making IDs

CREATE FUNCTION snowid_next() RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next';
COMMENT ON FUNCTION snowid_next() IS 'next ID of the shard that snowid.shard names';

CREATE FUNCTION snowid_next(shard int) RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next_shard';
COMMENT ON FUNCTION snowid_next(int) IS 'next ID of a shard';

CREATE FUNCTION snowid_batch_support(internal) RETURNS internal
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_batch_support';
COMMENT ON FUNCTION snowid_batch_support(internal) IS 'planner support for snowid_next_batch';

CREATE FUNCTION snowid_next_batch(shard int, count int) RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next_batch'
  SUPPORT snowid_batch_support;
COMMENT ON FUNCTION snowid_next_batch(int, int) IS 'next IDs of a shard, increasing';

CREATE FUNCTION snowid_reserve(shard int, count int) RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_reserve';
COMMENT ON FUNCTION snowid_reserve(int, int) IS
  'first of so many consecutive IDs of a shard, all of them the caller''s';

CREATE FUNCTION snowid_lastval() RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_lastval';
COMMENT ON FUNCTION snowid_lastval() IS 'last ID that this session got';

CREATE FUNCTION snowid_currval(shard int) RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_currval';
COMMENT ON FUNCTION snowid_currval(int) IS 'last ID of a shard that this session got';

CREATE FUNCTION snowid_advance(id bigint) RETURNS void
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_advance';
COMMENT ON FUNCTION snowid_advance(bigint) IS
  'have the ID''s shard issue only IDs above it from now on, durably';
REVOKE ALL ON FUNCTION snowid_advance(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION snowid_advance(bigint) TO @extowner@;

-- Reading IDs, and making them from their parts

CREATE FUNCTION snowid_decode(id bigint,
                              OUT created_at timestamptz, OUT shard int, OUT sequence int)
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_decode';
COMMENT ON FUNCTION snowid_decode(bigint) IS 'parts of an ID';

CREATE FUNCTION snowid_timestamp(id bigint) RETURNS timestamptz
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_timestamp';
COMMENT ON FUNCTION snowid_timestamp(bigint) IS 'time at which an ID was made';

CREATE FUNCTION snowid_shard(id bigint) RETURNS int
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_shard';
COMMENT ON FUNCTION snowid_shard(bigint) IS 'shard of an ID';

CREATE FUNCTION snowid_sequence(id bigint) RETURNS int
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_sequence';
COMMENT ON FUNCTION snowid_sequence(bigint) IS 'sequence of an ID within its time unit and shard';

CREATE FUNCTION snowid_encode(created_at timestamptz, shard int, sequence int) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_encode';
COMMENT ON FUNCTION snowid_encode(timestamptz, int, int) IS 'ID with these parts';

CREATE FUNCTION snowid_min(moment timestamptz) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_min';
COMMENT ON FUNCTION snowid_min(timestamptz) IS 'least ID of the time unit that holds a moment';

CREATE FUNCTION snowid_max(moment timestamptz) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_max';
COMMENT ON FUNCTION snowid_max(timestamptz) IS 'greatest ID of the time unit that holds a moment';

CREATE FUNCTION snowid_range_first("from" timestamptz, until timestamptz) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_range_first';
COMMENT ON FUNCTION snowid_range_first(timestamptz, timestamptz) IS
  'least ID with a time from one moment until before another; the greatest bigint where none has';

CREATE FUNCTION snowid_range_last("from" timestamptz, until timestamptz) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_range_last';
COMMENT ON FUNCTION snowid_range_last(timestamptz, timestamptz) IS
  'greatest ID with a time from one moment until before another; the least bigint where none has';

-- Not STRICT, or the planner would not inline it. A null still gives null: each bound is strict in
-- both moments.
CREATE FUNCTION snowid_between(id bigint, "from" timestamptz, until timestamptz) RETURNS boolean
  IMMUTABLE PARALLEL SAFE LANGUAGE SQL
  RETURN id >= snowid_range_first("from", until) AND id <= snowid_range_last("from", until);
COMMENT ON FUNCTION snowid_between(bigint, timestamptz, timestamptz) IS
  'whether an ID has a time from one moment until before another; an index on the ID serves';

-- MariaDB's sequence tables

CREATE FUNCTION snowid_seq_support(internal) RETURNS internal
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_seq_support';
COMMENT ON FUNCTION snowid_seq_support(internal) IS
  'planner support for seq_x_to_y(bigint, bigint, bigint)';

CREATE FUNCTION seq_x_to_y(x bigint, y bigint, step bigint DEFAULT 1, OUT seq bigint)
  RETURNS SETOF bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_seq'
  SUPPORT snowid_seq_support;
COMMENT ON FUNCTION seq_x_to_y(bigint, bigint, bigint) IS
  'numbers from x to y, as MariaDB''s table seq_x_to_y_step_n has them';

CREATE FUNCTION snowid_seq_name_support(internal) RETURNS internal
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_seq_name_support';
COMMENT ON FUNCTION snowid_seq_name_support(internal) IS 'planner support for seq_x_to_y(text)';

CREATE FUNCTION seq_x_to_y(name text, OUT seq bigint) RETURNS SETOF bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_seq_name'
  SUPPORT snowid_seq_name_support;
COMMENT ON FUNCTION seq_x_to_y(text) IS
  'numbers of the sequence table that MariaDB knows by a name such as seq_1_to_15_step_3';

-- A server that has issued IDs in this database before remembers its ceiling. Have the new sequence
-- hold it from the beginning, and not only from the next ID on.
SELECT snowid_advance(0);
