# What was ever seen of IDs, by whom and when, and whether it may come again.
#
# Of each layout and shard it keeps runs of keys, which are IDs without their shard: consecutive for as long as units of
# time are full. There are those of whoever has the shard, which nobody may see again. And there are loose ones: of a
# clone that has not checked, or a server that was restored and not advanced, which guarantees.md lets repeat what was
# drawn since they parted, and be repeated, until IDs go on above all that they can have made: then they are sealed.

package ClusterOracle;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(LAYOUTS layout_of new_oracle keys_of record_ids record_loose record_numbers seal mark_of id_above);

my $epoch = 1577836800;
my %layouts = (
    milliseconds => { text => 'instagram', seq => 10, unit => 0.001, epoch => 1314220021.721 },
    seconds => { text => 'time:31 shard:13 seq:19 unit:1s epoch:2020-01-01T00:00:00Z', seq => 19, unit => 1, epoch => $epoch },
    minutes => { text => 'time:25 shard:13 seq:25 unit:60s epoch:2020-01-01T00:00:00Z', seq => 25, unit => 60, epoch => $epoch },
    # Of which so few fit into a unit that who draws fast is ahead of the clock; drawn where that is wanted.
    few => { text => 'time:46 shard:13 seq:4 unit:1ms epoch:2020-01-01T00:00:00Z', seq => 4, unit => 0.001, epoch => $epoch });

use constant { LAYOUTS => [qw(milliseconds seconds minutes)], SHARD_BITS => 13 };

sub layout_of { my ($name) = @_; return $layouts{$name} }

# figures: what is counted; next: number of the next record.
sub new_oracle { return { sets => {}, next => 1, ids => 0, loose => 0, allowed => 0, numbers => 0 } }

sub set_of
{
    my ($oracle, $layout, $shard) = @_;
    return $oracle->{sets}{$layout}{$shard} //= { runs => [], loose => [], greatest => -1 };
}

# The keys of IDs in the order in which a session has got them. Dies where they are not in order, of another shard, or
# beyond `latest` (Unix seconds), which is what the clock allows.
sub keys_of
{
    my ($layout, $shard, $latest, @ids) = @_;
    my ($seq, $mask) = ($layouts{$layout}{seq}, (1 << $layouts{$layout}{seq}) - 1);
    my $low = $shard << $seq;
    my $part = ((1 << SHARD_BITS) - 1) << $seq;
    my ($last, @keys) = (-1);
    foreach my $id (@ids)
    {
        die "$layout: ID $id of shard $shard after $last of the same session\n" if $id <= $last;
        die sprintf("%s: ID %s of shard %d, not %d\n", $layout, $id, ($id & $part) >> $seq, $shard) if ($id & $part) != $low;
        $last = $id;
        push @keys, ($id >> ($seq + SHARD_BITS) << $seq) | ($id & $mask);
    }
    my $time = time_of($layout, $keys[-1]);
    die sprintf("%s: ID %s of shard %d is %.3f s further ahead of the clock than it may be\n", $layout, $last, $shard, $time - $latest)
      if $time > $latest + 0.05;
    return \@keys;
}

sub time_of
{
    my ($layout, $key) = @_;
    return $layouts{$layout}{epoch} + ($key >> $layouts{$layout}{seq}) * $layouts{$layout}{unit};
}

# The ID of a shard that follows another one, in its own layout.
sub id_above
{
    my ($layout, $id) = @_;
    my $seq = $layouts{$layout}{seq};
    my $shard = $id >> $seq & ((1 << SHARD_BITS) - 1);
    my $key = (($id >> ($seq + SHARD_BITS) << $seq) | ($id & ((1 << $seq) - 1))) + 1;
    return ($key >> $seq << ($seq + SHARD_BITS)) | ($shard << $seq) | ($key & ((1 << $seq) - 1));
}

# Runs of sorted keys. Dies where one comes twice.
sub runs_of
{
    my ($what, @keys) = @_;
    my @runs;
    foreach my $key (@keys)
    {
        if (@runs && $key == $runs[-1][1]) { die "$what: key $key has come twice at once\n" }
        if (@runs && $key == $runs[-1][1] + 1) { $runs[-1][1] = $key }
        else { push @runs, [ $key, $key ] }
    }
    return @runs;
}

# Those of sorted runs that have keys in common with one.
sub overlapping
{
    my ($runs, $run) = @_;
    my ($from, $to) = (0, scalar @$runs);
    while ($from < $to)
    {
        my $middle = ($from + $to) >> 1;
        if ($runs->[$middle][1] < $run->[0]) { $from = $middle + 1 }
        else { $to = $middle }
    }
    my @found;
    while ($from < @$runs && $runs->[$from][0] <= $run->[1]) { push @found, $runs->[ $from++ ] }
    return @found;
}

sub insert
{
    my ($runs, $run) = @_;
    if (!@$runs || $runs->[-1][1] < $run->[0]) { push @$runs, $run; return }
    my ($from, $to) = (0, scalar @$runs);
    while ($from < $to)
    {
        my $middle = ($from + $to) >> 1;
        if ($runs->[$middle][0] < $run->[0]) { $from = $middle + 1 }
        else { $to = $middle }
    }
    splice @$runs, $from, 0, $run;
    return;
}

sub common
{
    my ($one, $other) = @_;
    my ($low, $high) = ($one->[0] > $other->[0] ? $one->[0] : $other->[0], $one->[1] < $other->[1] ? $one->[1] : $other->[1]);
    return $high - $low + 1;
}

sub repeat
{
    my ($layout, $shard, $run, $who, $found) = @_;
    return sprintf "%s, shard %d: %d IDs from key %d (%s) of %s were seen before by %s (record %d)\n", $layout, $shard,
      common($run, $found), ($run->[0] > $found->[0] ? $run->[0] : $found->[0]),
      scalar(gmtime time_of($layout, $run->[0])), $who, $found->[3], $found->[2];
}

# Keeps what whoever has the shard has drawn: keys of sessions that have drawn at the same time. All are above what was
# drawn before, unless order does not matter.
sub record_ids
{
    my ($oracle, $layout, $shard, $who, $keys, %options) = @_;
    my $set = set_of($oracle, $layout, $shard);
    my $number = $oracle->{next}++;
    my $before = $set->{greatest};
    foreach my $run (runs_of("$layout, shard $shard, $who", sort { $a <=> $b } @$keys))
    {
        push @$run, $number, $who;
        my ($found) = overlapping($set->{runs}, $run);
        die repeat($layout, $shard, $run, $who, $found) if $found;
        die sprintf("%s, shard %d: key %d of %s is below %d, which was seen before\n", $layout, $shard, $run->[0], $who, $before)
          if $run->[0] < $before && !$options{any_order};
        $oracle->{allowed} += common($run, $_) foreach overlapping($set->{loose}, $run);
        insert($set->{runs}, $run);
        $set->{greatest} = $run->[1] if $set->{greatest} < $run->[1];
    }
    $oracle->{ids} += @$keys;
    return;
}

# A moment, for record_loose.
sub mark_of { return $_[0]{next}++ }

# Keeps what one has drawn who may repeat what was drawn since `mark`.
sub record_loose
{
    my ($oracle, $layout, $shard, $who, $keys, $mark) = @_;
    my $set = set_of($oracle, $layout, $shard);
    my $number = $oracle->{next}++;
    foreach my $run (runs_of("$layout, shard $shard, $who", sort { $a <=> $b } @$keys))
    {
        push @$run, $number, $who;
        foreach my $found (overlapping($set->{runs}, $run))
        {
            die 'which may repeat nothing from before it parted: ' . repeat($layout, $shard, $run, $who, $found)
              if $found->[2] < $mark;
            $oracle->{allowed} += common($run, $found);
        }
        # Loose runs may overlap, and are few: so they are kept apart from one another.
        add_apart($set->{loose}, $run);
    }
    $oracle->{loose} += @$keys;
    return;
}

# Adds those parts of a run that are in none of the others.
sub add_apart
{
    my ($runs, $run) = @_;
    my ($low, $high, @rest) = @$run;
    foreach my $found (overlapping($runs, $run))
    {
        insert($runs, [ $low, $found->[0] - 1, @rest ]) if $low < $found->[0];
        $low = $found->[1] + 1;
    }
    insert($runs, [ $low, $high, @rest ]) if $low <= $high;
    return;
}

# Keeps numbers that are no IDs: nobody gets one of the same counter again.
sub record_numbers
{
    my ($oracle, $counter, $who, @numbers) = @_;
    my $runs = set_of($oracle, 'numbers', $counter)->{runs};
    foreach my $run (runs_of("$counter, $who", sort { $a <=> $b } @numbers))
    {
        my ($found) = overlapping($runs, $run);
        die "$counter: number $found->[0] to $found->[1] of $found->[2] were seen before, and $who gets $run->[0] to $run->[1]\n" if $found;
        insert($runs, [ @$run, $who ]);
    }
    $oracle->{numbers} += @numbers;
    return;
}

# From now on nobody may repeat what is loose of these shards either.
sub seal
{
    my ($oracle, @shards) = @_;
    foreach my $layout (keys %layouts)
    {
        foreach my $set (map { set_of($oracle, $layout, $_) } @shards)
        {
            foreach my $run (splice @{ $set->{loose} })
            {
                add_apart($set->{runs}, $run);
                $set->{greatest} = $run->[1] if $set->{greatest} < $run->[1];
            }
        }
    }
    return;
}

1;
