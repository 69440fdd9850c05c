# How many blocks of a sequence are allocated at a time, and when: twice as many where the last ones were used up
# in under 15 minutes, up to a million numbers; half as many where they lasted for over 30; one where
# snowid.segment_adapt is off; but never more than a sixteenth of the numbers that were issued. What is allocated
# can be read from the sequence's last value, the beginning of the last block: that far a crash skips numbers.

use Snowid;

my $node = ready_server('blocks', sql => <<'SQL');
CREATE SEQUENCE adapts INCREMENT 1000;
CREATE SEQUENCE large INCREMENT 62500;
CREATE SEQUENCE largest INCREMENT 1000001;
-- Draws so many numbers at a time until more are allocated. Tells the last number, how many came out of order,
-- or were not allocated yet, and the sequence's last value before and after.
CREATE FUNCTION draw_until_more(sequence regclass, increment bigint, step int,
  OUT last bigint, OUT wrong int, OUT before bigint, OUT after bigint) LANGUAGE plpgsql AS $$
DECLARE
  least bigint;
  greatest bigint;
  value text := format('SELECT last_value FROM %s', sequence);
BEGIN
  wrong := 0;
  EXECUTE value INTO before;
  LOOP
    SELECT min(n), max(n) INTO least, greatest FROM snowid_segment_batch(sequence, step) n;
    EXECUTE value INTO after;
    wrong := wrong + coalesce(least <= last, false)::int + (greatest >= after + increment)::int + (greatest - least <> step - 1)::int;
    last := greatest;
    EXIT WHEN after <> before;
  END LOOP;
END $$;
SQL

# Has a session draw until blocks are allocated, and checks that it was time to. Returns how many. blocks: how
# many were allocated before those.
sub blocks_allocated
{
    my ($session, $sequence, $increment) = @_;
    my $size = ($session->{blocks} // 1) * $increment;
    my $step = int($size / 100);
    my ($last, $wrong, $before, $after) = split /\|/, ask($session, "SELECT * FROM draw_until_more('$sequence', $increment, $step)");
    is($wrong, 0, "$sequence: in order, no gap, none that was not allocated");
    my $used = $size - ($before + $increment - 1 - $last);
    ok($used >= $size / 10 && $used <= $size / 10 + $step, "$sequence: allocated when a tenth of the last ones is used")
      or diag("$used of $size are used");
    return $session->{blocks} = ($after - $before) / $increment;
}

# Has so many numbers issued, block by block. The last ones are from one block then.
sub issue
{
    my ($session, $sequence, $count) = @_;
    ask($session, "SET snowid.segment_adapt = off; SELECT count(*) FROM snowid_segment_batch('$sequence', $count); RESET snowid.segment_adapt");
    delete $session->{blocks};
    return;
}

my $session = open_session($node);
is(blocks_allocated($session, 'adapts', 1000), 1, 'few were issued: no more than the first one');
issue($session, 'adapts', 500_000);
is(blocks_allocated($session, 'adapts', 1000), $_, "many were: twice as many, $_") foreach 2, 4;
my $clock = 0;
foreach my $step ([ 10, 8 ], [ 20, 8 ], [ 25, 8 ], [ 31, 4 ], [ 20, 4 ], [ 120, 2 ], [ 31, 1 ], [ 31, 1 ], [ 0, 2 ], [ -60, 4 ])
{
    my ($minutes, $blocks) = @$step;
    set_clock($clock += 60 * $minutes, $node);
    is(blocks_allocated($session, 'adapts', 1000), $blocks, "after $minutes minutes: $blocks blocks");
}
ask($session, 'SET snowid.segment_adapt = off');
is(blocks_allocated($session, 'adapts', 1000), 1, 'off: one block') foreach 1, 2;
close_session($session);
foreach my $most ([ 'large', 62500, 2, 4, 8, 16, 16 ], [ 'largest', 1000001, 1, 1 ])
{
    my ($sequence, $increment, @blocks) = @$most;
    $session = open_session($node);
    issue($session, $sequence, 17_000_000);
    is(blocks_allocated($session, $sequence, $increment), $_, "$sequence: $_ blocks, no more than a million numbers")
      foreach @blocks;
    close_session($session);
}

# How many are in memory where numbers are drawn one by one, and in a batch.
$session = open_session($node);
foreach my $increment (1, 10)
{
    ask($session, "CREATE SEQUENCE steps$increment INCREMENT $increment");
    my @far;
    foreach my $issued (1 .. 2000)
    {
        ask($session, "SELECT snowid_segment_next('steps$increment')");
        my $ahead = ask($session, "SELECT last_value + $increment - 1 - $issued FROM steps$increment");
        push @far, "$ahead after $issued" if $ahead > $issued / 8 + 2 * $increment;
    }
    is("@far", '', "increment $increment: at most an eighth of what was issued is in memory");
    is(ask($session, "SELECT max(n) FROM snowid_segment_batch('steps$increment', 1000) AS n"), 3000, "increment $increment: a batch");
    cmp_ok(last_value($node, "steps$increment"), '<=', 3000 + 3000 / 8 + 2 * $increment, "increment $increment: nor after that");
}
end_test($node);
