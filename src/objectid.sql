-- MongoDB's ObjectID: 12 bytes, ordered as bytes are, which is by time. Appended to snowid.sql.

CREATE TYPE objectid;

CREATE FUNCTION objectid_in(cstring) RETURNS objectid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_in';
COMMENT ON FUNCTION objectid_in(cstring) IS 'ObjectID of 24 hexadecimal digits';

CREATE FUNCTION objectid_out(objectid) RETURNS cstring
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_out';
COMMENT ON FUNCTION objectid_out(objectid) IS '24 hexadecimal digits of an ObjectID';

CREATE FUNCTION objectid_recv(internal) RETURNS objectid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_recv';
COMMENT ON FUNCTION objectid_recv(internal) IS 'ObjectID of 12 bytes of a message';

CREATE FUNCTION objectid_send(objectid) RETURNS bytea
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_send';
COMMENT ON FUNCTION objectid_send(objectid) IS '12 bytes of an ObjectID for a message';

CREATE TYPE objectid (INPUT = objectid_in, OUTPUT = objectid_out,
                      RECEIVE = objectid_recv, SEND = objectid_send,
                      INTERNALLENGTH = 12, ALIGNMENT = char, STORAGE = plain);
COMMENT ON TYPE objectid IS
  'MongoDB''s ObjectID: 4 bytes of Unix seconds, 5 random, 3 of a counter';

CREATE FUNCTION objectid_from_bytea(bytes bytea) RETURNS objectid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_from_bytea';
COMMENT ON FUNCTION objectid_from_bytea(bytea) IS 'ObjectID of 12 bytes';

CREATE FUNCTION objectid_to_bytea(id objectid) RETURNS bytea
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_to_bytea';
COMMENT ON FUNCTION objectid_to_bytea(objectid) IS '12 bytes of an ObjectID';

CREATE CAST (bytea AS objectid) WITH FUNCTION objectid_from_bytea(bytea);
COMMENT ON CAST (bytea AS objectid) IS 'ObjectID of 12 bytes';

CREATE CAST (objectid AS bytea) WITH FUNCTION objectid_to_bytea(objectid);
COMMENT ON CAST (objectid AS bytea) IS '12 bytes of an ObjectID';

CREATE FUNCTION objectid_next() RETURNS objectid
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_next';
COMMENT ON FUNCTION objectid_next() IS
  'next ObjectID, greater than all that this server has made before';

CREATE FUNCTION snowid_timestamp(id objectid) RETURNS timestamptz
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_timestamp_objectid';
COMMENT ON FUNCTION snowid_timestamp(objectid) IS
  'time at which an ObjectID was made, to the second';

CREATE FUNCTION objectid_eq(objectid, objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_eq';
COMMENT ON FUNCTION objectid_eq(objectid, objectid) IS 'whether two ObjectIDs are the same';

CREATE FUNCTION objectid_ne(objectid, objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_ne';
COMMENT ON FUNCTION objectid_ne(objectid, objectid) IS 'whether two ObjectIDs differ';

CREATE FUNCTION objectid_lt(objectid, objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_lt';
COMMENT ON FUNCTION objectid_lt(objectid, objectid) IS 'whether an ObjectID comes before another';

CREATE FUNCTION objectid_le(objectid, objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_le';
COMMENT ON FUNCTION objectid_le(objectid, objectid) IS
  'whether an ObjectID comes before another or is the same';

CREATE FUNCTION objectid_gt(objectid, objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_gt';
COMMENT ON FUNCTION objectid_gt(objectid, objectid) IS 'whether an ObjectID comes after another';

CREATE FUNCTION objectid_ge(objectid, objectid) RETURNS boolean
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_ge';
COMMENT ON FUNCTION objectid_ge(objectid, objectid) IS
  'whether an ObjectID comes after another or is the same';

CREATE FUNCTION objectid_cmp(objectid, objectid) RETURNS int
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_cmp';
COMMENT ON FUNCTION objectid_cmp(objectid, objectid) IS
  '-1, 0 or 1 as an ObjectID comes before another, is the same or comes after it';

CREATE FUNCTION objectid_hash(objectid) RETURNS int
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_hash';
COMMENT ON FUNCTION objectid_hash(objectid) IS 'hash of an ObjectID';

CREATE FUNCTION objectid_hash_extended(objectid, bigint) RETURNS bigint
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE C
  AS 'MODULE_PATHNAME', 'objectid_hash_extended';
COMMENT ON FUNCTION objectid_hash_extended(objectid, bigint) IS
  'hash of an ObjectID in 64 bits, with a seed';

CREATE OPERATOR = (FUNCTION = objectid_eq, LEFTARG = objectid, RIGHTARG = objectid,
  COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
COMMENT ON OPERATOR = (objectid, objectid) IS 'whether two ObjectIDs are the same';

CREATE OPERATOR <> (FUNCTION = objectid_ne, LEFTARG = objectid, RIGHTARG = objectid,
  COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel);
COMMENT ON OPERATOR <> (objectid, objectid) IS 'whether two ObjectIDs differ';

CREATE OPERATOR < (FUNCTION = objectid_lt, LEFTARG = objectid, RIGHTARG = objectid,
  COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
COMMENT ON OPERATOR < (objectid, objectid) IS 'whether an ObjectID comes before another';

CREATE OPERATOR <= (FUNCTION = objectid_le, LEFTARG = objectid, RIGHTARG = objectid,
  COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
COMMENT ON OPERATOR <= (objectid, objectid) IS
  'whether an ObjectID comes before another or is the same';

CREATE OPERATOR > (FUNCTION = objectid_gt, LEFTARG = objectid, RIGHTARG = objectid,
  COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
COMMENT ON OPERATOR > (objectid, objectid) IS 'whether an ObjectID comes after another';

CREATE OPERATOR >= (FUNCTION = objectid_ge, LEFTARG = objectid, RIGHTARG = objectid,
  COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel);
COMMENT ON OPERATOR >= (objectid, objectid) IS
  'whether an ObjectID comes after another or is the same';

-- The operator families come with the classes and bear their names. btequalimage says that equal
-- ObjectIDs have the same bytes, so that an index may keep duplicates once.
CREATE OPERATOR CLASS objectid_ops DEFAULT FOR TYPE objectid USING btree AS
  OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
  FUNCTION 1 objectid_cmp(objectid, objectid),
  FUNCTION 4 btequalimage(oid);
COMMENT ON OPERATOR CLASS objectid_ops USING btree IS 'order of ObjectIDs';
COMMENT ON OPERATOR FAMILY objectid_ops USING btree IS 'order of ObjectIDs';

CREATE OPERATOR CLASS objectid_ops DEFAULT FOR TYPE objectid USING hash AS
  OPERATOR 1 =,
  FUNCTION 1 objectid_hash(objectid),
  FUNCTION 2 objectid_hash_extended(objectid, bigint);
COMMENT ON OPERATOR CLASS objectid_ops USING hash IS 'hashes of ObjectIDs';
COMMENT ON OPERATOR FAMILY objectid_ops USING hash IS 'hashes of ObjectIDs';

CREATE FUNCTION objectid_smaller(objectid, objectid) RETURNS objectid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_smaller';
COMMENT ON FUNCTION objectid_smaller(objectid, objectid) IS 'the first of two ObjectIDs';

CREATE FUNCTION objectid_larger(objectid, objectid) RETURNS objectid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE C AS 'MODULE_PATHNAME', 'objectid_larger';
COMMENT ON FUNCTION objectid_larger(objectid, objectid) IS 'the last of two ObjectIDs';

CREATE AGGREGATE min(objectid) (SFUNC = objectid_smaller, STYPE = objectid,
  COMBINEFUNC = objectid_smaller, SORTOP = <, PARALLEL = SAFE);
COMMENT ON AGGREGATE min(objectid) IS 'first of many ObjectIDs';

CREATE AGGREGATE max(objectid) (SFUNC = objectid_larger, STYPE = objectid,
  COMBINEFUNC = objectid_larger, SORTOP = >, PARALLEL = SAFE);
COMMENT ON AGGREGATE max(objectid) IS 'last of many ObjectIDs';
