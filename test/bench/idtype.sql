-- A column of type snowid beside one of bigint. ALTER TABLE changes the type of the same columns of the same rows before
-- each turn, and writes none of them: no side has pages of its own. Their statistics go with it, so what the planner may
-- not choose is named. The plans are equal, or this fails.

CREATE TABLE typed (id bigint PRIMARY KEY, other bigint, n int);
INSERT INTO typed SELECT id, hashint8extended(id, 0), n FROM snowid_next_batch(8191, 200000) WITH ORDINALITY AS made (id, n);
CREATE TABLE looked_up AS SELECT id FROM typed ORDER BY other LIMIT 50000;
VACUUM ANALYZE typed, looked_up;

CREATE PROCEDURE give_type(type text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE typed ALTER id TYPE %s, ALTER other TYPE %1$s', type);
  EXECUTE format('ALTER TABLE looked_up ALTER id TYPE %s', type);
END $$;

CREATE TABLE typed_runs (place serial, run text, node text, without text[], statement text);
INSERT INTO typed_runs (run, node, without, statement)
  VALUES ('lookups', 'Nested Loop', '{hashjoin,mergejoin,memoize}',
          'SELECT count(t.n) FROM looked_up AS l JOIN typed AS t ON t.id = l.id'),
         ('a sort', 'Sort', '{}', 'SELECT count(*) FROM (SELECT other FROM typed ORDER BY other OFFSET 0) AS sorted'),
         ('a hash join', 'Hash Join', '{mergejoin,nestloop}', 'SELECT count(*) FROM typed AS a JOIN typed AS b ON a.id = b.other'),
         ('a merge join', 'Merge Join', '{hashjoin,nestloop,seqscan}', 'SELECT count(*) FROM typed AS a JOIN typed AS b ON a.id = b.id');

-- What comes before a turn.
CREATE FUNCTION before_turn(typed_runs, type text) RETURNS text LANGUAGE sql AS $$
  SELECT concat('RESET ALL; ', string_agg(format('SET enable_%s = off; ', name), ''), format('CALL give_type(%L)', type))
  FROM unnest($1.without) AS name
$$;

INSERT INTO races (race, repetitions) VALUES ('idtype', 61);
INSERT INTO sides (race, side, prepare, run)
  SELECT 'idtype', format('%s, %s', run, type), before_turn(r, type), statement
  FROM typed_runs AS r, unnest(ARRAY['bigint', 'snowid']) WITH ORDINALITY AS types (type, nth) ORDER BY place, nth;
-- Statements that are not prepared: the cast is looked up for each.
INSERT INTO sides (race, side, prepare, run)
  SELECT 'idtype', 'statements, ' || type, format('RESET ALL; CALL give_type(%L)', type),
    'DO $do$ BEGIN FOR n IN 1..2000 LOOP EXECUTE ''SELECT n FROM typed WHERE id = '' || (11637205501278089 + n); END LOOP; END $do$'
  FROM unnest(ARRAY['bigint', 'snowid']) AS type;

DO $$
DECLARE
  one typed_runs;
  type text;
  line text;
  plan text;
  plans text[];
BEGIN
  FOR one IN SELECT * FROM typed_runs ORDER BY place LOOP
    plans := '{}';
    FOREACH type IN ARRAY ARRAY['bigint', 'snowid'] LOOP
      EXECUTE before_turn(one, type);
      plan := '';
      FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || one.statement LOOP
        plan := concat(plan, regexp_replace(line, '::bigint|[()]', '', 'g'), E'\n');
      END LOOP;
      plans := plans || plan;
    END LOOP;
    IF plans[1] <> plans[2] OR position(one.node IN plan) = 0 THEN
      RAISE E'plans for %:\n%\n%', one.run, plans[1], plans[2];
    END IF;
  END LOOP;
END $$;
RESET ALL;
