-- What single roles get of statistics. See server/rights.sql.

GRANT EXECUTE ON FUNCTION snowid.database_statistics() TO pg_monitor;
GRANT EXECUTE ON FUNCTION snowid.database_statistics() TO @extowner@ WITH GRANT OPTION;
GRANT SELECT ON snowid.stat_database TO pg_monitor;
GRANT SELECT ON snowid.stat_database TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION snowid.shard_statistics() TO pg_monitor;
GRANT EXECUTE ON FUNCTION snowid.shard_statistics() TO @extowner@ WITH GRANT OPTION;
GRANT SELECT ON snowid.stat_shards TO pg_monitor;
GRANT SELECT ON snowid.stat_shards TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.snowid_stat_reset() TO @extowner@ WITH GRANT OPTION;
