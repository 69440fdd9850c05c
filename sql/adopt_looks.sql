-- What a column is looked through for before it is adopted: foreign keys, and what looks at new rows. Whose code is run.

\set SHOW_CONTEXT never

-- Foreign keys of several columns, deferrable ones and those of a table to itself: the column that gets IDs is named, and
-- no other.
CREATE TABLE posts (id bigserial PRIMARY KEY, tenant int, parent_id integer REFERENCES posts, first_tenant int, first int,
  UNIQUE (tenant, id), FOREIGN KEY (first_tenant, first) REFERENCES posts (tenant, id));
CREATE TABLE replies (tenant int, post int, later int REFERENCES posts DEFERRABLE INITIALLY DEFERRED,
  FOREIGN KEY (tenant, post) REFERENCES posts (tenant, id) ON UPDATE CASCADE DEFERRABLE);
SELECT attempt('SELECT snowid.adopt(''posts'', ''id'')');
SELECT snowid.widening('posts', 'id') AS widening \gset
SELECT statement FROM regexp_split_to_table(:'widening', '\n') AS statement WHERE statement ~ '^ALTER' \gexec
SELECT snowid.adopt('posts', 'id');
-- One that refers to another has only values that are there, also by several columns, in its own table, or in a child.
CREATE TABLE above (id bigserial);
CREATE TABLE below (n int, id bigint, CONSTRAINT below_refers FOREIGN KEY (id) REFERENCES posts) INHERITS (above);
SELECT col, attempt(format('SELECT snowid.adopt(%L, %L)', tbl, col))
  FROM (VALUES ('posts', 'parent_id'), ('posts', 'first'), ('replies', 'post'), ('replies', 'later'), ('above', 'id')) AS v (tbl, col);
-- But it may refer to itself, whatever its place in a partition.
CREATE TABLE tree (id bigserial PRIMARY KEY REFERENCES tree, parent bigint REFERENCES tree) PARTITION BY RANGE (id);
CREATE TABLE tree_rest (n int, parent bigint, id bigint NOT NULL);
ALTER TABLE tree_rest DROP n;
ALTER TABLE tree ATTACH PARTITION tree_rest DEFAULT;
SELECT attempt('SELECT snowid.adopt(''tree'', ''parent'')');
SELECT snowid.adopt('tree', 'id');
INSERT INTO tree DEFAULT VALUES;
DROP TABLE posts, replies, above, below, tree;

-- Rules, policies and triggers that new rows meet are listed, and what looks at a column that is generated from this one.
CREATE TABLE met (id bigserial, n int, half bigint GENERATED ALWAYS AS (id / 2) STORED,
  other int GENERATED ALWAYS AS (n + 1) STORED, CONSTRAINT of_half CHECK (half < 1000), CONSTRAINT of_other CHECK (other < 1000));
CREATE INDEX by_half ON met ((half + 1));
CREATE INDEX by_other ON met ((other + 1)) WHERE n > 0;
CREATE RULE for_new AS ON INSERT TO met DO ALSO NOTIFY met;
CREATE RULE for_old AS ON DELETE TO met DO ALSO NOTIFY met;
CREATE POLICY for_all ON met USING (true);
CREATE POLICY for_new ON met FOR INSERT WITH CHECK (true);
CREATE POLICY for_old ON met FOR SELECT USING (true);
CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER after_all AFTER INSERT ON met EXECUTE FUNCTION look();
CREATE TRIGGER asleep BEFORE INSERT ON met FOR EACH ROW EXECUTE FUNCTION look();
ALTER TABLE met DISABLE TRIGGER asleep;
SELECT snowid.adopt('met', 'id');
DROP TABLE met;
DROP FUNCTION look;

-- Code of a table's owner is run as that, however it is hidden, with the casts that are not printed.
CREATE ROLE mallory;
CREATE SCHEMA mallory AUTHORIZATION mallory;
SET ROLE mallory;
CREATE FUNCTION mallory.evil() RETURNS tsquery LANGUAGE plpgsql AS $$BEGIN RAISE 'mallory''s code runs as %', current_user; END$$;
CREATE TABLE mallory.hidden (id bigserial PRIMARY KEY,
  CONSTRAINT by_query CHECK (id > 0 AND ts_rewrite('a'::tsquery, 'SELECT ''a''::tsquery, mallory.evil()') IS NOT NULL),
  CONSTRAINT by_setting CHECK (id > 0 AND set_config('search_path', 'mallory', false) IS NOT NULL), CONSTRAINT plain CHECK (id > 0));
CREATE TYPE mallory.span AS RANGE (subtype = bigint);
CREATE TABLE mallory.ranged (id bigserial PRIMARY KEY, CONSTRAINT ranged CHECK (id > 0 AND '[1,5]'::mallory.span + '[2,6]'::mallory.span IS NOT NULL));
CREATE TABLE mallory.low (id bigserial PRIMARY KEY, CONSTRAINT low CHECK (id < 1000));
CREATE TABLE mallory.narrow (id bigserial PRIMARY KEY, narrow int GENERATED ALWAYS AS (id) STORED);
CREATE TABLE mallory.short (id bigserial PRIMARY KEY, short varchar(5) GENERATED ALWAYS AS (id) STORED);
CREATE TABLE mallory.several (id bigserial, b int) PARTITION BY RANGE (id, b);
CREATE TABLE mallory.whole (id bigserial PRIMARY KEY, CONSTRAINT whole CHECK (id < 1000 OR tableoid IS NOT NULL));
CREATE TABLE mallory.child (id bigserial PRIMARY KEY REFERENCES mallory.low);
CREATE FUNCTION mallory.finds(bigint) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN EXISTS (SELECT FROM low) IS NOT NULL; END';
CREATE TABLE mallory.nameless (id bigserial PRIMARY KEY, CONSTRAINT nameless CHECK (mallory.finds(id)));
RESET ROLE;
SELECT name, regexp_replace(attempt(format('SELECT snowid.adopt(%L, %L)', 'mallory.' || name, 'id')), '\d{6,}', 'N', 'g')
  FROM unnest(ARRAY['hidden', 'low', 'narrow', 'short', 'child']) AS name;
ALTER TABLE mallory.hidden DROP CONSTRAINT by_query;
SELECT snowid.adopt('mallory.hidden', 'id'), snowid.adopt('mallory.ranged', 'id');
SHOW search_path;
SELECT snowid.adopt('mallory.several', 'id'), snowid.adopt('mallory.whole', 'id'), snowid.adopt('mallory.nameless', 'id');
-- A domain of another owner's than the table's is not run, also one that a domain of one's own is over.
SET ROLE mallory;
CREATE FUNCTION mallory.refuse(bigint) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS
  $$ BEGIN RAISE 'mallory''s code runs as %', current_user; END $$;
CREATE DOMAIN mallory.theirs AS bigint CHECK (mallory.refuse(VALUE));
CREATE TABLE mallory.of_theirs (id mallory.theirs);
RESET ROLE;
CREATE DOMAIN over_theirs AS mallory.theirs;
CREATE TABLE theirs (id mallory.theirs);
CREATE TABLE over_one (id over_theirs);
SELECT snowid.adopt('theirs', 'id');
SELECT snowid.adopt('over_one', 'id');
SELECT regexp_replace(attempt('SELECT snowid.adopt(''mallory.of_theirs'', ''id'')'), '\d{6,}', 'N', 'g');
DROP TABLE theirs, over_one;
DROP DOMAIN over_theirs;
-- What has been put beside this extension's functions, and what has been added to it, which its owner may do.
GRANT CREATE ON SCHEMA public TO mallory;
SET ROLE mallory;
CREATE TABLE mallory.beside (id bigserial PRIMARY KEY, CONSTRAINT beside CHECK (public.snowid_shard((id % 1000)::int) >= 0));
CREATE FUNCTION public.snowid_shard(int) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS
  $$ BEGIN RAISE 'mallory''s code runs as %', current_user; END $$;
CREATE TABLE mallory.added (id bigserial PRIMARY KEY, CONSTRAINT added CHECK (mallory.refuse(id)));
RESET ROLE;
ALTER EXTENSION snowid ADD FUNCTION mallory.refuse(bigint);
SELECT snowid.adopt('mallory.beside', 'id'),
  regexp_replace(attempt('SELECT snowid.adopt(''mallory.added'', ''id'')'), '\d{6,}', 'N', 'g');
ALTER EXTENSION snowid DROP FUNCTION mallory.refuse(bigint);
DROP FUNCTION public.snowid_shard(int);
REVOKE CREATE ON SCHEMA public FROM mallory;
-- Expressions of other kinds: casts by input and output, SQL's own values, rows, XML.
SET ROLE mallory;
CREATE TABLE mallory.others (id bigserial PRIMARY KEY, CONSTRAINT by_text CHECK (length(id::text) > 0),
  CONSTRAINT greater CHECK (GREATEST(id, 0) >= 0), CONSTRAINT who CHECK (id > 0 AND current_user <> ''),
  CONSTRAINT row_of CHECK (ROW(id, 1) > ROW(0, 0)), CONSTRAINT xml CHECK (id > 0 AND xmlconcat(NULL) IS NULL),
  CONSTRAINT list CHECK (id > 0 AND '{1}'::text[]::bigint[] IS NOT NULL));
RESET ROLE;
SELECT snowid.adopt('mallory.others', 'id');
-- Planning a query evaluates what is constant in expressions of indexes and statistics, and in checks. That has the
-- owner's rights and no others, whoever calls, whatever the role of the session. A sequence is not rolled back.
SET ROLE mallory;
CREATE SEQUENCE mallory.evaluated;
CREATE SEQUENCE mallory.with_more_rights;
CREATE FUNCTION mallory.note() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  PERFORM nextval('mallory.evaluated'), CASE WHEN current_user <> 'mallory' THEN nextval('mallory.with_more_rights') END;
  BEGIN RESET ROLE; EXCEPTION WHEN insufficient_privilege THEN NULL; END;
  RETURN CASE WHEN current_user <> 'mallory' THEN nextval('mallory.with_more_rights') END;
END $$;
CREATE FUNCTION mallory.five() RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN IF current_setting('spy.armed', true) = 'yes' THEN PERFORM mallory.note(); END IF; RETURN 5; END $$;
CREATE TABLE mallory.indexed (id bigserial PRIMARY KEY);
CREATE INDEX ON mallory.indexed ((id + mallory.five()));
CREATE TABLE mallory.estimated (id bigserial PRIMARY KEY);
CREATE STATISTICS mallory.estimates ON (id + mallory.five()) FROM mallory.estimated;
CREATE TABLE mallory.excluded (id bigserial PRIMARY KEY, CONSTRAINT above CHECK (id > mallory.five() - 100));
-- Its owner may not see all rows, a superuser may.
CREATE TABLE mallory.forced (id bigserial PRIMARY KEY);
ALTER TABLE mallory.forced ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
SELECT attempt('SELECT snowid.adopt(''mallory.forced'', ''id'')');
RESET ROLE;
SET constraint_exclusion = on;
SET spy.armed = yes;
SELECT snowid.adopt('mallory.' || tbl, 'id') FROM unnest('{indexed, estimated, excluded, forced}'::text[]) AS tbl;
SELECT e.is_called AS evaluated, r.is_called AS with_more_rights FROM mallory.evaluated AS e, mallory.with_more_rights AS r;
RESET spy.armed;
RESET constraint_exclusion;
SET ROLE mallory;
SELECT attempt(format('SELECT snowid.execute(%L, ''SELECT 1::bigint'')', r)) FROM unnest('{pg_monitor, mallory}'::text[]) AS r;
SELECT snowid.execute('mallory', 'SELECT 5::bigint', 'x'::text) IS NULL AS of_another_type, snowid.execute('mallory', $$SELECT 'five'::text$$, 'x'::text);
RESET ROLE;
-- lock_timeout is what it was, also where nothing is to be done.
BEGIN;
SET LOCAL lock_timeout = '20s';
SELECT snowid.adopt('mallory.whole', 'id');
SHOW lock_timeout;
COMMIT;
\set VERBOSITY terse
DROP SCHEMA mallory CASCADE;
DROP ROLE mallory;
