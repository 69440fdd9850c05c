-- The type snowid: bigint in all but its name and JSON.

-- What it is, by the catalogs.
SELECT typlen, typbyval, typalign, typstorage, typcategory, typispreferred, typdelim, typcollation,
       typinput, typoutput, typreceive, typsend, typarray::regtype
  FROM pg_type WHERE oid = 'snowid'::regtype;
SELECT castsource::regtype AS source, casttarget::regtype AS target, castfunc::regprocedure AS function, castcontext AS context, castmethod AS method
  FROM pg_cast WHERE 'snowid'::regtype IN (castsource, casttarget) ORDER BY 1, 2;

-- Each statement is run for bigint and for snowid in its place, and gives the same, or fails with the same error. Those
-- that differ are shown.
CREATE FUNCTION answers(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  answer text := 'done';
BEGIN
  IF statement ~ '^(SELECT|TABLE)' THEN
    EXECUTE format('SELECT string_agg(r::text, E''\n'') FROM (%s) AS r', statement) INTO answer;
  ELSE
    EXECUTE statement;
  END IF;
  RETURN answer;
EXCEPTION WHEN OTHERS THEN
  RETURN concat_ws(' ', SQLSTATE, SQLERRM);
END $$;
CREATE TABLE statements (n serial, statement text);
COPY statements (statement) FROM stdin;
INSERT INTO ids VALUES ('  123   ', '  456')
INSERT INTO ids VALUES ('123   ', '4567890123456789')
INSERT INTO ids VALUES ('4567890123456789', '123')
INSERT INTO ids VALUES (+4567890123456789, '4567890123456789')
INSERT INTO ids VALUES ('+4567890123456789', '-4567890123456789')
INSERT INTO ids VALUES (32767::smallint, 2147483647)
INSERT INTO ids VALUES (NULL, 0)
INSERT INTO ids VALUES ('-9223372036854775808', '9223372036854775807')
INSERT INTO ids (a) VALUES ('      ')
INSERT INTO ids (a) VALUES ('xxx')
INSERT INTO ids (a) VALUES ('3908203590239580293850293850329485')
INSERT INTO ids (a) VALUES ('-9223372036854775809')
INSERT INTO ids (a) VALUES ('9223372036854775808')
INSERT INTO ids (a) VALUES ('- 123')
INSERT INTO ids (a) VALUES ('  345     5')
INSERT INTO ids (a) VALUES ('')
INSERT INTO ids (a) VALUES (9223372036854775808)
INSERT INTO ids (a) VALUES (1.0::numeric::bigint)
TABLE ids ORDER BY a, b
SELECT * FROM ids WHERE b = 4567890123456789 ORDER BY a
SELECT * FROM ids WHERE b <> 4567890123456789 ORDER BY a
SELECT * FROM ids WHERE b < 4567890123456789 ORDER BY a
SELECT * FROM ids WHERE b > 4567890123456789 ORDER BY a
SELECT * FROM ids WHERE b <= 4567890123456789 ORDER BY a
SELECT * FROM ids WHERE b >= 4567890123456789 ORDER BY a
SELECT * FROM ids WHERE b = 456 ORDER BY a
SELECT * FROM ids WHERE b <> 456 ORDER BY a
SELECT * FROM ids WHERE b < 456 ORDER BY a
SELECT * FROM ids WHERE b > 456 ORDER BY a
SELECT * FROM ids WHERE b <= 456 ORDER BY a
SELECT * FROM ids WHERE b >= 456 ORDER BY a
SELECT * FROM ids WHERE 123 = b OR 123 <> b AND 123 < b AND 456 >= b ORDER BY a
SELECT * FROM ids WHERE 4567890123456789 = b OR 4567890123456789 > b ORDER BY a
SELECT * FROM ids WHERE a = '123'::smallint OR a < '124'::smallint ORDER BY a
SELECT * FROM ids WHERE '123'::smallint = a OR '124'::smallint <= b ORDER BY a
SELECT * FROM ids WHERE b = '456' OR '123' = b ORDER BY a
SELECT * FROM ids WHERE a = b OR a < b ORDER BY a
SELECT * FROM ids WHERE a BETWEEN 0 AND '4567890123456789' ORDER BY a, b
SELECT * FROM ids WHERE a IN (123, 4567890123456789) ORDER BY a, b
SELECT * FROM ids WHERE a IN ('123', '4567890123456789') ORDER BY a, b
SELECT * FROM ids WHERE a NOT IN (123, 32767) ORDER BY a, b
SELECT * FROM ids WHERE a = ANY ('{123,32767}') ORDER BY a, b
SELECT * FROM ids WHERE a = ANY (ARRAY[123, 32767]) ORDER BY a, b
SELECT * FROM ids WHERE a = ANY (ARRAY[123, 4567890123456789]) ORDER BY a, b
SELECT * FROM ids WHERE a IN (SELECT b FROM ids) ORDER BY a, b
SELECT * FROM ids WHERE a NOT IN (SELECT b FROM ids) ORDER BY a, b
SELECT * FROM ids WHERE a IS DISTINCT FROM b ORDER BY a, b
SELECT * FROM ids WHERE (a, b) < (123, 4567890123456789) ORDER BY a, b
SELECT * FROM ids AS x JOIN ids AS y ON x.a = y.b ORDER BY 1, 2, 3, 4
SELECT * FROM ids AS x LEFT JOIN ids AS y USING (a) ORDER BY 1, 2, 3
SELECT * FROM ids ORDER BY a DESC NULLS LAST, b DESC
SELECT DISTINCT a FROM ids ORDER BY a
SELECT a, count(*) FROM ids GROUP BY a ORDER BY a
SELECT a, b, count(*) FROM ids GROUP BY GROUPING SETS ((a), (b), ()) ORDER BY a, b
SELECT a FROM ids UNION SELECT b FROM ids ORDER BY 1
SELECT a FROM ids UNION ALL SELECT 5 ORDER BY 1
SELECT a FROM ids INTERSECT SELECT b FROM ids ORDER BY 1
SELECT a FROM ids EXCEPT SELECT 123 ORDER BY 1
SELECT min(a), max(a), sum(a), count(a), avg(b) FROM ids WHERE a BETWEEN 0 AND 99999
SELECT min(a) FILTER (WHERE b > 0), max(a), string_agg(a::text, ',' ORDER BY a) FROM ids
SELECT array_agg(a ORDER BY a), mode() WITHIN GROUP (ORDER BY a), percentile_disc(0.5) WITHIN GROUP (ORDER BY a) FROM ids
SELECT a, rank() OVER w, lag(a) OVER w, first_value(a) OVER w, ntile(2) OVER w FROM ids WINDOW w AS (ORDER BY a, b)
SELECT a, count(*) OVER (ORDER BY a RANGE BETWEEN 5 PRECEDING AND 5 FOLLOWING) FROM ids ORDER BY a, b
SELECT a, count(*) OVER (ORDER BY a RANGE BETWEEN 5 PRECEDING AND 4567890123450000 FOLLOWING) FROM ids WHERE a > 0 ORDER BY a, b
SELECT a, -a, +a, @ a, ~ a, abs(a) FROM ids WHERE a > -9223372036854775808 ORDER BY a, b
SELECT a, a + 1, a - 1, a * 2, a / 3, a % 7 FROM ids WHERE a > -9000000000000000000 AND a < 1000000000000000000 ORDER BY a, b
SELECT a, a + 1::smallint, a - 1::smallint, a * 2::bigint, a / 3::bigint, mod(a, 7) FROM ids WHERE a > -9000000000000000000 AND a < 1000000000000000000 ORDER BY a, b
SELECT 1 + a, 2 * a, 100000 / nullif(a, 0), 100::smallint - a, a + b, a - b FROM ids WHERE a BETWEEN 1 AND 99999 AND b BETWEEN 0 AND 99999 ORDER BY a
SELECT a, a & 1023, a | 1, a # b, a >> 10, a << 2 FROM ids WHERE a > 0 ORDER BY a, b
SELECT a + 9223372036854775807 FROM ids WHERE a = 123
SELECT a * 9223372036854775807 FROM ids WHERE a = 123
SELECT a / 0 FROM ids WHERE a = 123
SELECT a % 0 FROM ids WHERE a = 123
SELECT -a FROM ids WHERE a < -9000000000000000000
SELECT gcd(a, 6), lcm(a, 2), to_char(a, 'FM9G999G999'), to_hex(a), sqrt(a::float8)::int FROM ids WHERE a = 123
SELECT a::int, a::smallint, a::numeric, a::float8, a::float4, a::text, a::varchar(3), a::oid FROM ids WHERE a = 123
SELECT a::int FROM ids WHERE a = 4567890123456789
SELECT a::smallint FROM ids WHERE a = 4567890123456789
SELECT a::oid FROM ids WHERE a = 4567890123456789
SELECT a::boolean FROM ids WHERE a = 123
SELECT a || '', 'x' || a, concat(a, b), format('%s %L', a, b) FROM ids ORDER BY a, b
SELECT coalesce(a, 0), coalesce(a, b), nullif(a, 123), greatest(a, b), least(a, 5), greatest(5, a) FROM ids ORDER BY a, b
SELECT CASE WHEN a > 0 THEN a ELSE 0 END, CASE a WHEN 123 THEN 'x' END, CASE WHEN a > 0 THEN 7 ELSE b END FROM ids ORDER BY a, b
SELECT ARRAY[a, b], ARRAY[a, 5], ARRAY[a, b] = ARRAY[b, a], a = ANY (ARRAY[b]), array_position(ARRAY[a, b], b) FROM ids ORDER BY a, b
SELECT array_append(ARRAY[a], b), array_append(ARRAY[a], 5), ARRAY[a] || 7, array_remove(ARRAY[a], 123) FROM ids ORDER BY a, b
SELECT ARRAY[a] @> ARRAY[b], ARRAY[a] && ARRAY[b], cardinality(ARRAY[a]) FROM ids ORDER BY a, b
SELECT ROW(a, b) = ROW(b, a), (ids).a, ids IS NOT NULL FROM ids ORDER BY a, b
SELECT width_bucket(a, 0, 1000, 10) FROM ids WHERE a = 123
SELECT * FROM generate_series((SELECT min(a) FROM ids WHERE a > 0), 130)
SELECT * FROM ids ORDER BY a OFFSET (SELECT a - 122 FROM ids WHERE a = 123 LIMIT 1)
SELECT * FROM (VALUES ('1'::bigint), (2), (3::smallint)) AS v
SELECT a FROM ids AS x WHERE EXISTS (SELECT FROM ids AS y WHERE y.b = x.a) ORDER BY a
SELECT x.a, y.b FROM ids AS x, LATERAL (SELECT max(b) AS b FROM ids WHERE a <= x.a) AS y ORDER BY 1, 2
UPDATE ids SET a = a + 1 WHERE a = 123
UPDATE ids SET a = 123::smallint WHERE a = 124
UPDATE ids SET b = DEFAULT WHERE a = 32767
DELETE FROM ids WHERE a = 32767
MERGE INTO ids USING (SELECT 123 AS n) AS s ON a = n WHEN MATCHED THEN UPDATE SET b = n
CREATE UNIQUE INDEX ON ids (a, b)
CREATE INDEX ON ids USING hash (a)
CREATE INDEX ON ids USING brin (a, b)
CREATE INDEX ON ids USING brin (a int8_minmax_multi_ops, b int8_bloom_ops)
ANALYZE ids
TABLE ids ORDER BY a, b
\.

CREATE TABLE answers (kind text, n int, answer text);
CREATE TABLE ids (a bigint, b bigint DEFAULT 77);
INSERT INTO answers SELECT 'bigint', n, answers(statement) FROM (SELECT * FROM statements ORDER BY n) AS s;
DROP TABLE ids;
CREATE TABLE ids (a snowid, b snowid DEFAULT 77);
INSERT INTO answers SELECT 'snowid', n, answers(statement) FROM (SELECT * FROM statements ORDER BY n) AS s;
SELECT n, statement, x.answer, y.answer FROM statements JOIN answers AS x USING (n) JOIN answers AS y USING (n)
 WHERE x.kind = 'bigint' AND y.kind = 'snowid' AND x.answer IS DISTINCT FROM y.answer ORDER BY n;
SELECT kind, count(*) AS statements, count(*) FILTER (WHERE answer ~ '^[0-9A-Z]{5} ') AS errors FROM answers GROUP BY kind ORDER BY kind;
-- Errors that both have are what they ought to be.
SELECT n, statement, answer FROM statements JOIN answers USING (n) WHERE kind = 'snowid' AND answer ~ '^[0-9A-Z]{5} ' ORDER BY n;
DROP TABLE answers, statements, ids;
DROP FUNCTION answers;

-- What is of the type, and what becomes a bigint.
CREATE TABLE posts (id snowid PRIMARY KEY DEFAULT snowid_next(), parent snowid REFERENCES posts, number bigint, title text);
CREATE FUNCTION type_of(expression text) RETURNS regtype LANGUAGE plpgsql AS $$
DECLARE
  type regtype;
BEGIN
  EXECUTE format('SELECT pg_typeof(%s) FROM (SELECT 5::snowid AS id, 5::snowid AS parent, 5::bigint AS number) AS r '
    'GROUP BY id, parent, number', expression) INTO type;
  RETURN type;
END $$;
SELECT type_of(e), string_agg(e, '; ' ORDER BY n) AS expressions
  FROM unnest(ARRAY['id', 'coalesce(id, parent)', 'coalesce(id, 0)', 'coalesce(id, number)', 'coalesce(number, id)',
    'greatest(id, parent)', 'CASE WHEN true THEN id ELSE 5 END', 'CASE WHEN true THEN id ELSE number END', '(ARRAY[id, parent])[1]',
    '(ARRAY[id, number])[1]', '(array_agg(id))[1]', 'min(id)', 'max(id)', 'nullif(id, 0)', 'id + 1', 'id % 7', 'id::snowid',
    'max(id)::snowid', 'sum(id)', 'snowid_next()']) WITH ORDINALITY AS e (e, n)
 GROUP BY 1 ORDER BY 1;
DROP FUNCTION type_of;

-- A parameter beside a column is a bigint, which drivers know.
PREPARE found AS SELECT * FROM posts WHERE id = $1;
PREPARE among AS SELECT * FROM posts WHERE id = ANY ($1);
PREPARE within AS SELECT * FROM posts WHERE id BETWEEN $1 AND $2;
PREPARE entered AS INSERT INTO posts (id, parent) VALUES ($1, $2);
PREPARE changed AS UPDATE posts SET parent = $1 WHERE id = $2;
SELECT name, parameter_types FROM pg_prepared_statements ORDER BY name;
DEALLOCATE ALL;

-- JSON has strings, and is read back, from numbers as well.
INSERT INTO posts VALUES (9223372036854775807, NULL, 9223372036854775807, 'greatest'), (0, 9223372036854775807, 0, 'least');
SELECT row_to_json(p), to_jsonb(p) ->> 'id' AS text, jsonb_typeof(to_jsonb(p.id)) AS type, jsonb_typeof(to_jsonb(p.number)) AS bigint FROM posts AS p ORDER BY id;
SELECT json_agg(id ORDER BY id), jsonb_agg(id ORDER BY id), json_object_agg(title, id ORDER BY id), to_json(array_agg(id ORDER BY id)) FROM posts;
SELECT json_build_object('id', id, id, title), jsonb_build_array(id, parent), array_to_json(ARRAY[id]), json_build_array(max(id)::snowid)
  FROM posts WHERE title = 'greatest' GROUP BY id, title, parent;
SELECT * FROM json_populate_recordset(NULL::posts, (SELECT json_agg(p ORDER BY id) FROM posts AS p));
SELECT * FROM jsonb_populate_recordset(NULL::posts, (SELECT jsonb_agg(p ORDER BY id) FROM posts AS p));
SELECT * FROM json_to_record('{"a": "9223372036854775807", "b": 9223372036854775807, "c": null}') AS r (a snowid, b snowid, c snowid, d snowid);
SELECT attempt($$SELECT * FROM json_to_record('{"a": 1.5}') AS r (a snowid)$$);
CREATE DOMAIN post_id AS snowid CHECK (VALUE >= 0);
SELECT to_json(5::post_id), pg_typeof(5::post_id), 5::post_id = 5;
DROP DOMAIN post_id;

-- All functions that take an ID take it as it is.
INSERT INTO posts VALUES (11637205501278089, NULL, 11637205501278089, 'an ID');
SELECT snowid_decode(id) = snowid_decode(number) AS decode, snowid_decode(id, 'twitter') = snowid_decode(number, 'twitter') AS twitter,
       snowid_timestamp(id) = snowid_timestamp(number) AS timestamp, snowid_shard(id), snowid_sequence(id),
       snowid_in_range(id, '2011-09-09Z', '2011-09-10Z') AS in_range, snowid_to_base62(id), snowid_to_uuid(id), snowid_scatter(id, 2), snowid_unscatter(id, 2)
  FROM posts WHERE title = 'an ID';
SELECT array_agg(x) = array_agg(y) AS same FROM posts, snowid.guess_layout(ARRAY[id]) AS x FULL JOIN snowid.guess_layout(ARRAY[number]) AS y USING (layout)
 WHERE title = 'an ID';
SELECT snowid.release_shard(snowid_shard(id)) AS last FROM posts WHERE title = 'an ID' \gset
UPDATE posts SET id = :last + 1 WHERE title = 'an ID';
SELECT snowid.accept_shard(snowid_shard(id), id) FROM posts WHERE title = 'an ID';
SELECT snowid.advance_shard(id), snowid.advance_past(id) FROM posts WHERE title = 'an ID';
EXPLAIN (COSTS OFF) SELECT * FROM posts WHERE snowid_in_range(id, '2011-09-09Z', '2011-09-10Z');

-- What needs a cast: other types of numbers, and what requires one type on both sides. A publication takes no cast.
CREATE FUNCTION needs_cast(statement text) RETURNS text LANGUAGE sql RETURN left(attempt(statement), 5);
SELECT needs_cast('SELECT 5::snowid = 1.0') AS comparison, needs_cast('SELECT round(5::snowid)') AS function,
  needs_cast('SELECT 5.0::snowid') AS cast, needs_cast($$INSERT INTO posts VALUES (5.0)$$) AS insert,
  needs_cast('SELECT ARRAY[5::snowid] = ARRAY[5::bigint]') AS array, needs_cast('SELECT 5::snowid <@ int8range(1, 7)') AS range,
  needs_cast('WITH RECURSIVE r AS (SELECT 5::snowid AS id UNION ALL SELECT id + 1 FROM r WHERE id < 7) TABLE r') AS recursive,
  needs_cast('CREATE PUBLICATION some_posts FOR TABLE posts WHERE (id > 5)') AS publication;
SELECT 5::snowid::bigint = 1.0 AS comparison, round(5::snowid::bigint) AS function, 5.0::bigint::snowid AS cast,
  ARRAY[5::snowid]::bigint[] = ARRAY[5::bigint] AS array, 5::snowid::bigint <@ int8range(1, 7) AS range;
DROP FUNCTION needs_cast;

-- Functions of one's own
CREATE FUNCTION title_of(post snowid) RETURNS text LANGUAGE sql AS $$ SELECT title FROM posts WHERE id = post $$;
SELECT title_of('0'), title_of(0), title_of(0::smallint), title_of(0::bigint::snowid);
SELECT split_part(attempt('SELECT title_of(0::bigint)'), ' | ', 2) AS refused;
DO $$
DECLARE
  id snowid := snowid_next();
  number bigint := id;
BEGIN
  id := number + 1;
  RAISE NOTICE '%', id - number;
END $$;
DROP FUNCTION title_of;

-- Tables of such IDs: adopted, shown, partitioned.
CREATE TABLE old_posts (id snowid PRIMARY KEY CHECK (id > 0 AND pg_typeof(id) = 'snowid'::regtype), title text);
CREATE SEQUENCE old_posts_id_seq OWNED BY old_posts.id;
ALTER TABLE old_posts ALTER id SET DEFAULT nextval('old_posts_id_seq');
INSERT INTO old_posts (title) VALUES ('old');
CREATE TABLE old_replies (id bigint REFERENCES old_posts, narrow int REFERENCES old_posts);
SELECT attempt($$SELECT snowid.adopt('old_posts', 'id')$$);
ALTER TABLE old_replies DROP narrow;
SELECT snowid.adopt('old_posts', 'id');
INSERT INTO old_posts (title) VALUES ('new') RETURNING id > 1 AND snowid_shard(id) = 0 AS is_new;
SELECT table_name, column_name, shard, layout, column_default FROM snowid.columns ORDER BY 1;
-- A check that runs nobody's code is tried, whoever owns the table.
CREATE ROLE regress_snowid_poster;
CREATE TABLE small_posts (id snowid CHECK (id < 1000) PRIMARY KEY);
ALTER TABLE small_posts OWNER TO regress_snowid_poster;
SELECT split_part(attempt($$SELECT snowid.adopt('small_posts', 'id')$$), ' | ', 2);
DROP TABLE small_posts;
DROP ROLE regress_snowid_poster;
CREATE DOMAIN post_id AS snowid;
CREATE TABLE others (id post_id PRIMARY KEY);
SELECT snowid.adopt('others', 'id', 7);
CREATE TABLE events (id snowid PRIMARY KEY DEFAULT snowid_next(3, 'twitter'), title text) PARTITION BY RANGE (id);
CREATE TABLE events_0 PARTITION OF events FOR VALUES FROM (0) TO (snowid_first_at('2024-01-01Z', 'twitter'));
SELECT snowid.create_partitions('events', '1 year', '2025-06-01Z');
SET timezone = 'UTC';
SELECT partition, layout, range_start, range_end FROM snowid.partitions ORDER BY 1;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowid_in_range(id, '2024-03-01Z', '2024-04-01Z', 'twitter');
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE id = '0';
SELECT snowid.drop_partitions('events', '2024-01-01Z');
SELECT snowid.detach_partitions('events', '2025-01-01Z');

-- Watermarks find the layout by its default.
CREATE TABLE read_in_order (id snowid PRIMARY KEY DEFAULT snowid_next(3, 'twitter'), note text DEFAULT snowid_next());
INSERT INTO read_in_order DEFAULT VALUES;
SELECT snowid_watermark('read_in_order') AS watermark \gset
SELECT :watermark >= id AS covered, abs(extract(epoch FROM snowid_timestamp(:watermark, 'twitter') - now())) < 3600 AS is_of_now FROM read_in_order;
SELECT snowid_watermark('read_in_order', 'twitter') AS watermark \gset
SELECT :watermark >= id AS covered FROM read_in_order;
CREATE TABLE of_two (id snowid PRIMARY KEY DEFAULT snowid_next(3, 'twitter'), other bigint DEFAULT snowid_next());
SELECT attempt($$SELECT snowid_watermark('of_two')$$);

-- Times that are ahead of the clock are found in such a column.
CREATE TABLE ahead (id snowid PRIMARY KEY);
INSERT INTO ahead VALUES (snowid_encode('2040-01-01Z', 5, 0));
SELECT snowid.future_times('ahead', 'id') @> timestamptz '2040-01-01Z' AS found;

-- The extension is not dropped from below a column.
SELECT attempt('DROP EXTENSION snowid') ~ 'column id of table posts depends on type snowid' AS refused;
DROP TABLE posts, old_replies, old_posts, others, events, events_2024, read_in_order, of_two, ahead;
DROP DOMAIN post_id;
