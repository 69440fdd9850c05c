-- Estimates of row counts for the planner

CREATE FUNCTION snowid.batch_support(pg_catalog.internal) RETURNS pg_catalog.internal
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_batch_support';
COMMENT ON FUNCTION snowid.batch_support(pg_catalog.internal) IS 'planner support for functions of a count';
