# The clock of the torture, where it was set: before a round, times that have been used may be ahead of it. Then the round
# is left to see how IDs fare, or the clock catches up, or all databases are rewound as docs/runbook.md has it.
package TortureClock;

use strict;
use warnings;

use Exporter 'import';
use Time::HiRes qw(sleep);
use TortureKinds;
use TortureOracle;
use TortureServer;

our @EXPORT = qw(settle_clock step_of_clock is_far);

# Less is what a server is ahead by after a start, or the right clock's.
use constant { NEAR => 2.5, TOO_NEAR => 13, DAY => 86_400 };

# How far a clock is set, back or ahead.
sub step_of_clock
{
    return -between(0.2, 4) if chance(0.4);
    return -pick(10, 60, 600, 3600, 5 * 3600, DAY, 10 * DAY, 20 * DAY) * between(0.5, 1) if chance(0.5);
    return -between(1, 4) * 365 * DAY if chance(0.06);
    return between(1, 20) if chance(0.6);
    return pick(60, 600, 3600, DAY, 5 * DAY);
}

# How far ahead a database has gone.
sub ceilings
{
    my ($server) = @_;
    return map { $_ => ask($server, $_, 'SELECT extract(epoch FROM snowid_ceiling())') } values %{ $server->{databases} };
}

sub is_far { my ($server) = @_; return abs($server->{offset}) > 60 * DAY }

# Says what it has done.
sub settle_clock
{
    my ($server, $oracle, $told) = @_;
    my %ceilings = ceilings($server);
    my $now = clock_now($server);
    my ($greatest) = sort { $b <=> $a } @ceilings{ @{ $server->{databases} }{qw(plain counters)} };
    if ($greatest < $now + NEAR)
    {
        $server->{kept} = 0;
        return come_to_wild_time($server, $oracle) // 'is right';
    }
    if (chance(0.45) && $server->{kept}++ < 2) { return sprintf 'is left %.1f s behind', $greatest - $now }
    $server->{kept} = 0;
    if (chance(0.4) || $greatest < $now + TOO_NEAR) { catch_up($server, $greatest + 0.2); return 'has caught up' }
    return rewind_all($server, $oracle);
}

# Time passes, until the clock is near a time that it was said to have been wild in, or there.
sub come_to_wild_time
{
    my ($server, $oracle) = @_;
    my $now = clock_now($server);
    my @ahead = grep { $_->[0] > $now + 1 && $_->[0] < $now + 60 * DAY } map { @{ $oracle->{ranges}{$_} // [] } } values %{ $server->{databases} };
    return undef if !@ahead || chance(0.6);
    my $range = pick(@ahead);
    my $length = $range->[1] - $range->[0];
    my $moment = $range->[0] + (chance(0.5) ? between(-15, 1) : between(0, $length < 60 ? $length + 3 : 60));
    return undef if $moment < $now;
    catch_up($server, $moment);
    return sprintf 'has come to a wild time, %.3f to %.3f', @$range;
}

# Time passes, until the clock shows this.
sub catch_up
{
    my ($server, $moment) = @_;
    put_clock($server, $server->{offset} + $moment - clock_now($server)) if $moment > clock_now($server);
    return;
}

# The stretches of time that a database may have used, and its ceiling.
sub stretches_of
{
    my ($server, $oracle, $database) = @_;
    my $now = clock_now($server);
    my $ceiling = ask($server, $database, 'SELECT extract(epoch FROM snowid_ceiling())');
    return grep { $_->[1] > $now + NEAR } used_times($oracle, $database, $now, [ $ceiling - 1, $ceiling ], map { [@$_] } @{ $server->{floors}{$database} // [] });
}

# No range may begin in the next ten seconds: while one would, time passes. A clock that was right until now has used the
# times up to now.
sub wait_for_room
{
    my ($server, $oracle) = @_;
    foreach (1 .. 20)
    {
        my $now = clock_now($server);
        my ($near) = sort { $b->[1] <=> $a->[1] }
          grep { $_->[0] < $now + TOO_NEAR } map { stretches_of($server, $oracle, $_) } values %{ $server->{databases} };
        return 1 if !$near;
        catch_up($server, $near->[1] + 1);
    }
    return 0;
}

sub rewind_all
{
    my ($server, $oracle) = @_;
    end_prepared($server, $_) foreach values %{ $server->{databases} };
    if (!wait_for_room($server, $oracle)) { return 'had no room to be rewound' }
    my @done;
    foreach my $database (sort values %{ $server->{databases} })
    {
        my $answer = rewind_one($server, $oracle, $database);
        if ($answer ne '')
        {
            # What was refused is not half done: the clock is where nothing is ahead.
            my %ceilings = ceilings($server);
            my ($greatest) = sort { $b <=> $a } @ceilings{ @{ $server->{databases} }{qw(plain counters)} };
            catch_up($server, $greatest + 0.2);
            $server->{refused_rewinds}++;
            return "was not rewound in $database: $answer";
        }
    }
    $server->{rewinds}++;
    return 'was rewound: ' . join '; ', map { my $name = $_; "$name " . join ' ', map { sprintf '%.3f-%.3f', @$_ } @{ $oracle->{ranges}{$name} // [] } }
      sort values %{ $server->{databases} };
}

sub rewind_one
{
    my ($server, $oracle, $database) = @_;
    my $now = clock_now($server);
    my @ranges = map { sprintf q(tstzmultirange(tstzrange(to_timestamp(%.3f), to_timestamp(%.3f), '[]'))), $_->[0] - 0.5, $_->[1] + 3 }
      stretches_of($server, $oracle, $database);
    return '' if !@ranges;
    my $error;
    foreach (1 .. 100)
    {
        return told($server, $oracle, $database, $now) if eval { ask($server, $database, 'SELECT snowid.return_to_clock(' . join(' + ', @ranges) . ')'); 1 };
        $error = $@ =~ s/\n/ /gr;
        # Who has just disconnected may be there for a moment.
        last if $error !~ /others are connected|other sessions|is being accessed|Other sessions/;
        sleep 0.05;
    }
    return $error;
}

# From now on these times are known.
sub told
{
    my ($server, $oracle, $database, $now) = @_;
    my @known = answers($server, $database,
        q(SELECT extract(epoch FROM lower(skipped)) || ' ' || coalesce(extract(epoch FROM upper(skipped)), 1e12) FROM snowid.skipped_times ORDER BY skipped));
    rewound($oracle, $database, $now, [ map { [split] } @known ]);
    return '';
}

1;
