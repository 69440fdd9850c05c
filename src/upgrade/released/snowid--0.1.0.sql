-- The SQL interface of snowid.
--
-- This script runs as superuser, in a schema that somebody else may have filled before. So each name is
-- written with its schema, each argument is of the exact type, and the script calls nothing but what is
-- in pg_catalog or in the schema snowid, which it makes: nobody could put anything there. What users call
-- is in the schema that they choose. Relations are in the schema snowid, and so is what only other functions call, and what
-- an administrator calls who must not run somebody else's function of that name.

\echo Use "CREATE EXTENSION snowid" to load this file. \quit

-- Fails where there is a schema of this name: whatever is in it is somebody else's.
CREATE SCHEMA snowid;
COMMENT ON SCHEMA snowid IS 'what snowid keeps, and functions that its other functions and administrators call';
REVOKE ALL ON SCHEMA snowid FROM PUBLIC;
GRANT USAGE ON SCHEMA snowid TO PUBLIC;
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
REVOKE ALL ON snowid.layouts FROM PUBLIC;
GRANT SELECT ON snowid.layouts TO PUBLIC;
-- Estimates of row counts for the planner

CREATE FUNCTION snowid.batch_support(pg_catalog.internal) RETURNS pg_catalog.internal
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_batch_support';
COMMENT ON FUNCTION snowid.batch_support(pg_catalog.internal) IS 'planner support for functions of (anything, count)';
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

CREATE FUNCTION snowid.range_first(since pg_catalog.timestamptz, until pg_catalog.timestamptz,
    layout @extschema@.snowid_layout)
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_range_first';
COMMENT ON FUNCTION snowid.range_first(pg_catalog.timestamptz, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'least ID with a time from one moment until before another; the greatest bigint if there is none';

CREATE FUNCTION snowid.range_last(since pg_catalog.timestamptz, until pg_catalog.timestamptz,
    layout @extschema@.snowid_layout)
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_range_last';
COMMENT ON FUNCTION snowid.range_last(pg_catalog.timestamptz, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'greatest ID with a time from one moment until before another; the least bigint if there is none';

CREATE FUNCTION snowid.is_between(id bigint, since pg_catalog.timestamptz, until pg_catalog.timestamptz,
                                  layout @extschema@.snowid_layout) RETURNS boolean
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_is_between';
COMMENT ON FUNCTION snowid.is_between(bigint, pg_catalog.timestamptz, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'snowid_between(), for layouts whose IDs are not ordered by time alone';

-- Not STRICT, or the planner would not inline it. A null still gives null: each bound is strict in
-- both moments. For a constant layout that is ordered the last condition is none.
CREATE FUNCTION @extschema@.snowid_between(id bigint, since pg_catalog.timestamptz,
    until pg_catalog.timestamptz,
                               layout @extschema@.snowid_layout DEFAULT 'instagram') RETURNS boolean
  IMMUTABLE PARALLEL SAFE LANGUAGE SQL
  RETURN id OPERATOR(pg_catalog.>=) snowid.range_first(since, until, layout)
    AND id OPERATOR(pg_catalog.<=) snowid.range_last(since, until, layout)
    AND (snowid.layout_is_ordered(layout) OR snowid.is_between(id, since, until, layout));
COMMENT ON FUNCTION @extschema@.snowid_between(bigint, pg_catalog.timestamptz, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'whether an ID has a time from one moment until before another; an index on the ID serves';
CREATE FUNCTION @extschema@.snowid_ceiling() RETURNS pg_catalog.timestamptz
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_ceiling';
COMMENT ON FUNCTION @extschema@.snowid_ceiling() IS 'time that no ID that this database has issued so far is later than';

-- Making IDs

CREATE FUNCTION @extschema@.snowid_next() RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next';
COMMENT ON FUNCTION @extschema@.snowid_next() IS
  'next ID of the shard that is this node''s own number, or that snowid.shard names';

CREATE FUNCTION @extschema@.snowid_next(shard bigint) RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next_shard';
COMMENT ON FUNCTION @extschema@.snowid_next(bigint) IS 'next ID of a shard';

CREATE FUNCTION @extschema@.snowid_default_shard() RETURNS bigint
  STABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_default_shard';
COMMENT ON FUNCTION @extschema@.snowid_default_shard() IS
  'shard of snowid_next(): this node''s own number, or what snowid.shard names; to be passed to '
  'snowid_next(bigint, snowid_layout)';

CREATE FUNCTION @extschema@.snowid_next(shard bigint, layout @extschema@.snowid_layout) RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next_layout';
COMMENT ON FUNCTION @extschema@.snowid_next(bigint, @extschema@.snowid_layout) IS
  'next ID of a shard and layout';

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
  'first of a number of consecutive IDs of a shard and layout, all of them the caller''s';

CREATE FUNCTION @extschema@.snowid_lastval() RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_lastval';
COMMENT ON FUNCTION @extschema@.snowid_lastval() IS 'last ID that this session got';

CREATE FUNCTION @extschema@.snowid_currval(shard bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_currval';
COMMENT ON FUNCTION @extschema@.snowid_currval(bigint, @extschema@.snowid_layout) IS
  'last ID of a shard and layout that this session got';
-- Times that a clock which ran ahead has used up

CREATE FUNCTION snowid.rewound() RETURNS pg_catalog.tstzmultirange
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_rewound';
COMMENT ON FUNCTION snowid.rewound() IS
  'times that a clock which ran ahead has used up; no ID gets them again; see snowid.rewind';

CREATE VIEW snowid.rewinds AS
  SELECT wild FROM pg_catalog.unnest(snowid.rewound()) AS wild;
COMMENT ON VIEW snowid.rewinds IS
  'times that a clock which ran ahead has used up; no ID gets them again; see snowid.rewind';
COMMENT ON COLUMN snowid.rewinds.wild IS 'range of such times';
REVOKE ALL ON snowid.rewinds FROM PUBLIC;
GRANT SELECT ON snowid.rewinds TO PUBLIC;

CREATE FUNCTION snowid.rewind(wild pg_catalog.tstzmultirange) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_rewind';
COMMENT ON FUNCTION snowid.rewind(pg_catalog.tstzmultirange) IS
  'say which times a clock that ran ahead has used up, while nobody else is connected: IDs go on by the '
  'clock, and skip those times';
-- For superusers alone: the IDs of all databases that know no shard are set back, too.
REVOKE ALL ON FUNCTION snowid.rewind(pg_catalog.tstzmultirange) FROM PUBLIC;

-- Reads a table that may be anybody's as whoever calls it, a superuser mostly. So it runs neither a view's code, nor a
-- type's. As with any query, planning it evaluates what is constant in expressions of the table's indexes.
CREATE FUNCTION snowid.wild_times(tbl pg_catalog.regclass, col pg_catalog.name,
    layout @extschema@.snowid_layout, margin pg_catalog.interval DEFAULT '10 minutes')
  RETURNS pg_catalog.tstzmultirange
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  -- A right clock's IDs may be as far ahead.
  since CONSTANT timestamptz := clock_timestamp() + interval '2 s';
  ceiling CONSTANT timestamptz := @extschema@.snowid_ceiling();
  found tstzmultirange;
BEGIN
  IF margin < interval '1 s' OR extract(month FROM margin) + extract(year FROM margin) > 0 THEN
    RAISE invalid_parameter_value USING MESSAGE = format('margin must be a second or more, and have no months: %s', margin);
  END IF;
  IF NOT EXISTS (SELECT FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
      WHERE c.oid = tbl AND c.relkind IN ('r', 'p', 'm') AND a.attname = col AND a.attnum > 0
        AND NOT a.attisdropped AND a.atttypid = 'bigint'::regtype) THEN
    RAISE wrong_object_type USING MESSAGE = format('"%s" is not a table with a column "%s" of type bigint', tbl, col);
  END IF;
  EXECUTE format('SELECT range_agg(tstzrange(first - least($3, (first - $2) / 2), last + $3, ''[]''))
    FROM (SELECT min(at) AS first, max(at) AS last
      FROM (SELECT %s.snowid_timestamp(%I, $1) AS at FROM %s) AS id
      WHERE at > $2 GROUP BY date_bin($3, at, $2)) AS group_of_ids', '@extschema@', col, tbl)
    INTO found USING layout, since, margin;
  IF ceiling > since THEN
    found := coalesce(found, '{}')
      + tstzmultirange(tstzrange(ceiling - least(margin, (ceiling - since) / 2), ceiling, '[]'));
  END IF;
  RETURN coalesce(found, '{}');
END
$$;
COMMENT ON FUNCTION snowid.wild_times(pg_catalog.regclass, pg_catalog.name, @extschema@.snowid_layout, pg_catalog.interval) IS
  'times ahead of the clock in a column''s IDs, with a margin, and that of the ceiling; for snowid.rewind';
REVOKE ALL ON FUNCTION snowid.wild_times(pg_catalog.regclass, pg_catalog.name, @extschema@.snowid_layout,
  pg_catalog.interval) FROM PUBLIC;
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
  'ID in a UUID that snowid_to_uuid has made';
-- MongoDB's ObjectID: 12 bytes, ordered as bytes are, which is by time.

CREATE TYPE @extschema@.objectid;

CREATE FUNCTION snowid.objectid_in(pg_catalog.cstring) RETURNS @extschema@.objectid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_in';
COMMENT ON FUNCTION snowid.objectid_in(pg_catalog.cstring) IS 'ObjectID of 24 hexadecimal digits';

CREATE FUNCTION snowid.objectid_out(@extschema@.objectid) RETURNS pg_catalog.cstring
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_out';
COMMENT ON FUNCTION snowid.objectid_out(@extschema@.objectid) IS '24 hexadecimal digits of an ObjectID';

CREATE FUNCTION snowid.objectid_recv(pg_catalog.internal) RETURNS @extschema@.objectid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_recv';
COMMENT ON FUNCTION snowid.objectid_recv(pg_catalog.internal) IS 'ObjectID of 12 bytes of a message';

CREATE FUNCTION snowid.objectid_send(@extschema@.objectid) RETURNS pg_catalog.bytea
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_send';
COMMENT ON FUNCTION snowid.objectid_send(@extschema@.objectid) IS '12 bytes of an ObjectID for a message';

CREATE TYPE @extschema@.objectid (INPUT = snowid.objectid_in, OUTPUT = snowid.objectid_out,
                      RECEIVE = snowid.objectid_recv, SEND = snowid.objectid_send,
                      INTERNALLENGTH = 12, ALIGNMENT = char, STORAGE = plain);
COMMENT ON TYPE @extschema@.objectid IS
  'MongoDB''s ObjectID: 4 bytes of Unix seconds, 5 random, 3 of a counter';

CREATE FUNCTION snowid.objectid_from_bytea(bytes pg_catalog.bytea) RETURNS @extschema@.objectid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_from_bytea';
COMMENT ON FUNCTION snowid.objectid_from_bytea(pg_catalog.bytea) IS 'ObjectID of 12 bytes';

CREATE CAST (pg_catalog.bytea AS @extschema@.objectid)
  WITH FUNCTION snowid.objectid_from_bytea(pg_catalog.bytea);
COMMENT ON CAST (pg_catalog.bytea AS @extschema@.objectid) IS 'ObjectID of 12 bytes';

CREATE CAST (@extschema@.objectid AS pg_catalog.bytea)
  WITH FUNCTION snowid.objectid_send(@extschema@.objectid);
COMMENT ON CAST (@extschema@.objectid AS pg_catalog.bytea) IS '12 bytes of an ObjectID';

CREATE FUNCTION @extschema@.objectid_next() RETURNS @extschema@.objectid
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_next';
COMMENT ON FUNCTION @extschema@.objectid_next() IS
  'next ObjectID, greater than all that this server has made before';

CREATE FUNCTION @extschema@.objectid_timestamp(id @extschema@.objectid) RETURNS pg_catalog.timestamptz
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_timestamp';
COMMENT ON FUNCTION @extschema@.objectid_timestamp(@extschema@.objectid) IS
  'time at which an ObjectID was made, to the second';

CREATE FUNCTION snowid.objectid_eq(@extschema@.objectid, @extschema@.objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_eq';
COMMENT ON FUNCTION snowid.objectid_eq(@extschema@.objectid, @extschema@.objectid) IS
  'whether two ObjectIDs are the same';

CREATE FUNCTION snowid.objectid_ne(@extschema@.objectid, @extschema@.objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_ne';
COMMENT ON FUNCTION snowid.objectid_ne(@extschema@.objectid, @extschema@.objectid) IS
  'whether two ObjectIDs differ';

CREATE FUNCTION snowid.objectid_lt(@extschema@.objectid, @extschema@.objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_lt';
COMMENT ON FUNCTION snowid.objectid_lt(@extschema@.objectid, @extschema@.objectid) IS
  'whether an ObjectID comes before another';

CREATE FUNCTION snowid.objectid_le(@extschema@.objectid, @extschema@.objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_le';
COMMENT ON FUNCTION snowid.objectid_le(@extschema@.objectid, @extschema@.objectid) IS
  'whether an ObjectID comes before another or is the same';

CREATE FUNCTION snowid.objectid_gt(@extschema@.objectid, @extschema@.objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_gt';
COMMENT ON FUNCTION snowid.objectid_gt(@extschema@.objectid, @extschema@.objectid) IS
  'whether an ObjectID comes after another';

CREATE FUNCTION snowid.objectid_ge(@extschema@.objectid, @extschema@.objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_ge';
COMMENT ON FUNCTION snowid.objectid_ge(@extschema@.objectid, @extschema@.objectid) IS
  'whether an ObjectID comes after another or is the same';

CREATE FUNCTION snowid.objectid_cmp(@extschema@.objectid, @extschema@.objectid) RETURNS int
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_cmp';
COMMENT ON FUNCTION snowid.objectid_cmp(@extschema@.objectid, @extschema@.objectid) IS
  '-1, 0 or 1 as an ObjectID comes before another, is the same or comes after it';

CREATE FUNCTION snowid.objectid_hash(@extschema@.objectid) RETURNS int
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_hash';
COMMENT ON FUNCTION snowid.objectid_hash(@extschema@.objectid) IS 'hash of an ObjectID';

CREATE FUNCTION snowid.objectid_hash_extended(@extschema@.objectid, bigint) RETURNS bigint
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C
  AS 'MODULE_PATHNAME', 'snowid_objectid_hash_extended';
COMMENT ON FUNCTION snowid.objectid_hash_extended(@extschema@.objectid, bigint) IS
  'hash of an ObjectID in 64 bits, with a seed';

CREATE OPERATOR @extschema@.= (FUNCTION = snowid.objectid_eq,
  LEFTARG = @extschema@.objectid, RIGHTARG = @extschema@.objectid,
  COMMUTATOR = OPERATOR(@extschema@.=), NEGATOR = OPERATOR(@extschema@.<>),
  RESTRICT = pg_catalog.eqsel, JOIN = pg_catalog.eqjoinsel, HASHES, MERGES);
COMMENT ON OPERATOR @extschema@.= (@extschema@.objectid, @extschema@.objectid) IS
  'whether two ObjectIDs are the same';

CREATE OPERATOR @extschema@.<> (FUNCTION = snowid.objectid_ne,
  LEFTARG = @extschema@.objectid, RIGHTARG = @extschema@.objectid,
  COMMUTATOR = OPERATOR(@extschema@.<>), NEGATOR = OPERATOR(@extschema@.=),
  RESTRICT = pg_catalog.neqsel, JOIN = pg_catalog.neqjoinsel);
COMMENT ON OPERATOR @extschema@.<> (@extschema@.objectid, @extschema@.objectid) IS
  'whether two ObjectIDs differ';

CREATE OPERATOR @extschema@.< (FUNCTION = snowid.objectid_lt,
  LEFTARG = @extschema@.objectid, RIGHTARG = @extschema@.objectid,
  COMMUTATOR = OPERATOR(@extschema@.>), NEGATOR = OPERATOR(@extschema@.>=),
  RESTRICT = pg_catalog.scalarltsel, JOIN = pg_catalog.scalarltjoinsel);
COMMENT ON OPERATOR @extschema@.< (@extschema@.objectid, @extschema@.objectid) IS
  'whether an ObjectID comes before another';

CREATE OPERATOR @extschema@.<= (FUNCTION = snowid.objectid_le,
  LEFTARG = @extschema@.objectid, RIGHTARG = @extschema@.objectid,
  COMMUTATOR = OPERATOR(@extschema@.>=), NEGATOR = OPERATOR(@extschema@.>),
  RESTRICT = pg_catalog.scalarlesel, JOIN = pg_catalog.scalarlejoinsel);
COMMENT ON OPERATOR @extschema@.<= (@extschema@.objectid, @extschema@.objectid) IS
  'whether an ObjectID comes before another or is the same';

CREATE OPERATOR @extschema@.> (FUNCTION = snowid.objectid_gt,
  LEFTARG = @extschema@.objectid, RIGHTARG = @extschema@.objectid,
  COMMUTATOR = OPERATOR(@extschema@.<), NEGATOR = OPERATOR(@extschema@.<=),
  RESTRICT = pg_catalog.scalargtsel, JOIN = pg_catalog.scalargtjoinsel);
COMMENT ON OPERATOR @extschema@.> (@extschema@.objectid, @extschema@.objectid) IS
  'whether an ObjectID comes after another';

CREATE OPERATOR @extschema@.>= (FUNCTION = snowid.objectid_ge,
  LEFTARG = @extschema@.objectid, RIGHTARG = @extschema@.objectid,
  COMMUTATOR = OPERATOR(@extschema@.<=), NEGATOR = OPERATOR(@extschema@.<),
  RESTRICT = pg_catalog.scalargesel, JOIN = pg_catalog.scalargejoinsel);
COMMENT ON OPERATOR @extschema@.>= (@extschema@.objectid, @extschema@.objectid) IS
  'whether an ObjectID comes after another or is the same';

-- The operator families come with the classes and bear their names. btequalimage says that equal
-- ObjectIDs have the same bytes, so that an index may keep duplicates once.
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
COMMENT ON FUNCTION snowid.objectid_smaller(@extschema@.objectid, @extschema@.objectid) IS
  'the earlier of two ObjectIDs';

CREATE FUNCTION snowid.objectid_larger(@extschema@.objectid, @extschema@.objectid)
  RETURNS @extschema@.objectid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_larger';
COMMENT ON FUNCTION snowid.objectid_larger(@extschema@.objectid, @extschema@.objectid) IS
  'the later of two ObjectIDs';

CREATE AGGREGATE @extschema@.min(@extschema@.objectid) (SFUNC = snowid.objectid_smaller,
  STYPE = @extschema@.objectid,
  COMBINEFUNC = snowid.objectid_smaller, SORTOP = OPERATOR(@extschema@.<), PARALLEL = SAFE);
COMMENT ON AGGREGATE @extschema@.min(@extschema@.objectid) IS 'first of many ObjectIDs';

CREATE AGGREGATE @extschema@.max(@extschema@.objectid) (SFUNC = snowid.objectid_larger,
  STYPE = @extschema@.objectid,
  COMBINEFUNC = snowid.objectid_larger, SORTOP = OPERATOR(@extschema@.>), PARALLEL = SAFE);
COMMENT ON AGGREGATE @extschema@.max(@extschema@.objectid) IS 'last of many ObjectIDs';
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
  'ID that snowid_scatter was given, with the same number of digits';
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
-- Central sources

-- A sequence by its name, as regclass has it; but replication can bring names of what is not here.
CREATE TYPE snowid.sequence_name;

CREATE FUNCTION snowid.sequence_name_in(pg_catalog.cstring) RETURNS snowid.sequence_name
  STABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_sequence_in';
COMMENT ON FUNCTION snowid.sequence_name_in(pg_catalog.cstring) IS 'input of sequence_name';

CREATE FUNCTION snowid.sequence_name_out(snowid.sequence_name) RETURNS pg_catalog.cstring
  STABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_sequence_out';
COMMENT ON FUNCTION snowid.sequence_name_out(snowid.sequence_name) IS 'output of sequence_name';

CREATE FUNCTION snowid.sequence_name_recv(pg_catalog.internal) RETURNS snowid.sequence_name
  STABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_sequence_recv';
COMMENT ON FUNCTION snowid.sequence_name_recv(pg_catalog.internal) IS 'binary input of sequence_name';

CREATE FUNCTION snowid.sequence_name_send(snowid.sequence_name) RETURNS pg_catalog.bytea
  STABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_sequence_send';
COMMENT ON FUNCTION snowid.sequence_name_send(snowid.sequence_name) IS 'binary output of sequence_name';

CREATE TYPE snowid.sequence_name (
  INPUT = snowid.sequence_name_in, OUTPUT = snowid.sequence_name_out,
  RECEIVE = snowid.sequence_name_recv, SEND = snowid.sequence_name_send, LIKE = pg_catalog.regclass
);
COMMENT ON TYPE snowid.sequence_name IS 'sequence that has a central source';

CREATE CAST (snowid.sequence_name AS pg_catalog.oid) WITHOUT FUNCTION AS IMPLICIT;
COMMENT ON CAST (snowid.sequence_name AS pg_catalog.oid) IS 'for operators and indexes';
CREATE CAST (snowid.sequence_name AS pg_catalog.regclass) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (snowid.sequence_name AS pg_catalog.regclass) IS 'the same relation';
CREATE CAST (pg_catalog.regclass AS snowid.sequence_name) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (pg_catalog.regclass AS snowid.sequence_name) IS 'the same relation';

CREATE TABLE snowid.segment_sources (
  seq snowid.sequence_name PRIMARY KEY,
  server pg_catalog.text NOT NULL,
  remote_seq pg_catalog.text NOT NULL,
  owner pg_catalog.text NOT NULL,
  server_oid pg_catalog.oid NOT NULL,
  owner_oid pg_catalog.oid NOT NULL
) USING heap;
COMMENT ON TABLE snowid.segment_sources IS
  'sequences whose numbers are allocated from another server, see snowid_segment_attach';
COMMENT ON COLUMN snowid.segment_sources.seq IS 'sequence here';
COMMENT ON COLUMN snowid.segment_sources.server IS 'foreign server, when it was attached';
COMMENT ON COLUMN snowid.segment_sources.remote_seq IS 'sequence there';
COMMENT ON COLUMN snowid.segment_sources.owner IS 'owner of the sequence here, when it was attached';
COMMENT ON COLUMN snowid.segment_sources.server_oid IS
  'foreign server that had this name, set by a trigger';
COMMENT ON COLUMN snowid.segment_sources.owner_oid IS 'role that had this name, set by a trigger';
COMMENT ON CONSTRAINT segment_sources_pkey ON snowid.segment_sources IS 'a sequence has one source';
COMMENT ON INDEX snowid.segment_sources_pkey IS 'a sequence has one source';
REVOKE ALL ON snowid.segment_sources FROM PUBLIC;
GRANT SELECT ON snowid.segment_sources TO PUBLIC;

CREATE FUNCTION snowid.check_source() RETURNS pg_catalog.trigger
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_check_source';
COMMENT ON FUNCTION snowid.check_source() IS
  'trigger: only the owner of a sequence gives it a source, and rows that replication brings are dropped';
REVOKE ALL ON FUNCTION snowid.check_source() FROM PUBLIC;

CREATE TRIGGER check_source BEFORE INSERT OR UPDATE OR DELETE ON snowid.segment_sources
  FOR EACH ROW EXECUTE FUNCTION snowid.check_source();
COMMENT ON TRIGGER check_source ON snowid.segment_sources IS
  'trigger: only the owner of a sequence gives it a source, and rows that replication brings are dropped';
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON snowid.segment_sources
  FOR EACH STATEMENT EXECUTE FUNCTION snowid.check_source();
COMMENT ON TRIGGER refuse_truncate ON snowid.segment_sources IS
  'refuses TRUNCATE, which replication would do to others'' sources, too';
-- For logical replication, too, whose rows are about another server's sequences.
ALTER TABLE snowid.segment_sources ENABLE ALWAYS TRIGGER check_source;
ALTER TABLE snowid.segment_sources ENABLE ALWAYS TRIGGER refuse_truncate;
-- Not of sequences that were dropped: their numbers may be those of others where it is restored.
SELECT pg_catalog.pg_extension_config_dump('snowid.segment_sources'::pg_catalog.regclass,
  'WHERE seq IN (SELECT seqrelid FROM pg_catalog.pg_sequence)'::pg_catalog.text);

CREATE FUNCTION @extschema@.snowid_segment_attach(
    seq pg_catalog.regclass, server pg_catalog.name, remote_seq pg_catalog.text)
  RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_attach';
COMMENT ON FUNCTION @extschema@.snowid_segment_attach(pg_catalog.regclass, pg_catalog.name, pg_catalog.text) IS
  'take a sequence''s numbers from a sequence on another server';

CREATE FUNCTION @extschema@.snowid_segment_detach(seq pg_catalog.regclass) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_detach';
COMMENT ON FUNCTION @extschema@.snowid_segment_detach(pg_catalog.regclass) IS
  'let a sequence make its own numbers again, above those from the other server';
-- Segments

CREATE FUNCTION @extschema@.snowid_segment_next(seq pg_catalog.regclass) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_next';
COMMENT ON FUNCTION @extschema@.snowid_segment_next(pg_catalog.regclass) IS
  'next number of a sequence, allocated for all sessions in blocks as large as its increment';

CREATE FUNCTION @extschema@.snowid_segment_next(seq pg_catalog.regclass, size int) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_next_size';
COMMENT ON FUNCTION @extschema@.snowid_segment_next(pg_catalog.regclass, int) IS
  'next number of a sequence, in blocks of this size; the rest of its increment is left to others';

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

-- Sections

CREATE FUNCTION @extschema@.snowid_section_next(section pg_catalog.regclass, key bigint) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_section_next';
COMMENT ON FUNCTION @extschema@.snowid_section_next(pg_catalog.regclass, bigint) IS
  'next number of a key, greater than all that it was given before';

CREATE FUNCTION @extschema@.snowid_section_current(section pg_catalog.regclass, key bigint) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_section_current';
COMMENT ON FUNCTION @extschema@.snowid_section_current(pg_catalog.regclass, bigint) IS
  'last number given to a key; null if it is not in memory';
-- Statistics of segments and sections. A role that may read the view must be able to call its function, too.

CREATE FUNCTION snowid.counter_statistics(
    OUT kind pg_catalog.text, OUT relation pg_catalog.regclass, OUT given bigint, OUT remaining bigint,
    OUT last_value bigint, OUT refills bigint, OUT refill_time double precision,
    OUT max_refill_time double precision, OUT block_size bigint, OUT blocks bigint, OUT source_failures bigint,
    OUT last_failure pg_catalog.text, OUT last_failure_at pg_catalog.timestamptz, OUT keys bigint,
    OUT evictions bigint)
  RETURNS SETOF pg_catalog.record
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_counter_statistics';
COMMENT ON FUNCTION snowid.counter_statistics() IS 'what the view snowid.stat_counters shows';
REVOKE ALL ON FUNCTION snowid.counter_statistics() FROM PUBLIC;

CREATE VIEW snowid.stat_counters AS
  SELECT c.kind, c.relation, c.given, c.remaining, c.last_value, c.refills, c.refill_time, c.max_refill_time,
    c.block_size, c.blocks, s.server AS source, c.source_failures, c.last_failure, c.last_failure_at, c.keys,
    c.evictions
  FROM snowid.counter_statistics() AS c
  LEFT JOIN snowid.segment_sources AS s
    ON c.kind OPERATOR(pg_catalog.=) 'segment'::pg_catalog.text
      AND s.seq::pg_catalog.oid OPERATOR(pg_catalog.=) c.relation::pg_catalog.oid;
COMMENT ON VIEW snowid.stat_counters IS
  'segments and sections in use in this database, since the server started or counts were reset';
COMMENT ON COLUMN snowid.stat_counters.kind IS 'segment or section';
COMMENT ON COLUMN snowid.stat_counters.relation IS 'the sequence';
COMMENT ON COLUMN snowid.stat_counters.given IS
  'numbers that sessions got; of a section without those of open transactions';
COMMENT ON COLUMN snowid.stat_counters.remaining IS
  'numbers of a segment in memory that are left, so many can go without a refill';
COMMENT ON COLUMN snowid.stat_counters.last_value IS
  'how far the sequence had come at the last refill, null where no numbers are in memory';
COMMENT ON COLUMN snowid.stat_counters.refills IS
  'times that blocks were allocated, or a section''s limit was raised';
COMMENT ON COLUMN snowid.stat_counters.refill_time IS 'time that these took together, in milliseconds';
COMMENT ON COLUMN snowid.stat_counters.max_refill_time IS 'time that the longest of them took, in milliseconds';
COMMENT ON COLUMN snowid.stat_counters.block_size IS
  'numbers of a block, for a section the increment of its sequence; as of the last refill';
COMMENT ON COLUMN snowid.stat_counters.blocks IS 'blocks that the last refill has allocated';
COMMENT ON COLUMN snowid.stat_counters.source IS
  'foreign server of a segment''s central source, null where blocks are the sequence''s own';
COMMENT ON COLUMN snowid.stat_counters.source_failures IS
  'times that no numbers could be allocated from the central source';
COMMENT ON COLUMN snowid.stat_counters.last_failure IS 'SQLSTATE of the last of these failures';
COMMENT ON COLUMN snowid.stat_counters.last_failure_at IS 'when that was';
COMMENT ON COLUMN snowid.stat_counters.keys IS 'keys of a section in memory';
COMMENT ON COLUMN snowid.stat_counters.evictions IS
  'keys that have left memory for want of room: they go on with a gap';
REVOKE ALL ON snowid.stat_counters FROM PUBLIC;
-- The node's own number

CREATE FUNCTION snowid.node_number(OUT number bigint, OUT source pg_catalog.text, OUT node pg_catalog.text,
                                   OUT registry pg_catalog.text, OUT problem pg_catalog.text)
  STABLE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_node_number';
COMMENT ON FUNCTION snowid.node_number() IS 'what the view snowid.node shows';

CREATE VIEW snowid.node AS SELECT number, source, node, registry, problem FROM snowid.node_number();
COMMENT ON VIEW snowid.node IS 'the shard of snowid_next() in this session, and where it comes from';
COMMENT ON COLUMN snowid.node.number IS 'the shard, null where there is none to be had';
COMMENT ON COLUMN snowid.node.source IS
  'setting: snowid.shard names it; citus: the group of this node in Citus; joined: the number that the '
  'registry has given to this node; none: it is 0, for want of these';
COMMENT ON COLUMN snowid.node.node IS 'name by which this node has joined, null where that is not the source';
COMMENT ON COLUMN snowid.node.registry IS
  'foreign server over which this node has joined, null where that is not the source';
COMMENT ON COLUMN snowid.node.problem IS 'why snowid_next() fails, null where it does not';
REVOKE ALL ON snowid.node FROM PUBLIC;
GRANT SELECT ON snowid.node TO PUBLIC;

-- Whether this very server is the one that Citus goes by as this group's. Copies have all that is stored here; so the
-- coordinator, which knows where the group is, has the server there look for a lock that is held here alone, right now.
CREATE FUNCTION snowid.is_server_of_group(node_group pg_catalog.int4) RETURNS boolean
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
      HINT = 'On the coordinator, use citus_set_coordinator_host() where it is not listed itself, and citus_add_node() for a node '
        'that was removed.';
  END IF;
  RAISE 'could not ask the server of Citus'' group %', node_group USING ERRCODE = 'connection_failure',
    DETAIL = coalesce(answer, 'The coordinator has not answered.');
END $$;
COMMENT ON FUNCTION snowid.is_server_of_group(pg_catalog.int4) IS
  'whether this server is the one that Citus has for a group';
-- Joining: a database that is a node claims its number in another database, the registry. Any database
-- with snowid can be one; it can be a node, too. What the registry does is in nodes.sql.

-- The member's side

CREATE TABLE snowid.membership (
  singleton boolean PRIMARY KEY CHECK (singleton),
  number bigint NOT NULL
    CHECK (number OPERATOR(pg_catalog.>=) 1::bigint AND number OPERATOR(pg_catalog.<=) 8191::bigint),
  node pg_catalog.text NOT NULL,
  server pg_catalog.text NOT NULL,
  registry_identity pg_catalog.text NOT NULL,
  secret pg_catalog.text NOT NULL,
  incarnation bigint NOT NULL,
  system_identifier bigint NOT NULL,
  database_oid pg_catalog.oid NOT NULL,
  server_key pg_catalog.text NOT NULL,
  joined pg_catalog.timestamptz NOT NULL,
  checked pg_catalog.timestamptz NOT NULL
) USING heap;
COMMENT ON TABLE snowid.membership IS
  'the registry that this database has joined, and as which node, see snowid_join; one row at most, kept by snowid';
COMMENT ON COLUMN snowid.membership.singleton IS 'true: there is one row at most';
COMMENT ON COLUMN snowid.membership.number IS 'number that the registry has given to this node';
COMMENT ON COLUMN snowid.membership.node IS 'name of this node there';
COMMENT ON COLUMN snowid.membership.server IS 'foreign server that is the registry';
COMMENT ON COLUMN snowid.membership.registry_identity IS 'identity of that registry, as snowid.registry_identity() has it there';
COMMENT ON COLUMN snowid.membership.secret IS 'what proves to the registry that the number is this node''s';
COMMENT ON COLUMN snowid.membership.incarnation IS
  'what snowid.membership_words has, too, where the row is still true';
COMMENT ON COLUMN snowid.membership.system_identifier IS 'server that has joined, as pg_control_system() has it';
COMMENT ON COLUMN snowid.membership.database_oid IS 'database of that server that has joined';
COMMENT ON COLUMN snowid.membership.server_key IS 'snowid.server_key of that server, an empty string where it has none';
COMMENT ON COLUMN snowid.membership.joined IS 'when it has joined, by its clock';
COMMENT ON COLUMN snowid.membership.checked IS 'when the registry has last confirmed it, by this server''s clock';
COMMENT ON CONSTRAINT membership_pkey ON snowid.membership IS 'a database is one node at most';
COMMENT ON INDEX snowid.membership_pkey IS 'a database is one node at most';
COMMENT ON CONSTRAINT membership_number_check ON snowid.membership IS
  'shards of the layout instagram; 0 is drawn from without joining';
COMMENT ON CONSTRAINT membership_singleton_check ON snowid.membership IS 'a database is one node at most';
SELECT pg_catalog.pg_extension_config_dump('snowid.membership'::pg_catalog.regclass, ''::pg_catalog.text);
REVOKE ALL ON snowid.membership FROM PUBLIC;

CREATE FUNCTION snowid.keep_membership() RETURNS pg_catalog.trigger
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_keep_membership';
COMMENT ON FUNCTION snowid.keep_membership() IS
  'trigger: rows that replication brings are dropped, and a restored one counts at once';
REVOKE ALL ON FUNCTION snowid.keep_membership() FROM PUBLIC;

CREATE TRIGGER keep_membership BEFORE INSERT OR UPDATE OR DELETE ON snowid.membership
  FOR EACH ROW EXECUTE FUNCTION snowid.keep_membership();
COMMENT ON TRIGGER keep_membership ON snowid.membership IS
  'trigger: rows that replication brings are dropped, and a restored one counts at once';
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON snowid.membership
  FOR EACH STATEMENT EXECUTE FUNCTION snowid.keep_membership();
COMMENT ON TRIGGER refuse_truncate ON snowid.membership IS
  'refuses TRUNCATE, which replication would do to others'' rows, too';
ALTER TABLE snowid.membership ENABLE ALWAYS TRIGGER keep_membership;
ALTER TABLE snowid.membership ENABLE ALWAYS TRIGGER refuse_truncate;

-- Where words lie that no rollback takes back, see words.hpp: behind the sequence's own value, which says nothing. Not
-- dumped: a restored database is not the one that has joined.
CREATE SEQUENCE snowid.membership_words AS bigint NO CYCLE;
COMMENT ON SEQUENCE snowid.membership_words IS
  'whether the row of snowid.membership is true, and what the registry knows of this node';
REVOKE ALL ON SEQUENCE snowid.membership_words FROM PUBLIC;

CREATE FUNCTION @extschema@.snowid_join(server pg_catalog.name, node pg_catalog.text DEFAULT NULL) RETURNS bigint
  VOLATILE PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_join';
COMMENT ON FUNCTION @extschema@.snowid_join(pg_catalog.name, pg_catalog.text) IS
  'claim a number for this node from a registry, named as a foreign server; the same number when called again';
REVOKE ALL ON FUNCTION @extschema@.snowid_join(pg_catalog.name, pg_catalog.text) FROM PUBLIC;

CREATE FUNCTION @extschema@.snowid_check(take_over boolean DEFAULT false, registry_moved boolean DEFAULT false)
  RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_check';
COMMENT ON FUNCTION @extschema@.snowid_check(boolean, boolean) IS
  'have the registry, or Citus'' coordinator, confirm that this node''s number is its own and not a copy''s';
REVOKE ALL ON FUNCTION @extschema@.snowid_check(boolean, boolean) FROM PUBLIC;

CREATE FUNCTION @extschema@.snowid_leave() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_leave';
COMMENT ON FUNCTION @extschema@.snowid_leave() IS 'have the registry retire this node''s number';
REVOKE ALL ON FUNCTION @extschema@.snowid_leave() FROM PUBLIC;

CREATE VIEW snowid.member AS
  SELECT m.number, m.node, m.server AS registry, m.joined, m.checked FROM snowid.membership AS m;
COMMENT ON VIEW snowid.member IS 'snowid.membership without its secrets';
COMMENT ON COLUMN snowid.member.number IS 'number that the registry has given to this node';
COMMENT ON COLUMN snowid.member.node IS 'name of this node there';
COMMENT ON COLUMN snowid.member.registry IS 'foreign server that is the registry';
COMMENT ON COLUMN snowid.member.joined IS 'when it has joined, by its clock';
COMMENT ON COLUMN snowid.member.checked IS 'when the registry has last confirmed it, by this server''s clock';
REVOKE ALL ON snowid.member FROM PUBLIC;
-- The registry: which numbers it has given to which nodes. A number is given once. When a node leaves its number is
-- retired. A node that joins gets the least that somebody has freed, or else the least that was never given.
--
-- Locking: a request locks the row of its own number, and no other, until its transaction ends. A claim waits for one
-- other claim for a tenth of a second at most, and passes over the numbers that others are about to get.

CREATE TABLE snowid.nodes (
  number bigint PRIMARY KEY CHECK (number OPERATOR(pg_catalog.>=) 1::bigint AND number OPERATOR(pg_catalog.<=) 8191::bigint),
  node pg_catalog.text UNIQUE,
  database pg_catalog.text,
  system_identifier bigint,
  database_oid bigint,
  timeline bigint,
  claimed pg_catalog.timestamptz,
  claimed_by pg_catalog.text,
  last_seen pg_catalog.timestamptz,
  check_interval pg_catalog.interval,
  left_node pg_catalog.text,
  retired pg_catalog.timestamptz,
  is_free boolean NOT NULL DEFAULT false,
  secret pg_catalog.text,
  token bigint,
  previous_token bigint,
  written_by pg_catalog.text
) USING heap;
COMMENT ON TABLE snowid.nodes IS 'numbers that nodes have claimed from this database as their registry, see snowid_join; kept by snowid';
COMMENT ON COLUMN snowid.nodes.number IS 'shard of the node''s IDs';
COMMENT ON COLUMN snowid.nodes.node IS 'node that has the number; null where it is retired';
COMMENT ON COLUMN snowid.nodes.database IS 'name of the node''s database';
COMMENT ON COLUMN snowid.nodes.system_identifier IS 'server of the node, as pg_control_system() has it there';
COMMENT ON COLUMN snowid.nodes.database_oid IS 'oid of the node''s database';
COMMENT ON COLUMN snowid.nodes.timeline IS 'timeline of the node''s WAL; a promoted standby has a greater one';
COMMENT ON COLUMN snowid.nodes.claimed IS 'when the node got the number';
COMMENT ON COLUMN snowid.nodes.claimed_by IS 'role that the node has asked as';
COMMENT ON COLUMN snowid.nodes.last_seen IS 'when the node has last asked, and was right';
COMMENT ON COLUMN snowid.nodes.check_interval IS 'time between the last two times, or half of what it was before, if that is longer';
COMMENT ON COLUMN snowid.nodes.left_node IS 'node that had the number; null where that is not known';
COMMENT ON COLUMN snowid.nodes.retired IS 'when the number was retired; null where it is in use';
COMMENT ON COLUMN snowid.nodes.is_free IS 'whether snowid.free_number() has made it free to be given again';
COMMENT ON COLUMN snowid.nodes.secret IS 'what the node proves with that the number is its own';
COMMENT ON COLUMN snowid.nodes.token IS
  'how many exchanges there have been, and a random number that the node was told last: of two copies only one can know it';
COMMENT ON COLUMN snowid.nodes.previous_token IS 'the token before, which a promoted standby may know';
COMMENT ON COLUMN snowid.nodes.written_by IS
  'snowid.registry_identity() of when this was last known to be all that was given; another one now where the registry was '
  'restored or promoted since; null: a node has said it, empty: the administrator has given up on what it said';
COMMENT ON CONSTRAINT nodes_pkey ON snowid.nodes IS 'a number is given once';
COMMENT ON INDEX snowid.nodes_pkey IS 'a number is given once';
COMMENT ON CONSTRAINT nodes_node_key ON snowid.nodes IS 'a node has one number';
COMMENT ON INDEX snowid.nodes_node_key IS 'a node has one number';
COMMENT ON CONSTRAINT nodes_number_check ON snowid.nodes IS 'shards of the layout instagram; 0 is drawn from without joining';
SELECT pg_catalog.pg_extension_config_dump('snowid.nodes'::pg_catalog.regclass, ''::pg_catalog.text);
REVOKE ALL ON snowid.nodes FROM PUBLIC;

CREATE FUNCTION snowid.keep_nodes() RETURNS pg_catalog.trigger
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_keep_nodes';
COMMENT ON FUNCTION snowid.keep_nodes() IS
  'trigger: rows that replication brings are dropped, and no number is forgotten';
REVOKE ALL ON FUNCTION snowid.keep_nodes() FROM PUBLIC;

CREATE TRIGGER keep_nodes BEFORE INSERT OR UPDATE OR DELETE ON snowid.nodes
  FOR EACH ROW EXECUTE FUNCTION snowid.keep_nodes();
COMMENT ON TRIGGER keep_nodes ON snowid.nodes IS
  'trigger: rows that replication brings are dropped, and no number is forgotten';
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON snowid.nodes
  FOR EACH STATEMENT EXECUTE FUNCTION snowid.keep_nodes();
COMMENT ON TRIGGER refuse_truncate ON snowid.nodes IS
  'refuses TRUNCATE, which replication would do to others'' rows, too';
ALTER TABLE snowid.nodes ENABLE ALWAYS TRIGGER keep_nodes;
ALTER TABLE snowid.nodes ENABLE ALWAYS TRIGGER refuse_truncate;

CREATE VIEW snowid.registered_nodes AS
  SELECT n.number, n.node, n.database, n.claimed, n.last_seen, n.left_node, n.retired, n.is_free FROM snowid.nodes AS n;
COMMENT ON VIEW snowid.registered_nodes IS 'snowid.nodes without its secrets';
COMMENT ON COLUMN snowid.registered_nodes.number IS 'shard of the node''s IDs';
COMMENT ON COLUMN snowid.registered_nodes.node IS 'node that has the number; null where it is retired';
COMMENT ON COLUMN snowid.registered_nodes.database IS 'name of the node''s database';
COMMENT ON COLUMN snowid.registered_nodes.claimed IS 'when the node got the number';
COMMENT ON COLUMN snowid.registered_nodes.last_seen IS 'when the node has last asked, and was right';
COMMENT ON COLUMN snowid.registered_nodes.left_node IS 'node that had the number; null where that is not known';
COMMENT ON COLUMN snowid.registered_nodes.retired IS 'when the number was retired; null where it is in use';
COMMENT ON COLUMN snowid.registered_nodes.is_free IS 'whether it is free to be given again';
REVOKE ALL ON snowid.registered_nodes FROM PUBLIC;

-- Which registry this is: this table in this database of this server, since the server was last promoted. Where it is
-- restored, promoted or upgraded it is another one, which may have lost what it has given.
CREATE FUNCTION snowid.registry_identity() RETURNS pg_catalog.text
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN format('%s/%s/%s/%s', (SELECT c.system_identifier FROM pg_control_system() AS c),
    (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()), 'snowid.nodes'::regclass::oid,
    left(pg_walfile_name(pg_current_wal_insert_lsn()), 8));
END $$;
COMMENT ON FUNCTION snowid.registry_identity() IS 'identity of this registry, which changes once it may have lost numbers';
REVOKE ALL ON FUNCTION snowid.registry_identity() FROM PUBLIC;

-- What a node gets as an answer must not be lost here in a crash, nor when a synchronous standby takes over, also where
-- the session sets synchronous_commit off; and no number stays locked by PREPARE TRANSACTION.
CREATE FUNCTION snowid.commit_durably() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_commit_durably';
COMMENT ON FUNCTION snowid.commit_durably() IS 'have this transaction''s commit wait until it is on disk, and on synchronous standbys';
REVOKE ALL ON FUNCTION snowid.commit_durably() FROM PUBLIC;

-- Inserts a node with a number. False where another one has that, or is about to.
CREATE FUNCTION snowid.give_number(given bigint, asking snowid.nodes) RETURNS boolean
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  asking.number := given;
  INSERT INTO snowid.nodes SELECT asking.*;
  RETURN true;
EXCEPTION
  WHEN unique_violation THEN
    IF EXISTS (SELECT FROM snowid.nodes AS n WHERE n.node = asking.node) THEN
      RAISE 'registry has another node "%"', asking.node USING ERRCODE = 'duplicate_object',
        HINT = 'Use another name. Where this server is to replace that node and has its data, use '
          'snowid_check(take_over => true) instead.';
    END IF;
    RETURN false;
  WHEN lock_not_available THEN
    RETURN false;
END $$;
COMMENT ON FUNCTION snowid.give_number(bigint, snowid.nodes) IS 'give a number to a node, if no other has it';
REVOKE ALL ON FUNCTION snowid.give_number(bigint, snowid.nodes) FROM PUBLIC;

-- Stores in the row of a number what its node has sent about itself.
CREATE FUNCTION snowid.keep_node(held bigint, asking snowid.nodes) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE snowid.nodes AS n
     SET node = asking.node, database = asking.database, system_identifier = asking.system_identifier,
         database_oid = asking.database_oid, timeline = asking.timeline, secret = asking.secret,
         claimed = CASE WHEN n.node IS NULL THEN asking.claimed ELSE n.claimed END,
         claimed_by = CASE WHEN n.node IS NULL THEN asking.claimed_by ELSE n.claimed_by END,
         last_seen = asking.last_seen,
         -- Two exchanges in a row say little of how often there are some.
         check_interval = CASE WHEN n.node IS NOT NULL
           THEN greatest(asking.last_seen - n.last_seen, n.check_interval / 2) END,
         left_node = NULL, retired = NULL, is_free = false, token = asking.token,
         -- What is asked twice has exchanged nothing the second time.
         previous_token = CASE WHEN n.token = asking.token THEN n.previous_token ELSE n.token END,
         written_by = asking.written_by
   WHERE n.number = held;
EXCEPTION WHEN unique_violation THEN
  RAISE 'registry has another node "%"', asking.node USING ERRCODE = 'duplicate_object', HINT = 'Use another name.';
END $$;
COMMENT ON FUNCTION snowid.keep_node(bigint, snowid.nodes) IS 'store what a node says of itself';
REVOKE ALL ON FUNCTION snowid.keep_node(bigint, snowid.nodes) FROM PUBLIC;

-- No role fills the registry. A transaction gets one number: others pass over it until it ends, which takes time.
CREATE FUNCTION snowid.require_few_claims(role pg_catalog.text) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  most CONSTANT int := 500;
BEGIN
  IF EXISTS (SELECT FROM snowid.nodes AS n WHERE n.claimed_by = role AND n.claimed >= now()
    AND pg_xact_status((pg_current_xact_id()::text::bigint - age(n.xmin))::text::xid8) = 'in progress') THEN
    RAISE 'a transaction gets one number' USING ERRCODE = 'configuration_limit_exceeded';
  END IF;
  IF (SELECT count(*) >= most FROM snowid.nodes AS n WHERE n.claimed_by = role AND n.claimed > now() - interval '1 day') THEN
    RAISE 'role "%" has got % numbers within a day', role, most
      USING ERRCODE = 'configuration_limit_exceeded', HINT = 'Wait, or have nodes ask as different roles.';
  END IF;
END $$;
COMMENT ON FUNCTION snowid.require_few_claims(pg_catalog.text) IS 'refuse a role that has claimed many numbers';
REVOKE ALL ON FUNCTION snowid.require_few_claims(pg_catalog.text) FROM PUBLIC;

-- Gives a node the least number that was made free, or never given.
CREATE FUNCTION snowid.claim_number(asking snowid.nodes) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '100ms' AS $$
DECLARE
  given bigint;
BEGIN
  IF EXISTS (SELECT FROM snowid.nodes AS n WHERE coalesce(n.written_by NOT IN (asking.written_by, ''), true)) THEN
    RAISE 'registry may have given numbers that it does not know of' USING ERRCODE = 'object_not_in_prerequisite_state',
      DETAIL = 'It was restored, promoted or upgraded, or a node knows more than it does.',
      HINT = 'Use snowid_check(registry_moved => true) on all nodes, and then snowid.settle_registry() on the registry.';
  END IF;
  PERFORM snowid.require_few_claims(asking.claimed_by);
  SELECT n.number INTO given FROM snowid.nodes AS n WHERE n.is_free ORDER BY n.number LIMIT 1 FOR UPDATE SKIP LOCKED;
  IF FOUND THEN
    PERFORM snowid.keep_node(given, asking);
    RETURN given;
  END IF;
  FOR given IN
    SELECT g FROM generate_series(1, 8191) AS g WHERE NOT EXISTS (SELECT FROM snowid.nodes AS n WHERE n.number = g) ORDER BY g
  LOOP
    IF snowid.give_number(given, asking) THEN RETURN given; END IF;
    -- One has been waited for. The others are passed over fast, and even so not beyond what the node waits for.
    PERFORM set_config('lock_timeout', '1ms', true);
    EXIT WHEN clock_timestamp() > asking.claimed + interval '8 s';
  END LOOP;
  IF FOUND THEN
    RAISE 'somebody else is claiming a number as node "%"', asking.node USING ERRCODE = 'lock_not_available',
      DETAIL = 'Or very many are claiming numbers.', HINT = 'Try again, or use another name.';
  END IF;
  RAISE 'all 8191 numbers of the registry were given' USING ERRCODE = 'configuration_limit_exceeded',
    HINT = 'Use snowid.retire_node() on the registry for nodes that are gone, and snowid.free_number() there for retired numbers.';
END $$;
COMMENT ON FUNCTION snowid.claim_number(snowid.nodes) IS 'give a node a number';
REVOKE ALL ON FUNCTION snowid.claim_number(snowid.nodes) FROM PUBLIC;

-- What the registry says to a node that asks whether a number is its own. `known` and `asked` are the tokens of which
-- the registry should have one.
--
-- A token that has been exchanged more often than the one here says that the registry is older than the node: then it
-- learns from the node. A promoted standby may know the token before, and has a later timeline. So does a server that
-- was restored from an archive, and the two cannot be distinguished. So neither may displace a node that has checked
-- within its last interval.
CREATE FUNCTION snowid.judge_token(held snowid.nodes, asking snowid.nodes, known bigint, asked bigint) RETURNS pg_catalog.text
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  is_later CONSTANT boolean := asking.timeline > held.timeline AND asking.system_identifier = held.system_identifier
    AND asking.database_oid = held.database_oid;
BEGIN
  IF known >> 32 > held.token >> 32 THEN
    RETURN 'older';
  ELSIF held.token IN (known, asked) AND NOT is_later THEN
    RETURN 'held';
  ELSIF is_later AND (held.token IN (known, asked) OR coalesce(held.previous_token IN (known, asked), false)) THEN
    RETURN CASE WHEN asking.last_seen - held.last_seen < least(held.check_interval, interval '1 hour') THEN 'busy' ELSE 'held' END;
  END IF;
  RETURN 'lost';
END $$;
COMMENT ON FUNCTION snowid.judge_token(snowid.nodes, snowid.nodes, bigint, bigint) IS 'whether a number belongs to the node that asks';
REVOKE ALL ON FUNCTION snowid.judge_token(snowid.nodes, snowid.nodes, bigint, bigint) FROM PUBLIC;

-- A check, a look, taking over, or leaving: what is said to a node with a number.
CREATE FUNCTION snowid.answer_node(request pg_catalog.text, asking snowid.nodes, known bigint, OUT verdict pg_catalog.text,
    OUT token bigint)
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  held snowid.nodes;
BEGIN
  SELECT * INTO held FROM snowid.nodes AS n WHERE n.number = asking.number FOR UPDATE;
  asking.last_seen := clock_timestamp();
  asking.claimed := asking.last_seen;
  token := coalesce(held.token, 0);
  IF held.secret IS NOT NULL AND (held.secret <> asking.secret OR held.node IS NULL) THEN
    verdict := 'lost';
    token := 0;
  ELSIF request = 'look' THEN
    verdict := 'held';
  ELSIF held.secret IS NULL THEN
    -- Given, and forgotten here.
    verdict := CASE WHEN request = 'leave' THEN 'lost' ELSE 'older' END;
    PERFORM snowid.require_few_claims(asking.claimed_by);
  ELSIF request = 'take over' THEN
    verdict := CASE WHEN held.token IN (known, asking.token) THEN 'held' ELSE 'stale' END;
  ELSE
    verdict := snowid.judge_token(held, asking, known, asking.token);
  END IF;
  asking.written_by := CASE verdict WHEN 'older' THEN NULL ELSE held.written_by END;
  IF verdict NOT IN ('held', 'older') OR request = 'look' THEN
    RETURN;
  ELSIF request = 'leave' THEN
    UPDATE snowid.nodes AS n SET node = NULL, left_node = n.node, retired = asking.last_seen, last_seen = asking.last_seen
     WHERE n.number = asking.number;
  ELSIF held.number IS NOT NULL THEN
    PERFORM snowid.keep_node(asking.number, asking);
  ELSIF NOT snowid.give_number(asking.number, asking) THEN
    verdict := 'lost';
    RETURN;
  END IF;
  token := asking.token;
  IF verdict = 'older' THEN
    RAISE WARNING 'registry is older than node "%", and has learnt of number % from it', asking.node, asking.number;
  END IF;
END $$;
COMMENT ON FUNCTION snowid.answer_node(pg_catalog.text, snowid.nodes, bigint) IS 'answer a node that has a number';
REVOKE ALL ON FUNCTION snowid.answer_node(pg_catalog.text, snowid.nodes, bigint) FROM PUBLIC;

-- What nodes call over dblink. Without the secret of a number a caller cannot change anything about it.
CREATE FUNCTION snowid.register(request pg_catalog.text, node pg_catalog.text, number bigint, secret pg_catalog.text,
    known bigint, next bigint, database pg_catalog.text, system_identifier bigint, database_oid bigint, timeline bigint,
    registry_identity pg_catalog.text,
    OUT verdict pg_catalog.text, OUT held_number bigint, OUT held_node pg_catalog.text, OUT token bigint,
    OUT identity pg_catalog.text)
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  SET lock_timeout = '5s' AS $$
DECLARE
  asking snowid.nodes;
BEGIN
  IF request NOT IN ('claim', 'resume', 'check', 'look', 'take over', 'leave') THEN
    RAISE 'unknown request of a node: "%"', request USING ERRCODE = 'invalid_parameter_value';
  ELSIF octet_length(node) NOT BETWEEN 1 AND 255 OR octet_length(secret) NOT BETWEEN 1 AND 255 OR octet_length(database) > 255
      OR number NOT BETWEEN 0 AND 8191 OR (number = 0) <> (request IN ('claim', 'resume')) OR known < 0 OR next < 0
      OR (next = 0) <> (request = 'look') THEN
    RAISE 'invalid request of a node' USING ERRCODE = 'invalid_parameter_value', DETAIL = 'Its name has 1 to 255 bytes.';
  END IF;
  IF pg_is_in_recovery() THEN
    RAISE 'registry is a standby' USING ERRCODE = 'read_only_sql_transaction';
  END IF;
  PERFORM snowid.commit_durably();
  identity := snowid.registry_identity();
  held_node := node;
  held_number := number;
  token := 0;
  IF registry_identity NOT IN ('', identity) THEN
    verdict := 'moved';
    RETURN;
  END IF;
  asking := ROW(number, node, database, system_identifier, database_oid, timeline, clock_timestamp(), session_user,
    clock_timestamp(), NULL, NULL, NULL, false, secret, next, NULL, identity);
  IF request = 'claim' THEN
    held_number := snowid.claim_number(asking);
    verdict := 'held';
    token := next;
    RETURN;
  ELSIF request = 'resume' THEN
    SELECT n.number INTO held_number FROM snowid.nodes AS n
     WHERE n.secret = asking.secret AND n.node IS NOT NULL AND n.token IN (known, next);
    IF NOT FOUND THEN
      verdict := 'lost';
      held_number := 0;
      RETURN;
    END IF;
    asking.number := held_number;
  END IF;
  SELECT a.verdict, a.token INTO verdict, token FROM snowid.answer_node(request, asking, known) AS a;
END $$;
COMMENT ON FUNCTION snowid.register(pg_catalog.text, pg_catalog.text, bigint, pg_catalog.text, bigint, bigint, pg_catalog.text,
    bigint, bigint, bigint, pg_catalog.text) IS
  'what snowid_join, snowid_check and snowid_leave call on the registry: who may execute it may join';
REVOKE ALL ON FUNCTION snowid.register(pg_catalog.text, pg_catalog.text, bigint, pg_catalog.text, bigint, bigint,
  pg_catalog.text, bigint, bigint, bigint, pg_catalog.text) FROM PUBLIC;

-- What the registry's administrator does
CREATE FUNCTION snowid.retire_node(node pg_catalog.text) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10s' AS $$
BEGIN
  PERFORM snowid.commit_durably();
  UPDATE snowid.nodes AS n SET node = NULL, left_node = n.node, retired = clock_timestamp() WHERE n.node = retire_node.node;
  IF NOT FOUND THEN
    RAISE 'node "%" does not exist', node USING ERRCODE = 'undefined_object',
      HINT = 'The view snowid.registered_nodes has those that this registry knows.';
  END IF;
END $$;
COMMENT ON FUNCTION snowid.retire_node(pg_catalog.text) IS
  'on the registry: retire the number of a node that is gone for good';
REVOKE ALL ON FUNCTION snowid.retire_node(pg_catalog.text) FROM PUBLIC;

-- An ID has the time at which its unit began: so in a layout with long units another node would begin where this one has been
-- before the last unit is over that the node has drawn in.
CREATE FUNCTION snowid.free_number(number bigint, longest_unit pg_catalog.interval DEFAULT '1 day') RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10s' AS $$
DECLARE
  held snowid.nodes;
BEGIN
  PERFORM snowid.commit_durably();
  SELECT * INTO held FROM snowid.nodes AS n WHERE n.number = free_number.number FOR UPDATE;
  IF held.retired IS NULL THEN
    RAISE 'number % is not retired', number USING ERRCODE = 'object_not_in_prerequisite_state',
      HINT = 'A number is retired by snowid_leave() on its node, or by snowid.retire_node() here.';
  ELSIF longest_unit < '0' OR longest_unit > '100 years' THEN
    RAISE 'unit of time out of range: %', longest_unit USING ERRCODE = 'invalid_parameter_value';
  -- Clocks may differ by 10 s, and IDs be ahead of them by as much.
  ELSIF held.retired + longest_unit + interval '1 minute' > clock_timestamp() THEN
    RAISE 'number % may have IDs in a unit of time that is not over', number USING ERRCODE = 'object_not_in_prerequisite_state',
      DETAIL = format('It was retired at %s. Where units of time are %s at most it can be free at %s.', held.retired, longest_unit,
        held.retired + longest_unit + interval '1 minute');
  END IF;
  UPDATE snowid.nodes AS n SET is_free = true WHERE n.number = free_number.number;
END $$;
COMMENT ON FUNCTION snowid.free_number(bigint, pg_catalog.interval) IS
  'have the registry give a retired number again, once no unit of time of its layouts can hold an ID of it';
REVOKE ALL ON FUNCTION snowid.free_number(bigint, pg_catalog.interval) FROM PUBLIC;

CREATE FUNCTION snowid.settle_registry(greatest_number bigint) RETURNS bigint
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10s' AS $$
DECLARE
  known bigint;
  forgotten bigint;
BEGIN
  PERFORM snowid.commit_durably();
  IF coalesce(greatest_number NOT BETWEEN 0 AND 8191, true) THEN
    RAISE 'number of a node out of range: %', greatest_number USING ERRCODE = 'invalid_parameter_value';
  END IF;
  LOCK TABLE snowid.nodes IN SHARE ROW EXCLUSIVE MODE;
  -- But for what a node said that was given up since: it may have lied, and is not asked about again.
  UPDATE snowid.nodes AS n SET written_by = '' WHERE n.node IS NULL AND n.written_by IS NULL;
  SELECT max(n.number) INTO known FROM snowid.nodes AS n WHERE n.written_by IS DISTINCT FROM '';
  IF greatest_number < known THEN
    RAISE 'number % was given', known USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  INSERT INTO snowid.nodes (number, retired)
    SELECT g, clock_timestamp() FROM generate_series(1, greatest_number) AS g
     WHERE NOT EXISTS (SELECT FROM snowid.nodes AS n WHERE n.number = g);
  GET DIAGNOSTICS forgotten = ROW_COUNT;
  UPDATE snowid.nodes AS n SET written_by = snowid.registry_identity() WHERE n.written_by IS DISTINCT FROM '';
  RETURN forgotten;
END $$;
COMMENT ON FUNCTION snowid.settle_registry(bigint) IS
  'on a registry that was restored or promoted: say the greatest number that was ever given; returns how many of the numbers it does not know';
REVOKE ALL ON FUNCTION snowid.settle_registry(bigint) FROM PUBLIC;
-- Shards that move

CREATE TABLE snowid.released_shards (
  shard bigint NOT NULL,
  layout @extschema@.snowid_layout NOT NULL,
  id bigint NOT NULL,
  moved_to pg_catalog.text,
  released_at pg_catalog.timestamptz NOT NULL,
  -- The shard first, by which it is looked up.
  PRIMARY KEY (shard, layout)
) USING heap;
COMMENT ON TABLE snowid.released_shards IS
  'shards that issue no IDs here since they were released; see snowid_release and snowid_accept';
COMMENT ON COLUMN snowid.released_shards.shard IS 'shard that issues no IDs here';
COMMENT ON COLUMN snowid.released_shards.layout IS 'layout that the shard is of';
COMMENT ON COLUMN snowid.released_shards.id IS
  'ID above all that it has issued here, which snowid_release has returned';
COMMENT ON COLUMN snowid.released_shards.moved_to IS 'where it has moved to, as far as snowid_release was told';
COMMENT ON COLUMN snowid.released_shards.released_at IS 'when it was released';
COMMENT ON CONSTRAINT released_shards_pkey ON snowid.released_shards IS 'a shard is released once';
COMMENT ON INDEX snowid.released_shards_pkey IS 'a shard is released once';
REVOKE ALL ON snowid.released_shards FROM PUBLIC;
GRANT SELECT ON snowid.released_shards TO PUBLIC;

CREATE FUNCTION snowid.check_release() RETURNS pg_catalog.trigger
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_check_release';
COMMENT ON FUNCTION snowid.check_release() IS
  'trigger: a row that a restore inserts closes its shard, and rows that replication brings are dropped';
REVOKE ALL ON FUNCTION snowid.check_release() FROM PUBLIC;

CREATE TRIGGER check_release BEFORE INSERT OR UPDATE OR DELETE ON snowid.released_shards
  FOR EACH ROW EXECUTE FUNCTION snowid.check_release();
COMMENT ON TRIGGER check_release ON snowid.released_shards IS
  'trigger: a row that a restore inserts closes its shard, and rows that replication brings are dropped';
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON snowid.released_shards
  FOR EACH STATEMENT EXECUTE FUNCTION snowid.check_release();
COMMENT ON TRIGGER refuse_truncate ON snowid.released_shards IS
  'refuses TRUNCATE, which would leave the shards closed in memory';
-- For logical replication, too, whose rows are about another server's shards.
ALTER TABLE snowid.released_shards ENABLE ALWAYS TRIGGER check_release;
ALTER TABLE snowid.released_shards ENABLE ALWAYS TRIGGER refuse_truncate;
-- In a restored copy the shards stay closed: they are another server's.
SELECT pg_catalog.pg_extension_config_dump('snowid.released_shards'::pg_catalog.regclass, ''::pg_catalog.text);

-- Not STRICT: nobody need say where the shard goes. Null for a null shard or layout.
CREATE FUNCTION @extschema@.snowid_release(shard bigint,
    layout @extschema@.snowid_layout DEFAULT 'instagram', moved_to pg_catalog.text DEFAULT NULL)
  RETURNS bigint
  VOLATILE PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_release';
COMMENT ON FUNCTION @extschema@.snowid_release(bigint, @extschema@.snowid_layout, pg_catalog.text) IS
  'issue no more IDs of a shard here; durable; returns an ID above all that were issued';
REVOKE ALL ON FUNCTION @extschema@.snowid_release(bigint, @extschema@.snowid_layout, pg_catalog.text) FROM PUBLIC;

CREATE FUNCTION @extschema@.snowid_accept(id bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_accept';
COMMENT ON FUNCTION @extschema@.snowid_accept(bigint, @extschema@.snowid_layout) IS
  'let the ID''s shard issue IDs here, all above it; durable';
REVOKE ALL ON FUNCTION @extschema@.snowid_accept(bigint, @extschema@.snowid_layout) FROM PUBLIC;

-- Shards that go on above an ID, and servers that take over from others

CREATE FUNCTION @extschema@.snowid_advance(id bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_advance';
COMMENT ON FUNCTION @extschema@.snowid_advance(bigint, @extschema@.snowid_layout) IS
  'issue only later IDs of the ID''s shard from now on; durable';
REVOKE ALL ON FUNCTION @extschema@.snowid_advance(bigint, @extschema@.snowid_layout) FROM PUBLIC;

CREATE FUNCTION @extschema@.snowid_advance_all(moment pg_catalog.timestamptz) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_advance_all';
COMMENT ON FUNCTION @extschema@.snowid_advance_all(pg_catalog.timestamptz) IS
  'issue only IDs with later times from now on, in all shards of this database; durable';
REVOKE ALL ON FUNCTION @extschema@.snowid_advance_all(pg_catalog.timestamptz) FROM PUBLIC;
-- Managing people's tables: what adopting and partitions have in common. All of it runs with the caller's rights.
--
-- Statements on a table can run its owner's code (constraints, expressions of indexes, event triggers). Whatever
-- was read before is stale after that, and search_path and role may be other ones: so statements go through
-- snowid.execute(), and what was known is looked up again.

-- The column of a table that is partitioned by ranges of one bigint; null for every other table.
CREATE FUNCTION snowid.partition_key(tbl pg_catalog.oid) RETURNS pg_catalog.int2
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT p.partattrs[0]
    FROM pg_catalog.pg_partitioned_table AS p
    JOIN pg_catalog.pg_opclass AS c ON c.oid OPERATOR(pg_catalog.=) p.partclass[0]
   WHERE p.partrelid OPERATOR(pg_catalog.=) tbl
     AND p.partstrat OPERATOR(pg_catalog.=) 'r'::pg_catalog."char"
     AND p.partnatts OPERATOR(pg_catalog.=) 1::pg_catalog.int2
     AND p.partattrs[0] OPERATOR(pg_catalog.>) 0::pg_catalog.int2
     AND c.opcname OPERATOR(pg_catalog.=) 'int8_ops'::pg_catalog.name
     AND c.opcnamespace OPERATOR(pg_catalog.=) 'pg_catalog'::pg_catalog.regnamespace::pg_catalog.oid;
END;
COMMENT ON FUNCTION snowid.partition_key(pg_catalog.oid) IS 'column of a table that is partitioned by ranges of one bigint';

-- The partitions of such a table. A bound that is null is none; both are for the default partition.
CREATE FUNCTION snowid.ranges_of(parent pg_catalog.oid, OUT relid pg_catalog.oid, OUT first bigint, OUT next bigint,
    OUT is_default boolean, OUT is_leaving boolean)
  RETURNS SETOF pg_catalog.record
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT b.relid, NULLIF(b.bounds[1], 'MINVALUE')::bigint, NULLIF(b.bounds[2], 'MAXVALUE')::bigint,
      b.bounds IS NULL, b.inhdetachpending
    FROM (SELECT c.oid AS relid, i.inhdetachpending, pg_catalog.regexp_match(pg_catalog.pg_get_expr(c.relpartbound, c.oid),
              '^FOR VALUES FROM [(]''?(-?[0-9]+|MINVALUE)''?[)] TO [(]''?(-?[0-9]+|MAXVALUE)''?[)]$') AS bounds
            FROM pg_catalog.pg_inherits AS i
            JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) i.inhrelid
           WHERE i.inhparent OPERATOR(pg_catalog.=) parent
          -- So that bounds are read once.
          OFFSET 0) AS b;
END;
COMMENT ON FUNCTION snowid.ranges_of(pg_catalog.oid) IS
  'partitions of a table with snowid.partition_key(), from their first ID to the first one after them';

-- What a column's default draws from, where that is a call of snowid_next() with constants, however it is written;
-- else nulls. The shard is null for that of snowid_default_shard(). Nothing of the default is run. As it is printed
-- here, with all names qualified, it is this extension's function if that is one.
CREATE FUNCTION snowid.source_of_ids(tbl pg_catalog.oid, col pg_catalog.int2,
    OUT shard bigint, OUT layout @extschema@.snowid_layout)
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
DECLARE
  own CONSTANT text := (SELECT CASE n.nspname WHEN 'pg_catalog' THEN '' ELSE quote_ident(n.nspname) || '.' END
    FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname = 'snowid');
  -- Of a schema, as it is printed before a name.
  prefix CONSTANT text := '((?:(?:[a-z0-9_]+|"(?:[^"]|"")+")[.])?)';
  printed text;
  reversed text[];
  parts text[];
BEGIN
  SELECT pg_get_expr(d.adbin, d.adrelid) INTO printed
    FROM pg_attrdef AS d
    JOIN pg_attribute AS a ON a.attrelid = d.adrelid AND a.attnum = d.adnum AND a.attgenerated = ''
   WHERE d.adrelid = tbl AND d.adnum = col
     AND (SELECT bool_and(EXISTS (SELECT FROM pg_depend AS m JOIN pg_extension AS e ON e.oid = m.refobjid
              WHERE m.classid = f.refclassid AND m.objid = f.refobjid AND m.deptype = 'e'
                AND m.refclassid = 'pg_extension'::regclass AND e.extname = 'snowid'))
            FROM pg_depend AS f
           WHERE f.classid = 'pg_attrdef'::regclass AND f.objid = d.oid AND f.refclassid = 'pg_proc'::regclass);
  -- Arguments may be named, and named ones in either order.
  reversed := regexp_match(printed, '^(.*[(])(layout => .*), (shard => .*)[)]$');
  IF reversed IS NOT NULL THEN
    printed := concat(reversed[1], reversed[3], ', ', reversed[2], ')');
  END IF;
  parts := regexp_match(printed, concat('^', prefix, 'snowid_next[(](?:(?:shard => )?(?:[(]([0-9]+)[)]::bigint|''([0-9]+)''::bigint|',
    prefix, 'snowid_default_shard[(][)])(?:, (?:layout => )?''([^'']*)''::', prefix, 'snowid_layout)?)?[)]$'));
  IF parts[1] = own AND coalesce(parts[4], own) = own AND coalesce(parts[6], own) = own THEN
    shard := coalesce(parts[2], parts[3]);
    layout := coalesce(parts[5], 'instagram');
  END IF;
END $$;
COMMENT ON FUNCTION snowid.source_of_ids(pg_catalog.oid, pg_catalog.int2) IS
  'shard and layout that a column''s default draws IDs from';

-- Goes on as a role until the transaction ends, or the one that it was before is set again.
CREATE FUNCTION snowid.act_as(role pg_catalog.name) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql AS $$
BEGIN
  IF current_user OPERATOR(pg_catalog.<>) role THEN
    PERFORM pg_catalog.set_config('role', role::pg_catalog.text, true);
  END IF;
END $$;
COMMENT ON FUNCTION snowid.act_as(pg_catalog.name) IS 'go on as a role, which the caller must be a member of';

-- Goes on as the role that it was, if that is another one now: in a SECURITY DEFINER function nobody may set it.
CREATE FUNCTION snowid.act_again_as(role pg_catalog.text) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql AS $$
BEGIN
  IF pg_catalog.current_setting('role') OPERATOR(pg_catalog.<>) role THEN
    PERFORM pg_catalog.set_config('role', role, true);
  END IF;
END $$;
COMMENT ON FUNCTION snowid.act_again_as(pg_catalog.text) IS 'set the role back to what it was';

-- The first ID of the unit of time that holds a moment; also of a moment that the layout does not have. An ID has the
-- time at which its unit began: so those of now are at or above it.
CREATE FUNCTION snowid.first_of_unit(moment pg_catalog.timestamptz, layout @extschema@.snowid_layout) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN snowid.range_first(moment - (SELECT d.unit FROM @extschema@.snowid_layout_describe(layout) AS d) + interval '1 us',
    'infinity', layout);
END $$;
COMMENT ON FUNCTION snowid.first_of_unit(pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'first ID of the unit of time that holds a moment';

-- A table and all that inherits from it. Locks nothing, as pg_partition_tree() does.
CREATE FUNCTION snowid.tree_of(tbl pg_catalog.oid) RETURNS SETOF pg_catalog.oid
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  WITH RECURSIVE tree(relid) AS (
    SELECT tbl
    UNION
    SELECT i.inhrelid FROM tree AS t JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) t.relid)
  SELECT t.relid FROM tree AS t;
END;
COMMENT ON FUNCTION snowid.tree_of(pg_catalog.oid) IS 'a table and all that inherits from it';

-- Runs a statement on a table as its owner, and has search_path be again what functions of this room set. It has none
-- of its own: setting it would end with this call.
CREATE FUNCTION snowid.execute(owner pg_catalog.name, statement pg_catalog.text) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql AS $$
BEGIN
  PERFORM snowid.act_as(owner);
  EXECUTE statement;
  PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
END $$;
COMMENT ON FUNCTION snowid.execute(pg_catalog.name, pg_catalog.text) IS 'run a statement that may run others'' code';

-- Locks tables in the order in which they are given, each in its mode, ONLY them. Those that the caller may not lock,
-- or nobody can, are left to the statement that needs them.
--
-- A session that waits for a strong lock holds up all that come after, and one that waits with other locks held can
-- deadlock with them. So it tries in turns: a turn waits for half of deadlock_timeout at most, all locks taken
-- together, and then lets go of all. So it is always this call that gives way. It fails with 55P03 after lock_timeout,
-- or after 10 s where there is none. lock_timeout is that of a turn afterwards: it is for the caller to put it back.
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
        -- Only now: it may be gone since those before it were waited for.
        SELECT format('%I.%I', n.nspname, c.relname) INTO relation
          FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
         WHERE c.oid = one.relid AND c.relkind IN ('r', 'p') AND has_table_privilege(c.oid, 'UPDATE, DELETE, TRUNCATE');
        CONTINUE WHEN NOT FOUND;
        PERFORM set_config('lock_timeout',
          greatest(1, ceil(extract(epoch FROM turn_ends - clock_timestamp()) * 1000))::bigint::text, true);
        EXECUTE format('LOCK TABLE ONLY %s IN %s MODE', relation, one.mode);
      END LOOP;
      PERFORM set_config('lock_timeout', greatest(1, extract(epoch FROM turn) * 1000)::bigint::text, true);
      RETURN;
    EXCEPTION WHEN lock_not_available THEN
      IF clock_timestamp() >= gives_up THEN RAISE; END IF;
    END;
    PERFORM pg_sleep(0.1);
  END LOOP;
END $$;
COMMENT ON FUNCTION snowid.lock_tables(pg_catalog.oid[], pg_catalog.text[]) IS
  'lock tables, and let others pass while waiting';
-- What is in the way of a column's becoming IDs: narrow columns, its own and those that refer to it.

-- The columns that get or bring a column's values by foreign keys and inheritance, itself included. Types
-- are not looked at: a foreign key may lead over a wide column to a narrow one.
CREATE FUNCTION snowid.related_columns(tbl pg_catalog.regclass, col pg_catalog.name,
    OUT relid pg_catalog.oid, OUT attnum pg_catalog.int2)
  RETURNS SETOF pg_catalog.record
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  -- Ways from a column to others, gone in steps, all of one step at once: a look for each column would read
  -- pg_constraint once for each. A column that is null is that of the same name; its type is given, since versions of
  -- PostgreSQL name a column of NULL alone differently.
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
  'columns whose values go with those of a column, by foreign keys and inheritance';

-- What widens a column and those that refer to it to bigint, as text; null where nothing is to be done. What
-- stands in the way of ALTER TABLE is named: PostgreSQL would name one thing at a time. Functions whose
-- arguments were declared by the column's type leave no trace of that, so those with narrow arguments that
-- mention one of the tables are named, too.
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
       -- What is compiled has a symbol for its source.
       AND l.lanname OPERATOR(pg_catalog.<>) ALL (ARRAY['c', 'internal']::pg_catalog.name[])
       AND COALESCE(p.proallargtypes, p.proargtypes::pg_catalog.oid[]) OPERATOR(pg_catalog.&&)
         ARRAY['pg_catalog.int4'::pg_catalog.regtype::pg_catalog.oid, 'pg_catalog.int2'::pg_catalog.regtype::pg_catalog.oid]
       AND EXISTS (SELECT FROM narrow AS r
         WHERE pg_catalog.strpos(pg_catalog.lower(p.prosrc), pg_catalog.lower(r.relname::pg_catalog.text))
           OPERATOR(pg_catalog.>) 0))
  SELECT pg_catalog.concat_ws(pg_catalog.chr(10),
      pg_catalog.concat('Each of these statements writes its table anew, while it is locked:',
        pg_catalog.chr(10)) OPERATOR(pg_catalog.||) s.list,
      'These stand in the way: drop them before, and create them again afterwards: '
        OPERATOR(pg_catalog.||) b.list OPERATOR(pg_catalog.||) '.',
      'The type of a column that a table is partitioned by cannot be changed, so make these anew: '
        OPERATOR(pg_catalog.||) f.list OPERATOR(pg_catalog.||) '.',
      'Look at these functions, which have narrow arguments and mention the tables: '
        OPERATOR(pg_catalog.||) p.list OPERATOR(pg_catalog.||) '.')
    FROM statements AS s, blockers AS b, fixed AS f, functions AS p
   WHERE s.list IS NOT NULL OR f.list IS NOT NULL;
END;
COMMENT ON FUNCTION snowid.widening(pg_catalog.regclass, pg_catalog.name) IS
  'statements that change a column, and those that refer to it, to bigint, for snowid_adopt()';
-- What a column must be to draw IDs: the refusals of snowid_adopt(), with what the user can do.

-- A table and all that inherits from it, itself first; their column.
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
COMMENT ON FUNCTION snowid.family_of(pg_catalog.regclass, pg_catalog.name) IS
  'a table and those that inherit from it, with one of its columns';

-- Fails where the caller may not alter a relation, or it is none whose columns can draw IDs.
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
      DETAIL = 'The keys that it has are not known here.', HINT = 'Let its own server adopt the column.';
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
COMMENT ON FUNCTION snowid.require_table(pg_catalog.regclass) IS 'refuse what cannot draw IDs';

-- Fails where Citus has distributed a table: its rows are on other nodes, each of which draws from a shard of its own.
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
      DETAIL = 'Its rows are on other nodes, each of which draws IDs of its own.',
      HINT = concat_ws(E'\n', 'While nobody writes to it:',
        format('SELECT run_command_on_all_nodes(pg_catalog.format(''SELECT %3$s.snowid_advance_all(%%L)'','
          ' %3$s.snowid_timestamp(pg_catalog.max(%1$I), %4$L::%3$s.snowid_layout))) FROM %2$s WHERE %1$I >= 0;',
          col, tbl, '@extschema@', layout),
        format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s;', tbl, col, call));
  END IF;
END $$;
COMMENT ON FUNCTION snowid.require_local_table(pg_catalog.regclass, pg_catalog.name, @extschema@.snowid_layout, pg_catalog.text) IS
  'refuse what Citus has distributed';

-- A type, and those that it is a domain over.
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
COMMENT ON FUNCTION snowid.types_below(pg_catalog.oid) IS 'a type, and those that it is a domain over';

-- Fails where a column cannot draw IDs, and says what widens it and those that refer to it, which are looked for if
-- there is time.
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
  SELECT b.oid INTO base FROM snowid.types_below(a.atttypid) AS b (oid) JOIN pg_type AS t ON t.oid = b.oid WHERE t.typtype <> 'd';
  IF has_time AND base = ANY (ARRAY['int2', 'int4', 'int8']::regtype[]::oid[]) THEN widening := snowid.widening(tbl, col); END IF;
  IF base <> 'int8'::regtype THEN
    RAISE 'column "%" of relation "%" is of type %, and IDs are of type bigint', col, tbl_name, a.atttypid::regtype
      USING ERRCODE = 'datatype_mismatch', DETAIL = coalesce(widening, ''), HINT = CASE WHEN widening IS NULL THEN '' ELSE
        'Widen it and what refers to it, also in functions and programs, and adopt it then.' END;
  ELSIF widening IS NOT NULL THEN
    RAISE 'columns that refer to column "%" of relation "%" cannot hold IDs', col, tbl_name
      USING ERRCODE = 'datatype_mismatch', DETAIL = widening,
        HINT = 'Widen them, also in functions and programs, and adopt it then.';
  END IF;
  SELECT pg_describe_object('pg_constraint'::regclass, c.oid, 0) INTO reference
    FROM snowid.family_of(tbl, col) AS f JOIN pg_constraint AS c ON c.conrelid = f.relid AND c.contype = 'f',
      LATERAL ROWS FROM (unnest(c.conkey), unnest(c.confkey)) AS k (own, referred)
   WHERE k.own = f.attnum
     AND NOT EXISTS (SELECT FROM snowid.family_of(tbl, col) AS g WHERE g.relid = c.confrelid AND g.attnum = k.referred)
   ORDER BY f.relid <> tbl, c.conparentid, c.conname LIMIT 1;
  IF FOUND THEN
    RAISE 'column "%" of relation "%" refers to another column', col, tbl_name USING ERRCODE = 'object_not_in_prerequisite_state',
      DETAIL = format('It does so by %s. No new ID is in that one.', reference), HINT = 'Adopt the column that it refers to.';
  END IF;
END $$;
COMMENT ON FUNCTION snowid.require_wide_column(pg_catalog.regclass, pg_catalog.name, boolean) IS
  'refuse a column that cannot draw IDs';

-- The tables that rows with an ID go to, among those that inherit from a table. Fails with 55000 where it has no
-- partition for them.
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
        RAISE 'table % has no partition for an ID of now', one::regclass
          USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = format('That would be %s.', id),
            HINT = 'Make one before, or a default partition.';
      END IF;
    END IF;
  END LOOP;
END $$;
COMMENT ON FUNCTION snowid.tables_for(pg_catalog.regclass, pg_catalog.name, bigint) IS 'tables that rows with an ID go to';

-- Whether an expression, as a catalog stores it, runs nobody's code and has no effect, whoever evaluates it: it is made
-- of constants, columns and immutable functions of PostgreSQL's own, and of nothing else. This extension's do not
-- count: its owner, who may be the database's, can add functions to it.
CREATE FUNCTION snowid.is_plain(tree pg_catalog.text) RETURNS boolean
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT NOT EXISTS (
      SELECT FROM pg_catalog.regexp_matches(tree, '[{]([[:alnum:]_]+)', 'g') AS n (node)
       WHERE n.node[1] OPERATOR(pg_catalog.<>) ALL (ARRAY['VAR', 'CONST', 'OPEXPR', 'FUNCEXPR', 'BOOLEXPR', 'NULLTEST',
         'BOOLEANTEST', 'RELABELTYPE', 'SCALARARRAYOPEXPR', 'CASEEXPR', 'CASEWHEN', 'CASETESTEXPR', 'COALESCEEXPR', 'NULLIFEXPR',
         'DISTINCTEXPR', 'ARRAYEXPR']))
    -- Types too: functions of PostgreSQL's own call those of somebody's range type.
    AND NOT EXISTS (
      SELECT FROM pg_catalog.regexp_matches(tree, ':(?:opno|[[:alnum:]_]*type(?:id)?) ([0-9]+)', 'gi') AS o (id)
       WHERE o.id[1]::bigint OPERATOR(pg_catalog.>=) 16384::bigint)
    AND tree OPERATOR(pg_catalog.!~) ':(?:op)?funcid 0 '
    AND NOT EXISTS (
      SELECT FROM pg_catalog.regexp_matches(tree, ':(?:|op|hash|neg)funcid ([0-9]+)', 'g') AS f (func)
       WHERE f.func[1] OPERATOR(pg_catalog.<>) '0' AND NOT EXISTS (
         SELECT FROM pg_catalog.pg_proc AS p
          WHERE p.oid OPERATOR(pg_catalog.=) f.func[1]::pg_catalog.oid
            AND p.oid::bigint OPERATOR(pg_catalog.<) 16384::bigint
            AND p.provolatile OPERATOR(pg_catalog.=) 'i'::pg_catalog."char"
            AND p.prolang OPERATOR(pg_catalog.=) (SELECT l.oid FROM pg_catalog.pg_language AS l
              WHERE l.lanname OPERATOR(pg_catalog.=) 'internal'::pg_catalog.name)));
END;
COMMENT ON FUNCTION snowid.is_plain(pg_catalog.text) IS 'whether a stored expression can be evaluated by anybody';

-- What looks at each new row of a table: checks, generated columns, expressions and predicates of indexes, triggers. An
-- expression is null where it needs more than this column. has_code says whether it may run code of the owner's, which
-- would have the rights of the role that tries it, or have an effect.
CREATE FUNCTION snowid.lookers_at(tbl pg_catalog.regclass, col pg_catalog.int2, OUT what pg_catalog.text,
    OUT is_check boolean, OUT expression pg_catalog.text, OUT has_code boolean)
  RETURNS SETOF pg_catalog.record
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY
    WITH looker(classid, objid, objsubid, is_check, expression, own, tree) AS (
      SELECT 'pg_constraint'::regclass, c.oid, 0, true, pg_get_expr(c.conbin, tbl), 0, c.conbin::text FROM pg_constraint AS c
       WHERE c.conrelid = tbl AND c.contype = 'c' AND coalesce((to_jsonb(c) ->> 'conenforced')::boolean, true)
      UNION ALL
      -- With the cast to the column's type, which is stored and not printed; one to varchar would cut.
      SELECT 'pg_attrdef'::regclass, d.oid, 0, true,
          format(CASE WHEN a.attnotnull THEN '(%1$s)::%2$s IS NOT NULL' ELSE '((%1$s)::%2$s IS NULL OR true)' END
            || CASE WHEN a.atttypid = 'varchar'::regtype THEN ' AND (%1$s)::%2$s::text IS NOT DISTINCT FROM (%1$s)::text' ELSE '' END,
            pg_get_expr(d.adbin, tbl), format_type(a.atttypid, a.atttypmod)), a.attnum, d.adbin::text
        FROM pg_attrdef AS d JOIN pg_attribute AS a ON a.attrelid = tbl AND a.attnum = d.adnum
       WHERE d.adrelid = tbl AND a.attgenerated <> ''
      UNION ALL
      SELECT 'pg_class'::regclass, i.indexrelid, 0, false,
          format(CASE WHEN i.indpred IS NULL THEN 'ROW(%s)' ELSE 'CASE WHEN %2$s THEN ROW(%1$s) END' END,
            pg_get_expr(i.indexprs, tbl), pg_get_expr(i.indpred, tbl)), 0, concat(i.indexprs::text, i.indpred::text)
        FROM pg_index AS i WHERE i.indrelid = tbl AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)),
    depending AS (
      SELECT l.classid, l.objid, d.refclassid, d.refobjid, d.refobjsubid
        FROM looker AS l JOIN pg_depend AS d ON NOT (l.own > 0 AND d.refobjid = tbl AND d.refobjsubid = l.own)
         AND (d.classid = l.classid AND d.objid = l.objid
           -- Up to PostgreSQL 15 it is the generated column that depends on others.
           OR l.own > 0 AND d.classid = 'pg_class'::regclass AND d.objid = tbl AND d.objsubid = l.own))
    SELECT pg_describe_object(l.classid, l.objid, l.objsubid), l.is_check,
        CASE WHEN u.columns = ARRAY[col]::int[] AND l.tree !~ ':varattno (0|-)' THEN l.expression END, NOT snowid.is_plain(l.tree)
      FROM looker AS l, LATERAL (
        SELECT array_agg(DISTINCT d.refobjsubid) FILTER (WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = tbl
              AND d.refobjsubid > 0) AS columns
          FROM depending AS d WHERE d.classid = l.classid AND d.objid = l.objid) AS u
     -- What looks at a column that is generated from this one does, too.
     WHERE col = ANY (u.columns) OR u.columns && ARRAY(
       SELECT g.own::int FROM looker AS g JOIN depending AS d ON d.classid = g.classid AND d.objid = g.objid
        WHERE g.own > 0 AND d.refclassid = 'pg_class'::regclass AND d.refobjid = tbl AND d.refobjsubid = col)
    UNION ALL
    -- For INSERT.
    SELECT pg_describe_object('pg_policy'::regclass, p.oid, 0), false, NULL, true
      FROM pg_policy AS p WHERE p.polrelid = tbl AND p.polcmd IN ('a', '*')
    UNION ALL
    SELECT pg_describe_object('pg_rewrite'::regclass, r.oid, 0), false, NULL, true
      FROM pg_rewrite AS r WHERE r.ev_class = tbl AND r.ev_type = '3'
    UNION ALL
    SELECT format('partitions of table %s', tbl::regclass), false, NULL, true
      FROM pg_partitioned_table AS t
     WHERE t.partrelid = tbl AND (t.partexprs IS NOT NULL OR t.partnatts > 1 AND col = ANY (t.partattrs::int2[]))
    UNION ALL
    SELECT pg_describe_object('pg_trigger'::regclass, t.oid, 0), false, NULL, true
      FROM pg_trigger AS t WHERE t.tgrelid = tbl AND NOT t.tgisinternal AND t.tgtype & 4 <> 0 AND t.tgenabled <> 'D'
     ORDER BY 1;
END $$;
COMMENT ON FUNCTION snowid.lookers_at(pg_catalog.regclass, pg_catalog.int2) IS
  'what reads a column of each new row of a table';

-- Tries an ID of now on all that looks at the column alone. What would fail later fails now, with 55000. Code of another
-- owner's is not run, for it would have the caller's rights: a notice, if wanted, lists that and what needs a whole row.
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
    SELECT t.relid, l.what, l.is_check, l.expression, l.has_code AND (r.rolname <> current_user OR l.type <> 'bigint') AS is_anothers,
        l.type
      FROM snowid.tables_for(tbl, col, id) AS t (relid)
      JOIN pg_class AS c ON c.oid = t.relid JOIN pg_roles AS r ON r.oid = c.relowner
      JOIN pg_attribute AS a ON a.attrelid = t.relid AND a.attname = col,
        LATERAL (SELECT *, 'bigint' AS type FROM snowid.lookers_at(t.relid, a.attnum)
          UNION ALL
          SELECT pg_describe_object('pg_type'::regclass, d.oid, 0), false, format('%I', col),
              r.rolname <> current_user OR EXISTS (SELECT FROM snowid.types_below(d.oid) AS b (oid)
                JOIN pg_type AS y ON y.oid = b.oid WHERE y.typtype = 'd' AND y.typowner <> c.relowner),
              format_type(a.atttypid, a.atttypmod)
            FROM pg_type AS d WHERE d.oid = a.atttypid AND d.typtype = 'd' AND t.relid = tbl) AS l
  LOOP
    IF one.expression IS NULL OR one.is_anothers THEN
      untried := untried || one.what;
      CONTINUE;
    END IF;
    BEGIN
      is_right := true;
      IF one.is_check THEN
        EXECUTE format('SELECT (%s)::boolean FROM (SELECT $1::%s AS %I) AS r', one.expression, one.type, col) INTO is_right USING id;
      ELSE
        EXECUTE format('SELECT %s FROM (SELECT $1::%s AS %I) AS r', one.expression, one.type, col) USING id;
      END IF;
      reason := CASE WHEN NOT is_right THEN 'It is not fulfilled.' END;
    EXCEPTION WHEN OTHERS THEN
      reason := format('It fails: %s.', SQLERRM);
    END;
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    IF reason IS NOT NULL THEN
      RAISE 'column "%" of relation % cannot hold an ID of now', col, tbl
        USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = format('%s refuses %s. %s', one.what, id, reason),
          HINT = 'Change or drop it before.';
    END IF;
  END LOOP;
  IF is_told AND untried <> '{}' THEN
    RAISE NOTICE 'an ID of now was not tried on all that looks at new rows'
      USING DETAIL = format('Look at these: %s.', array_to_string(ARRAY(SELECT DISTINCT unnest(untried) ORDER BY 1), ', '));
  END IF;
END $$;
COMMENT ON FUNCTION snowid.try_id(pg_catalog.regclass, pg_catalog.name, bigint, boolean) IS
  'refuse a column that a present ID does not fit into';
-- Columns that become IDs. All that can be refused is refused before anything is changed or anybody has to wait, and
-- then once more under the lock, for what has come meanwhile.

-- The greatest key of a table and all that inherits from it, read by indexes, or by reading 8 MB at most, all tables
-- together. It needs the right to read them, and all their rows.
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
      RAISE 'no index tells the greatest "%" of table %', col, one.relid
        USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = 'More than 8 MB would have to be read under a lock.',
          HINT = format('Use CREATE INDEX CONCURRENTLY ON %s (%I). The index may be dropped afterwards.', one.relid, col);
    END IF;
  END LOOP;
  FOR one IN SELECT f.relid FROM snowid.family_of(tbl, col) AS f WHERE f.relkind = 'r' LOOP
    EXECUTE format('SELECT pg_catalog.max(%I) FROM ONLY %s', col, one.relid) INTO key;
    greatest_key := greatest(greatest_key, key);
  END LOOP;
  RETURN greatest_key;
END $$;
COMMENT ON FUNCTION snowid.greatest_key(pg_catalog.regclass, pg_catalog.name) IS
  'greatest value of a column, where little has to be read for it';

-- Draws an ID of a shard and layout that is above a key. Where the next one is not, the shard is moved ahead, for which
-- the caller needs the same right as for snowid_advance().
CREATE FUNCTION snowid.draw_above(key bigint, shard bigint, layout @extschema@.snowid_layout) RETURNS bigint
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  id bigint := @extschema@.snowid_next(shard, layout);
  moment timestamptz;
  same bigint;
  last bigint;
BEGIN
  IF id > coalesce(key, -1) THEN RETURN id; END IF;
  IF key <= snowid.range_last('-infinity', 'infinity', layout) THEN moment := @extschema@.snowid_timestamp(key, layout); END IF;
  IF coalesce(moment > clock_timestamp() + current_setting('snowid.max_lead')::interval, true) THEN
    RAISE 'key % is above the next IDs', key
      USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = CASE WHEN moment IS NULL
        THEN format('It is above all IDs of layout "%s".', layout)
        ELSE format('An ID of layout "%s" that is as great has the time %s, and IDs run ahead of the clock by %s at most.',
          layout, moment, current_setting('snowid.max_lead')) END,
      HINT = 'Give rows with such keys other ones before, or choose a layout whose IDs are greater. If another server has '
        'made the key, compare the clocks.';
  ELSIF NOT has_function_privilege('@extschema@.snowid_advance(bigint, @extschema@.snowid_layout)', 'EXECUTE') THEN
    RAISE 'permission denied to move shard % ahead', shard
      USING ERRCODE = 'insufficient_privilege', DETAIL = format('Key %s is ahead of the clock: its time is %s.', key, moment),
        HINT = 'Wait until the clock has passed it, or have somebody call who may execute snowid_advance().';
  END IF;
  same := @extschema@.snowid_encode(moment, shard, @extschema@.snowid_sequence(key, layout), layout);
  last := @extschema@.snowid_encode(moment, shard,
    @extschema@.snowid_sequence(@extschema@.snowid_max(moment, layout), layout), layout);
  -- All of that unit of time are below it where the shard stands above the sequence, and is less than the key's.
  PERFORM @extschema@.snowid_advance(CASE WHEN last <= key THEN last ELSE same END, layout);
  RETURN @extschema@.snowid_next(shard, layout);
END $$;
COMMENT ON FUNCTION snowid.draw_above(bigint, bigint, @extschema@.snowid_layout) IS 'an ID that is above a key';

-- The shards that a default without one draws from: in this session, and in others, which have what is set for the server,
-- the database or their role, or nothing.
CREATE FUNCTION snowid.default_shards() RETURNS bigint[]
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  shards bigint[] := ARRAY[@extschema@.snowid_default_shard()];
  others text;
BEGIN
  FOR others IN
    SELECT unnest(ARRAY[s.boot_val, s.reset_val]) FROM pg_settings AS s WHERE s.name = 'snowid.shard'
    UNION
    SELECT split_part(c.setting, '=', 2) FROM pg_db_role_setting AS r, unnest(r.setconfig) AS c (setting)
     WHERE split_part(c.setting, '=', 1) = 'snowid.shard'
       AND r.setdatabase IN (0, (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))
  LOOP
    CONTINUE WHEN others = current_setting('snowid.shard');
    BEGIN
      PERFORM set_config('snowid.shard', others, true);
      shards := shards || @extschema@.snowid_default_shard();
      -- Takes the setting back, which has more to it than its value.
      RAISE SQLSTATE 'SN000';
    EXCEPTION
      WHEN SQLSTATE 'SN000' THEN NULL;
      -- Where it gives no shard, nobody draws by it.
      WHEN invalid_parameter_value OR object_not_in_prerequisite_state THEN NULL;
    END;
  END LOOP;
  RETURN shards;
END $$;
COMMENT ON FUNCTION snowid.default_shards() IS 'shards of snowid_default_shard() in this session and in others';

-- Fails where a column cannot be adopted; has its shard be above the keys that are there. Whether it is done already.
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
          AND coalesce(s.layout OPERATOR(@extschema@.=) is_adopted.layout, false))
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
  'refuse a column that cannot be adopted; returns whether it is already';

-- Drops a sequence, by a statement, and says what was granted on it.
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
    RAISE NOTICE 'what was granted on sequence % is gone with it', name
      USING DETAIL = format('That was: %s.', granted), HINT = 'Roles that insert into the table no longer need it.';
  END IF;
EXCEPTION WHEN dependent_objects_still_exist THEN
  GET STACKED DIAGNOSTICS dependents = PG_EXCEPTION_DETAIL;
  RAISE 'cannot drop sequence %, which others depend on', name
    USING ERRCODE = 'dependent_objects_still_exist', DETAIL = dependents,
      HINT = format('Let these draw from something else before; or keep a serial''s sequence, by ALTER SEQUENCE %s OWNED BY NONE.', name);
END $$;
COMMENT ON FUNCTION snowid.drop_sequence(pg_catalog.regclass, pg_catalog.text) IS
  'drop the sequence that a column took its numbers from';

CREATE FUNCTION @extschema@.snowid_adopt(tbl pg_catalog.regclass, col pg_catalog.name, shard bigint DEFAULT NULL,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS pg_catalog.text
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  patience CONSTANT text := current_setting('lock_timeout');
  call text;
  is_done boolean;
  one record;
  serials regclass[] := '{}';
  serial regclass;
BEGIN
  IF tbl IS NULL OR col IS NULL OR layout IS NULL THEN
    RAISE 'table, column and layout must not be null' USING ERRCODE = 'null_value_not_allowed';
  ELSIF current_setting('transaction_isolation') NOT LIKE 'read %committed' THEN
    RAISE 'snowid_adopt() must be called in a READ COMMITTED transaction'
      USING ERRCODE = 'feature_not_supported', DETAIL = 'It would not see the keys that others have committed since it began.';
  ELSIF NOT snowid.layout_is_ordered(layout) THEN
    RAISE 'IDs of layout "%" are not in the order of their times', layout USING ERRCODE = 'invalid_parameter_value',
      DETAIL = 'The time is not its first field, so IDs to come can be the keys that are there.';
  END IF;
  call := CASE WHEN shard IS NULL THEN '@extschema@.snowid_default_shard()'
    WHEN shard <= 2147483647 THEN format('(%s)::bigint', shard) ELSE format('%L::bigint', shard) END;
  call := format('%s.snowid_next(%s)', '@extschema@', CASE
    WHEN layout OPERATOR(@extschema@.<>) 'instagram' THEN format('%s, %L::%s.snowid_layout', call, layout, '@extschema@')
    WHEN shard IS NULL THEN '' ELSE call END);

  -- Without a lock, so that nobody waits for what is refused. What it has locked all the same is let go of, or two
  -- callers would wait for each other.
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
    PERFORM snowid.lock_tables(array_agg(f.relid::oid), array_agg('ACCESS EXCLUSIVE'::text))
      FROM snowid.family_of(tbl, col) AS f;
    is_done := snowid.is_adopted(tbl, col, shard, layout, call, false);
  END IF;
  IF is_done THEN
    PERFORM set_config('lock_timeout', patience, true);
    RAISE NOTICE 'column "%" of relation % has this default already, nothing is changed', col, tbl;
    RETURN call;
  END IF;

  -- Identities; partitions have their table's from PostgreSQL 17 on, and lose it with that.
  FOR one IN
    SELECT f.relid, d.objid::regclass AS seq, d.deptype, EXISTS (
        SELECT FROM pg_attrdef AS e JOIN pg_depend AS s ON s.classid = 'pg_attrdef'::regclass AND s.objid = e.oid
          AND s.refclassid = 'pg_class'::regclass AND s.refobjid = d.objid
         WHERE e.adrelid = f.relid AND e.adnum = f.attnum) AS is_used
      FROM snowid.family_of(tbl, col) AS f
      JOIN pg_depend AS d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = f.relid AND d.refobjsubid = f.attnum
       AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
      JOIN pg_class AS c ON c.oid = d.objid AND c.relkind = 'S'
  LOOP
    IF one.deptype = 'i' THEN
      PERFORM snowid.drop_sequence(one.seq, format('ALTER TABLE %s ALTER COLUMN %I DROP IDENTITY', one.relid, col));
    ELSIF one.is_used THEN
      serials := serials || one.seq;
    ELSE
      RAISE NOTICE 'sequence % is left', one.seq
        USING DETAIL = format('Column "%s" of relation %s owns it, and its default does not draw from it.', col, one.relid);
    END IF;
  END LOOP;
  PERFORM snowid.execute(current_user, format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', tbl, col, call));
  FOREACH serial IN ARRAY serials LOOP
    PERFORM snowid.drop_sequence(serial, format('DROP SEQUENCE %s', serial));
  END LOOP;
  -- What is to be called may have been taken from the extension.
  IF (SELECT bool_or(s.layout IS NULL) FROM snowid.family_of(tbl, col) AS f, snowid.source_of_ids(f.relid, f.attnum) AS s) THEN
    RAISE '% does not call a function of extension "snowid"', call USING ERRCODE = 'object_not_in_prerequisite_state',
      HINT = 'Put it back by ALTER EXTENSION snowid ADD FUNCTION.';
  END IF;
  PERFORM set_config('lock_timeout', patience, true);
  RETURN call;
END $$;
COMMENT ON FUNCTION @extschema@.snowid_adopt(pg_catalog.regclass, pg_catalog.name, bigint, @extschema@.snowid_layout) IS
  'give a serial, identity or other bigint column IDs from now on, above the keys that are there; returns its default';
-- IDs for old rows

CREATE FUNCTION @extschema@.snowid_backfill(created_at pg_catalog.timestamptz, shard bigint,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  WINDOW IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_backfill';
COMMENT ON FUNCTION @extschema@.snowid_backfill(pg_catalog.timestamptz, bigint, @extschema@.snowid_layout) IS
  'IDs for old rows with the time of each row, distinct and in order within OVER (ORDER BY created_at)';
-- Partitions by an ID's time. Everything is done as the table's owner, also where a member of that role calls: what is
-- made is the owner's, and triggers and the like run as for the owner's own statement. Others' rows, and other tables,
-- are never touched. What to do follows from the partitions that are there and from the layout that the column's
-- default names, never from the time of the call alone.

-- Fails where a table is not one whose partitions the caller may make and drop. Its column, and its owner.
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
  ELSIF snowid.partition_key(parent) IS NULL THEN
    RAISE 'table "%" is partitioned by a column that holds no IDs', tbl.relname
      USING ERRCODE = 'datatype_mismatch', DETAIL = 'IDs are of type bigint, and in its order.';
  END IF;
  SELECT a.attname INTO STRICT key FROM pg_attribute AS a
   WHERE a.attrelid = parent AND a.attnum = snowid.partition_key(parent);
  owner := pg_get_userbyid(tbl.relowner);
END $$;
COMMENT ON FUNCTION snowid.require_partitioned(pg_catalog.regclass) IS
  'refuse tables that are not partitioned by ID, or are not the caller''s';

-- The layout that a table's partitions go by: what the column's default says, or else what is given.
CREATE FUNCTION snowid.layout_of_partitions(parent pg_catalog.regclass, given @extschema@.snowid_layout)
  RETURNS @extschema@.snowid_layout
  STABLE PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  said @extschema@.snowid_layout;
BEGIN
  SELECT s.layout INTO said FROM snowid.source_of_ids(parent, snowid.partition_key(parent)) AS s;
  IF said OPERATOR(@extschema@.<>) given THEN
    RAISE 'layout of table % is "%", not "%"', parent, said, given
      USING ERRCODE = 'invalid_object_definition', DETAIL = 'The default of the column that it is partitioned by says so.',
        HINT = 'Leave the layout out.';
  ELSIF said IS NULL AND given IS NULL THEN
    RAISE 'layout of table % is not known', parent
      USING ERRCODE = 'null_value_not_allowed',
        DETAIL = 'The default of the column that it is partitioned by is not a call of snowid_next() with constants.',
        HINT = 'Name it in the argument "layout".';
  ELSIF NOT snowid.layout_is_ordered(coalesce(said, given)) THEN
    RAISE 'IDs of layout "%" are not in the order of their time', coalesce(said, given)
      USING ERRCODE = 'invalid_parameter_value', DETAIL = 'No range of them is a range of time.';
  END IF;
  RETURN coalesce(said, given);
END $$;
COMMENT ON FUNCTION snowid.layout_of_partitions(pg_catalog.regclass, @extschema@.snowid_layout) IS
  'layout of the IDs that a table is partitioned by';

-- The beginning of the period of UTC that holds a moment. Periods of several days are counted from a Monday, so that
-- weeks begin on one.
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
  RAISE '"%" is no step between partitions', step
    USING ERRCODE = 'invalid_parameter_value', DETAIL = 'It can be 1, 2, 3, 4 or 6 months or whole years; weeks or days; '
      'or 1, 2, 3, 4, 6, 8, 12 or 24 hours; and 100 years at most.';
END $$;
COMMENT ON FUNCTION snowid.period_start(pg_catalog.interval, pg_catalog.timestamp) IS
  'begin of the month, day or the like that a moment lies in';

-- What a partition is called: the table's name and the date, to the second where that is no period's beginning. Where
-- that is too long for a name, a hash of the table's name keeps it apart from other tables'.
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
COMMENT ON FUNCTION snowid.partition_name(pg_catalog.text, pg_catalog.interval, pg_catalog.timestamp) IS
  'name of a new partition';

-- The partitions that are missing up to a moment, oldest first: from the current one, or where the last one ends that
-- begins before now; between those that are there, too, from then on. A partition holds the IDs whose unit of time begins
-- within its period. Bounds are the calendar's, but for those next to one of another width or made by hand, where it is
-- shorter; no ID is left between two. "next" is null where the layout ends within it.
CREATE FUNCTION snowid.missing_partitions(parent pg_catalog.regclass, step pg_catalog.interval,
    until pg_catalog.timestamptz, layout @extschema@.snowid_layout,
    OUT name pg_catalog.text, OUT first bigint, OUT next bigint)
  RETURNS SETOF pg_catalog.record
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  most CONSTANT int := 1000;
  greatest_id CONSTANT bigint := snowid.range_last('-infinity', 'infinity', layout);
  tbl CONSTANT text := (SELECT c.relname FROM pg_class AS c WHERE c.oid = parent);
  now_first CONSTANT bigint := snowid.first_of_unit(clock_timestamp(), layout);
  count int := 0;
  begins timestamp;
  period timestamp;
  there record;
BEGIN
  SELECT r.next INTO first FROM snowid.ranges_of(parent) AS r
   WHERE NOT r.is_default AND coalesce(r.first <= now_first, true)
   ORDER BY r.next DESC NULLS FIRST LIMIT 1;
  IF FOUND AND first IS NULL THEN
    RETURN;
  ELSIF NOT FOUND THEN
    -- That of the unit of time that it is now, which may have begun in the period before.
    begins := @extschema@.snowid_timestamp(@extschema@.snowid_min(clock_timestamp(), layout), layout) AT TIME ZONE 'UTC';
    first := snowid.range_first(snowid.period_start(step, begins) AT TIME ZONE 'UTC', 'infinity', layout);
  END IF;
  first := greatest(first, 0);
  -- Up to each of those that are there, and after the last one.
  FOR there IN
    SELECT r.first, r.next FROM snowid.ranges_of(parent) AS r WHERE r.first >= missing_partitions.first
    UNION ALL SELECT NULL, NULL ORDER BY 1
  LOOP
    WHILE first <= greatest_id AND coalesce(first < there.first, true) LOOP
      begins := @extschema@.snowid_timestamp(first, layout) AT TIME ZONE 'UTC';
      period := snowid.period_start(step, begins);
      next := snowid.range_first((period + step) AT TIME ZONE 'UTC', 'infinity', layout);
      -- Units of time need not begin when periods do.
      IF first = snowid.range_first(period AT TIME ZONE 'UTC', 'infinity', layout) AND first > 0 THEN begins := period; END IF;
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
      RETURN NEXT;
      first := next;
    END LOOP;
    first := there.next;
  END LOOP;
END $$;
COMMENT ON FUNCTION snowid.missing_partitions(pg_catalog.regclass, pg_catalog.interval, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'partitions that snowid_create_partitions() is to make';

-- Fails with 55000 where the default partition has rows from an ID to before another, with what moves them. They are
-- not moved here, since triggers and foreign keys of the table may act on that.
CREATE FUNCTION snowid.refuse_rows_by_default(parent pg_catalog.regclass, key pg_catalog.name, first bigint, next bigint,
    call pg_catalog.text)
  RETURNS pg_catalog.void
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET row_security = off AS $$
DECLARE
  rest regclass;
  condition CONSTANT text := format('%I >= %s', key, first) || CASE WHEN next IS NULL THEN '' ELSE format(' AND %I < %s', key, next) END;
  columns text;
  count bigint;
BEGIN
  SELECT p.partdefid INTO rest FROM pg_partitioned_table AS p WHERE p.partrelid = parent AND p.partdefid <> 0;
  IF NOT FOUND THEN RETURN; END IF;
  EXECUTE format('SELECT pg_catalog.count(*) FROM %s WHERE %s', rest, condition) INTO count;
  IF count = 0 THEN RETURN; END IF;
  SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) INTO columns FROM pg_attribute AS a
   WHERE a.attrelid = parent AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '';
  RAISE 'default partition % has rows of new partitions', rest
    USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = format('Rows where %s: %s.', condition, count),
      HINT = concat_ws(E'\n', 'These statements move them. Many rows are better moved in batches, see docs/many-servers.md.',
        'BEGIN;',
        format('ALTER TABLE %s DETACH PARTITION %s;', parent, rest), call,
        format('INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM %s WHERE %s;', parent, columns, columns, rest, condition),
        format('DELETE FROM %s WHERE %s;', rest, condition),
        format('ALTER TABLE %s ATTACH PARTITION %s DEFAULT;', parent, rest), 'COMMIT;');
END $$;
COMMENT ON FUNCTION snowid.refuse_rows_by_default(pg_catalog.regclass, pg_catalog.name, bigint, bigint, pg_catalog.text) IS
  'refuse to make partitions whose rows are in the default partition';

-- Makes one partition, like PostgreSQL's own statement, and has its changes be published as the table's are.
CREATE FUNCTION snowid.create_partition(parent pg_catalog.regclass, owner pg_catalog.name, part pg_catalog.text,
    first bigint, next bigint)
  RETURNS pg_catalog.regclass
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  made regclass;
  identity text;
BEGIN
  PERFORM snowid.execute(owner, format('CREATE %sTABLE %I.%I PARTITION OF %s FOR VALUES FROM (%s) TO (%s)',
      CASE c.relpersistence WHEN 'u' THEN 'UNLOGGED ' END, n.nspname, part, parent, first,
      coalesce(next::text, 'MAXVALUE')))
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = parent;
  SELECT i.inhrelid INTO made FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
   WHERE i.inhparent = parent AND c.relname = part;
  IF NOT FOUND THEN
    RAISE 'partition "%" of table % has vanished', part, parent USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  SELECT CASE c.relreplident WHEN 'f' THEN 'FULL' WHEN 'n' THEN 'NOTHING' WHEN 'i' THEN
      (SELECT format('USING INDEX %I', o.relname) FROM pg_index AS i
         JOIN pg_inherits AS h ON h.inhparent = i.indexrelid JOIN pg_index AS j ON j.indexrelid = h.inhrelid
         JOIN pg_class AS o ON o.oid = j.indexrelid
        WHERE i.indrelid = parent AND i.indisreplident AND j.indrelid = made) END
    INTO identity FROM pg_class AS c WHERE c.oid = parent;
  IF identity IS NOT NULL THEN
    PERFORM snowid.execute(owner, format('ALTER TABLE %s REPLICA IDENTITY %s', made, identity));
  END IF;
  RETURN made;
END $$;
COMMENT ON FUNCTION snowid.create_partition(pg_catalog.regclass, pg_catalog.name, pg_catalog.text, bigint, bigint) IS
  'make a partition';

CREATE FUNCTION @extschema@.snowid_create_partitions(parent pg_catalog.regclass, step pg_catalog.interval,
    until pg_catalog.timestamptz, layout @extschema@.snowid_layout DEFAULT NULL)
  RETURNS SETOF pg_catalog.regclass
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  caller CONSTANT text := current_setting('role');
  patience CONSTANT text := current_setting('lock_timeout');
  of record;
  ids @extschema@.snowid_layout;
  missing record;
  all_first bigint;
  all_next bigint;
  call CONSTANT text := format('SELECT %s.snowid_create_partitions(%L, %L, %L%s);', '@extschema@', parent, step, until,
    CASE WHEN layout IS NULL THEN '' ELSE format(', %L', layout) END);
BEGIN
  IF parent IS NULL OR step IS NULL OR until IS NULL THEN
    RAISE 'table, step and moment must not be null' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  of := snowid.require_partitioned(parent);
  ids := snowid.layout_of_partitions(parent, layout);
  -- Fails for a moment that the layout does not have.
  PERFORM @extschema@.snowid_min(until, ids);
  PERFORM snowid.period_start(step, until AT TIME ZONE 'UTC');
  -- A month counts as 27 days.
  IF (SELECT extract(epoch FROM step) * CASE WHEN step >= '1 month' THEN 0.9 ELSE 1 END < extract(epoch FROM d.unit)
        FROM @extschema@.snowid_layout_describe(ids) AS d) THEN
    RAISE '"%" is shorter than the unit of time of ID layout "%"', step, ids USING ERRCODE = 'invalid_parameter_value';
  END IF;
  SELECT min(m.first), CASE WHEN bool_and(m.next IS NOT NULL) THEN max(m.next) END INTO all_first, all_next
    FROM snowid.missing_partitions(parent, step, until, ids) AS m;
  -- Nobody waits where nothing is to be done.
  IF all_first IS NULL THEN RETURN; END IF;

  PERFORM snowid.act_as(of.owner);
  -- What this look locks is let go of, or two callers would wait for each other.
  BEGIN
    PERFORM snowid.refuse_rows_by_default(parent, of.key, all_first, all_next, call);
    RAISE SQLSTATE 'SN000';
  EXCEPTION WHEN SQLSTATE 'SN000' THEN NULL;
  END;
  -- What PostgreSQL's own statement locks: tables that foreign keys lead to and from first.
  PERFORM snowid.lock_tables(array_agg(l.relid ORDER BY l.place, l.relid), array_agg(l.mode ORDER BY l.place, l.relid))
    FROM (SELECT c.confrelid, 'SHARE ROW EXCLUSIVE', 1 FROM pg_constraint AS c
           WHERE c.conrelid = parent AND c.contype = 'f' AND c.confrelid <> parent
          UNION SELECT c.conrelid, 'SHARE ROW EXCLUSIVE', 1 FROM pg_constraint AS c
           WHERE c.confrelid = parent AND c.contype = 'f' AND c.conrelid <> parent
          UNION SELECT parent, 'ACCESS EXCLUSIVE', 2
          UNION SELECT t.relid, 'ACCESS EXCLUSIVE', 3 FROM pg_partitioned_table AS p, snowid.tree_of(p.partdefid) AS t (relid)
           WHERE p.partrelid = parent) AS l (relid, mode, place);
  -- Others may have made some of them meanwhile; and rows may have come since they were counted.
  BEGIN
    FOR missing IN SELECT m.name, m.first, m.next FROM snowid.missing_partitions(parent, step, until, ids) AS m LOOP
      RETURN NEXT snowid.create_partition(parent, of.owner, missing.name, missing.first, missing.next);
    END LOOP;
  EXCEPTION WHEN check_violation THEN
    PERFORM snowid.refuse_rows_by_default(parent, of.key, all_first, all_next, call);
    RAISE;
  END;
  PERFORM set_config('lock_timeout', patience, true), snowid.act_again_as(caller);
END $$;
COMMENT ON FUNCTION @extschema@.snowid_create_partitions(pg_catalog.regclass, pg_catalog.interval, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'make the partitions that a table partitioned by ID needs up to a moment, of months, days or the like; returns those made';

CREATE VIEW snowid.partitions AS
  SELECT p.partrelid::pg_catalog.regclass AS parent, r.relid::pg_catalog.regclass AS partition, s.layout,
    CASE WHEN r.is_default THEN NULL
      WHEN r.first IS NULL OR r.first OPERATOR(pg_catalog.<) 0::bigint THEN '-infinity'
      WHEN r.first OPERATOR(pg_catalog.>) g.id THEN 'infinity'
      ELSE @extschema@.snowid_timestamp(r.first, s.layout) END AS since,
    CASE WHEN r.is_default THEN NULL
      WHEN r.next OPERATOR(pg_catalog.<) 0::bigint THEN '-infinity'
      WHEN r.next IS NULL OR r.next OPERATOR(pg_catalog.>) g.id THEN 'infinity'
      ELSE @extschema@.snowid_timestamp(r.next, s.layout) END AS until,
    r.is_default,
    CASE WHEN c.relkind OPERATOR(pg_catalog.=) 'p'::pg_catalog."char"
      THEN (SELECT pg_catalog.sum(NULLIF(l.reltuples, '-1'::pg_catalog.float4))
              FROM pg_catalog.pg_partition_tree(c.oid::pg_catalog.regclass) AS t
              JOIN pg_catalog.pg_class AS l ON l.oid OPERATOR(pg_catalog.=) t.relid::pg_catalog.oid WHERE t.isleaf)
      ELSE NULLIF(c.reltuples, '-1'::pg_catalog.float4) END::bigint AS rows
  FROM pg_catalog.pg_partitioned_table AS p,
    LATERAL snowid.partition_key(p.partrelid) AS k (key),
    LATERAL snowid.source_of_ids(p.partrelid, k.key) AS s,
    LATERAL snowid.range_last('-infinity', 'infinity', s.layout) AS g (id),
    LATERAL snowid.ranges_of(p.partrelid) AS r
  JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) r.relid
  WHERE s.layout IS NOT NULL;
COMMENT ON VIEW snowid.partitions IS
  'partitions of tables that are partitioned by IDs, where the column''s default names the layout';
COMMENT ON COLUMN snowid.partitions.parent IS 'table that is partitioned';
COMMENT ON COLUMN snowid.partitions.partition IS 'its partition';
COMMENT ON COLUMN snowid.partitions.layout IS 'layout of the IDs';
COMMENT ON COLUMN snowid.partitions.since IS 'time of its first ID; -infinity where it has no beginning, null for the default one';
COMMENT ON COLUMN snowid.partitions.until IS 'time of the first ID after it; infinity where it has no end, null for the default one';
COMMENT ON COLUMN snowid.partitions.is_default IS 'whether it is the default partition, where rows are not to be';
COMMENT ON COLUMN snowid.partitions.rows IS 'rows in it, by the estimate of the last ANALYZE or VACUUM; null before';
REVOKE ALL ON snowid.partitions FROM PUBLIC;
GRANT SELECT ON snowid.partitions TO PUBLIC;
-- Partitions whose time has passed: dropped, or made tables of their own. See partitions.sql.

-- The partitions that end before an ID, and before those of now, oldest first: what may be dropped or detached.
CREATE FUNCTION snowid.past_partitions(parent pg_catalog.regclass, least_kept bigint, layout @extschema@.snowid_layout)
  RETURNS SETOF pg_catalog.regclass
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY SELECT r.relid::regclass FROM snowid.ranges_of(parent) AS r
   WHERE NOT r.is_default AND NOT r.is_leaving
     AND r.next <= least(least_kept, snowid.first_of_unit(clock_timestamp(), layout))
   ORDER BY r.next;
END $$;
COMMENT ON FUNCTION snowid.past_partitions(pg_catalog.regclass, bigint, @extschema@.snowid_layout) IS
  'partitions that end before an ID';

-- Where no default says the layout it is only somebody's word, and a wrong one would take the rows of today for old ones.
-- So the table has to say it by its bounds: those of the partitions to go are whole minutes by that layout, which
-- another layout's are not, and there is a partition of now or to come.
CREATE FUNCTION snowid.require_bounds_of(parent pg_catalog.regclass, layout @extschema@.snowid_layout,
    past pg_catalog.oid[])
  RETURNS pg_catalog.void
  STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (
      SELECT FROM snowid.ranges_of(parent) AS r, LATERAL (VALUES (r.first), (r.next)) AS b (id)
       WHERE r.relid = ANY (past) AND b.id <> 0
         AND (b.id <> @extschema@.snowid_min(@extschema@.snowid_timestamp(b.id, layout), layout)
           OR date_trunc('minute', @extschema@.snowid_timestamp(b.id, layout)) <> @extschema@.snowid_timestamp(b.id, layout)))
      OR NOT EXISTS (
      SELECT FROM snowid.ranges_of(parent) AS r
       WHERE NOT r.is_default AND coalesce(r.next > snowid.first_of_unit(clock_timestamp(), layout), true)) THEN
    RAISE 'partitions of table % are not by layout "%"', parent, layout
      USING ERRCODE = 'invalid_object_definition',
        DETAIL = 'With that layout their bounds are not whole minutes, or there is no current or future one.',
        HINT = 'If that is the layout, name it in the column''s default.';
  END IF;
END $$;
COMMENT ON FUNCTION snowid.require_bounds_of(pg_catalog.regclass, @extschema@.snowid_layout, pg_catalog.oid[]) IS
  'refuse a layout that the partitions were not made by';

-- Drops or detaches partitions that end before a moment, the oldest first; their names, qualified. A mistake must not
-- cost the rows of today: so the partition of now stays, and all after it, whatever is asked for; and some partition
-- always does.
CREATE FUNCTION snowid.remove_partitions(parent pg_catalog.regclass, before pg_catalog.timestamptz,
    given @extschema@.snowid_layout, most int, is_drop boolean, OUT relid pg_catalog.regclass, OUT name pg_catalog.text)
  RETURNS SETOF pg_catalog.record
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  caller CONSTANT text := current_setting('role');
  patience CONSTANT text := current_setting('lock_timeout');
  of record;
  ids @extschema@.snowid_layout;
  least_kept bigint;
  past regclass[];
  others record;
  is_referred CONSTANT boolean := EXISTS (SELECT FROM pg_constraint AS c WHERE c.confrelid = parent AND c.contype = 'f');
BEGIN
  IF parent IS NULL OR before IS NULL OR most IS NULL THEN
    RAISE 'table, moment and number must not be null' USING ERRCODE = 'null_value_not_allowed';
  ELSIF most < 1 THEN
    RAISE 'number of partitions out of range: %', most USING ERRCODE = 'invalid_parameter_value';
  END IF;
  of := snowid.require_partitioned(parent);
  ids := snowid.layout_of_partitions(parent, given);
  -- Nothing is older than the layout. It fails for a moment that the layout does not have any more.
  IF before < (SELECT d.epoch FROM @extschema@.snowid_layout_describe(ids) AS d) THEN RETURN; END IF;
  PERFORM @extschema@.snowid_min(before, ids);
  IF before > clock_timestamp() THEN
    RAISE 'cannot remove partitions of the future'
      USING ERRCODE = 'invalid_parameter_value', DETAIL = format('It is %s, and %s was asked for.', clock_timestamp(), before);
  END IF;
  least_kept := snowid.first_of_unit(before, ids);
  past := ARRAY(SELECT snowid.past_partitions(parent, least_kept, ids));
  -- Nobody waits where nothing is to be done.
  IF past = '{}' THEN RETURN; END IF;

  IF (snowid.source_of_ids(parent, snowid.partition_key(parent))).layout IS NULL THEN
    PERFORM snowid.require_bounds_of(parent, ids, past::oid[]);
  END IF;

  -- The statements run as the table's owner, who cannot drop others' tables.
  SELECT c.oid::regclass AS part, pg_get_userbyid(c.relowner) AS owner INTO others
    FROM unnest(past[:most]) WITH ORDINALITY AS p (part, place) JOIN pg_class AS c ON c.oid = p.part
   WHERE NOT pg_has_role(of.owner, c.relowner, 'USAGE') ORDER BY p.place LIMIT 1;
  IF FOUND THEN
    RAISE 'partition % does not belong to the owner of table %', others.part, parent
      USING ERRCODE = 'insufficient_privilege',
        DETAIL = format('It belongs to role "%s", the table to "%s".', others.owner, of.owner),
        HINT = format('Use ALTER TABLE %s OWNER TO %I.', others.part, of.owner);
  END IF;

  PERFORM snowid.act_as(of.owner);
  -- What PostgreSQL's own statements lock: tables that foreign keys lead to and from first.
  PERFORM snowid.lock_tables(array_agg(l.relid ORDER BY l.place, l.relid), array_agg(l.mode ORDER BY l.place, l.relid))
    FROM (SELECT c.confrelid, CASE WHEN is_drop THEN 'ACCESS EXCLUSIVE' ELSE 'SHARE ROW EXCLUSIVE' END, 1
            FROM pg_constraint AS c
           WHERE c.conrelid = parent AND c.contype = 'f' AND c.confrelid <> parent AND (is_referred OR NOT is_drop)
          UNION SELECT c.conrelid, 'ACCESS EXCLUSIVE', 1 FROM pg_constraint AS c
           WHERE c.confrelid = parent AND c.contype = 'f' AND c.conrelid <> parent
          UNION SELECT parent, 'ACCESS EXCLUSIVE', 2
          UNION SELECT p.partdefid, 'ACCESS EXCLUSIVE', 3 FROM pg_partitioned_table AS p WHERE p.partrelid = parent AND p.partdefid <> 0
          UNION SELECT t.relid, 'ACCESS EXCLUSIVE', 3 FROM unnest(past[:most]) AS p (part), snowid.tree_of(p.part) AS t (relid))
      AS l (relid, mode, place);
  -- What is there now.
  past := ARRAY(SELECT snowid.past_partitions(parent, least_kept, ids));
  IF cardinality(past) = (SELECT count(*) FROM snowid.ranges_of(parent) AS r
       WHERE NOT r.is_default AND NOT r.is_leaving) THEN
    RAISE 'cannot remove all partitions of table %', parent
      USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = format('All of them end before %s.', before),
        HINT = 'First make current ones with snowid_create_partitions().';
  END IF;
  FOREACH relid IN ARRAY past[:most] LOOP
    SELECT format('%I.%I', n.nspname, c.relname) INTO name
      FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = relid;
    IF NOT FOUND THEN
      RAISE 'a partition of table % has vanished', parent USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    -- Detaching checks that no foreign key refers to their rows; where none could, dropping locks less.
    IF is_referred OR NOT is_drop THEN
      PERFORM snowid.execute(of.owner, format('ALTER TABLE %s DETACH PARTITION %s', parent, name));
    END IF;
    IF is_drop THEN
      PERFORM snowid.execute(of.owner, format('DROP %sTABLE %s', CASE c.relkind WHEN 'f' THEN 'FOREIGN ' END, name))
        FROM pg_class AS c WHERE c.oid = relid;
    END IF;
    RETURN NEXT;
  END LOOP;
  PERFORM set_config('lock_timeout', patience, true), snowid.act_again_as(caller);
END $$;
COMMENT ON FUNCTION snowid.remove_partitions(pg_catalog.regclass, pg_catalog.timestamptz, @extschema@.snowid_layout, int, boolean) IS
  'drop or detach partitions that end before a moment';

-- At most so many at once: each takes several places in the server's table of locks until the transaction ends.
CREATE FUNCTION @extschema@.snowid_drop_partitions(parent pg_catalog.regclass, before pg_catalog.timestamptz,
    layout @extschema@.snowid_layout DEFAULT NULL, most int DEFAULT 100)
  RETURNS SETOF pg_catalog.text
  VOLATILE PARALLEL UNSAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT r.name FROM snowid.remove_partitions(parent, before, layout, most, true) AS r;
END;
COMMENT ON FUNCTION @extschema@.snowid_drop_partitions(pg_catalog.regclass, pg_catalog.timestamptz, @extschema@.snowid_layout, int) IS
  'drop the partitions that end before a moment, the oldest first; returns their names';

CREATE FUNCTION @extschema@.snowid_detach_partitions(parent pg_catalog.regclass, before pg_catalog.timestamptz,
    layout @extschema@.snowid_layout DEFAULT NULL, most int DEFAULT 100)
  RETURNS SETOF pg_catalog.regclass
  VOLATILE PARALLEL UNSAFE LANGUAGE SQL
BEGIN ATOMIC
  SELECT r.relid FROM snowid.remove_partitions(parent, before, layout, most, false) AS r;
END;
COMMENT ON FUNCTION @extschema@.snowid_detach_partitions(pg_catalog.regclass, pg_catalog.timestamptz, @extschema@.snowid_layout, int) IS
  'detach the partitions that end before a moment, the oldest first; returns them';
-- Statistics: their reset

CREATE FUNCTION @extschema@.snowid_stat_reset() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_stat_reset';
COMMENT ON FUNCTION @extschema@.snowid_stat_reset() IS 'reset all statistics of this database';
REVOKE ALL ON FUNCTION @extschema@.snowid_stat_reset() FROM PUBLIC;
-- Statistics of shards. A role that may read the view must be able to call its function, too.

CREATE FUNCTION snowid.shard_statistics(OUT layout @extschema@.snowid_layout, OUT shard bigint, OUT issued bigint,
    OUT last_id bigint, OUT last_time pg_catalog.timestamptz, OUT lead double precision,
    OUT max_lead double precision, OUT waits bigint, OUT wait_time double precision, OUT refusals bigint,
    OUT clock_steps_back bigint, OUT layout_end pg_catalog.timestamptz)
  RETURNS SETOF pg_catalog.record
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_shard_statistics';
COMMENT ON FUNCTION snowid.shard_statistics() IS 'what the view snowid.stat_shards shows';
REVOKE ALL ON FUNCTION snowid.shard_statistics() FROM PUBLIC;

CREATE VIEW snowid.stat_shards AS
  SELECT layout, shard, issued, last_id, last_time, lead, max_lead, waits, wait_time, refusals, clock_steps_back,
    layout_end
  FROM snowid.shard_statistics();
COMMENT ON VIEW snowid.stat_shards IS
  'the shards that this server keeps for this database, and what has happened in each since the server started '
  'or statistics were reset; counts may lag by a transaction';
COMMENT ON COLUMN snowid.stat_shards.layout IS 'layout of the IDs';
COMMENT ON COLUMN snowid.stat_shards.shard IS 'number of the shard';
COMMENT ON COLUMN snowid.stat_shards.issued IS 'IDs issued, also to transactions that were rolled back';
COMMENT ON COLUMN snowid.stat_shards.last_id IS
  'last ID issued, or one above which the shard goes on; null where it has issued none, or is closed';
COMMENT ON COLUMN snowid.stat_shards.last_time IS 'time of the last ID';
COMMENT ON COLUMN snowid.stat_shards.lead IS
  'milliseconds by which the time of the last ID is ahead of the clock now; 0 where it is not';
COMMENT ON COLUMN snowid.stat_shards.max_lead IS
  'the most that a lead was, in milliseconds, as seen twice in each snowid.ceiling_step and after each wait';
COMMENT ON COLUMN snowid.stat_shards.waits IS 'callers that have waited for the clock';
COMMENT ON COLUMN snowid.stat_shards.wait_time IS 'milliseconds that they have waited';
COMMENT ON COLUMN snowid.stat_shards.refusals IS
  'draws that were refused: the clock was too far behind, the layout used up, or the shard closed';
COMMENT ON COLUMN snowid.stat_shards.clock_steps_back IS
  'how often a caller of this shard was the first in the database to see that the clock had been set back';
COMMENT ON COLUMN snowid.stat_shards.layout_end IS 'when IDs of the layout would turn negative: none are issued then';
REVOKE ALL ON snowid.stat_shards FROM PUBLIC;
-- Statistics of the database

CREATE FUNCTION snowid.database_statistics(OUT ceiling pg_catalog.timestamptz, OUT ceiling_raises bigint,
    OUT wal_flushes bigint, OUT wal_flush_time double precision, OUT ids_memory bigint, OUT kinds_memory bigint,
    OUT counters_memory bigint, OUT total_memory bigint, OUT stats_reset pg_catalog.timestamptz)
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_database_statistics';
COMMENT ON FUNCTION snowid.database_statistics() IS 'what the view snowid.stat_database shows';
REVOKE ALL ON FUNCTION snowid.database_statistics() FROM PUBLIC;

CREATE VIEW snowid.stat_database AS
  SELECT pg_catalog.current_database() AS database, s.ceiling, s.ceiling_raises, s.wal_flushes, s.wal_flush_time,
    s.ids_memory, s.kinds_memory, s.counters_memory, s.total_memory,
    s.stats_reset
  FROM snowid.database_statistics() s;
COMMENT ON VIEW snowid.stat_database IS
  'one row: the ceiling and memory of this database; counts are since the server started or '
  'statistics were reset';
COMMENT ON COLUMN snowid.stat_database.database IS 'name of the database';
COMMENT ON COLUMN snowid.stat_database.ceiling IS
  'no ID carries a time above this one, which is durable; null before the first ID';
COMMENT ON COLUMN snowid.stat_database.ceiling_raises IS 'how often the ceiling was raised';
COMMENT ON COLUMN snowid.stat_database.wal_flushes IS
  'how often a caller has waited for that to be on disk, here and on synchronous standbys';
COMMENT ON COLUMN snowid.stat_database.wal_flush_time IS 'milliseconds that they have waited';
COMMENT ON COLUMN snowid.stat_database.ids_memory IS
  'bytes of shared memory that entries for IDs take, of all databases of the server';
COMMENT ON COLUMN snowid.stat_database.kinds_memory IS 'the same for other kinds of ID';
COMMENT ON COLUMN snowid.stat_database.counters_memory IS 'the same for segments, sections and their keys';
COMMENT ON COLUMN snowid.stat_database.total_memory IS
  'bytes of shared memory that snowid has of the system, with what is free in it; null before PostgreSQL 17';
COMMENT ON COLUMN snowid.stat_database.stats_reset IS
  'when statistics were last reset, null where they were not since the server started';
REVOKE ALL ON snowid.stat_database FROM PUBLIC;
-- The ceiling: the time, in Unix milliseconds, up to which IDs may have been issued. It is dumped, so
-- that a restored database goes on above it. It is the last relation of the script, for it is the last that is locked
-- (docs/design.md, "The SQL interface").

CREATE SEQUENCE snowid.ceiling AS bigint MINVALUE 0 MAXVALUE 253402300799999 START 0 NO CYCLE;
COMMENT ON SEQUENCE snowid.ceiling IS
  'no ID carries a time above this one, in Unix milliseconds; kept by snowid, not to be set by hand';
SELECT pg_catalog.pg_extension_config_dump('snowid.ceiling'::pg_catalog.regclass, ''::pg_catalog.text);
-- The role that dumps the database reads it.
REVOKE ALL ON SEQUENCE snowid.ceiling FROM PUBLIC;
GRANT SELECT ON SEQUENCE snowid.ceiling TO PUBLIC;

-- A server that has issued IDs in this database before remembers its ceiling. Have the new sequence
-- hold it from the beginning, and not only from the next ID on.
CREATE FUNCTION snowid.carry_ceiling_over() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_carry_ceiling_over';
COMMENT ON FUNCTION snowid.carry_ceiling_over() IS
  'store in snowid.ceiling what this server knows of the ceiling; called by CREATE EXTENSION';
REVOKE ALL ON FUNCTION snowid.carry_ceiling_over() FROM PUBLIC;
SELECT snowid.carry_ceiling_over();
-- What ALTER DEFAULT PRIVILEGES gives of each new object is taken back from all roles: with it they could read secrets,
-- set IDs back, or have functions that run as their owner fire a trigger. From PUBLIC the script has revoked what is not
-- for everybody. What single roles get is in the files after this one, and nowhere before.

SET LOCAL search_path = pg_catalog, pg_temp;
DO $$
DECLARE
  given record;
BEGIN
  FOR given IN
    SELECT DISTINCT o.name, a.grantee::regrole AS role
      FROM pg_extension AS e
      JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
      CROSS JOIN LATERAL (
        SELECT concat('SCHEMA ', n.oid::regnamespace) AS name, n.nspowner AS owner, n.nspacl AS acl
          FROM pg_namespace AS n WHERE d.classid = 'pg_namespace'::regclass AND n.oid = d.objid
        UNION ALL
        SELECT concat('TABLE ', c.oid::regclass), c.relowner, c.relacl
          FROM pg_class AS c WHERE d.classid = 'pg_class'::regclass AND c.oid = d.objid
        UNION ALL
        SELECT concat('FUNCTION ', p.oid::regprocedure), p.proowner, p.proacl
          FROM pg_proc AS p WHERE d.classid = 'pg_proc'::regclass AND p.oid = d.objid
        UNION ALL
        SELECT concat('TYPE ', t.oid::regtype), t.typowner, t.typacl
          FROM pg_type AS t WHERE d.classid = 'pg_type'::regclass AND t.oid = d.objid) AS o
      CROSS JOIN LATERAL aclexplode(o.acl) AS a
     WHERE e.extname = 'snowid' AND a.grantee NOT IN (0, o.owner)
  LOOP
    EXECUTE format('REVOKE ALL ON %s FROM %s', given.name, given.role);
  END LOOP;
END $$;
-- What single roles get of the ceiling. See server/rights.sql.

-- The role that restores a dump sets it.
GRANT SELECT, UPDATE ON SEQUENCE snowid.ceiling TO @extowner@;
-- What single roles get of central sources. See server/rights.sql.

-- The role that restores a dump need not be a superuser.
GRANT INSERT ON snowid.segment_sources TO @extowner@;
-- What single roles get of counters. See server/rights.sql.

GRANT EXECUTE ON FUNCTION snowid.counter_statistics() TO pg_monitor;
GRANT EXECUTE ON FUNCTION snowid.counter_statistics() TO @extowner@ WITH GRANT OPTION;
GRANT SELECT ON snowid.stat_counters TO pg_monitor;
GRANT SELECT ON snowid.stat_counters TO @extowner@ WITH GRANT OPTION;
-- What single roles get of nodes and their registry. See server/rights.sql.

-- Roles that may dump the database may read the secrets, and those that restore it may write them.
GRANT SELECT, INSERT ON snowid.membership TO @extowner@;
GRANT SELECT ON snowid.membership TO pg_database_owner;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_join(pg_catalog.name, pg_catalog.text) TO @extowner@
  WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_check(boolean, boolean) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_leave() TO @extowner@ WITH GRANT OPTION;
GRANT SELECT ON snowid.member TO pg_monitor;
GRANT SELECT ON snowid.member TO @extowner@ WITH GRANT OPTION;
GRANT SELECT, INSERT ON snowid.nodes TO @extowner@;
GRANT SELECT ON snowid.nodes TO pg_database_owner;
GRANT SELECT ON snowid.registered_nodes TO pg_monitor;
GRANT SELECT ON snowid.registered_nodes TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION snowid.register(pg_catalog.text, pg_catalog.text, bigint, pg_catalog.text, bigint, bigint,
  pg_catalog.text, bigint, bigint, bigint, pg_catalog.text) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION snowid.retire_node(pg_catalog.text) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION snowid.free_number(bigint, pg_catalog.interval) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION snowid.settle_registry(bigint) TO @extowner@ WITH GRANT OPTION;
-- What single roles get of moving shards. See server/rights.sql.

-- The role that restores a dump need not be a superuser. This one may release shards as well.
GRANT INSERT ON snowid.released_shards TO @extowner@;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_release(bigint, @extschema@.snowid_layout, pg_catalog.text) TO @extowner@
  WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_accept(bigint, @extschema@.snowid_layout) TO @extowner@
  WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_advance(bigint, @extschema@.snowid_layout) TO @extowner@
  WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_advance_all(pg_catalog.timestamptz) TO @extowner@
  WITH GRANT OPTION;
-- What single roles get of statistics. See server/rights.sql.

GRANT EXECUTE ON FUNCTION snowid.database_statistics() TO pg_monitor;
GRANT EXECUTE ON FUNCTION snowid.database_statistics() TO @extowner@ WITH GRANT OPTION;
GRANT SELECT ON snowid.stat_database TO pg_monitor;
GRANT SELECT ON snowid.stat_database TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION snowid.shard_statistics() TO pg_monitor;
GRANT EXECUTE ON FUNCTION snowid.shard_statistics() TO @extowner@ WITH GRANT OPTION;
GRANT SELECT ON snowid.stat_shards TO pg_monitor;
GRANT SELECT ON snowid.stat_shards TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_stat_reset() TO @extowner@ WITH GRANT OPTION;
