-- Sections: a counter for each key, of which one sequence keeps the durable part.
-- How many increments the limit is raised by would go by how quickly they are used up.
SET snowid.segment_adapt = off;

-- Each key has numbers of its own.
CREATE SEQUENCE sections INCREMENT 10;
SELECT key, snowid_section_next('sections', key) AS number
  FROM unnest('{7,7,8,7,-1,8,9223372036854775807,-9223372036854775808,0,9223372036854775807}'::bigint[]) key;
SELECT key, snowid_section_current('sections', key) AS number
  FROM unnest('{7,8,-1,0,9223372036854775807,-9223372036854775808,1}'::bigint[]) key;

-- The sequence's last value is above them, and raised by its increment.
SELECT last_value, is_called FROM sections;
SELECT max(snowid_section_next('sections', 7)) FROM generate_series(1, 100);
SELECT last_value % 10 = 0 AS by_tens, last_value BETWEEN 103 AND 123 AS just_above FROM sections;

-- NULL in, NULL out.
SELECT snowid_section_next(NULL, 1), snowid_section_next('sections', NULL), snowid_section_next(NULL, NULL),
       snowid_section_current(NULL, 1), snowid_section_current('sections', NULL);

-- In a trigger: each person's letters are numbered.
CREATE TABLE letters (person bigint, number bigint);
CREATE FUNCTION number_letter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.number := snowid_section_next('sections', NEW.person);
  RETURN NEW;
END $$;
CREATE TRIGGER number_letter BEFORE INSERT ON letters FOR EACH ROW EXECUTE FUNCTION number_letter();
INSERT INTO letters (person) SELECT 100 + g % 3 FROM generate_series(1, 3000) g;
SELECT person, count(DISTINCT number), min(number), max(number) FROM letters GROUP BY person ORDER BY person;
DROP TABLE letters;
DROP FUNCTION number_letter;

-- What is not a sequence that sessions share.
CREATE TABLE no_sequence (n int);
CREATE VIEW no_sequence_either AS SELECT 1 AS n;
CREATE TEMPORARY SEQUENCE passing;
SELECT call, attempt(format('SELECT snowid_section_%s(%L, 1)', call, relation))
  FROM unnest('{next,current}'::text[]) call,
       unnest('{no_sequence,no_sequence_either,passing,missing}'::text[]) relation;
SELECT attempt('SELECT snowid_section_next(0, 1)');
SELECT attempt('SELECT snowid_section_current(0, 1)');
DROP SEQUENCE passing;
DROP VIEW no_sequence_either;
DROP TABLE no_sequence;

-- One that cycles, or counts down; when it is changed while in use, too.
CREATE SEQUENCE cycling CYCLE;
CREATE SEQUENCE falling INCREMENT -1;
SELECT attempt('SELECT snowid_section_next(''cycling'', 1)');
SELECT attempt('SELECT snowid_section_next(''falling'', 1)');
SELECT snowid_section_current('cycling', 1), snowid_section_current('falling', 1);
ALTER SEQUENCE cycling NO CYCLE;
SELECT snowid_section_next('cycling', 1);
ALTER SEQUENCE cycling CYCLE;
SELECT attempt('SELECT snowid_section_next(''cycling'', 1)');
ALTER SEQUENCE cycling NO CYCLE INCREMENT -1;
SELECT attempt('SELECT snowid_section_next(''cycling'', 1)');
DROP SEQUENCE cycling, falling;

-- The maximum is kept exactly, by each key.
CREATE SEQUENCE short INCREMENT 10 MAXVALUE 25;
SELECT max(snowid_section_next('short', 1)), count(*) FROM generate_series(1, 25);
SELECT attempt('SELECT snowid_section_next(''short'', 1)');
SELECT snowid_section_next('short', 2), snowid_section_current('short', 1);
SELECT max(snowid_section_next('short', 2)) FROM generate_series(1, 24);
SELECT attempt('SELECT snowid_section_next(''short'', 2)');
SELECT last_value FROM short;
ALTER SEQUENCE short MAXVALUE 26;
SELECT snowid_section_next('short', 1);
SELECT attempt('SELECT snowid_section_next(''short'', 1)');
SELECT attempt('SELECT snowid_section_next(''short'', 3)');
DROP SEQUENCE short;
CREATE SEQUENCE single INCREMENT 1 MAXVALUE 3;
SELECT snowid_section_next('single', key) FROM unnest('{1,1,2,1,2,2}'::bigint[]) key;
SELECT attempt('SELECT snowid_section_next(''single'', 1)');
SELECT snowid_section_next('single', 3);
DROP SEQUENCE single;
CREATE SEQUENCE small AS smallint INCREMENT 30000;
SELECT max(snowid_section_next('small', 1)) FROM generate_series(1, 32767);
SELECT attempt('SELECT snowid_section_next(''small'', 1)');
DROP SEQUENCE small;

-- Where it starts: below 0, and at the ends of bigint. The least bigint of all is not given to a key.
CREATE SEQUENCE negative INCREMENT 3 MINVALUE -100 START -4;
SELECT snowid_section_next('negative', 1) FROM generate_series(1, 6);
DROP SEQUENCE negative;
CREATE SEQUENCE negative_later INCREMENT 5 MINVALUE -100 MAXVALUE -90;
SELECT max(snowid_section_next('negative_later', 1)), min(snowid_section_next('negative_later', 2))
  FROM generate_series(1, 11);
SELECT attempt('SELECT snowid_section_next(''negative_later'', 1)');
DROP SEQUENCE negative_later;
CREATE SEQUENCE lowest INCREMENT 2 MINVALUE -9223372036854775808;
SELECT snowid_section_next('lowest', 1) FROM generate_series(1, 3);
SELECT snowid_section_current('lowest', 1), snowid_section_current('lowest', 2);
DROP SEQUENCE lowest;
CREATE SEQUENCE highest INCREMENT 1000 START 9223372036854775805;
SELECT snowid_section_next('highest', 1) FROM generate_series(1, 3);
SELECT attempt('SELECT snowid_section_next(''highest'', 1)');
SELECT snowid_section_next('highest', 2);
SELECT last_value FROM highest;
SELECT setval('highest', 9223372036854775806);
SELECT snowid_section_next('highest', 2);
SELECT attempt('SELECT snowid_section_next(''highest'', 2)');
DROP SEQUENCE highest;
CREATE SEQUENCE widest INCREMENT 9223372036854775807 MINVALUE -9223372036854775808;
SELECT snowid_section_next('widest', 1) FROM generate_series(1, 2);
SELECT last_value FROM widest;
DROP SEQUENCE widest;

-- What sets the sequence sets all keys; memory does not know them then.
SELECT setval('sections', 5000);
SELECT snowid_section_current('sections', 7);
SELECT snowid_section_next('sections', 7), snowid_section_next('sections', 8);
SELECT setval('sections', 40, false);
SELECT snowid_section_next('sections', 8), snowid_section_next('sections', 7);
ALTER SEQUENCE sections RESTART;
SELECT snowid_section_current('sections', 7);
SELECT snowid_section_next('sections', 7);

-- Numbers are not rolled back.
BEGIN;
SELECT snowid_section_next('sections', 7);
SAVEPOINT s;
SELECT snowid_section_next('sections', 7);
ROLLBACK TO s;
SELECT snowid_section_next('sections', 7);
ROLLBACK;
SELECT snowid_section_next('sections', 7);

-- Read only: the last number can be asked for.
BEGIN READ ONLY;
SELECT snowid_section_current('sections', 7);
SELECT attempt('SELECT snowid_section_next(''sections'', 7)');
COMMIT;

-- An unlogged sequence, an identity column's.
CREATE TABLE identity (id bigint GENERATED ALWAYS AS IDENTITY);
SELECT snowid_section_next(pg_get_serial_sequence('identity', 'id'), 1) FROM generate_series(1, 2);
INSERT INTO identity DEFAULT VALUES RETURNING id;
SELECT snowid_section_next(pg_get_serial_sequence('identity', 'id'), 1);
DROP TABLE identity;
CREATE UNLOGGED SEQUENCE unlogged INCREMENT 10;
SELECT snowid_section_next('unlogged', 1) FROM generate_series(1, 2);
DROP SEQUENCE unlogged;

-- Rights are those of nextval and of currval.
CREATE ROLE snowid_test_nobody;
GRANT SELECT ON SEQUENCE sections TO snowid_test_nobody;
SET ROLE snowid_test_nobody;
SELECT snowid_section_current('sections', 7) IS NOT NULL AS known;
SELECT attempt('SELECT snowid_section_next(''sections'', 7)');
RESET ROLE;
REVOKE ALL ON SEQUENCE sections FROM snowid_test_nobody;
GRANT UPDATE ON SEQUENCE sections TO snowid_test_nobody;
SET ROLE snowid_test_nobody;
SELECT snowid_section_next('sections', 7) IS NOT NULL AS drawn;
SELECT attempt('SELECT snowid_section_current(''sections'', 7)');
RESET ROLE;
REVOKE ALL ON SEQUENCE sections FROM snowid_test_nobody;
GRANT USAGE ON SEQUENCE sections TO snowid_test_nobody;
SET ROLE snowid_test_nobody;
SELECT snowid_section_next('sections', 7) = snowid_section_current('sections', 7) AS both;
RESET ROLE;
REVOKE ALL ON SEQUENCE sections FROM snowid_test_nobody;
SET ROLE snowid_test_nobody;
SELECT attempt('SELECT snowid_section_next(''sections'', 7)');
SELECT attempt('SELECT snowid_section_current(''sections'', 7)');
RESET ROLE;
DROP ROLE snowid_test_nobody;

-- The setting's range.
SHOW snowid.section_keys;
SELECT attempt('SET snowid.section_keys = 5');
SELECT name, min_val, max_val, context FROM pg_settings WHERE name ~ '^snowid[.]se[cg]' ORDER BY name;

DROP SEQUENCE sections;
RESET snowid.segment_adapt;
-- A subtransaction that has made a sequence, drawn from it, and fails: nothing of the sequence is still in use then.
BEGIN;
SAVEPOINT part;
CREATE SEQUENCE of_part INCREMENT 10;
SELECT snowid_section_next('of_part', 1), snowid_section_next('of_part', 1);
ROLLBACK TO part;
SELECT to_regclass('of_part') IS NULL AS is_gone;
COMMIT;
