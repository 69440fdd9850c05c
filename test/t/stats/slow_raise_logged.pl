# A raise of the ceiling that takes more than a second is counted, and the log tells of it.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use Time::HiRes qw(sleep);

my $node = ready_server('raise', allows_streaming => 1, sql => 'SELECT snowid_next(5)');
sub logged { return slurp_file($node->logfile) =~ /LOG:  raising the ceiling of IDs took \d{4,} ms/ }

set_clock(3600, $node);
my $raises = $node->safe_psql('postgres', 'SELECT ceiling_raises FROM snowid.stat_database');
my $held = hold_commits($node);
my $raising = open_session($node);
start_waiting($raising, 'SELECT snowid_next(5) > 0', 'SyncRep');
sleep 1.1;
ok(!logged(), 'not before it is over');
release_commits($node, $held);
is(answer($raising), 't', 'a standby that does not answer');
ok(logged(), 'the log is told');
is($node->safe_psql('postgres', "SELECT ceiling_raises > $raises, wal_flush_time > 1000 FROM snowid.stat_database"), 't|t', 'counted');
end_test($node);
