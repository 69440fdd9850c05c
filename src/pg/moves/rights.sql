-- What single roles get of moving shards. See server/rights.sql.

-- The role that restores a dump need not be a superuser. This one may release shards as well.
GRANT INSERT ON snowid.released_shards TO @extowner@;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_release(bigint, @extschema@.snowid_layout, pg_catalog.text) TO @extowner@
  WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_accept(bigint, @extschema@.snowid_layout) TO @extowner@
  WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_advance(bigint, @extschema@.snowid_layout) TO @extowner@
  WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_advance_all(pg_catalog.timestamptz) TO @extowner@
  WITH GRANT OPTION;
