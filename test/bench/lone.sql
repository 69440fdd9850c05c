-- Lone inserts: single ones, that pauses of random length are between, as from many clients who know nothing
-- of each other. Each is a transaction of its own and durable when it is done. How often the server flushed
-- WAL for it is known of the whole server alone, so each side has a server to itself, at each rate.

CREATE TABLE lone_flushes (rate text, name text, inserts int, flushes int);
CREATE TABLE lone_rates (rate text);
INSERT INTO lone_rates VALUES ('0.3'), ('2'), ('5'), ('20');
CREATE SEQUENCE lone_insert;

CREATE VIEW lone_sides AS
  SELECT rate, name, format('lone-%s-%s', rate, into_table) AS server,
    CASE into_table WHEN 'precomputed' THEN 'INSERT INTO precomputed (id, n) VALUES (%s, 0)'
      ELSE format('INSERT INTO %s (n) VALUES (0)', into_table) END AS statement
  FROM lone_rates, peers
  WHERE into_table IN ('with_snowid', 'with_bigserial', 'precomputed', 'with_pgedge');

-- What the server of this connection, which has been idle otherwise, has flushed. A session tells others what
-- it did when it likes; here it has to.
CREATE FUNCTION flushes_of(connection text) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE over(connection, 'SELECT pg_stat_force_next_flush()');
  RETURN (SELECT flushes FROM dblink(connection, 'SELECT wal_flushes()') AS answer (flushes int));
END $$;

-- At one rate: all sides insert after the same pauses, in another order each time.
CREATE PROCEDURE lone_inserts(of_rate text, lasting interval) LANGUAGE plpgsql AS $$
DECLARE
  entry record;
  nth bigint;
  inserts int := 0;
  until timestamptz;
  started timestamptz;
BEGIN
  FOR entry IN SELECT * FROM lone_sides WHERE rate = of_rate LOOP
    PERFORM connect(entry.server, entry.server);
    EXECUTE over(entry.server, format(entry.statement, nextval('lone_insert')));
    INSERT INTO lone_flushes VALUES (of_rate, entry.name, 0, -flushes_of(entry.server));
  END LOOP;
  until := clock_timestamp() + lasting;
  LOOP
    PERFORM pg_sleep(-ln(1 - random()) / of_rate::float8);
    EXIT WHEN clock_timestamp() > until;
    inserts := inserts + 1;
    nth := nextval('lone_insert');
    FOR entry IN SELECT * FROM lone_sides WHERE rate = of_rate ORDER BY random() LOOP
      started := clock_timestamp();
      EXECUTE over(entry.server, format(entry.statement, nth));
      INSERT INTO samples VALUES ('lone', nth, format('%s, %s/s', entry.name, of_rate),
        extract(epoch FROM clock_timestamp() - started));
    END LOOP;
  END LOOP;
  FOR entry IN SELECT * FROM lone_sides WHERE rate = of_rate LOOP
    INSERT INTO lone_flushes VALUES (of_rate, entry.name, inserts, flushes_of(entry.server));
  END LOOP;
END $$;

CREATE FUNCTION flushes_an_insert(of_rate text, of_name text) RETURNS float8 LANGUAGE sql AS $$
  SELECT sum(flushes)::float8 / sum(inserts) FROM lone_flushes WHERE rate = of_rate AND name = of_name
$$;

INSERT INTO races (race) VALUES ('lone');
