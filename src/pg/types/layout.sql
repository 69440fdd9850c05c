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
