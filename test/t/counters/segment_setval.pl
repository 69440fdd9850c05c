# setval takes effect for every session at once: a draw that begins after it was committed takes no number of the block of before,
# not even while another session is just allocating the next one.

use Snowid;

# Each draw must be above what was set before it began. draw() returns how many were not.
my $node = ready_server('setval', sql => <<'SQL');
CREATE SEQUENCE numbers INCREMENT 1000;
CREATE PROCEDURE draw(rounds int, INOUT wrong int) LANGUAGE plpgsql AS $$
DECLARE
  before bigint;
BEGIN
  wrong := 0;
  FOR i IN 1 .. rounds LOOP
    SELECT last_value / 10000000 INTO before FROM numbers;
    IF snowid_segment_next('numbers') / 10000000 < before THEN wrong := wrong + 1; END IF;
    COMMIT;
  END LOOP;
END $$;
CREATE PROCEDURE advance(rounds int) LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1 .. rounds LOOP
    PERFORM setval('numbers', i * 10000000::bigint);
    COMMIT;
  END LOOP;
END $$;
SQL
my @drawing = map { open_session($node) } 1 .. 8;
my $setting = open_session($node);
start_asking($_, 'CALL draw(30000, 0)') foreach @drawing;
is(ask($setting, 'CALL advance(20000)'), '', 'set again and again');
is(answer($_), '0', 'what is drawn is above what was set before') foreach @drawing;
end_test($node);
