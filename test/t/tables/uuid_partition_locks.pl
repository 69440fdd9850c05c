# tables/partition_locks, by UUIDs of version 7.
#
# Runs in make test-all: as partition_locks.

use strict;
use warnings;

use Snowid;
use SnowidPartitions;

run_by_uuid('partition_locks');
