-- What depends on the extension, and goes with it: made anew after each CREATE EXTENSION, statement by statement, by
-- whichever role can. A statement that fails is passed over. :ext stands for the extension's schema.

GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA snowid TO fuzz_link;
ALTER TABLE t.keys ALTER COLUMN id SET DEFAULT :ext.snowid_next();
CREATE TABLE t.drawn (id bigint PRIMARY KEY DEFAULT :ext.snowid_next(), o :ext.objectid UNIQUE DEFAULT :ext.objectid_next(), u uuid UNIQUE DEFAULT :ext.snowid_uuidv7(), n bigint DEFAULT :ext.snowid_segment_next('t.wide'));
ALTER TABLE t.drawn OWNER TO fuzz_tables;
GRANT SELECT, INSERT ON t.drawn TO PUBLIC;
CREATE TABLE t.layouts (l :ext.snowid_layout PRIMARY KEY, o :ext.objectid);
CREATE INDEX ON t.layouts USING hash (l);
ALTER TABLE t.layouts OWNER TO fuzz_tables;
GRANT SELECT, INSERT, DELETE ON t.layouts TO PUBLIC;
CREATE TABLE t.days (id bigint PRIMARY KEY DEFAULT :ext.snowid_next(), n int) PARTITION BY RANGE (id);
ALTER TABLE t.days OWNER TO fuzz_tables;
CREATE TABLE t.tweets (id bigint PRIMARY KEY DEFAULT :ext.snowid_next(1, 'twitter'), n int) PARTITION BY RANGE (id);
CREATE TABLE t.other_tweets PARTITION OF t.tweets DEFAULT;
ALTER TABLE t.tweets OWNER TO fuzz_tables;
ALTER TABLE t.other_tweets OWNER TO fuzz_tables;
CREATE TABLE t.hostile (id bigint PRIMARY KEY DEFAULT :ext.snowid_next(), n int, d int GENERATED ALWAYS AS (t.twice(n)) STORED, CHECK (t.misbehave(id))) PARTITION BY RANGE (id);
CREATE TABLE t.hostile_default PARTITION OF t.hostile DEFAULT;
ALTER TABLE t.hostile OWNER TO fuzz_tables;
ALTER TABLE t.hostile_default OWNER TO fuzz_tables;
INSERT INTO t.hostile SELECT :ext.snowid_first_at(now() + n * interval '1 day'), n FROM generate_series(-3, 3) AS n;
