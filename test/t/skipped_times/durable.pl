# What snowid.return_to_clock() says counts at once and is durable when it returns, whatever becomes of the transaction, of a wait for a
# standby, and of the server; a standby has it. What is written ahead, and not durable yet, does not become the ceiling by it.

use Snowid;
use SnowidSkippedTimes;

my $node = start_skipping('durable', allows_streaming => 1, conf => "synchronous_commit = off\n");

# A database where shard 1, and nobody else, has an ID of a clock that was an hour ahead.
sub run_ahead
{
    my ($name) = @_;
    new_database($name);
    set_clock(3600);
    my $id = at($name, 'INSERT INTO ids SELECT snowid_next(1) RETURNING id');
    set_clock(0);
    return $id;
}
my $call = "SELECT 'stated' FROM snowid.return_to_clock(" . ahead(1000, 7300) . ')';

run_ahead('rolled_back');
my $caller = open_session($node, dbname => 'rolled_back');
ask($caller, 'BEGIN');
is(ask($caller, $call), 'stated', 'in a transaction');
check_by_clock('rolled_back', 'others begin at once');
like(ask($caller, 'ROLLBACK; SELECT snowid_next(1)'), qr/^\d+$/, 'rolled back: IDs go on');
close_session($caller);

my $wild = run_ahead('crashed');
$caller = open_session($node, dbname => 'crashed');
is(ask($caller, "BEGIN; SET synchronous_commit = off; $call"), 'stated', 'before a crash');
crash_and_start($node, 'kill');
check_by_clock('crashed', 'after a crash');
is($node->safe_psql('crashed', "SELECT count(*) FROM snowid.skipped_times WHERE skipped @> snowid_timestamp($wild)"), 1, 'after a crash: known');

run_ahead('canceled');
my $held = hold_commits($node);
$caller = open_session($node, dbname => 'canceled');
start_waiting($caller, $call, 'SyncRep');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($caller->{backend})");
is(answer($caller), 'ERROR 57014', 'who waits for a standby can be canceled');
close_session($caller);
release_commits($node, $held);
check_by_clock('canceled', 'it has happened all the same');

# A session has written ahead of what is durable, and need not wait; who draws above that waits.
restart_at(0);
new_database('ahead');
$node->safe_psql('ahead', 'ALTER DATABASE ahead SET synchronous_commit = on');
my $ceiling = $node->safe_psql('ahead', 'SELECT extract(epoch FROM snowid_ceiling())');
$held = hold_commits($node);
stop_clock($ceiling - 0.1, $node);
like(at('ahead', 'SELECT snowid_next(1)'), qr/^\d+$/, 'a session writes ahead');
my $teller = open_session($node, dbname => 'ahead');
start_waiting($teller, "SELECT 'stated' FROM snowid.return_to_clock(" . ahead(9000, 9001) . ')', 'SyncRep');
stop_clock($ceiling + 0.1, $node);
my $drawing = open_session($node, dbname => 'ahead');
start_asking($drawing, 'SELECT snowid_next(1)');
wait_for(sub { is_answered($drawing) || $node->safe_psql('postgres', "SELECT wait_event FROM pg_stat_activity WHERE pid = $drawing->{backend}") eq 'SyncRep' }, 'who draws');
ok(!is_answered($drawing), 'who draws above what is durable waits');
release_commits($node, $held);
is(answer($teller), 'stated', 'stated');
like(answer($drawing), qr/^\d+$/, 'and an ID');
close_session($teller, $drawing);

set_clock(0);
my $standby = new_standby($node, 'standby');
start_server($standby);
$wild = run_ahead('standby');
check_stated('standby', 'on the primary');
$node->wait_for_catchup($standby);
is($standby->safe_psql('standby', 'SELECT count(*) FROM snowid.skipped_times'), 1, 'a standby shows the times');
is(attempt($standby, $call, dbname => 'standby'), 'ERROR 25006', 'and takes none');
crash($node, 'kill');
$standby->promote;
cmp_ok(attempt($standby, q(SET snowid.max_wait = '9s'; SELECT snowid_next(1)), dbname => 'standby'), '<', $wild, 'promoted: by the clock');
end_test($standby);
