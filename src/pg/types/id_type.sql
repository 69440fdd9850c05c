-- snowid: the type of an ID, a string in JSON
--
-- It is to bigint what varchar is to text: stored alike, cast without a function, and without operators, operator
-- classes or aggregates of its own. PostgreSQL therefore compares, sorts, hashes and indexes it as bigint, with
-- bigint's functions. JSON's functions know bigint by its OID: they write any other type as a string.
--
-- With operators of its own, a parameter compared with a column would have a type unknown to drivers, and additions to
-- integer_ops would be lost in pg_upgrade, which cannot dump the operator families of pg_catalog.

CREATE TYPE @extschema@.snowid;

CREATE FUNCTION snowid.id_in(pg_catalog.cstring) RETURNS @extschema@.snowid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE internal AS 'int8in';
COMMENT ON FUNCTION snowid.id_in(pg_catalog.cstring) IS 'I/O';

CREATE FUNCTION snowid.id_out(@extschema@.snowid) RETURNS pg_catalog.cstring
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE internal AS 'int8out';
COMMENT ON FUNCTION snowid.id_out(@extschema@.snowid) IS 'I/O';

CREATE FUNCTION snowid.id_recv(pg_catalog.internal) RETURNS @extschema@.snowid
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE internal AS 'int8recv';
COMMENT ON FUNCTION snowid.id_recv(pg_catalog.internal) IS 'I/O';

CREATE FUNCTION snowid.id_send(@extschema@.snowid) RETURNS pg_catalog.bytea
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE internal AS 'int8send';
COMMENT ON FUNCTION snowid.id_send(@extschema@.snowid) IS 'I/O';

-- Of bigint's category: CASE, UNION, IN and the like find bigint as the common type.
CREATE TYPE @extschema@.snowid (
  INPUT = snowid.id_in, OUTPUT = snowid.id_out, RECEIVE = snowid.id_recv, SEND = snowid.id_send,
  LIKE = pg_catalog.int8, CATEGORY = 'N'
);
COMMENT ON TYPE @extschema@.snowid IS 'bigint ID, a string in JSON';

CREATE CAST (@extschema@.snowid AS bigint) WITHOUT FUNCTION AS IMPLICIT;
COMMENT ON CAST (@extschema@.snowid AS bigint) IS 'ID as a number';
CREATE CAST (bigint AS @extschema@.snowid) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (bigint AS @extschema@.snowid) IS 'number as an ID';

-- For constants: coalesce(id, 0), id IN (1, 2). No function or operator takes a snowid: the casts make no call
-- ambiguous.
CREATE FUNCTION snowid.id_from_int(int) RETURNS @extschema@.snowid
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE internal AS 'int48';
COMMENT ON FUNCTION snowid.id_from_int(int) IS 'number as an ID';
CREATE CAST (int AS @extschema@.snowid) WITH FUNCTION snowid.id_from_int(int) AS IMPLICIT;
COMMENT ON CAST (int AS @extschema@.snowid) IS 'number as an ID';

CREATE FUNCTION snowid.id_from_int(smallint) RETURNS @extschema@.snowid
  IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE LANGUAGE internal AS 'int28';
COMMENT ON FUNCTION snowid.id_from_int(smallint) IS 'number as an ID';
CREATE CAST (smallint AS @extschema@.snowid) WITH FUNCTION snowid.id_from_int(smallint) AS IMPLICIT;
COMMENT ON CAST (smallint AS @extschema@.snowid) IS 'number as an ID';

CREATE FUNCTION snowid.is_id_type(type pg_catalog.oid) RETURNS boolean
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE SQL
  RETURN type OPERATOR(pg_catalog.=) ANY (ARRAY['pg_catalog.int8'::pg_catalog.regtype::pg_catalog.oid,
    '@extschema@.snowid'::pg_catalog.regtype::pg_catalog.oid]);
COMMENT ON FUNCTION snowid.is_id_type(pg_catalog.oid) IS 'Returns whether a type is bigint or snowid.';
