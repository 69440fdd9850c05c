-- The SQL face of snowid. Everything here is schema-safe: C functions, and SQL bodies parsed now.

\echo Use "CREATE EXTENSION snowid" to load this file. \quit

-- The ceiling: the time, in Unix milliseconds, up to which IDs may have been issued. It is dumped, so
-- that a restored database goes on above it.

CREATE SEQUENCE snowid_ceiling AS bigint MINVALUE 0 MAXVALUE 253402300799999 START 0 NO CYCLE;
COMMENT ON SEQUENCE snowid_ceiling IS
  'no ID carries a time above this one, in Unix milliseconds; kept by snowid, not to be set by hand';
SELECT pg_extension_config_dump('snowid_ceiling', '');
GRANT SELECT, UPDATE ON SEQUENCE snowid_ceiling TO @extowner@;

-- Layouts

CREATE TYPE snowid_layout;

CREATE FUNCTION snowid_layout_in(cstring) RETURNS snowid_layout
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_in';
COMMENT ON FUNCTION snowid_layout_in(cstring) IS 'input of snowid_layout';

CREATE FUNCTION snowid_layout_out(snowid_layout) RETURNS cstring
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_out';
COMMENT ON FUNCTION snowid_layout_out(snowid_layout) IS 'output of snowid_layout';

CREATE FUNCTION snowid_layout_recv(internal) RETURNS snowid_layout
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_recv';
COMMENT ON FUNCTION snowid_layout_recv(internal) IS 'binary input of snowid_layout';

CREATE FUNCTION snowid_layout_send(snowid_layout) RETURNS bytea
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_send';
COMMENT ON FUNCTION snowid_layout_send(snowid_layout) IS 'binary output of snowid_layout';

CREATE TYPE snowid_layout (
  INPUT = snowid_layout_in, OUTPUT = snowid_layout_out,
  RECEIVE = snowid_layout_recv, SEND = snowid_layout_send,
  INTERNALLENGTH = 16, ALIGNMENT = double, STORAGE = plain
);
COMMENT ON TYPE snowid_layout IS
  'how time, shard and sequence share the bits of an ID: a name or a specification';

CREATE FUNCTION snowid_layout_eq(snowid_layout, snowid_layout) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_eq';
COMMENT ON FUNCTION snowid_layout_eq(snowid_layout, snowid_layout) IS 'implementation of = operator';

CREATE FUNCTION snowid_layout_ne(snowid_layout, snowid_layout) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_ne';
COMMENT ON FUNCTION snowid_layout_ne(snowid_layout, snowid_layout) IS 'implementation of <> operator';

CREATE FUNCTION snowid_layout_lt(snowid_layout, snowid_layout) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_lt';
COMMENT ON FUNCTION snowid_layout_lt(snowid_layout, snowid_layout) IS 'implementation of < operator';

CREATE FUNCTION snowid_layout_le(snowid_layout, snowid_layout) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_le';
COMMENT ON FUNCTION snowid_layout_le(snowid_layout, snowid_layout) IS 'implementation of <= operator';

CREATE FUNCTION snowid_layout_gt(snowid_layout, snowid_layout) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_gt';
COMMENT ON FUNCTION snowid_layout_gt(snowid_layout, snowid_layout) IS 'implementation of > operator';

CREATE FUNCTION snowid_layout_ge(snowid_layout, snowid_layout) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_ge';
COMMENT ON FUNCTION snowid_layout_ge(snowid_layout, snowid_layout) IS 'implementation of >= operator';

CREATE FUNCTION snowid_layout_cmp(snowid_layout, snowid_layout) RETURNS int
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_cmp';
COMMENT ON FUNCTION snowid_layout_cmp(snowid_layout, snowid_layout) IS 'less-equal-greater';

CREATE FUNCTION snowid_layout_hash(snowid_layout) RETURNS int
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_hash';
COMMENT ON FUNCTION snowid_layout_hash(snowid_layout) IS 'hash';

CREATE FUNCTION snowid_layout_hash_extended(snowid_layout, bigint) RETURNS bigint
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C
  AS 'MODULE_PATHNAME', 'snowid_layout_hash_extended';
COMMENT ON FUNCTION snowid_layout_hash_extended(snowid_layout, bigint) IS 'hash';

CREATE OPERATOR = (FUNCTION = snowid_layout_eq, LEFTARG = snowid_layout, RIGHTARG = snowid_layout,
  COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
COMMENT ON OPERATOR = (snowid_layout, snowid_layout) IS 'equal';

CREATE OPERATOR <> (FUNCTION = snowid_layout_ne, LEFTARG = snowid_layout, RIGHTARG = snowid_layout,
  COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel);
COMMENT ON OPERATOR <> (snowid_layout, snowid_layout) IS 'not equal';

CREATE OPERATOR < (FUNCTION = snowid_layout_lt, LEFTARG = snowid_layout, RIGHTARG = snowid_layout,
  COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
COMMENT ON OPERATOR < (snowid_layout, snowid_layout) IS 'less than';

CREATE OPERATOR <= (FUNCTION = snowid_layout_le, LEFTARG = snowid_layout, RIGHTARG = snowid_layout,
  COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
COMMENT ON OPERATOR <= (snowid_layout, snowid_layout) IS 'less than or equal';

CREATE OPERATOR > (FUNCTION = snowid_layout_gt, LEFTARG = snowid_layout, RIGHTARG = snowid_layout,
  COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
COMMENT ON OPERATOR > (snowid_layout, snowid_layout) IS 'greater than';

CREATE OPERATOR >= (FUNCTION = snowid_layout_ge, LEFTARG = snowid_layout, RIGHTARG = snowid_layout,
  COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel);
COMMENT ON OPERATOR >= (snowid_layout, snowid_layout) IS 'greater than or equal';

-- The order of layouts means nothing; sorting serves to group by them.
CREATE OPERATOR CLASS snowid_layout_ops DEFAULT FOR TYPE snowid_layout USING btree AS
  OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
  FUNCTION 1 snowid_layout_cmp(snowid_layout, snowid_layout),
  FUNCTION 4 btequalimage(oid);
COMMENT ON OPERATOR CLASS snowid_layout_ops USING btree IS 'order of layouts';
COMMENT ON OPERATOR FAMILY snowid_layout_ops USING btree IS 'order of layouts';

CREATE OPERATOR CLASS snowid_layout_ops DEFAULT FOR TYPE snowid_layout USING hash AS
  OPERATOR 1 =, FUNCTION 1 snowid_layout_hash(snowid_layout),
  FUNCTION 2 snowid_layout_hash_extended(snowid_layout, bigint);
COMMENT ON OPERATOR CLASS snowid_layout_ops USING hash IS 'hashing of layouts';
COMMENT ON OPERATOR FAMILY snowid_layout_ops USING hash IS 'hashing of layouts';

CREATE FUNCTION snowid_layout_is_ordered(layout snowid_layout) RETURNS boolean
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_is_ordered';
COMMENT ON FUNCTION snowid_layout_is_ordered(snowid_layout) IS
  'whether later IDs are greater ones, whatever their shards';

CREATE FUNCTION snowid_layout_describe(
    layout snowid_layout, OUT specification text, OUT epoch timestamptz, OUT unit interval,
    OUT max_shard bigint, OUT ids_per_second double precision, OUT positive_until timestamptz,
    OUT used_up_at timestamptz)
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_describe';
COMMENT ON FUNCTION snowid_layout_describe(snowid_layout) IS
  'what a layout can hold, and for how long';

CREATE FUNCTION snowid_layout_names(OUT name text, OUT layout snowid_layout)
  RETURNS SETOF record
  IMMUTABLE STRICT PARALLEL SAFE ROWS 9 LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_names';
COMMENT ON FUNCTION snowid_layout_names() IS 'layouts that have a name';

CREATE VIEW snowid_layouts AS
  SELECT n.name, d.specification, d.epoch, d.unit, d.max_shard, d.ids_per_second, d.positive_until,
    d.used_up_at
  FROM snowid_layout_names() AS n, snowid_layout_describe(n.layout) AS d;
COMMENT ON VIEW snowid_layouts IS
  'layouts that have a name; IDs are issued until positive_until, used_up_at is when the bits are';
COMMENT ON COLUMN snowid_layouts.name IS 'what a snowid_layout can be written as';
COMMENT ON COLUMN snowid_layouts.specification IS 'the same at length';
COMMENT ON COLUMN snowid_layouts.epoch IS 'when time 0 begins';
COMMENT ON COLUMN snowid_layouts.unit IS 'how finely time is counted';
COMMENT ON COLUMN snowid_layouts.max_shard IS 'greatest shard; the least is 0';
COMMENT ON COLUMN snowid_layouts.ids_per_second IS 'IDs per second of one shard';
COMMENT ON COLUMN snowid_layouts.positive_until IS 'when IDs would turn negative: none are issued then';
COMMENT ON COLUMN snowid_layouts.used_up_at IS 'when no bits are left for the time';
GRANT SELECT ON snowid_layouts TO PUBLIC;

-- Making IDs

CREATE FUNCTION snowid_next() RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next';
COMMENT ON FUNCTION snowid_next() IS 'next ID of the shard that snowid.shard names';

CREATE FUNCTION snowid_next(shard int) RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next_shard';
COMMENT ON FUNCTION snowid_next(int) IS 'next ID of a shard';

CREATE FUNCTION snowid_default_shard() RETURNS int
  STABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_default_shard';
COMMENT ON FUNCTION snowid_default_shard() IS
  'shard that snowid.shard names, for snowid_next(int, snowid_layout)';

CREATE FUNCTION snowid_next(shard int, layout snowid_layout) RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next_layout';
COMMENT ON FUNCTION snowid_next(int, snowid_layout) IS 'next ID of a shard and layout';

CREATE FUNCTION snowid_batch_support(internal) RETURNS internal
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_batch_support';
COMMENT ON FUNCTION snowid_batch_support(internal) IS 'planner support for snowid_next_batch';

CREATE FUNCTION snowid_next_batch(shard int, count int, layout snowid_layout DEFAULT 'instagram')
  RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next_batch'
  SUPPORT snowid_batch_support;
COMMENT ON FUNCTION snowid_next_batch(int, int, snowid_layout) IS
  'next IDs of a shard and layout, in the order of issue';

CREATE FUNCTION snowid_reserve(shard int, count int, layout snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_reserve';
COMMENT ON FUNCTION snowid_reserve(int, int, snowid_layout) IS
  'first of so many consecutive IDs of a shard and layout, all of them the caller''s';

CREATE FUNCTION snowid_lastval() RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_lastval';
COMMENT ON FUNCTION snowid_lastval() IS 'last ID that this session got';

CREATE FUNCTION snowid_currval(shard int, layout snowid_layout DEFAULT 'instagram') RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_currval';
COMMENT ON FUNCTION snowid_currval(int, snowid_layout) IS
  'last ID of a shard and layout that this session got';

CREATE FUNCTION snowid_advance(id bigint, layout snowid_layout DEFAULT 'instagram') RETURNS void
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_advance';
COMMENT ON FUNCTION snowid_advance(bigint, snowid_layout) IS
  'have the ID''s shard issue only later IDs from now on, durably';
REVOKE ALL ON FUNCTION snowid_advance(bigint, snowid_layout) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION snowid_advance(bigint, snowid_layout) TO @extowner@;

-- Reading IDs, and making them from their parts

CREATE FUNCTION snowid_decode(id bigint, layout snowid_layout DEFAULT 'instagram',
                              OUT created_at timestamptz, OUT shard int, OUT sequence int)
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_decode';
COMMENT ON FUNCTION snowid_decode(bigint, snowid_layout) IS 'parts of an ID';

CREATE FUNCTION snowid_timestamp(id bigint, layout snowid_layout DEFAULT 'instagram')
  RETURNS timestamptz
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_timestamp';
COMMENT ON FUNCTION snowid_timestamp(bigint, snowid_layout) IS 'time at which an ID was made';

CREATE FUNCTION snowid_shard(id bigint, layout snowid_layout DEFAULT 'instagram') RETURNS int
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_shard';
COMMENT ON FUNCTION snowid_shard(bigint, snowid_layout) IS 'shard of an ID';

CREATE FUNCTION snowid_sequence(id bigint, layout snowid_layout DEFAULT 'instagram') RETURNS int
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_sequence';
COMMENT ON FUNCTION snowid_sequence(bigint, snowid_layout) IS
  'sequence of an ID within its time unit and shard';

CREATE FUNCTION snowid_encode(created_at timestamptz, shard int, sequence int,
                              layout snowid_layout DEFAULT 'instagram') RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_encode';
COMMENT ON FUNCTION snowid_encode(timestamptz, int, int, snowid_layout) IS 'ID with these parts';

CREATE FUNCTION snowid_min(moment timestamptz, layout snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_min';
COMMENT ON FUNCTION snowid_min(timestamptz, snowid_layout) IS
  'least ID of the time unit that holds a moment';

CREATE FUNCTION snowid_max(moment timestamptz, layout snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_max';
COMMENT ON FUNCTION snowid_max(timestamptz, snowid_layout) IS
  'greatest ID of the time unit that holds a moment';

CREATE FUNCTION snowid_range_first("from" timestamptz, until timestamptz, layout snowid_layout)
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_range_first';
COMMENT ON FUNCTION snowid_range_first(timestamptz, timestamptz, snowid_layout) IS
  'least ID with a time from one moment until before another; the greatest bigint where none has';

CREATE FUNCTION snowid_range_last("from" timestamptz, until timestamptz, layout snowid_layout)
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_range_last';
COMMENT ON FUNCTION snowid_range_last(timestamptz, timestamptz, snowid_layout) IS
  'greatest ID with a time from one moment until before another; the least bigint where none has';

CREATE FUNCTION snowid_is_between(id bigint, "from" timestamptz, until timestamptz,
                                  layout snowid_layout) RETURNS boolean
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_is_between';
COMMENT ON FUNCTION snowid_is_between(bigint, timestamptz, timestamptz, snowid_layout) IS
  'what snowid_between says, of a layout in which IDs are not ordered by time alone';

-- Not STRICT, or the planner would not inline it. A null still gives null: each bound is strict in
-- both moments. For a constant layout that is ordered the last condition is none.
CREATE FUNCTION snowid_between(id bigint, "from" timestamptz, until timestamptz,
                               layout snowid_layout DEFAULT 'instagram') RETURNS boolean
  IMMUTABLE PARALLEL SAFE LANGUAGE SQL
  RETURN id >= snowid_range_first("from", until, layout)
    AND id <= snowid_range_last("from", until, layout)
    AND (snowid_layout_is_ordered(layout) OR snowid_is_between(id, "from", until, layout));
COMMENT ON FUNCTION snowid_between(bigint, timestamptz, timestamptz, snowid_layout) IS
  'whether an ID has a time from one moment until before another; an index on the ID serves';

-- UUIDs

CREATE FUNCTION snowid_uuidv7() RETURNS uuid
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_uuidv7';
COMMENT ON FUNCTION snowid_uuidv7() IS
  'next UUID of version 7, greater than all that this server has made before';

CREATE FUNCTION snowid_timestamp(uuid uuid) RETURNS timestamptz
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_timestamp_uuid';
COMMENT ON FUNCTION snowid_timestamp(uuid) IS 'time of a UUID of version 7';

CREATE FUNCTION snowid_to_uuid(id bigint, layout snowid_layout DEFAULT 'instagram') RETURNS uuid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_to_uuid';
COMMENT ON FUNCTION snowid_to_uuid(bigint, snowid_layout) IS
  'UUID that holds an ID, in the order of the IDs';

CREATE FUNCTION snowid_from_uuid(uuid uuid, layout snowid_layout DEFAULT 'instagram') RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_from_uuid';
COMMENT ON FUNCTION snowid_from_uuid(uuid, snowid_layout) IS 'ID that snowid_to_uuid has made a UUID of';

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

-- IDs as text

CREATE FUNCTION snowid_to_text(id bigint) RETURNS text
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_to_text';
COMMENT ON FUNCTION snowid_to_text(bigint) IS
  'text form of an ID: 11 characters that sort, under COLLATE "C", as the numbers do';

CREATE FUNCTION snowid_from_text(text_form text) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_from_text';
COMMENT ON FUNCTION snowid_from_text(text) IS 'ID of a text form';

-- IDs scattered over the key space, as TiDB's users do

CREATE FUNCTION snowid_scatter(id bigint, digits int DEFAULT 1) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_scatter';
COMMENT ON FUNCTION snowid_scatter(bigint, int) IS
  'ID with its last decimal digits, up to three, moved behind its first one';

CREATE FUNCTION snowid_unscatter(id bigint, digits int DEFAULT 1) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_unscatter';
COMMENT ON FUNCTION snowid_unscatter(bigint, int) IS
  'ID that snowid_scatter has scattered, by the same number of digits';

-- A server that has issued IDs in this database before remembers its ceiling. Have the new sequence
-- hold it from the beginning, and not only from the next ID on.
SELECT snowid_advance(0);
