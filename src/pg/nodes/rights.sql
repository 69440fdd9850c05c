-- What single roles get of nodes and their registry. See server/rights.sql.

-- Roles that may dump the database may read the secrets, and those that restore it may write them.
GRANT SELECT, INSERT ON snowid.membership TO @extowner@;
GRANT SELECT ON snowid.membership TO pg_database_owner;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_join(pg_catalog.name, pg_catalog.text) TO @extowner@
  WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_check(boolean, boolean) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_leave() TO @extowner@ WITH GRANT OPTION;
GRANT SELECT ON snowid.member TO pg_monitor;
GRANT SELECT ON snowid.member TO @extowner@ WITH GRANT OPTION;
GRANT SELECT, INSERT ON snowid.nodes TO @extowner@;
GRANT SELECT ON snowid.nodes TO pg_database_owner;
GRANT SELECT ON snowid.registered_nodes TO pg_monitor;
GRANT SELECT ON snowid.registered_nodes TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION snowid.register(pg_catalog.text, pg_catalog.text, bigint, pg_catalog.text, bigint, bigint,
  pg_catalog.text, bigint, bigint, bigint, pg_catalog.text) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION snowid.retire_node(pg_catalog.text) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION snowid.free_number(bigint, pg_catalog.interval) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION snowid.settle_registry(bigint) TO @extowner@ WITH GRANT OPTION;
