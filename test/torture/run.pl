# The torture: rounds of sessions that draw numbers of all kinds, each of which ends with a fault; all numbers that clients
# have seen are compared. The arguments: seconds, seed, and a directory for what is left to be read. What is chosen comes
# from the seed; what sessions do at the same time of course differs from run to run.

use strict;
use warnings;

use File::Path qw(remove_tree);
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;
use Time::HiRes qw(time);
use TortureClock;
use TortureKinds;
use TortureOracle;
use TortureRound;
use TortureServer;

my ($seconds, $seed, $output) = @ARGV;
use constant { WORLD => 60, MOST_RANGES => 8 };

my ($server, @failures, @history);
my ($number, $in_world, $far, $told) = (0, 0, 0, 0);
my $oracle = new_oracle();
my $begun = time;

sub faults { my $sum = 0; $sum += $_ foreach values %{ $server->{faults} }; return $sum }

sub tell_figures
{
    note(sprintf '%4d s: %d rounds, %d numbers in %d calls, %d faults, %d rewindings (%d more refused), %d databases, %d repeats', time - $begun, $number,
        $oracle->{numbers}, $oracle->{calls}, faults(), $server->{rewinds} // 0, $server->{refused_rewinds} // 0, 3 * $server->{worlds},
        $oracle->{repeats} // 0);
    note('        ' . join ', ', map { "$server->{faults}{$_} $_" } sort keys %{ $server->{faults} }) if %{ $server->{faults} };
    return;
}

sub event { my ($text) = @_; push @history, sprintf 'round %d, %.1f s: %s', $number, time - $begun, $text; return }

# Databases that none of those before were, with a clock that is right.
sub begin_world
{
    if ($server->{worlds})
    {
        drop_world($server);
        forget_database($oracle, $_) foreach values %{ $server->{databases} };
    }
    go_down($server, 'immediate');
    put_clock($server, 0);
    come_up($server);
    new_world($server);
    restarted($oracle);
    ($in_world, $far) = (0, 0);
    event('new databases: ' . join ' ', sort values %{ $server->{databases} });
    return;
}

# Between two rounds: transactions that were prepared are ended, some of them; and what the clock is to be.
sub prepare
{
    my ($plan) = @_;
    if (!is_up($server)) { go_down($server, 'kill'); come_up($server) }
    my @ranges = map { @{ $oracle->{ranges}{$_} // [] } } values %{ $server->{databases} };
    $far++ if is_far($server);
    if ($in_world++ == WORLD || $far > 4 || @ranges > 3 * MOST_RANGES) { begin_world() }
    end_prepared($server, $_, 0.7) foreach values %{ $server->{databases} };
    my $settled = settle_clock($server, $oracle);
    event("the clock $settled");
    $server->{counts}{"the clock $1" =~ tr/ /_/r}++ if $settled =~ /^((?:is|has|was|had)(?: not)? \w+)/;
    note("the clock $settled") if $settled =~ /^was not/;
    $plan->{is_rewound} = grep { @{ $oracle->{ranges}{$_} // [] } } values %{ $server->{databases} };
    if ($plan->{fault} eq 'cut')
    {
        stop_well($server);
        power_up($server);
        restarted($oracle);
    }
    return;
}

sub one_round
{
    my $plan = plan_round($seed, ++$number);
    prepare($plan);
    my $dir = "$output/round";
    my $since = monotonic();
    event(sprintf '%s, %d sessions%s%s for %.1f s; clock %+.1f s%s%s%s', $plan->{fault}, scalar @{ $plan->{characters} }, $plan->{quiet} ? ', quiet,' : '',
        $plan->{changes} ? ', with changes,' : '', $plan->{seconds}, $server->{offset},
        map { defined $plan->{ $_->[0] } ? sprintf ', %s %+.1f s', $_->[1], $plan->{ $_->[0] } : '' } [ step => 'step' ], [ jump => 'jump' ],
        [ step_after => 'then' ]);
    my @findings = run_round($server, $plan, $dir);
    $oracle->{has_crashed} = $plan->{fault} eq 'backend' || $plan->{fault} eq 'full';
    judge_round($oracle, $number, clock_function($server, $since), glob "$dir/numbers.*");
    restarted($oracle) if $plan->{crashes};
    push @failures, map { "round $number: $_" } @findings, splice @{ $oracle->{wrong} };
    my $log = slurp_file($server->{node}->logfile);
    # PostgreSQL's own: a process that has lost postmaster and parallel workers exits in its transaction.
    my @lost = $log =~ /\[(\d+)\] .*FATAL:  postmaster exited during a parallel transaction$/mg;
    $log =~ s/^TRAP: .*"pgstat\.c", .*PID: $_\)$//m foreach @lost;
    push @failures, "round $number: the log: $1" if $log =~ /(.*(?:TRAP|signal (?:4|7|8|11)\b|leaked|buffer is pinned).*)/;
    truncate $server->{node}->logfile, 0 if !@failures;
    remove_tree($dir) if !@failures;
    return;
}

srand $seed;
if (!eval { $server = new_torture_server(); begin_world(); 1 }) { BAIL_OUT("the server: $@") }
$told = $begun = time;
while (time < $begun + $seconds && !@failures)
{
    if (!eval { one_round(); 1 }) { push @failures, "round $number: $@" }
    next if time < $told + 30;
    $told = time;
    tell_figures();
}
if (@failures)
{
    splice @history, 0, -25 if @history > 25;
    diag("SEED=$seed, round $number:", map { "\n  $_" } @failures > 12 ? @failures[ 0 .. 11 ] : @failures);
    diag('the last rounds:', map { "\n  $_" } @history);
}
note(join ', ', map { "$server->{counts}{$_} $_" } sort keys %{ $server->{counts} // {} });
ok(!@failures, sprintf '%d rounds, %d numbers, %d faults', $number, $oracle->{numbers}, faults());
tell_figures();
go_down($server, 'kill');
done_testing();
