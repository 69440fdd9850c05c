-- MongoDB's ObjectID: 12 bytes, in byte order, which is by time

CREATE TYPE @extschema@.objectid;

CREATE FUNCTION snowid.objectid_in(pg_catalog.cstring) RETURNS @extschema@.objectid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_in';
COMMENT ON FUNCTION snowid.objectid_in(pg_catalog.cstring) IS 'I/O';

CREATE FUNCTION snowid.objectid_out(@extschema@.objectid) RETURNS pg_catalog.cstring
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_out';
COMMENT ON FUNCTION snowid.objectid_out(@extschema@.objectid) IS 'I/O';

CREATE FUNCTION snowid.objectid_recv(pg_catalog.internal) RETURNS @extschema@.objectid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_recv';
COMMENT ON FUNCTION snowid.objectid_recv(pg_catalog.internal) IS 'I/O';

CREATE FUNCTION snowid.objectid_send(@extschema@.objectid) RETURNS pg_catalog.bytea
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_send';
COMMENT ON FUNCTION snowid.objectid_send(@extschema@.objectid) IS 'I/O';

CREATE TYPE @extschema@.objectid (INPUT = snowid.objectid_in, OUTPUT = snowid.objectid_out,
                      RECEIVE = snowid.objectid_recv, SEND = snowid.objectid_send,
                      INTERNALLENGTH = 12, ALIGNMENT = char, STORAGE = plain);
COMMENT ON TYPE @extschema@.objectid IS 'MongoDB''s ObjectID';

CREATE FUNCTION snowid.objectid_from_bytea(bytes pg_catalog.bytea) RETURNS @extschema@.objectid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_from_bytea';
COMMENT ON FUNCTION snowid.objectid_from_bytea(pg_catalog.bytea) IS 'Returns the ObjectID of 12 bytes.';

CREATE CAST (pg_catalog.bytea AS @extschema@.objectid)
  WITH FUNCTION snowid.objectid_from_bytea(pg_catalog.bytea);
COMMENT ON CAST (pg_catalog.bytea AS @extschema@.objectid) IS 'ObjectID of 12 bytes';

CREATE CAST (@extschema@.objectid AS pg_catalog.bytea)
  WITH FUNCTION snowid.objectid_send(@extschema@.objectid);
COMMENT ON CAST (@extschema@.objectid AS pg_catalog.bytea) IS '12 bytes of an ObjectID';

CREATE FUNCTION @extschema@.objectid_next() RETURNS @extschema@.objectid
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_next';
COMMENT ON FUNCTION @extschema@.objectid_next() IS 'Returns the next ObjectID of this server.';

CREATE FUNCTION @extschema@.objectid_timestamp(id @extschema@.objectid) RETURNS pg_catalog.timestamptz
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_timestamp';
COMMENT ON FUNCTION @extschema@.objectid_timestamp(@extschema@.objectid) IS 'Returns an ObjectID''s time, to the second.';

CREATE FUNCTION snowid.objectid_eq(@extschema@.objectid, @extschema@.objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_eq';
COMMENT ON FUNCTION snowid.objectid_eq(@extschema@.objectid, @extschema@.objectid) IS 'implementation of = operator';

CREATE FUNCTION snowid.objectid_ne(@extschema@.objectid, @extschema@.objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_ne';
COMMENT ON FUNCTION snowid.objectid_ne(@extschema@.objectid, @extschema@.objectid) IS 'implementation of <> operator';

CREATE FUNCTION snowid.objectid_lt(@extschema@.objectid, @extschema@.objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_lt';
COMMENT ON FUNCTION snowid.objectid_lt(@extschema@.objectid, @extschema@.objectid) IS 'implementation of < operator';

CREATE FUNCTION snowid.objectid_le(@extschema@.objectid, @extschema@.objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_le';
COMMENT ON FUNCTION snowid.objectid_le(@extschema@.objectid, @extschema@.objectid) IS 'implementation of <= operator';

CREATE FUNCTION snowid.objectid_gt(@extschema@.objectid, @extschema@.objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_gt';
COMMENT ON FUNCTION snowid.objectid_gt(@extschema@.objectid, @extschema@.objectid) IS 'implementation of > operator';

CREATE FUNCTION snowid.objectid_ge(@extschema@.objectid, @extschema@.objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_ge';
COMMENT ON FUNCTION snowid.objectid_ge(@extschema@.objectid, @extschema@.objectid) IS 'implementation of >= operator';

CREATE FUNCTION snowid.objectid_cmp(@extschema@.objectid, @extschema@.objectid) RETURNS int
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_cmp';
COMMENT ON FUNCTION snowid.objectid_cmp(@extschema@.objectid, @extschema@.objectid) IS 'less-equal-greater';

CREATE FUNCTION snowid.objectid_hash(@extschema@.objectid) RETURNS int
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_hash';
COMMENT ON FUNCTION snowid.objectid_hash(@extschema@.objectid) IS 'hash';

CREATE FUNCTION snowid.objectid_hash_extended(@extschema@.objectid, bigint) RETURNS bigint
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C
  AS 'MODULE_PATHNAME', 'snowid_objectid_hash_extended';
COMMENT ON FUNCTION snowid.objectid_hash_extended(@extschema@.objectid, bigint) IS 'hash';

CREATE OPERATOR @extschema@.= (FUNCTION = snowid.objectid_eq,
  LEFTARG = @extschema@.objectid, RIGHTARG = @extschema@.objectid,
  COMMUTATOR = OPERATOR(@extschema@.=), NEGATOR = OPERATOR(@extschema@.<>),
  RESTRICT = pg_catalog.eqsel, JOIN = pg_catalog.eqjoinsel, HASHES, MERGES);
COMMENT ON OPERATOR @extschema@.= (@extschema@.objectid, @extschema@.objectid) IS 'equal';

CREATE OPERATOR @extschema@.<> (FUNCTION = snowid.objectid_ne,
  LEFTARG = @extschema@.objectid, RIGHTARG = @extschema@.objectid,
  COMMUTATOR = OPERATOR(@extschema@.<>), NEGATOR = OPERATOR(@extschema@.=),
  RESTRICT = pg_catalog.neqsel, JOIN = pg_catalog.neqjoinsel);
COMMENT ON OPERATOR @extschema@.<> (@extschema@.objectid, @extschema@.objectid) IS 'not equal';

CREATE OPERATOR @extschema@.< (FUNCTION = snowid.objectid_lt,
  LEFTARG = @extschema@.objectid, RIGHTARG = @extschema@.objectid,
  COMMUTATOR = OPERATOR(@extschema@.>), NEGATOR = OPERATOR(@extschema@.>=),
  RESTRICT = pg_catalog.scalarltsel, JOIN = pg_catalog.scalarltjoinsel);
COMMENT ON OPERATOR @extschema@.< (@extschema@.objectid, @extschema@.objectid) IS 'less than';

CREATE OPERATOR @extschema@.<= (FUNCTION = snowid.objectid_le,
  LEFTARG = @extschema@.objectid, RIGHTARG = @extschema@.objectid,
  COMMUTATOR = OPERATOR(@extschema@.>=), NEGATOR = OPERATOR(@extschema@.>),
  RESTRICT = pg_catalog.scalarlesel, JOIN = pg_catalog.scalarlejoinsel);
COMMENT ON OPERATOR @extschema@.<= (@extschema@.objectid, @extschema@.objectid) IS 'less than or equal';

CREATE OPERATOR @extschema@.> (FUNCTION = snowid.objectid_gt,
  LEFTARG = @extschema@.objectid, RIGHTARG = @extschema@.objectid,
  COMMUTATOR = OPERATOR(@extschema@.<), NEGATOR = OPERATOR(@extschema@.<=),
  RESTRICT = pg_catalog.scalargtsel, JOIN = pg_catalog.scalargtjoinsel);
COMMENT ON OPERATOR @extschema@.> (@extschema@.objectid, @extschema@.objectid) IS 'greater than';

CREATE OPERATOR @extschema@.>= (FUNCTION = snowid.objectid_ge,
  LEFTARG = @extschema@.objectid, RIGHTARG = @extschema@.objectid,
  COMMUTATOR = OPERATOR(@extschema@.<=), NEGATOR = OPERATOR(@extschema@.<),
  RESTRICT = pg_catalog.scalargesel, JOIN = pg_catalog.scalargejoinsel);
COMMENT ON OPERATOR @extschema@.>= (@extschema@.objectid, @extschema@.objectid) IS 'greater than or equal';

-- The operator families come with the classes and have their names. btequalimage declares equal ObjectIDs to have the
-- same bytes: an index may deduplicate them.
CREATE OPERATOR CLASS @extschema@.objectid_ops DEFAULT FOR TYPE @extschema@.objectid USING btree AS
  OPERATOR 1 @extschema@.<, OPERATOR 2 @extschema@.<=, OPERATOR 3 @extschema@.=,
  OPERATOR 4 @extschema@.>=, OPERATOR 5 @extschema@.>,
  FUNCTION 1 snowid.objectid_cmp(@extschema@.objectid, @extschema@.objectid),
  FUNCTION 4 pg_catalog.btequalimage(pg_catalog.oid);
COMMENT ON OPERATOR CLASS @extschema@.objectid_ops USING btree IS 'order of ObjectIDs';
COMMENT ON OPERATOR FAMILY @extschema@.objectid_ops USING btree IS 'order of ObjectIDs';

CREATE OPERATOR CLASS @extschema@.objectid_ops DEFAULT FOR TYPE @extschema@.objectid USING hash AS
  OPERATOR 1 @extschema@.=,
  FUNCTION 1 snowid.objectid_hash(@extschema@.objectid),
  FUNCTION 2 snowid.objectid_hash_extended(@extschema@.objectid, bigint);
COMMENT ON OPERATOR CLASS @extschema@.objectid_ops USING hash IS 'hashes of ObjectIDs';
COMMENT ON OPERATOR FAMILY @extschema@.objectid_ops USING hash IS 'hashes of ObjectIDs';

CREATE FUNCTION snowid.objectid_smaller(@extschema@.objectid, @extschema@.objectid)
  RETURNS @extschema@.objectid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_smaller';
COMMENT ON FUNCTION snowid.objectid_smaller(@extschema@.objectid, @extschema@.objectid) IS 'Returns the lesser of two ObjectIDs.';

CREATE FUNCTION snowid.objectid_larger(@extschema@.objectid, @extschema@.objectid)
  RETURNS @extschema@.objectid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_objectid_larger';
COMMENT ON FUNCTION snowid.objectid_larger(@extschema@.objectid, @extschema@.objectid) IS 'Returns the greater of two ObjectIDs.';

CREATE AGGREGATE @extschema@.min(@extschema@.objectid) (SFUNC = snowid.objectid_smaller,
  STYPE = @extschema@.objectid,
  COMBINEFUNC = snowid.objectid_smaller, SORTOP = OPERATOR(@extschema@.<), PARALLEL = SAFE);
COMMENT ON AGGREGATE @extschema@.min(@extschema@.objectid) IS 'Returns the least ObjectID.';

CREATE AGGREGATE @extschema@.max(@extschema@.objectid) (SFUNC = snowid.objectid_larger,
  STYPE = @extschema@.objectid,
  COMBINEFUNC = snowid.objectid_larger, SORTOP = OPERATOR(@extschema@.>), PARALLEL = SAFE);
COMMENT ON AGGREGATE @extschema@.max(@extschema@.objectid) IS 'Returns the greatest ObjectID.';
