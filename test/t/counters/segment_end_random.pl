# Any increment, maximum and size, batches, changes of the sequence, and a restart or a crash now and then, at random: a segment
# comes to the end of its sequence, and skips no more than it may. Of a smaller size it keeps to the first numbers of each
# increment, as Flickr's tickets need it. SNOWID_SEED repeats a run.
# Runs in make test-all: it draws for long.

use Snowid;

my $seed = $ENV{SNOWID_SEED} // int(rand(1 << 30));
srand $seed;
note("SNOWID_SEED=$seed");
my $node = ready_server('ends', conf => "fsync = off\n", sql => 'CREATE SEQUENCE s');
my $session = open_session($node);

# Whole blocks may begin above what is skipped; others go to the end. Returns what was done, if it came out wrong.
sub play
{
    my $increment = (1, 2, 7, 100, 1000, 5000)[ rand 6 ];
    my $end = (17, 100, 999, 5000, 32767)[ rand 5 ];
    my $size = rand() < 0.7 ? $increment : 1 + int rand $increment;
    my $gap = $increment - $size;
    my @history = ("INCREMENT $increment, MAXVALUE $end, size $size");
    ask($session, "DROP SEQUENCE s; CREATE SEQUENCE s INCREMENT $increment MAXVALUE $end");
    my ($last, $is_lost) = (0, 0);
    while ($last < $end)
    {
        # No more than there must be.
        my $most = $is_lost || $gap ? 1 : $end - $last;
        my $count = 1 + int rand($end / 10);
        $count = $most if $count > $most || rand() < 0.2;
        my $draw = $count == 1 ? "snowid_segment_next('s', $size)" : "snowid_segment_batch('s', $count, $size)";
        my $answer = ask($session, "SELECT $draw");
        push @history, "$draw: $answer" =~ s/\n/ /gr;
        last if $answer eq 'ERROR 2200H' && $gap;
        my @numbers = split /\n/, $answer;
        my $skipped = $is_lost ? ($end - $last) / 8 + ($gap ? 2 * $increment : 0) : $gap;
        return @history
          if $answer =~ /ERROR/ || @numbers != $count || $numbers[0] <= $last || $numbers[0] > $last + 1 + $skipped
          || $gap && grep { ($_ - 1) % $increment >= $size } @numbers;
        ($last, $is_lost) = ($numbers[-1], rand() < 0.2);
        next unless $is_lost;
        my $change = rand() < 0.5 ? 'ALTER SEQUENCE s CACHE 1' : q(SELECT setval('s', last_value, is_called) FROM s);
        $change = 'a restart' if rand() < 0.01;
        push @history, $change;
        if ($change eq 'a restart') { close_session($session); rand() < 0.5 ? $node->restart : crash_and_start($node, 'kill'); $session = open_session($node) }
        else { ask($session, $change) }
    }
    return ask($session, "SELECT snowid_segment_next('s', $size)") eq 'ERROR 2200H' ? () : (@history, 'more is left');
}

my @wrong;
foreach my $round (1 .. 60) { @wrong = play() and last }
is(join("\n", @wrong), '', 'to the end, and no more is skipped than may be') or diag("SNOWID_SEED=$seed");
end_test($node);
