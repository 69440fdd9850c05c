-- What single roles get of central sources. See server/rights.sql.

-- The role that restores a dump need not be a superuser.
GRANT INSERT ON snowid.segment_sources TO @extowner@;
