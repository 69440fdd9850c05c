# A clock that is some seconds off the real one, by test/modules/clock: for goals that look at it millions of times, and get
# signals meanwhile. libfaketime opens a file at each look; if PostgreSQL's handler of SIGALRM looks while a session does,
# that waits for its own lock for ever.
package SnowidClock;

use strict;
use warnings;

use Exporter 'import';
use File::Spec;
use PostgreSQL::Test::Utils;

our @EXPORT = qw(put_offset offset_clock);

my $scratch = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir());
my $library;

# Has the clock of a file be so many seconds ahead of the real one, for all processes that have it.
sub put_offset
{
    my ($path, $seconds) = @_;
    # In one piece, which all processes have mapped.
    open my $file, -e $path ? '+<' : '>', $path or die "$path: $!";
    syswrite $file, pack 'q', $seconds * 1e6;
    close $file;
    return;
}

# The environment in which a server has the clock of a file, and other libraries that are preloaded.
sub offset_clock
{
    my ($path, @others) = @_;
    if (!defined $library)
    {
        $library = "$scratch/clock.so";
        system_or_bail('gcc', '-shared', '-fPIC', '-O1', '-o', $library, 'test/modules/clock/clock.c', '-ldl');
    }
    return (LD_PRELOAD => join(':', grep { defined } $ENV{LD_PRELOAD}, $library, @others), SNOWID_CLOCK => $path);
}

1;
