# Segments do what nextval would: after each of thousands of random operations on a sequence the numbers
# drawn are those that a model of nextval gives, block by block. setval counts also where it sets what the
# sequence holds already, ALTER SEQUENCE also where it shortens the last block; on logged sequences and on
# those that are not. SNOWID_SEED repeats a run.

use strict;
use warnings;

use Snowid;
use Test::More;

my $seed = $ENV{SNOWID_SEED} // int(rand(1 << 30));
srand $seed;
note("SNOWID_SEED=$seed");

my $node = new_server('oracle');
$node->append_conf('postgresql.conf', "snowid.segment_adapt = off\nfsync = off\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION snowid');
my @sessions = map { open_session($node) } 1 .. 2;

# The model. The sequence: last, is_called, increment, max. What is in memory, as a list of runs of
# numbers: the block that is drawn from, and the one that was allocated early.
my ($last, $is_called, $increment, $max, @runs);
# Whether memory counts; the last number that was handed out from it; the sequence's value after the last
# allocation; and whether it has other storage since. Where it has, and holds that value, nobody can tell
# whether setval has set it, so what was handed out is not given again.
my ($counts, $given, $allocated, $is_altered);

sub first_free
{
    my $first = $is_called ? $last + $increment : $last;
    $first = $given + 1 if $is_altered && $is_called && defined $allocated && $last == $allocated && $given >= $first;
    return $first;
}

# Allocates a block. Returns false where there is none.
sub allocate
{
    my $first = first_free();
    return 0 if $first > $max;
    ($last, $is_called, $is_altered, $allocated) = ($first, 1, 0, $first);
    @runs = () if !$counts;
    $counts = 1;
    my $end = $first + $increment - 1;
    push @runs, { next => $first, end => $end > $max ? $max : $end };
    # It is time to allocate the next when a tenth of it is used.
    $runs[-1]{alert} = $first + int(($runs[-1]{end} - $first + 10) / 10) - 1;
    return 1;
}

# The next number, or undef. Who has had to allocate does not look whether it is time to.
sub next_number
{
    my $must = !$counts || !@runs;
    return undef if $must && !allocate();
    my $number = $runs[0]{next}++;
    $given = $number;
    my $alert = $runs[-1]{alert};
    my $is_low = !$must && defined $alert && $number >= $alert;
    shift @runs if $runs[0]{next} > $runs[0]{end};
    # Allocated early, where there is room for another block.
    if ($is_low && @runs <= 1)
    {
        $runs[-1]{alert} = undef if !allocate() && @runs;
    }
    return $number;
}

sub forget { ($counts, @runs) = (0); return }

my %operations = (
    draw => sub { return ("SELECT snowid_segment_next('s')", next_number() // 'ERROR 2200H') },
    draws => sub {
        my $count = 2 + int rand 30;
        my @numbers = map { next_number() } 1 .. $count;
        my $expected = defined $numbers[-1] ? join "\n", @numbers : 'ERROR 2200H';
        return ("SELECT snowid_segment_next('s') FROM generate_series(1, $count)", $expected);
    },
    setval => sub {
        my $to = rand() < 0.4 ? $last : rand() < 0.3 && defined $given ? $given : 1 + int rand 2000;
        $to = $max if $to > $max;
        $is_called = rand() < 0.7 ? 1 : 0;
        forget();
        $last = $to;
        return ("SELECT setval('s', $to, " . ($is_called ? 'true' : 'false') . ')', $to);
    },
    alter => sub {
        $increment = (1, 2, 3, 10, 99, 100, 899)[ rand 7 ];
        forget();
        $is_altered = 1;
        return ("ALTER SEQUENCE s INCREMENT $increment", '');
    },
    restart => sub {
        my $to = rand() < 0.5 ? $last : 1 + int rand 2000;
        $to = $max if $to > $max;
        forget();
        ($last, $is_called, $is_altered) = ($to, 0, 1);
        return ("ALTER SEQUENCE s RESTART WITH $to", '');
    },
    nextval => sub {
        my $to = $is_called ? $last + $increment : $last;
        return ("SELECT nextval('s')", 'ERROR 2200H') if $to > $max;
        forget();
        ($last, $is_called) = ($to, 1);
        return ("SELECT nextval('s')", $to);
    });
my @kinds = (('draw') x 6, ('draws') x 4, ('setval') x 5, ('alter') x 3, 'restart', ('nextval') x 2);

foreach my $persistence ('', 'UNLOGGED')
{
    my ($done, $wrong) = (0, '');
    foreach my $round (1 .. 25)
    {
        ($increment, $max) = ((1, 7, 100, 899)[ rand 4 ], (899, 2500, 1_000_000)[ rand 3 ]);
        ($last, $is_called, $counts, $given, $allocated, $is_altered, @runs) = (1, 0, 0, undef, undef, 0);
        ask($sessions[0], "DROP SEQUENCE IF EXISTS s; CREATE $persistence SEQUENCE s INCREMENT $increment MAXVALUE $max");
        my @history;
        foreach my $operation (1 .. 120)
        {
            my ($sql, $expected) = $operations{ $kinds[ rand @kinds ] }->();
            my $answer = ask($sessions[ rand @sessions ], $sql);
            push @history, "$sql -> $answer" =~ s/\n/ /gr;
            $done++;
            next if $answer eq $expected;
            $wrong = join "\n", "INCREMENT, MAXVALUE at first: round $round", @history, 'expected ' . $expected =~ s/\n/ /gr;
            last;
        }
        last if $wrong;
    }
    is($wrong, '', "$done operations" . ($persistence ? ', unlogged' : '') . ': as nextval would')
      or diag("SNOWID_SEED=$seed");
}

# The two that were found first: a block that was shortened, and a value that was set to itself.
foreach my $persistence ('', 'UNLOGGED')
{
    ask($sessions[0], "DROP SEQUENCE s; CREATE $persistence SEQUENCE s INCREMENT 899 MAXVALUE 899");
    my $next = q(SELECT snowid_segment_next('s'));
    is(ask($sessions[0], $next), '1', "$persistence the first of all");
    ask($sessions[1], 'ALTER SEQUENCE s INCREMENT 1');
    is(ask($sessions[0], $next), '2', "$persistence shortened: the others are free");
    ask($sessions[1], q(SELECT setval('s', 1)));
    is(ask($sessions[0], $next), '2', "$persistence set back to it");
    ask($sessions[1], q(SELECT setval('s', 2)));
    is(ask($sessions[0], $next), '3', "$persistence set to what it holds");
    ask($sessions[1], q(SELECT setval('s', 500); SELECT count(nextval('s')) FROM generate_series(1, 40); SELECT setval('s', 500)));
    is(ask($sessions[0], $next), '501', "$persistence set, moved and set");
}
close_session(@sessions);
check_log($node);
$node->stop;
done_testing();
