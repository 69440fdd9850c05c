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
-- What the planner is told of row counts

CREATE FUNCTION snowid.batch_support(pg_catalog.internal) RETURNS pg_catalog.internal
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_batch_support';
COMMENT ON FUNCTION snowid.batch_support(pg_catalog.internal) IS 'planner support for functions of (anything, count)';
-- Times that a clock which ran ahead has used up

CREATE TABLE snowid.rewinds (
  wild_from pg_catalog.timestamptz NOT NULL,
  wild_until pg_catalog.timestamptz NOT NULL,
  rewound_to pg_catalog.timestamptz NOT NULL,
  CONSTRAINT rewinds_order CHECK (
    pg_catalog.isfinite(rewound_to) AND rewound_to OPERATOR(pg_catalog.<) wild_from
    AND wild_from OPERATOR(pg_catalog.<=) wild_until
    AND wild_until OPERATOR(pg_catalog.<) '9999-12-31 23:59:59.999+00'::pg_catalog.timestamptz)
);
COMMENT ON TABLE snowid.rewinds IS
  'times that a clock which ran ahead has used up, and that no ID gets again; see snowid_rewind';
COMMENT ON COLUMN snowid.rewinds.wild_from IS 'first time that IDs may have been given then';
COMMENT ON COLUMN snowid.rewinds.wild_until IS 'last time that IDs may have been given then';
COMMENT ON COLUMN snowid.rewinds.rewound_to IS 'IDs went on with times above this one';
COMMENT ON CONSTRAINT rewinds_order ON snowid.rewinds IS 'IDs go on before the times that are stepped over';
GRANT SELECT ON snowid.rewinds TO PUBLIC;
-- Who restores a dump may be no superuser.
GRANT INSERT ON snowid.rewinds TO @extowner@;

CREATE FUNCTION snowid.check_rewind() RETURNS pg_catalog.trigger
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_check_rewind';
COMMENT ON FUNCTION snowid.check_rewind() IS
  'sees to it that a row that a restore inserts counts, that none goes, and that replication brings none';
REVOKE ALL ON FUNCTION snowid.check_rewind() FROM PUBLIC;

CREATE TRIGGER check_rewind BEFORE INSERT OR UPDATE OR DELETE ON snowid.rewinds
  FOR EACH ROW EXECUTE FUNCTION snowid.check_rewind();
COMMENT ON TRIGGER check_rewind ON snowid.rewinds IS
  'sees to it that a row that a restore inserts counts, that none goes, and that replication brings none';
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON snowid.rewinds
  FOR EACH STATEMENT EXECUTE FUNCTION snowid.check_rewind();
COMMENT ON TRIGGER refuse_truncate ON snowid.rewinds IS
  'refuses TRUNCATE, after which IDs could repeat';
-- For logical replication, too, whose rows are about another database's IDs.
ALTER TABLE snowid.rewinds ENABLE ALWAYS TRIGGER check_rewind;
ALTER TABLE snowid.rewinds ENABLE ALWAYS TRIGGER refuse_truncate;
-- A restored copy has the rows that have those IDs.
SELECT pg_catalog.pg_extension_config_dump('snowid.rewinds'::pg_catalog.regclass, ''::pg_catalog.text);

CREATE FUNCTION @extschema@.snowid_rewind(before pg_catalog.timestamptz,
    OUT wild_from pg_catalog.timestamptz, OUT wild_until pg_catalog.timestamptz)
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_rewind';
COMMENT ON FUNCTION @extschema@.snowid_rewind(pg_catalog.timestamptz) IS
  'say that a clock which ran ahead has issued the IDs with times from this moment on: IDs go on by the clock, '
  'and step over those times';
-- For superusers alone: the IDs of all databases that know no shard are set back, too.
REVOKE ALL ON FUNCTION @extschema@.snowid_rewind(pg_catalog.timestamptz) FROM PUBLIC;

-- The ceiling: the time, in Unix milliseconds, up to which IDs may have been issued. It is dumped, so
-- that a restored database goes on above it.

CREATE SEQUENCE snowid.ceiling AS bigint MINVALUE 0 MAXVALUE 253402300799999 START 0 NO CYCLE;
COMMENT ON SEQUENCE snowid.ceiling IS
  'no ID carries a time above this one, in Unix milliseconds; kept by snowid, not to be set by hand';
SELECT pg_catalog.pg_extension_config_dump('snowid.ceiling'::pg_catalog.regclass, ''::pg_catalog.text);
-- Whoever dumps the database reads it, and whoever restores it sets it.
GRANT SELECT ON SEQUENCE snowid.ceiling TO PUBLIC;
GRANT SELECT, UPDATE ON SEQUENCE snowid.ceiling TO @extowner@;

-- Making IDs

CREATE FUNCTION @extschema@.snowid_next() RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next';
COMMENT ON FUNCTION @extschema@.snowid_next() IS
  'next ID of this node''s own number as the shard, or of the shard that snowid.shard names';

CREATE FUNCTION @extschema@.snowid_next(shard bigint) RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_next_shard';
COMMENT ON FUNCTION @extschema@.snowid_next(bigint) IS 'next ID of a shard';

CREATE FUNCTION @extschema@.snowid_default_shard() RETURNS bigint
  STABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_default_shard';
COMMENT ON FUNCTION @extschema@.snowid_default_shard() IS
  'shard of snowid_next(): this node''s own number, or what snowid.shard names; for '
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

-- A server that has issued IDs in this database before remembers its ceiling. Have the new sequence
-- hold it from the beginning, and not only from the next ID on.

CREATE FUNCTION snowid.carry_ceiling_over() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_carry_ceiling_over';
COMMENT ON FUNCTION snowid.carry_ceiling_over() IS
  'have snowid.ceiling hold what this server knows of the ceiling; called by CREATE EXTENSION';
REVOKE ALL ON FUNCTION snowid.carry_ceiling_over() FROM PUBLIC;
SELECT snowid.carry_ceiling_over();
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
-- MongoDB's ObjectID: 12 bytes, ordered as bytes are, which is by time.

CREATE TYPE @extschema@.objectid;

CREATE FUNCTION snowid.objectid_in(pg_catalog.cstring) RETURNS @extschema@.objectid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_in';
COMMENT ON FUNCTION snowid.objectid_in(pg_catalog.cstring) IS 'ObjectID of 24 hexadecimal digits';

CREATE FUNCTION snowid.objectid_out(@extschema@.objectid) RETURNS pg_catalog.cstring
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_out';
COMMENT ON FUNCTION snowid.objectid_out(@extschema@.objectid) IS '24 hexadecimal digits of an ObjectID';

CREATE FUNCTION snowid.objectid_recv(pg_catalog.internal) RETURNS @extschema@.objectid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_recv';
COMMENT ON FUNCTION snowid.objectid_recv(pg_catalog.internal) IS 'ObjectID of 12 bytes of a message';

CREATE FUNCTION snowid.objectid_send(@extschema@.objectid) RETURNS pg_catalog.bytea
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_send';
COMMENT ON FUNCTION snowid.objectid_send(@extschema@.objectid) IS '12 bytes of an ObjectID for a message';

CREATE TYPE @extschema@.objectid (INPUT = snowid.objectid_in, OUTPUT = snowid.objectid_out,
                      RECEIVE = snowid.objectid_recv, SEND = snowid.objectid_send,
                      INTERNALLENGTH = 12, ALIGNMENT = char, STORAGE = plain);
COMMENT ON TYPE @extschema@.objectid IS
  'MongoDB''s ObjectID: 4 bytes of Unix seconds, 5 random, 3 of a counter';

CREATE FUNCTION snowid.objectid_from_bytea(bytes pg_catalog.bytea) RETURNS @extschema@.objectid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_from_bytea';
COMMENT ON FUNCTION snowid.objectid_from_bytea(pg_catalog.bytea) IS 'ObjectID of 12 bytes';

CREATE FUNCTION snowid.objectid_to_bytea(id @extschema@.objectid) RETURNS pg_catalog.bytea
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_to_bytea';
COMMENT ON FUNCTION snowid.objectid_to_bytea(@extschema@.objectid) IS '12 bytes of an ObjectID';

CREATE CAST (pg_catalog.bytea AS @extschema@.objectid)
  WITH FUNCTION snowid.objectid_from_bytea(pg_catalog.bytea);
COMMENT ON CAST (pg_catalog.bytea AS @extschema@.objectid) IS 'ObjectID of 12 bytes';

CREATE CAST (@extschema@.objectid AS pg_catalog.bytea)
  WITH FUNCTION snowid.objectid_to_bytea(@extschema@.objectid);
COMMENT ON CAST (@extschema@.objectid AS pg_catalog.bytea) IS '12 bytes of an ObjectID';

CREATE FUNCTION @extschema@.objectid_next() RETURNS @extschema@.objectid
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_next';
COMMENT ON FUNCTION @extschema@.objectid_next() IS
  'next ObjectID, greater than all that this server has made before';

CREATE FUNCTION @extschema@.objectid_timestamp(id @extschema@.objectid) RETURNS pg_catalog.timestamptz
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_timestamp';
COMMENT ON FUNCTION @extschema@.objectid_timestamp(@extschema@.objectid) IS
  'time at which an ObjectID was made, to the second';

CREATE FUNCTION snowid.objectid_eq(@extschema@.objectid, @extschema@.objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_eq';
COMMENT ON FUNCTION snowid.objectid_eq(@extschema@.objectid, @extschema@.objectid) IS
  'whether two ObjectIDs are the same';

CREATE FUNCTION snowid.objectid_ne(@extschema@.objectid, @extschema@.objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_ne';
COMMENT ON FUNCTION snowid.objectid_ne(@extschema@.objectid, @extschema@.objectid) IS
  'whether two ObjectIDs differ';

CREATE FUNCTION snowid.objectid_lt(@extschema@.objectid, @extschema@.objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_lt';
COMMENT ON FUNCTION snowid.objectid_lt(@extschema@.objectid, @extschema@.objectid) IS
  'whether an ObjectID comes before another';

CREATE FUNCTION snowid.objectid_le(@extschema@.objectid, @extschema@.objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_le';
COMMENT ON FUNCTION snowid.objectid_le(@extschema@.objectid, @extschema@.objectid) IS
  'whether an ObjectID comes before another or is the same';

CREATE FUNCTION snowid.objectid_gt(@extschema@.objectid, @extschema@.objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_gt';
COMMENT ON FUNCTION snowid.objectid_gt(@extschema@.objectid, @extschema@.objectid) IS
  'whether an ObjectID comes after another';

CREATE FUNCTION snowid.objectid_ge(@extschema@.objectid, @extschema@.objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_ge';
COMMENT ON FUNCTION snowid.objectid_ge(@extschema@.objectid, @extschema@.objectid) IS
  'whether an ObjectID comes after another or is the same';

CREATE FUNCTION snowid.objectid_cmp(@extschema@.objectid, @extschema@.objectid) RETURNS int
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_cmp';
COMMENT ON FUNCTION snowid.objectid_cmp(@extschema@.objectid, @extschema@.objectid) IS
  '-1, 0 or 1 as an ObjectID comes before another, is the same or comes after it';

CREATE FUNCTION snowid.objectid_hash(@extschema@.objectid) RETURNS int
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_hash';
COMMENT ON FUNCTION snowid.objectid_hash(@extschema@.objectid) IS 'hash of an ObjectID';

CREATE FUNCTION snowid.objectid_hash_extended(@extschema@.objectid, bigint) RETURNS bigint
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C
  AS 'MODULE_PATHNAME', 'objectid_hash_extended';
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
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_smaller';
COMMENT ON FUNCTION snowid.objectid_smaller(@extschema@.objectid, @extschema@.objectid) IS
  'the first of two ObjectIDs';

CREATE FUNCTION snowid.objectid_larger(@extschema@.objectid, @extschema@.objectid)
  RETURNS @extschema@.objectid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_larger';
COMMENT ON FUNCTION snowid.objectid_larger(@extschema@.objectid, @extschema@.objectid) IS
  'the last of two ObjectIDs';

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
  'ID that snowid_scatter has scattered, by the same number of digits';
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
-- Segments

CREATE FUNCTION @extschema@.snowid_segment_next(seq pg_catalog.regclass) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_next';
COMMENT ON FUNCTION @extschema@.snowid_segment_next(pg_catalog.regclass) IS
  'next number of a sequence, whose increment is what is allocated at a time for all sessions';

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
);
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
GRANT SELECT ON snowid.segment_sources TO PUBLIC;
-- Who restores a dump may be no superuser.
GRANT INSERT ON snowid.segment_sources TO @extowner@;

CREATE FUNCTION snowid.check_source() RETURNS pg_catalog.trigger
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_check_source';
COMMENT ON FUNCTION snowid.check_source() IS
  'sees to it that only the owner of a sequence gives it a source, and replication none';
REVOKE ALL ON FUNCTION snowid.check_source() FROM PUBLIC;

CREATE TRIGGER check_source BEFORE INSERT OR UPDATE OR DELETE ON snowid.segment_sources
  FOR EACH ROW EXECUTE FUNCTION snowid.check_source();
COMMENT ON TRIGGER check_source ON snowid.segment_sources IS
  'sees to it that only the owner of a sequence gives it a source, and replication none';
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
  'have a sequence''s numbers be allocated from a sequence on another server';

CREATE FUNCTION @extschema@.snowid_segment_detach(seq pg_catalog.regclass) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_segment_detach';
COMMENT ON FUNCTION @extschema@.snowid_segment_detach(pg_catalog.regclass) IS
  'have a sequence''s numbers be its own again, above those allocated there';

-- Sections

CREATE FUNCTION @extschema@.snowid_section_next(section pg_catalog.regclass, key bigint) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_section_next';
COMMENT ON FUNCTION @extschema@.snowid_section_next(pg_catalog.regclass, bigint) IS
  'next number of a key, greater than all that it was given before';

CREATE FUNCTION @extschema@.snowid_section_current(section pg_catalog.regclass, key bigint) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_section_current';
COMMENT ON FUNCTION @extschema@.snowid_section_current(pg_catalog.regclass, bigint) IS
  'last number given to a key, null where memory does not know';
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
GRANT SELECT ON snowid.node TO PUBLIC;
-- Joining: a database that is a node claims its number in another database, the registry. Any database
-- with snowid can be one; it can be a node, too.

-- The member's side

CREATE TABLE snowid.membership (
  singleton boolean PRIMARY KEY CHECK (singleton),
  number bigint NOT NULL
    CHECK (number OPERATOR(pg_catalog.>=) 1::bigint AND number OPERATOR(pg_catalog.<=) 8191::bigint),
  node pg_catalog.text NOT NULL,
  server pg_catalog.text NOT NULL,
  secret pg_catalog.text NOT NULL,
  incarnation bigint NOT NULL,
  system_identifier bigint NOT NULL,
  database_oid pg_catalog.oid NOT NULL,
  joined pg_catalog.timestamptz NOT NULL,
  checked pg_catalog.timestamptz NOT NULL
);
COMMENT ON TABLE snowid.membership IS
  'as which node this database has joined a registry, see snowid_join; a row at most, kept by snowid';
COMMENT ON COLUMN snowid.membership.singleton IS 'true: there is one row at most';
COMMENT ON COLUMN snowid.membership.number IS 'number that the registry has given to this node';
COMMENT ON COLUMN snowid.membership.node IS 'name of this node there';
COMMENT ON COLUMN snowid.membership.server IS 'foreign server that is the registry';
COMMENT ON COLUMN snowid.membership.secret IS 'what proves to the registry that the number is this node''s';
COMMENT ON COLUMN snowid.membership.incarnation IS
  'what the upper half of snowid.membership_mark is where the row is still true';
COMMENT ON COLUMN snowid.membership.system_identifier IS 'server that has joined, as pg_control_system() has it';
COMMENT ON COLUMN snowid.membership.database_oid IS 'database of that server that has joined';
COMMENT ON COLUMN snowid.membership.joined IS 'when it has joined, by its clock';
COMMENT ON COLUMN snowid.membership.checked IS 'when the registry has last confirmed it, by this server''s clock';
COMMENT ON CONSTRAINT membership_pkey ON snowid.membership IS 'a database is one node at most';
COMMENT ON INDEX snowid.membership_pkey IS 'a database is one node at most';
COMMENT ON CONSTRAINT membership_number_check ON snowid.membership IS
  'shards of the layout instagram; 0 is drawn from without joining';
COMMENT ON CONSTRAINT membership_singleton_check ON snowid.membership IS 'a database is one node at most';
SELECT pg_catalog.pg_extension_config_dump('snowid.membership'::pg_catalog.regclass, ''::pg_catalog.text);
-- Whoever may dump the database may read it, and whoever restores it may write it; nobody else is to
-- know the secret.
GRANT SELECT, INSERT ON snowid.membership TO @extowner@;
GRANT SELECT ON snowid.membership TO pg_database_owner;

CREATE FUNCTION snowid.keep_membership() RETURNS pg_catalog.trigger
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_keep_membership';
COMMENT ON FUNCTION snowid.keep_membership() IS
  'sees to it that replication brings no other node''s row, and that a restored one counts at once';
REVOKE ALL ON FUNCTION snowid.keep_membership() FROM PUBLIC;

CREATE TRIGGER keep_membership BEFORE INSERT OR UPDATE OR DELETE ON snowid.membership
  FOR EACH ROW EXECUTE FUNCTION snowid.keep_membership();
COMMENT ON TRIGGER keep_membership ON snowid.membership IS
  'sees to it that replication brings no other node''s row, and that a restored one counts at once';
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON snowid.membership
  FOR EACH STATEMENT EXECUTE FUNCTION snowid.keep_membership();
COMMENT ON TRIGGER refuse_truncate ON snowid.membership IS
  'refuses TRUNCATE, which replication would do to others'' rows, too';
ALTER TABLE snowid.membership ENABLE ALWAYS TRIGGER keep_membership;
ALTER TABLE snowid.membership ENABLE ALWAYS TRIGGER refuse_truncate;

-- Words that no rollback takes back, see membership.hpp. Not dumped: a restored database is not the one
-- that has joined.
CREATE SEQUENCE snowid.membership_mark AS bigint MINVALUE 0 MAXVALUE 9223372036854775807 START 0 NO CYCLE;
COMMENT ON SEQUENCE snowid.membership_mark IS
  'whether the row of snowid.membership is still true, and the token that the registry may know by now';
CREATE SEQUENCE snowid.membership_token AS bigint MINVALUE 0 MAXVALUE 9223372036854775807 START 0 NO CYCLE;
COMMENT ON SEQUENCE snowid.membership_token IS 'token that the registry is known to have';

CREATE FUNCTION @extschema@.snowid_join(server pg_catalog.name, node pg_catalog.text DEFAULT NULL) RETURNS bigint
  VOLATILE PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_join';
COMMENT ON FUNCTION @extschema@.snowid_join(pg_catalog.name, pg_catalog.text) IS
  'claim this node''s number from the registry that a foreign server is; again, the same number';
REVOKE ALL ON FUNCTION @extschema@.snowid_join(pg_catalog.name, pg_catalog.text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_join(pg_catalog.name, pg_catalog.text) TO @extowner@
  WITH GRANT OPTION;

CREATE FUNCTION @extschema@.snowid_check(take_over boolean DEFAULT false) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_check';
COMMENT ON FUNCTION @extschema@.snowid_check(boolean) IS
  'have the registry confirm that this node''s number is its own, and no copy''s';
REVOKE ALL ON FUNCTION @extschema@.snowid_check(boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_check(boolean) TO @extowner@ WITH GRANT OPTION;

CREATE FUNCTION @extschema@.snowid_leave() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_leave';
COMMENT ON FUNCTION @extschema@.snowid_leave() IS 'give this node''s number back to the registry';
REVOKE ALL ON FUNCTION @extschema@.snowid_leave() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_leave() TO @extowner@ WITH GRANT OPTION;

-- The registry's side

CREATE TABLE snowid.nodes (
  number bigint PRIMARY KEY CHECK (number OPERATOR(pg_catalog.>=) 1::bigint AND number OPERATOR(pg_catalog.<=) 8191::bigint),
  node pg_catalog.text UNIQUE,
  database pg_catalog.text NOT NULL,
  system_identifier bigint NOT NULL,
  database_oid pg_catalog.oid NOT NULL,
  timeline bigint NOT NULL,
  claimed pg_catalog.timestamptz NOT NULL,
  last_seen pg_catalog.timestamptz NOT NULL,
  last_id_time pg_catalog.timestamptz NOT NULL,
  left_node pg_catalog.text,
  free_from pg_catalog.timestamptz,
  secret pg_catalog.text NOT NULL,
  token bigint NOT NULL,
  previous_token bigint NOT NULL,
  written_by pg_catalog.text
);
COMMENT ON TABLE snowid.nodes IS 'numbers that nodes have claimed from this database, see snowid_join; kept by snowid';
COMMENT ON COLUMN snowid.nodes.number IS 'shard of the node''s IDs';
COMMENT ON COLUMN snowid.nodes.node IS 'node that has the number; null where it was given back';
COMMENT ON COLUMN snowid.nodes.database IS 'name of the node''s database';
COMMENT ON COLUMN snowid.nodes.system_identifier IS 'server of the node, as pg_control_system() has it there';
COMMENT ON COLUMN snowid.nodes.database_oid IS 'oid of the node''s database';
COMMENT ON COLUMN snowid.nodes.timeline IS 'timeline of the node''s WAL; a promoted standby has a greater one';
COMMENT ON COLUMN snowid.nodes.claimed IS 'when the node got the number';
COMMENT ON COLUMN snowid.nodes.last_seen IS 'when the node has last asked, and was right';
COMMENT ON COLUMN snowid.nodes.last_id_time IS 'greatest time that an ID of the node can have, as it has reported it';
COMMENT ON COLUMN snowid.nodes.left_node IS 'node that has given the number back';
COMMENT ON COLUMN snowid.nodes.free_from IS 'from when on the number can be given to another; null where it is in use';
COMMENT ON COLUMN snowid.nodes.secret IS 'what the node proves with that the number is its own';
COMMENT ON COLUMN snowid.nodes.token IS 'what the node was told last: of two copies only one can know it';
COMMENT ON COLUMN snowid.nodes.previous_token IS 'the token before, which a promoted standby may know';
COMMENT ON COLUMN snowid.nodes.written_by IS
  'database that the token was written in; another one has been restored or promoted since, and takes any';
COMMENT ON CONSTRAINT nodes_pkey ON snowid.nodes IS 'a number belongs to one node';
COMMENT ON INDEX snowid.nodes_pkey IS 'a number belongs to one node';
COMMENT ON CONSTRAINT nodes_node_key ON snowid.nodes IS 'a node has one number';
COMMENT ON INDEX snowid.nodes_node_key IS 'a node has one number';
COMMENT ON CONSTRAINT nodes_number_check ON snowid.nodes IS 'shards of the layout instagram; 0 is drawn from without joining';
SELECT pg_catalog.pg_extension_config_dump('snowid.nodes'::pg_catalog.regclass, ''::pg_catalog.text);
GRANT SELECT, INSERT ON snowid.nodes TO @extowner@;
GRANT SELECT ON snowid.nodes TO pg_database_owner;

CREATE FUNCTION snowid.keep_nodes() RETURNS pg_catalog.trigger
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_keep_nodes';
COMMENT ON FUNCTION snowid.keep_nodes() IS
  'sees to it that replication brings no other registry''s nodes, that restored tokens do not count, and that '
  'no number is free too early';
REVOKE ALL ON FUNCTION snowid.keep_nodes() FROM PUBLIC;

CREATE TRIGGER keep_nodes BEFORE INSERT OR UPDATE OR DELETE ON snowid.nodes
  FOR EACH ROW EXECUTE FUNCTION snowid.keep_nodes();
COMMENT ON TRIGGER keep_nodes ON snowid.nodes IS
  'sees to it that replication brings no other registry''s nodes, that restored tokens do not count, and that '
  'no number is free too early';
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON snowid.nodes
  FOR EACH STATEMENT EXECUTE FUNCTION snowid.keep_nodes();
COMMENT ON TRIGGER refuse_truncate ON snowid.nodes IS
  'refuses TRUNCATE, which replication would do to others'' rows, too';
ALTER TABLE snowid.nodes ENABLE ALWAYS TRIGGER keep_nodes;
ALTER TABLE snowid.nodes ENABLE ALWAYS TRIGGER refuse_truncate;

CREATE FUNCTION @extschema@.snowid_leave(node pg_catalog.text) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_leave_for';
COMMENT ON FUNCTION @extschema@.snowid_leave(pg_catalog.text) IS
  'on the registry, for a node that is gone for good: give its number back';
REVOKE ALL ON FUNCTION @extschema@.snowid_leave(pg_catalog.text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_leave(pg_catalog.text) TO @extowner@ WITH GRANT OPTION;

CREATE FUNCTION snowid.register(request pg_catalog.text, node pg_catalog.text, number bigint, secret pg_catalog.text,
    token bigint, next_token bigint, database pg_catalog.text, system_identifier bigint, database_oid bigint,
    timeline bigint, ceiling bigint,
    OUT verdict pg_catalog.text, OUT held_number bigint, OUT held_node pg_catalog.text, OUT reported bigint)
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_register';
COMMENT ON FUNCTION snowid.register(pg_catalog.text, pg_catalog.text, bigint, pg_catalog.text, bigint, bigint,
    pg_catalog.text, bigint, bigint, bigint, bigint) IS
  'what snowid_join, snowid_check and snowid_leave call on the registry: who may execute it may join';
REVOKE ALL ON FUNCTION snowid.register(pg_catalog.text, pg_catalog.text, bigint, pg_catalog.text, bigint, bigint,
  pg_catalog.text, bigint, bigint, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION snowid.register(pg_catalog.text, pg_catalog.text, bigint, pg_catalog.text, bigint, bigint,
  pg_catalog.text, bigint, bigint, bigint, bigint) TO @extowner@ WITH GRANT OPTION;
-- Shards that move

CREATE TABLE snowid.released_shards (
  shard bigint NOT NULL,
  layout @extschema@.snowid_layout NOT NULL,
  id bigint NOT NULL,
  moved_to pg_catalog.text,
  released_at pg_catalog.timestamptz NOT NULL,
  -- The shard first, by which it is looked up.
  PRIMARY KEY (shard, layout)
);
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
GRANT SELECT ON snowid.released_shards TO PUBLIC;
-- Who restores a dump may be no superuser. He may release shards, too.
GRANT INSERT ON snowid.released_shards TO @extowner@;

CREATE FUNCTION snowid.check_release() RETURNS pg_catalog.trigger
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_check_release';
COMMENT ON FUNCTION snowid.check_release() IS
  'sees to it that a row that a restore inserts closes its shard, and that replication brings none';
REVOKE ALL ON FUNCTION snowid.check_release() FROM PUBLIC;

CREATE TRIGGER check_release BEFORE INSERT OR UPDATE OR DELETE ON snowid.released_shards
  FOR EACH ROW EXECUTE FUNCTION snowid.check_release();
COMMENT ON TRIGGER check_release ON snowid.released_shards IS
  'sees to it that a row that a restore inserts closes its shard, and that replication brings none';
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
  'have a shard issue no more IDs here, durably; gives an ID above all that it has issued';
REVOKE ALL ON FUNCTION @extschema@.snowid_release(bigint, @extschema@.snowid_layout, pg_catalog.text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_release(bigint, @extschema@.snowid_layout, pg_catalog.text) TO @extowner@
  WITH GRANT OPTION;

CREATE FUNCTION @extschema@.snowid_accept(id bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_accept';
COMMENT ON FUNCTION @extschema@.snowid_accept(bigint, @extschema@.snowid_layout) IS
  'have the ID''s shard issue IDs here, only above it, durably';
REVOKE ALL ON FUNCTION @extschema@.snowid_accept(bigint, @extschema@.snowid_layout) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_accept(bigint, @extschema@.snowid_layout) TO @extowner@
  WITH GRANT OPTION;

-- Servers that take over from others

CREATE FUNCTION @extschema@.snowid_advance_all(moment pg_catalog.timestamptz) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_advance_all';
COMMENT ON FUNCTION @extschema@.snowid_advance_all(pg_catalog.timestamptz) IS
  'have all shards of this database issue only IDs with later times from now on, durably';
REVOKE ALL ON FUNCTION @extschema@.snowid_advance_all(pg_catalog.timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_advance_all(pg_catalog.timestamptz) TO @extowner@
  WITH GRANT OPTION;

CREATE FUNCTION @extschema@.snowid_ceiling() RETURNS pg_catalog.timestamptz
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_ceiling';
COMMENT ON FUNCTION @extschema@.snowid_ceiling() IS 'time that no ID that this database has issued so far is later than';
-- Columns that become IDs

CREATE FUNCTION @extschema@.snowid_adopt(tbl pg_catalog.regclass, col pg_catalog.name, shard bigint DEFAULT NULL,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS pg_catalog.text
  VOLATILE PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_adopt';
COMMENT ON FUNCTION @extschema@.snowid_adopt(pg_catalog.regclass, pg_catalog.name, bigint, @extschema@.snowid_layout) IS
  'have a serial, identity or other bigint column draw IDs from now on, above the keys that are there; returns its default';

-- The columns that get or bring a column's values by foreign keys and inheritance, itself included. Types
-- are not looked at: a foreign key may lead over a wide column to a narrow one.
CREATE FUNCTION snowid.related_columns(tbl pg_catalog.regclass, col pg_catalog.name,
    OUT relid pg_catalog.oid, OUT attnum pg_catalog.int2)
  RETURNS SETOF pg_catalog.record
  STABLE STRICT PARALLEL SAFE LANGUAGE SQL
BEGIN ATOMIC
  WITH RECURSIVE related(relid, attnum, attname) AS (
    SELECT a.attrelid, a.attnum, a.attname
      FROM pg_catalog.pg_attribute AS a
     WHERE a.attrelid OPERATOR(pg_catalog.=) tbl AND a.attname OPERATOR(pg_catalog.=) col
       AND a.attnum OPERATOR(pg_catalog.>) 0::pg_catalog.int2 AND NOT a.attisdropped
    UNION
    SELECT a.attrelid, a.attnum, a.attname
      FROM related AS r, LATERAL (
        SELECT c.conrelid AS relid, k.own AS attnum, NULL::pg_catalog.name AS attname
          FROM pg_catalog.pg_constraint AS c,
            LATERAL ROWS FROM (pg_catalog.unnest(c.conkey), pg_catalog.unnest(c.confkey)) AS k(own, referred)
         WHERE c.contype OPERATOR(pg_catalog.=) 'f'::pg_catalog."char" AND c.confrelid OPERATOR(pg_catalog.=) r.relid
           AND k.referred OPERATOR(pg_catalog.=) r.attnum
        UNION ALL
        SELECT i.inhparent, NULL::pg_catalog.int2, r.attname
          FROM pg_catalog.pg_inherits AS i WHERE i.inhrelid OPERATOR(pg_catalog.=) r.relid
        UNION ALL
        SELECT i.inhrelid, NULL::pg_catalog.int2, r.attname
          FROM pg_catalog.pg_inherits AS i WHERE i.inhparent OPERATOR(pg_catalog.=) r.relid) AS n
      JOIN pg_catalog.pg_attribute AS a
        ON a.attrelid OPERATOR(pg_catalog.=) n.relid AND NOT a.attisdropped
       AND (a.attnum OPERATOR(pg_catalog.=) n.attnum OR a.attname OPERATOR(pg_catalog.=) n.attname))
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
  'statements that make bigints of a column and of those that refer to it, for snowid_adopt()';
-- IDs for old rows

CREATE FUNCTION @extschema@.snowid_backfill(created_at pg_catalog.timestamptz, shard bigint,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  WINDOW IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_backfill';
COMMENT ON FUNCTION @extschema@.snowid_backfill(pg_catalog.timestamptz, bigint, @extschema@.snowid_layout) IS
  'IDs of their own time for old rows, distinct and in order within OVER (ORDER BY created_at)';
-- Partitions by an ID's time

CREATE FUNCTION @extschema@.snowid_create_partitions(parent pg_catalog.regclass, step pg_catalog.interval,
    until pg_catalog.timestamptz, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS SETOF pg_catalog.regclass
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_create_partitions';
COMMENT ON FUNCTION @extschema@.snowid_create_partitions(pg_catalog.regclass, pg_catalog.interval, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'have a table partitioned by ID have partitions of months, days or the like up to a moment; those that were made';

CREATE FUNCTION @extschema@.snowid_drop_partitions(parent pg_catalog.regclass, before pg_catalog.timestamptz,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS SETOF pg_catalog.text
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_drop_partitions';
COMMENT ON FUNCTION @extschema@.snowid_drop_partitions(pg_catalog.regclass, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'drop the partitions that end before a moment; their names';

CREATE FUNCTION @extschema@.snowid_detach_partitions(parent pg_catalog.regclass, before pg_catalog.timestamptz,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS SETOF pg_catalog.regclass
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_detach_partitions';
COMMENT ON FUNCTION @extschema@.snowid_detach_partitions(pg_catalog.regclass, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'make tables of their own of the partitions that end before a moment; those tables';
-- Statistics: their reset

CREATE FUNCTION @extschema@.snowid_stat_reset() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_stat_reset';
COMMENT ON FUNCTION @extschema@.snowid_stat_reset() IS 'have all statistics of this database begin anew';
REVOKE ALL ON FUNCTION @extschema@.snowid_stat_reset() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_stat_reset() TO @extowner@ WITH GRANT OPTION;
-- Statistics of shards. Who may look at a view must be able to call its function, too.

CREATE FUNCTION snowid.shard_statistics(OUT layout @extschema@.snowid_layout, OUT shard bigint, OUT issued bigint,
    OUT last_id bigint, OUT last_time pg_catalog.timestamptz, OUT lead double precision,
    OUT max_lead double precision, OUT waits bigint, OUT wait_time double precision, OUT refusals bigint,
    OUT clock_steps_back bigint, OUT layout_end pg_catalog.timestamptz)
  RETURNS SETOF pg_catalog.record
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_shard_statistics';
COMMENT ON FUNCTION snowid.shard_statistics() IS 'what the view snowid.stat_shards shows';
REVOKE ALL ON FUNCTION snowid.shard_statistics() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION snowid.shard_statistics() TO pg_monitor;
GRANT EXECUTE ON FUNCTION snowid.shard_statistics() TO @extowner@ WITH GRANT OPTION;

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
COMMENT ON COLUMN snowid.stat_shards.layout_end IS 'when the time of the layout is used up';
REVOKE ALL ON snowid.stat_shards FROM PUBLIC;
GRANT SELECT ON snowid.stat_shards TO pg_monitor;
GRANT SELECT ON snowid.stat_shards TO @extowner@ WITH GRANT OPTION;
-- Statistics of the database

CREATE FUNCTION snowid.database_statistics(OUT ceiling pg_catalog.timestamptz, OUT ceiling_raises bigint,
    OUT wal_flushes bigint, OUT wal_flush_time double precision, OUT ids_memory bigint, OUT kinds_memory bigint,
    OUT counters_memory bigint, OUT total_memory bigint, OUT stats_reset pg_catalog.timestamptz)
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_database_statistics';
COMMENT ON FUNCTION snowid.database_statistics() IS 'what the view snowid.stat_database shows';
REVOKE ALL ON FUNCTION snowid.database_statistics() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION snowid.database_statistics() TO pg_monitor;
GRANT EXECUTE ON FUNCTION snowid.database_statistics() TO @extowner@ WITH GRANT OPTION;

CREATE VIEW snowid.stat_database AS
  SELECT pg_catalog.current_database() AS database, s.ceiling, s.ceiling_raises, s.wal_flushes, s.wal_flush_time,
    s.ids_memory, s.kinds_memory, s.counters_memory, s.total_memory,
    n.number AS node_number, n.source AS node_source, s.stats_reset
  FROM snowid.database_statistics() s CROSS JOIN snowid.node_number() n;
COMMENT ON VIEW snowid.stat_database IS
  'one row: the ceiling, memory and node number of this database; counts are since the server started or '
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
COMMENT ON COLUMN snowid.stat_database.node_number IS 'the shard of snowid_next() in this session, see snowid.node';
COMMENT ON COLUMN snowid.stat_database.node_source IS 'where that comes from';
COMMENT ON COLUMN snowid.stat_database.stats_reset IS
  'when statistics were last reset, null where they were not since the server started';
REVOKE ALL ON snowid.stat_database FROM PUBLIC;
GRANT SELECT ON snowid.stat_database TO pg_monitor;
GRANT SELECT ON snowid.stat_database TO @extowner@ WITH GRANT OPTION;
-- Statistics of segments and sections. Who may look at the view must be able to call its function, too.

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
GRANT EXECUTE ON FUNCTION snowid.counter_statistics() TO pg_monitor;
GRANT EXECUTE ON FUNCTION snowid.counter_statistics() TO @extowner@ WITH GRANT OPTION;

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
GRANT SELECT ON snowid.stat_counters TO pg_monitor;
GRANT SELECT ON snowid.stat_counters TO @extowner@ WITH GRANT OPTION;
