-- The SQL interface of snowid.
--
-- This script runs as superuser, in a schema that may contain an attacker's objects. It therefore qualifies every name,
-- matches every argument's type exactly, and calls only functions of pg_catalog and of the two schemas created here.
-- the extension's schema: functions for applications
-- snowid: functions for administrators, views, functions called by those of all roles
-- snowid_internal: tables, sequences, internal functions. PUBLIC has no USAGE, because several statements lock a
-- relation before they check the caller's rights.
-- rights.sql grants all rights.

\echo Use "CREATE EXTENSION snowid" to load this file. \quit

-- Both fail if the schema exists, whatever it contains.
CREATE SCHEMA snowid;
COMMENT ON SCHEMA snowid IS 'administration and views of snowid';
CREATE SCHEMA snowid_internal;
COMMENT ON SCHEMA snowid_internal IS 'tables and internal functions of snowid';
-- Layouts

CREATE TYPE @extschema@.snowid_layout;

CREATE FUNCTION snowid.layout_in(pg_catalog.cstring) RETURNS @extschema@.snowid_layout
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_in';
COMMENT ON FUNCTION snowid.layout_in(pg_catalog.cstring) IS 'I/O';

CREATE FUNCTION snowid.layout_out(@extschema@.snowid_layout) RETURNS pg_catalog.cstring
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_out';
COMMENT ON FUNCTION snowid.layout_out(@extschema@.snowid_layout) IS 'I/O';

CREATE FUNCTION snowid.layout_recv(pg_catalog.internal) RETURNS @extschema@.snowid_layout
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_recv';
COMMENT ON FUNCTION snowid.layout_recv(pg_catalog.internal) IS 'I/O';

CREATE FUNCTION snowid.layout_send(@extschema@.snowid_layout) RETURNS pg_catalog.bytea
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_send';
COMMENT ON FUNCTION snowid.layout_send(@extschema@.snowid_layout) IS 'I/O';

CREATE TYPE @extschema@.snowid_layout (
  INPUT = snowid.layout_in, OUTPUT = snowid.layout_out,
  RECEIVE = snowid.layout_recv, SEND = snowid.layout_send,
  INTERNALLENGTH = 16, ALIGNMENT = double, STORAGE = plain
);
COMMENT ON TYPE @extschema@.snowid_layout IS 'bits of time, shard, and sequence in IDs';

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

-- The order of layouts has no meaning; it is for sorting and grouping.
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
COMMENT ON FUNCTION snowid.layout_is_ordered(@extschema@.snowid_layout) IS 'Returns whether later IDs are greater, regardless of shard.';

CREATE FUNCTION @extschema@.snowid_describe_layout(
    layout @extschema@.snowid_layout, OUT specification pg_catalog.text,
    OUT epoch pg_catalog.timestamptz, OUT unit pg_catalog.interval,
    OUT max_shard bigint, OUT ids_per_second double precision, OUT expires_at pg_catalog.timestamptz)
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_describe_layout';
COMMENT ON FUNCTION @extschema@.snowid_describe_layout(@extschema@.snowid_layout) IS
  'Returns a layout''s specification, limits, and expiration time.';

CREATE FUNCTION snowid.layout_names(OUT name pg_catalog.text, OUT layout @extschema@.snowid_layout)
  RETURNS SETOF pg_catalog.record
  IMMUTABLE STRICT PARALLEL SAFE ROWS 16 LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_layout_names';
COMMENT ON FUNCTION snowid.layout_names() IS 'implementation of view snowid.layouts';

CREATE VIEW snowid.layouts AS
  SELECT n.name, d.specification, d.epoch, d.unit, d.max_shard, d.ids_per_second, d.expires_at
  FROM snowid.layout_names() AS n, @extschema@.snowid_describe_layout(n.layout) AS d;
COMMENT ON VIEW snowid.layouts IS 'named layouts';
COMMENT ON COLUMN snowid.layouts.name IS 'name of the layout';
COMMENT ON COLUMN snowid.layouts.specification IS 'specification of the layout';
COMMENT ON COLUMN snowid.layouts.epoch IS 'epoch of the IDs'' times';
COMMENT ON COLUMN snowid.layouts.unit IS 'unit of time';
COMMENT ON COLUMN snowid.layouts.max_shard IS 'greatest shard';
COMMENT ON COLUMN snowid.layouts.ids_per_second IS 'IDs per second and shard';
COMMENT ON COLUMN snowid.layouts.expires_at IS 'expiration time of the layout';
-- snowid: the type of an ID, a string in JSON
--
-- It is to bigint what varchar is to text: stored alike, cast without a function, and without operators, operator
-- classes or aggregates of its own. PostgreSQL therefore compares, sorts, hashes and indexes it as bigint, with
-- bigint's functions. JSON's functions know bigint by its OID: they write any other type as a string.
--
-- With operators of its own, a parameter compared with a column would have a type unknown to drivers, and additions to
-- integer_ops would be lost in pg_upgrade, which cannot dump the operator families of pg_catalog.

CREATE TYPE @extschema@.snowid;

CREATE FUNCTION snowid.id_in(pg_catalog.cstring) RETURNS @extschema@.snowid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE internal AS 'int8in';
COMMENT ON FUNCTION snowid.id_in(pg_catalog.cstring) IS 'I/O';

CREATE FUNCTION snowid.id_out(@extschema@.snowid) RETURNS pg_catalog.cstring
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE internal AS 'int8out';
COMMENT ON FUNCTION snowid.id_out(@extschema@.snowid) IS 'I/O';

CREATE FUNCTION snowid.id_recv(pg_catalog.internal) RETURNS @extschema@.snowid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE internal AS 'int8recv';
COMMENT ON FUNCTION snowid.id_recv(pg_catalog.internal) IS 'I/O';

CREATE FUNCTION snowid.id_send(@extschema@.snowid) RETURNS pg_catalog.bytea
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE internal AS 'int8send';
COMMENT ON FUNCTION snowid.id_send(@extschema@.snowid) IS 'I/O';

-- Of bigint's category: CASE, UNION, IN and the like find bigint as the common type.
CREATE TYPE @extschema@.snowid (
  INPUT = snowid.id_in, OUTPUT = snowid.id_out, RECEIVE = snowid.id_recv, SEND = snowid.id_send,
  LIKE = pg_catalog.int8, CATEGORY = 'N'
);
COMMENT ON TYPE @extschema@.snowid IS 'bigint ID, a string in JSON';

CREATE CAST (@extschema@.snowid AS bigint) WITHOUT FUNCTION AS IMPLICIT;
COMMENT ON CAST (@extschema@.snowid AS bigint) IS 'ID as a number';
CREATE CAST (bigint AS @extschema@.snowid) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (bigint AS @extschema@.snowid) IS 'number as an ID';

-- For constants: coalesce(id, 0), id IN (1, 2). No function or operator takes a snowid: the casts make no call
-- ambiguous.
CREATE FUNCTION snowid.id_from_int(int) RETURNS @extschema@.snowid
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE internal AS 'int48';
COMMENT ON FUNCTION snowid.id_from_int(int) IS 'number as an ID';
CREATE CAST (int AS @extschema@.snowid) WITH FUNCTION snowid.id_from_int(int) AS IMPLICIT;
COMMENT ON CAST (int AS @extschema@.snowid) IS 'number as an ID';

CREATE FUNCTION snowid.id_from_int(smallint) RETURNS @extschema@.snowid
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE internal AS 'int28';
COMMENT ON FUNCTION snowid.id_from_int(smallint) IS 'number as an ID';
CREATE CAST (smallint AS @extschema@.snowid) WITH FUNCTION snowid.id_from_int(smallint) AS IMPLICIT;
COMMENT ON CAST (smallint AS @extschema@.snowid) IS 'number as an ID';

CREATE FUNCTION snowid.is_id_type(type pg_catalog.oid) RETURNS boolean
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE SQL
  RETURN type OPERATOR(pg_catalog.=) ANY (ARRAY['pg_catalog.int8'::pg_catalog.regtype::pg_catalog.oid,
    '@extschema@.snowid'::pg_catalog.regtype::pg_catalog.oid]);
COMMENT ON FUNCTION snowid.is_id_type(pg_catalog.oid) IS 'Returns whether a type is bigint or snowid.';
-- Estimates of row counts for the planner

CREATE FUNCTION snowid.batch_support(pg_catalog.internal) RETURNS pg_catalog.internal
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_batch_support';
COMMENT ON FUNCTION snowid.batch_support(pg_catalog.internal) IS 'planner support for functions of a count';
-- Reading IDs, and making them from their parts

CREATE FUNCTION @extschema@.snowid_decode(id bigint, layout @extschema@.snowid_layout DEFAULT 'instagram',
                              OUT created_at pg_catalog.timestamptz, OUT shard bigint, OUT sequence bigint)
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_decode';
COMMENT ON FUNCTION @extschema@.snowid_decode(bigint, @extschema@.snowid_layout) IS 'Returns an ID''s time, shard, and sequence.';

CREATE FUNCTION @extschema@.snowid_timestamp(id bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS pg_catalog.timestamptz
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_timestamp';
COMMENT ON FUNCTION @extschema@.snowid_timestamp(bigint, @extschema@.snowid_layout) IS 'Returns an ID''s time.';

-- For PL/pgSQL, whose bodies are text: names are looked up at run time, and the database's owner may rename the
-- extension's schema and create another one of its old name. A body after RETURN or in BEGIN ATOMIC is stored as a tree
-- that refers to objects by OID. In the script an argument of type snowid_layout identifies the function, because none
-- could exist before.
CREATE FUNCTION snowid.timestamp_of(id bigint, layout @extschema@.snowid_layout) RETURNS pg_catalog.timestamptz
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE SQL
  RETURN @extschema@.snowid_timestamp(id, layout);
COMMENT ON FUNCTION snowid.timestamp_of(bigint, @extschema@.snowid_layout) IS 'Returns snowid_timestamp(id, layout).';

CREATE FUNCTION @extschema@.snowid_shard(id bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_shard';
COMMENT ON FUNCTION @extschema@.snowid_shard(bigint, @extschema@.snowid_layout) IS 'Returns an ID''s shard.';

CREATE FUNCTION @extschema@.snowid_sequence(id bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_sequence';
COMMENT ON FUNCTION @extschema@.snowid_sequence(bigint, @extschema@.snowid_layout) IS 'Returns an ID''s sequence within its time unit and shard.';

CREATE FUNCTION @extschema@.snowid_encode(created_at pg_catalog.timestamptz, shard bigint, sequence bigint,
                              layout @extschema@.snowid_layout DEFAULT 'instagram') RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_encode';
COMMENT ON FUNCTION @extschema@.snowid_encode(pg_catalog.timestamptz, bigint, bigint, @extschema@.snowid_layout) IS
  'Returns the ID with the given time, shard, and sequence.';

CREATE FUNCTION @extschema@.snowid_first_at(moment pg_catalog.timestamptz,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_first_at';
COMMENT ON FUNCTION @extschema@.snowid_first_at(pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'Returns the least ID of a moment''s time unit.';

CREATE FUNCTION @extschema@.snowid_last_at(moment pg_catalog.timestamptz,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_last_at';
COMMENT ON FUNCTION @extschema@.snowid_last_at(pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'Returns the greatest ID of a moment''s time unit.';

-- Bounds of a time range. For a layout with IDs in the order of time they are IDs; for any other, time units, as
-- snowid.time_key(). Beyond all IDs: the greatest bigint, or -1.
CREATE FUNCTION snowid.first_from(moment pg_catalog.timestamptz, layout @extschema@.snowid_layout)
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_first_from';
COMMENT ON FUNCTION snowid.first_from(pg_catalog.timestamptz, @extschema@.snowid_layout) IS 'Returns the least ID not before a moment.';

CREATE FUNCTION snowid.last_before(moment pg_catalog.timestamptz, layout @extschema@.snowid_layout)
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_last_before';
COMMENT ON FUNCTION snowid.last_before(pg_catalog.timestamptz, @extschema@.snowid_layout) IS 'Returns the greatest ID before a moment.';

CREATE FUNCTION snowid.time_key(id bigint, layout @extschema@.snowid_layout) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_time_key';
COMMENT ON FUNCTION snowid.time_key(bigint, @extschema@.snowid_layout) IS
  'Returns the place of an ID in the order of time.';

CREATE FUNCTION snowid.in_range_support(pg_catalog.internal) RETURNS pg_catalog.internal
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_in_range_support';
COMMENT ON FUNCTION snowid.in_range_support(pg_catalog.internal) IS 'planner support for ranges of time';

-- Always inlined, because each moment occurs once and it is not STRICT. Nulls act as in id >= … AND id <= …. With a
-- constant layout the CASE disappears.
CREATE FUNCTION @extschema@.snowid_in_range(id bigint, since pg_catalog.timestamptz, before pg_catalog.timestamptz,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS boolean
  IMMUTABLE PARALLEL SAFE SUPPORT snowid.in_range_support LANGUAGE SQL
  RETURN CASE WHEN snowid.layout_is_ordered(layout) THEN id ELSE snowid.time_key(id, layout) END
      OPERATOR(pg_catalog.>=) snowid.first_from(since, layout)
    AND CASE WHEN snowid.layout_is_ordered(layout) THEN id ELSE snowid.time_key(id, layout) END
      OPERATOR(pg_catalog.<=) snowid.last_before(before, layout);
COMMENT ON FUNCTION @extschema@.snowid_in_range(bigint, pg_catalog.timestamptz, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'Returns whether an ID''s time is in [since, before); can use an index.';

-- The right epoch and widths give possible times for all IDs; wrong ones give some before the layout was made, or in
-- the future. For recent IDs the right layout's times are the latest; other layouts miss by months or years. The first
-- IDs of this kind, Twitter's, are of November 2010; some layouts count from 1970.
--
-- Layouts are grouped by their text: pg_upgrade creates this function before the operator class required by DISTINCT
-- and GROUP BY.
CREATE FUNCTION snowid.guess_layout(ids bigint[], OUT layout @extschema@.snowid_layout,
    OUT earliest pg_catalog.timestamptz, OUT latest pg_catalog.timestamptz, OUT shards bigint)
  RETURNS SETOF pg_catalog.record
  STABLE STRICT PARALLEL SAFE ROWS 5 LANGUAGE SQL
BEGIN ATOMIC
  SELECT n.name::@extschema@.snowid_layout, pg_catalog.min(d.created_at), pg_catalog.max(d.created_at),
      pg_catalog.count(DISTINCT d.shard)
    FROM (SELECT DISTINCT a.layout::pg_catalog.text COLLATE pg_catalog."C" AS name FROM snowid.layout_names() AS a) AS n,
      @extschema@.snowid_describe_layout(n.name::@extschema@.snowid_layout) AS l,
      pg_catalog.unnest(ids) AS i (id),
      @extschema@.snowid_decode(i.id, n.name::@extschema@.snowid_layout) AS d
   WHERE i.id IS NOT NULL
   GROUP BY n.name
  HAVING pg_catalog.bool_and(COALESCE(
      d.created_at OPERATOR(pg_catalog.>=) GREATEST('2010-11-01Z'::pg_catalog.timestamptz,
        l.epoch OPERATOR(pg_catalog.+) '1 day'::pg_catalog.interval)
      AND d.created_at OPERATOR(pg_catalog.<=)
        (pg_catalog.statement_timestamp() OPERATOR(pg_catalog.+) '1 minute'::pg_catalog.interval), false))
   ORDER BY pg_catalog.max(d.created_at) DESC, pg_catalog.count(DISTINCT d.shard), n.name;
END;
COMMENT ON FUNCTION snowid.guess_layout(bigint[]) IS 'Returns the named layouts with plausible times for all IDs, likeliest first.';
-- Generating IDs

CREATE FUNCTION @extschema@.snowid_next() RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next';
COMMENT ON FUNCTION @extschema@.snowid_next() IS 'Returns the next ID of the default shard.';

CREATE FUNCTION @extschema@.snowid_next(shard bigint) RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next_shard';
COMMENT ON FUNCTION @extschema@.snowid_next(bigint) IS 'Returns the next ID of a shard.';

CREATE FUNCTION @extschema@.snowid_default_shard() RETURNS bigint
  STABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_default_shard';
COMMENT ON FUNCTION @extschema@.snowid_default_shard() IS 'Returns the default shard: the node number, or the setting snowid.default_shard.';

CREATE FUNCTION @extschema@.snowid_next(shard bigint, layout @extschema@.snowid_layout) RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next_layout';
COMMENT ON FUNCTION @extschema@.snowid_next(bigint, @extschema@.snowid_layout) IS 'Returns the next ID of a shard in a layout.';

CREATE FUNCTION @extschema@.snowid_next_batch(count int) RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next_batch'
  SUPPORT snowid.batch_support;
COMMENT ON FUNCTION @extschema@.snowid_next_batch(int) IS 'Returns the next IDs of the default shard, in order.';

CREATE FUNCTION @extschema@.snowid_next_batch(shard bigint, count int,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next_batch'
  SUPPORT snowid.batch_support;
COMMENT ON FUNCTION @extschema@.snowid_next_batch(bigint, int, @extschema@.snowid_layout) IS 'Returns the next IDs of a shard, in order.';

CREATE FUNCTION @extschema@.snowid_reserve(count int) RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_reserve';
COMMENT ON FUNCTION @extschema@.snowid_reserve(int) IS 'Reserves consecutive IDs of the default shard, and returns the first.';

CREATE FUNCTION @extschema@.snowid_reserve(shard bigint, count int,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_reserve';
COMMENT ON FUNCTION @extschema@.snowid_reserve(bigint, int, @extschema@.snowid_layout) IS
  'Reserves consecutive IDs of a shard, and returns the first.';

CREATE FUNCTION @extschema@.snowid_lastval() RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_lastval';
COMMENT ON FUNCTION @extschema@.snowid_lastval() IS 'Returns the last ID generated in this session.';

CREATE FUNCTION @extschema@.snowid_currval(shard bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_currval';
COMMENT ON FUNCTION @extschema@.snowid_currval(bigint, @extschema@.snowid_layout) IS 'Returns the last ID of a shard generated in this session.';

-- Reading tables in the order of their IDs

CREATE FUNCTION @extschema@.snowid_watermark(tbl pg_catalog.regclass) RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL UNSAFE ROWS 1 LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_watermark';
COMMENT ON FUNCTION @extschema@.snowid_watermark(pg_catalog.regclass) IS 'Returns an upper bound of IDs for reading a table without missing rows.';

CREATE FUNCTION @extschema@.snowid_watermark(tbl pg_catalog.regclass, layout @extschema@.snowid_layout) RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL UNSAFE ROWS 1 LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_watermark';
COMMENT ON FUNCTION @extschema@.snowid_watermark(pg_catalog.regclass, @extschema@.snowid_layout) IS
  'Returns an upper bound of a layout''s IDs for reading a table without missing rows.';
-- The ceiling, and times used by a clock that jumped forward

CREATE FUNCTION @extschema@.snowid_ceiling() RETURNS pg_catalog.timestamptz
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_ceiling';
COMMENT ON FUNCTION @extschema@.snowid_ceiling() IS 'Returns an upper bound on the times of all IDs issued in this database.';

CREATE FUNCTION snowid.get_skipped_times(OUT first pg_catalog.timestamptz, OUT last pg_catalog.timestamptz)
  RETURNS SETOF pg_catalog.record
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_get_skipped_times';
COMMENT ON FUNCTION snowid.get_skipped_times() IS 'implementation of view snowid.skipped_times';

CREATE VIEW snowid.skipped_times AS
  SELECT pg_catalog.tstzrange(t.first, t.last, '[]'::pg_catalog.text) AS skipped FROM snowid.get_skipped_times() AS t;
COMMENT ON VIEW snowid.skipped_times IS 'times skipped after snowid.return_to_clock()';
COMMENT ON COLUMN snowid.skipped_times.skipped IS 'range of skipped times';

CREATE FUNCTION snowid.return_to_clock(used pg_catalog.tstzmultirange) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_return_to_clock';
COMMENT ON FUNCTION snowid.return_to_clock(pg_catalog.tstzmultirange) IS
  'Returns ID generation to the current clock, and skips the given times from then on.';
-- For superusers: it also lowers the common slots of all databases.

-- For PL/pgSQL, like snowid.timestamp_of(). Not stored as a tree: without arguments, a function of another owner could
-- match.
CREATE FUNCTION snowid.get_ceiling() RETURNS pg_catalog.timestamptz
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_ceiling';
COMMENT ON FUNCTION snowid.get_ceiling() IS 'Returns snowid_ceiling().';

-- Reads a user table as its owner, usually called by a superuser, and therefore runs no code of a view or a type. Times
-- in the query have their zones' offsets.
CREATE FUNCTION snowid.future_times(tbl pg_catalog.regclass, col pg_catalog.name,
    layout @extschema@.snowid_layout DEFAULT 'instagram', margin pg_catalog.interval DEFAULT '10 minutes')
  RETURNS pg_catalog.tstzmultirange
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET datestyle = iso AS $$
DECLARE
  -- IDs of the right clock may be that far ahead.
  since CONSTANT timestamptz := clock_timestamp() + interval '2 s';
  ceiling CONSTANT timestamptz := snowid.get_ceiling();
  owner name;
  found tstzmultirange := '{}';
BEGIN
  IF margin < interval '1 s' OR extract(month FROM margin) + extract(year FROM margin) > 0 THEN
    RAISE invalid_parameter_value USING MESSAGE = format('margin must be a second or more, and have no months: %s', margin);
  END IF;
  SELECT pg_get_userbyid(c.relowner) INTO owner FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
   WHERE c.oid = tbl AND c.relkind IN ('r', 'p', 'm') AND a.attname = col AND a.attnum > 0
     AND NOT a.attisdropped AND snowid.is_id_type(a.atttypid);
  IF owner IS NULL THEN
    RAISE wrong_object_type USING MESSAGE = format('"%s" is not a table with a column "%s" of type bigint or snowid', tbl, col);
  END IF;
  found := snowid.execute(owner, format(
    'SELECT range_agg(tstzrange(first - least(%4$L, (first - %3$L) / 2), last + %4$L::interval, ''[]''))
      FROM (SELECT min(at) AS first, max(at) AS last
        FROM (SELECT snowid.timestamp_of(%1$I, %5$L) AS at FROM %2$s) AS id
        WHERE at > %3$L GROUP BY date_bin(%4$L, at, %3$L)) AS group_of_ids', col, tbl, since, margin, layout), found);
  IF ceiling > since THEN
    found := coalesce(found, '{}')
      + tstzmultirange(tstzrange(ceiling - least(margin, (ceiling - since) / 2), ceiling, '[]'));
  END IF;
  RETURN coalesce(found, '{}');
END
$$;
COMMENT ON FUNCTION snowid.future_times(pg_catalog.regclass, pg_catalog.name, @extschema@.snowid_layout, pg_catalog.interval) IS
  'Returns the argument for snowid.return_to_clock(): future times of a column''s IDs, and the ceiling.';
-- UUIDs

CREATE FUNCTION @extschema@.snowid_uuidv7() RETURNS pg_catalog.uuid
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_uuidv7';
COMMENT ON FUNCTION @extschema@.snowid_uuidv7() IS 'Returns the next UUID of version 7 of this server.';

CREATE FUNCTION @extschema@.snowid_uuid_timestamp(uuid pg_catalog.uuid) RETURNS pg_catalog.timestamptz
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_uuid_timestamp';
COMMENT ON FUNCTION @extschema@.snowid_uuid_timestamp(pg_catalog.uuid) IS 'Returns the time of a UUID of version 1, 6, or 7, else null.';

CREATE FUNCTION snowid.is_uuidv7_support(pg_catalog.internal) RETURNS pg_catalog.internal
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_is_uuidv7_support';
COMMENT ON FUNCTION snowid.is_uuidv7_support(pg_catalog.internal) IS 'planner support for snowid_is_uuidv7()';

CREATE FUNCTION @extschema@.snowid_is_uuidv7(uuid pg_catalog.uuid) RETURNS boolean
  IMMUTABLE STRICT PARALLEL SAFE SUPPORT snowid.is_uuidv7_support LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_is_uuidv7';
COMMENT ON FUNCTION @extschema@.snowid_is_uuidv7(pg_catalog.uuid) IS 'Returns whether a UUID is of version 7.';

CREATE FUNCTION @extschema@.snowid_uuidv7_first_at(moment pg_catalog.timestamptz) RETURNS pg_catalog.uuid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_uuidv7_first_at';
COMMENT ON FUNCTION @extschema@.snowid_uuidv7_first_at(pg_catalog.timestamptz) IS 'Returns the least UUID of version 7 of a moment''s millisecond.';

CREATE FUNCTION @extschema@.snowid_uuidv7_last_at(moment pg_catalog.timestamptz) RETURNS pg_catalog.uuid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_uuidv7_last_at';
COMMENT ON FUNCTION @extschema@.snowid_uuidv7_last_at(pg_catalog.timestamptz) IS 'Returns the greatest UUID of version 7 of a moment''s millisecond.';

-- Bounds of a time range, as snowid.first_from() and snowid.last_before() for IDs. Beyond UUIDs of version 7: the
-- greatest of all UUIDs, or the least.
CREATE FUNCTION snowid.first_uuidv7_from(moment pg_catalog.timestamptz) RETURNS pg_catalog.uuid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_first_uuidv7_from';
COMMENT ON FUNCTION snowid.first_uuidv7_from(pg_catalog.timestamptz) IS 'Returns the least UUID of version 7 not before a moment.';

CREATE FUNCTION snowid.last_uuidv7_before(moment pg_catalog.timestamptz) RETURNS pg_catalog.uuid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_last_uuidv7_before';
COMMENT ON FUNCTION snowid.last_uuidv7_before(pg_catalog.timestamptz) IS 'Returns the greatest UUID of version 7 before a moment.';

-- Inlined as snowid_in_range(). The bounds alone would accept UUIDs of other versions, which lie anywhere.
CREATE FUNCTION @extschema@.snowid_uuidv7_in_range(uuid pg_catalog.uuid, since pg_catalog.timestamptz,
    before pg_catalog.timestamptz) RETURNS boolean
  IMMUTABLE PARALLEL SAFE SUPPORT snowid.in_range_support LANGUAGE SQL
  RETURN uuid OPERATOR(pg_catalog.>=) snowid.first_uuidv7_from(since)
    AND uuid OPERATOR(pg_catalog.<=) snowid.last_uuidv7_before(before) AND @extschema@.snowid_is_uuidv7(uuid);
COMMENT ON FUNCTION @extschema@.snowid_uuidv7_in_range(pg_catalog.uuid, pg_catalog.timestamptz, pg_catalog.timestamptz) IS
  'Returns whether a UUID is of version 7 with a time in [since, before); can use an index.';

CREATE FUNCTION @extschema@.snowid_to_uuid(id bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS pg_catalog.uuid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_to_uuid';
COMMENT ON FUNCTION @extschema@.snowid_to_uuid(bigint, @extschema@.snowid_layout) IS 'Returns a UUID of an ID, in the order of the IDs.';

CREATE FUNCTION @extschema@.snowid_from_uuid(uuid pg_catalog.uuid,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_from_uuid';
COMMENT ON FUNCTION @extschema@.snowid_from_uuid(pg_catalog.uuid, @extschema@.snowid_layout) IS 'Returns the ID in a UUID of snowid_to_uuid().';
-- MongoDB's ObjectID: 12 bytes, in byte order, which is by time

CREATE TYPE @extschema@.objectid;

CREATE FUNCTION snowid.objectid_in(pg_catalog.cstring) RETURNS @extschema@.objectid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_in';
COMMENT ON FUNCTION snowid.objectid_in(pg_catalog.cstring) IS 'I/O';

CREATE FUNCTION snowid.objectid_out(@extschema@.objectid) RETURNS pg_catalog.cstring
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_out';
COMMENT ON FUNCTION snowid.objectid_out(@extschema@.objectid) IS 'I/O';

CREATE FUNCTION snowid.objectid_recv(pg_catalog.internal) RETURNS @extschema@.objectid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_recv';
COMMENT ON FUNCTION snowid.objectid_recv(pg_catalog.internal) IS 'I/O';

CREATE FUNCTION snowid.objectid_send(@extschema@.objectid) RETURNS pg_catalog.bytea
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_send';
COMMENT ON FUNCTION snowid.objectid_send(@extschema@.objectid) IS 'I/O';

CREATE TYPE @extschema@.objectid (INPUT = snowid.objectid_in, OUTPUT = snowid.objectid_out,
                      RECEIVE = snowid.objectid_recv, SEND = snowid.objectid_send,
                      INTERNALLENGTH = 12, ALIGNMENT = char, STORAGE = plain);
COMMENT ON TYPE @extschema@.objectid IS 'MongoDB''s ObjectID';

CREATE FUNCTION snowid.objectid_from_bytea(bytes pg_catalog.bytea) RETURNS @extschema@.objectid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_from_bytea';
COMMENT ON FUNCTION snowid.objectid_from_bytea(pg_catalog.bytea) IS 'Returns the ObjectID of 12 bytes.';

CREATE CAST (pg_catalog.bytea AS @extschema@.objectid)
  WITH FUNCTION snowid.objectid_from_bytea(pg_catalog.bytea);
COMMENT ON CAST (pg_catalog.bytea AS @extschema@.objectid) IS 'ObjectID of 12 bytes';

CREATE CAST (@extschema@.objectid AS pg_catalog.bytea)
  WITH FUNCTION snowid.objectid_send(@extschema@.objectid);
COMMENT ON CAST (@extschema@.objectid AS pg_catalog.bytea) IS '12 bytes of an ObjectID';

CREATE FUNCTION @extschema@.objectid_next() RETURNS @extschema@.objectid
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_next';
COMMENT ON FUNCTION @extschema@.objectid_next() IS 'Returns the next ObjectID of this server.';

CREATE FUNCTION @extschema@.objectid_timestamp(id @extschema@.objectid) RETURNS pg_catalog.timestamptz
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_timestamp';
COMMENT ON FUNCTION @extschema@.objectid_timestamp(@extschema@.objectid) IS 'Returns an ObjectID''s time, to the second.';

CREATE FUNCTION snowid.objectid_eq(@extschema@.objectid, @extschema@.objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_eq';
COMMENT ON FUNCTION snowid.objectid_eq(@extschema@.objectid, @extschema@.objectid) IS 'implementation of = operator';

CREATE FUNCTION snowid.objectid_ne(@extschema@.objectid, @extschema@.objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_ne';
COMMENT ON FUNCTION snowid.objectid_ne(@extschema@.objectid, @extschema@.objectid) IS 'implementation of <> operator';

CREATE FUNCTION snowid.objectid_lt(@extschema@.objectid, @extschema@.objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_lt';
COMMENT ON FUNCTION snowid.objectid_lt(@extschema@.objectid, @extschema@.objectid) IS 'implementation of < operator';

CREATE FUNCTION snowid.objectid_le(@extschema@.objectid, @extschema@.objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_le';
COMMENT ON FUNCTION snowid.objectid_le(@extschema@.objectid, @extschema@.objectid) IS 'implementation of <= operator';

CREATE FUNCTION snowid.objectid_gt(@extschema@.objectid, @extschema@.objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_gt';
COMMENT ON FUNCTION snowid.objectid_gt(@extschema@.objectid, @extschema@.objectid) IS 'implementation of > operator';

CREATE FUNCTION snowid.objectid_ge(@extschema@.objectid, @extschema@.objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_ge';
COMMENT ON FUNCTION snowid.objectid_ge(@extschema@.objectid, @extschema@.objectid) IS 'implementation of >= operator';

CREATE FUNCTION snowid.objectid_cmp(@extschema@.objectid, @extschema@.objectid) RETURNS int
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_cmp';
COMMENT ON FUNCTION snowid.objectid_cmp(@extschema@.objectid, @extschema@.objectid) IS 'less-equal-greater';

CREATE FUNCTION snowid.objectid_hash(@extschema@.objectid) RETURNS int
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_hash';
COMMENT ON FUNCTION snowid.objectid_hash(@extschema@.objectid) IS 'hash';

CREATE FUNCTION snowid.objectid_hash_extended(@extschema@.objectid, bigint) RETURNS bigint
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C
  AS 'MODULE_PATHNAME', 'snowid_objectid_hash_extended';
COMMENT ON FUNCTION snowid.objectid_hash_extended(@extschema@.objectid, bigint) IS 'hash';

CREATE OPERATOR @extschema@.= (FUNCTION = snowid.objectid_eq,
  LEFTARG = @extschema@.objectid, RIGHTARG = @extschema@.objectid,
  COMMUTATOR = OPERATOR(@extschema@.=), NEGATOR = OPERATOR(@extschema@.<>),
  RESTRICT = pg_catalog.eqsel, JOIN = pg_catalog.eqjoinsel, HASHES, MERGES);
COMMENT ON OPERATOR @extschema@.= (@extschema@.objectid, @extschema@.objectid) IS 'equal';

CREATE OPERATOR @extschema@.<> (FUNCTION = snowid.objectid_ne,
  LEFTARG = @extschema@.objectid, RIGHTARG = @extschema@.objectid,
  COMMUTATOR = OPERATOR(@extschema@.<>), NEGATOR = OPERATOR(@extschema@.=),
  RESTRICT = pg_catalog.neqsel, JOIN = pg_catalog.neqjoinsel);
COMMENT ON OPERATOR @extschema@.<> (@extschema@.objectid, @extschema@.objectid) IS 'not equal';

CREATE OPERATOR @extschema@.< (FUNCTION = snowid.objectid_lt,
  LEFTARG = @extschema@.objectid, RIGHTARG = @extschema@.objectid,
  COMMUTATOR = OPERATOR(@extschema@.>), NEGATOR = OPERATOR(@extschema@.>=),
  RESTRICT = pg_catalog.scalarltsel, JOIN = pg_catalog.scalarltjoinsel);
COMMENT ON OPERATOR @extschema@.< (@extschema@.objectid, @extschema@.objectid) IS 'less than';

CREATE OPERATOR @extschema@.<= (FUNCTION = snowid.objectid_le,
  LEFTARG = @extschema@.objectid, RIGHTARG = @extschema@.objectid,
  COMMUTATOR = OPERATOR(@extschema@.>=), NEGATOR = OPERATOR(@extschema@.>),
  RESTRICT = pg_catalog.scalarlesel, JOIN = pg_catalog.scalarlejoinsel);
COMMENT ON OPERATOR @extschema@.<= (@extschema@.objectid, @extschema@.objectid) IS 'less than or equal';

CREATE OPERATOR @extschema@.> (FUNCTION = snowid.objectid_gt,
  LEFTARG = @extschema@.objectid, RIGHTARG = @extschema@.objectid,
  COMMUTATOR = OPERATOR(@extschema@.<), NEGATOR = OPERATOR(@extschema@.<=),
  RESTRICT = pg_catalog.scalargtsel, JOIN = pg_catalog.scalargtjoinsel);
COMMENT ON OPERATOR @extschema@.> (@extschema@.objectid, @extschema@.objectid) IS 'greater than';

CREATE OPERATOR @extschema@.>= (FUNCTION = snowid.objectid_ge,
  LEFTARG = @extschema@.objectid, RIGHTARG = @extschema@.objectid,
  COMMUTATOR = OPERATOR(@extschema@.<=), NEGATOR = OPERATOR(@extschema@.<),
  RESTRICT = pg_catalog.scalargesel, JOIN = pg_catalog.scalargejoinsel);
COMMENT ON OPERATOR @extschema@.>= (@extschema@.objectid, @extschema@.objectid) IS 'greater than or equal';

-- The operator families come with the classes and have their names. btequalimage declares equal ObjectIDs to have the
-- same bytes: an index may deduplicate them.
CREATE OPERATOR CLASS @extschema@.objectid_ops DEFAULT FOR TYPE @extschema@.objectid USING btree AS
  OPERATOR 1 @extschema@.<, OPERATOR 2 @extschema@.<=, OPERATOR 3 @extschema@.=,
  OPERATOR 4 @extschema@.>=, OPERATOR 5 @extschema@.>,
  FUNCTION 1 snowid.objectid_cmp(@extschema@.objectid, @extschema@.objectid),
  FUNCTION 4 pg_catalog.btequalimage(pg_catalog.oid);
COMMENT ON OPERATOR CLASS @extschema@.objectid_ops USING btree IS 'order of ObjectIDs';
COMMENT ON OPERATOR FAMILY @extschema@.objectid_ops USING btree IS 'order of ObjectIDs';

CREATE OPERATOR CLASS @extschema@.objectid_ops DEFAULT FOR TYPE @extschema@.objectid USING hash AS
  OPERATOR 1 @extschema@.=,
  FUNCTION 1 snowid.objectid_hash(@extschema@.objectid),
  FUNCTION 2 snowid.objectid_hash_extended(@extschema@.objectid, bigint);
COMMENT ON OPERATOR CLASS @extschema@.objectid_ops USING hash IS 'hashes of ObjectIDs';
COMMENT ON OPERATOR FAMILY @extschema@.objectid_ops USING hash IS 'hashes of ObjectIDs';

CREATE FUNCTION snowid.objectid_smaller(@extschema@.objectid, @extschema@.objectid)
  RETURNS @extschema@.objectid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_smaller';
COMMENT ON FUNCTION snowid.objectid_smaller(@extschema@.objectid, @extschema@.objectid) IS 'Returns the lesser of two ObjectIDs.';

CREATE FUNCTION snowid.objectid_larger(@extschema@.objectid, @extschema@.objectid)
  RETURNS @extschema@.objectid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_larger';
COMMENT ON FUNCTION snowid.objectid_larger(@extschema@.objectid, @extschema@.objectid) IS 'Returns the greater of two ObjectIDs.';

CREATE AGGREGATE @extschema@.min(@extschema@.objectid) (SFUNC = snowid.objectid_smaller,
  STYPE = @extschema@.objectid,
  COMBINEFUNC = snowid.objectid_smaller, SORTOP = OPERATOR(@extschema@.<), PARALLEL = SAFE);
COMMENT ON AGGREGATE @extschema@.min(@extschema@.objectid) IS 'Returns the least ObjectID.';

CREATE AGGREGATE @extschema@.max(@extschema@.objectid) (SFUNC = snowid.objectid_larger,
  STYPE = @extschema@.objectid,
  COMBINEFUNC = snowid.objectid_larger, SORTOP = OPERATOR(@extschema@.>), PARALLEL = SAFE);
COMMENT ON AGGREGATE @extschema@.max(@extschema@.objectid) IS 'Returns the greatest ObjectID.';
-- IDs in base 62

CREATE FUNCTION @extschema@.snowid_to_base62(id bigint) RETURNS pg_catalog.text
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_to_base62';
COMMENT ON FUNCTION @extschema@.snowid_to_base62(bigint) IS 'Returns an ID as 11 characters of base 62, sorted like the IDs under COLLATE "C".';

CREATE FUNCTION @extschema@.snowid_from_base62(digits pg_catalog.text) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_from_base62';
COMMENT ON FUNCTION @extschema@.snowid_from_base62(pg_catalog.text) IS 'Returns the ID written in base 62.';

-- IDs scattered over the key space, as TiDB's users do

CREATE FUNCTION @extschema@.snowid_scatter(id bigint, digits int DEFAULT 1) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_scatter';
COMMENT ON FUNCTION @extschema@.snowid_scatter(bigint, int) IS 'Moves an ID''s last decimal digits behind its first.';

CREATE FUNCTION @extschema@.snowid_unscatter(id bigint, digits int DEFAULT 1) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_unscatter';
COMMENT ON FUNCTION @extschema@.snowid_unscatter(bigint, int) IS 'Reverses snowid_scatter().';
-- MariaDB's sequence tables, by generate_series()

CREATE FUNCTION snowid.require_step(step bigint) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF step < 1 THEN
    RAISE 'step must be greater than zero' USING ERRCODE = 'invalid_parameter_value',
      HINT = 'Exchange the ends of the series to have it descend.';
  END IF;
  RETURN step;
END $$;
COMMENT ON FUNCTION snowid.require_step(bigint) IS 'Returns a step, and raises an error unless it is positive.';

-- A descending series ends at y. In numeric, because the distance of two bigints can exceed a bigint. In the SELECT
-- list, to produce rows as they are read. Not STRICT, which would keep the planner from inlining it.
CREATE FUNCTION @extschema@.seq_x_to_y(x bigint, y bigint, step bigint DEFAULT 1, OUT seq bigint)
  RETURNS SETOF bigint
  IMMUTABLE PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT pg_catalog.generate_series(
    CASE WHEN step OPERATOR(pg_catalog.>) 0::bigint
        AND step::pg_catalog.numeric OPERATOR(pg_catalog.<=) d.difference
      THEN x OPERATOR(pg_catalog.-) pg_catalog.mod(d.difference, step::pg_catalog.numeric)::bigint ELSE x END,
    y,
    CASE WHEN x OPERATOR(pg_catalog.<=) y THEN 1::bigint ELSE (-1)::bigint END
      OPERATOR(pg_catalog.*) snowid.require_step(step))
    FROM (SELECT x::pg_catalog.numeric OPERATOR(pg_catalog.-) y::pg_catalog.numeric AS difference) AS d;
END;
COMMENT ON FUNCTION @extschema@.seq_x_to_y(bigint, bigint, bigint) IS 'Returns the numbers from x to y.';

CREATE FUNCTION snowid.number_of_name(name pg_catalog.text, place integer) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  numbers CONSTANT numeric[] := regexp_match(name, '^seq_([0-9]+)_to_([0-9]+)(?:_step_([0-9]+))?$');
BEGIN
  IF numbers IS NULL THEN
    RAISE 'invalid sequence table name: "%"', name USING ERRCODE = 'invalid_text_representation',
      HINT = 'Names have the form seq_FROM_to_TO or seq_FROM_to_TO_step_STEP.';
  ELSIF numbers[place] > 9223372036854775807 THEN
    RAISE 'number out of range in sequence table name "%"', name USING ERRCODE = 'invalid_text_representation',
      DETAIL = 'Numbers go from 0 to 9223372036854775807.';
  END IF;
  RETURN coalesce(numbers[place], 1);
END $$;
COMMENT ON FUNCTION snowid.number_of_name(pg_catalog.text, integer) IS
  'Returns an end, or the step, of the name of a sequence table.';

CREATE FUNCTION @extschema@.seq_x_to_y(name pg_catalog.text, OUT seq bigint) RETURNS SETOF bigint
  IMMUTABLE PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT s.seq
    FROM @extschema@.seq_x_to_y(snowid.number_of_name(name, 1), snowid.number_of_name(name, 2),
      snowid.number_of_name(name, 3)) AS s;
END;
COMMENT ON FUNCTION @extschema@.seq_x_to_y(pg_catalog.text) IS
  'Returns the numbers named by a sequence table of MariaDB, such as seq_1_to_15_step_3.';
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
-- Statistics of segments and sections. A role with rights on the view needs EXECUTE on its function, too.

CREATE FUNCTION snowid.counter_statistics(
    OUT kind pg_catalog.text, OUT relation pg_catalog.regclass, OUT issued bigint, OUT remaining bigint,
    OUT last_value bigint, OUT refills bigint, OUT refill_time double precision,
    OUT max_refill_time double precision, OUT block_size bigint, OUT blocks bigint, OUT source_failures bigint,
    OUT last_failure pg_catalog.text, OUT last_failure_at pg_catalog.timestamptz, OUT keys bigint,
    OUT evictions bigint)
  RETURNS SETOF pg_catalog.record
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_counter_statistics';
COMMENT ON FUNCTION snowid.counter_statistics() IS 'implementation of view snowid.stat_counters';

CREATE VIEW snowid.stat_counters AS
  SELECT c.kind, c.relation, c.issued, c.remaining, c.last_value, c.refills, c.refill_time, c.max_refill_time,
    c.block_size, c.blocks, s.server AS source, c.source_failures, c.last_failure, c.last_failure_at, c.keys,
    c.evictions
  FROM snowid.counter_statistics() AS c
  LEFT JOIN snowid_internal.segment_sources AS s
    ON c.kind OPERATOR(pg_catalog.=) 'segment'::pg_catalog.text
      AND s.seq::pg_catalog.oid OPERATOR(pg_catalog.=) c.relation::pg_catalog.oid;
COMMENT ON VIEW snowid.stat_counters IS 'statistics of segments and sections';
COMMENT ON COLUMN snowid.stat_counters.kind IS 'segment or section';
COMMENT ON COLUMN snowid.stat_counters.relation IS 'sequence';
COMMENT ON COLUMN snowid.stat_counters.issued IS 'numbers issued';
COMMENT ON COLUMN snowid.stat_counters.remaining IS 'numbers of a segment left in memory';
COMMENT ON COLUMN snowid.stat_counters.last_value IS 'value of the sequence at the last refill';
COMMENT ON COLUMN snowid.stat_counters.refills IS 'number of refills';
COMMENT ON COLUMN snowid.stat_counters.refill_time IS 'total time of refills, in milliseconds';
COMMENT ON COLUMN snowid.stat_counters.max_refill_time IS 'time of the longest refill, in milliseconds';
COMMENT ON COLUMN snowid.stat_counters.block_size IS 'block size or increment at the last refill';
COMMENT ON COLUMN snowid.stat_counters.blocks IS 'blocks allocated by the last refill';
COMMENT ON COLUMN snowid.stat_counters.source IS 'foreign server of a remote source';
COMMENT ON COLUMN snowid.stat_counters.source_failures IS 'failed refills from the remote source';
COMMENT ON COLUMN snowid.stat_counters.last_failure IS 'SQLSTATE of the last failed refill';
COMMENT ON COLUMN snowid.stat_counters.last_failure_at IS 'time of the last failed refill';
COMMENT ON COLUMN snowid.stat_counters.keys IS 'keys of a section in memory';
COMMENT ON COLUMN snowid.stat_counters.evictions IS 'keys evicted from memory';
-- Node number

CREATE FUNCTION snowid.get_node_status(OUT node_number bigint, OUT source pg_catalog.text, OUT node_name pg_catalog.text,
                                   OUT registry pg_catalog.text, OUT checked pg_catalog.timestamptz, OUT problem pg_catalog.text)
  STABLE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_get_node_status';
COMMENT ON FUNCTION snowid.get_node_status() IS 'implementation of view snowid.node_status';

-- The setting last, because the function loads the library, which defines it.
CREATE VIEW snowid.node_status AS
  SELECT n.node_number, CASE WHEN n.source OPERATOR(pg_catalog.=) 'setting'
      THEN pg_catalog.format('setting (%s)',
        (SELECT s.source FROM pg_catalog.pg_settings AS s WHERE s.name OPERATOR(pg_catalog.=) 'snowid.default_shard'))
      ELSE n.source END AS source, n.node_name, n.registry, n.checked, n.problem
    FROM snowid.get_node_status() AS n;
COMMENT ON VIEW snowid.node_status IS 'node number of this session';
COMMENT ON COLUMN snowid.node_status.node_number IS 'node number';
COMMENT ON COLUMN snowid.node_status.source IS 'origin of the number';
COMMENT ON COLUMN snowid.node_status.node_name IS 'node name used to join the registry';
COMMENT ON COLUMN snowid.node_status.registry IS 'foreign server used to join the registry';
COMMENT ON COLUMN snowid.node_status.checked IS 'time of the registry''s last confirmation';
COMMENT ON COLUMN snowid.node_status.problem IS 'error or warning about the number';

-- Whether Citus uses this very server for the group. Copies have the same data; therefore the coordinator, which knows
-- where the group is, has the server there look for a lock held only by this session.
CREATE FUNCTION snowid_internal.is_server_of_group(node_group pg_catalog.int4) RETURNS boolean
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  key CONSTANT bigint := hashtextextended(gen_random_uuid()::text, 0);
  look CONSTANT text := format('SELECT NOT pg_catalog.pg_try_advisory_xact_lock(%s)', key);
  ask CONSTANT text := format('SELECT (SELECT r.result FROM pg_catalog.pg_dist_node AS n, '
    'pg_catalog.master_run_on_worker(ARRAY[n.nodename], ARRAY[n.nodeport], ARRAY[%L], false) AS r '
    'WHERE n.groupid OPERATOR(pg_catalog.=) %s AND n.noderole::pg_catalog.text OPERATOR(pg_catalog.=) ''primary'')', look, node_group);
  answer text;
BEGIN
  IF to_regproc('pg_catalog.run_command_on_coordinator') IS NULL THEN
    RAISE 'this version of Citus cannot ask the coordinator' USING ERRCODE = 'feature_not_supported',
      DETAIL = 'It has no function run_command_on_coordinator().', HINT = 'Upgrade Citus to version 11 or later.';
  END IF;
  PERFORM pg_advisory_xact_lock(key);
  SELECT r.result INTO answer FROM run_command_on_coordinator(ask) AS r;
  IF answer IN ('t', 'f') THEN
    RETURN answer = 't';
  ELSIF answer = '' THEN
    RAISE 'Citus'' coordinator lists no server of group %', node_group USING ERRCODE = 'object_not_in_prerequisite_state',
      HINT = 'On the coordinator, use citus_set_coordinator_host() if it is not listed itself, and citus_add_node() for a '
        'removed node.';
  END IF;
  RAISE 'could not ask the server of Citus'' group %', node_group USING ERRCODE = 'connection_failure',
    DETAIL = coalesce(answer, 'The coordinator did not answer.');
END $$;
COMMENT ON FUNCTION snowid_internal.is_server_of_group(pg_catalog.int4) IS 'Returns whether this server is Citus'' server for a group.';
-- The registry of node numbers. A number is assigned to a claim once, and never reused. A claim is a random UUID known
-- only to its node; a request locks or changes only the row of its own claim.
--
-- Locking: a request locks its claim's row until the end of its transaction. A claim waits at most 0.1 s for one
-- concurrent claim, and skips numbers being assigned to others.

CREATE TABLE snowid_internal.nodes (
  node_number bigint PRIMARY KEY
    CHECK (node_number OPERATOR(pg_catalog.>=) 1::bigint AND node_number OPERATOR(pg_catalog.<=) 8191::bigint),
  claim pg_catalog.uuid NOT NULL UNIQUE,
  node_name pg_catalog.text NOT NULL,
  database pg_catalog.text NOT NULL,
  exchange bigint NOT NULL,
  token bigint NOT NULL,
  taken_over bigint NOT NULL,
  system_identifier bigint NOT NULL,
  database_oid bigint NOT NULL,
  timeline bigint NOT NULL,
  max_lead bigint NOT NULL,
  claimed pg_catalog.timestamptz,
  claimed_by pg_catalog.text NOT NULL,
  claimed_in pg_catalog.xid8,
  last_seen pg_catalog.timestamptz NOT NULL,
  promoted_seen pg_catalog.timestamptz,
  retired pg_catalog.timestamptz
) USING heap;
COMMENT ON TABLE snowid_internal.nodes IS 'node numbers assigned by this registry';
COMMENT ON COLUMN snowid_internal.nodes.node_number IS 'node number';
COMMENT ON COLUMN snowid_internal.nodes.claim IS 'secret proof of ownership';
COMMENT ON COLUMN snowid_internal.nodes.node_name IS 'label of the node';
COMMENT ON COLUMN snowid_internal.nodes.database IS 'name of the node''s database';
COMMENT ON COLUMN snowid_internal.nodes.exchange IS 'number of token exchanges';
COMMENT ON COLUMN snowid_internal.nodes.token IS 'random number of the last token exchange';
COMMENT ON COLUMN snowid_internal.nodes.taken_over IS 'number of token exchanges at the last snowid.take_over_node()';
COMMENT ON COLUMN snowid_internal.nodes.system_identifier IS 'system identifier of the node''s server';
COMMENT ON COLUMN snowid_internal.nodes.database_oid IS 'OID of the node''s database';
COMMENT ON COLUMN snowid_internal.nodes.timeline IS 'timeline of the node''s WAL';
COMMENT ON COLUMN snowid_internal.nodes.max_lead IS 'IDs'' greatest lead over last_seen, in microseconds';
COMMENT ON COLUMN snowid_internal.nodes.claimed IS 'time of joining';
COMMENT ON COLUMN snowid_internal.nodes.claimed_by IS 'role of the node''s connection when joining';
COMMENT ON COLUMN snowid_internal.nodes.claimed_in IS 'transaction of joining';
COMMENT ON COLUMN snowid_internal.nodes.last_seen IS 'time of the last check by the node';
COMMENT ON COLUMN snowid_internal.nodes.promoted_seen IS 'last check by a promoted or restored server';
COMMENT ON COLUMN snowid_internal.nodes.retired IS 'time of retirement';
COMMENT ON CONSTRAINT nodes_pkey ON snowid_internal.nodes IS 'one row per node number';
COMMENT ON INDEX snowid_internal.nodes_pkey IS 'one row per node number';
COMMENT ON CONSTRAINT nodes_claim_key ON snowid_internal.nodes IS 'one node number per claim';
COMMENT ON INDEX snowid_internal.nodes_claim_key IS 'one node number per claim';
COMMENT ON CONSTRAINT nodes_node_number_check ON snowid_internal.nodes IS 'shards of Instagram''s layout, except 0';

CREATE TABLE snowid_internal.registry_identities (
  identity pg_catalog.text NOT NULL,
  max_node_number bigint NOT NULL
    CHECK (max_node_number OPERATOR(pg_catalog.>=) 0::bigint AND max_node_number OPERATOR(pg_catalog.<=) 8191::bigint)
) USING heap;
-- Without a key: a dump is also restored into its origin.
ALTER TABLE snowid_internal.registry_identities REPLICA IDENTITY FULL;
COMMENT ON TABLE snowid_internal.registry_identities IS 'identities of this registry';
COMMENT ON COLUMN snowid_internal.registry_identities.identity IS 'result of snowid_internal.registry_identity()';
COMMENT ON COLUMN snowid_internal.registry_identities.max_node_number IS 'greatest number assigned before, per snowid.recover_registry()';
COMMENT ON CONSTRAINT registry_identities_max_node_number_check ON snowid_internal.registry_identities IS 'node numbers, or 0';

SELECT pg_catalog.pg_extension_config_dump('snowid_internal.nodes'::pg_catalog.regclass, ''::pg_catalog.text);
SELECT pg_catalog.pg_extension_config_dump('snowid_internal.registry_identities'::pg_catalog.regclass, ''::pg_catalog.text);

CREATE TRIGGER keep_own_rows BEFORE INSERT OR UPDATE OR DELETE ON snowid_internal.nodes
  FOR EACH ROW EXECUTE FUNCTION snowid_internal.keep_own_rows();
COMMENT ON TRIGGER keep_own_rows ON snowid_internal.nodes IS 'Ignores rows of another registry.';
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON snowid_internal.nodes
  FOR EACH STATEMENT EXECUTE FUNCTION snowid_internal.keep_own_rows();
COMMENT ON TRIGGER refuse_truncate ON snowid_internal.nodes IS 'Rejects TRUNCATE, also by logical replication.';
ALTER TABLE snowid_internal.nodes ENABLE ALWAYS TRIGGER keep_own_rows;
ALTER TABLE snowid_internal.nodes ENABLE ALWAYS TRIGGER refuse_truncate;
CREATE TRIGGER keep_own_rows BEFORE INSERT OR UPDATE OR DELETE ON snowid_internal.registry_identities
  FOR EACH ROW EXECUTE FUNCTION snowid_internal.keep_own_rows();
COMMENT ON TRIGGER keep_own_rows ON snowid_internal.registry_identities IS 'Ignores rows of another registry.';
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON snowid_internal.registry_identities
  FOR EACH STATEMENT EXECUTE FUNCTION snowid_internal.keep_own_rows();
COMMENT ON TRIGGER refuse_truncate ON snowid_internal.registry_identities IS 'Rejects TRUNCATE, also by logical replication.';
ALTER TABLE snowid_internal.registry_identities ENABLE ALWAYS TRIGGER keep_own_rows;
ALTER TABLE snowid_internal.registry_identities ENABLE ALWAYS TRIGGER refuse_truncate;

CREATE VIEW snowid.registry AS
  SELECT n.node_number, n.node_name, n.database, n.claimed, n.last_seen, n.promoted_seen, n.retired FROM snowid_internal.nodes AS n;
COMMENT ON VIEW snowid.registry IS 'node numbers assigned by this registry';
COMMENT ON COLUMN snowid.registry.node_number IS 'node number';
COMMENT ON COLUMN snowid.registry.node_name IS 'label of the node';
COMMENT ON COLUMN snowid.registry.database IS 'name of the node''s database';
COMMENT ON COLUMN snowid.registry.claimed IS 'time of joining';
COMMENT ON COLUMN snowid.registry.last_seen IS 'time of the last check by the node';
COMMENT ON COLUMN snowid.registry.promoted_seen IS 'last check by a promoted or restored server';
COMMENT ON COLUMN snowid.registry.retired IS 'time of retirement';

CREATE VIEW snowid.registry_usage AS
  SELECT u.numbers_used, 8191::bigint OPERATOR(pg_catalog.-) u.numbers_used AS numbers_left
    FROM (SELECT greatest((SELECT pg_catalog.max(n.node_number) FROM snowid_internal.nodes AS n),
      (SELECT pg_catalog.max(i.max_node_number) FROM snowid_internal.registry_identities AS i)) AS numbers_used) AS u;
COMMENT ON VIEW snowid.registry_usage IS 'capacity of this registry';
COMMENT ON COLUMN snowid.registry_usage.numbers_used IS 'greatest number assigned, or passed to snowid.recover_registry()';
COMMENT ON COLUMN snowid.registry_usage.numbers_left IS 'numbers never assigned';

-- This table in this database of this server, since the server's last promotion. A registry that was restored,
-- promoted, upgraded or moved has another identity, and may have lost assignments.
CREATE FUNCTION snowid_internal.registry_identity() RETURNS pg_catalog.text
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN format('%s/%s/%s/%s', (SELECT c.system_identifier FROM pg_control_system() AS c),
    (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()), 'snowid_internal.nodes'::regclass::oid,
    left(pg_walfile_name(pg_current_wal_insert_lsn()), 8));
END $$;
COMMENT ON FUNCTION snowid_internal.registry_identity() IS 'Returns the identity of this registry, changed by a restore or promotion.';

INSERT INTO snowid_internal.registry_identities (identity, max_node_number) VALUES (snowid_internal.registry_identity(), 0::bigint);

CREATE FUNCTION snowid_internal.commit_durably() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_commit_durably';
COMMENT ON FUNCTION snowid_internal.commit_durably() IS
  'Makes this transaction''s commit durable on synchronous standbys, and rejects PREPARE TRANSACTION.';

-- A role that may drop the extension can create objects of the same names meanwhile. A function with its owner's rights
-- is therefore SQL-standard, which binds its callees by OID, and calls this one first, before any name is looked up.
CREATE FUNCTION snowid_internal.keep_extension() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_keep_extension';
COMMENT ON FUNCTION snowid_internal.keep_extension() IS 'Locks the extension against DROP until the transaction ends.';

-- A crash would empty an unlogged table: the registry would assign its numbers again.
CREATE FUNCTION snowid_internal.require_registry() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  unlogged CONSTANT regclass := (SELECT min(c.oid) FROM pg_class AS c WHERE c.relpersistence <> 'p'
    AND c.oid IN ('snowid_internal.nodes'::regclass, 'snowid_internal.registry_identities'::regclass));
BEGIN
  IF unlogged IS NOT NULL THEN
    RAISE 'table "%" was altered', unlogged USING ERRCODE = 'object_not_in_prerequisite_state',
      DETAIL = 'It is unlogged.', HINT = format('Use ALTER TABLE %s SET LOGGED.', unlogged);
  END IF;
END $$;
COMMENT ON FUNCTION snowid_internal.require_registry() IS 'Raises an error if tables of the registry are unlogged.';

-- A superuser's trigger or rule may have stored another row, or none.
CREATE FUNCTION snowid_internal.require_stored(is_stored boolean) RETURNS pg_catalog.void
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF is_stored THEN RETURN; END IF;
  RAISE 'could not change table "snowid_internal.nodes"' USING ERRCODE = 'object_not_in_prerequisite_state',
    DETAIL = 'A rule, trigger, or policy on it stored something else, or nothing.',
    HINT = 'Drop the rule, trigger, or policy.';
END $$;
COMMENT ON FUNCTION snowid_internal.require_stored(boolean) IS 'Raises an error if a row was not stored.';

-- Other sessions cannot see the rows of open transactions, and wait for them.
CREATE FUNCTION snowid_internal.require_one() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM snowid_internal.nodes AS n WHERE n.claimed_in = pg_current_xact_id()) THEN
    RAISE 'cannot get two numbers in a transaction' USING ERRCODE = 'configuration_limit_exceeded';
  END IF;
END $$;
COMMENT ON FUNCTION snowid_internal.require_one() IS 'Raises an error if the transaction was assigned a number.';

-- Keeps a role from exhausting the numbers.
CREATE FUNCTION snowid_internal.require_few_claims() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  most CONSTANT int := 500;
BEGIN
  IF (SELECT count(*) >= most FROM snowid_internal.nodes AS n
          WHERE n.claimed_by = session_user AND n.claimed > now() - interval '1 day') THEN
    RAISE 'role "%" has claimed % numbers within a day', session_user, most USING ERRCODE = 'configuration_limit_exceeded',
      HINT = 'Wait, or have nodes connect as different roles.';
  END IF;
END $$;
COMMENT ON FUNCTION snowid_internal.require_few_claims() IS 'Raises an error if the role has claimed too many numbers.';

-- Returns the row of a claim, made if missing with the least number never assigned.
CREATE FUNCTION snowid_internal.give_number(asking snowid_internal.nodes) RETURNS snowid_internal.nodes
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '100ms' AS $$
DECLARE
  given snowid_internal.nodes;
  is_stored boolean;
  deadline CONSTANT timestamptz := clock_timestamp() + interval '8 s';
BEGIN
  SELECT * INTO given FROM snowid_internal.nodes AS n WHERE n.claim = asking.claim;
  IF FOUND THEN RETURN given; END IF;
  PERFORM snowid_internal.require_complete();
  PERFORM snowid_internal.require_one();
  PERFORM snowid_internal.require_few_claims();
  FOR asking.node_number IN
    SELECT g FROM generate_series((SELECT max(i.max_node_number) FROM snowid_internal.registry_identities AS i) + 1, 8191) AS g
     WHERE NOT EXISTS (SELECT FROM snowid_internal.nodes AS n WHERE n.node_number = g) ORDER BY g
  LOOP
    BEGIN
      INSERT INTO snowid_internal.nodes SELECT asking.* ON CONFLICT DO NOTHING RETURNING * INTO given;
      is_stored := CASE WHEN FOUND THEN given = asking
        ELSE EXISTS (SELECT FROM snowid_internal.nodes AS n WHERE n.node_number = asking.node_number OR n.claim = asking.claim) END;
    EXCEPTION WHEN lock_not_available THEN
      -- The number is being assigned, or the same claim arrived before and its transaction is open.
      is_stored := true;
    END;
    PERFORM snowid_internal.require_stored(is_stored);
    IF given.claim IS NULL THEN SELECT * INTO given FROM snowid_internal.nodes AS n WHERE n.claim = asking.claim; END IF;
    IF given.claim IS NOT NULL THEN RETURN given; END IF;
    -- After one wait the others are skipped fast, within the node's timeout.
    PERFORM set_config('lock_timeout', '1ms', true);
    EXIT WHEN clock_timestamp() > deadline;
  END LOOP;
  IF FOUND THEN
    RAISE 'many nodes are claiming numbers' USING ERRCODE = 'lock_not_available', HINT = 'Try again.';
  END IF;
  RAISE 'all numbers of the registry are assigned' USING ERRCODE = 'configuration_limit_exceeded',
    DETAIL = 'A registry assigns 8191 numbers, each once.',
    HINT = 'Have new nodes join a second registry, and use a layout with more shards for their tables.';
END $$;
COMMENT ON FUNCTION snowid_internal.give_number(snowid_internal.nodes) IS 'Assigns a number to a claim, unless it has one, and returns its row.';

CREATE FUNCTION snowid_internal.require_complete() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF (SELECT coalesce(bool_or(i.identity <> snowid_internal.registry_identity()), true) FROM snowid_internal.registry_identities AS i) THEN
    RAISE 'registry may have lost assigned numbers' USING ERRCODE = 'object_not_in_prerequisite_state',
      DETAIL = 'It was restored, promoted, upgraded, or moved.',
      HINT = 'On the registry, use snowid.recover_registry() with the greatest node_number of all nodes.';
  END IF;
END $$;
COMMENT ON FUNCTION snowid_internal.require_complete() IS 'Raises an error if the registry may have lost numbers.';

-- Makes the row of a node lost by its registry. A number the registry may still assign gets no row: the registry has
-- stated up to which number it may have lost rows.
CREATE FUNCTION snowid_internal.accept_node(asking snowid_internal.nodes) RETURNS snowid_internal.nodes
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  accepted snowid_internal.nodes;
  max_node_number CONSTANT bigint := (SELECT max(i.max_node_number) FROM snowid_internal.registry_identities AS i);
BEGIN
  PERFORM snowid_internal.require_one();
  IF asking.node_number > max_node_number THEN
    RAISE 'number % is greater than any the registry may have lost', asking.node_number USING ERRCODE = 'object_not_in_prerequisite_state',
      DETAIL = format('snowid.recover_registry() was called with %s.', max_node_number),
      HINT = 'On the registry, use snowid.recover_registry() with the greatest node_number of all nodes.';
  END IF;
  INSERT INTO snowid_internal.nodes SELECT asking.* ON CONFLICT DO NOTHING RETURNING * INTO accepted;
  IF NOT FOUND THEN
    PERFORM snowid_internal.require_stored(EXISTS
      (SELECT FROM snowid_internal.nodes AS n WHERE n.node_number = asking.node_number OR n.claim = asking.claim));
    RAISE 'number % of node "%" belongs to node "%" of the registry', asking.node_number, asking.node_name,
      (SELECT n.node_name FROM snowid_internal.nodes AS n WHERE n.node_number = asking.node_number)
      USING ERRCODE = 'unique_violation', HINT = 'One of the two nodes must join again to get another number.';
  END IF;
  RETURN accepted;
END $$;
COMMENT ON FUNCTION snowid_internal.accept_node(snowid_internal.nodes) IS 'Restores the row of a node to the registry.';

-- Called by nodes over dblink. exchange, token: the node's; next: stored by the node, and to replace the token.
-- Verdicts: held: the row has `next`; moved: another registry than the node's; unknown: no row of the claim and the
-- number; behind: the registry has lost exchanges; promoted: the row is of an earlier timeline, nothing has changed;
-- retired; copy: another server has exchanged tokens since, or has taken over since this one was promoted.
CREATE FUNCTION snowid_internal.answer_request(request pg_catalog.text, registry_identity pg_catalog.text, claim pg_catalog.uuid,
    node_number bigint, exchange bigint, token bigint, next bigint, node_name pg_catalog.text, database pg_catalog.text,
    system_identifier bigint, database_oid bigint, timeline bigint, max_lead bigint,
    OUT verdict pg_catalog.text, OUT held_claim pg_catalog.uuid, OUT held_number bigint, OUT held_exchange bigint,
    OUT held_token bigint, OUT held_max_lead bigint, OUT is_promoted boolean, OUT identity pg_catalog.text)
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  asking snowid_internal.nodes := ROW(node_number, claim, node_name, database, exchange + 1, next, 0, system_identifier, database_oid,
    timeline, max_lead, NULL, session_user, NULL, clock_timestamp(), NULL, NULL);
  held snowid_internal.nodes;
  is_stated CONSTANT boolean := request IN ('take over', 'accept');
  is_later boolean;
BEGIN
  PERFORM snowid_internal.require_registry();
  IF request NOT IN ('look', 'claim', 'exchange', 'take over', 'accept', 'leave') THEN
    RAISE 'unknown request of a node: "%"', request USING ERRCODE = 'invalid_parameter_value';
  ELSIF octet_length(node_name) NOT BETWEEN 1 AND 255 OR octet_length(database) > 255 OR node_number NOT BETWEEN 0 AND 8191
      OR exchange < 0 OR token < 0 OR next < 0 OR max_lead < 0 OR (request = 'accept' AND node_number = 0)
      OR (next = 0) <> (request IN ('look', 'claim')) THEN
    RAISE 'invalid request of a node' USING ERRCODE = 'invalid_parameter_value';
  ELSIF pg_is_in_recovery() THEN
    RAISE 'registry is a standby' USING ERRCODE = 'read_only_sql_transaction';
  END IF;
  identity := snowid_internal.registry_identity();
  held_claim := claim;
  IF registry_identity <> identity AND (request <> 'look' OR registry_identity <> '') THEN
    verdict := 'moved';
  ELSIF request = 'look' THEN
    SELECT * INTO held FROM snowid_internal.nodes AS n WHERE n.claim = answer_request.claim;
    verdict := CASE WHEN held.claim IS NULL THEN 'unknown' WHEN held.retired IS NOT NULL THEN 'retired' ELSE 'held' END;
  ELSE
    PERFORM snowid_internal.commit_durably();
    asking.claimed_in := pg_current_xact_id();
    IF request = 'accept' THEN PERFORM snowid_internal.require_complete(); END IF;
    IF request = 'claim' THEN
      asking.exchange := 0;
      asking.token := 0;
      asking.claimed := asking.last_seen;
      held := snowid_internal.give_number(asking);
    ELSE
      SELECT * INTO held FROM snowid_internal.nodes AS n
       WHERE n.claim = answer_request.claim AND n.node_number = answer_request.node_number FOR UPDATE;
      IF held.claim IS NULL AND request = 'accept' THEN held := snowid_internal.accept_node(asking); END IF;
    END IF;
    is_later := request <> 'take over' AND timeline > held.timeline AND system_identifier = held.system_identifier AND database_oid = held.database_oid;
    verdict := CASE WHEN held.claim IS NULL THEN 'unknown'
      WHEN held.retired IS NOT NULL THEN 'retired'
      WHEN request = 'claim' THEN 'held'
      WHEN is_later THEN CASE WHEN exchange >= held.taken_over OR next = held.token THEN 'promoted' ELSE 'copy' END
      WHEN next = held.token OR (token = held.token AND (is_stated OR exchange = held.exchange)) THEN 'held'
      WHEN exchange > held.exchange THEN 'behind'
      ELSE 'copy' END;
  END IF;
  held_max_lead := coalesce(held.max_lead, 0);
  IF verdict = 'promoted' THEN
    UPDATE snowid_internal.nodes AS n SET promoted_seen = asking.last_seen WHERE n.claim = answer_request.claim;
  ELSIF verdict = 'held' AND next <> 0 THEN
    UPDATE snowid_internal.nodes AS n
       SET exchange = CASE n.token WHEN next THEN n.exchange ELSE greatest(n.exchange, answer_request.exchange) + 1 END, token = next,
           taken_over = CASE WHEN request <> 'take over' THEN n.taken_over WHEN n.token = next THEN n.exchange
             ELSE greatest(n.exchange, answer_request.exchange) + 1 END,
           node_name = asking.node_name, database = asking.database, last_seen = asking.last_seen,
           -- Until the clock has passed them, there may be IDs allowed by a greater setting.
           max_lead = greatest(asking.max_lead,
             n.max_lead - greatest(extract(epoch FROM asking.last_seen - n.last_seen) * 1000000, 0)::bigint),
           system_identifier = CASE WHEN is_stated THEN asking.system_identifier ELSE n.system_identifier END,
           database_oid = CASE WHEN is_stated THEN asking.database_oid ELSE n.database_oid END,
           -- Never decreases, or another server of the later timeline would not learn of its replacement. Another
           -- database's timeline is independent: after pg_upgrade it begins at 1 again.
           timeline = CASE WHEN NOT is_stated THEN n.timeline
             WHEN asking.system_identifier = n.system_identifier AND asking.database_oid = n.database_oid
             THEN greatest(n.timeline, asking.timeline) ELSE asking.timeline END,
           promoted_seen = CASE WHEN NOT is_stated THEN n.promoted_seen END,
           retired = CASE WHEN request = 'leave' THEN asking.last_seen END
     WHERE n.claim = answer_request.claim RETURNING * INTO held;
    PERFORM snowid_internal.require_stored(held.token = next AND held.claim = answer_request.claim
      AND held.node_number = asking.node_number AND (held.retired IS NOT NULL) = (request = 'leave'));
  END IF;
  held_number := coalesce(held.node_number, 0);
  held_exchange := coalesce(held.exchange, 0);
  held_token := coalesce(held.token, 0);
  is_promoted := held.promoted_seen IS NOT NULL;
END $$;
COMMENT ON FUNCTION snowid_internal.answer_request(pg_catalog.text, pg_catalog.text, pg_catalog.uuid, bigint, bigint, bigint, bigint,
    pg_catalog.text, pg_catalog.text, bigint, bigint, bigint, bigint) IS 'implementation of snowid.register()';

CREATE FUNCTION snowid.register(request pg_catalog.text, registry_identity pg_catalog.text, claim pg_catalog.uuid,
    node_number bigint, exchange bigint, token bigint, next bigint, node_name pg_catalog.text, database pg_catalog.text,
    system_identifier bigint, database_oid bigint, timeline bigint, max_lead bigint,
    OUT verdict pg_catalog.text, OUT held_claim pg_catalog.uuid, OUT held_number bigint, OUT held_exchange bigint,
    OUT held_token bigint, OUT held_max_lead bigint, OUT is_promoted boolean, OUT identity pg_catalog.text)
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE SQL SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s'
BEGIN ATOMIC
  SELECT snowid_internal.keep_extension();
  SELECT r.verdict, r.held_claim, r.held_number, r.held_exchange, r.held_token, r.held_max_lead, r.is_promoted, r.identity
    FROM snowid_internal.answer_request(request, registry_identity, claim, node_number, exchange, token, next, node_name, database,
      system_identifier, database_oid, timeline, max_lead) AS r;
END;
COMMENT ON FUNCTION snowid.register(pg_catalog.text, pg_catalog.text, pg_catalog.uuid, bigint, bigint, bigint, bigint,
    pg_catalog.text, pg_catalog.text, bigint, bigint, bigint, bigint) IS
  'Registers a node; called by the other functions on the registry.';

CREATE FUNCTION snowid_internal.retire_number(node_number bigint) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM snowid_internal.require_registry();
  PERFORM snowid_internal.commit_durably();
  UPDATE snowid_internal.nodes AS n SET retired = coalesce(n.retired, clock_timestamp()) WHERE n.node_number = retire_number.node_number;
  IF NOT FOUND THEN
    RAISE 'number % is not assigned to a node', node_number USING ERRCODE = 'undefined_object',
      HINT = 'The view snowid.registry lists the numbers assigned by this registry.';
  END IF;
EXCEPTION WHEN lock_not_available THEN
  RAISE 'number % is locked by another transaction', node_number USING ERRCODE = 'lock_not_available',
    HINT = format('End it, and try again: SELECT pg_terminate_backend(l.pid) FROM snowid_internal.nodes AS n'
      ' JOIN pg_locks AS l ON l.granted AND l.transactionid = n.xmax WHERE n.node_number = %s.', node_number);
END $$;
COMMENT ON FUNCTION snowid_internal.retire_number(bigint) IS 'implementation of snowid.retire_node()';

CREATE FUNCTION snowid.retire_node(node_number bigint) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE SQL SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10s'
BEGIN ATOMIC
  SELECT snowid_internal.keep_extension();
  SELECT snowid_internal.retire_number(node_number);
END;
COMMENT ON FUNCTION snowid.retire_node(bigint) IS 'Retires the number of a node, on the registry.';

CREATE FUNCTION snowid_internal.recover_numbers(max_node_number bigint) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  known CONSTANT bigint := greatest((SELECT max(n.node_number) FROM snowid_internal.nodes AS n),
    (SELECT max(i.max_node_number) FROM snowid_internal.registry_identities AS i));
BEGIN
  PERFORM snowid_internal.require_registry();
  PERFORM snowid_internal.commit_durably();
  IF max_node_number NOT BETWEEN 0 AND 8191 THEN
    RAISE 'number of a node out of range: %', max_node_number USING ERRCODE = 'invalid_parameter_value';
  ELSIF max_node_number < known THEN
    RAISE 'number % may have been assigned', known USING ERRCODE = 'object_not_in_prerequisite_state',
      HINT = format('Use snowid.recover_registry(%s), or a greater number.', known);
  END IF;
  DELETE FROM snowid_internal.registry_identities;
  INSERT INTO snowid_internal.registry_identities (identity, max_node_number)
    VALUES (snowid_internal.registry_identity(), recover_numbers.max_node_number);
END $$;
COMMENT ON FUNCTION snowid_internal.recover_numbers(bigint) IS 'implementation of snowid.recover_registry()';

CREATE FUNCTION snowid.recover_registry(max_node_number bigint) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE SQL SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10s'
BEGIN ATOMIC
  SELECT snowid_internal.keep_extension();
  SELECT snowid_internal.recover_numbers(max_node_number);
END;
COMMENT ON FUNCTION snowid.recover_registry(bigint) IS
  'Declares the greatest node number ever assigned, on a restored, promoted, upgraded, or moved registry.';
-- The node's side of joining: a database claims its number in another database, the registry (registry.sql). Its state
-- is on a page of its own, see membership.hpp.

-- Dumped: a restored database must not issue IDs of shard 0, as if it had never joined.
CREATE TABLE snowid_internal.membership (
  singleton boolean PRIMARY KEY CHECK (singleton),
  node_number bigint NOT NULL,
  node_name pg_catalog.text NOT NULL
) USING heap;
COMMENT ON TABLE snowid_internal.membership IS 'identity of this database as a node';
COMMENT ON COLUMN snowid_internal.membership.singleton IS 'true';
COMMENT ON COLUMN snowid_internal.membership.node_number IS 'node number';
COMMENT ON COLUMN snowid_internal.membership.node_name IS 'node name';
COMMENT ON CONSTRAINT membership_pkey ON snowid_internal.membership IS 'one node per database';
COMMENT ON INDEX snowid_internal.membership_pkey IS 'one node per database';
COMMENT ON CONSTRAINT membership_singleton_check ON snowid_internal.membership IS 'one node per database';
SELECT pg_catalog.pg_extension_config_dump('snowid_internal.membership'::pg_catalog.regclass, ''::pg_catalog.text);

CREATE TRIGGER keep_own_rows BEFORE INSERT OR UPDATE OR DELETE ON snowid_internal.membership
  FOR EACH ROW EXECUTE FUNCTION snowid_internal.keep_own_rows();
COMMENT ON TRIGGER keep_own_rows ON snowid_internal.membership IS 'Ignores replicated rows, and invalidates cached node numbers.';
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON snowid_internal.membership
  FOR EACH STATEMENT EXECUTE FUNCTION snowid_internal.keep_own_rows();
COMMENT ON TRIGGER refuse_truncate ON snowid_internal.membership IS 'Rejects TRUNCATE, also by logical replication.';
ALTER TABLE snowid_internal.membership ENABLE ALWAYS TRIGGER keep_own_rows;
ALTER TABLE snowid_internal.membership ENABLE ALWAYS TRIGGER refuse_truncate;

-- The page follows the sequence's own, whose value is unused. It is not dumped: a restored database is not the node.
CREATE SEQUENCE snowid_internal.membership_page AS bigint NO CYCLE;
COMMENT ON SEQUENCE snowid_internal.membership_page IS 'durable claim, number, and token of this node';

CREATE FUNCTION snowid.join(server pg_catalog.name, node_name pg_catalog.text DEFAULT NULL) RETURNS bigint
  VOLATILE PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_join';
COMMENT ON FUNCTION snowid.join(pg_catalog.name, pg_catalog.text) IS 'Joins a registry, and returns this node''s number.';

CREATE FUNCTION snowid.check_node() RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_check_node';
COMMENT ON FUNCTION snowid.check_node() IS
  'Confirms this server''s node number with the registry or Citus, and returns the number.';

CREATE FUNCTION snowid.take_over_node() RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_take_over_node';
COMMENT ON FUNCTION snowid.take_over_node() IS
  'Declares this server the node''s replacement after promotion, restore, or copy, and returns the node number.';

CREATE FUNCTION snowid.accept_registry() RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_accept_registry';
COMMENT ON FUNCTION snowid.accept_registry() IS 'Accepts a restored, promoted, upgraded, or moved registry, and returns the node number.';

CREATE FUNCTION snowid.leave() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_leave';
COMMENT ON FUNCTION snowid.leave() IS 'Retires this node''s number, and stops its IDs permanently.';
-- Moved shards

CREATE TABLE snowid_internal.moved_shards (
  shard bigint NOT NULL,
  layout @extschema@.snowid_layout NOT NULL,
  id bigint NOT NULL,
  is_open boolean NOT NULL,
  moved_to pg_catalog.text,
  moved_at pg_catalog.timestamptz NOT NULL,
  -- The shard first, because lookups are by shard.
  PRIMARY KEY (shard, layout)
) USING heap;
COMMENT ON TABLE snowid_internal.moved_shards IS 'shards released or accepted on this server';
COMMENT ON COLUMN snowid_internal.moved_shards.shard IS 'moved shard';
COMMENT ON COLUMN snowid_internal.moved_shards.layout IS 'layout of its IDs';
COMMENT ON COLUMN snowid_internal.moved_shards.id IS 'ID passed at the last move';
COMMENT ON COLUMN snowid_internal.moved_shards.is_open IS 'true if accepted, false if released';
COMMENT ON COLUMN snowid_internal.moved_shards.moved_to IS 'destination of a released shard';
COMMENT ON COLUMN snowid_internal.moved_shards.moved_at IS 'time of the last move';
COMMENT ON CONSTRAINT moved_shards_pkey ON snowid_internal.moved_shards IS 'one row per shard';
COMMENT ON INDEX snowid_internal.moved_shards_pkey IS 'one row per shard';

CREATE VIEW snowid.released_shards AS
  SELECT m.shard, m.layout, m.id, m.moved_to, m.moved_at AS released_at
    FROM snowid_internal.moved_shards AS m WHERE NOT m.is_open;
COMMENT ON VIEW snowid.released_shards IS 'released shards of this server';
COMMENT ON COLUMN snowid.released_shards.shard IS 'released shard';
COMMENT ON COLUMN snowid.released_shards.layout IS 'layout of its IDs';
COMMENT ON COLUMN snowid.released_shards.id IS 'ID returned by snowid.release_shard()';
COMMENT ON COLUMN snowid.released_shards.moved_to IS 'destination passed to snowid.release_shard()';
COMMENT ON COLUMN snowid.released_shards.released_at IS 'time of the release';

CREATE FUNCTION snowid_internal.check_move() RETURNS pg_catalog.trigger
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_check_move';
COMMENT ON FUNCTION snowid_internal.check_move() IS 'Closes a restored released shard, and ignores replicated rows.';

CREATE TRIGGER check_move BEFORE INSERT OR UPDATE OR DELETE ON snowid_internal.moved_shards
  FOR EACH ROW EXECUTE FUNCTION snowid_internal.check_move();
COMMENT ON TRIGGER check_move ON snowid_internal.moved_shards IS 'Closes a restored released shard, and ignores replicated rows.';
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON snowid_internal.moved_shards
  FOR EACH STATEMENT EXECUTE FUNCTION snowid_internal.check_move();
COMMENT ON TRIGGER refuse_truncate ON snowid_internal.moved_shards IS 'Rejects TRUNCATE, also by logical replication.';
-- Also for logical replication, whose rows are about another server's shards.
ALTER TABLE snowid_internal.moved_shards ENABLE ALWAYS TRIGGER check_move;
ALTER TABLE snowid_internal.moved_shards ENABLE ALWAYS TRIGGER refuse_truncate;
-- In a restored copy the shards stay closed: another server has them.
SELECT pg_catalog.pg_extension_config_dump('snowid_internal.moved_shards'::pg_catalog.regclass, ''::pg_catalog.text);

-- Not STRICT, because the destination is optional. Returns null for a null shard or layout.
CREATE FUNCTION snowid.release_shard(shard bigint,
    layout @extschema@.snowid_layout DEFAULT 'instagram', moved_to pg_catalog.text DEFAULT NULL)
  RETURNS bigint
  VOLATILE PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_release_shard';
COMMENT ON FUNCTION snowid.release_shard(bigint, @extschema@.snowid_layout, pg_catalog.text) IS
  'Closes a shard on this server, durably, and returns an ID above all issued.';

CREATE FUNCTION snowid.accept_shard(shard bigint, id bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_accept_shard';
COMMENT ON FUNCTION snowid.accept_shard(bigint, bigint, @extschema@.snowid_layout) IS
  'Opens a shard on this server above an ID, durably.';

-- Shards that continue above an ID, and servers that take over from others

CREATE FUNCTION snowid.advance_shard(id bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_advance_shard';
COMMENT ON FUNCTION snowid.advance_shard(bigint, @extschema@.snowid_layout) IS 'Raises an ID''s shard above the ID, durably.';

-- An argument without a type is ambiguous and fails, because the text of a time depends on DateStyle.
CREATE FUNCTION snowid.advance_past(id bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_advance_past_id';
COMMENT ON FUNCTION snowid.advance_past(bigint, @extschema@.snowid_layout) IS 'Raises all shards of this database above an ID''s time, durably.';

CREATE FUNCTION snowid.advance_past(moment pg_catalog.timestamptz) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_advance_past_moment';
COMMENT ON FUNCTION snowid.advance_past(pg_catalog.timestamptz) IS
  'Raises all shards of this database above a time, durably.';
-- User tables: the common parts of adopting and partitions. All of it runs with the caller's rights.
--
-- Statements on a table, and queries of it, can run its owner's code: constraints, expressions of indexes and
-- statistics. Therefore they go through snowid.execute(), which gives this code only the owner's rights, and restores
-- search_path and role. Afterwards everything read before is stale, and is looked up again.
--
-- A function that changes a table first locks it, then reads the catalogs, then acts. It also reads them before the
-- lock, to raise its errors before any session has to wait. Both checks are the same function, called as a statement of
-- its own to see what was committed before. REPEATABLE READ would prevent this, hence snowid.require_read_committed().
--
-- No body names the extension's schema, see types/decode.sql.

-- Raises: 25001 in a transaction whose snapshot is older than the statement.
CREATE FUNCTION snowid.require_read_committed(function pg_catalog.text) RETURNS pg_catalog.void
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  level CONSTANT text := current_setting('transaction_isolation');
BEGIN
  IF level IN ('repeatable read', 'serializable') THEN
    RAISE '%() cannot run in a % transaction', function, upper(level)
      USING ERRCODE = 'active_sql_transaction', DETAIL = 'Its snapshot hides what other sessions have committed since it began.',
        HINT = 'Use BEGIN ISOLATION LEVEL READ COMMITTED.';
  END IF;
END $$;
COMMENT ON FUNCTION snowid.require_read_committed(pg_catalog.text) IS
  'Raises an error unless the transaction is READ COMMITTED.';

-- The extension's current schema, quoted and followed by a dot; empty for pg_catalog, as printed by pg_get_expr().
CREATE FUNCTION snowid.extension_prefix() RETURNS pg_catalog.text
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
  RETURN (SELECT CASE n.nspname WHEN 'pg_catalog'::pg_catalog.name THEN ''
        ELSE pg_catalog.quote_ident(n.nspname::pg_catalog.text) OPERATOR(pg_catalog.||) '.' END
    FROM pg_catalog.pg_extension AS e JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
   WHERE e.extname OPERATOR(pg_catalog.=) 'snowid'::pg_catalog.name);
COMMENT ON FUNCTION snowid.extension_prefix() IS 'Returns the extension''s schema, quoted, with a dot.';

CREATE FUNCTION snowid.unit_of(layout @extschema@.snowid_layout) RETURNS pg_catalog.interval
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE SQL
  RETURN (SELECT d.unit FROM @extschema@.snowid_describe_layout(layout) AS d);
COMMENT ON FUNCTION snowid.unit_of(@extschema@.snowid_layout) IS 'Returns the unit of time of a layout.';

-- The column of a table partitioned by ranges of one bigint or UUID, and which of them; nulls for every other table.
CREATE FUNCTION snowid.partition_key(tbl pg_catalog.oid, OUT attnum pg_catalog.int2, OUT is_uuid boolean)
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT p.partattrs[0], c.opcname OPERATOR(pg_catalog.=) 'uuid_ops'::pg_catalog.name
    FROM pg_catalog.pg_partitioned_table AS p
    JOIN pg_catalog.pg_opclass AS c ON c.oid OPERATOR(pg_catalog.=) p.partclass[0]
   WHERE p.partrelid OPERATOR(pg_catalog.=) tbl
     AND p.partstrat OPERATOR(pg_catalog.=) 'r'::pg_catalog."char"
     AND p.partnatts OPERATOR(pg_catalog.=) 1::pg_catalog.int2
     AND p.partattrs[0] OPERATOR(pg_catalog.>) 0::pg_catalog.int2
     AND c.opcname OPERATOR(pg_catalog.=) ANY (ARRAY['int8_ops'::pg_catalog.name, 'uuid_ops'::pg_catalog.name])
     AND c.opcnamespace OPERATOR(pg_catalog.=) 'pg_catalog'::pg_catalog.regnamespace::pg_catalog.oid;
END;
COMMENT ON FUNCTION snowid.partition_key(pg_catalog.oid) IS
  'Returns the column of a table partitioned by ranges of one bigint or UUID.';

-- UUIDs of version 7 in the order of time, for functions on IDs and their layout: the milliseconds and the next 12
-- bits.
CREATE FUNCTION snowid.uuidv7_layout() RETURNS @extschema@.snowid_layout
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE SQL
  RETURN 'time:48 shard:0 seq:12 unit:1ms epoch:1970-01-01T00:00:00Z'::@extschema@.snowid_layout;
COMMENT ON FUNCTION snowid.uuidv7_layout() IS 'Returns the layout of snowid.key_of_uuid_bound().';

CREATE FUNCTION snowid.key_of_uuid_bound(bound pg_catalog.uuid) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_key_of_uuid_bound';
COMMENT ON FUNCTION snowid.key_of_uuid_bound(pg_catalog.uuid) IS
  'Returns the place of a bound of UUIDs in the order of time, rounded up.';

-- For PL/pgSQL, as snowid.timestamp_of(); of UUIDs, their place in the order of time. Raises: 22008 for a moment beyond
-- the layout, or beyond UUIDs of version 7.
CREATE FUNCTION snowid.first_at(moment pg_catalog.timestamptz, layout @extschema@.snowid_layout, is_uuid boolean)
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE SQL
  RETURN CASE WHEN is_uuid THEN snowid.key_of_uuid_bound(@extschema@.snowid_uuidv7_first_at(moment))
    ELSE @extschema@.snowid_first_at(moment, layout) END;
COMMENT ON FUNCTION snowid.first_at(pg_catalog.timestamptz, @extschema@.snowid_layout, boolean) IS
  'Returns the first ID or UUID of a moment''s time unit.';

-- A partition's bound, as printed by PostgreSQL, as an ID.
CREATE FUNCTION snowid.key_of_bound(bound pg_catalog.text) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE SQL
  RETURN CASE WHEN pg_catalog.length(bound) OPERATOR(pg_catalog.=) 36
    THEN snowid.key_of_uuid_bound(bound::pg_catalog.uuid) ELSE bound::bigint END;
COMMENT ON FUNCTION snowid.key_of_bound(pg_catalog.text) IS 'Returns a bigint, or the place of a UUID in the order of time.';

-- The partitions of such a table: ranges of IDs, and the bounds. A null bound is no bound; both are null for the
-- default partition. With the table as argument, pg_get_expr() would lock it, and views of all tables would wait for
-- every session.
CREATE FUNCTION snowid.ranges_of(parent pg_catalog.oid, OUT relid pg_catalog.oid, OUT first bigint, OUT next bigint,
    OUT is_default boolean, OUT is_leaving boolean, OUT lower_bound pg_catalog.text, OUT upper_bound pg_catalog.text)
  RETURNS SETOF pg_catalog.record
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT b.relid, snowid.key_of_bound(NULLIF(b.bounds[1], 'MINVALUE')), snowid.key_of_bound(NULLIF(b.bounds[2], 'MAXVALUE')),
      b.bounds IS NULL, b.inhdetachpending, NULLIF(b.bounds[1], 'MINVALUE'), NULLIF(b.bounds[2], 'MAXVALUE')
    FROM (SELECT c.oid AS relid, i.inhdetachpending, pg_catalog.regexp_match(pg_catalog.pg_get_expr(c.relpartbound, 0),
              '^FOR VALUES FROM [(]''?(-?[0-9]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|MINVALUE)''?[)] '
              'TO [(]''?(-?[0-9]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|MAXVALUE)''?[)]$') AS bounds
            FROM pg_catalog.pg_inherits AS i
            JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) i.inhrelid
           WHERE i.inhparent OPERATOR(pg_catalog.=) parent
          -- Reads bounds once.
          OFFSET 0) AS b;
END;
COMMENT ON FUNCTION snowid.ranges_of(pg_catalog.oid) IS 'Returns the partitions of a table, with their ranges of IDs.';

-- The source of an expression's IDs if it is a call of snowid_next() with constants, however written; else nulls. The
-- shard is null for snowid_default_shard(). The expression is not evaluated.
CREATE FUNCTION snowid.source_of_expression(tree pg_catalog.pg_node_tree,
    OUT shard bigint, OUT layout @extschema@.snowid_layout)
  STABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_source_of_expression';
COMMENT ON FUNCTION snowid.source_of_expression(pg_catalog.pg_node_tree) IS 'Returns the shard and layout of a default.';

CREATE FUNCTION snowid.source_of_ids(tbl pg_catalog.oid, col pg_catalog.int2,
    OUT shard bigint, OUT layout @extschema@.snowid_layout)
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  SELECT s.shard, s.layout INTO shard, layout
    FROM pg_attrdef AS d
    JOIN pg_attribute AS a ON a.attrelid = d.adrelid AND a.attnum = d.adnum AND a.attgenerated = '',
      LATERAL snowid.source_of_expression(d.adbin) AS s
   WHERE d.adrelid = tbl AND d.adnum = col;
END $$;
COMMENT ON FUNCTION snowid.source_of_ids(pg_catalog.oid, pg_catalog.int2) IS 'Returns the shard and layout of a column''s default.';

-- The layout of a table's partition key, IDs or UUIDs, by its definition; else null.
CREATE FUNCTION snowid.layout_of_key(tbl pg_catalog.oid) RETURNS @extschema@.snowid_layout
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT CASE WHEN k.is_uuid THEN snowid.uuidv7_layout() ELSE (SELECT s.layout FROM snowid.source_of_ids(tbl, k.attnum) AS s) END
    FROM snowid.partition_key(tbl) AS k;
END;
COMMENT ON FUNCTION snowid.layout_of_key(pg_catalog.oid) IS 'Returns the layout of a table''s partition key.';

-- The first ID of the time unit of a moment, even beyond the layout. An ID has the start of its unit as its time:
-- current IDs are at or above it.
CREATE FUNCTION snowid.first_of_unit(moment pg_catalog.timestamptz, layout @extschema@.snowid_layout) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN snowid.first_from(moment - snowid.unit_of(layout) + interval '1 us', layout);
END $$;
COMMENT ON FUNCTION snowid.first_of_unit(pg_catalog.timestamptz, @extschema@.snowid_layout) IS 'Returns the first ID of a moment''s time unit.';

-- A table and its children. Unlike pg_partition_tree() it locks nothing.
CREATE FUNCTION snowid.tree_of(tbl pg_catalog.oid) RETURNS SETOF pg_catalog.oid
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  WITH RECURSIVE tree(relid) AS (
    SELECT tbl
    UNION
    SELECT i.inhrelid FROM tree AS t JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) t.relid)
  SELECT t.relid FROM tree AS t;
END;
COMMENT ON FUNCTION snowid.tree_of(pg_catalog.oid) IS 'Returns a table and all its descendants.';

-- Runs a statement on a table as its owner, see catalog_table.cpp. Returns the selected value if it has the type of `kind`.
CREATE FUNCTION snowid.execute(owner pg_catalog.name, statement pg_catalog.text, kind anyelement DEFAULT 0::bigint)
  RETURNS anyelement
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_execute';
COMMENT ON FUNCTION snowid.execute(pg_catalog.name, pg_catalog.text, anyelement) IS
  'Runs a statement as a role, restricted if it differs from the caller.';

-- Locks tables in the given order, each in its mode, with ONLY. Tables the caller cannot lock are left to the statement
-- that needs them.
--
-- A session waiting for a strong lock blocks all later ones, and one waiting with locks held can deadlock. Therefore it
-- tries in turns: a turn waits at most half of deadlock_timeout for all locks together, then releases them. Always this
-- call yields. Raises: 55P03 after lock_timeout, or after 10 s if there is none. Afterwards lock_timeout is the turn's:
-- the caller must restore it.
CREATE FUNCTION snowid.lock_tables(tables pg_catalog.oid[], modes pg_catalog.text[]) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  patience CONSTANT interval := coalesce(nullif(current_setting('lock_timeout')::interval, '0'), '10 s');
  turn CONSTANT interval := least(patience, current_setting('deadlock_timeout')::interval / 2);
  gives_up CONSTANT timestamptz := clock_timestamp() + patience;
  turn_ends timestamptz;
  one record;
  relation text;
BEGIN
  LOOP
    BEGIN
      turn_ends := least(clock_timestamp() + turn, gives_up);
      FOR one IN SELECT * FROM unnest(tables, modes) WITH ORDINALITY AS l (relid, mode, place) ORDER BY l.place LOOP
        -- Looked up again: it may be gone after the waits for the others.
        SELECT format('%I.%I', n.nspname, c.relname) INTO relation
          FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
         WHERE c.oid = one.relid AND c.relkind IN ('r', 'p') AND has_table_privilege(c.oid, 'UPDATE, DELETE, TRUNCATE');
        CONTINUE WHEN NOT FOUND;
        PERFORM set_config('lock_timeout',
          greatest(1, ceil(extract(epoch FROM turn_ends - clock_timestamp()) * 1000))::bigint::text, true);
        EXECUTE format('LOCK TABLE ONLY %s IN %s MODE', relation, one.mode);
        -- It was locked by name, which may have become another table's meanwhile.
        IF to_regclass(relation) IS DISTINCT FROM one.relid THEN
          RAISE 'table % was renamed', relation USING ERRCODE = 'lock_not_available';
        END IF;
      END LOOP;
      PERFORM set_config('lock_timeout', greatest(1, extract(epoch FROM turn) * 1000)::bigint::text, true);
      RETURN;
    EXCEPTION WHEN lock_not_available THEN
      IF clock_timestamp() >= gives_up THEN RAISE; END IF;
    END;
    PERFORM pg_sleep(0.1);
  END LOOP;
END $$;
COMMENT ON FUNCTION snowid.lock_tables(pg_catalog.oid[], pg_catalog.text[]) IS 'Locks tables, and releases all locks while it waits.';
-- Columns with IDs, found by the catalogs alone. Defaults are not evaluated.
--
-- A default, a domain's default, and a function with an SQL-standard body (BEGIN ATOMIC, RETURN) depend on the
-- functions they call: pg_depend tells whether one of snowid's is reached. A function with a text body has no
-- dependencies: it is listed if its text has the name of one of snowid's functions, and the row shows this. Uses
-- unknown to the catalogs are left out: triggers, names composed by a function, and statements of clients.

CREATE FUNCTION snowid.get_columns(OUT table_name pg_catalog.regclass, OUT column_name pg_catalog.name, OUT shard bigint,
    OUT layout @extschema@.snowid_layout, OUT column_default pg_catalog.text, OUT found_in pg_catalog.text)
  RETURNS SETOF pg_catalog.record
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
  SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
  WITH RECURSIVE member AS (
    SELECT d.objid AS oid, p.proname, p.provolatile = 'v' AND p.pronamespace = e.extnamespace AS is_maker
      FROM pg_extension AS e
      JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
        AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
      JOIN pg_proc AS p ON p.oid = d.objid
     WHERE e.extname = 'snowid'
  ), expression AS (
    SELECT 'pg_attrdef'::regclass::oid AS class, d.oid AS object, a.attrelid, a.attnum, a.attname,
        pg_get_expr(d.adbin, 0) AS text, d.adbin AS tree, NULL::oid AS domain
      FROM pg_attrdef AS d JOIN pg_attribute AS a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
     WHERE a.attgenerated = ''
    UNION ALL
    -- A column of the domain's type without a default of its own.
    SELECT 'pg_type'::regclass, t.oid, a.attrelid, a.attnum, a.attname, pg_get_expr(t.typdefaultbin, 0),
        t.typdefaultbin, t.oid
      FROM pg_type AS t
      JOIN pg_attribute AS a ON a.atttypid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
      JOIN pg_class AS c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p', 'f', 'v')
     WHERE t.typtype = 'd' AND t.typdefaultbin IS NOT NULL
       AND NOT EXISTS (SELECT FROM pg_attrdef AS d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum)
  ), called AS (
    -- `by` is the function called by the expression itself.
    SELECT DISTINCT x.class, x.object, d.refobjid AS by, d.refobjid AS function
      FROM expression AS x
      JOIN pg_depend AS d ON d.classid = x.class AND d.objid = x.object AND d.refclassid = 'pg_proc'::regclass
    UNION
    SELECT c.class, c.object, c.by, d.refobjid
      FROM called AS c
      JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = c.function AND d.refclassid = 'pg_proc'::regclass
  ), reached AS (
    SELECT c.class, c.object, c.by, CASE WHEN c.function = c.by THEN 0 ELSE 1 END AS how
      FROM called AS c JOIN member AS m ON m.oid = c.function AND m.is_maker
    UNION ALL
    SELECT c.class, c.object, c.by, 2
      FROM called AS c
      JOIN pg_proc AS p ON p.oid = c.function AND p.prosqlbody IS NULL
      JOIN pg_language AS l ON l.oid = p.prolang AND l.lanname NOT IN ('internal', 'c')
     WHERE p.oid NOT IN (SELECT m.oid FROM member AS m)
       AND p.prosrc ~* (SELECT concat(E'\\m(', string_agg(DISTINCT m.proname, '|'), E')\\M') FROM member AS m WHERE m.is_maker)
  )
  SELECT DISTINCT ON (x.attrelid, x.attnum)
      x.attrelid, x.attname, s.shard, s.layout, x.text,
      concat_ws(': ', CASE WHEN x.domain IS NULL THEN 'default' ELSE 'domain ' || format_type(x.domain, NULL) END,
        CASE r.how WHEN 1 THEN 'function ' || r.by::regprocedure WHEN 2 THEN 'text of function ' || r.by::regprocedure END)
    FROM expression AS x
    JOIN reached AS r ON r.class = x.class AND r.object = x.object,
      LATERAL snowid.source_of_expression(x.tree) AS s
   ORDER BY x.attrelid, x.attnum, r.how, r.by
$$;
COMMENT ON FUNCTION snowid.get_columns() IS 'implementation of view snowid.columns';

CREATE VIEW snowid.columns AS
  SELECT table_name, column_name, shard, layout, column_default, found_in FROM snowid.get_columns();
COMMENT ON VIEW snowid.columns IS 'columns with a default of snowid';
COMMENT ON COLUMN snowid.columns.table_name IS 'table';
COMMENT ON COLUMN snowid.columns.column_name IS 'column';
COMMENT ON COLUMN snowid.columns.shard IS 'shard of the default';
COMMENT ON COLUMN snowid.columns.layout IS 'layout of the default';
COMMENT ON COLUMN snowid.columns.column_default IS 'default of the column or its domain';
COMMENT ON COLUMN snowid.columns.found_in IS 'place of the call of snowid';
-- Columns to widen before a column can hold IDs: the column itself and those that refer to it

-- Columns that share a column's values through foreign keys and inheritance, itself included. Types are ignored:
-- foreign keys may lead over a wide column to a narrow one.
CREATE FUNCTION snowid.related_columns(tbl pg_catalog.regclass, col pg_catalog.name,
    OUT relid pg_catalog.oid, OUT attnum pg_catalog.int2)
  RETURNS SETOF pg_catalog.record
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  -- Paths from a column to others, in steps, each for all columns at once: a lookup for each column would read
  -- pg_constraint each time. A null column has the same name; it has a cast, because PostgreSQL's versions name an
  -- untyped NULL differently.
  WITH RECURSIVE ways(relid, attnum, to_relid, to_attnum) AS MATERIALIZED (
    SELECT c.confrelid, k.referred, c.conrelid, k.own
      FROM pg_catalog.pg_constraint AS c,
        LATERAL ROWS FROM (pg_catalog.unnest(c.conkey), pg_catalog.unnest(c.confkey)) AS k(own, referred)
     WHERE c.contype OPERATOR(pg_catalog.=) 'f'::pg_catalog."char"
    UNION ALL
    SELECT i.inhrelid, NULL::pg_catalog.int2, i.inhparent, NULL::pg_catalog.int2 FROM pg_catalog.pg_inherits AS i
    UNION ALL
    SELECT i.inhparent, NULL::pg_catalog.int2, i.inhrelid, NULL::pg_catalog.int2 FROM pg_catalog.pg_inherits AS i),
  related(relid, attnum, attname) AS (
    SELECT a.attrelid, a.attnum, a.attname
      FROM pg_catalog.pg_attribute AS a
     WHERE a.attrelid OPERATOR(pg_catalog.=) tbl AND a.attname OPERATOR(pg_catalog.=) col
       AND a.attnum OPERATOR(pg_catalog.>) 0::pg_catalog.int2 AND NOT a.attisdropped
    UNION
    SELECT a.attrelid, a.attnum, a.attname
      FROM related AS r
      JOIN ways AS w ON w.relid OPERATOR(pg_catalog.=) r.relid
       AND (w.attnum IS NULL OR w.attnum OPERATOR(pg_catalog.=) r.attnum)
      JOIN pg_catalog.pg_attribute AS a
        ON a.attrelid OPERATOR(pg_catalog.=) w.to_relid AND NOT a.attisdropped
       AND CASE WHEN w.to_attnum IS NULL THEN a.attname OPERATOR(pg_catalog.=) r.attname
             ELSE a.attnum OPERATOR(pg_catalog.=) w.to_attnum END)
  SELECT r.relid, r.attnum FROM related AS r;
END;
COMMENT ON FUNCTION snowid.related_columns(pg_catalog.regclass, pg_catalog.name) IS
  'Returns the columns tied to a column by foreign keys and inheritance.';

-- Statements that widen a column and those that refer to it to bigint, as text; null if none is needed. Objects that
-- block ALTER TABLE are all named; PostgreSQL would name one at a time. A function's arguments declared by the column's
-- type keep no dependency on it: functions with narrow arguments that mention one of the tables are named, too.
CREATE FUNCTION snowid.widening(tbl pg_catalog.regclass, col pg_catalog.name) RETURNS pg_catalog.text
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  WITH narrow AS (
    SELECT a.attrelid, a.attnum, a.attinhcount::pg_catalog.int4 AS inherited, c.relname, c.reltype,
        pg_catalog.format('%I.%I', n.nspname, c.relname) AS relation, a.attname,
        a.attrelid OPERATOR(pg_catalog.=) tbl AND a.attname OPERATOR(pg_catalog.=) col AS itself,
        EXISTS (SELECT FROM pg_catalog.pg_partitioned_table AS p
          WHERE p.partrelid OPERATOR(pg_catalog.=) a.attrelid
            AND a.attnum OPERATOR(pg_catalog.=) ANY (p.partattrs::pg_catalog.int2[])) AS divides
      FROM snowid.related_columns(tbl, col) AS r
      JOIN pg_catalog.pg_attribute AS a
        ON a.attrelid OPERATOR(pg_catalog.=) r.relid AND a.attnum OPERATOR(pg_catalog.=) r.attnum
      JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) a.atttypid
      JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) a.attrelid
      JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
     WHERE t.typcategory OPERATOR(pg_catalog.=) 'N'::pg_catalog."char"
       AND t.typlen OPERATOR(pg_catalog.=) ANY (ARRAY[2, 4]::pg_catalog.int2[])),
  statements AS (
    SELECT pg_catalog.string_agg(
        pg_catalog.format('ALTER TABLE %s ALTER COLUMN %I TYPE bigint;', relation, attname),
        pg_catalog.chr(10) ORDER BY itself DESC, relation COLLATE pg_catalog."C", attnum) AS list
      FROM narrow WHERE inherited OPERATOR(pg_catalog.=) 0 AND NOT divides),
  blocking AS (
    SELECT DISTINCT CASE WHEN w.ev_class IS NOT NULL AND w.rulename OPERATOR(pg_catalog.=) '_RETURN'::pg_catalog.name
        THEN pg_catalog.pg_describe_object('pg_catalog.pg_class'::pg_catalog.regclass, w.ev_class, 0)
        WHEN e.oid IS NOT NULL
        THEN pg_catalog.pg_describe_object('pg_catalog.pg_class'::pg_catalog.regclass, e.adrelid, e.adnum::pg_catalog.int4)
        ELSE pg_catalog.pg_describe_object(d.classid, d.objid, d.objsubid) END AS object
      FROM narrow AS r
      JOIN pg_catalog.pg_depend AS d
        ON d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
       AND d.refobjid OPERATOR(pg_catalog.=) r.attrelid
       AND d.refobjsubid OPERATOR(pg_catalog.=) r.attnum::pg_catalog.int4
      LEFT JOIN pg_catalog.pg_rewrite AS w
        ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_rewrite'::pg_catalog.regclass
       AND w.oid OPERATOR(pg_catalog.=) d.objid
      LEFT JOIN pg_catalog.pg_attrdef AS e
        ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_attrdef'::pg_catalog.regclass
       AND e.oid OPERATOR(pg_catalog.=) d.objid
     WHERE d.classid OPERATOR(pg_catalog.=) ANY (ARRAY['pg_catalog.pg_rewrite', 'pg_catalog.pg_proc',
        'pg_catalog.pg_policy', 'pg_catalog.pg_trigger', 'pg_catalog.pg_publication_rel']::pg_catalog.regclass[])
        OR (d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
            AND d.objsubid OPERATOR(pg_catalog.>) 0)
        OR (e.adrelid OPERATOR(pg_catalog.=) r.attrelid AND e.adnum OPERATOR(pg_catalog.<>) r.attnum)
    UNION
    SELECT pg_catalog.pg_describe_object(d.classid, d.objid, d.objsubid)
      FROM narrow AS r
      JOIN pg_catalog.pg_depend AS d
        ON d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_type'::pg_catalog.regclass
       AND d.refobjid OPERATOR(pg_catalog.=) r.reltype
     WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
       AND d.objsubid OPERATOR(pg_catalog.>) 0),
  blockers AS (
    SELECT pg_catalog.string_agg(object, ', ' ORDER BY object COLLATE pg_catalog."C") AS list FROM blocking),
  fixed AS (
    SELECT pg_catalog.string_agg(r.relation, ', ' ORDER BY r.relation COLLATE pg_catalog."C") AS list FROM narrow AS r WHERE r.divides),
  functions AS (
    SELECT pg_catalog.string_agg(p.oid::pg_catalog.regprocedure::pg_catalog.text, ', '
        ORDER BY p.oid::pg_catalog.regprocedure::pg_catalog.text COLLATE pg_catalog."C") AS list
      FROM pg_catalog.pg_proc AS p
      JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
      JOIN pg_catalog.pg_language AS l ON l.oid OPERATOR(pg_catalog.=) p.prolang
     WHERE n.nspname OPERATOR(pg_catalog.<>) ALL (ARRAY['pg_catalog', 'information_schema', 'snowid']::pg_catalog.name[])
       -- The source of a compiled function is a symbol.
       AND l.lanname OPERATOR(pg_catalog.<>) ALL (ARRAY['c', 'internal']::pg_catalog.name[])
       AND COALESCE(p.proallargtypes, p.proargtypes::pg_catalog.oid[]) OPERATOR(pg_catalog.&&)
         ARRAY['pg_catalog.int4'::pg_catalog.regtype::pg_catalog.oid, 'pg_catalog.int2'::pg_catalog.regtype::pg_catalog.oid]
       AND EXISTS (SELECT FROM narrow AS r
         WHERE pg_catalog.strpos(pg_catalog.lower(p.prosrc), pg_catalog.lower(r.relname::pg_catalog.text))
           OPERATOR(pg_catalog.>) 0))
  SELECT pg_catalog.concat_ws(pg_catalog.chr(10),
      pg_catalog.concat('Each of these statements rewrites its table while it is locked:',
        pg_catalog.chr(10)) OPERATOR(pg_catalog.||) s.list,
      'These stand in the way: drop them before, and create them again afterwards: '
        OPERATOR(pg_catalog.||) b.list OPERATOR(pg_catalog.||) '.',
      'The type of a partition key cannot be changed. Create these tables again: '
        OPERATOR(pg_catalog.||) f.list OPERATOR(pg_catalog.||) '.',
      'Look at these functions, which have narrow arguments and mention the tables: '
        OPERATOR(pg_catalog.||) p.list OPERATOR(pg_catalog.||) '.')
    FROM statements AS s, blockers AS b, fixed AS f, functions AS p
   WHERE s.list IS NOT NULL OR f.list IS NOT NULL;
END;
COMMENT ON FUNCTION snowid.widening(pg_catalog.regclass, pg_catalog.name) IS 'Returns the statements to widen a column and its references to bigint.';
-- Requirements on a column for IDs: the errors of snowid.adopt(), with hints

-- A table and its children, itself first; their column.
CREATE FUNCTION snowid.family_of(tbl pg_catalog.regclass, col pg_catalog.name, OUT relid pg_catalog.regclass,
    OUT attnum pg_catalog.int2, OUT relkind pg_catalog."char")
  RETURNS SETOF pg_catalog.record
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT f.relid::pg_catalog.regclass, a.attnum, c.relkind
    FROM snowid.tree_of(tbl::pg_catalog.oid) AS f (relid)
    JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) f.relid
    LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) f.relid
      AND a.attname OPERATOR(pg_catalog.=) col AND NOT a.attisdropped
   ORDER BY f.relid OPERATOR(pg_catalog.<>) tbl::pg_catalog.oid, f.relid;
END;
COMMENT ON FUNCTION snowid.family_of(pg_catalog.regclass, pg_catalog.name) IS 'Returns a table and its descendants, with one column.';

-- Raises an error if the caller may not alter a relation, or its columns cannot hold IDs.
CREATE FUNCTION snowid.require_table(tbl pg_catalog.regclass) RETURNS pg_catalog.void
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  c pg_class;
BEGIN
  SELECT * INTO c FROM pg_class WHERE oid = tbl;
  IF NOT FOUND THEN
    RAISE 'relation with OID % does not exist', tbl::oid USING ERRCODE = 'undefined_table';
  ELSIF c.relkind = 'f' THEN
    RAISE '"%" is a foreign table', c.relname USING ERRCODE = 'wrong_object_type',
      DETAIL = 'Its keys are not known on this server.', HINT = 'Adopt the column on its own server.';
  ELSIF c.relkind NOT IN ('r', 'p') THEN
    RAISE '"%" is not a table', c.relname USING ERRCODE = 'wrong_object_type';
  ELSIF NOT pg_has_role(c.relowner, 'USAGE') THEN
    RAISE 'must be owner of table %', c.relname USING ERRCODE = 'insufficient_privilege';
  ELSIF c.oid < 16384 THEN
    RAISE 'permission denied: "%" is a system catalog', c.relname USING ERRCODE = 'insufficient_privilege';
  ELSIF pg_is_other_temp_schema(c.relnamespace) THEN
    RAISE 'cannot alter temporary tables of other sessions' USING ERRCODE = 'feature_not_supported';
  END IF;
END $$;
COMMENT ON FUNCTION snowid.require_table(pg_catalog.regclass) IS 'Raises an error if a relation cannot have IDs as defaults.';

-- Raises an error if Citus has distributed a table: its rows are on other nodes, each with a shard of its own.
CREATE FUNCTION snowid.require_local_table(tbl pg_catalog.regclass, col pg_catalog.name, layout @extschema@.snowid_layout,
    call pg_catalog.text)
  RETURNS pg_catalog.void
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  is_distributed boolean;
BEGIN
  IF to_regclass('pg_catalog.pg_dist_partition') IS NULL THEN RETURN; END IF;
  EXECUTE 'SELECT EXISTS (SELECT FROM pg_catalog.pg_dist_partition AS d WHERE d.logicalrelid = $1)' INTO is_distributed USING tbl;
  IF is_distributed THEN
    RAISE 'table % is distributed by Citus', tbl USING ERRCODE = 'feature_not_supported',
      DETAIL = 'Its rows are on other nodes, each of which generates IDs of its own.',
      HINT = concat_ws(E'\n', 'While no session writes to it:',
        format('SELECT run_command_on_all_nodes(pg_catalog.format(''SELECT snowid.advance_past(%%L::bigint, %%L)'','
          ' pg_catalog.max(%1$I), %3$L)) FROM %2$s WHERE %1$I >= 0;', col, tbl, layout),
        format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s;', tbl, col, call));
  END IF;
END $$;
COMMENT ON FUNCTION snowid.require_local_table(pg_catalog.regclass, pg_catalog.name, @extschema@.snowid_layout, pg_catalog.text) IS
  'Raises an error if Citus has distributed a table.';

-- A type, and the types under it if it is a domain.
CREATE FUNCTION snowid.types_below(type pg_catalog.oid) RETURNS SETOF pg_catalog.oid
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  WITH RECURSIVE types(oid) AS (
    SELECT type
    UNION
    SELECT t.typbasetype FROM types AS s JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) s.oid
     WHERE t.typtype OPERATOR(pg_catalog.=) 'd'::pg_catalog."char")
  SELECT t.oid FROM types AS t;
END;
COMMENT ON FUNCTION snowid.types_below(pg_catalog.oid) IS 'Returns a type, and its base types if it is a domain.';

CREATE FUNCTION snowid.base_type(type pg_catalog.oid) RETURNS pg_catalog.oid
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT b.oid FROM snowid.types_below(type) AS b (oid) JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) b.oid
   WHERE t.typtype OPERATOR(pg_catalog.<>) 'd'::pg_catalog."char";
END;
COMMENT ON FUNCTION snowid.base_type(pg_catalog.oid) IS 'Returns the base type of a domain, else the type itself.';

-- Raises an error if a column cannot hold IDs, with a hint to widen it and the columns that refer to it, searched if
-- has_time.
CREATE FUNCTION snowid.require_wide_column(tbl pg_catalog.regclass, col pg_catalog.name, has_time boolean)
  RETURNS pg_catalog.void
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  tbl_name CONSTANT name := (SELECT c.relname FROM pg_class AS c WHERE c.oid = tbl);
  a pg_attribute;
  base oid;
  topmost regclass;
  widening text;
  reference text;
BEGIN
  SELECT * INTO a FROM pg_attribute WHERE attrelid = tbl AND attname = col AND NOT attisdropped;
  IF NOT FOUND THEN
    RAISE 'column "%" of relation "%" does not exist', col, tbl_name USING ERRCODE = 'undefined_column';
  ELSIF a.attnum < 0 THEN
    RAISE 'cannot alter system column "%"', col USING ERRCODE = 'feature_not_supported';
  ELSIF a.attinhcount > 0 THEN
    WITH RECURSIVE above(relid, height) AS (
      SELECT tbl::oid, 0
      UNION
      SELECT i.inhparent, height + 1 FROM above JOIN pg_inherits AS i ON i.inhrelid = above.relid
        JOIN pg_attribute AS p ON p.attrelid = i.inhparent AND p.attname = col)
    SELECT relid INTO topmost FROM above ORDER BY height DESC LIMIT 1;
    RAISE 'column "%" of relation "%" is inherited', col, tbl_name USING ERRCODE = 'invalid_table_definition',
      HINT = format('Adopt that of table %s; its partitions and children go along.', topmost);
  ELSIF a.attgenerated <> '' THEN
    RAISE 'column "%" of relation "%" is a generated column', col, tbl_name USING ERRCODE = 'invalid_column_definition';
  END IF;
  base := snowid.base_type(a.atttypid);
  IF has_time AND (base = ANY (ARRAY['int2', 'int4']::regtype[]::oid[]) OR snowid.is_id_type(base)) THEN widening := snowid.widening(tbl, col); END IF;
  IF NOT snowid.is_id_type(base) THEN
    RAISE 'column "%" of relation "%" is of type %, and IDs are of type bigint', col, tbl_name, a.atttypid::regtype
      USING ERRCODE = 'datatype_mismatch', DETAIL = coalesce(widening, ''), HINT = CASE WHEN widening IS NULL THEN '' ELSE
        'Widen it and everything referring to it, also in functions and programs, then adopt it.' END;
  ELSIF widening IS NOT NULL THEN
    RAISE 'columns referring to column "%" of relation "%" cannot hold IDs', col, tbl_name
      USING ERRCODE = 'datatype_mismatch', DETAIL = widening,
        HINT = 'Widen them, also in functions and programs, then adopt the column.';
  END IF;
  SELECT pg_describe_object('pg_constraint'::regclass, c.oid, 0) INTO reference
    FROM snowid.family_of(tbl, col) AS f JOIN pg_constraint AS c ON c.conrelid = f.relid AND c.contype = 'f',
      LATERAL ROWS FROM (unnest(c.conkey), unnest(c.confkey)) AS k (own, referred)
   WHERE k.own = f.attnum
     AND NOT EXISTS (SELECT FROM snowid.family_of(tbl, col) AS g WHERE g.relid = c.confrelid AND g.attnum = k.referred)
   ORDER BY f.relid <> tbl, c.conparentid, c.conname LIMIT 1;
  IF FOUND THEN
    RAISE 'column "%" of relation "%" refers to another column', col, tbl_name USING ERRCODE = 'object_not_in_prerequisite_state',
      DETAIL = format('It does so by %s. The referenced column contains no new ID.', reference), HINT = 'Adopt the referenced column.';
  END IF;
END $$;
COMMENT ON FUNCTION snowid.require_wide_column(pg_catalog.regclass, pg_catalog.name, boolean) IS
  'Raises an error if a column''s type cannot hold IDs.';

-- The tables, among a table and its children, that receive rows with an ID. Raises: 55000 if there is no partition for
-- them.
CREATE FUNCTION snowid.tables_for(tbl pg_catalog.regclass, col pg_catalog.name, id bigint) RETURNS SETOF pg_catalog.regclass
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  left_over oid[] := ARRAY[tbl::oid];
  one oid;
  p record;
BEGIN
  WHILE left_over <> '{}' LOOP
    one := left_over[1];
    left_over := left_over[2:];
    RETURN NEXT one::regclass;
    SELECT t.partstrat, t.partdefid INTO p FROM pg_partitioned_table AS t
      JOIN pg_attribute AS a ON a.attrelid = t.partrelid AND a.attname = col
     WHERE t.partrelid = one AND t.partnatts = 1 AND t.partattrs[0] = a.attnum AND t.partstrat IN ('r', 'l');
    IF NOT FOUND THEN
      left_over := left_over || ARRAY(SELECT i.inhrelid FROM pg_inherits AS i WHERE i.inhparent = one ORDER BY 1);
    ELSE
      left_over := left_over || coalesce(
        (SELECT r.relid FROM snowid.ranges_of(one) AS r WHERE p.partstrat = 'r' AND NOT r.is_default
            AND coalesce(r.first <= id, true) AND coalesce(id < r.next, true)), nullif(p.partdefid, 0::oid));
      IF left_over[cardinality(left_over)] IS NULL THEN
        RAISE 'table % has no partition for a new ID', one::regclass
          USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = format('The new ID is %s.', id),
            HINT = 'Create one first, or a default partition.';
      END IF;
    END IF;
  END LOOP;
END $$;
COMMENT ON FUNCTION snowid.tables_for(pg_catalog.regclass, pg_catalog.name, bigint) IS 'Returns the partitions for rows with an ID.';

-- Objects evaluated for each new row of a table: checks, generated columns, expressions and predicates of indexes,
-- triggers. An expression is null if it needs other columns. If it returns false, it rejects the row.
CREATE FUNCTION snowid.lookers_at(tbl pg_catalog.regclass, col pg_catalog.int2, OUT what pg_catalog.text,
    OUT expression pg_catalog.text)
  RETURNS SETOF pg_catalog.record
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY
    WITH looker(classid, objid, expression, own) AS (
      SELECT 'pg_constraint'::regclass, c.oid, format('(%s)::boolean', pg_get_expr(c.conbin, tbl)), 0 FROM pg_constraint AS c
       WHERE c.conrelid = tbl AND c.contype = 'c' AND coalesce((to_jsonb(c) ->> 'conenforced')::boolean, true)
      UNION ALL
      -- The cast to the column's type is stored and not printed; one to varchar would truncate.
      SELECT 'pg_attrdef'::regclass, d.oid,
          format(CASE WHEN a.attnotnull THEN '(%1$s)::%2$s IS NOT NULL' ELSE '((%1$s)::%2$s IS NULL OR true)' END
            || CASE WHEN a.atttypid = 'varchar'::regtype THEN ' AND (%1$s)::%2$s::text IS NOT DISTINCT FROM (%1$s)::text' ELSE '' END,
            pg_get_expr(d.adbin, tbl), format_type(a.atttypid, a.atttypmod)), a.attnum
        FROM pg_attrdef AS d JOIN pg_attribute AS a ON a.attrelid = tbl AND a.attnum = d.adnum
       WHERE d.adrelid = tbl AND a.attgenerated <> ''
      UNION ALL
      SELECT 'pg_class'::regclass, i.indexrelid,
          format(CASE WHEN i.indpred IS NULL THEN 'ROW(%s)' ELSE 'CASE WHEN %2$s THEN ROW(%1$s) END' END,
            pg_get_expr(i.indexprs, tbl), pg_get_expr(i.indpred, tbl)), 0
        FROM pg_index AS i WHERE i.indrelid = tbl AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)),
    depending AS (
      SELECT l.classid, l.objid, d.refclassid, d.refobjid, d.refobjsubid
        FROM looker AS l JOIN pg_depend AS d ON NOT (l.own > 0 AND d.refobjid = tbl AND d.refobjsubid = l.own)
         AND (d.classid = l.classid AND d.objid = l.objid
           -- Up to PostgreSQL 15 the generated column depends on other columns.
           OR l.own > 0 AND d.classid = 'pg_class'::regclass AND d.objid = tbl AND d.objsubid = l.own))
    SELECT pg_describe_object(l.classid, l.objid, 0), CASE WHEN u.columns = ARRAY[col]::int[] THEN l.expression END
      FROM looker AS l, LATERAL (
        SELECT array_agg(DISTINCT d.refobjsubid) FILTER (WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = tbl
              AND d.refobjsubid > 0) AS columns
          FROM depending AS d WHERE d.classid = l.classid AND d.objid = l.objid) AS u
     -- Directly, or through a column generated from this one.
     WHERE col = ANY (u.columns) OR u.columns && ARRAY(
       SELECT g.own::int FROM looker AS g JOIN depending AS d ON d.classid = g.classid AND d.objid = g.objid
        WHERE g.own > 0 AND d.refclassid = 'pg_class'::regclass AND d.refobjid = tbl AND d.refobjsubid = col)
    UNION ALL
    -- For INSERT.
    SELECT pg_describe_object('pg_policy'::regclass, p.oid, 0), NULL
      FROM pg_policy AS p WHERE p.polrelid = tbl AND p.polcmd IN ('a', '*')
    UNION ALL
    SELECT pg_describe_object('pg_rewrite'::regclass, r.oid, 0), NULL
      FROM pg_rewrite AS r WHERE r.ev_class = tbl AND r.ev_type = '3'
    UNION ALL
    SELECT format('partitions of table %s', tbl::regclass), NULL
      FROM pg_partitioned_table AS t
     WHERE t.partrelid = tbl AND (t.partexprs IS NOT NULL OR t.partnatts > 1 AND col = ANY (t.partattrs::int2[]))
    UNION ALL
    SELECT pg_describe_object('pg_trigger'::regclass, t.oid, 0), NULL
      FROM pg_trigger AS t WHERE t.tgrelid = tbl AND NOT t.tgisinternal AND t.tgtype & 4 <> 0 AND t.tgenabled <> 'D'
     ORDER BY 1;
END $$;
COMMENT ON FUNCTION snowid.lookers_at(pg_catalog.regclass, pg_catalog.int2) IS
  'Returns the constraints, indexes, and expressions checked for new values of a column.';

-- Tests a new ID on everything that checks the column alone, to raise 55000 early, as the table's owner: its code must
-- not have the caller's rights. A notice, if is_told, lists the rest: what needs a whole row, names that depend
-- on search_path, or other rights, and domains of another owner than the table's.
CREATE FUNCTION snowid.try_id(tbl pg_catalog.regclass, col pg_catalog.name, id bigint, is_told boolean)
  RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  untried text[] := '{}';
  one record;
  is_right boolean;
  reason text;
BEGIN
  FOR one IN
    SELECT pg_get_userbyid(c.relowner) AS owner, l.*
      FROM snowid.tables_for(tbl, col, id) AS t (relid) JOIN pg_class AS c ON c.oid = t.relid
      JOIN pg_attribute AS a ON a.attrelid = t.relid AND a.attname = col,
        LATERAL (SELECT *, format_type(snowid.base_type(a.atttypid), NULL) AS type FROM snowid.lookers_at(t.relid, a.attnum)
          UNION ALL
          SELECT pg_describe_object('pg_type'::regclass, d.oid, 0),
              CASE WHEN NOT EXISTS (SELECT FROM snowid.types_below(d.oid) AS b (oid)
                JOIN pg_type AS y ON y.oid = b.oid WHERE y.typtype = 'd' AND y.typowner <> c.relowner) THEN format('%I', col) END,
              format_type(a.atttypid, a.atttypmod)
            FROM pg_type AS d WHERE d.oid = a.atttypid AND d.typtype = 'd' AND t.relid = tbl) AS l
  LOOP
    BEGIN
      -- Null for values other than booleans, and without an expression.
      is_right := snowid.execute(one.owner, 'SELECT ' || one.expression || format(
        ' FROM (SELECT %s::bigint::%s AS %I) AS "new row"', id, one.type, col), true);
      reason := CASE WHEN NOT is_right THEN 'It is not fulfilled.' END;
    EXCEPTION
      WHEN syntax_error_or_access_rule_violation THEN one.expression := NULL;
      WHEN OTHERS THEN reason := format('It fails: %s.', SQLERRM);
    END;
    IF one.expression IS NULL THEN
      untried := untried || one.what;
    ELSIF reason IS NOT NULL THEN
      RAISE 'column "%" of relation % cannot hold a new ID', col, tbl
        USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = format('%s refuses %s. %s', one.what, id, reason),
          HINT = 'Change or drop it first.';
    END IF;
  END LOOP;
  IF is_told AND untried <> '{}' THEN
    RAISE NOTICE 'a new ID was not tested on all checks of new rows'
      USING DETAIL = format('Look at these: %s.', array_to_string(ARRAY(SELECT DISTINCT unnest(untried) ORDER BY 1), ', '));
  END IF;
END $$;
COMMENT ON FUNCTION snowid.try_id(pg_catalog.regclass, pg_catalog.name, bigint, boolean) IS 'Raises an error if a column rejects a new ID.';
-- Columns that become IDs. Everything is checked before the first change and the first lock, and again under the lock,
-- because it may have changed meanwhile.

-- The greatest key of a table and its children, by indexes, or by reading at most 8 MB of all tables together.
-- Requires: the right to read all their rows.
CREATE FUNCTION snowid.greatest_key(tbl pg_catalog.regclass, col pg_catalog.name) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
  SET enable_seqscan = off SET enable_indexscan = on SET enable_indexonlyscan = on SET row_security = off AS $$
DECLARE
  most CONSTANT bigint := 8388608;
  size bigint := 0;
  one record;
  key bigint;
  greatest_key bigint;
BEGIN
  FOR one IN
    SELECT f.relid FROM snowid.family_of(tbl, col) AS f
     WHERE f.relkind = 'r' AND NOT EXISTS (
       SELECT FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_am AS m ON m.oid = c.relam
         JOIN pg_opclass AS o ON o.oid = i.indclass[0] JOIN pg_opfamily AS p ON p.oid = o.opcfamily
        WHERE i.indrelid = f.relid AND i.indisvalid AND i.indkey[0] = f.attnum AND i.indpred IS NULL
          AND m.amname = 'btree' AND p.opfname = 'integer_ops' AND p.opfnamespace = 'pg_catalog'::regnamespace)
  LOOP
    size := size + pg_relation_size(one.relid);
    IF size > most THEN
      RAISE 'no index finds the greatest "%" of table %', col, one.relid
        USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = 'More than 8 MB would have to be read under a lock.',
          HINT = format('Use CREATE INDEX CONCURRENTLY ON %s (%I). The index may be dropped afterwards.', one.relid, col);
    END IF;
  END LOOP;
  FOR one IN
    SELECT f.relid, pg_get_userbyid(c.relowner) AS owner
      FROM snowid.family_of(tbl, col) AS f JOIN pg_class AS c ON c.oid = f.relid WHERE f.relkind = 'r'
  LOOP
    key := snowid.execute(one.owner, format('SELECT pg_catalog.max(%I) FROM ONLY %s', col, one.relid));
    greatest_key := greatest(greatest_key, key);
  END LOOP;
  RETURN greatest_key;
END $$;
COMMENT ON FUNCTION snowid.greatest_key(pg_catalog.regclass, pg_catalog.name) IS
  'Returns the greatest value of a column, if few pages need to be read.';

-- For PL/pgSQL, as snowid.timestamp_of().
CREATE FUNCTION snowid.next_of(shard bigint, layout @extschema@.snowid_layout) RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE SQL
  RETURN @extschema@.snowid_next(shard, layout);
COMMENT ON FUNCTION snowid.next_of(bigint, @extschema@.snowid_layout) IS 'Returns snowid_next(shard, layout).';

-- Not a SQL body, because without arguments a function of another owner can match as well.
CREATE FUNCTION snowid.get_default_shard() RETURNS bigint
  STABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_default_shard';
COMMENT ON FUNCTION snowid.get_default_shard() IS 'Returns snowid_default_shard().';

CREATE FUNCTION snowid.may_advance() RETURNS boolean
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
  RETURN pg_catalog.has_function_privilege(
    'snowid.advance_shard(bigint, @extschema@.snowid_layout)'::pg_catalog.regprocedure::pg_catalog.oid,
    'EXECUTE'::pg_catalog.text);
COMMENT ON FUNCTION snowid.may_advance() IS 'Returns whether the caller may execute snowid.advance_shard().';

-- Advances a shard to the time unit of a key: to its last ID there if below the key, else to the ID with the key's
-- sequence. The shard's next ID is above the key.
CREATE FUNCTION snowid.advance_to(key bigint, shard bigint, layout @extschema@.snowid_layout) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT snowid.advance_shard(CASE WHEN i.last OPERATOR(pg_catalog.<=) key THEN i.last ELSE i.same END, layout)
    FROM (SELECT @extschema@.snowid_encode(m.moment, shard, @extschema@.snowid_sequence(key, layout), layout) AS same,
            @extschema@.snowid_encode(m.moment, shard,
              @extschema@.snowid_sequence(@extschema@.snowid_last_at(m.moment, layout), layout), layout) AS last
          FROM (SELECT @extschema@.snowid_timestamp(key, layout) AS moment) AS m) AS i;
END;
COMMENT ON FUNCTION snowid.advance_to(bigint, bigint, @extschema@.snowid_layout) IS 'Moves a shard above a key.';

-- Generates an ID of a shard and layout above a key. If the next one is not, advances the shard, with the rights
-- required by snowid.advance_shard().
CREATE FUNCTION snowid.draw_above(key bigint, shard bigint, layout @extschema@.snowid_layout) RETURNS bigint
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  id bigint := snowid.next_of(shard, layout);
  moment timestamptz;
BEGIN
  IF id > coalesce(key, -1) THEN RETURN id; END IF;
  IF key <= snowid.last_before('infinity', layout) THEN moment := snowid.timestamp_of(key, layout); END IF;
  IF coalesce(moment > clock_timestamp() + current_setting('snowid.max_lead')::interval, true) THEN
    RAISE 'key % is above the next IDs', key
      USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = CASE WHEN moment IS NULL
        THEN format('It is above all IDs of layout "%s".', layout)
        ELSE format('An ID of layout "%s" above it has the time %s, and IDs run ahead of the clock by at most %s.',
          layout, moment, current_setting('snowid.max_lead')) END,
      HINT = 'Change these keys first, or choose a layout with greater IDs. If another server generated the key, '
        'compare the clocks.';
  ELSIF NOT snowid.may_advance() THEN
    RAISE 'permission denied to move shard % ahead', shard
      USING ERRCODE = 'insufficient_privilege', DETAIL = format('Key %s is ahead of the clock: its time is %s.', key, moment),
        HINT = 'Wait until the clock has passed it, or make the call as a role with EXECUTE on snowid.advance_shard().';
  END IF;
  PERFORM snowid.advance_to(key, shard, layout);
  RETURN snowid.next_of(shard, layout);
END $$;
COMMENT ON FUNCTION snowid.draw_above(bigint, bigint, @extschema@.snowid_layout) IS 'Returns an ID above a key.';

-- Shards used in this database by a default without one, in this session and in others. A role's setting for itself
-- does not count, because any role can set anything; see snowid.tell_role_shards().
CREATE FUNCTION snowid.default_shards() RETURNS bigint[]
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  shards bigint[] := ARRAY[snowid.get_default_shard()];
  others text;
BEGIN
  FOR others IN
    SELECT unnest(ARRAY[s.boot_val, s.reset_val]) FROM pg_settings AS s WHERE s.name = 'snowid.default_shard'
    UNION
    SELECT split_part(c.setting, '=', 2) FROM pg_db_role_setting AS r, unnest(r.setconfig) AS c (setting)
     WHERE split_part(c.setting, '=', 1) = 'snowid.default_shard' AND r.setrole = 0
       AND r.setdatabase IN (0, (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))
  LOOP
    CONTINUE WHEN others = current_setting('snowid.default_shard');
    BEGIN
      PERFORM set_config('snowid.default_shard', others, true);
      shards := shards || snowid.get_default_shard();
      -- Undoes the setting, including more than its value.
      RAISE SQLSTATE 'SN000';
    EXCEPTION
      WHEN SQLSTATE 'SN000' THEN NULL;
      -- A setting without a shard is used by no session.
      WHEN invalid_parameter_value OR object_not_in_prerequisite_state THEN NULL;
    END;
  END LOOP;
  RETURN shards;
END $$;
COMMENT ON FUNCTION snowid.default_shards() IS 'Returns the default shards of this session and of the database.';

-- Names the roles with a shard of their own, in a notice.
CREATE FUNCTION snowid.tell_role_shards() RETURNS pg_catalog.void
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  settings CONSTANT text := (
    SELECT string_agg(format('%I%s: %s', pg_get_userbyid(r.setrole), CASE WHEN r.setdatabase <> 0 THEN ' in this database' END,
          left(split_part(c.setting, '=', 2), 20)), ', ' ORDER BY pg_get_userbyid(r.setrole), r.setdatabase)
      FROM pg_db_role_setting AS r, unnest(r.setconfig) AS c (setting)
     WHERE split_part(c.setting, '=', 1) = 'snowid.default_shard' AND r.setrole <> 0
       AND r.setdatabase IN (0, (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())));
BEGIN
  IF settings IS NOT NULL THEN
    RAISE NOTICE 'roles have settings of their own for parameter "snowid.default_shard"'
      USING DETAIL = format('These are: %s.', settings),
        HINT = 'If a key is ahead of the clock, use snowid.advance_shard() to move these shards above it.';
  END IF;
END $$;
COMMENT ON FUNCTION snowid.tell_role_shards() IS 'Names the roles with a shard of their own.';

-- Raises an error if a column cannot be adopted; advances its shard above the existing keys. Returns whether it is
-- adopted already.
CREATE FUNCTION snowid.is_adopted(tbl pg_catalog.regclass, col pg_catalog.name, shard bigint,
    layout @extschema@.snowid_layout, call pg_catalog.text, is_first boolean)
  RETURNS boolean
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  key bigint;
  id bigint;
BEGIN
  PERFORM snowid.require_table(tbl);
  PERFORM snowid.require_wide_column(tbl, col, is_first);
  PERFORM snowid.require_table(f.relid), snowid.require_local_table(f.relid, col, layout, call) FROM snowid.family_of(tbl, col) AS f;
  IF (SELECT bool_and(a.attidentity = '' AND s.shard IS NOT DISTINCT FROM is_adopted.shard
          AND coalesce(snowid.layout_eq(s.layout, is_adopted.layout), false))
        FROM snowid.family_of(tbl, col) AS f JOIN pg_attribute AS a ON a.attrelid = f.relid AND a.attnum = f.attnum,
          LATERAL snowid.source_of_ids(f.relid, f.attnum) AS s) THEN
    RETURN true;
  END IF;
  key := snowid.greatest_key(tbl, col);
  SELECT max(snowid.draw_above(key, s.shard, layout)) INTO id
    FROM (SELECT DISTINCT unnest(CASE WHEN is_adopted.shard IS NULL THEN snowid.default_shards() ELSE ARRAY[is_adopted.shard] END)) AS s (shard);
  PERFORM snowid.try_id(tbl, col, id, NOT is_first);
  RETURN false;
END $$;
COMMENT ON FUNCTION snowid.is_adopted(pg_catalog.regclass, pg_catalog.name, bigint, @extschema@.snowid_layout, pg_catalog.text, boolean) IS
  'Returns whether a column is adopted, and raises an error if it cannot be.';

-- Drops a sequence, by a statement, and reports its privileges.
CREATE FUNCTION snowid.drop_sequence(seq pg_catalog.regclass, statement pg_catalog.text) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  name CONSTANT text := seq;
  granted CONSTANT text := (
    SELECT string_agg(format('%s to %s', g.rights, g.grantee), '; ' ORDER BY g.grantee)
      FROM (SELECT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS grantee,
                string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type) AS rights
              FROM pg_class AS c, aclexplode(c.relacl) AS a WHERE c.oid = seq AND a.grantee <> c.relowner GROUP BY 1) AS g);
  dependents text;
BEGIN
  PERFORM snowid.execute(current_user, statement);
  IF granted IS NOT NULL THEN
    RAISE NOTICE 'privileges on sequence % are dropped with it', name
      USING DETAIL = format('The privileges are: %s.', granted), HINT = 'Roles inserting into the table no longer need them.';
  END IF;
EXCEPTION WHEN dependent_objects_still_exist THEN
  GET STACKED DIAGNOSTICS dependents = PG_EXCEPTION_DETAIL;
  RAISE 'cannot drop sequence % because other objects depend on it', name
    USING ERRCODE = 'dependent_objects_still_exist', DETAIL = dependents,
      HINT = format('Use another source of numbers for these first; or keep a serial''s sequence, by ALTER SEQUENCE %s OWNED BY NONE.', name);
END $$;
COMMENT ON FUNCTION snowid.drop_sequence(pg_catalog.regclass, pg_catalog.text) IS 'Drops the sequence of a column.';

CREATE FUNCTION snowid.adopt(tbl pg_catalog.regclass, col pg_catalog.name, shard bigint DEFAULT NULL,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS pg_catalog.text
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  patience CONSTANT text := current_setting('lock_timeout');
  own CONSTANT text := snowid.extension_prefix();
  call text;
  is_done boolean;
  family oid[];
  replaced text;
  one record;
  serials regclass[] := '{}';
  serial regclass;
  serial_name text;
BEGIN
  IF tbl IS NULL OR col IS NULL OR layout IS NULL THEN
    RAISE 'table, column and layout must not be null' USING ERRCODE = 'null_value_not_allowed';
  ELSIF NOT snowid.layout_is_ordered(layout) THEN
    RAISE 'IDs of layout "%" are not in the order of their times', layout USING ERRCODE = 'invalid_parameter_value',
      DETAIL = 'The time is not its first field, so new IDs can equal existing keys.';
  END IF;
  PERFORM snowid.require_read_committed('snowid.adopt');
  call := CASE WHEN shard IS NULL THEN own || 'snowid_default_shard()'
    WHEN shard <= 2147483647 THEN format('(%s)::bigint', shard) ELSE format('%L::bigint', shard) END;
  call := format('%ssnowid_next(%s)', own, CASE
    WHEN snowid.layout_ne(layout, 'instagram') THEN format('%s, %L::%ssnowid_layout', call, layout, own)
    WHEN shard IS NULL THEN '' ELSE call END);

  -- First without a lock, to keep sessions from waiting for a call that fails. Locks taken nevertheless are released,
  -- or two callers would wait for each other.
  BEGIN
    is_done := snowid.is_adopted(tbl, col, shard, layout, call, true);
    RAISE SQLSTATE 'SN000';
  EXCEPTION WHEN SQLSTATE 'SN000' THEN NULL;
  END;
  IF NOT is_done THEN
    IF EXISTS (SELECT FROM snowid.family_of(tbl, col) AS f WHERE NOT has_table_privilege(f.relid, 'UPDATE, DELETE, TRUNCATE')) THEN
      RAISE 'permission denied to lock table %', tbl USING ERRCODE = 'insufficient_privilege',
        HINT = 'Grant UPDATE, DELETE or TRUNCATE on it to its owner.';
    END IF;
    -- Repeated if a partition was added meanwhile, on which writers are not locked out.
    LOOP
      family := ARRAY(SELECT f.relid FROM snowid.family_of(tbl, col) AS f);
      PERFORM snowid.lock_tables(family, array_fill('ACCESS EXCLUSIVE'::text, ARRAY[cardinality(family)]));
      EXIT WHEN family @> ARRAY(SELECT f.relid::oid FROM snowid.family_of(tbl, col) AS f);
    END LOOP;
    is_done := snowid.is_adopted(tbl, col, shard, layout, call, false);
  END IF;
  IF is_done THEN
    PERFORM set_config('lock_timeout', patience, true);
    RAISE NOTICE 'column "%" of relation % already has this default, nothing changed', col, tbl;
    RETURN call;
  END IF;

  -- Replaces a default that uses a sequence. Any other one, such as a constant, may have a purpose.
  SELECT string_agg(DISTINCT pg_get_expr(d.adbin, d.adrelid), ', ') INTO replaced
    FROM snowid.family_of(tbl, col) AS f JOIN pg_attrdef AS d ON d.adrelid = f.relid AND d.adnum = f.attnum,
      LATERAL snowid.source_of_ids(f.relid, f.attnum) AS s
   WHERE s.layout IS NULL AND NOT EXISTS (
     SELECT FROM pg_depend AS e JOIN pg_class AS c ON c.oid = e.refobjid AND c.relkind = 'S'
      WHERE e.classid = 'pg_attrdef'::regclass AND e.objid = d.oid AND e.refclassid = 'pg_class'::regclass);
  IF replaced IS NOT NULL THEN
    RAISE NOTICE 'default of column "%" of relation % is replaced', col, tbl USING DETAIL = format('It was: %s.', replaced);
  END IF;
  IF EXISTS (SELECT FROM snowid.family_of(tbl, col) AS f JOIN pg_attribute AS a ON a.attrelid = f.relid AND a.attnum = f.attnum
      WHERE a.attidentity <> '') THEN
    RAISE NOTICE 'column "%" of relation % is no longer an identity column', col, tbl
      USING DETAIL = 'INSERT with OVERRIDING USER VALUE stores the given value, which it ignored so far.';
  END IF;
  IF shard IS NULL THEN PERFORM snowid.tell_role_shards(); END IF;

  -- Identity columns. From PostgreSQL 17 on, partitions have the table's, and lose it with the table.
  FOR one IN
    SELECT f.relid, d.objid::regclass AS seq, d.deptype = 'i' AND a.attidentity <> '' AS is_identity, d.deptype = 'a' AND EXISTS (
        SELECT FROM pg_attrdef AS e JOIN pg_depend AS s ON s.classid = 'pg_attrdef'::regclass AND s.objid = e.oid
          AND s.refclassid = 'pg_class'::regclass AND s.refobjid = d.objid
         WHERE e.adrelid = f.relid AND e.adnum = f.attnum) AS is_used
      FROM snowid.family_of(tbl, col) AS f
      JOIN pg_attribute AS a ON a.attrelid = f.relid AND a.attnum = f.attnum
      JOIN pg_depend AS d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = f.relid AND d.refobjsubid = f.attnum
       AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
      JOIN pg_class AS c ON c.oid = d.objid AND c.relkind = 'S'
  LOOP
    -- pgEdge makes an identity column another one and leaves the sequence as it was.
    IF one.is_identity THEN
      PERFORM snowid.drop_sequence(one.seq, format('ALTER TABLE %s ALTER COLUMN %I DROP IDENTITY', one.relid, col));
    ELSIF one.is_used THEN
      serials := serials || one.seq;
    ELSE
      RAISE NOTICE 'sequence % is left', one.seq
        USING DETAIL = format('Column "%s" of relation %s owns it, and its default does not use it.', col, one.relid);
    END IF;
  END LOOP;
  PERFORM snowid.execute(current_user, format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', tbl, col, call));
  FOREACH serial IN ARRAY serials LOOP
    serial_name := serial;
    -- Locks the sequence, and changes nothing. If the table no longer owns it, its user keeps it.
    PERFORM snowid.execute(current_user, format('ALTER SEQUENCE %s OWNER TO %I', serial_name,
      (SELECT pg_get_userbyid(c.relowner) FROM pg_class AS c WHERE c.oid = serial)));
    IF serial_name <> serial::text THEN
      RAISE 'sequence % was renamed', serial_name USING ERRCODE = 'lock_not_available';
    ELSIF EXISTS (SELECT FROM pg_depend AS d WHERE d.classid = 'pg_class'::regclass AND d.objid = serial AND d.deptype = 'a'
        AND d.refclassid = 'pg_class'::regclass AND d.refobjid = ANY (family)) THEN
      PERFORM snowid.drop_sequence(serial, format('DROP SEQUENCE %s', serial_name));
    ELSE
      RAISE NOTICE 'sequence % is left', serial_name
        USING DETAIL = format('No column of relation %s owns it anymore.', tbl);
    END IF;
  END LOOP;
  -- The called function may have been removed from the extension.
  IF (SELECT bool_or(s.layout IS NULL) FROM snowid.family_of(tbl, col) AS f, snowid.source_of_ids(f.relid, f.attnum) AS s) THEN
    RAISE '% does not call a function of extension "snowid"', call USING ERRCODE = 'object_not_in_prerequisite_state',
      HINT = 'Restore it with ALTER EXTENSION snowid ADD FUNCTION.';
  END IF;
  IF snowid.layout_ne(layout, 'instagram') THEN
    RAISE NOTICE 'IDs of column "%" of relation % have layout "%"', col, tbl, layout
      USING HINT = format('Functions reading them need it, as in snowid_timestamp(%I, %L). A view or a generated column can '
        'name it once.', col, layout);
  END IF;
  PERFORM set_config('lock_timeout', patience, true);
  RETURN call;
END $$;
COMMENT ON FUNCTION snowid.adopt(pg_catalog.regclass, pg_catalog.name, bigint, @extschema@.snowid_layout) IS
  'Makes a column generate IDs above its existing keys, and returns its default.';
-- IDs and UUIDs for old rows

CREATE FUNCTION @extschema@.snowid_backfill(created_at pg_catalog.timestamptz, shard bigint,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  WINDOW IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_backfill';
COMMENT ON FUNCTION @extschema@.snowid_backfill(pg_catalog.timestamptz, bigint, @extschema@.snowid_layout) IS
  'Returns IDs with the times of existing rows, distinct and in order.';

-- VOLATILE, because each call has random bits of its own.
CREATE FUNCTION @extschema@.snowid_backfill_uuidv7(created_at pg_catalog.timestamptz) RETURNS pg_catalog.uuid
  WINDOW VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_backfill_uuidv7';
COMMENT ON FUNCTION @extschema@.snowid_backfill_uuidv7(pg_catalog.timestamptz) IS
  'Returns UUIDs of version 7 with the times of existing rows, distinct and in order.';
-- Partitions by an ID's time. Everything runs as the table's owner, even if called by a member of that role: new
-- objects belong to the owner, and triggers run as for the owner's own statement. Rows of other owners, and other
-- tables, are never changed. The result follows from the existing partitions and the layout in the column's default,
-- never from the time of the call alone.

-- Raises an error if the caller may not create and drop partitions of the table, or cannot lock it for this: its lock
-- protects the partitions, their bounds, and the default from changes. Returns its column and its owner.
CREATE FUNCTION snowid.require_partitioned(parent pg_catalog.regclass, OUT key pg_catalog.name, OUT owner pg_catalog.name)
  STABLE PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  tbl pg_class;
BEGIN
  SELECT * INTO tbl FROM pg_class WHERE oid = parent;
  IF NOT FOUND THEN
    RAISE 'relation with OID % does not exist', parent::oid USING ERRCODE = 'undefined_table';
  ELSIF NOT pg_has_role(tbl.relowner, 'USAGE') THEN
    RAISE 'must be owner of table %', tbl.relname USING ERRCODE = 'insufficient_privilege';
  ELSIF tbl.relkind <> 'p' THEN
    RAISE '"%" is not a partitioned table', tbl.relname USING ERRCODE = 'wrong_object_type';
  ELSIF tbl.relpersistence = 't' THEN
    RAISE 'partitions of temporary table "%" are not supported', tbl.relname USING ERRCODE = 'feature_not_supported';
  ELSIF pg_get_partkeydef(parent) !~ '^RANGE [(]([[:alnum:]_]+|"([^"]|"")+")[)]$' THEN
    RAISE 'table "%" is not partitioned by range of one column', tbl.relname
      USING ERRCODE = 'wrong_object_type', DETAIL = format('It is partitioned by %s.', pg_get_partkeydef(parent));
  ELSIF (snowid.partition_key(parent)).attnum IS NULL THEN
    RAISE 'table "%" is partitioned by a column without IDs', tbl.relname
      USING ERRCODE = 'datatype_mismatch', DETAIL = 'IDs are of type bigint or uuid, and in its order.';
  END IF;
  IF NOT has_table_privilege(tbl.relowner, parent, 'UPDATE, DELETE, TRUNCATE') THEN
    RAISE 'permission denied to lock table %', tbl.relname USING ERRCODE = 'insufficient_privilege',
      HINT = 'Grant UPDATE, DELETE or TRUNCATE on it to its owner.';
  END IF;
  SELECT a.attname INTO STRICT key FROM pg_attribute AS a
   WHERE a.attrelid = parent AND a.attnum = (snowid.partition_key(parent)).attnum;
  owner := pg_get_userbyid(tbl.relowner);
END $$;
COMMENT ON FUNCTION snowid.require_partitioned(pg_catalog.regclass) IS
  'Raises an error unless a table is partitioned by ID, and owned by the caller.';

-- The layout of a table's partitions: the definition's, or else the argument.
CREATE FUNCTION snowid.layout_of_partitions(parent pg_catalog.regclass, given @extschema@.snowid_layout)
  RETURNS @extschema@.snowid_layout
  STABLE PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  said CONSTANT given%TYPE := snowid.layout_of_key(parent);
BEGIN
  IF given IS NOT NULL AND (snowid.partition_key(parent)).is_uuid THEN
    RAISE 'table % is partitioned by UUIDs, which have no layout', parent
      USING ERRCODE = 'invalid_object_definition', HINT = 'Leave the layout out.';
  ELSIF snowid.layout_ne(said, given) THEN
    RAISE 'layout of table % is "%", not "%"', parent, said, given
      USING ERRCODE = 'invalid_object_definition', DETAIL = 'The default of the partition key sets the layout.',
        HINT = 'Leave the layout out.';
  ELSIF said IS NULL AND given IS NULL THEN
    RAISE 'layout of table % is not known', parent
      USING ERRCODE = 'null_value_not_allowed',
        DETAIL = 'The default of the partition key is not a call of snowid_next() with constants.',
        HINT = 'Pass it in the argument "layout".';
  ELSIF NOT snowid.layout_is_ordered(coalesce(said, given)) THEN
    RAISE 'IDs of layout "%" are not in the order of their time', coalesce(said, given)
      USING ERRCODE = 'invalid_parameter_value', DETAIL = 'No range of them is a range of time.';
  END IF;
  RETURN coalesce(said, given);
END $$;
COMMENT ON FUNCTION snowid.layout_of_partitions(pg_catalog.regclass, @extschema@.snowid_layout) IS 'Returns the layout of a table''s partitions.';

-- Start of the period (UTC) of a moment. Periods of several days are counted from a Monday, to start with weeks.
CREATE FUNCTION snowid.period_start(step pg_catalog.interval, moment pg_catalog.timestamp) RETURNS pg_catalog.timestamp
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  months CONSTANT int := extract(year FROM step) * 12 + extract(month FROM step);
  days CONSTANT int := extract(day FROM step);
  seconds CONSTANT numeric := extract(epoch FROM step - make_interval(months => months, days => days));
  n int;
BEGIN
  IF months > 0 AND days = 0 AND seconds = 0 AND (12 % months = 0 OR months % 12 = 0) AND months <= 1200 THEN
    n := extract(year FROM moment) * 12 + extract(month FROM moment) - 1;
    n := n - n % months;
    RETURN make_timestamp(n / 12, n % 12 + 1, 1, 0, 0, 0);
  ELSIF months = 0 AND days BETWEEN 1 AND 36525 AND seconds = 0 THEN
    n := floor((moment::date - '2000-01-03'::date)::numeric / days);
    RETURN '2000-01-03'::date + n * days;
  ELSIF months = 0 AND days = 0 AND seconds >= 3600 AND seconds % 3600 = 0 AND 86400 % seconds = 0 THEN
    n := extract(hour FROM moment);
    RETURN date_trunc('day', moment) + make_interval(hours => n - n % (seconds / 3600)::int);
  END IF;
  RAISE '"%" is not a valid step between partitions', step
    USING ERRCODE = 'invalid_parameter_value', DETAIL = 'It can be 1, 2, 3, 4 or 6 months or whole years; weeks or days; '
      'or 1, 2, 3, 4, 6, 8, 12 or 24 hours; and 100 years at most.';
END $$;
COMMENT ON FUNCTION snowid.period_start(pg_catalog.interval, pg_catalog.timestamp) IS 'Returns the start of a month, day, or other step.';

-- A partition's name: the table's name and the date, to the second unless a period starts there. If too long, a hash of
-- the table's name makes it unique.
CREATE FUNCTION snowid.partition_name(tbl pg_catalog.text, step pg_catalog.interval, begins pg_catalog.timestamp)
  RETURNS pg_catalog.text
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  is_whole CONSTANT boolean := snowid.period_start(step, begins) = begins;
  longest CONSTANT int := current_setting('max_identifier_length')::int;
  hash CONSTANT text := '_' || lpad(to_hex(hashtext(tbl)), 8, '0');
  date text;
BEGIN
  date := to_char(begins, CASE
    WHEN is_whole AND extract(year FROM step) >= 1 THEN '_YYYY'
    WHEN is_whole AND extract(month FROM step) >= 1 THEN '_YYYY_MM'
    WHEN extract(minute FROM begins) <> 0 OR trunc(extract(second FROM begins)) <> 0 THEN '_YYYY_MM_DD_HH24MISS'
    WHEN extract(hour FROM begins) <> 0 OR is_whole AND extract(day FROM step) = 0 THEN '_YYYY_MM_DD_HH24'
    ELSE '_YYYY_MM_DD' END);
  IF octet_length(tbl || date) <= longest THEN RETURN tbl || date; END IF;
  WHILE octet_length(tbl || hash || date) > longest LOOP tbl := left(tbl, -1); END LOOP;
  RETURN tbl || hash || date;
END $$;
COMMENT ON FUNCTION snowid.partition_name(pg_catalog.text, pg_catalog.interval, pg_catalog.timestamp) IS 'Returns the name of a new partition.';

-- The bound of a partition, at the first ID of a time unit.
CREATE FUNCTION snowid.bound_of(id bigint, layout @extschema@.snowid_layout, is_uuid boolean) RETURNS pg_catalog.text
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE SQL
  RETURN CASE WHEN is_uuid THEN snowid.first_uuidv7_from(@extschema@.snowid_timestamp(id, layout))::pg_catalog.text
    ELSE id::pg_catalog.text END;
COMMENT ON FUNCTION snowid.bound_of(bigint, @extschema@.snowid_layout, boolean) IS 'Returns an ID as a bound of a partition.';

-- Missing partitions up to a moment, oldest first: from the current one, or from the end of the last one that begins
-- before now; including gaps between later ones. A partition holds the IDs whose time unit begins within its period.
-- Bounds are the calendar's, except next to a partition of another width or one made by hand, where it is shorter; no
-- ID is left between two. "next" and the upper bound are null if the layout ends within it. All checks are here.
CREATE FUNCTION snowid.missing_partitions(parent pg_catalog.regclass, step pg_catalog.interval,
    until pg_catalog.timestamptz, given @extschema@.snowid_layout,
    OUT name pg_catalog.text, OUT first bigint, OUT next bigint, OUT lower_bound pg_catalog.text, OUT upper_bound pg_catalog.text)
  RETURNS SETOF pg_catalog.record
  STABLE PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  most CONSTANT int := 1000;
  is_uuid CONSTANT boolean := (snowid.partition_key(parent)).is_uuid;
  layout given%TYPE;
  greatest_id bigint;
  tbl CONSTANT text := (SELECT c.relname FROM pg_class AS c WHERE c.oid = parent);
  now_first bigint;
  count int := 0;
  begins timestamp;
  period timestamp;
  there record;
BEGIN
  PERFORM snowid.require_partitioned(parent);
  layout := snowid.layout_of_partitions(parent, given);
  -- Raises an error for a moment beyond the layout.
  PERFORM snowid.first_at(until, layout, is_uuid);
  PERFORM snowid.period_start(step, until AT TIME ZONE 'UTC');
  -- A month counts as 27 days.
  IF (extract(epoch FROM step) * CASE WHEN step >= '1 month' THEN 0.9 ELSE 1 END < extract(epoch FROM snowid.unit_of(layout))) THEN
    RAISE '"%" is shorter than the unit of time of ID layout "%"', step, layout USING ERRCODE = 'invalid_parameter_value';
  END IF;
  greatest_id := snowid.last_before('infinity', layout);
  now_first := snowid.first_of_unit(clock_timestamp(), layout);
  SELECT r.next, r.upper_bound INTO first, lower_bound FROM snowid.ranges_of(parent) AS r
   WHERE NOT r.is_default AND coalesce(r.first <= now_first, true)
   ORDER BY r.next DESC NULLS FIRST, r.upper_bound DESC LIMIT 1;
  IF FOUND AND first IS NULL THEN
    RETURN;
  ELSIF NOT FOUND THEN
    -- The current time unit's period, which may be the previous one.
    begins := snowid.timestamp_of(snowid.first_at(clock_timestamp(), layout, is_uuid), layout) AT TIME ZONE 'UTC';
    first := snowid.first_from(snowid.period_start(step, begins) AT TIME ZONE 'UTC', layout);
  END IF;
  IF first < 0 THEN
    first := 0;
    lower_bound := NULL;
  END IF;
  -- Up to each existing partition, and after the last one.
  FOR there IN
    SELECT r.first, r.next, r.lower_bound, r.upper_bound FROM snowid.ranges_of(parent) AS r
     WHERE r.first >= missing_partitions.first
    UNION ALL SELECT NULL, NULL, NULL, NULL ORDER BY 1, 3
  LOOP
    WHILE first <= greatest_id AND coalesce(first < there.first, true) LOOP
      begins := snowid.timestamp_of(first, layout) AT TIME ZONE 'UTC';
      period := snowid.period_start(step, begins);
      next := snowid.first_from((period + step) AT TIME ZONE 'UTC', layout);
      -- Time units need not begin with periods.
      IF first = snowid.first_from(period AT TIME ZONE 'UTC', layout) AND first > 0 THEN begins := period; END IF;
      IF begins AT TIME ZONE 'UTC' > until THEN RETURN; END IF;
      count := count + 1;
      IF count > most THEN
        RAISE 'cannot create more than % partitions at once', most
          USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('The first %s would end at %s.', most, begins AT TIME ZONE 'UTC'),
            HINT = 'Use a longer step, or several calls, each in a transaction of its own.';
      END IF;
      name := snowid.partition_name(tbl, step, begins);
      next := nullif(least(next, there.first), 9223372036854775807);
      -- A neighbor's bound is exact. One of UUIDs can lie among the UUIDs of one place in the order of time.
      lower_bound := coalesce(lower_bound, snowid.bound_of(first, layout, is_uuid));
      upper_bound := CASE WHEN next = there.first THEN there.lower_bound ELSE snowid.bound_of(next, layout, is_uuid) END;
      RETURN NEXT;
      first := next;
      lower_bound := upper_bound;
    END LOOP;
    first := there.next;
    lower_bound := there.upper_bound;
  END LOOP;
END $$;
COMMENT ON FUNCTION snowid.missing_partitions(pg_catalog.regclass, pg_catalog.interval, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'Returns the partitions for snowid.create_partitions() to create.';

-- Raises 55000 if the default partition has rows of missing partitions, with a hint to move them. They are not moved
-- here, because triggers and foreign keys of the table may act on it. Moments are printed in a form every session can
-- read.
CREATE FUNCTION snowid.refuse_rows_by_default(parent pg_catalog.regclass, step pg_catalog.interval,
    until pg_catalog.timestamptz, given @extschema@.snowid_layout)
  RETURNS pg_catalog.void
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET row_security = off
  SET datestyle = 'ISO' AS $$
DECLARE
  key CONSTANT name := (snowid.require_partitioned(parent)).key;
  owner CONSTANT name := (snowid.require_partitioned(parent)).owner;
  rest regclass;
  condition text;
  columns text;
  count bigint;
BEGIN
  SELECT p.partdefid INTO rest FROM pg_partitioned_table AS p WHERE p.partrelid = parent AND p.partdefid <> 0;
  IF NOT FOUND THEN RETURN; END IF;
  SELECT concat_ws(' AND ', format('%I >= %L', key, (array_agg(m.lower_bound ORDER BY m.first))[1]),
      CASE WHEN bool_and(m.next IS NOT NULL) THEN format('%I < %L', key, (array_agg(m.upper_bound ORDER BY m.first DESC))[1]) END)
    INTO condition FROM snowid.missing_partitions(parent, step, until, given) AS m HAVING count(*) > 0;
  IF NOT FOUND THEN RETURN; END IF;
  count := snowid.execute(owner, format('SELECT pg_catalog.count(*) FROM %s WHERE %s', rest, condition));
  IF count = 0 THEN RETURN; END IF;
  SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) INTO columns FROM pg_attribute AS a
   WHERE a.attrelid = parent AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '';
  RAISE 'default partition % has rows of new partitions', rest
    USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = format('Rows where %s: %s.', condition, count),
      HINT = concat_ws(E'\n', 'These statements move them. Many rows are better moved in batches, see docs/partitions.md.',
        'BEGIN;',
        format('ALTER TABLE %s DETACH PARTITION %s;', parent, rest),
        format('SELECT snowid.create_partitions(%L, %L, %L%s);', parent, step, until,
          CASE WHEN given IS NULL THEN '' ELSE format(', %L', given) END),
        format('INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM %s WHERE %s;', parent, columns, columns, rest, condition),
        format('DELETE FROM %s WHERE %s;', rest, condition),
        format('ALTER TABLE %s ATTACH PARTITION %s DEFAULT;', parent, rest), 'COMMIT;');
END $$;
COMMENT ON FUNCTION snowid.refuse_rows_by_default(pg_catalog.regclass, pg_catalog.interval, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'Raises an error if the default partition holds rows of new partitions.';

-- Creates one partition, as PostgreSQL's own statement, and publishes its changes as the table's.
CREATE FUNCTION snowid.create_partition(parent pg_catalog.regclass, part pg_catalog.text, lower_bound pg_catalog.text,
    upper_bound pg_catalog.text)
  RETURNS pg_catalog.regclass
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  made regclass;
  identity text;
BEGIN
  PERFORM snowid.execute(pg_get_userbyid(c.relowner), format('CREATE %sTABLE %I.%I PARTITION OF %s FOR VALUES FROM (%L) TO (%s)',
      CASE c.relpersistence WHEN 'u' THEN 'UNLOGGED ' END, n.nspname, part, parent, lower_bound,
      coalesce(quote_literal(upper_bound), 'MAXVALUE')))
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = parent;
  SELECT i.inhrelid INTO made FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
   WHERE i.inhparent = parent AND c.relname = part;
  IF NOT FOUND THEN
    RAISE 'partition "%" of table % no longer exists', part, parent USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  SELECT CASE c.relreplident WHEN 'f' THEN 'FULL' WHEN 'n' THEN 'NOTHING' WHEN 'i' THEN
      (SELECT format('USING INDEX %I', o.relname) FROM pg_index AS i
         JOIN pg_inherits AS h ON h.inhparent = i.indexrelid JOIN pg_index AS j ON j.indexrelid = h.inhrelid
         JOIN pg_class AS o ON o.oid = j.indexrelid
        WHERE i.indrelid = parent AND i.indisreplident AND j.indrelid = made) END
    INTO identity FROM pg_class AS c WHERE c.oid = parent;
  IF identity IS NOT NULL THEN
    PERFORM snowid.execute(pg_get_userbyid(c.relowner), format('ALTER TABLE %s REPLICA IDENTITY %s', made, identity))
      FROM pg_class AS c WHERE c.oid = parent;
  END IF;
  RETURN made;
END $$;
COMMENT ON FUNCTION snowid.create_partition(pg_catalog.regclass, pg_catalog.text, pg_catalog.text, pg_catalog.text) IS 'Creates a partition.';

CREATE FUNCTION snowid.create_partitions(parent pg_catalog.regclass, step pg_catalog.interval,
    until pg_catalog.timestamptz, layout @extschema@.snowid_layout DEFAULT NULL)
  RETURNS SETOF pg_catalog.regclass
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  patience CONSTANT text := current_setting('lock_timeout');
  missing record;
BEGIN
  IF parent IS NULL OR step IS NULL OR until IS NULL THEN
    RAISE 'table, step and moment must not be null' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  PERFORM snowid.require_read_committed('snowid.create_partitions');
  -- First without a lock: no session waits if there is nothing to do.
  IF NOT EXISTS (SELECT FROM snowid.missing_partitions(parent, step, until, layout)) THEN RETURN; END IF;

  -- The locks of this check are released, or two callers would wait for each other.
  BEGIN
    PERFORM snowid.refuse_rows_by_default(parent, step, until, layout);
    RAISE SQLSTATE 'SN000';
  EXCEPTION WHEN SQLSTATE 'SN000' THEN NULL;
  END;
  -- In the order of PostgreSQL's own statement: tables at the other end of foreign keys first.
  PERFORM snowid.lock_tables(array_agg(l.relid ORDER BY l.place, l.relid), array_agg(l.mode ORDER BY l.place, l.relid))
    FROM (SELECT c.confrelid, 'SHARE ROW EXCLUSIVE', 1 FROM pg_constraint AS c
           WHERE c.conrelid = parent AND c.contype = 'f' AND c.confrelid <> parent
          UNION SELECT c.conrelid, 'SHARE ROW EXCLUSIVE', 1 FROM pg_constraint AS c
           WHERE c.confrelid = parent AND c.contype = 'f' AND c.conrelid <> parent
          UNION SELECT parent, 'ACCESS EXCLUSIVE', 2
          UNION SELECT t.relid, 'ACCESS EXCLUSIVE', 3 FROM pg_partitioned_table AS p, snowid.tree_of(p.partdefid) AS t (relid)
           WHERE p.partrelid = parent) AS l (relid, mode, place);
  -- Meanwhile other sessions may have created some, or changed the layout, or inserted rows.
  BEGIN
    FOR missing IN SELECT m.name, m.lower_bound, m.upper_bound FROM snowid.missing_partitions(parent, step, until, layout) AS m LOOP
      RETURN NEXT snowid.create_partition(parent, missing.name, missing.lower_bound, missing.upper_bound);
    END LOOP;
  EXCEPTION WHEN check_violation THEN
    PERFORM snowid.refuse_rows_by_default(parent, step, until, layout);
    RAISE;
  END;
  PERFORM set_config('lock_timeout', patience, true);
END $$;
COMMENT ON FUNCTION snowid.create_partitions(pg_catalog.regclass, pg_catalog.interval, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'Creates the missing partitions of a table up to a moment, and returns them.';

CREATE VIEW snowid.partitions AS
  SELECT p.partrelid::pg_catalog.regclass AS parent, r.relid::pg_catalog.regclass AS partition,
    CASE WHEN NOT k.is_uuid THEN s.layout END AS layout,
    CASE WHEN r.is_default THEN NULL
      WHEN r.first IS NULL OR r.first OPERATOR(pg_catalog.<) 0::bigint THEN '-infinity'
      WHEN r.first OPERATOR(pg_catalog.>) g.id THEN 'infinity'
      ELSE @extschema@.snowid_timestamp(r.first, s.layout) END AS range_start,
    CASE WHEN r.is_default THEN NULL
      WHEN r.next OPERATOR(pg_catalog.<) 0::bigint THEN '-infinity'
      WHEN r.next IS NULL OR r.next OPERATOR(pg_catalog.>) g.id THEN 'infinity'
      ELSE @extschema@.snowid_timestamp(r.next, s.layout) END AS range_end,
    r.is_default,
    CASE WHEN c.relkind OPERATOR(pg_catalog.=) 'p'::pg_catalog."char"
      THEN (SELECT pg_catalog.sum(NULLIF(l.reltuples, '-1'::pg_catalog.float4))
              FROM snowid.tree_of(c.oid) AS t (relid)
              JOIN pg_catalog.pg_class AS l ON l.oid OPERATOR(pg_catalog.=) t.relid
             WHERE l.relkind OPERATOR(pg_catalog.<>) 'p'::pg_catalog."char")
      ELSE NULLIF(c.reltuples, '-1'::pg_catalog.float4) END::bigint AS estimated_rows
  FROM pg_catalog.pg_partitioned_table AS p,
    LATERAL snowid.partition_key(p.partrelid) AS k,
    LATERAL snowid.layout_of_key(p.partrelid) AS s (layout),
    LATERAL (SELECT CASE WHEN snowid.layout_is_ordered(s.layout) THEN snowid.last_before('infinity', s.layout) END) AS g (id),
    LATERAL snowid.ranges_of(p.partrelid) AS r
  JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) r.relid
  WHERE s.layout IS NOT NULL;
COMMENT ON VIEW snowid.partitions IS 'partitions by IDs or UUIDs';
COMMENT ON COLUMN snowid.partitions.parent IS 'partitioned table';
COMMENT ON COLUMN snowid.partitions.partition IS 'partition';
COMMENT ON COLUMN snowid.partitions.layout IS 'layout of the IDs; null for UUIDs';
COMMENT ON COLUMN snowid.partitions.range_start IS 'time of the first ID';
COMMENT ON COLUMN snowid.partitions.range_end IS 'time of the first ID after the partition';
COMMENT ON COLUMN snowid.partitions.is_default IS 'true for the default partition';
COMMENT ON COLUMN snowid.partitions.estimated_rows IS 'rows estimated by ANALYZE or VACUUM';
-- Past partitions: dropped, or detached. See partitions.sql.

-- Partitions that end before an ID and before current IDs, oldest first: candidates to drop or detach.
CREATE FUNCTION snowid.past_partitions(parent pg_catalog.regclass, least_kept bigint, layout @extschema@.snowid_layout)
  RETURNS SETOF pg_catalog.regclass
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY SELECT r.relid::regclass FROM snowid.ranges_of(parent) AS r
   WHERE NOT r.is_default AND NOT r.is_leaving
     AND r.next <= least(least_kept, snowid.first_of_unit(clock_timestamp(), layout))
   ORDER BY r.next;
END $$;
COMMENT ON FUNCTION snowid.past_partitions(pg_catalog.regclass, bigint, @extschema@.snowid_layout) IS 'Returns the partitions of earlier IDs.';

-- Without a default, the layout is only the caller's claim, and a wrong one could take current rows for old ones. The
-- bounds must confirm it: those of the partitions to drop are whole minutes in this layout (in another they are not),
-- and there is a current or future partition.
CREATE FUNCTION snowid.require_bounds_of(parent pg_catalog.regclass, layout @extschema@.snowid_layout,
    past pg_catalog.oid[])
  RETURNS pg_catalog.void
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (
      SELECT FROM snowid.ranges_of(parent) AS r, LATERAL (VALUES (r.first), (r.next)) AS b (id)
       WHERE r.relid = ANY (past) AND b.id <> 0
         AND (b.id <> snowid.first_at(snowid.timestamp_of(b.id, layout), layout, false)
           OR date_trunc('minute', snowid.timestamp_of(b.id, layout)) <> snowid.timestamp_of(b.id, layout)))
      OR NOT EXISTS (
      SELECT FROM snowid.ranges_of(parent) AS r
       WHERE NOT r.is_default AND coalesce(r.next > snowid.first_of_unit(clock_timestamp(), layout), true)) THEN
    RAISE 'partitions of table % are not by layout "%"', parent, layout
      USING ERRCODE = 'invalid_object_definition',
        DETAIL = 'With this layout, their bounds are not whole minutes, or there is no current or future partition.',
        HINT = 'If the layout is right, use it in the column''s default.';
  END IF;
END $$;
COMMENT ON FUNCTION snowid.require_bounds_of(pg_catalog.regclass, @extschema@.snowid_layout, pg_catalog.oid[]) IS
  'Raises an error if a layout does not fit the partitions'' bounds.';

-- UUIDs of other versions lie anywhere, new ones among old ones. A validated constraint must exclude them. It is a call
-- of this function by its text, in which the column may be cast from a domain, and calls no overload by its dependency.
CREATE FUNCTION snowid.require_uuidv7(parent pg_catalog.regclass) RETURNS pg_catalog.void
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
DECLARE
  key CONSTANT name := (snowid.require_partitioned(parent)).key;
  function CONSTANT text := snowid.extension_prefix() || 'snowid_is_uuidv7';
BEGIN
  IF NOT EXISTS (SELECT FROM pg_constraint AS c
      JOIN pg_depend AS d ON d.classid = 'pg_constraint'::regclass AND d.objid = c.oid
        AND d.refclassid = 'pg_proc'::regclass AND d.refobjid = to_regprocedure(function || '(uuid)')
     WHERE c.conrelid = parent AND c.contype = 'c' AND c.convalidated
       AND pg_get_expr(c.conbin, parent) IN (format('%s(%I)', function, key), format('%s((%I)::uuid)', function, key))) THEN
    RAISE 'table % may have UUIDs of other versions than 7', parent
      USING ERRCODE = 'invalid_object_definition', DETAIL = 'New UUIDs of other versions lie among old ones of version 7, and would be dropped with them.',
        HINT = format('Use ALTER TABLE %s ADD CHECK (%s(%I)).', parent, function, key);
  END IF;
END $$;
COMMENT ON FUNCTION snowid.require_uuidv7(pg_catalog.regclass) IS
  'Raises an error unless a constraint keeps UUIDs of other versions out.';

-- Partitions that may be dropped or detached, oldest first, at most max_partitions; their names, qualified. All checks
-- are here. Against mistakes: the current partition and all later ones stay, whatever the arguments; and at least one
-- partition always stays.
CREATE FUNCTION snowid.removable_partitions(parent pg_catalog.regclass, before pg_catalog.timestamptz,
    given @extschema@.snowid_layout, max_partitions int,
    OUT relid pg_catalog.regclass, OUT name pg_catalog.text, OUT is_foreign boolean)
  RETURNS SETOF pg_catalog.record
  STABLE PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  owner CONSTANT name := (snowid.require_partitioned(parent)).owner;
  layout CONSTANT given%TYPE := snowid.layout_of_partitions(parent, given);
  past regclass[];
  others record;
BEGIN
  -- Nothing is older than the layout. Raises an error for a moment after its end.
  IF snowid.last_before(before + interval '1 us', layout) < 0 THEN RETURN; END IF;
  PERFORM snowid.first_at(before, layout, (snowid.partition_key(parent)).is_uuid);
  IF before > clock_timestamp() THEN
    RAISE 'cannot remove partitions of the future'
      USING ERRCODE = 'invalid_parameter_value', DETAIL = format('The time is %s, and the argument is %s.', clock_timestamp(), before);
  END IF;
  past := ARRAY(SELECT snowid.past_partitions(parent, snowid.first_of_unit(before, layout), layout));
  IF past = '{}' THEN RETURN; END IF;

  IF (snowid.partition_key(parent)).is_uuid THEN
    PERFORM snowid.require_uuidv7(parent);
  ELSIF snowid.layout_of_key(parent) IS NULL THEN
    PERFORM snowid.require_bounds_of(parent, layout, past::oid[]);
  END IF;
  -- The statements run as the table's owner, who cannot drop tables of other owners.
  SELECT c.oid::regclass AS part, pg_get_userbyid(c.relowner) AS owner INTO others
    FROM unnest(past[:max_partitions]) WITH ORDINALITY AS p (part, place) JOIN pg_class AS c ON c.oid = p.part
   WHERE NOT pg_has_role(owner, c.relowner, 'USAGE') ORDER BY p.place LIMIT 1;
  IF FOUND THEN
    RAISE 'partition % does not belong to the owner of table %', others.part, parent
      USING ERRCODE = 'insufficient_privilege',
        DETAIL = format('It belongs to role "%s", the table to "%s".', others.owner, owner),
        HINT = format('Use ALTER TABLE %s OWNER TO %I.', others.part, owner);
  END IF;
  IF cardinality(past) = (SELECT count(*) FROM snowid.ranges_of(parent) AS r
       WHERE NOT r.is_default AND NOT r.is_leaving) THEN
    RAISE 'cannot remove all partitions of table %', parent
      USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = format('All of them end before %s.', before),
        HINT = 'First create current ones with snowid.create_partitions().';
  END IF;
  RETURN QUERY SELECT p.part, format('%I.%I', n.nspname, c.relname), c.relkind = 'f'
    FROM unnest(past[:max_partitions]) WITH ORDINALITY AS p (part, place)
    JOIN pg_class AS c ON c.oid = p.part JOIN pg_namespace AS n ON n.oid = c.relnamespace ORDER BY p.place;
END $$;
COMMENT ON FUNCTION snowid.removable_partitions(pg_catalog.regclass, pg_catalog.timestamptz, @extschema@.snowid_layout, int) IS
  'Returns the partitions before a moment, if they can be dropped or detached.';

-- Drops or detaches partitions that end before a moment, oldest first; returns their names, qualified.
CREATE FUNCTION snowid.remove_partitions(parent pg_catalog.regclass, before pg_catalog.timestamptz,
    given @extschema@.snowid_layout, max_partitions int, is_drop boolean, OUT relid pg_catalog.regclass, OUT name pg_catalog.text)
  RETURNS SETOF pg_catalog.record
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  patience CONSTANT text := current_setting('lock_timeout');
  owner name;
  is_referred boolean;
  is_foreign boolean;
BEGIN
  IF parent IS NULL OR before IS NULL OR max_partitions IS NULL THEN
    RAISE 'table, moment and number must not be null' USING ERRCODE = 'null_value_not_allowed';
  ELSIF max_partitions < 1 THEN
    RAISE 'number of partitions out of range: %', max_partitions USING ERRCODE = 'invalid_parameter_value';
  END IF;
  PERFORM snowid.require_read_committed(CASE WHEN is_drop THEN 'snowid.drop_partitions' ELSE 'snowid.detach_partitions' END);
  -- First without a lock: no session waits if there is nothing to do.
  IF NOT EXISTS (SELECT FROM snowid.removable_partitions(parent, before, given, max_partitions)) THEN RETURN; END IF;

  -- In the order of PostgreSQL's own statements: tables at the other end of foreign keys first.
  PERFORM snowid.lock_tables(array_agg(l.relid ORDER BY l.place, l.relid), array_agg(l.mode ORDER BY l.place, l.relid))
    FROM (SELECT EXISTS (SELECT FROM pg_constraint AS c WHERE c.confrelid = parent AND c.contype = 'f')) AS r (is_referred),
      LATERAL (
          SELECT c.confrelid, CASE WHEN is_drop THEN 'ACCESS EXCLUSIVE' ELSE 'SHARE ROW EXCLUSIVE' END, 1
            FROM pg_constraint AS c
           WHERE c.conrelid = parent AND c.contype = 'f' AND c.confrelid <> parent AND (r.is_referred OR NOT is_drop)
          UNION SELECT c.conrelid, 'ACCESS EXCLUSIVE', 1 FROM pg_constraint AS c
           WHERE c.confrelid = parent AND c.contype = 'f' AND c.conrelid <> parent
          UNION SELECT parent, 'ACCESS EXCLUSIVE', 2
          UNION SELECT p.partdefid, 'ACCESS EXCLUSIVE', 3 FROM pg_partitioned_table AS p WHERE p.partrelid = parent AND p.partdefid <> 0
          UNION SELECT t.relid, 'ACCESS EXCLUSIVE', 3
            FROM snowid.removable_partitions(parent, before, given, max_partitions) AS p, snowid.tree_of(p.relid) AS t (relid))
      AS l (relid, mode, place);
  -- Each is looked up just before it is dropped: statements run user code, which can change anything.
  FOR n IN 1 .. max_partitions LOOP
    SELECT p.relid, p.name, p.is_foreign, (snowid.require_partitioned(parent)).owner,
        EXISTS (SELECT FROM pg_constraint AS c WHERE c.confrelid = parent AND c.contype = 'f')
      INTO relid, name, is_foreign, owner, is_referred
      FROM snowid.removable_partitions(parent, before, given, 1) AS p;
    EXIT WHEN NOT FOUND;
    -- Detaching checks foreign keys to its rows; if there can be none, dropping takes weaker locks.
    IF is_referred OR NOT is_drop THEN
      PERFORM snowid.execute(owner, format('ALTER TABLE %s DETACH PARTITION %s', parent, name));
    END IF;
    IF is_drop THEN
      IF is_referred AND NOT EXISTS (SELECT FROM pg_class AS c WHERE c.oid = to_regclass(name) AND c.oid = relid AND NOT c.relispartition) THEN
        RAISE 'a partition of table % no longer exists', parent USING ERRCODE = 'object_not_in_prerequisite_state';
      END IF;
      PERFORM snowid.execute(owner, format('DROP %sTABLE %s', CASE WHEN is_foreign THEN 'FOREIGN ' END, name));
    END IF;
    -- If it could not be locked before, its statement waits for it, then uses the name.
    IF EXISTS (SELECT FROM pg_class AS c WHERE c.oid = relid AND (is_drop OR c.relispartition)) THEN
      RAISE 'a partition of table % was renamed', parent USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    RETURN NEXT;
  END LOOP;
  PERFORM set_config('lock_timeout', patience, true);
END $$;
COMMENT ON FUNCTION snowid.remove_partitions(pg_catalog.regclass, pg_catalog.timestamptz, @extschema@.snowid_layout, int, boolean) IS
  'Drops or detaches partitions before a moment.';

-- Limited, because each takes several entries of the server's lock table until the transaction ends.
CREATE FUNCTION snowid.drop_partitions(parent pg_catalog.regclass, before pg_catalog.timestamptz,
    layout @extschema@.snowid_layout DEFAULT NULL, max_partitions int DEFAULT 100)
  RETURNS SETOF pg_catalog.text
  VOLATILE PARALLEL UNSAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT r.name FROM snowid.remove_partitions(parent, before, layout, max_partitions, true) AS r;
END;
COMMENT ON FUNCTION snowid.drop_partitions(pg_catalog.regclass, pg_catalog.timestamptz, @extschema@.snowid_layout, int) IS
  'Drops the partitions before a moment, oldest first, and returns their names.';

CREATE FUNCTION snowid.detach_partitions(parent pg_catalog.regclass, before pg_catalog.timestamptz,
    layout @extschema@.snowid_layout DEFAULT NULL, max_partitions int DEFAULT 100)
  RETURNS SETOF pg_catalog.regclass
  VOLATILE PARALLEL UNSAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT r.relid FROM snowid.remove_partitions(parent, before, layout, max_partitions, false) AS r;
END;
COMMENT ON FUNCTION snowid.detach_partitions(pg_catalog.regclass, pg_catalog.timestamptz, @extschema@.snowid_layout, int) IS
  'Detaches the partitions before a moment, oldest first, and returns them.';
-- Statistics: their reset

CREATE FUNCTION snowid.reset_stats() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_reset_stats';
COMMENT ON FUNCTION snowid.reset_stats() IS 'Resets all statistics of this database.';

-- Statistics of shards. A role that may read the view must be allowed to call its function.

CREATE FUNCTION snowid.shard_statistics(OUT layout @extschema@.snowid_layout, OUT shard bigint, OUT issued bigint,
    OUT last_id bigint)
  RETURNS SETOF pg_catalog.record
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_shard_statistics';
COMMENT ON FUNCTION snowid.shard_statistics() IS 'implementation of view snowid.stat_shards';

CREATE VIEW snowid.stat_shards AS
  SELECT s.layout, s.shard, s.issued, s.last_id, @extschema@.snowid_timestamp(s.last_id, s.layout) AS last_time,
    GREATEST(pg_catalog."extract"('epoch'::pg_catalog.text, @extschema@.snowid_timestamp(s.last_id, s.layout)
      OPERATOR(pg_catalog.-) pg_catalog.clock_timestamp()) OPERATOR(pg_catalog.*) 1000::numeric,
      0::numeric)::double precision AS lead,
    (@extschema@.snowid_describe_layout(s.layout)).expires_at
  FROM snowid.shard_statistics() AS s;
COMMENT ON VIEW snowid.stat_shards IS 'statistics of shards';
COMMENT ON COLUMN snowid.stat_shards.layout IS 'layout of the IDs';
COMMENT ON COLUMN snowid.stat_shards.shard IS 'shard';
COMMENT ON COLUMN snowid.stat_shards.issued IS 'IDs issued';
COMMENT ON COLUMN snowid.stat_shards.last_id IS 'last ID issued';
COMMENT ON COLUMN snowid.stat_shards.last_time IS 'time of the last ID';
COMMENT ON COLUMN snowid.stat_shards.lead IS 'lead of last_time over the clock, in milliseconds';
COMMENT ON COLUMN snowid.stat_shards.expires_at IS 'expiration time of the layout';

-- Statistics of the database

CREATE FUNCTION snowid.database_statistics(OUT ceiling pg_catalog.timestamptz, OUT ceiling_raises bigint,
    OUT wal_flushes bigint, OUT wal_flush_time double precision, OUT waits bigint, OUT wait_time double precision,
    OUT errors bigint, OUT backward_clock_steps bigint, OUT max_lead double precision, OUT ids_memory bigint,
    OUT kinds_memory bigint, OUT counters_memory bigint, OUT total_memory bigint, OUT stats_reset pg_catalog.timestamptz)
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_database_statistics';
COMMENT ON FUNCTION snowid.database_statistics() IS 'implementation of view snowid.stat_database';

CREATE VIEW snowid.stat_database AS
  SELECT pg_catalog.current_database() AS database, s.ceiling, s.ceiling_raises, s.wal_flushes, s.wal_flush_time,
    s.waits, s.wait_time, s.errors, s.backward_clock_steps, s.max_lead,
    s.ids_memory, s.kinds_memory, s.counters_memory, s.total_memory, s.stats_reset
  FROM snowid.database_statistics() s;
COMMENT ON VIEW snowid.stat_database IS 'statistics of this database';
COMMENT ON COLUMN snowid.stat_database.database IS 'name of the database';
COMMENT ON COLUMN snowid.stat_database.ceiling IS 'durable upper bound on all IDs'' times';
COMMENT ON COLUMN snowid.stat_database.ceiling_raises IS 'number of times the ceiling was raised';
COMMENT ON COLUMN snowid.stat_database.wal_flushes IS 'waits for WAL flush and synchronous standbys';
COMMENT ON COLUMN snowid.stat_database.wal_flush_time IS 'total time of these waits, in milliseconds';
COMMENT ON COLUMN snowid.stat_database.waits IS 'waits for the clock';
COMMENT ON COLUMN snowid.stat_database.wait_time IS 'total time of waits, in milliseconds';
COMMENT ON COLUMN snowid.stat_database.errors IS 'number of failed calls';
COMMENT ON COLUMN snowid.stat_database.backward_clock_steps IS 'backward clock steps of over 5 ms';
COMMENT ON COLUMN snowid.stat_database.max_lead IS 'greatest lead of an ID, in milliseconds';
COMMENT ON COLUMN snowid.stat_database.ids_memory IS 'bytes of shared memory for IDs';
COMMENT ON COLUMN snowid.stat_database.kinds_memory IS 'bytes of shared memory for UUIDs and ObjectIDs';
COMMENT ON COLUMN snowid.stat_database.counters_memory IS 'bytes of shared memory for counters';
COMMENT ON COLUMN snowid.stat_database.total_memory IS 'bytes of shared memory allocated by snowid';
COMMENT ON COLUMN snowid.stat_database.stats_reset IS 'time of the last statistics reset';
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
-- Rights and owners. Every object has the rights stated in this file and no others: those of default privileges are
-- replaced. All roles in it exist in every cluster and cannot be dropped. The owner is the bootstrap superuser, whoever
-- creates the extension: before PostgreSQL 17, the OID of a dropped role stays in pg_init_privs, and pg_dump writes it
-- into each dump.

SET LOCAL search_path = pg_catalog, pg_temp;
DO $$
DECLARE
  owner CONSTANT name := (SELECT r.rolname FROM pg_roles AS r WHERE r.oid = 10 AND r.rolsuper);
  member record;
BEGIN
  FOR member IN
    SELECT o.name, o.owner, o.is_granted, (
        SELECT string_agg(DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END, ', ')
          FROM aclexplode(o.acl) AS a WHERE a.grantee <> o.owner) AS grantees
      FROM pg_extension AS e
      JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
      CROSS JOIN LATERAL (
        SELECT format('SCHEMA %s', n.oid::regnamespace) AS name, n.nspowner AS owner, true AS is_granted,
            n.nspacl AS acl
          FROM pg_namespace AS n WHERE d.classid = 'pg_namespace'::regclass AND n.oid = d.objid
        UNION ALL
        SELECT format('TABLE %s', c.oid::regclass), c.relowner, true, c.relacl
          FROM pg_class AS c WHERE d.classid = 'pg_class'::regclass AND c.oid = d.objid
        UNION ALL
        SELECT format('FUNCTION %s', p.oid::regprocedure), p.proowner, true, coalesce(p.proacl, acldefault('f', p.proowner))
          FROM pg_proc AS p WHERE d.classid = 'pg_proc'::regclass AND p.oid = d.objid
        UNION ALL
        -- Unchanged rights stay unchanged, because pg_upgrade cannot transfer those of an extension's types.
        SELECT format('TYPE %s', t.oid::regtype), t.typowner, t.typacl IS NOT NULL, t.typacl
          FROM pg_type AS t WHERE d.classid = 'pg_type'::regclass AND t.oid = d.objid AND t.typelem = 0
            -- Since PostgreSQL 17, row types are members, too. They have their tables' owners.
            AND t.typrelid NOT IN (SELECT c.oid FROM pg_class AS c WHERE c.relkind <> 'c')
        UNION ALL
        SELECT format('%s %s', i.type, i.identity), x.owner, false, NULL
          FROM (SELECT oprowner AS owner FROM pg_operator WHERE d.classid = 'pg_operator'::regclass AND oid = d.objid
                UNION ALL
                SELECT opcowner FROM pg_opclass WHERE d.classid = 'pg_opclass'::regclass AND oid = d.objid
                UNION ALL
                SELECT opfowner FROM pg_opfamily WHERE d.classid = 'pg_opfamily'::regclass AND oid = d.objid) AS x,
            pg_identify_object(d.classid, d.objid, 0) AS i) AS o
     WHERE e.extname = 'snowid'
  LOOP
    IF member.owner <> 10 AND owner IS NOT NULL THEN
      EXECUTE format('ALTER %s OWNER TO %I', member.name, owner);
    END IF;
    IF member.is_granted THEN
      EXECUTE format('REVOKE ALL ON %s FROM %s', member.name, coalesce(member.grantees, 'PUBLIC'));
    END IF;
  END LOOP;
END $$;

-- PUBLIC
GRANT USAGE ON SCHEMA snowid TO PUBLIC;
GRANT SELECT ON snowid.layouts, snowid.skipped_times, snowid.node_status, snowid.released_shards, snowid.segment_sources,
  snowid.columns, snowid.partitions TO PUBLIC;
DO $$
DECLARE
  member record;
BEGIN
  FOR member IN
    SELECT CASE d.classid WHEN 'pg_proc'::regclass THEN format('EXECUTE ON FUNCTION %s', d.objid::regprocedure)
        ELSE format('USAGE ON TYPE %s', d.objid::regtype) END AS name
      FROM pg_extension AS e
      JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
      LEFT JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
      LEFT JOIN pg_type AS t ON d.classid = 'pg_type'::regclass AND t.oid = d.objid AND t.typelem = 0
     WHERE e.extname = 'snowid'
       AND (p.pronamespace <> 'snowid_internal'::regnamespace OR t.typacl IS NOT NULL)
  LOOP
    EXECUTE format('GRANT %s TO PUBLIC', member.name);
  END LOOP;
END $$;

-- Administrators, with grant option. return_to_clock() and its helpers are for superusers, because they also lower the
-- common slots of all databases.
DO $$
DECLARE
  administration CONSTANT regprocedure[] := ARRAY[
    'snowid.join(name, text)', 'snowid.check_node()', 'snowid.take_over_node()', 'snowid.accept_registry()', 'snowid.leave()',
    'snowid.release_shard(bigint, @extschema@.snowid_layout, text)',
    'snowid.accept_shard(bigint, bigint, @extschema@.snowid_layout)',
    'snowid.advance_shard(bigint, @extschema@.snowid_layout)',
    'snowid.advance_past(bigint, @extschema@.snowid_layout)', 'snowid.advance_past(timestamptz)',
    'snowid.reset_stats()',
    'snowid.register(text, text, uuid, bigint, bigint, bigint, bigint, text, text, bigint, bigint, bigint, bigint)',
    'snowid.retire_node(bigint)', 'snowid.recover_registry(bigint)'];
  statistics CONSTANT regprocedure[] := ARRAY[
    'snowid.counter_statistics()', 'snowid.database_statistics()', 'snowid.shard_statistics()'];
  superusers CONSTANT regprocedure[] := ARRAY[
    'snowid.return_to_clock(tstzmultirange)', 'snowid.future_times(regclass, name, @extschema@.snowid_layout, interval)'];
  function regprocedure;
BEGIN
  FOREACH function IN ARRAY administration || statistics || superusers LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', function);
  END LOOP;
  FOREACH function IN ARRAY administration || statistics LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO pg_database_owner WITH GRANT OPTION', function);
  END LOOP;
  FOREACH function IN ARRAY statistics LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO pg_monitor', function);
  END LOOP;
END $$;
GRANT SELECT ON snowid.stat_counters, snowid.stat_database, snowid.stat_shards, snowid.registry,
  snowid.registry_usage
  TO pg_monitor;
GRANT SELECT ON snowid.stat_counters, snowid.stat_database, snowid.stat_shards, snowid.registry,
  snowid.registry_usage
  TO pg_database_owner WITH GRANT OPTION;

-- Dumps: the owner of a database dumps and restores it, whoever created the extension.
GRANT USAGE ON SCHEMA snowid_internal TO pg_database_owner;
GRANT SELECT, INSERT ON snowid_internal.membership, snowid_internal.nodes, snowid_internal.registry_identities,
  snowid_internal.moved_shards, snowid_internal.segment_sources TO pg_database_owner;
GRANT SELECT, UPDATE ON snowid_internal.ceiling TO pg_database_owner;

-- No comment, because it belongs to the extension's owner: pg_dump would write it into each dump, and a database owner
-- could not restore it in a single transaction if a superuser created the extension. pg_available_extensions has it.
COMMENT ON EXTENSION snowid IS NULL;

-- The schema's owner can rename it at any time and create another one of its name. If that happened during this script,
-- objects of that role may have replaced others, such as types used by C functions, or an object may have the wrong
-- owner.
DO $$
BEGIN
  IF EXISTS (
    WITH member AS (
      SELECT d.classid, d.objid, e.extnamespace
        FROM pg_extension AS e
        JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
       WHERE e.extname = 'snowid'
    )
    SELECT FROM member AS m JOIN pg_depend AS d ON d.classid = m.classid AND d.objid = m.objid
     WHERE d.refobjid >= 16384 AND d.refclassid <> 'pg_extension'::regclass
       AND NOT (d.refclassid = 'pg_namespace'::regclass AND d.refobjid = m.extnamespace)
       AND (d.refclassid, d.refobjid) NOT IN (SELECT o.classid, o.objid FROM member AS o)
       AND NOT (d.refclassid = 'pg_type'::regclass AND d.refobjid IN (
         SELECT c.reltype FROM pg_class AS c JOIN member AS o ON o.classid = 'pg_class'::regclass AND o.objid = c.oid))
    UNION ALL
    -- Nothing is recorded for the bootstrap superuser.
    SELECT FROM member AS m JOIN pg_shdepend AS s ON s.classid = m.classid AND s.objid = m.objid
     WHERE s.deptype = 'o' AND s.dbid = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
       AND EXISTS (SELECT FROM pg_roles AS r WHERE r.oid = 10 AND r.rolsuper)) THEN
    RAISE 'schema of extension "snowid" was replaced while the extension was created'
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Try again.';
  END IF;
END $$;
