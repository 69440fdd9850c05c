-- The SQL face of snowid.
--
-- This script runs as superuser, in a schema that somebody else may have filled before. So each name is
-- written with its schema, each argument is of the exact type, and the script calls nothing but what is
-- in pg_catalog or in the schema snowid, which it makes: nobody could put anything there. What users call
-- is in the schema that they choose; relations, and what only other functions call, in the schema snowid.

\echo Use "CREATE EXTENSION snowid" to load this file. \quit

-- Fails where there is a schema of this name: whatever is in it is somebody else's.
CREATE SCHEMA snowid;
COMMENT ON SCHEMA snowid IS 'what snowid keeps, and functions that its other functions call';
GRANT USAGE ON SCHEMA snowid TO PUBLIC;

-- The ceiling: the time, in Unix milliseconds, up to which IDs may have been issued. It is dumped, so
-- that a restored database goes on above it.

CREATE SEQUENCE snowid.ceiling AS bigint MINVALUE 0 MAXVALUE 253402300799999 START 0 NO CYCLE;
COMMENT ON SEQUENCE snowid.ceiling IS
  'no ID carries a time above this one, in Unix milliseconds; kept by snowid, not to be set by hand';
SELECT pg_catalog.pg_extension_config_dump('snowid.ceiling'::pg_catalog.regclass, ''::pg_catalog.text);
-- Whoever dumps the database reads it, and whoever restores it sets it.
GRANT SELECT ON SEQUENCE snowid.ceiling TO PUBLIC;
GRANT SELECT, UPDATE ON SEQUENCE snowid.ceiling TO @extowner@;

-- Layouts

CREATE TYPE @extschema@.snowid_layout;

CREATE FUNCTION snowid.layout_in(pg_catalog.cstring) RETURNS @extschema@.snowid_layout
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_in';
COMMENT ON FUNCTION snowid.layout_in(pg_catalog.cstring) IS 'input of snowid_layout';

CREATE FUNCTION snowid.layout_out(@extschema@.snowid_layout) RETURNS pg_catalog.cstring
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_out';
COMMENT ON FUNCTION snowid.layout_out(@extschema@.snowid_layout) IS 'output of snowid_layout';

CREATE FUNCTION snowid.layout_recv(pg_catalog.internal) RETURNS @extschema@.snowid_layout
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_recv';
COMMENT ON FUNCTION snowid.layout_recv(pg_catalog.internal) IS 'binary input of snowid_layout';

CREATE FUNCTION snowid.layout_send(@extschema@.snowid_layout) RETURNS pg_catalog.bytea
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_send';
COMMENT ON FUNCTION snowid.layout_send(@extschema@.snowid_layout) IS 'binary output of snowid_layout';

CREATE TYPE @extschema@.snowid_layout (
  INPUT = snowid.layout_in, OUTPUT = snowid.layout_out,
  RECEIVE = snowid.layout_recv, SEND = snowid.layout_send,
  INTERNALLENGTH = 16, ALIGNMENT = double, STORAGE = plain
);
COMMENT ON TYPE @extschema@.snowid_layout IS
  'how time, shard and sequence share the bits of an ID: a name or a specification';

CREATE FUNCTION snowid.layout_eq(@extschema@.snowid_layout, @extschema@.snowid_layout) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_eq';
COMMENT ON FUNCTION snowid.layout_eq(@extschema@.snowid_layout, @extschema@.snowid_layout) IS
  'implementation of = operator';

CREATE FUNCTION snowid.layout_ne(@extschema@.snowid_layout, @extschema@.snowid_layout) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_ne';
COMMENT ON FUNCTION snowid.layout_ne(@extschema@.snowid_layout, @extschema@.snowid_layout) IS
  'implementation of <> operator';

CREATE FUNCTION snowid.layout_lt(@extschema@.snowid_layout, @extschema@.snowid_layout) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_lt';
COMMENT ON FUNCTION snowid.layout_lt(@extschema@.snowid_layout, @extschema@.snowid_layout) IS
  'implementation of < operator';

CREATE FUNCTION snowid.layout_le(@extschema@.snowid_layout, @extschema@.snowid_layout) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_le';
COMMENT ON FUNCTION snowid.layout_le(@extschema@.snowid_layout, @extschema@.snowid_layout) IS
  'implementation of <= operator';

CREATE FUNCTION snowid.layout_gt(@extschema@.snowid_layout, @extschema@.snowid_layout) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_gt';
COMMENT ON FUNCTION snowid.layout_gt(@extschema@.snowid_layout, @extschema@.snowid_layout) IS
  'implementation of > operator';

CREATE FUNCTION snowid.layout_ge(@extschema@.snowid_layout, @extschema@.snowid_layout) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_ge';
COMMENT ON FUNCTION snowid.layout_ge(@extschema@.snowid_layout, @extschema@.snowid_layout) IS
  'implementation of >= operator';

CREATE FUNCTION snowid.layout_cmp(@extschema@.snowid_layout, @extschema@.snowid_layout) RETURNS int
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_cmp';
COMMENT ON FUNCTION snowid.layout_cmp(@extschema@.snowid_layout, @extschema@.snowid_layout) IS
  'less-equal-greater';

CREATE FUNCTION snowid.layout_hash(@extschema@.snowid_layout) RETURNS int
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_hash';
COMMENT ON FUNCTION snowid.layout_hash(@extschema@.snowid_layout) IS 'hash';

CREATE FUNCTION snowid.layout_hash_extended(@extschema@.snowid_layout, bigint) RETURNS bigint
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C
  AS 'MODULE_PATHNAME', 'snowid_layout_hash_extended';
COMMENT ON FUNCTION snowid.layout_hash_extended(@extschema@.snowid_layout, bigint) IS 'hash';

CREATE OPERATOR @extschema@.= (FUNCTION = snowid.layout_eq,
  LEFTARG = @extschema@.snowid_layout, RIGHTARG = @extschema@.snowid_layout,
  COMMUTATOR = OPERATOR(@extschema@.=), NEGATOR = OPERATOR(@extschema@.<>),
  RESTRICT = pg_catalog.eqsel, JOIN = pg_catalog.eqjoinsel, HASHES, MERGES);
COMMENT ON OPERATOR @extschema@.= (@extschema@.snowid_layout, @extschema@.snowid_layout) IS 'equal';

CREATE OPERATOR @extschema@.<> (FUNCTION = snowid.layout_ne,
  LEFTARG = @extschema@.snowid_layout, RIGHTARG = @extschema@.snowid_layout,
  COMMUTATOR = OPERATOR(@extschema@.<>), NEGATOR = OPERATOR(@extschema@.=),
  RESTRICT = pg_catalog.neqsel, JOIN = pg_catalog.neqjoinsel);
COMMENT ON OPERATOR @extschema@.<> (@extschema@.snowid_layout, @extschema@.snowid_layout) IS 'not equal';

CREATE OPERATOR @extschema@.< (FUNCTION = snowid.layout_lt,
  LEFTARG = @extschema@.snowid_layout, RIGHTARG = @extschema@.snowid_layout,
  COMMUTATOR = OPERATOR(@extschema@.>), NEGATOR = OPERATOR(@extschema@.>=),
  RESTRICT = pg_catalog.scalarltsel, JOIN = pg_catalog.scalarltjoinsel);
COMMENT ON OPERATOR @extschema@.< (@extschema@.snowid_layout, @extschema@.snowid_layout) IS 'less than';

CREATE OPERATOR @extschema@.<= (FUNCTION = snowid.layout_le,
  LEFTARG = @extschema@.snowid_layout, RIGHTARG = @extschema@.snowid_layout,
  COMMUTATOR = OPERATOR(@extschema@.>=), NEGATOR = OPERATOR(@extschema@.>),
  RESTRICT = pg_catalog.scalarlesel, JOIN = pg_catalog.scalarlejoinsel);
COMMENT ON OPERATOR @extschema@.<= (@extschema@.snowid_layout, @extschema@.snowid_layout) IS
  'less than or equal';

CREATE OPERATOR @extschema@.> (FUNCTION = snowid.layout_gt,
  LEFTARG = @extschema@.snowid_layout, RIGHTARG = @extschema@.snowid_layout,
  COMMUTATOR = OPERATOR(@extschema@.<), NEGATOR = OPERATOR(@extschema@.<=),
  RESTRICT = pg_catalog.scalargtsel, JOIN = pg_catalog.scalargtjoinsel);
COMMENT ON OPERATOR @extschema@.> (@extschema@.snowid_layout, @extschema@.snowid_layout) IS 'greater than';

CREATE OPERATOR @extschema@.>= (FUNCTION = snowid.layout_ge,
  LEFTARG = @extschema@.snowid_layout, RIGHTARG = @extschema@.snowid_layout,
  COMMUTATOR = OPERATOR(@extschema@.<=), NEGATOR = OPERATOR(@extschema@.<),
  RESTRICT = pg_catalog.scalargesel, JOIN = pg_catalog.scalargejoinsel);
COMMENT ON OPERATOR @extschema@.>= (@extschema@.snowid_layout, @extschema@.snowid_layout) IS
  'greater than or equal';

-- The order of layouts means nothing; sorting serves to group by them.
CREATE OPERATOR CLASS @extschema@.snowid_layout_ops DEFAULT FOR TYPE @extschema@.snowid_layout USING btree AS
  OPERATOR 1 @extschema@.<, OPERATOR 2 @extschema@.<=, OPERATOR 3 @extschema@.=,
  OPERATOR 4 @extschema@.>=, OPERATOR 5 @extschema@.>,
  FUNCTION 1 snowid.layout_cmp(@extschema@.snowid_layout, @extschema@.snowid_layout),
  FUNCTION 4 pg_catalog.btequalimage(pg_catalog.oid);
COMMENT ON OPERATOR CLASS @extschema@.snowid_layout_ops USING btree IS 'order of layouts';
COMMENT ON OPERATOR FAMILY @extschema@.snowid_layout_ops USING btree IS 'order of layouts';

CREATE OPERATOR CLASS @extschema@.snowid_layout_ops DEFAULT FOR TYPE @extschema@.snowid_layout USING hash AS
  OPERATOR 1 @extschema@.=, FUNCTION 1 snowid.layout_hash(@extschema@.snowid_layout),
  FUNCTION 2 snowid.layout_hash_extended(@extschema@.snowid_layout, bigint);
COMMENT ON OPERATOR CLASS @extschema@.snowid_layout_ops USING hash IS 'hashing of layouts';
COMMENT ON OPERATOR FAMILY @extschema@.snowid_layout_ops USING hash IS 'hashing of layouts';

CREATE FUNCTION snowid.layout_is_ordered(layout @extschema@.snowid_layout) RETURNS boolean
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_is_ordered';
COMMENT ON FUNCTION snowid.layout_is_ordered(@extschema@.snowid_layout) IS
  'whether later IDs are greater ones, whatever their shards';

CREATE FUNCTION @extschema@.snowid_layout_describe(
    layout @extschema@.snowid_layout, OUT specification pg_catalog.text,
    OUT epoch pg_catalog.timestamptz, OUT unit pg_catalog.interval,
    OUT max_shard bigint, OUT ids_per_second double precision, OUT positive_until pg_catalog.timestamptz,
    OUT used_up_at pg_catalog.timestamptz)
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_describe';
COMMENT ON FUNCTION @extschema@.snowid_layout_describe(@extschema@.snowid_layout) IS
  'what a layout can hold, and for how long';

CREATE FUNCTION snowid.layout_names(OUT name pg_catalog.text, OUT layout @extschema@.snowid_layout)
  RETURNS SETOF pg_catalog.record
  IMMUTABLE STRICT PARALLEL SAFE ROWS 9 LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_names';
COMMENT ON FUNCTION snowid.layout_names() IS 'layouts that have a name';

CREATE VIEW snowid.layouts AS
  SELECT n.name, d.specification, d.epoch, d.unit, d.max_shard, d.ids_per_second, d.positive_until,
    d.used_up_at
  FROM snowid.layout_names() AS n, @extschema@.snowid_layout_describe(n.layout) AS d;
COMMENT ON VIEW snowid.layouts IS
  'layouts that have a name; IDs are issued until positive_until, used_up_at is when the bits are';
COMMENT ON COLUMN snowid.layouts.name IS 'what a snowid_layout can be written as';
COMMENT ON COLUMN snowid.layouts.specification IS 'the same at length';
COMMENT ON COLUMN snowid.layouts.epoch IS 'when time 0 begins';
COMMENT ON COLUMN snowid.layouts.unit IS 'how finely time is counted';
COMMENT ON COLUMN snowid.layouts.max_shard IS 'greatest shard; the least is 0';
COMMENT ON COLUMN snowid.layouts.ids_per_second IS 'IDs per second of one shard';
COMMENT ON COLUMN snowid.layouts.positive_until IS 'when IDs would turn negative: none are issued then';
COMMENT ON COLUMN snowid.layouts.used_up_at IS 'when no bits are left for the time';
GRANT SELECT ON snowid.layouts TO PUBLIC;

-- Making IDs

CREATE FUNCTION @extschema@.snowid_next() RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next';
COMMENT ON FUNCTION @extschema@.snowid_next() IS 'next ID of the shard that snowid.shard names';

CREATE FUNCTION @extschema@.snowid_next(shard bigint) RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next_shard';
COMMENT ON FUNCTION @extschema@.snowid_next(bigint) IS 'next ID of a shard';

CREATE FUNCTION @extschema@.snowid_default_shard() RETURNS bigint
  STABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_default_shard';
COMMENT ON FUNCTION @extschema@.snowid_default_shard() IS
  'shard that snowid.shard names, for snowid_next(bigint, snowid_layout)';

CREATE FUNCTION @extschema@.snowid_next(shard bigint, layout @extschema@.snowid_layout) RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next_layout';
COMMENT ON FUNCTION @extschema@.snowid_next(bigint, @extschema@.snowid_layout) IS
  'next ID of a shard and layout';

CREATE FUNCTION snowid.batch_support(pg_catalog.internal) RETURNS pg_catalog.internal
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_batch_support';
COMMENT ON FUNCTION snowid.batch_support(pg_catalog.internal) IS 'planner support for snowid_next_batch';

CREATE FUNCTION @extschema@.snowid_next_batch(shard bigint, count int,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next_batch'
  SUPPORT snowid.batch_support;
COMMENT ON FUNCTION @extschema@.snowid_next_batch(bigint, int, @extschema@.snowid_layout) IS
  'next IDs of a shard and layout, in the order of issue';

CREATE FUNCTION @extschema@.snowid_reserve(shard bigint, count int,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_reserve';
COMMENT ON FUNCTION @extschema@.snowid_reserve(bigint, int, @extschema@.snowid_layout) IS
  'first of so many consecutive IDs of a shard and layout, all of them the caller''s';

CREATE FUNCTION @extschema@.snowid_lastval() RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_lastval';
COMMENT ON FUNCTION @extschema@.snowid_lastval() IS 'last ID that this session got';

CREATE FUNCTION @extschema@.snowid_currval(shard bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_currval';
COMMENT ON FUNCTION @extschema@.snowid_currval(bigint, @extschema@.snowid_layout) IS
  'last ID of a shard and layout that this session got';

CREATE FUNCTION @extschema@.snowid_advance(id bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_advance';
COMMENT ON FUNCTION @extschema@.snowid_advance(bigint, @extschema@.snowid_layout) IS
  'have the ID''s shard issue only later IDs from now on, durably';
REVOKE ALL ON FUNCTION @extschema@.snowid_advance(bigint, @extschema@.snowid_layout) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_advance(bigint, @extschema@.snowid_layout) TO @extowner@
  WITH GRANT OPTION;

-- Reading IDs, and making them from their parts

CREATE FUNCTION @extschema@.snowid_decode(id bigint, layout @extschema@.snowid_layout DEFAULT 'instagram',
                              OUT created_at pg_catalog.timestamptz, OUT shard bigint, OUT sequence bigint)
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_decode';
COMMENT ON FUNCTION @extschema@.snowid_decode(bigint, @extschema@.snowid_layout) IS 'parts of an ID';

CREATE FUNCTION @extschema@.snowid_timestamp(id bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS pg_catalog.timestamptz
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_timestamp';
COMMENT ON FUNCTION @extschema@.snowid_timestamp(bigint, @extschema@.snowid_layout) IS
  'time at which an ID was made';

CREATE FUNCTION @extschema@.snowid_shard(id bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_shard';
COMMENT ON FUNCTION @extschema@.snowid_shard(bigint, @extschema@.snowid_layout) IS 'shard of an ID';

CREATE FUNCTION @extschema@.snowid_sequence(id bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_sequence';
COMMENT ON FUNCTION @extschema@.snowid_sequence(bigint, @extschema@.snowid_layout) IS
  'sequence of an ID within its time unit and shard';

CREATE FUNCTION @extschema@.snowid_encode(created_at pg_catalog.timestamptz, shard bigint, sequence bigint,
                              layout @extschema@.snowid_layout DEFAULT 'instagram') RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_encode';
COMMENT ON FUNCTION @extschema@.snowid_encode(pg_catalog.timestamptz, bigint, bigint, @extschema@.snowid_layout) IS
  'ID with these parts';

CREATE FUNCTION @extschema@.snowid_min(moment pg_catalog.timestamptz,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_min';
COMMENT ON FUNCTION @extschema@.snowid_min(pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'least ID of the time unit that holds a moment';

CREATE FUNCTION @extschema@.snowid_max(moment pg_catalog.timestamptz,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_max';
COMMENT ON FUNCTION @extschema@.snowid_max(pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'greatest ID of the time unit that holds a moment';

CREATE FUNCTION snowid.range_first("from" pg_catalog.timestamptz, until pg_catalog.timestamptz,
    layout @extschema@.snowid_layout)
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_range_first';
COMMENT ON FUNCTION snowid.range_first(pg_catalog.timestamptz, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'least ID with a time from one moment until before another; the greatest bigint where none has';

CREATE FUNCTION snowid.range_last("from" pg_catalog.timestamptz, until pg_catalog.timestamptz,
    layout @extschema@.snowid_layout)
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_range_last';
COMMENT ON FUNCTION snowid.range_last(pg_catalog.timestamptz, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'greatest ID with a time from one moment until before another; the least bigint where none has';

CREATE FUNCTION snowid.is_between(id bigint, "from" pg_catalog.timestamptz, until pg_catalog.timestamptz,
                                  layout @extschema@.snowid_layout) RETURNS boolean
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_is_between';
COMMENT ON FUNCTION snowid.is_between(bigint, pg_catalog.timestamptz, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'what snowid_between says, of a layout in which IDs are not ordered by time alone';

-- Not STRICT, or the planner would not inline it. A null still gives null: each bound is strict in
-- both moments. For a constant layout that is ordered the last condition is none.
CREATE FUNCTION @extschema@.snowid_between(id bigint, "from" pg_catalog.timestamptz,
    until pg_catalog.timestamptz,
                               layout @extschema@.snowid_layout DEFAULT 'instagram') RETURNS boolean
  IMMUTABLE PARALLEL SAFE LANGUAGE SQL
  RETURN id OPERATOR(pg_catalog.>=) snowid.range_first("from", until, layout)
    AND id OPERATOR(pg_catalog.<=) snowid.range_last("from", until, layout)
    AND (snowid.layout_is_ordered(layout) OR snowid.is_between(id, "from", until, layout));
COMMENT ON FUNCTION @extschema@.snowid_between(bigint, pg_catalog.timestamptz, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'whether an ID has a time from one moment until before another; an index on the ID serves';

-- UUIDs

CREATE FUNCTION @extschema@.snowid_uuidv7() RETURNS pg_catalog.uuid
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_uuidv7';
COMMENT ON FUNCTION @extschema@.snowid_uuidv7() IS
  'next UUID of version 7, greater than all that this server has made before';

CREATE FUNCTION @extschema@.snowid_uuid_timestamp(uuid pg_catalog.uuid) RETURNS pg_catalog.timestamptz
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_uuid_timestamp';
COMMENT ON FUNCTION @extschema@.snowid_uuid_timestamp(pg_catalog.uuid) IS
  'time at which a UUID of version 1, 6 or 7 was made; null for any other';

CREATE FUNCTION @extschema@.snowid_to_uuid(id bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS pg_catalog.uuid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_to_uuid';
COMMENT ON FUNCTION @extschema@.snowid_to_uuid(bigint, @extschema@.snowid_layout) IS
  'UUID that holds an ID, in the order of the IDs';

CREATE FUNCTION @extschema@.snowid_from_uuid(uuid pg_catalog.uuid,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_from_uuid';
COMMENT ON FUNCTION @extschema@.snowid_from_uuid(pg_catalog.uuid, @extschema@.snowid_layout) IS
  'ID that snowid_to_uuid has made a UUID of';

-- MariaDB's sequence tables

CREATE FUNCTION snowid.seq_support(pg_catalog.internal) RETURNS pg_catalog.internal
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_seq_support';
COMMENT ON FUNCTION snowid.seq_support(pg_catalog.internal) IS
  'planner support for seq_x_to_y(bigint, bigint, bigint)';

CREATE FUNCTION @extschema@.seq_x_to_y(x bigint, y bigint, step bigint DEFAULT 1, OUT seq bigint)
  RETURNS SETOF bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_seq'
  SUPPORT snowid.seq_support;
COMMENT ON FUNCTION @extschema@.seq_x_to_y(bigint, bigint, bigint) IS
  'numbers from x to y, as MariaDB''s table seq_x_to_y_step_n has them';

CREATE FUNCTION snowid.seq_name_support(pg_catalog.internal) RETURNS pg_catalog.internal
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_seq_name_support';
COMMENT ON FUNCTION snowid.seq_name_support(pg_catalog.internal) IS 'planner support for seq_x_to_y(text)';

CREATE FUNCTION @extschema@.seq_x_to_y(name pg_catalog.text, OUT seq bigint) RETURNS SETOF bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_seq_name'
  SUPPORT snowid.seq_name_support;
COMMENT ON FUNCTION @extschema@.seq_x_to_y(pg_catalog.text) IS
  'numbers of the sequence table that MariaDB knows by a name such as seq_1_to_15_step_3';

-- IDs in base 62

CREATE FUNCTION @extschema@.snowid_to_base62(id bigint) RETURNS pg_catalog.text
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_to_base62';
COMMENT ON FUNCTION @extschema@.snowid_to_base62(bigint) IS
  'an ID in base 62: 11 characters that sort, under COLLATE "C", as the numbers do';

CREATE FUNCTION @extschema@.snowid_from_base62(digits pg_catalog.text) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_from_base62';
COMMENT ON FUNCTION @extschema@.snowid_from_base62(pg_catalog.text) IS 'ID that is written in base 62';

-- IDs scattered over the key space, as TiDB's users do

CREATE FUNCTION @extschema@.snowid_scatter(id bigint, digits int DEFAULT 1) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_scatter';
COMMENT ON FUNCTION @extschema@.snowid_scatter(bigint, int) IS
  'ID with its last decimal digits, up to three, moved behind its first one';

CREATE FUNCTION @extschema@.snowid_unscatter(id bigint, digits int DEFAULT 1) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_unscatter';
COMMENT ON FUNCTION @extschema@.snowid_unscatter(bigint, int) IS
  'ID that snowid_scatter has scattered, by the same number of digits';

-- A server that has issued IDs in this database before remembers its ceiling. Have the new sequence
-- hold it from the beginning, and not only from the next ID on.

CREATE FUNCTION snowid.carry_ceiling_over() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_carry_ceiling_over';
COMMENT ON FUNCTION snowid.carry_ceiling_over() IS
  'have snowid.ceiling hold what this server knows of the ceiling; called by CREATE EXTENSION';
REVOKE ALL ON FUNCTION snowid.carry_ceiling_over() FROM PUBLIC;
SELECT snowid.carry_ceiling_over();
