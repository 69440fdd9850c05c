# Every step of `make test-watermark` once but a failover: no poller by watermarks misses a row, or reads one twice or out of
# order, while one by the last ID misses some. SNOWID_SEED chooses what writers do.

use strict;
use warnings;

use lib 'test/watermark';

# What PostgreSQL::Test prepares before a program begins is too late in one that is loaded by then.
use PostgreSQL::Test::Cluster;

@ARGV = ('once', $ENV{SNOWID_SEED} // 1);
do './test/watermark/run.pl' or die $@ || $!;
