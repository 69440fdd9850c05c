# Where IDs come seldom, one waits for the disk only if none has come for about two seconds: its raise of the ceiling rides on the
# next commit. What was written ahead is not published before it is durable. How far ahead of the clock the ceiling is: 2.4 steps
# after a pause, and five seconds at most, which is what callers wait for after a crash; a step where IDs come often.
# Runs in make test-all: it draws for long.

use Snowid;
use Time::HiRes qw(time);

my $node = new_quiet_server('rare');
start_server($node);
$node->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE TABLE photos (id bigint DEFAULT snowid_next(), n int)');
# The clock stands still, and is moved on by hand: the IDs' times, and not the machine, say how far the ceiling goes.
my $now = int(time) + 1000;
stop_clock($now, $node);
my $session = open_session($node);

# Where the WAL is flushed up to tells whether an ID has waited for the disk.
sub flushed { return ask($session, 'SELECT pg_current_wal_flush_lsn()') }

# How many of the rows have waited that are inserted after these pauses, each in a transaction.
sub waits
{
    my ($end, @pauses) = @_;
    my $waited = 0;
    foreach my $pause (@pauses)
    {
        stop_clock($now += $pause, $node);
        ask($session, 'BEGIN');
        my $before = flushed();
        ask($session, 'INSERT INTO photos VALUES (DEFAULT, 1)');
        $waited++ if flushed() ne $before;
        ask($session, $end) eq '' or die $session->{err};
    }
    return $waited;
}

# How far the ceiling is ahead of the clock, in milliseconds.
sub ahead { return last_value($node, 'snowid_internal.ceiling') - sprintf('%.0f', $now * 1000) }

foreach my $pause (0.3, 0.7, 1.1, 1.8)
{
    waits('COMMIT', 10);
    is(waits('COMMIT', ($pause) x 8), 0, "every $pause s: none waits for the disk");
    cmp_ok(ahead(), '<=', 2400, "every $pause s: the ceiling is 2.4 s ahead at most");
}
is(waits('COMMIT', (10) x 5), 5, 'every 10 s: each waits');
is(ahead(), 2400, 'every 10 s: the ceiling is 2.4 s ahead');

# Nobody has flushed it: nor does the WAL writer, which flushes a page that is full, at the beginning of a segment.
ask($session, 'SELECT pg_switch_wal()');
waits('COMMIT', 10);
is(waits('ROLLBACK', 0.7), 0, 'after a pause, rolled back: does not wait');
is(waits('ROLLBACK', 0.7, 0.7, 0.7), 1, 'nor do more of them, up to the ceiling that is durable');
waits('COMMIT', 10);
is(waits('ROLLBACK', 2.35), 0, 'just below the ceiling that is durable: does not wait');
is(waits('ROLLBACK', 0.1), 1, 'just above it: waits');

# Where somebody else has locked its sequence, who comes near it goes on without raising it; who is above it waits.
waits('COMMIT', 10);
my $durable = last_value($node, 'snowid_internal.ceiling') / 1000;
my $locker = open_session($node);
ask($locker, 'BEGIN; ALTER SEQUENCE snowid_internal.ceiling INCREMENT 1');
stop_clock($durable - 0.02, $node);
like(ask($session, 'SELECT snowid_next()'), qr/^\d+$/, 'locked: who is just below the ceiling goes on');
stop_clock($now = $durable + 0.02, $node);
start_asking($session, 'SELECT snowid_next()');
my $waits_for = "SELECT wait_event FROM pg_stat_activity WHERE pid = $session->{backend}";
wait_for(sub { is_answered($session) || $node->safe_psql('postgres', $waits_for) eq 'relation' }, 'who draws');
ok(!is_answered($session), 'locked: who is just above it waits');
ask($locker, 'ROLLBACK');
like(answer($session), qr/^\d+$/, 'locked: and draws');
close_session($locker);

# Where they come often: for three seconds, one each hundredth. A burst after a pause borrows from the future, no more.
waits('COMMIT', 10);
ask($session, 'SET synchronous_commit = off');
foreach (1 .. 300)
{
    stop_clock($now += 0.01, $node);
    ask($session, 'SELECT snowid_next()');
}
ok(ahead() > 0 && ahead() <= 1000, 'every hundredth of a second: ahead by a step at most');
stop_clock($now += 10, $node);
ask($session, q(SET snowid.max_lead = '1s'; SELECT count(*) FROM snowid_next_batch(0, 1000000)));
cmp_ok(ahead(), '<=', 2400, 'a burst after a pause');

ask($session, 'SET synchronous_commit = on');
foreach my $step (2000, 5000, 100, 1000)
{
    reload_with($node, 'snowid.ceiling_step', $step < 1000 ? "${step}ms" : $step / 1000 . 's', $session);
    waits('COMMIT', 20);
    is(ahead(), $step * 2.4 < 5000 ? $step * 2.4 : 5000, "a step of $step ms: so far ahead after a pause");
}
close_session($session);

# What a transaction that makes the extension raises the ceiling to counts as used when it commits. So that nobody has to wait for
# that, it is no further than the lead that is allowed.
$node->safe_psql('postgres', 'DROP EXTENSION snowid CASCADE');
stop_clock($now += 100, $node);
like($node->safe_psql('postgres', 'BEGIN; CREATE EXTENSION snowid; SELECT snowid_next(); COMMIT'), qr/^\d+$/, 'who makes the extension draws');
stop_clock($now += 0.01, $node);
like(attempt($node, 'SET snowid.max_wait = 0; SELECT snowid_next()'), qr/^\d+$/, 'who draws then does not wait');
end_test($node);
