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
