-- What SQLsmith finds: tables of every kind of ID and number, with values of each type that a function of the extension
-- takes, since SQLsmith itself has hardly more than NULL. Run by a superuser, once. :seed chooses which of PostgreSQL's
-- functions there are beside the extension's.

CREATE ROLE smith LOGIN;
CREATE SCHEMA s AUTHORIZATION smith;
CREATE EXTENSION snowid;

SET ROLE smith;
CREATE SEQUENCE s.segment INCREMENT 100;
CREATE SEQUENCE s.section INCREMENT 50;
CREATE SEQUENCE s.bounded INCREMENT 10 MAXVALUE 500;
CREATE SEQUENCE s.down INCREMENT -1;
CREATE TABLE s.photos (id bigint PRIMARY KEY DEFAULT snowid_next(), taken_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE s.likes (id uuid PRIMARY KEY DEFAULT snowid_uuidv7(), photo bigint REFERENCES s.photos, n int);
CREATE TABLE s.documents (id objectid PRIMARY KEY DEFAULT objectid_next(), other objectid, title text);
CREATE TABLE s.tweets (id bigint PRIMARY KEY DEFAULT snowid_next(1, 'twitter'), answers bigint REFERENCES s.tweets);
CREATE TABLE s.invoices (number bigint PRIMARY KEY DEFAULT snowid_segment_next('s.segment'), photo bigint);
CREATE TABLE s.messages (
  chat bigint, number bigint DEFAULT snowid_section_next('s.section', 1), PRIMARY KEY (chat, number));
CREATE TABLE s.serials (id bigserial PRIMARY KEY, n int);
CREATE TABLE s.days (id bigint PRIMARY KEY DEFAULT snowid_next(), n int) PARTITION BY RANGE (id);
SELECT FROM snowid.create_partitions('s.days', '1 day', now() + interval '2 days');
CREATE TABLE s.other_days PARTITION OF s.days DEFAULT;
CREATE TABLE s.hashed (id bigint PRIMARY KEY DEFAULT snowid_next(), layout snowid_layout) PARTITION BY HASH (id);
CREATE TABLE s.hashed_0 PARTITION OF s.hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE s.hashed_1 PARTITION OF s.hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO s.photos (taken_at) SELECT now() - n * interval '1 hour' FROM generate_series(1, 50) AS n;
INSERT INTO s.likes (photo, n) SELECT id, 1 FROM s.photos;
INSERT INTO s.documents (other, title) SELECT objectid_next(), 'title ' || n FROM generate_series(1, 30) AS n;
INSERT INTO s.tweets SELECT FROM generate_series(1, 30);
INSERT INTO s.invoices (photo) SELECT id FROM s.photos;
INSERT INTO s.messages (chat, number)
  SELECT n % 3, snowid_section_next('s.section', n % 3) FROM generate_series(1, 30) AS n;
INSERT INTO s.serials (n) SELECT n FROM generate_series(1, 30) AS n;
INSERT INTO s.days (n) SELECT n FROM generate_series(1, 30) AS n;
INSERT INTO s.hashed (layout) SELECT 'twitter' FROM generate_series(1, 30);
CREATE VIEW s.seen AS SELECT id, snowid_timestamp(id) AS at, snowid_shard(id) AS shard FROM s.photos;
CREATE VIEW s.lately AS SELECT * FROM s.days WHERE snowid_in_range(id, now() - interval '1 day', now());
CREATE VIEW s.numbers AS
  SELECT n, snowid_next() AS id, snowid_uuidv7() AS u, objectid_next() AS o FROM generate_series(1, 5) AS n;

-- Arguments.
CREATE TABLE s.whole AS
  SELECT v AS a, -v AS b, least(greatest(v, 0), 32767)::smallint AS small, least(greatest(v, 0), 2147483647)::int AS n,
         v % 2 = 0 AS even
    FROM unnest(ARRAY[0, 1, 2, 7, 63, 1000, 8191, 100000, 4294967296, 9223372036854775807]) AS v;
CREATE TABLE s.written (t text, c name, l snowid_layout, b bytea);
INSERT INTO s.written VALUES
  ('s.photos', 'id', 'instagram', '\x00'),
  ('s.segment', 'number', 'twitter', '\x0123456789abcdef01234567'),
  ('1 day', 'chat', 'sonyflake', ''),
  ('1-10', 'none', 'time:41 shard:10 seq:12 unit:1ms epoch:2020-01-01T00:00:00Z', '\x01'),
  ('0123456789abcdef01234567', '', NULL, '\x02'),
  (repeat('x', 300), repeat('x', 63), 'baidu', '\x04');
CREATE TABLE s.relations AS
  SELECT c.oid::regclass AS r, c.oid AS o, 1::smallint AS attnum
    FROM pg_class AS c
   WHERE c.relnamespace = 's'::regnamespace OR c.relname IN ('pg_class', 'pg_depend', 'nodes');
CREATE TABLE s.times AS
  SELECT t, t::timestamp AS plain, i, tstzmultirange(tstzrange(t, t + interval '1 hour')) AS ranges
    FROM unnest(ARRAY['-infinity', '1970-01-01', '2011-08-24', '2020-02-29', now(), now() + interval '1 day',
                      '2100-01-01', '9999-01-01']::timestamptz[],
                ARRAY['1 us', '1 hour', '1 day', '1 month', '1 year', '-1 day', '0',
                      '178000000 years']::interval[]) AS v (t, i);
CREATE TABLE s.lists AS
  SELECT ARRAY[1, 2, 3]::bigint[] AS whole, ARRAY['a', 'b'] AS written, ARRAY['s.photos'::regclass::oid] AS relations;
RESET ROLE;

-- SQLsmith asks pg_proc for functions. What it finds first has all of the extension's, and of PostgreSQL's one in 30,
-- another with each seed: not those for types that SQLsmith cannot tell, and not those that end servers and sessions, or
-- would write to files anywhere.
CREATE SCHEMA smith;
GRANT USAGE ON SCHEMA smith TO PUBLIC;
CREATE VIEW smith.pg_proc AS
  SELECT * FROM pg_catalog.pg_proc
   WHERE oid IN (SELECT objid FROM pg_depend
                  WHERE classid = 'pg_catalog.pg_proc'::regclass AND deptype = 'e'
                    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowid'))
      OR hashoidextended(oid, :seed) % 30 = 0
         AND NOT EXISTS (SELECT FROM pg_type WHERE typtype = 'p' AND pg_type.oid = ANY (proargtypes))
         AND proname !~ ('^(pg_(terminate_|cancel_|promote|rotate_|reload_|log_|wal_|stop_|backup_|switch_|read_|ls_)'
                         '|pg_stat_file|lo_(export|import))');
GRANT SELECT ON smith.pg_proc TO PUBLIC;
ALTER DATABASE postgres SET search_path = smith, pg_catalog, public;
