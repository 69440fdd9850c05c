# What is drawn: layouts of IDs, with what an ID says of its time and shard; and runs of numbers, which is how they are
# written down: "first:count,first:count", each number greater by the stride of its kind.
package TortureKinds;

use strict;
use warnings;

use Exporter 'import';
use Time::HiRes ();

our @EXPORT = qw(SLOWLY %LAYOUTS layout_of time_of shard_of runs_of monotonic pick chance between);

# How many times as long a round lasts, and sessions wait: for a server under valgrind.
use constant SLOWLY => $ENV{SLOWLY} // 1;

sub pick { return $_[ rand @_ ] }
sub chance { return rand() < $_[0] }
sub between { my ($least, $most) = @_; return $least + rand($most - $least) }

# Seconds, by the clock that nobody sets.
sub monotonic { return Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) }

# Bits from the least: where the time begins, where the shard does and how many it has, the sequence's first. Units are in
# microseconds, epochs in seconds. reserve: the most that is reserved at once.
our %LAYOUTS = (
    instagram => { time => 23, shard => 10, shards => 13, unit => 1000, epoch => 1314220021.721, reserve => 1024 },
    twitter => { time => 22, shard => 12, shards => 10, unit => 1000, epoch => 1288834974.657, reserve => 4096 },
    # The sequence is before the shard.
    sonyflake => { time => 24, shard => 0, shards => 16, sequence => 16, unit => 10_000, epoch => 1409529600, reserve => 1 },
    micro => { bits => [ 53, 4, 6 ], name => '1us', unit => 1 },
    second => { bits => [ 31, 12, 20 ], name => '1s', unit => 1_000_000 },
    minute => { bits => [ 28, 10, 25 ], name => '1min', unit => 60_000_000 },
    hour => { bits => [ 22, 10, 31 ], name => '1h', unit => 3_600_000_000 });

foreach my $name (keys %LAYOUTS)
{
    my $layout = $LAYOUTS{$name};
    $layout->{sql} = $name;
    if (my $bits = $layout->{bits})
    {
        my ($time, $shard, $seq) = @$bits;
        $layout->{sql} = "time:$time shard:$shard seq:$seq unit:$layout->{name} epoch:2020-01-01T00:00:00Z";
        @{$layout}{qw(time shard shards epoch reserve)} = ($shard + $seq, $seq, $shard, 1_577_836_800, $seq > 10 ? 1024 : 1 << $seq);
    }
    $layout->{stride} = 1 << ($layout->{sequence} // 0);
}

# The layout of a stream: "database/layout/shard".
sub layout_of { my ($stream) = @_; return $stream =~ m{^\w+/(\w+)/} ? $LAYOUTS{$1} : undef }

# When an ID was made, in Unix seconds: the beginning of its unit.
sub time_of { my ($layout, $id) = @_; return $layout->{epoch} + ($id >> $layout->{time}) * $layout->{unit} / 1_000_000 }

sub shard_of { my ($layout, $id) = @_; return ($id >> $layout->{shard}) & ((1 << $layout->{shards}) - 1) }

# The runs of numbers as they came, or sorted. Those that come twice are left twice.
sub runs_of
{
    my ($stride, @numbers) = @_;
    my ($first, $count, @runs) = (shift(@numbers), 1);
    return '' if !defined $first;
    foreach my $number (@numbers)
    {
        if ($number == $first + $count * $stride) { $count++; next }
        push @runs, "$first:$count";
        ($first, $count) = ($number, 1);
    }
    return join ',', @runs, "$first:$count";
}

1;
