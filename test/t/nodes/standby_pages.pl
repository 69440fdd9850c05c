# What docs/runbook.md has of synchronous standbys of which none answers, and docs/replication.md of a failover with layouts of
# long units, followed to the letter.
# Runs in make test-all: it has three servers.

use Snowid;
use SnowidNodes;
use Time::HiRes qw(time);

my $page = 'docs/runbook.md';
my $primary = ready_server('primary', allows_streaming => 1, conf => "wal_sender_timeout = 0\nwal_receiver_timeout = 0\n");
my ($near, $far) = map { new_standby($primary, $_) } 'standby1', 'standby2';
start_server($_) foreach $near, $far;

# No standby answers. One of the two is down, the one that commits wait for.
my $heading = 'No standby answers';
my ($empty, $behind, $again) = blocks_of($page, $heading);
my $ask = said_in($page, $heading, 'SELECT pg_is_in_recovery()');
wait_for(sub { $primary->safe_psql('postgres', 'SELECT count(*) FROM pg_stat_replication') eq '2' }, 'the standbys');
$primary->append_conf('postgresql.conf', "synchronous_standby_names = 'standby1'\n");
$primary->reload;
my $state = q(SELECT sync_state FROM pg_stat_replication WHERE application_name = 'standby1');
sub wait_for_state { my ($wanted) = @_; return wait_for(sub { $primary->safe_psql('postgres', $state) eq $wanted }, "the standby to be $wanted") }
wait_for_state('sync');
$near->stop;
my $waiting = open_session($primary);
# Past the ceiling.
set_clock(10);
start_waiting($waiting, 'SELECT snowid_shard(snowid_next(2))', 'SyncRep');
is(attempt($far, $ask), 't', 'a standby that is reachable');
ok(!is_answered($waiting), 'it waits');
follow($primary, 'the primary', $empty);
is(answer($waiting), '2', 'what waited goes on');
start_server($near);
$primary->wait_for_catchup($near);
like($primary->safe_psql('postgres', $behind), qr/^standby1\|streaming\|\d+$/m, 'the standby has caught up');
is($primary->safe_psql('postgres', $state), 'async', 'and is not waited for yet');
follow($primary, 'the primary', $again);
wait_for_state('sync');
is(ask($waiting, 'SELECT snowid_shard(snowid_next(2))'), '2', 'and draws go on');
close_session($waiting);

# Long units: an hour, which begins while the standby that is to be promoted is cut off.
my $hours = 'time:31 shard:16 seq:17 unit:1h epoch:2020-01-01T00:00:00Z';
my ($advance) = blocks_of('docs/replication.md', 'Long units of time');
$primary->wait_for_catchup($far);
cut_off($far, $primary);
# A later hour. Ten minutes of it are over, so it does not end meanwhile.
set_clock(7800 - (time + 7200) % 3600);
my %drawn = map { $_ => $primary->safe_psql('postgres', "SELECT snowid_next($_, '$hours')") } 5, 6;
crash($primary, 'immediate');
$far->promote;
is(attempt($far, "SELECT snowid_next(5, '$hours')"), $drawn{5}, 'the unit begins anew, with the same ID');
follow($far, '', $advance);
is(attempt($far, "SELECT snowid_next(6, '$hours')"), 'ERROR SN001', 'then not: it waits for the next one');
is(attempt($far, "SET snowid.max_lead = '61min'; SELECT snowid_next(6, '$hours') > $drawn{6} | 131071"), 't', 'or runs ahead by one');
is(attempt($far, 'SELECT snowid_shard(snowid_next(2))'), '2', 'others draw');
end_test($near, $far);
