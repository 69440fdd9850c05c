# Numbers that a procedure or a cursor draws, in transactions of its own or beyond those that it began in, come once: what is
# rolled back, or was not fetched, is not given again.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('loops', conf => "snowid.segment_adapt = off\n", sql => <<'SQL');
CREATE SEQUENCE numbers INCREMENT 100;
CREATE SEQUENCE fetched INCREMENT 100;
CREATE TABLE seen (n bigint);
CREATE PROCEDURE draw_and_commit() LANGUAGE plpgsql AS $$
DECLARE
  drawn record;
BEGIN
  FOR i IN 1..300 LOOP
    INSERT INTO seen VALUES (snowid_segment_next('numbers'));
    IF i % 3 = 0 THEN ROLLBACK; ELSE COMMIT; END IF;
  END LOOP;
  FOR drawn IN SELECT snowid_segment_batch('numbers', 2500) AS n LOOP
    INSERT INTO seen VALUES (drawn.n);
    IF drawn.n % 500 = 0 THEN COMMIT; END IF;
  END LOOP;
END $$;
CREATE PROCEDURE draw_and_fail() LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1..300 LOOP
    BEGIN
      INSERT INTO seen VALUES (snowid_segment_next('numbers') / (i % 3));
    EXCEPTION WHEN division_by_zero THEN
      INSERT INTO seen VALUES (snowid_segment_next('numbers'));
    END;
  END LOOP;
END $$;
SQL
my $session = open_session($node);
is(ask($session, 'CALL draw_and_commit(); SELECT count(*), count(DISTINCT n), min(n), max(n) FROM seen'), '2700|2700|1|2800', 'commits in a loop');
is(ask($session, q(CALL draw_and_fail(); SELECT snowid_segment_next('numbers'))), 2800 + 401, 'failures in a loop');
my $cursor = q(FOR SELECT snowid_segment_batch('fetched', 5000));
foreach my $step (
    [ "BEGIN; DECLARE kept CURSOR WITH HOLD $cursor; FETCH 2 FROM kept", "1\n2" ], [ 'COMMIT; FETCH 3 FROM kept', "3\n4\n5" ],
    [ 'MOVE 4994 FROM kept; FETCH 1 FROM kept', 5000 ], [ q(SELECT snowid_segment_next('fetched')), 5001 ],
    [ "BEGIN; DECLARE c CURSOR $cursor; FETCH 1 FROM c", 5002 ], [ 'SAVEPOINT a; MOVE 2000 FROM c; FETCH 1 FROM c; ROLLBACK TO a; FETCH 1 FROM c', "7003\n7004" ],
    # What it has not come to is left, but for the rest of a block.
    [ q(COMMIT; SELECT snowid_segment_next('fetched')), 7101 ])
{
    is(ask($session, $step->[0]), $step->[1], $step->[0]);
}
end_test($node);
