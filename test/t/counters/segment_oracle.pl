# Segments do what nextval would: after each of thousands of random operations on a sequence, logged or not, the numbers drawn are
# those that a model of nextval gives, block by block; and so is how much is allocated at a time, to the end, where blocks are cut
# short. SNOWID_SEED repeats a run.
# Runs in make test-all: it compares with nextval for long.

use List::Util qw(max min);
use Snowid;

my $seed = $ENV{SNOWID_SEED} // int(rand(1 << 30));
srand $seed;
note("SNOWID_SEED=$seed");

my $node = ready_server('oracle', conf => "fsync = off\n");
my @sessions = map { open_session($node) } 1 .. 2;

# The model. The sequence: last, is_called, increment, max. What is in memory, as a list of runs of
# numbers: the block that is drawn from, and the one that was allocated early.
my ($last, $is_called, $increment, $max, @runs);
# Whether memory counts; the last number that was handed out from it; what the sequence said after the last
# allocation; and whether it has other storage since. Where it has, and says that, nobody can tell whether
# setval has set it, so what was handed out is not given again.
my ($counts, $given, $allocated, $is_altered);
# Whether more blocks are allocated at a time, as no 15 minutes ever pass here; how many were the last time, and
# how many numbers were handed out in all.
my ($adapts, $blocks, $issued);

sub said { return "$last $is_called" }
sub forget { ($counts, @runs) = (0); return }
sub up_to_max { return min($_[0], $max) }

sub first_free
{
    my $first = $is_called ? $last + $increment : $last;
    $first = $given + 1 if $is_altered && defined $allocated && said() eq $allocated && $given >= $first;
    return $first;
}

# How many numbers are allocated from `first` on, where so many are asked for.
sub allotted
{
    my ($first, $want) = @_;
    my $doubled = !$blocks ? 1 : $blocks <= int(int(1_000_000 / $increment) / 2) ? 2 * $blocks : $blocks;
    my $asked = int(($want + $increment - 1) / $increment);
    my $most = $adapts ? max(1, $asked, min($doubled, int(int($issued / 16) / $increment))) : 1;
    my $count = min($most * $increment, max($want, int(($max - $first) / 16)));
    $count -= $count % $increment if $count > $increment;
    return min($count, $max - $first + 1);
}

# Allocates for so many numbers that are asked for, 0 where it is early. Returns false where there is nothing.
sub allocate
{
    my ($want) = @_;
    my $first = first_free();
    my $count = $first > $max ? 0 : allotted($first, $want) or return 0;
    my $next = $first + $count;
    # Whole blocks are said to be so; and where a part of one is the sequence's end, it says that.
    ($last, $is_called) = $count % $increment == 0 ? ($next - $increment, 1) : $next > $max ? ($max, 1) : ($next, 0);
    ($is_altered, $allocated) = (0, said());
    $blocks = int(($count + $increment - 1) / $increment);
    @runs = () if !$counts++;
    # It is time to allocate the next when a tenth of it is used.
    push @runs, { next => $first, end => $next - 1, alert => $first + int(($count + 9) / 10) - 1 };
    return 1;
}

# Up to so many numbers, or none. Who has had to allocate does not look whether it is time to.
sub next_numbers
{
    my ($want) = @_;
    my $must = !$counts || !@runs;
    return if $must && !allocate($want);
    my $run = $runs[0];
    my @numbers = $run->{next} .. min($run->{end}, $run->{next} + $want - 1);
    $given = $numbers[-1];
    $issued += @numbers;
    $run->{next} = $given + 1;
    # A run that waits behind another is not drawn from yet.
    my $is_low = !$must && $run == $runs[-1] && defined $run->{alert} && $given >= $run->{alert};
    shift @runs if $run->{next} > $run->{end};
    # Allocated early, where there is room for another block.
    $runs[-1]{alert} = undef if $is_low && @runs <= 1 && !allocate(0) && @runs;
    return @numbers;
}

# So many numbers, or an error.
sub numbers
{
    my ($count, $at_once) = @_;
    my @numbers;
    while (@numbers < $count) { my @more = next_numbers($at_once ? $count - @numbers : 1) or return 'ERROR 2200H'; push @numbers, @more }
    return join "\n", @numbers;
}

my %operations = (
    draw => sub { return ("SELECT snowid_segment_next('s')", numbers(1)) },
    draws => sub { my $count = 2 + int rand 30; return ("SELECT snowid_segment_next('s') FROM generate_series(1, $count)", numbers($count)) },
    batch => sub { my $count = 1 + int rand 200; return ("SELECT snowid_segment_batch('s', $count)", numbers($count, 1)) },
    setval => sub {
        forget();
        $last = up_to_max(rand() < 0.4 ? $last : rand() < 0.3 && defined $given ? $given : 1 + int rand 2000);
        $is_called = rand() < 0.7 ? 1 : 0;
        return ("SELECT setval('s', $last, $is_called = 1)", $last);
    },
    alter => sub {
        forget();
        ($increment, $is_altered) = ((1, 2, 3, 10, 99, 100, 899)[ rand 7 ], 1);
        return ("ALTER SEQUENCE s INCREMENT $increment", '');
    },
    restart => sub {
        forget();
        ($last, $is_called, $is_altered) = (up_to_max(rand() < 0.5 ? $last : 1 + int rand 2000), 0, 1);
        return ("ALTER SEQUENCE s RESTART WITH $last", '');
    },
    nextval => sub {
        my $to = $is_called ? $last + $increment : $last;
        return ("SELECT nextval('s')", 'ERROR 2200H') if $to > $max;
        forget();
        ($last, $is_called) = ($to, 1);
        return ("SELECT nextval('s')", $to);
    });
my @kinds = (('draw') x 6, ('draws') x 4, 'batch', ('setval') x 5, ('alter') x 3, 'restart', ('nextval') x 2);

# What was done, if an answer is not the model's.
sub play
{
    my ($persistence, $round) = @_;
    ($increment, $max) = ((1, 7, 100, 899)[ rand 4 ], (899, 2500, 1_000_000)[ rand 3 ]);
    ($last, $is_called, $counts, $given, $allocated, $is_altered, @runs) = (1, 0, 0, undef, undef, 0);
    ($adapts, $blocks, $issued) = ($round % 2, 0, 0);
    ask($_, 'SET snowid.segment_adapt = ' . ($adapts ? 'on' : 'off')) foreach @sessions;
    ask($sessions[0], "DROP SEQUENCE IF EXISTS s; CREATE $persistence SEQUENCE s INCREMENT $increment MAXVALUE $max");
    my @history = "round $round, INCREMENT $increment, MAXVALUE $max";
    foreach my $operation (1 .. 120)
    {
        my ($sql, $expected) = $operations{ $kinds[ rand @kinds ] }->();
        my $answer = ask($sessions[ rand @sessions ], $sql);
        push @history, "$sql -> $answer" =~ s/\n/ /gr;
        return (@history, "expected $expected" =~ s/\n/ /gr) if $answer ne $expected;
    }
    return;
}

foreach my $persistence ('', 'UNLOGGED')
{
    my @wrong;
    foreach my $round (1 .. 25) { @wrong = play($persistence, $round) and last }
    is(join("\n", @wrong), '', "$persistence as nextval would") or diag("SNOWID_SEED=$seed");
}
end_test($node);
