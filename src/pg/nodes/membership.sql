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
