# Every step of `make test-cluster` once, on its registry and four nodes, so that none is never run. SNOWID_SEED chooses what
# each does, where it may do one thing or another.
# Runs in make test-all: it has nine servers.

use strict;
use warnings;

use lib 'test/cluster';

# What PostgreSQL::Test prepares before a program begins is too late in one that is loaded by then.
use PostgreSQL::Test::Cluster;

# It names steps there, and tests here.
delete $ENV{ONLY};
@ARGV = ('once', $ENV{SNOWID_SEED} // 1);
do './test/cluster/run.pl' or die $@ || $!;
