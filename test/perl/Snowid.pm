# What the TAP tests share. Each of the modules named here has a subject of its own; a test uses this one
# alone, and gets all of them.
package Snowid;

use strict;
use warnings;

use Exporter 'import';
use POSIX ();
use SnowidChecks;
use SnowidCatalog;
use SnowidCitus;
use SnowidCounters;
use SnowidLibrary;
use SnowidPages;
use SnowidPortable;
use SnowidPower;
use SnowidPrefix;
use SnowidServers;
use SnowidSessions;
use SnowidSources;
use SnowidWorkers;

# A test that is ended, since it takes too long, stops its servers first: END blocks see to that, which perl leaves
# out where a signal ends it. They are not for the processes that a test forks.
my $test = $$;
$SIG{TERM} = sub { $$ == $test ? exit 143 : POSIX::_exit(143) };

our @EXPORT = (
    @SnowidServers::EXPORT, @SnowidSessions::EXPORT, @SnowidSources::EXPORT, @SnowidChecks::EXPORT,
    @SnowidLibrary::EXPORT, @SnowidPages::EXPORT, @SnowidPortable::EXPORT, @SnowidPower::EXPORT, @SnowidPrefix::EXPORT, @SnowidWorkers::EXPORT,
    @SnowidCitus::EXPORT, @SnowidCounters::EXPORT, @SnowidCatalog::EXPORT);

1;
