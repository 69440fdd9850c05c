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
