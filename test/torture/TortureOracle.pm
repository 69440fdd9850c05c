# Holds what clients have seen, and judges it, round by round. A stream is the numbers of one shard, counter or key of one
# database: they never come again, and are above those of all calls that had ended before; also those of earlier rounds, of
# which only the greatest need be kept. After a rewinding that is the greatest of those that were not of a wild time; what
# was is in the ranges that were stated, of which nothing may come again.
package TortureOracle;

use strict;
use warnings;

use Exporter 'import';
use TortureKinds;

our @EXPORT = qw(new_oracle judge_round rewound restarted forget_database used_times);

# What a clock may be off by: reading it here and there.
use constant SLACK => 0.05;
# Times of IDs that are farther apart than this are apart.
use constant APART => 5;

sub new_oracle { return { streams => {}, used => {}, ranges => {}, random => {}, hubs => {}, numbers => 0, calls => 0, wrong => [] } }

sub wrong
{
    my ($oracle, $text) = @_;
    push @{ $oracle->{wrong} }, $text if @{ $oracle->{wrong} } < 10;
    $oracle->{repeats}++;
    return;
}

# Judges the files of a round. clock: what the server's clock was, as a function of two monotonic times that gives the
# least and the greatest Unix time that it may have shown between them.
sub judge_round
{
    my ($oracle, $round, $clock, @files) = @_;
    my %calls;
    foreach my $file (@files)
    {
        my ($who) = $file =~ /(\d+)$/;
        open my $in, '<', $file or die "$file: $!";
        while (my $line = <$in>)
        {
            # One who was ended may have left half a line.
            chomp $line or last;
            my ($stream, $from, $to, $lead, $what) = split /\t/, $line;
            $oracle->{calls}++;
            push @{ $calls{$stream} }, { from => $from, to => $to, lead => $lead, what => $what, who => "session $who of round $round" };
        }
        close $in;
    }
    $oracle->{clock} = $clock;
    foreach my $stream (sort keys %calls)
    {
        if ($stream =~ m{(uuid|objectid)$}) { judge_random($oracle, $1, $stream, $calls{$stream}) }
        else { judge_stream($oracle, $stream, $calls{$stream}) }
    }
    judge_hubs($oracle, \%calls);
    return;
}

# Reads the runs of a call: [first, last, call] each. Within a call they increase.
sub read_runs
{
    my ($oracle, $stream, $stride, $call) = @_;
    my @runs;
    foreach (split /,/, $call->{what})
    {
        my ($first, $count) = split /:/;
        my $run = [ $first, $first + ($count - 1) * $stride, $call ];
        wrong($oracle, "$stream: $first after $runs[-1][1] in one call, $call->{who}") if @runs && $first <= $runs[-1][1];
        push @runs, $run;
        $oracle->{numbers} += $count;
    }
    @{$call}{qw(least greatest)} = ($runs[0][0], $runs[-1][1]);
    return @runs;
}

sub judge_stream
{
    my ($oracle, $name, $calls) = @_;
    my $stream = $oracle->{streams}{$name} //= { greatest => -1, marks => [], recent => [] };
    my $layout = layout_of($name);
    my $stride = $layout ? $layout->{stride} : 1;
    my @runs;
    foreach my $call (@$calls)
    {
        # From here on numbers are above this one, which nobody need have seen.
        if ($call->{lead} eq 'floor') { $call->{greatest} = $call->{what}; next }
        my @of_call = read_runs($oracle, $name, $stride, $call);
        push @runs, @of_call;
        judge_times($oracle, $name, $layout, $call, \@of_call) if $layout;
    }
    judge_order($oracle, $name, $stream, $calls);
    @runs = sort { $a->[0] <=> $b->[0] } @runs;
    foreach my $at (1 .. $#runs)
    {
        my ($one, $other) = @runs[ $at - 1, $at ];
        wrong($oracle, "$name: $other->[0] was given twice: to $one->[2]{who} ($one->[2]{from} to $one->[2]{to}) and $other->[2]{who}"
              . " ($other->[2]{from} to $other->[2]{to})")
          if $other->[0] <= $one->[1];
    }
    keep($stream, $layout, @runs);
    return;
}

# Calls that had ended before another began gave lower numbers.
sub judge_order
{
    my ($oracle, $name, $stream, $calls) = @_;
    my @ended = sort { $a->{to} <=> $b->{to} } @$calls;
    my ($greatest, $by) = ($stream->{greatest}, undef);
    foreach my $call (sort { $a->{from} <=> $b->{from} } @$calls)
    {
        while (@ended && $ended[0]{to} < $call->{from})
        {
            my $before = shift @ended;
            ($greatest, $by) = ($before->{greatest}, $before) if $before->{greatest} > $greatest;
        }
        next if !defined $call->{least} || $call->{least} > $greatest;
        my $layout = layout_of($name);
        my $what = $layout ? sprintf ' (%s)', scalar gmtime time_of($layout, $call->{least}) : '';
        wrong($oracle, "$name: $call->{least}$what is not above $greatest, which was seen before: " . seen_by($stream, $call->{least}, $greatest, $by)
              . "; then $call->{who}, $call->{from} to $call->{to}");
        # One that is behind would have all that follow be told of.
        last;
    }
    $stream->{last_greatest} = $greatest;
    return;
}

sub seen_by
{
    my ($stream, $least, $greatest, $by) = @_;
    my ($same) = grep { $_->[0] <= $least && $least <= $_->[1] } @{ $stream->{recent} };
    return ($same ? "REPEATED, $same->[2]{who} has got it ($same->[2]{from} to $same->[2]{to}); " : '')
      . ($by ? "by $by->{who}, $by->{from} to $by->{to}" : 'in an earlier round');
}

# What is to be known of this round in the next: the greatest number; the greatest before each gap in time, which is the
# greatest again when what is above it turns out to be wild; and the last runs, for messages.
sub keep
{
    my ($stream, $layout, @runs) = @_;
    push @{ $stream->{recent} }, @runs;
    splice @{ $stream->{recent} }, 0, -300 if @{ $stream->{recent} } > 300;
    # What is numbered by others' floors.
    my $floor = delete $stream->{last_greatest} // -1;
    foreach my $run (@runs)
    {
        push @{ $stream->{marks} }, $stream->{greatest}
          if $layout && $stream->{greatest} >= 0 && time_of($layout, $run->[0]) > time_of($layout, $stream->{greatest}) + APART;
        $stream->{greatest} = $run->[1] if $run->[1] > $stream->{greatest};
    }
    $stream->{greatest} = $floor if $floor > $stream->{greatest};
    return;
}

# An ID's time is the clock's while the call went on, or ahead of it by the lead; and none of those that were stated.
sub judge_times
{
    my ($oracle, $name, $layout, $call, $runs) = @_;
    my ($database) = $name =~ m{^(\w+)/};
    my ($least, $most) = $oracle->{clock}->($call->{from}, $call->{to});
    my $unit = $layout->{unit} / 1_000_000;
    my ($first, $last) = (time_of($layout, $call->{least}), time_of($layout, $call->{greatest}));
    my $ranges = $oracle->{ranges}{$database} // [];
    my $ahead = reach_of($least, $most, $call->{lead}, $ranges);
    wrong($oracle, sprintf '%s: ID %s is %.3f s behind the clock, %s', $name, $call->{least}, $least - $first, $call->{who})
      if $first + $unit < $least - SLACK;
    wrong($oracle, sprintf '%s: ID %s is %.3f s ahead of the clock, and may be by %.3f s, %s', $name, $call->{greatest}, $last - $most,
        $ahead - $most, $call->{who})
      if $last > $ahead + SLACK;
    foreach my $range (@$ranges)
    {
        next if $last + $unit <= $range->[0] || $first >= $range->[1];
        foreach my $run (@$runs)
        {
            my ($from, $to) = (time_of($layout, $run->[0]), time_of($layout, $run->[1]) + $unit);
            next if $to <= $range->[0] + 0.001 || $from >= $range->[1] - 0.001;
            wrong($oracle, sprintf '%s: ID %s is in a time that was said to be wild, %.3f to %.3f: %.3f, %s', $name, $run->[0], @$range, $from, $call->{who});
            last;
        }
    }
    use_times($oracle, $database, $layout, $first, $last + $unit);
    return;
}

# How far IDs may be: while they step over a wild time, by what is left of it, and what the clock has gone since. A clock
# that is set back into one may let them go further than the later one did: it showed any time from $least to $most.
sub reach_of
{
    my ($least, $most, $lead, $ranges) = @_;
    my $reach = $most + $lead;
    my $early = 3600 + 10 + 3;
    foreach my $range (sort { $a->[0] <=> $b->[0] } @$ranges)
    {
        my ($from, $until) = @$range;
        next if $from - $early > $reach || $least > $until + 1;
        my $in = $most < $until + 1 ? $most : $until + 1;
        my $over = $until + ($in > $from - $early ? $in - $from + $early : 0) + $lead + 3;
        $reach = $over if $over > $reach;
    }
    return $reach;
}

# Times that IDs have, per database: stretches that are apart. Of long units those are kept apart that lie ahead.
sub use_times
{
    my ($oracle, $database, $layout, $from, $to) = @_;
    my $used = $oracle->{used}{$database} //= [];
    if ($layout && $layout->{unit} > 1_000_000) { $oracle->{units}{$database}{$from} = $to; return }
    my $last = $used->[-1];
    if ($last && $from >= $last->[0] - APART && $from <= $last->[1] + APART)
    {
        $last->[0] = $from if $from < $last->[0];
        $last->[1] = $to if $to > $last->[1];
        return;
    }
    push @$used, [ $from, $to ];
    return;
}

# Stretches of time that a database has used, in order, joined where they are near; `more` are others to add.
sub used_times
{
    my ($oracle, $database, $now, @more) = @_;
    my $units = $oracle->{units}{$database} // {};
    my @all = sort { $a->[0] <=> $b->[0] } @{ $oracle->{used}{$database} // [] }, @more,
      map { [ $_, $units->{$_} ] } grep { $_ > $now } keys %$units;
    my @joined;
    foreach my $stretch (@all)
    {
        if (@joined && $stretch->[0] <= $joined[-1][1] + APART)
        {
            $joined[-1][1] = $stretch->[1] if $stretch->[1] > $joined[-1][1];
            next;
        }
        push @joined, [@$stretch];
    }
    $oracle->{used}{$database} = [ grep { $_->[1] - $_->[0] < 1e9 } @joined ] if !@more && !%$units;
    return @joined;
}

# The database was told, when the clock was `now`, that these times are wild: IDs go on above those before them.
sub rewound
{
    my ($oracle, $database, $now, $ranges) = @_;
    $oracle->{ranges}{$database} = $ranges;
    my $until = $now + 2.6;
    foreach my $name (grep { m{^$database/} } keys %{ $oracle->{streams} })
    {
        my $layout = layout_of($name) or next;
        my $stream = $oracle->{streams}{$name};
        my @right = grep { $_ >= 0 && time_of($layout, $_) <= $until } @{ $stream->{marks} }, $stream->{greatest};
        $stream->{greatest} = -1;
        foreach (@right) { $stream->{greatest} = $_ if $_ > $stream->{greatest} }
        @{ $stream->{marks} } = @right;
    }
    begin_again($oracle, 1);
    return;
}

# The server has started: what databases share goes by the clock, and by the ceiling of who is the first.
sub restarted { my ($oracle) = @_; begin_again($oracle, 0); return }

sub begin_again
{
    my ($oracle, $is_rewound) = @_;
    foreach my $kind (values %{ $oracle->{random} })
    {
        push @{ $kind->{earlier} }, delete $kind->{now} if $kind->{now};
            # Where IDs step over wild times the database's own are above its UUIDs, which go by the clock.
        delete $kind->{of}{$_} foreach grep { $is_rewound || @{ $oracle->{ranges}{$_} // [] } } keys %{ $kind->{of} // {} };
        $kind->{greatest} = '';
    }
    return;
}

# UUIDs and ObjectIDs: of all databases while the server runs; of one also afterwards. They are as many digits, always.
sub judge_random
{
    my ($oracle, $kind, $stream, $calls) = @_;
    my $known = $oracle->{random}{$kind} //= { greatest => '', earlier => [] };
    my ($database) = $stream =~ m{^(\w+)/};
    push @{ $known->{round} }, @$calls;
    my $greatest = $known->{of}{$database} //= '';
    foreach my $call (@$calls)
    {
        my @ids = split /,/, $call->{what};
        $call->{ids} = \@ids;
        ($call->{least}, $call->{greatest}) = @ids[ 0, -1 ];
        $oracle->{numbers} += @ids;
        foreach my $at (1 .. $#ids) { wrong($oracle, "$stream: $ids[$at] after $ids[ $at - 1 ] in one call, $call->{who}") if $ids[$at] le $ids[ $at - 1 ] }
        wrong($oracle, "$stream: $ids[0] is not above $greatest of an earlier round, $call->{who}") if $ids[0] le $greatest;
        $known->{of}{$database} = $ids[-1] if $ids[-1] gt $known->{of}{$database};
    }
    return;
}

# Once a round, when all databases have been read.
sub end_random
{
    my ($oracle, $kind) = @_;
    my $known = $oracle->{random}{$kind} or return;
    my @calls = @{ delete $known->{round} // [] } or return;
    my @ended = sort { $a->{to} <=> $b->{to} } @calls;
    my $greatest = $known->{greatest};
    foreach my $call (sort { $a->{from} <=> $b->{from} } @calls)
    {
        while (@ended && $ended[0]{to} < $call->{from})
        {
            my $before = shift @ended;
            $greatest = $before->{greatest} if $before->{greatest} gt $greatest;
        }
        # What databases share has begun anew where the server has crashed in the middle of a round.
        wrong($oracle, "$kind: $call->{least} is not above $greatest, $call->{who}, $call->{from} to $call->{to}")
          if $call->{least} le $greatest && !$oracle->{has_crashed};
    }
    my @ids = sort map { @{ $_->{ids} } } @calls;
    my $last = '';
    foreach my $id (@ids)
    {
        wrong($oracle, "$kind: $id was given twice") if $id eq $last || grep { is_among($id, $_) } @{ $known->{earlier} }, $oracle->{has_crashed} ? $known->{now} : ();
        $last = $id;
    }
    if ($oracle->{has_crashed} && defined $known->{now}) { push @{ $known->{earlier} }, delete $known->{now} }
    $known->{now} .= join '', @ids;
    $known->{greatest} = $last if $last gt $known->{greatest};
    return;
}

# Whether an ID is in a sorted string of such.
sub is_among
{
    my ($id, $sorted) = @_;
    return 0 if !defined $sorted;
    my $width = length $id;
    my ($from, $to) = (0, length($sorted) / $width);
    return 0 if $to == 0 || substr($sorted, -$width) lt $id;
    while ($from < $to)
    {
        my $middle = ($from + $to) >> 1;
        if (substr($sorted, $middle * $width, $width) lt $id) { $from = $middle + 1 }
        else { $to = $middle }
    }
    return substr($sorted, $from * $width, $width) eq $id;
}

# Two sequences that draw from one source have no number in common.
sub judge_hubs
{
    my ($oracle, $calls) = @_;
    end_random($oracle, $_) foreach qw(uuid objectid);
    my %new;
    foreach my $stream (grep { m{/hub_} } keys %$calls)
    {
        my ($database) = $stream =~ m{^(\w+)/};
        foreach my $call (grep { $_->{lead} ne 'floor' } @{ $calls->{$stream} })
        {
            foreach (split /,/, $call->{what}) { my ($first, $count) = split /:/; push @{ $new{$database} }, [ $first, $first + $count - 1 ] }
        }
    }
    foreach my $database (sort keys %new)
    {
        my @joined;
        foreach my $run (sort { $a->[0] <=> $b->[0] } @{ $oracle->{hubs}{$database} // [] }, @{ $new{$database} })
        {
            wrong($oracle, "$database: $run->[0] came from the source twice") if @joined && $run->[0] <= $joined[-1][1];
            if (@joined && $run->[0] == $joined[-1][1] + 1) { $joined[-1][1] = $run->[1] }
            else { push @joined, [@$run] }
        }
        $oracle->{hubs}{$database} = \@joined;
    }
    return;
}

# A database is gone.
sub forget_database
{
    my ($oracle, $database) = @_;
    delete $oracle->{$_}{$database} foreach qw(used units ranges hubs);
    delete $oracle->{streams}{$_} foreach grep { m{^$database/} } keys %{ $oracle->{streams} };
    return;
}

1;
