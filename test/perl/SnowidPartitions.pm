# Tests of partitions by ID that are also run by UUIDs of version 7.
package SnowidPartitions;

use strict;
use warnings;

use Exporter qw(import);

our @EXPORT = qw(partition_key run_by_uuid);

my $is_by_uuid = 0;

# What tables are partitioned by: the type; a column of it, named id, with its constraint; its default; what gives the first
# key of a moment, and the time of a key; what stands for a key in a regular expression.
sub partition_key
{
    return $is_by_uuid
      ? {
        type => 'uuid', column => 'uuid CONSTRAINT is_version_7 CHECK (snowid_is_uuidv7(id))', next => 'snowid_uuidv7()',
        first_at => 'snowid_uuidv7_first_at', timestamp => 'snowid_uuid_timestamp', key => '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
      }
      : {
        type => 'bigint', column => 'bigint', next => 'snowid_next()', first_at => 'snowid_first_at', timestamp => 'snowid_timestamp',
        key => '\d+'
      };
}

# Runs a test of this family by UUIDs.
sub run_by_uuid
{
    my ($test) = @_;
    $is_by_uuid = 1;
    require "./test/t/tables/$test.pl";
    return;
}

1;
