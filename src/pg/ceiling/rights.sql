-- What single roles get of the ceiling. See server/rights.sql.

-- The role that restores a dump sets it.
GRANT SELECT, UPDATE ON SEQUENCE snowid.ceiling TO @extowner@;
