-- How what is compared is timed and judged.

-- What is measured. Sides of one race take turns, and many short turns even out what else the machine
-- does. Each side is a statement whose time is taken, or, where it is `counted`, one that gives an
-- amount. {shard} stands for a shard that is another one each time, so that none runs too far ahead of
-- the clock.
CREATE TABLE sides (place serial, race text, side text, prepare text, run text,
                    counted boolean DEFAULT false);

CREATE SEQUENCE next_shard MAXVALUE 8190 MINVALUE 0 CYCLE;
CREATE TABLE samples (race text, repetition int, side text, amount float8); -- seconds, or what was counted

-- How often a race is run before it is looked at for the first time
CREATE TABLE races (place serial, race text PRIMARY KEY, repetitions int);

-- The number of the last repetition of a race, 0 before the first.
CREATE FUNCTION last_repetition(of_race text) RETURNS int LANGUAGE sql AS $$
  SELECT coalesce(max(repetition), 0) FROM samples WHERE race = of_race
$$;

-- Runs a statement. Gives what it gives where that is counted, else the seconds it took.
CREATE FUNCTION measure(statement text, counted boolean) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  started timestamptz;
  amount float8;
BEGIN
  IF counted THEN
    EXECUTE statement INTO STRICT amount;
    RETURN amount;
  END IF;
  started := clock_timestamp();
  EXECUTE statement;
  RETURN extract(epoch FROM clock_timestamp() - started);
END $$;

-- Runs all sides of a race in turn, so many times, after once for warming up. Adds to its samples.
CREATE PROCEDURE race(which text) LANGUAGE plpgsql AS $$
DECLARE
  warming_up int := last_repetition(which);
  entry sides;
  shard text;
  amount float8;
BEGIN
  FOR repetition IN warming_up..warming_up + (SELECT repetitions FROM races WHERE race = which) LOOP
    FOR entry IN SELECT * FROM sides WHERE race = which ORDER BY place LOOP
      shard := nextval('next_shard');
      EXECUTE coalesce(replace(entry.prepare, '{shard}', shard), 'SELECT');
      COMMIT;
      amount := measure(replace(entry.run, '{shard}', shard), entry.counted);
      INSERT INTO samples SELECT which, repetition, entry.side, amount WHERE repetition > warming_up;
      COMMIT;
    END LOOP;
  END LOOP;
END $$;

-- The median of what a side of a race took.
CREATE FUNCTION median(of_race text, of text) RETURNS float8 LANGUAGE sql AS $$
  SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount)
  FROM samples WHERE race = of_race AND side = of
$$;

-- The median, over the repetitions of a race, of how much more one side took than another.
CREATE FUNCTION excess(of_race text, of text, beyond text) RETURNS float8 LANGUAGE sql AS $$
  SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY mine.amount - base.amount)
  FROM samples AS mine JOIN samples AS base USING (race, repetition)
  WHERE race = of_race AND mine.side = of AND base.side = beyond
$$;

-- The median, over the repetitions of a race, of the ratio of what two sides took.
CREATE FUNCTION ratio(of_race text, of text, by text) RETURNS float8 LANGUAGE sql AS $$
  SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY mine.amount / base.amount)
  FROM samples AS mine JOIN samples AS base USING (race, repetition)
  WHERE race = of_race AND mine.side = of AND base.side = by
$$;

-- The figures, each an expression over the samples of a race. One that is to be no more than `at_most`,
-- or no less than `at_least`, must also be above 0. One without such a limit is only shown, and does not
-- pass or fail; but it must be there.
CREATE TABLE figures (place serial, race text, figure text, expression text, at_most float8,
                      at_least float8, measured float8, pass boolean);

CREATE PROCEDURE enter(race text, figure text, expression text, at_most float8 = NULL,
                       at_least float8 = NULL)
LANGUAGE sql AS $$
  INSERT INTO figures (race, figure, expression, at_most, at_least)
  VALUES (race, figure, expression, at_most, at_least)
$$;

-- Evaluates all figures anew.
CREATE PROCEDURE judge() LANGUAGE plpgsql AS $$
DECLARE
  entry figures;
  value float8;
BEGIN
  FOR entry IN SELECT * FROM figures LOOP
    EXECUTE 'SELECT ' || entry.expression INTO value;
    UPDATE figures
      SET measured = value,
        pass = CASE WHEN value IS NULL THEN false
                    WHEN at_most IS NOT NULL THEN value > 0 AND value <= at_most
                    WHEN at_least IS NOT NULL THEN value > 0 AND value >= at_least END
      WHERE place = entry.place;
  END LOOP;
END $$;
