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
