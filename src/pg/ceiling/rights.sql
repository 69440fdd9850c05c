-- Rights of this room, see server/rights.sql.

-- The role that restores a dump sets it.
GRANT SELECT, UPDATE ON SEQUENCE snowid.ceiling TO @extowner@;
