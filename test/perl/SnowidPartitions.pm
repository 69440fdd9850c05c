# What tables are partitioned by, in tests that go through both: IDs, or UUIDs of version 7.
package SnowidPartitions;

use strict;
use warnings;

use Exporter qw(import);

our @EXPORT = qw(partition_key);

# Of a type: a column of it, named id, with its constraint; its default; what gives the first key of a moment, and the time of a key.
my %keys = (
    bigint => { column => 'bigint', next => 'snowid_next()', first_at => 'snowid_first_at', timestamp => 'snowid_timestamp' },
    uuid => {
        column => 'uuid CONSTRAINT is_version_7 CHECK (snowid_is_uuidv7(id))', next => 'snowid_uuidv7()',
        first_at => 'snowid_uuidv7_first_at', timestamp => 'snowid_uuid_timestamp'
    });

sub partition_key { return $keys{ $_[0] } }

1;
