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
