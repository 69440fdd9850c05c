# What the TAP tests share. Each of the modules named here has a subject of its own; a test uses this one
# alone, and gets all of them.
package Snowid;

use strict;
use warnings;

use Exporter 'import';
use SnowidChecks;
use SnowidCatalog;
use SnowidCitus;
use SnowidLibrary;
use SnowidPower;
use SnowidPrefix;
use SnowidServers;
use SnowidSessions;
use SnowidSources;
use SnowidWorkers;

our @EXPORT = (
    @SnowidServers::EXPORT, @SnowidSessions::EXPORT, @SnowidSources::EXPORT, @SnowidChecks::EXPORT,
    @SnowidLibrary::EXPORT, @SnowidPower::EXPORT, @SnowidPrefix::EXPORT, @SnowidWorkers::EXPORT, @SnowidCitus::EXPORT,
    @SnowidCatalog::EXPORT);

1;
