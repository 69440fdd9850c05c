-- The columns that get IDs, found by the catalogs: their own defaults, those of domains, and functions that call
-- snowid's. Where only a function's text has the name the view says so; what catalogs cannot tell is not guessed.
CREATE SCHEMA columns;
SET search_path = columns, public;

-- A function that calls, as docs/converting.md has it for Instagram's: by its text, and by a body that is parsed.
CREATE FUNCTION next_id(OUT result bigint) LANGUAGE sql AS 'SELECT snowid_next(5)';
CREATE FUNCTION next_of_plpgsql() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN SNOWID_NEXT(5); END';
CREATE FUNCTION "Next Parsed"() RETURNS bigint RETURN snowid_next(5);
CREATE FUNCTION next_of_next() RETURNS bigint BEGIN ATOMIC SELECT 1; SELECT "Next Parsed"(); END;
CREATE FUNCTION next_of_text() RETURNS bigint RETURN next_id();
CREATE DOMAIN key AS bigint DEFAULT snowid_next(7, 'js53');
CREATE DOMAIN key_of_key AS key CHECK (VALUE > 0);
CREATE DOMAIN key_of_function AS bigint DEFAULT next_id();
CREATE DOMAIN plain AS bigint;
CREATE TABLE "All" (
  own bigint DEFAULT snowid_next(),
  shard bigint DEFAULT snowid_next(42),
  layout bigint DEFAULT public.snowid_next(layout => 'twitter', shard => 3),
  by_default bigint DEFAULT snowid_next(snowid_default_shard(), 'discord'),
  computed bigint DEFAULT snowid_next((1 + 1)::bigint),
  of_text bigint DEFAULT next_id(),
  of_plpgsql bigint DEFAULT next_of_plpgsql(),
  of_parsed bigint DEFAULT "Next Parsed"(),
  of_two bigint DEFAULT next_of_next() + 1,
  of_next_text bigint DEFAULT next_of_text(),
  of_key key,
  of_key_of_key key_of_key NOT NULL,
  of_key_of_function key_of_function,
  "Over Domain" key DEFAULT snowid_next(8),
  of_plain plain DEFAULT snowid_next(10));
SELECT * FROM snowid.columns WHERE table_name = '"All"'::regclass;

-- Not these: a default of one's own over a domain's, what makes nothing, what is called alike, what only reads, and
-- what a text composes.
CREATE SCHEMA another;
CREATE FUNCTION another.snowid_next() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
CREATE FUNCTION another.calls_it() RETURNS bigint RETURN another.snowid_next();
CREATE FUNCTION composes() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE id bigint; BEGIN EXECUTE 'SELECT snowid_' || 'next()' INTO id; RETURN id; END $$;
CREATE FUNCTION names_another() RETURNS bigint LANGUAGE sql AS 'SELECT my_snowid_next FROM (VALUES (1::bigint)) AS v (my_snowid_next)';
CREATE TABLE none (
  id key DEFAULT NULL,
  least bigint DEFAULT snowid_first_at(now()),
  alike bigint DEFAULT another.snowid_next(),
  calls_alike bigint DEFAULT another.calls_it(),
  composed bigint DEFAULT composes(),
  another bigint DEFAULT names_another(),
  serial bigserial,
  constant bigint DEFAULT 7,
  at timestamptz GENERATED ALWAYS AS (snowid_timestamp(constant)) STORED);
SELECT * FROM snowid.columns WHERE table_name = 'none'::regclass;

-- A partitioned table and its partitions, a foreign table, a view, and a table that others have no rights on.
CREATE TABLE measured (id bigint DEFAULT snowid_next(1), n int) PARTITION BY RANGE (id);
CREATE TABLE measured_rest PARTITION OF measured DEFAULT;
CREATE FOREIGN DATA WRAPPER wrapper;
CREATE SERVER elsewhere FOREIGN DATA WRAPPER wrapper;
CREATE FOREIGN TABLE remote (id bigint DEFAULT snowid_next(2)) SERVER elsewhere;
CREATE VIEW seen AS SELECT id, n FROM measured;
ALTER VIEW seen ALTER id SET DEFAULT snowid_next(3);
CREATE ROLE columns_reader;
SET ROLE columns_reader;
SELECT table_name, column_name, shard, layout, column_default FROM snowid.columns
 WHERE table_name::text ~ '^columns[.](measured|remote|seen)' ORDER BY shard, 1;
RESET ROLE;

-- The extension's owner, who may be the database's, can add functions to it. They are none of snowid's.
CREATE FUNCTION public.snowid_next(bigint, boolean) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN 5; END';
ALTER EXTENSION snowid ADD FUNCTION public.snowid_next(bigint, boolean);
CREATE TABLE added (id bigint DEFAULT public.snowid_next(1, true));
SELECT column_name, shard, layout, column_default FROM snowid.columns WHERE table_name = 'added'::regclass;
SELECT public.snowid_watermark('added');
ALTER EXTENSION snowid DROP FUNCTION public.snowid_next(bigint, boolean);

-- A watermark has the layout of a call by names, too.
CREATE TABLE named (id bigint DEFAULT public.snowid_next(layout => 'twitter', shard => 3));
SELECT abs(extract(epoch FROM public.snowid_timestamp(public.snowid_watermark('named'), 'twitter') - now())) < 3600 AS is_of_now;

-- Its defaults can be given back as they are, whatever the path.
SET search_path = pg_catalog;
SELECT format('ALTER TABLE %s ALTER %I SET DEFAULT %s', table_name, column_name, column_default) FROM snowid.columns
 WHERE table_name = 'columns."All"'::regclass AND found_in = 'default' AND shard IS NOT NULL \gexec
SET quote_all_identifiers = on;
SELECT column_name, shard, layout, column_default FROM snowid.columns WHERE table_name = 'columns."All"'::regclass AND shard IS NOT NULL;
RESET quote_all_identifiers;
SET client_min_messages = warning;
DROP FUNCTION public.snowid_next(bigint, boolean) CASCADE;
DROP SCHEMA columns, another CASCADE;
DROP FOREIGN DATA WRAPPER wrapper CASCADE;
DROP ROLE columns_reader;
RESET client_min_messages;
RESET search_path;
