# Clocks of servers, by test/modules/clock: each is a file, which a test may change while the server runs.
package SnowidClock;

use strict;
use warnings;

use Exporter 'import';
use SnowidRun;

our @EXPORT = qw(put_offset put_time offset_clock);

# Has the clock of a file be so many seconds ahead of the real one, for all processes that have it.
sub put_offset
{
    my ($path, $seconds) = @_;
    put_value($path, sprintf '%.0f', $seconds * 1e6);
    return;
}

# Has it stand still at a Unix time, in seconds.
sub put_time
{
    my ($path, $seconds) = @_;
    # To the millisecond.
    put_value($path, (1 << 62) + 1000 * sprintf '%.0f', $seconds * 1e3);
    return;
}

sub put_value
{
    my ($path, $value) = @_;
    # In one piece, which all processes have mapped.
    open my $file, -e $path ? '+<' : '>', $path or die "$path: $!";
    syswrite $file, pack 'q', $value;
    close $file;
    return;
}

# The environment in which a server has the clock of a file, and other libraries that are preloaded.
sub offset_clock
{
    my ($path, @others) = @_;
    return (LD_PRELOAD => join(':', grep { defined } $ENV{LD_PRELOAD}, preload_library('clock'), @others), SNOWID_CLOCK => $path);
}

1;
