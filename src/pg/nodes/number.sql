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
