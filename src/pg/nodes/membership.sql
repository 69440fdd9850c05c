-- A node's side of joining: a database claims its number in another database, the registry (registry.sql). What it knows of
-- this lies on a page of its own, see membership.hpp.

-- That this database has joined, for its dumps: one that is restored must not issue IDs of shard 0, as if it never had.
CREATE TABLE snowid_internal.membership (
  singleton boolean PRIMARY KEY CHECK (singleton),
  node_number bigint NOT NULL,
  node_name pg_catalog.text NOT NULL
) USING heap;
COMMENT ON TABLE snowid_internal.membership IS
  'a row if this database is a node, or was restored from a dump of one; nothing else is read from it';
COMMENT ON COLUMN snowid_internal.membership.singleton IS 'true: there is one row at most';
COMMENT ON COLUMN snowid_internal.membership.node_number IS 'number of the node when it joined';
COMMENT ON COLUMN snowid_internal.membership.node_name IS 'name of the node when it joined';
COMMENT ON CONSTRAINT membership_pkey ON snowid_internal.membership IS 'a database is one node at most';
COMMENT ON INDEX snowid_internal.membership_pkey IS 'a database is one node at most';
COMMENT ON CONSTRAINT membership_singleton_check ON snowid_internal.membership IS 'a database is one node at most';
SELECT pg_catalog.pg_extension_config_dump('snowid_internal.membership'::pg_catalog.regclass, ''::pg_catalog.text);

CREATE TRIGGER keep_own_rows BEFORE INSERT OR UPDATE OR DELETE ON snowid_internal.membership
  FOR EACH ROW EXECUTE FUNCTION snowid_internal.keep_own_rows();
COMMENT ON TRIGGER keep_own_rows ON snowid_internal.membership IS 'skips another node''s row, and makes sessions resolve their number anew';
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON snowid_internal.membership
  FOR EACH STATEMENT EXECUTE FUNCTION snowid_internal.keep_own_rows();
COMMENT ON TRIGGER refuse_truncate ON snowid_internal.membership IS 'refuses TRUNCATE, also by logical replication';
ALTER TABLE snowid_internal.membership ENABLE ALWAYS TRIGGER keep_own_rows;
ALTER TABLE snowid_internal.membership ENABLE ALWAYS TRIGGER refuse_truncate;

-- The page lies behind the sequence's own, whose value means nothing. It is not dumped: a restored database is not the node.
CREATE SEQUENCE snowid_internal.membership_page AS bigint NO CYCLE;
COMMENT ON SEQUENCE snowid_internal.membership_page IS 'holds what this database knows as a node: its claim, number and token';

CREATE FUNCTION snowid.join(server pg_catalog.name, node_name pg_catalog.text DEFAULT NULL) RETURNS bigint
  VOLATILE PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_join';
COMMENT ON FUNCTION snowid.join(pg_catalog.name, pg_catalog.text) IS
  'get a number for this node from a registry, named as a foreign server; the same number when called again';

CREATE FUNCTION snowid.check_node() RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_check_node';
COMMENT ON FUNCTION snowid.check_node() IS
  'have the registry, or Citus'' coordinator, confirm that this node''s number belongs to this server and not to a copy';

CREATE FUNCTION snowid.take_over_node() RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_take_over_node';
COMMENT ON FUNCTION snowid.take_over_node() IS
  'state that this server, which was promoted, restored or copied, replaces the node; the other one stops at its next check';

CREATE FUNCTION snowid.accept_registry() RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_accept_registry';
COMMENT ON FUNCTION snowid.accept_registry() IS
  'state that the foreign server leads to the registry now, after that was restored, promoted, upgraded or moved';

CREATE FUNCTION snowid.leave() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_leave';
COMMENT ON FUNCTION snowid.leave() IS 'stop drawing IDs from this node''s number for ever, and have the registry retire it';
