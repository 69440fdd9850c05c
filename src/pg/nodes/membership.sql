-- Joining: a database that is a node claims its number in another database, the registry. Any database
-- with snowid can be one; it can be a node, too. What the registry does is in nodes.sql.

-- The member's side

CREATE TABLE snowid_internal.membership (
  singleton boolean PRIMARY KEY CHECK (singleton),
  number bigint NOT NULL
    CHECK (number OPERATOR(pg_catalog.>=) 1::bigint AND number OPERATOR(pg_catalog.<=) 8191::bigint),
  node pg_catalog.text NOT NULL,
  server pg_catalog.text NOT NULL,
  registry_identity pg_catalog.text NOT NULL,
  secret pg_catalog.text NOT NULL,
  incarnation bigint NOT NULL,
  system_identifier bigint NOT NULL,
  database_oid pg_catalog.oid NOT NULL,
  server_key pg_catalog.text NOT NULL,
  joined pg_catalog.timestamptz NOT NULL,
  checked pg_catalog.timestamptz NOT NULL
) USING heap;
COMMENT ON TABLE snowid_internal.membership IS
  'the registry that this database has joined, and as which node, see snowid_join; one row at most, kept by snowid';
COMMENT ON COLUMN snowid_internal.membership.singleton IS 'true: there is one row at most';
COMMENT ON COLUMN snowid_internal.membership.number IS 'number that the registry has given to this node';
COMMENT ON COLUMN snowid_internal.membership.node IS 'name of this node there';
COMMENT ON COLUMN snowid_internal.membership.server IS 'foreign server that is the registry';
COMMENT ON COLUMN snowid_internal.membership.registry_identity IS 'identity of that registry, as snowid_internal.registry_identity() has it there';
COMMENT ON COLUMN snowid_internal.membership.secret IS 'what proves to the registry that the number is this node''s';
COMMENT ON COLUMN snowid_internal.membership.incarnation IS
  'what snowid_internal.membership_words has, too, where the row is still true';
COMMENT ON COLUMN snowid_internal.membership.system_identifier IS 'server that has joined, as pg_control_system() has it';
COMMENT ON COLUMN snowid_internal.membership.database_oid IS 'database of that server that has joined';
COMMENT ON COLUMN snowid_internal.membership.server_key IS 'snowid.server_key of that server, an empty string where it has none';
COMMENT ON COLUMN snowid_internal.membership.joined IS 'when it has joined, by its clock';
COMMENT ON COLUMN snowid_internal.membership.checked IS 'when the registry has last confirmed it, by this server''s clock';
COMMENT ON CONSTRAINT membership_pkey ON snowid_internal.membership IS 'a database is one node at most';
COMMENT ON INDEX snowid_internal.membership_pkey IS 'a database is one node at most';
COMMENT ON CONSTRAINT membership_number_check ON snowid_internal.membership IS
  'shards of the layout instagram; 0 is drawn from without joining';
COMMENT ON CONSTRAINT membership_singleton_check ON snowid_internal.membership IS 'a database is one node at most';
SELECT pg_catalog.pg_extension_config_dump('snowid_internal.membership'::pg_catalog.regclass, ''::pg_catalog.text);

CREATE FUNCTION snowid_internal.keep_membership() RETURNS pg_catalog.trigger
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_keep_membership';
COMMENT ON FUNCTION snowid_internal.keep_membership() IS
  'trigger: rows that replication brings are dropped, and a restored one counts at once';

CREATE TRIGGER keep_membership BEFORE INSERT OR UPDATE OR DELETE ON snowid_internal.membership
  FOR EACH ROW EXECUTE FUNCTION snowid_internal.keep_membership();
COMMENT ON TRIGGER keep_membership ON snowid_internal.membership IS
  'trigger: rows that replication brings are dropped, and a restored one counts at once';
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON snowid_internal.membership
  FOR EACH STATEMENT EXECUTE FUNCTION snowid_internal.keep_membership();
COMMENT ON TRIGGER refuse_truncate ON snowid_internal.membership IS
  'refuses TRUNCATE, which replication would do to others'' rows, too';
ALTER TABLE snowid_internal.membership ENABLE ALWAYS TRIGGER keep_membership;
ALTER TABLE snowid_internal.membership ENABLE ALWAYS TRIGGER refuse_truncate;

-- Where words lie that no rollback takes back, see words.hpp: behind the sequence's own value, which says nothing. Not
-- dumped: a restored database is not the one that has joined.
CREATE SEQUENCE snowid_internal.membership_words AS bigint NO CYCLE;
COMMENT ON SEQUENCE snowid_internal.membership_words IS
  'whether the row of snowid_internal.membership is true, and what the registry knows of this node';

CREATE FUNCTION @extschema@.snowid_join(server pg_catalog.name, node pg_catalog.text DEFAULT NULL) RETURNS bigint
  VOLATILE PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_join';
COMMENT ON FUNCTION @extschema@.snowid_join(pg_catalog.name, pg_catalog.text) IS
  'claim a number for this node from a registry, named as a foreign server; the same number when called again';

CREATE FUNCTION @extschema@.snowid_check(take_over boolean DEFAULT false, registry_moved boolean DEFAULT false)
  RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_check';
COMMENT ON FUNCTION @extschema@.snowid_check(boolean, boolean) IS
  'have the registry, or Citus'' coordinator, confirm that this node''s number is its own and not a copy''s';

CREATE FUNCTION @extschema@.snowid_leave() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_leave';
COMMENT ON FUNCTION @extschema@.snowid_leave() IS 'have the registry retire this node''s number';

CREATE VIEW snowid.member AS
  SELECT m.number, m.node, m.server AS registry, m.joined, m.checked FROM snowid_internal.membership AS m;
COMMENT ON VIEW snowid.member IS 'snowid_internal.membership without its secrets';
COMMENT ON COLUMN snowid.member.number IS 'number that the registry has given to this node';
COMMENT ON COLUMN snowid.member.node IS 'name of this node there';
COMMENT ON COLUMN snowid.member.registry IS 'foreign server that is the registry';
COMMENT ON COLUMN snowid.member.joined IS 'when it has joined, by its clock';
COMMENT ON COLUMN snowid.member.checked IS 'when the registry has last confirmed it, by this server''s clock';
