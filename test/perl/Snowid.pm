# What the TAP tests share. A test uses this module alone, and gets all that are named here, each of which has a subject of its
# own; Test::More and PostgreSQL::Test::Utils; and strict and warnings, as Test2::V0 has it.
package Snowid;

use strict;
use warnings;

use POSIX ();
use PostgreSQL::Test::Utils;
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
use Test::More;

use parent 'Exporter';

# A test that is ended, since it takes too long, stops its servers first: END blocks see to that, which perl leaves
# out where a signal ends it. They are not for the processes that a test forks.
my $test = $$;
$SIG{TERM} = sub { $$ == $test ? exit 143 : POSIX::_exit(143) };

# Where a test only has to see that something is wrong (make mutants), its first failure ends it.
if ($ENV{SNOWID_FIRST_FAILURE})
{
    my $ok = \&Test::Builder::ok;
    no warnings 'redefine';
    *Test::Builder::ok = sub {
        local $Test::Builder::Level = $Test::Builder::Level + 1;
        my $is_ok = $ok->(@_);
        exit 1 unless $is_ok || $$ != $test || $_[0]->in_todo;
        return $is_ok;
    };
}

our @EXPORT = (
    @SnowidServers::EXPORT, @SnowidSessions::EXPORT, @SnowidSources::EXPORT, @SnowidChecks::EXPORT,
    @SnowidLibrary::EXPORT, @SnowidPages::EXPORT, @SnowidPortable::EXPORT, @SnowidPower::EXPORT, @SnowidPrefix::EXPORT, @SnowidWorkers::EXPORT,
    @SnowidCitus::EXPORT, @SnowidCounters::EXPORT, @SnowidCatalog::EXPORT, @PostgreSQL::Test::Utils::EXPORT, grep { /^\w/ } @Test::More::EXPORT);

sub import
{
    strict->import;
    warnings->import;
    goto &Exporter::import;
}

1;
