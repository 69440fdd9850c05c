-- What single roles get of counters. See server/rights.sql.

GRANT EXECUTE ON FUNCTION snowid.counter_statistics() TO pg_monitor;
GRANT EXECUTE ON FUNCTION snowid.counter_statistics() TO @extowner@ WITH GRANT OPTION;
GRANT SELECT ON snowid.stat_counters TO pg_monitor;
GRANT SELECT ON snowid.stat_counters TO @extowner@ WITH GRANT OPTION;
