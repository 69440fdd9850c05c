# A model of many servers: a registry and four nodes, one with a synchronous standby and one with an asynchronous one, to
# which what can happen does, step after step by a seed, while they draw IDs of milliseconds, seconds and minutes, and take
# numbers of counters. All that anybody has ever seen is compared, and each step has to end as the pages say. The
# arguments: seconds, or "once" for each step once, and seed.

use strict;
use warnings;

use ClusterAnswers;
use ClusterAtOnce;
use ClusterCopies;
use ClusterFaults;
use ClusterModel;
use ClusterMoves;
use ClusterNames;
use ClusterOracle;
use ClusterRegistry;
use ClusterServers;
use Snowid;
use Test::More;
use Time::HiRes qw(time);

my ($seconds, $seed) = @ARGV;
my $begun = time;
my $told = $begun;

# What happens, and how often. Each sees to it itself that all is well in the end.
my @steps = (
    [ 12, draw_many => \&draw_many ],
    [ 8, set_clocks => \&set_clocks ],
    [ 4, set_lead => \&set_lead ],
    [ 3, pass_time => \&pass_time ],
    [ 10, kill_node => \&kill_node ],
    [ 5, kill_while_asking => \&kill_while_asking ],
    [ 4, kill_registry => \&kill_registry ],
    [ 3, join_while_killed => \&join_while_killed ],
    [ 12, lose_answers => \&lose_answers ],
    [ 5, lose_joining => \&lose_joining ],
    [ 5, lose_leaving => \&lose_leaving ],
    [ 6, hold_check => \&hold_check ],
    [ 4, hold_claim => \&hold_claim ],
    [ 3, hold_leaving => \&hold_leaving ],
    [ 3, hold_take_over => \&hold_take_over ],
    [ 8, pass_on => \&pass_on ],
    [ 4, join_at_once => \&join_at_once ],
    [ 4, check_at_once => \&check_at_once ],
    [ 3, take_over_at_once => \&take_over_at_once ],
    [ 4, clone_second => \&clone_second ],
    [ 4, clone_first => \&clone_first ],
    [ 3, clone_promoted => \&clone_promoted ],
    [ 2, lead_and_take_over => \&lead_and_take_over ],
    [ 2, restore_dump => \&restore_dump ],
    [ 4, restore_backup => \&restore_backup ],
    [ 4, keep_backup => \&keep_backup ],
    [ 4, start_backup => \&start_backup ],
    [ 3, fail_over_synchronous => \&fail_over_synchronous ],
    [ 4, fail_over_asynchronous => \&fail_over_asynchronous ],
    [ 2, dump_registry => \&dump_registry ],
    [ 2, back_up_registry => \&back_up_registry ],
    [ 3, keep_registry => \&keep_registry ],
    [ 2, start_kept_registry => \&start_kept_registry ],
    [ 2, promote_registry => \&promote_registry ],
    [ 4, leave_and_come_back => \&leave_and_come_back ],
    [ 3, retire_by_administrator => \&retire_by_administrator ],
    [ 6, move_shard => \&move_shard ],
    [ 2, release_and_fail_over => \&release_and_fail_over ],
    [ 2, lose_release => \&lose_release ],
    [ 1, switch_over => \&switch_over ],
    [ 4, roll_back => \&roll_back ],
    [ 6, take_numbers => \&take_numbers ],
    [ 2, lose_source => \&lose_source ],
    [ 4, cross_moves => \&cross_moves ],
    [ 3, accept_stale => \&accept_stale ]);
my $weights = 0;
$weights += $_->[0] foreach @steps;
# ONLY, in the environment, names those that are wanted.
my %only = map { $_ => 1 } split ' ', $ENV{ONLY} // '';

sub next_step
{
    while (1)
    {
        my $at = rand $weights;
        foreach my $step (@steps)
        {
            next if ($at -= $step->[0]) >= 0;
            return $step if !%only || $only{ $step->[1] };
            last;
        }
    }
    return;
}

my $cluster;
my %times;
my $failed = '';

# Runs one step. What has died is a failure of it.
sub run_step
{
    my ($step) = @_;
    $cluster->{step}++;
    event($cluster, "step $step->[1]");
    my $before = time;
    return 1 if eval { $step->[2]->($cluster); draw_all($cluster, 20); $times{ $step->[1] }{seconds} += time - $before; 1 };
    $failed = "step $cluster->{step}, $step->[1]: $@";
    return 0;
}

# The history of the numbers that a failure names, and the last steps of all.
sub tell_failure
{
    my @history = @{ $cluster->{history} };
    my %numbers = map { $_ => 1 } $failed =~ /(?:shard|number) (\d+)/g;
    diag("SEED=$seed, $failed");
    if (%numbers)
    {
        my @concerned = grep { my $event = $_; grep { $event->{numbers}{$_} } keys %numbers } @history;
        splice @concerned, 0, -30 if @concerned > 30;
        diag('about ' . join(', ', sort keys %numbers) . ':', map { "\n  $_->{step}: $_->{text}" } @concerned);
    }
    splice @history, 0, -40 if @history > 40;
    diag('the last steps:', map { "\n  $_->{step}: $_->{text}" } @history);
    diag("node $_->{letter}: $_->{name} on $_->{server}{name}, number " . ($_->{number} // 'none') . sprintf(', clock %+.3f s', $_->{server}{offset}))
      foreach @{ $cluster->{nodes} // [] };
    return;
}

sub faults { my $sum = 0; $sum += $_ foreach values %{ $cluster->{faults} }; return $sum }

sub tell_figures
{
    my $oracle = $cluster->{oracle};
    note(sprintf '%4d s: %d steps, %d IDs, %d numbers, %d faults, %d clocks moved, %d loose IDs, %d allowed repeats, %d repeats', time - $begun,
        $cluster->{step}, $oracle->{ids} + $oracle->{loose}, $oracle->{numbers}, faults(), $cluster->{moved_clocks}, $oracle->{loose}, $oracle->{allowed},
        $failed =~ /seen before|twice|below|was given to/ ? 1 : 0);
    return;
}

srand $seed;
if (!eval { $cluster = new_cluster(); new_proxy($cluster); 1 }) { BAIL_OUT("the cluster: $@") }
srand $seed;
note(sprintf '%4d s: the cluster is there', time - $begun);
$begun = $told = time;
my @once = $seconds eq 'once' ? grep { !%only || $only{ $_->[1] } } @steps : ();
while ($seconds eq 'once' ? @once : time < $begun + $seconds)
{
    my $step = shift(@once) // next_step();
    $times{ $step->[1] }{count}++;
    last if !run_step($step);
    next if time < $told + 30;
    $told = time;
    tell_figures();
}
tell_failure() if $failed;
foreach my $step (@steps)
{
    my $count = $times{ $step->[1] }{count} or next;
    ok($failed !~ /^step \d+, $step->[1]:/, sprintf '%s: %d times, %.2f s each', $step->[1], $count, ($times{ $step->[1] }{seconds} // 0) / $count);
}
note(join ', ', map { "$cluster->{faults}{$_} $_" } sort keys %{ $cluster->{faults} });
tell_figures();
kill_server($cluster, $_) foreach values %{ $cluster->{servers} };
done_testing();
