-- The type objectid: text, bytes and time, its order, and everything that PostgreSQL builds on that.

SET timezone = 'UTC';
SET datestyle = 'ISO';

-- Text comes in either case and leaves in lower case.
SELECT '507f1f77bcf86cd799439011'::objectid AS lower, '507F1F77BCF86CD799439011'::objectid AS upper,
       '507f1F77bCF86Cd799439011'::objectid AS mixed;
SELECT '0123456789abcdefABCDEF00'::objectid, '000000000000000000000000'::objectid,
       'FFFFFFFFFFFFFFFFFFFFFFFF'::objectid;
SELECT '{507F1F77BCF86CD799439011,NULL}'::objectid[];
SELECT typlen, typbyval, typalign, typstorage, pg_column_size('507f1f77bcf86cd799439011'::objectid)
  FROM pg_type WHERE oid = 'objectid'::regtype;

-- Malformed text. From PostgreSQL 16 on an input function can be asked whether text is well-formed.
CREATE FUNCTION is_objectid(input text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  valid boolean;
BEGIN
  IF current_setting('server_version_num')::int < 160000 THEN
    RETURN attempt(format('SELECT %L::objectid', input)) = 'works';
  END IF;
  EXECUTE 'SELECT pg_input_is_valid($1, ''objectid'')' INTO valid USING input;
  RETURN valid;
END $$;
SELECT is_objectid('507f1f77bcf86cd799439011') AS lower, is_objectid('507F1F77BCF86CD799439011') AS upper;
\pset format unaligned
SELECT is_objectid(input) AS valid, attempt(format('SELECT %L::objectid', input))
  FROM unnest(ARRAY['', ' ', '5', '507f1f77bcf86cd79943901', '507f1f77bcf86cd7994390111',
                    'g07f1f77bcf86cd799439011', '507f1f77bcf8Gcd799439011',
                    '507f1f77bcf86cd79943901g', '507f1f77bcf86cd79943901/',
                    '507f1f77bcf86cd79943901:', '507f1f77bcf86cd79943901@',
                    '507f1f77bcf86cd79943901`', ' 07f1f77bcf86cd799439011',
                    '507f1f77bcf86cd79943901 ', ' 507f1f77bcf86cd799439011',
                    '507f1f77bcf86cd799439011 ', '507f1f77 bcf86cd799439011',
                    '507f1f77-bcf86cd79943901', '\x507f1f77bcf86cd799439011',
                    '\x507f1f77bcf86cd7994390', '0x507f1f77bcf86cd7994390',
                    '+507f1f77bcf86cd79943901', '-07f1f77bcf86cd799439011',
                    '507f1f77bcf86cd79943901é', '507f1f77bcf86cd7994390é',
                    '507f1f77bcf86cd79943901１', '"507f1f77bcf86cd799439011"',
                    '507f1f77bcf86cd79943901"', '507f1f77bcf86cd79943901''',
                    'ObjectId("507f1f77bcf86cd799439011")', '{507f1f77bcf86cd799439011}',
                    'NULL', '%s%n%d']) input;
\pset format aligned
SELECT length(attempt(format('SELECT %L::objectid', repeat('0', 10000)))) AS long;

-- Casts: to and from text by way of the text form, and to and from the bytes.
SELECT '507f1f77bcf86cd799439011'::objectid::text AS text,
       '507f1f77bcf86cd799439011'::objectid::varchar AS varchar,
       input::objectid AS from_text, input::varchar::objectid AS from_varchar
  FROM upper('507f1f77bcf86cd799439011') input;
SELECT '507f1f77bcf86cd799439011'::objectid::bytea, '\x507f1f77bcf86cd799439011'::bytea::objectid;
SELECT length, attempt(format('SELECT %L::bytea::objectid', repeat('a', length)))
  FROM unnest(ARRAY[0, 1, 11, 12, 13, 24, 100000]) length;
-- Bytes that a table stores with a short length word, compressed, and apart.
CREATE TABLE stored (n int, bytes bytea);
ALTER TABLE stored ALTER bytes SET STORAGE external;
INSERT INTO stored VALUES (1, '\x507f1f77bcf86cd799439011'), (2, convert_to(repeat('a', 100000), 'UTF8'));
ALTER TABLE stored ALTER bytes SET STORAGE extended;
INSERT INTO stored VALUES (3, convert_to(repeat('a', 100000), 'UTF8'));
SELECT n, attempt(format('SELECT bytes::objectid FROM stored WHERE n = %s', n)) FROM stored ORDER BY n;
SELECT bytes::objectid FROM stored WHERE n = 1;
-- No cast happens unasked.
SELECT castsource::regtype, casttarget::regtype, castcontext FROM pg_cast
 WHERE 'objectid'::regtype IN (castsource, casttarget) ORDER BY castcontext, castsource::regtype::text;

-- Its time.
SELECT id, objectid_timestamp(id::objectid)
  FROM unnest(ARRAY['507f1f77bcf86cd799439011', '000000000000000000000000',
                    '00000000ffffffffffffffff', '000000010000000000000000',
                    '7fffffffffffffffffffffff', '800000000000000000000000',
                    'ffffffff0000000000000000', 'ffffffffffffffffffffffff']) id;
SELECT count(*) AS compared, count(*) FILTER (WHERE objectid_timestamp(id) <> to_timestamp(seconds)) AS wrong
  FROM (SELECT n * 4294967 AS seconds, lpad(to_hex(n * 4294967), 8, '0') || left(md5(n::text), 16) AS text
          FROM generate_series(0::bigint, 1000) n) made, CAST(text AS objectid) id;

-- What it is compared with from here on: its bytes. Some values differ from others at one byte alone,
-- at each of the twelve, by its lowest bit and by its highest.
CREATE TABLE samples (id objectid, bytes bytea);
INSERT INTO samples
  SELECT bytes::objectid, bytes FROM (
    SELECT decode(left(md5(n::text), 24), 'hex') AS bytes FROM generate_series(1, 100) n
    UNION
    SELECT set_byte('\x507f1f77bcf86cd799439011', place, value)
      FROM generate_series(0, 11) place, unnest(ARRAY[0, 1, 127, 128, 129, 254, 255]) value) made;
SELECT count(*), count(*) FILTER (WHERE id::bytea <> bytes) AS wrong_bytes,
       count(*) FILTER (WHERE id::text <> encode(bytes, 'hex')) AS wrong_text,
       count(*) FILTER (WHERE id::text::objectid::bytea <> bytes) AS wrong_from_text,
       count(*) FILTER (WHERE upper(id::text)::objectid::bytea <> bytes) AS wrong_from_upper
  FROM samples;

-- The operators.
SELECT count(*) AS compared,
       count(*) FILTER (WHERE (a.id = b.id) <> (a.bytes = b.bytes)) AS wrong_eq,
       count(*) FILTER (WHERE (a.id <> b.id) <> (a.bytes <> b.bytes)) AS wrong_ne,
       count(*) FILTER (WHERE (a.id < b.id) <> (a.bytes < b.bytes)) AS wrong_lt,
       count(*) FILTER (WHERE (a.id <= b.id) <> (a.bytes <= b.bytes)) AS wrong_le,
       count(*) FILTER (WHERE (a.id > b.id) <> (a.bytes > b.bytes)) AS wrong_gt,
       count(*) FILTER (WHERE (a.id >= b.id) <> (a.bytes >= b.bytes)) AS wrong_ge,
       count(*) FILTER (WHERE snowid.objectid_cmp(a.id, b.id) <> CASE WHEN a.bytes < b.bytes THEN -1
                                WHEN a.bytes > b.bytes THEN 1 ELSE 0 END) AS wrong_cmp,
       count(*) FILTER (WHERE least(a.id, b.id)::bytea <> least(a.bytes, b.bytes)) AS wrong_least
  FROM samples a, samples b;
SELECT oid::regoperator AS operator, oprcode AS function, oprcom::regoperator AS commutator,
       oprnegate::regoperator AS negator, oprrest AS restrict, oprjoin AS join,
       oprcanhash AS hashes, oprcanmerge AS merges
  FROM pg_operator WHERE oprleft = 'objectid'::regtype OR oprright = 'objectid'::regtype
 ORDER BY oprname COLLATE "C";
SELECT amname, opcname, opcdefault, amvalidate(pg_opclass.oid) AS valid,
       (SELECT array_agg(amprocnum || ' ' || amproc ORDER BY amprocnum) FROM pg_amproc
         WHERE amprocfamily = opcfamily) AS functions
  FROM pg_opclass JOIN pg_am ON pg_am.oid = opcmethod
 WHERE opcintype = 'objectid'::regtype ORDER BY amname;

-- Hashes: both are one where there is no seed, and every byte counts.
SELECT count(*) FILTER (WHERE (snowid.objectid_hash_extended(id, 0) & 4294967295) <>
                              (snowid.objectid_hash(id)::bigint & 4294967295)) AS apart,
       count(*) FILTER (WHERE snowid.objectid_hash_extended(id, 1) = snowid.objectid_hash_extended(id, 0)) AS seedless,
       count(*) - count(DISTINCT snowid.objectid_hash(id)) AS collisions,
       count(*) - count(DISTINCT snowid.objectid_hash_extended(id, 0)) AS collisions_of_64_bits
  FROM samples;

-- Indexes. Whether a query's plan holds a node:
CREATE FUNCTION plan_has(node text, query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  line text;
  found boolean := false;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    found := found OR strpos(line, node) > 0;
  END LOOP;
  RETURN found;
END $$;
CREATE TABLE documents (id objectid PRIMARY KEY, hashed objectid, n int);
INSERT INTO documents
  SELECT id::objectid, id::objectid, n
    FROM (SELECT n, left(md5(n::text), 24) AS id FROM generate_series(1, 5000) n) made;
CREATE INDEX documents_hashed ON documents USING hash (hashed);
ANALYZE documents;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT n FROM documents WHERE id = 'C4CA4238A0B923820DCC509A';
SELECT n FROM documents WHERE id = 'C4CA4238A0B923820DCC509A';
EXPLAIN (COSTS OFF) SELECT n FROM documents WHERE hashed = 'C4CA4238A0B923820DCC509A';
SELECT n FROM documents WHERE hashed = 'C4CA4238A0B923820DCC509A';
SELECT n FROM documents WHERE hashed = 'C4CA4238A0B923820DCC509B';
EXPLAIN (COSTS OFF) SELECT n FROM documents
 WHERE id >= 'c40000000000000000000000' AND id < 'c50000000000000000000000' ORDER BY id;
SELECT count(*) AS found, (SELECT count(*) FROM documents WHERE get_byte(id::bytea, 0) = 196) AS expected
  FROM documents WHERE id >= 'c40000000000000000000000' AND id < 'c50000000000000000000000';
SELECT count(*) FROM generate_series(1, 5000) wanted
 WHERE (SELECT n FROM documents WHERE id = left(md5(wanted::text), 24)::objectid) = wanted
   AND (SELECT n FROM documents WHERE hashed = left(md5(wanted::text), 24)::objectid) = wanted;
SELECT n FROM documents WHERE id = ANY ('{c4ca4238a0b923820dcc509a,c81e728d9d4c2f636f067f89}') ORDER BY n;
SELECT attempt($$INSERT INTO documents VALUES ('C4CA4238A0B923820DCC509A')$$);
INSERT INTO documents VALUES ('C4CA4238A0B923820DCC509A', NULL, -1)
  ON CONFLICT (id) DO UPDATE SET n = excluded.n RETURNING id, n;
UPDATE documents SET n = 1 WHERE id = 'c4ca4238a0b923820dcc509a';
RESET enable_seqscan;
RESET enable_bitmapscan;

-- min and max, by the index and without it, in parallel too.
SELECT aggfnoid::regprocedure AS aggregate, aggtransfn AS step, aggcombinefn AS combine,
       aggsortop::regoperator AS sort
  FROM pg_aggregate WHERE aggtranstype = 'objectid'::regtype ORDER BY aggfnoid::text COLLATE "C";
SELECT plan_has('Index Only Scan using documents_pkey', 'SELECT min(id) FROM documents') AS min,
       plan_has('Index Only Scan Backward using documents_pkey', 'SELECT max(id) FROM documents') AS max;
SELECT min(id)::bytea = (SELECT id::bytea FROM documents ORDER BY id::bytea LIMIT 1) AS min,
       max(id)::bytea = (SELECT id::bytea FROM documents ORDER BY id::bytea DESC LIMIT 1) AS max
  FROM documents;
SELECT plan_has('Index', 'SELECT min(hashed), max(hashed) FROM documents') AS by_index;
SELECT min(hashed) = (SELECT min(id) FROM documents) AS min,
       max(hashed) = (SELECT max(id) FROM documents) AS max FROM documents;
SELECT min(id), max(id) FROM documents WHERE n = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT plan_has('Partial Aggregate', 'SELECT min(hashed), max(hashed) FROM documents') AS parallel;
SELECT min(hashed) = (SELECT min(id) FROM documents) AS min,
       max(hashed) = (SELECT max(id) FROM documents) AS max FROM documents;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

-- Sorting, with nulls where they belong.
SELECT count(*) AS sorted, count(*) FILTER (WHERE by_id <> by_bytes) AS wrong
  FROM (SELECT row_number() OVER (ORDER BY hashed) AS by_id,
               row_number() OVER (ORDER BY hashed::bytea) AS by_bytes FROM documents) ranked;
SELECT id FROM (VALUES ('80'), (NULL), ('7f'), ('00'), ('ff')) bytes(start),
               CAST(rpad(start, 24, '0') AS objectid) id ORDER BY id;
SELECT id FROM (VALUES ('80'), (NULL), ('7f'), ('00'), ('ff')) bytes(start),
               CAST(rpad(start, 24, '0') AS objectid) id ORDER BY id DESC NULLS LAST;

-- Grouping, by hash and by sort. Every document is there three times, and so is null.
CREATE TABLE visits AS
  SELECT hashed AS id, hashed::bytea AS bytes FROM documents, generate_series(1, 3)
  UNION ALL SELECT NULL, NULL FROM generate_series(1, 3);
ANALYZE visits;
SET enable_sort = off;
SELECT plan_has('HashAggregate', 'SELECT id, count(*) FROM visits GROUP BY id') AS hashed;
SELECT count(*), sum(times), max(times) FROM (SELECT count(*) AS times FROM visits GROUP BY id) grouped;
SELECT count(*) FROM (SELECT DISTINCT id FROM visits) ids;
RESET enable_sort;
SET enable_hashagg = off;
SELECT plan_has('GroupAggregate', 'SELECT id, count(*) FROM visits GROUP BY id') AS sorted;
SELECT count(*), sum(times), max(times) FROM (SELECT count(*) AS times FROM visits GROUP BY id) grouped;
SELECT count(*) FROM (SELECT DISTINCT id FROM visits) ids;
RESET enable_hashagg;
SELECT count(DISTINCT id) FROM visits;

-- Joins.
SET enable_nestloop = off;
SET enable_mergejoin = off;
SELECT plan_has('Hash Cond: (visits.id = documents.hashed)',
                'SELECT FROM visits JOIN documents ON visits.id = documents.hashed') AS hash_join;
SELECT count(*), count(*) FILTER (WHERE bytes <> hashed::bytea) AS wrong
  FROM visits JOIN documents ON visits.id = documents.hashed;
SELECT count(*) FROM visits FULL JOIN documents ON visits.id = documents.hashed;
RESET enable_mergejoin;
SET enable_hashjoin = off;
SELECT plan_has('Merge Cond: (', 'SELECT FROM visits JOIN documents ON visits.id = documents.hashed')
       AS merge_join;
SELECT count(*), count(*) FILTER (WHERE bytes <> hashed::bytea) AS wrong
  FROM visits JOIN documents ON visits.id = documents.hashed;
SELECT count(*) FROM visits FULL JOIN documents ON visits.id = documents.hashed;
RESET enable_hashjoin;
RESET enable_nestloop;

-- Partitions by hash: all are used, each row is found in its own, and it alone is read.
CREATE TABLE parts (id objectid PRIMARY KEY, n int) PARTITION BY HASH (id);
SELECT format('CREATE TABLE parts_%s PARTITION OF parts FOR VALUES WITH (MODULUS 4, REMAINDER %s)', r, r)
  FROM generate_series(0, 3) r \gexec
INSERT INTO parts SELECT id, n FROM documents;
SELECT tableoid::regclass AS part, count(*) > 1000 AS used FROM parts GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM generate_series(1, 5000) wanted
 WHERE (SELECT n FROM parts WHERE id = left(md5(wanted::text), 24)::objectid) = wanted;
SELECT plan_has('Append', 'SELECT n FROM parts') AS all,
       plan_has('Append', $$SELECT n FROM parts WHERE id = 'c4ca4238a0b923820dcc509a'$$) AS one;

-- Partitions by time.
CREATE TABLE years (id objectid PRIMARY KEY,
                    created_at timestamptz GENERATED ALWAYS AS (objectid_timestamp(id)) STORED)
  PARTITION BY RANGE (id);
CREATE TABLE years_2012 PARTITION OF years
  FOR VALUES FROM ('4effa2000000000000000000') TO ('50e227000000000000000000');
INSERT INTO years VALUES ('507f1f77bcf86cd799439011') RETURNING tableoid::regclass, *;
SELECT attempt($$INSERT INTO years VALUES ('50e227000000000000000000')$$) LIKE '23514 %' AS refused;

-- The binary form: what it is, there and back, and what of another length is refused.
SELECT snowid.objectid_send('507f1f77bcf86cd799439011');
SELECT count(*) FILTER (WHERE snowid.objectid_send(id) <> bytes) AS wrong FROM samples;
-- The file is where the server can write, whichever user it runs as.
SELECT current_setting('data_directory') || '/snowid_objectid.bin' AS file \gset
CREATE TABLE received (LIKE samples);
COPY (SELECT * FROM samples UNION ALL SELECT NULL, NULL) TO :'file' (FORMAT binary);
COPY received FROM :'file' (FORMAT binary);
SELECT count(*), count(*) FILTER (WHERE id IS NULL) AS nulls,
       count(*) FILTER (WHERE id::bytea <> bytes) AS wrong FROM received;
SELECT format('COPY received (id) FROM %L (FORMAT binary)', :'file') AS receive \gset
COPY (SELECT '\x507f1f77bcf86cd7994390'::bytea) TO :'file' (FORMAT binary);
SELECT attempt(:'receive');
COPY (SELECT '\x507f1f77bcf86cd79943901112'::bytea) TO :'file' (FORMAT binary);
SELECT attempt(:'receive');
COPY (SELECT ''::bytea) TO :'file' (FORMAT binary);
SELECT attempt(:'receive');
COPY (SELECT '\x507f1f77bcf86cd799439011'::bytea) TO :'file' (FORMAT binary);
SELECT attempt(:'receive');
COPY (SELECT WHERE false) TO PROGRAM 'rm snowid_objectid.bin';

-- NULL in gives NULL out.
SELECT num_nonnulls(NULL::text::objectid, NULL::bytea::objectid, NULL::objectid::text,
                    NULL::objectid::bytea, objectid_timestamp(NULL::objectid), id = NULL, id <> NULL,
                    id < NULL, id <= NULL, NULL > id, NULL >= id, snowid.objectid_cmp(id, NULL),
                    snowid.objectid_hash(NULL), snowid.objectid_hash_extended(id, NULL),
                    snowid.objectid_smaller(NULL, id), snowid.objectid_larger(id, NULL))
  FROM CAST('507f1f77bcf86cd799439011' AS objectid) id;

DROP TABLE stored, samples, documents, visits, parts, years, received;
DROP FUNCTION is_objectid, plan_has;

-- Making them: in order, none twice, of one process, with the counter going on from a random start.
CREATE TABLE made (n serial, id objectid PRIMARY KEY DEFAULT objectid_next());
INSERT INTO made SELECT FROM generate_series(1, 5000);
SELECT count(DISTINCT id), array_agg(n ORDER BY n) = array_agg(n ORDER BY id) AS in_order,
       count(DISTINCT substr(id::text, 9, 10)) AS processes,
       count(DISTINCT substr(id::text, 19, 6)) AS counters,
       bool_and(objectid_timestamp(id) BETWEEN now() - interval '1 minute' AND now() + interval '1 minute') AS of_now
  FROM made;
SELECT count(*) AS gaps FROM (
  SELECT ('x' || right(id::text, 6))::bit(24)::int AS counter,
         lag(('x' || right(id::text, 6))::bit(24)::int) OVER (ORDER BY n) AS before FROM made) counted
 WHERE counter <> (before + 1) % 16777216;
DROP TABLE made;
SET default_transaction_read_only = on;
SELECT attempt('SELECT objectid_next()');
RESET default_transaction_read_only;
