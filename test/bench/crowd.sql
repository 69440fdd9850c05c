-- Many sessions of this server at once. Needs the psql variable `calls`: the path of the library made from
-- calls.c.

-- Has so many sessions run a statement at once, on this server or another one. Gives what it gives them all,
-- when the last is done. The sessions are opened once: who compares two crowds has them run something before.
CREATE FUNCTION crowd(sessions int, statement text, server text = 'server') RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
  FOR nth IN 1..sessions LOOP
    CONTINUE WHEN is_open(server || nth);
    PERFORM connect(server || nth, server);
  END LOOP;
  FOR nth IN 1..sessions LOOP
    PERFORM dblink_send_query(server || nth, statement);
  END LOOP;
  FOR nth IN 1..sessions LOOP
    RETURN QUERY SELECT * FROM dblink_get_result(server || nth) AS answer (x text);
    -- Only an answer without anything ends it.
    PERFORM FROM dblink_get_result(server || nth) AS answer (x text);
  END LOOP;
END $$;

CREATE FUNCTION durations(regprocedure, int, int) RETURNS bigint[]
  VOLATILE STRICT LANGUAGE C AS :'calls', 'durations';
CREATE FUNCTION durations(regprocedure, int, int, snowid_layout) RETURNS bigint[]
  VOLATILE STRICT LANGUAGE C AS :'calls', 'durations';

-- How many numbers a second a crowd draws, when it draws so many together.
CREATE FUNCTION crowd_rate(sessions int, draws int, statement text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  started timestamptz := clock_timestamp();
BEGIN
  PERFORM crowd(sessions, replace(statement, '{draws}', (draws / sessions)::text));
  RETURN draws / extract(epoch FROM clock_timestamp() - started);
END $$;

-- What a crowd draws from, as arguments of repeat and durations; and how many, so that it takes much longer
-- than to tell 64 sessions of it. One shard has 1,024 IDs a millisecond. That is less than two processors can
-- draw, so sessions wait for the clock, as `paced` does. In the layout of `snowid_next` they never do, and
-- only get in each other's way. clock_timestamp() shares nothing: what becomes of it is the machine's part.
CREATE TABLE crowded (side text, function text, argument text, layout text, draws int);
INSERT INTO crowded
  VALUES ('nextval', 'nextval(regclass)', '''numbers''::regclass::oid::int', '', 3200000),
         ('segment', 'snowid_segment_next(regclass)', '''segment''::regclass::oid::int', '', 12800000),
         ('snowid_next', 'snowid_next(bigint, snowid_layout)', '1',
          ', ''time:41 shard:2 seq:20 unit:1ms epoch:2020-01-01T00:00:00Z''', 12800000);

INSERT INTO races (race, repetitions) VALUES ('crowd', 11), ('draws', 9), ('overload', 3);
INSERT INTO sides (race, side, run, counted)
  SELECT 'crowd', format('%s of %s', side, sessions),
    format('SELECT crowd_rate(%s, %s, %L)', sessions, draws,
           format('SELECT repeat(%L, %s, 0, {draws}%s)', function, argument, layout)), true
  FROM unnest(ARRAY[8, 64]) AS sessions,
    (TABLE crowded
     UNION ALL SELECT 'paced', 'snowid_next(bigint)', '{shard}', '', 2560000
     UNION ALL SELECT 'clock', 'clock_timestamp()', '0', '', 51200000) AS crowded;
INSERT INTO sides (race, side, run, counted)
  SELECT 'crowd', format('section of 8, %s keys', keys),
    format('SELECT crowd_rate(8, 3200000, %L)', format($$
      SELECT repeat_keys('snowid_section_next(regclass, bigint)', 'section'::regclass::oid::int, %s, {draws})
      $$, keys)), true
  FROM unnest(ARRAY[100000, 1]) AS keys;

-- How many draws of a crowd's last run took as long as each bucket says (see calls.c), and how many
-- nanoseconds that is at least. Those of all sessions count together.
CREATE TABLE drawn (bucket int, draws bigint);
CREATE FUNCTION bucket_ns(bucket int) RETURNS bigint
  RETURN CASE WHEN bucket < 64 THEN bucket ELSE (32 + bucket % 32)::bigint << (bucket / 32 - 1) END;

-- The time that such a share of these draws took no longer than.
CREATE FUNCTION drawn_within(share float8) RETURNS float8 LANGUAGE sql AS $$
  SELECT bucket_ns(min(bucket)) / 1e9
  FROM (SELECT bucket, sum(draws) OVER (ORDER BY bucket) / sum(draws) OVER () AS done FROM drawn) AS sums
  WHERE done >= share
$$;

CREATE FUNCTION draw_in_crowd(sessions int, statement text, share float8) RETURNS float8
LANGUAGE plpgsql AS $$
BEGIN
  TRUNCATE drawn;
  INSERT INTO drawn
    SELECT nth - 1, sum(draws)
    FROM crowd(sessions, statement) AS counts,
      unnest(counts::bigint[]) WITH ORDINALITY AS buckets (draws, nth)
    GROUP BY nth;
  RETURN drawn_within(share);
END $$;
INSERT INTO sides (race, side, run, counted)
  SELECT 'draws', format('%s, p%s', side, percent),
    CASE percent
      WHEN '99' THEN
        format('SELECT draw_in_crowd(64, %L, 0.99)',
               format('SELECT durations(%L, %s, 50000%s)', function, argument, layout))
      ELSE 'SELECT drawn_within(0.999)' END, true
  FROM crowded, unnest(ARRAY['99', '99.9']) WITH ORDINALITY AS percents (percent, nth)
  ORDER BY side, nth;

-- How many IDs a session got in a round of the overload with a millisecond in them
CREATE TABLE overload (round bigint, ms bigint, ids bigint);

-- How many IDs all got together with each millisecond in them; `nth` counts those of a round.
CREATE VIEW overloaded AS
  SELECT round, ms - min(ms) OVER of_round AS nth, max(ms) OVER of_round - min(ms) OVER of_round AS last,
    sum(ids) AS ids
  FROM overload GROUP BY round, ms WINDOW of_round AS (PARTITION BY round);

-- The share of 1,024 IDs a millisecond, as the median of all full quarters of a second; in a round's first
-- and last millisecond only a part was drawn in.
CREATE FUNCTION overload_share() RETURNS float8 LANGUAGE sql AS $$
  SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY share)
  FROM (SELECT sum(ids) / (250 * 1024) AS share
        FROM overloaded WHERE nth > 0 AND nth < last
        GROUP BY round, (nth - 1) / 250, last HAVING ((nth - 1) / 250 + 1) * 250 < last) AS quarters
$$;

-- Draws from one shard as fast as it can. Keeps how many IDs it got with each millisecond in them.
CREATE FUNCTION overload(shard bigint, draws int) RETURNS void LANGUAGE sql SET snowid.max_lead = 0 AS $$
  INSERT INTO overload
    SELECT shard, id >> 23, count(*)
    FROM (SELECT snowid_next(shard) AS id FROM generate_series(1, draws)) AS drawn
    GROUP BY 2
$$;

-- Four sessions, some 4,000 ms' worth of IDs together
INSERT INTO sides (race, side, run)
  VALUES ('overload', 'four seconds', 'SELECT count(*) FROM crowd(4, ''SELECT overload({shard}, 1024000)'')');
