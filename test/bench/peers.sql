-- What is compared, on any server: snowid, what one would use instead, and a table with each as its
-- default. Needs the psql variable `calls`: the path of the library made from calls.c.

CREATE EXTENSION snowid;
CREATE FUNCTION empty() RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS :'calls', 'empty';
CREATE FUNCTION empty(bigint) RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS :'calls', 'empty_bigint';
CREATE FUNCTION empty(bigint, snowid_layout) RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS :'calls', 'empty_bigint_layout';
CREATE FUNCTION empty(int, bigint) RETURNS bigint
  VOLATILE STRICT PARALLEL SAFE LANGUAGE C AS :'calls', 'empty_key';

-- Instagram's function as published, of shard 5
CREATE SEQUENCE table_id_seq;
CREATE FUNCTION instagram_next_id(OUT result bigint) AS $$
DECLARE
    our_epoch bigint := 1314220021721;
    seq_id bigint;
    now_millis bigint;
    shard_id int := 5;
BEGIN
    SELECT nextval('table_id_seq') % 1024 INTO seq_id;
    SELECT FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) INTO now_millis;
    result := (now_millis - our_epoch) << 23;
    result := result | (shard_id << 10);
    result := result | (seq_id);
END;
$$ LANGUAGE PLPGSQL;

CREATE SEQUENCE numbers;
CREATE TABLE precomputed (id bigint PRIMARY KEY, n bigint);
CREATE TABLE with_snowid (id bigint PRIMARY KEY DEFAULT snowid_next(), n bigint);
CREATE TABLE with_empty (id bigint DEFAULT empty(), n bigint);
CREATE INDEX ON with_empty (id);
CREATE TABLE with_bigserial (id bigserial PRIMARY KEY, n bigint);
CREATE TABLE with_instagram (id bigint PRIMARY KEY DEFAULT instagram_next_id(), n bigint);
CREATE TABLE with_uuid (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), n bigint);

-- What a session needs for an ID of each: a library, if any, and a statement; and the table.
CREATE TABLE peers (place serial, name text, library text, draw text, into_table text);
INSERT INTO peers (name, library, draw, into_table)
  VALUES ('an empty C function', :'calls', 'SELECT empty()', NULL),
         ('snowid_next()', 'snowid', 'SELECT snowid_next()', 'with_snowid'),
         ('bigserial, nextval', NULL, 'SELECT nextval(''numbers'')', 'with_bigserial'),
         ('gen_random_uuid()', NULL, 'SELECT gen_random_uuid()', 'with_uuid'),
         ('Instagram''s PL/pgSQL', NULL, 'SELECT instagram_next_id()', 'with_instagram'),
         ('precomputed keys', NULL, NULL, 'precomputed');

-- PostgreSQL has it from 18 on.
SELECT to_regprocedure('uuidv7()') IS NOT NULL AS there_is_uuidv7 \gset
\if :there_is_uuidv7
CREATE TABLE with_uuidv7 (id uuid PRIMARY KEY DEFAULT uuidv7(), n bigint);
INSERT INTO peers (name, draw, into_table) VALUES ('uuidv7()', 'SELECT uuidv7()', 'with_uuidv7');
\endif

-- pgEdge's extension, where it is installed. Its setting snowflake.node is in the configuration file.
SELECT count(*) > 0 AS there_is_pgedge FROM pg_available_extensions WHERE name = 'snowflake' \gset
\if :there_is_pgedge
CREATE EXTENSION snowflake;
CREATE SEQUENCE snowflakes;
CREATE TABLE with_pgedge (id bigint PRIMARY KEY DEFAULT snowflake.nextval('snowflakes'), n bigint);
INSERT INTO peers (name, library, draw, into_table)
  SELECT 'pgEdge''s snowflake', probin, 'SELECT snowflake.nextval(''snowflakes'')', 'with_pgedge'
  FROM pg_proc WHERE oid = 'snowflake.nextval(regclass)'::regprocedure;
\endif

-- How often the server has had WAL flushed.
SELECT :SERVER_VERSION_NUM >= 180000 AS wal_is_of_io \gset
\if :wal_is_of_io
CREATE FUNCTION wal_flushes() RETURNS bigint RETURN (
  SELECT sum(fsyncs)::bigint FROM pg_stat_io WHERE object = 'wal' AND context = 'normal');
\else
CREATE FUNCTION wal_flushes() RETURNS bigint RETURN (SELECT wal_sync FROM pg_stat_wal);
\endif
