# snowid.return_to_clock() requires that nobody else is connected to the database and no transaction is prepared: others are counted, are not
# ended, and wait for nothing meanwhile.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use SnowidSkippedTimes;

my $node = start_skipping('alone', conf => "max_prepared_transactions = 5\n");
new_database('who');
my $call = 'SELECT snowid.return_to_clock(' . ahead(1000, 7300) . ')';
my $caller = open_session($node, dbname => 'who');
ask($caller, 'BEGIN; SELECT count(*) FROM pg_stat_activity');
my $other = open_session($node, dbname => 'who');
ask($caller, $call);
like($caller->{err}, qr/ERROR:  55006: .*Other sessions: 1\. Prepared transactions: 0\./s, 'another session');
is(ask($other, 'SELECT 1'), '1', 'goes on');
ask($other, q(BEGIN; INSERT INTO ids VALUES (1); PREPARE TRANSACTION 'prepared'));
close_session($caller, $other);
my ($status, $out, $err) = $node->psql('who', "\\set VERBOSITY verbose\n$call");
like($err, qr/ERROR:  55006: .*Prepared transactions: 1\./s, 'a prepared transaction');
$node->safe_psql('who', q(ROLLBACK PREPARED 'prepared'));

# A lock that another has: nobody who connects waits behind who tries.
my $holder = open_session($node);
ask($holder, 'BEGIN; COMMENT ON DATABASE who IS NULL');
$caller = open_session($node, dbname => 'who');
start_asking($caller, $call);
wait_for(sub { $node->safe_psql('postgres', "SELECT wait_event FROM pg_stat_activity WHERE pid = $caller->{backend}") eq 'PgSleep' }, 'who tries');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_locks WHERE pid = $caller->{backend} AND NOT granted"), 0, 'it is in no queue');
is(at('who', 'SELECT 1'), '1', 'others connect meanwhile');
is(answer($caller), 'ERROR 55P03', 'it gives up');
ask($holder, 'ROLLBACK');
close_session($holder, $caller);
check_stated('who', 'alone', ahead(1000, 7300));

# A transaction that has accepted a shard may yet roll that back.
new_database('moved');
$node->safe_psql('moved', q(SELECT snowid.release_shard(7); SET snowid.max_lead = '3h'; SELECT snowid.advance_past(clock_timestamp() + interval '1 hour')));
$caller = open_session($node, dbname => 'moved');
is(ask($caller, 'BEGIN; SELECT snowid.accept_shard(7, id + 8388608) FROM snowid.released_shards'), '', 'a shard is accepted');
is(ask($caller, $call), 'ERROR 55000', 'not in this transaction');
ask($caller, 'ROLLBACK');
is(ask($caller, $call), '', 'in one of its own');
is(ask($caller, 'SELECT snowid_next(7)'), 'ERROR 55000', 'the shard is closed as before');
end_test($node);
