-- Times that a clock which ran ahead has used up

CREATE TABLE snowid.rewinds (
  wild_from pg_catalog.timestamptz NOT NULL,
  wild_until pg_catalog.timestamptz NOT NULL,
  rewound_to pg_catalog.timestamptz NOT NULL,
  CONSTRAINT rewinds_order CHECK (
    pg_catalog.isfinite(rewound_to) AND rewound_to OPERATOR(pg_catalog.<) wild_from
    AND wild_from OPERATOR(pg_catalog.<=) wild_until
    AND wild_until OPERATOR(pg_catalog.<) '9999-12-31 23:59:59.999+00'::pg_catalog.timestamptz)
);
COMMENT ON TABLE snowid.rewinds IS
  'times that a clock which ran ahead has used up, and that no ID gets again; see snowid_rewind';
COMMENT ON COLUMN snowid.rewinds.wild_from IS 'first time that IDs may have been given then';
COMMENT ON COLUMN snowid.rewinds.wild_until IS 'last time that IDs may have been given then';
COMMENT ON COLUMN snowid.rewinds.rewound_to IS 'IDs went on with times above this one';
COMMENT ON CONSTRAINT rewinds_order ON snowid.rewinds IS 'IDs go on before the times that are stepped over';
GRANT SELECT ON snowid.rewinds TO PUBLIC;
-- Who restores a dump may be no superuser.
GRANT INSERT ON snowid.rewinds TO @extowner@;

CREATE FUNCTION snowid.check_rewind() RETURNS pg_catalog.trigger
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_check_rewind';
COMMENT ON FUNCTION snowid.check_rewind() IS
  'sees to it that a row that a restore inserts counts, that none goes, and that replication brings none';
REVOKE ALL ON FUNCTION snowid.check_rewind() FROM PUBLIC;

CREATE TRIGGER check_rewind BEFORE INSERT OR UPDATE OR DELETE ON snowid.rewinds
  FOR EACH ROW EXECUTE FUNCTION snowid.check_rewind();
COMMENT ON TRIGGER check_rewind ON snowid.rewinds IS
  'sees to it that a row that a restore inserts counts, that none goes, and that replication brings none';
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON snowid.rewinds
  FOR EACH STATEMENT EXECUTE FUNCTION snowid.check_rewind();
COMMENT ON TRIGGER refuse_truncate ON snowid.rewinds IS
  'refuses TRUNCATE, after which IDs could repeat';
-- For logical replication, too, whose rows are about another database's IDs.
ALTER TABLE snowid.rewinds ENABLE ALWAYS TRIGGER check_rewind;
ALTER TABLE snowid.rewinds ENABLE ALWAYS TRIGGER refuse_truncate;
-- A restored copy has the rows that have those IDs.
SELECT pg_catalog.pg_extension_config_dump('snowid.rewinds'::pg_catalog.regclass, ''::pg_catalog.text);

CREATE FUNCTION @extschema@.snowid_rewind(before pg_catalog.timestamptz,
    OUT wild_from pg_catalog.timestamptz, OUT wild_until pg_catalog.timestamptz)
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_rewind';
COMMENT ON FUNCTION @extschema@.snowid_rewind(pg_catalog.timestamptz) IS
  'say that a clock which ran ahead has issued the IDs with times from this moment on: IDs go on by the clock, '
  'and step over those times';
-- For superusers alone: the IDs of all databases that know no shard are set back, too.
REVOKE ALL ON FUNCTION @extschema@.snowid_rewind(pg_catalog.timestamptz) FROM PUBLIC;

