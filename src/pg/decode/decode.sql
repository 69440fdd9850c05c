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

-- For bodies in PL/pgSQL. They are text, whose names are looked up at run time, and the owner of the database may rename
-- the extension's schema and create another one of its old name. A body after RETURN or in BEGIN ATOMIC is stored as a
-- tree, which refers to objects by OID. The script finds the right function if an argument is a snowid_layout, which
-- nobody could write a function for before.
CREATE FUNCTION snowid.timestamp_of(id bigint, layout @extschema@.snowid_layout) RETURNS pg_catalog.timestamptz
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE SQL
  RETURN @extschema@.snowid_timestamp(id, layout);
COMMENT ON FUNCTION snowid.timestamp_of(bigint, @extschema@.snowid_layout) IS 'Returns snowid_timestamp(id, layout).';

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

CREATE FUNCTION @extschema@.snowid_first_at(moment pg_catalog.timestamptz,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_first_at';
COMMENT ON FUNCTION @extschema@.snowid_first_at(pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'least ID of the time unit that holds a moment';

CREATE FUNCTION @extschema@.snowid_last_at(moment pg_catalog.timestamptz,
    layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_last_at';
COMMENT ON FUNCTION @extschema@.snowid_last_at(pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'greatest ID of the time unit that holds a moment';

CREATE FUNCTION snowid.range_first(since pg_catalog.timestamptz, before pg_catalog.timestamptz,
    layout @extschema@.snowid_layout)
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_range_first';
COMMENT ON FUNCTION snowid.range_first(pg_catalog.timestamptz, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'least ID with a time from one moment on and before another; the greatest bigint if there is none';

CREATE FUNCTION snowid.range_last(since pg_catalog.timestamptz, before pg_catalog.timestamptz,
    layout @extschema@.snowid_layout)
  RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_range_last';
COMMENT ON FUNCTION snowid.range_last(pg_catalog.timestamptz, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'greatest ID with a time from one moment on and before another; the least bigint if there is none';

CREATE FUNCTION snowid.is_in_range(id bigint, since pg_catalog.timestamptz, before pg_catalog.timestamptz,
                                  layout @extschema@.snowid_layout) RETURNS boolean
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_is_in_range';
COMMENT ON FUNCTION snowid.is_in_range(bigint, pg_catalog.timestamptz, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'snowid_in_range(), for layouts whose IDs are not ordered by time alone';

-- Not STRICT, or the planner would not inline it. A null still gives null: each bound is strict in
-- both moments. For a constant layout that is ordered the last condition is none.
CREATE FUNCTION @extschema@.snowid_in_range(id bigint, since pg_catalog.timestamptz,
    before pg_catalog.timestamptz,
    layout @extschema@.snowid_layout DEFAULT 'instagram') RETURNS boolean
  IMMUTABLE PARALLEL SAFE LANGUAGE SQL
  RETURN id OPERATOR(pg_catalog.>=) snowid.range_first(since, before, layout)
    AND id OPERATOR(pg_catalog.<=) snowid.range_last(since, before, layout)
    AND (snowid.layout_is_ordered(layout) OR snowid.is_in_range(id, since, before, layout));
COMMENT ON FUNCTION @extschema@.snowid_in_range(bigint, pg_catalog.timestamptz, pg_catalog.timestamptz, @extschema@.snowid_layout) IS
  'whether an ID has a time from one moment on and before another; an index on the ID serves';
