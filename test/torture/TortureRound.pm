# A round of the torture: sessions draw for a second or two, meanwhile something happens to them or to the clock, and at
# the end the server goes down, or does not.
package TortureRound;

use strict;
use warnings;

use Exporter 'import';
use POSIX ();
use PostgreSQL::Test::Utils;
use Time::HiRes qw(sleep);
use TortureChanges;
use TortureClock;
use TortureKinds;
use TortureServer;
use TortureSession;

our @EXPORT = qw(plan_round run_round);

# What a round ends with, and how often.
my @faults = ([ 6, 'kill' ], [ 3, 'immediate' ], [ 5, 'cut' ], [ 3, 'backend' ], [ 2, 'full' ], [ 2, 'memory' ], [ 2, 'cancel' ], [ 2, 'terminate' ]);
my %is_down = map { $_ => 1 } qw(kill immediate cut full);
my %crashes = map { $_ => 1 } qw(kill immediate cut full backend);

# The choices of a round, all of them from the seed.
sub plan_round
{
    my ($seed, $number) = @_;
    srand($seed * 100_003 + $number);
    my $weights = 0;
    $weights += $_->[0] foreach @faults;
    my $at = rand $weights;
    my ($fault) = grep { ($at -= $_->[0]) < 0 } @faults;
    my $plan = { number => $number, fault => $fault->[1], seconds => between(0.5, 1.6) * SLOWLY, quiet => chance(0.35), changes => chance(0.5) };
    $plan->{is_down} = $is_down{ $plan->{fault} };
    $plan->{crashes} = $crashes{ $plan->{fault} };
    # Ahead just before the end, and back: IDs go with it, and what allows them is new.
    $plan->{jump} = chance(0.6) ? between(2, 60) : pick(600, 3600, 86_400, 864_000) * between(0.5, 1) if chance($plan->{crashes} ? 0.45 : 0.1);
    $plan->{jump_before} = pick(0.005, 0.02, 0.05, 0.15, 0.4);
    # Where nobody commits, and no counter is refilled, nothing but the ceiling's own flush makes it durable.
    $plan->{lone} = $plan->{jump} && chance(0.6);
    @{$plan}{qw(quiet changes)} = (1, 0) if $plan->{lone};
    # While sessions draw.
    $plan->{step} = step_of_clock() if chance(0.2);
    $plan->{step} = 0.2 if ($plan->{step} // 0) > 5 || abs($plan->{step} // 0) > 100 * 86_400;
    # Before the server comes back.
    $plan->{step_after} = step_of_clock() if chance($plan->{is_down} ? 0.45 : 0.15);
    $plan->{seeds} = [ map { int rand 1 << 30 } 0 .. 15 ];
    $plan->{characters} = [ map { pick('plain', 'plain', 'long', $plan->{lone} ? () : 'counters') } 0 .. 5 + rand 4 ];
    return $plan;
}

# The sessions of a round.
sub begin_sessions
{
    my ($server, $plan, $dir) = @_;
    my $node = $server->{node};
    my %common = (
        until => $plan->{until} + ($plan->{jump} && $plan->{is_down} ? 1 : 0), dir => $dir, stop => "$dir/stop", host => $node->host, port => $node->port, quiet => $plan->{quiet},
        is_lasting => !$plan->{crashes}, is_rewound => $plan->{is_rewound}, databases => $server->{databases});
    my @children;
    my $number = 0;
    foreach my $character (@{ $plan->{characters} }, $plan->{changes} ? 'changes' : ())
    {
        my %given = (%common, number => $number, seed => $plan->{seeds}[$number], character => $character, database => $server->{databases}{$character});
        $number++;
        my $child = fork // die "fork: $!";
        if (!$child)
        {
            $SIG{TERM} = 'DEFAULT';
            my $done = eval { $character eq 'changes' ? run_changes(%given, quiet => 0) : run_session(%given); 1 };
            append_to_file("$dir/findings.$given{number}", "died: $@\n") if !$done;
            POSIX::_exit(0);
        }
        push @children, $child;
    }
    return @children;
}

# Waits for children to end. Returns whether all have.
sub reap
{
    my ($children, $seconds) = @_;
    my $deadline = monotonic() + $seconds;
    while (@$children && monotonic() < $deadline)
    {
        @$children = grep { waitpid($_, POSIX::WNOHANG()) == 0 } @$children;
        sleep 0.005 if @$children;
    }
    return !@$children;
}

# Runs a round. Returns what was found that must not be.
sub run_round
{
    my ($server, $plan, $dir) = @_;
    mkdir $dir or die "$dir: $!";
    $server->{faults}{ $plan->{fault} }++;
    my $begun = monotonic();
    # Connecting takes what it takes on a busy machine.
    $plan->{until} = $begun + 0.25 + $plan->{seconds};
    deny_memory($server) if $plan->{fault} eq 'memory';
    my @children = begin_sessions($server, $plan, $dir);
    if (defined $plan->{step})
    {
        sleep $plan->{seconds} * rand;
        put_clock($server, $server->{offset} + $plan->{step});
        $server->{faults}{'clock stepped while drawing'}++;
    }
    disturb($server, $plan);
    if (defined $plan->{jump})
    {
        wait_until($plan->{until} - $plan->{jump_before});
        my $seen = seen_in($dir);
        put_clock($server, $server->{offset} + $plan->{jump});
        # Until some have drawn at that time, if they do.
        my $deadline = monotonic() + 0.8;
        sleep 0.002 while $plan->{is_down} && seen_in($dir) < $seen + 300 && monotonic() < $deadline;
        sleep $plan->{jump_before} * rand;
    }
    else { wait_until($plan->{until}) }
    end_round($server, $plan, $dir);
    my @findings;
    if (!reap(\@children, 10))
    {
        kill 'TERM', backends($server);
        push @findings, 'sessions did not end' if !reap(\@children, 10);
        kill 'KILL', @children;
        reap(\@children, 10);
    }
    come_back($server, $plan);
    foreach my $line (map { split /\n/, slurp_file($_) } glob "$dir/counts.*")
    {
        my ($what, $count) = split ' ', $line;
        $server->{counts}{$what} += $count;
    }
    push @findings, map { split /\n/, slurp_file($_) } grep { -s $_ } glob "$dir/findings.*";
    return @findings;
}

# How much sessions have written down.
sub seen_in { my ($dir) = @_; my $sum = 0; $sum += -s $_ // 0 foreach glob "$dir/numbers.*"; return $sum }

sub wait_until { my ($moment) = @_; sleep 0.001 while monotonic() < $moment; return }

sub deny_memory
{
    my ($server) = @_;
    chmod 0500, $server->{node}->data_dir . '/pg_dynshmem' or die $!;
    return;
}

# What happens to single sessions, or to the disk, in the middle.
sub disturb
{
    my ($server, $plan) = @_;
    my $fault = $plan->{fault};
    my $left = $plan->{until} - monotonic();
    return if $left < 0.2 || $plan->{is_down} && $fault ne 'full';
    if ($fault eq 'full')
    {
        sleep $left * between(0.2, 0.6);
        append_to_file($server->{file}, '');
        sleep between(0.1, 0.4);
        return;
    }
    while (monotonic() < $plan->{until} - 0.1)
    {
        sleep between(0.02, 0.2);
        my @backends = backends($server) or next;
        my $backend = pick(@backends);
        if ($fault eq 'cancel') { kill 'INT', $backend }
        elsif ($fault eq 'terminate') { kill 'TERM', $backend; sleep 0.1 }
        elsif ($fault eq 'memory')
        {
            # As much as it has, and a little.
            my ($pages) = split ' ', slurp_file("/proc/$backend/statm") if -e "/proc/$backend/statm";
            system('prlimit', "--pid=$backend", '--as=' . ($pages * 4096 + pick(0, 100_000, 1_000_000))) if $pages;
            sleep 0.1;
        }
        elsif ($fault eq 'backend') { kill 'KILL', $backend; sleep 0.4 }
    }
    return;
}

# The fault that ends the round. Sessions that get to know of it are done.
sub end_round
{
    my ($server, $plan, $dir) = @_;
    append_to_file("$dir/stop", '') if $plan->{is_down};
    my $fault = $plan->{fault};
    if ($plan->{is_down}) { go_down($server, $fault eq 'full' ? 'kill' : $fault) }
    append_to_file("$dir/stop", '') if !$plan->{is_down} && !-e "$dir/stop";
    return;
}

# The clock, and the server.
sub come_back
{
    my ($server, $plan) = @_;
    my $offset = $server->{offset};
    $offset -= $plan->{jump} - between(-1, 3) if defined $plan->{jump};
    $offset += $plan->{step_after} if defined $plan->{step_after};
    if ($offset != $server->{offset})
    {
        put_clock($server, $offset);
        $server->{faults}{'clock stepped at the end'}++;
    }
    chmod 0700, $server->{node}->data_dir . '/pg_dynshmem' if $plan->{fault} eq 'memory';
    come_up($server) if $plan->{is_down};
    return;
}

1;
