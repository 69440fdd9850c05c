# Sessions that share a segment get its numbers in order and without gaps, whatever the size of blocks: whoever calls when another
# has returned with a number gets a greater one.
# Runs in make test-all: it goes through all sizes of blocks.

use List::Util qw(shuffle);
use Snowid;

my $node = ready_server('order', sql => <<'SQL');
CREATE SEQUENCE in_turn INCREMENT 10;
CREATE SEQUENCE witnessed INCREMENT 10;
CREATE SEQUENCE witness MINVALUE 0 START 0;
CREATE FUNCTION not_above_witness(calls int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  returned bigint;
  lowest bigint;
  highest bigint;
  wrong int := 0;
BEGIN
  FOR round IN 1..calls LOOP
    SELECT last_value INTO returned FROM witness;
    SELECT min(n), max(n) INTO lowest, highest FROM snowid_segment_batch('witnessed', CASE WHEN round % 2 = 0 THEN 1 ELSE 7 END) n;
    wrong := wrong + (lowest <= returned)::int;
    PERFORM setval('witness', highest);
  END LOOP;
  RETURN wrong;
END $$;
SQL
foreach my $increment (1, 7, 1000)
{
    foreach my $setup (one_by_one(), '')
    {
        my $name = "increment $increment" . ($setup ? ', block by block' : '');
        $node->safe_psql('postgres', "DROP SEQUENCE IF EXISTS s; CREATE SEQUENCE s INCREMENT $increment");
        my @drawing = draw_by_eight($node, 's', 1_000, setup => $setup);
        finish(@drawing);
        is(join('|', check_round($name, 0, @drawing)), '8000|8000', "$name: all, and no gap");
        # Of the size that is asked for: that is, of a whole block less one.
        next if $increment < 7;
        my $size = $increment - 1;
        @drawing = map { draw($node, "snowid_segment_next('s', $size)", 500, setup => $setup) } 1 .. 8;
        finish(@drawing);
        is((check_round("$name, less than all of it", 8000, @drawing))[0], 4_000, "$name, less than all of it: all");
        my %left = map { ($_ - 1) % $increment => 1 } map { @{ ids($_) } } @drawing;
        is(join(',', grep { !$left{$_} } 0 .. $increment - 1), $size, "$name, less than all of it: leaves the rest");
    }
}

my @sessions = map { open_session($node) } 1 .. 8;
my @got = map { ask($_, q(SELECT snowid_segment_next('in_turn'))) } map { shuffle(@sessions) } 1 .. 20;
is("@got", "@{[1 .. 160]}", 'in turn: each number is the one after the number given before');
close_session(@sessions);
@sessions = map { draw($node, 'not_above_witness(300)', 1) } 1 .. 8;
finish(@sessions);
is(join(',', map { @{ ids($_) } } @sessions), join(',', (0) x 8), 'at once: each number is above all that were returned');
end_test($node);
