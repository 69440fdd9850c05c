# tables/partitions, by UUIDs of version 7.
#
# Runs in make test-all: partitions_by_uuid has most of it.

use strict;
use warnings;

use Snowid;
use SnowidPartitions;

run_by_uuid('partitions');
