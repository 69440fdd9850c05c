# IDs that come seldom: how far ahead of them the ceiling is raised, and what that costs. An ID waits for
# the disk only where none has come for about two seconds, for its raise of the ceiling rides on the next
# commit. Where IDs come often the ceiling is a step ahead and no more. The clock stands still, and is moved
# on by hand. That an ID waits for the disk is told by the place up to which the WAL is flushed.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;
use Time::HiRes qw(time);

my $node = new_quiet_server('lone');
start_server($node);
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION snowid;
CREATE TABLE photos (id bigint DEFAULT snowid_next(), n int);
SQL
my $session = open_session($node);
my $now = int(time) + 1000;

# Where the WAL is flushed up to.
sub flushed { return ask($session, 'SELECT pg_current_wal_flush_lsn()') }

# Moves the clock on, and has one row inserted in a transaction. Returns whether its ID has waited for
# the disk.
sub insert_after
{
    my ($pause, $end) = @_;
    $now += $pause;
    stop_clock($now, $node);
    ask($session, 'BEGIN');
    my $before = flushed();
    ask($session, 'INSERT INTO photos VALUES (DEFAULT, 1)');
    my $after = flushed();
    is(ask($session, $end), '', "$end after $pause s");
    return $before ne $after;
}

# How many of the inserts after these pauses have waited.
sub waits
{
    my ($end, @pauses) = @_;
    return scalar grep { $_ } map { insert_after($_, $end) } @pauses;
}

# How far the ceiling is ahead of the clock, in milliseconds.
sub ahead { return last_value($node, 'snowid.ceiling') - sprintf('%.0f', $now * 1000) }

foreach my $pause (0.3, 0.7, 1.1, 1.8)
{
    waits('COMMIT', 10);
    is(waits('COMMIT', ($pause) x 8), 0, "every $pause s: none waits for the disk");
    cmp_ok(ahead(), '<=', 2400, "every $pause s: the ceiling is 2.4 s ahead at most");
}
is(waits('COMMIT', (10) x 5), 5, 'every 10 s: each waits');
is(ahead(), 2400, 'every 10 s: the ceiling is 2.4 s ahead');

# What was written ahead is not published before it is durable: nobody has flushed it. (Nor does the WAL writer,
# which flushes a page that is full: at the beginning of a segment there is room in it.)
ask($session, 'SELECT pg_switch_wal()');
waits('COMMIT', 10);
is(waits('ROLLBACK', 0.7), 0, 'after a pause, rolled back: does not wait');
is(waits('ROLLBACK', 0.7, 0.7, 0.7), 1, 'nor do more of them, up to the ceiling that is durable');
waits('COMMIT', 10);
is(waits('ROLLBACK', 2.35), 0, 'just below the ceiling that is durable: does not wait');
is(waits('ROLLBACK', 0.1), 1, 'just above it: waits');

# Nor is it passed where somebody else has locked its sequence: who comes near it goes on without raising it, who is
# above it waits.
waits('COMMIT', 10);
my $ceiling = last_value($node, 'snowid.ceiling') / 1000;
my $locker = open_session($node);
ask($locker, 'BEGIN; ALTER SEQUENCE snowid.ceiling INCREMENT 1');
stop_clock($ceiling - 0.02, $node);
like(ask($session, 'SELECT snowid_next()'), qr/^\d+$/, 'locked: who is just below the ceiling goes on');
stop_clock($now = $ceiling + 0.02, $node);
backend_of($session);
start_asking($session, 'SELECT snowid_next()');
my $waits_for = "SELECT wait_event FROM pg_stat_activity WHERE pid = $session->{backend}";
wait_for(sub { is_answered($session) || $node->safe_psql('postgres', $waits_for) eq 'relation' }, 'who draws');
ok(!is_answered($session), 'locked: who is just above it waits');
ask($locker, 'ROLLBACK');
like(answer($session), qr/^\d+$/, 'locked: and draws');
close_session($locker);

# Where they come often: for three seconds, one each hundredth.
waits('COMMIT', 10);
ask($session, 'SET synchronous_commit = off');
foreach (1 .. 300)
{
    stop_clock($now += 0.01, $node);
    ask($session, 'SELECT snowid_next()');
}
cmp_ok(ahead(), '<=', 1000, 'every hundredth of a second: a step ahead at most');
cmp_ok(ahead(), '>', 0, 'and ahead');

# A burst after a pause borrows from the future, but does not push the ceiling further.
stop_clock($now += 10, $node);
ask($session, q(SET snowid.max_lead = '1s'; SELECT count(*) FROM snowid_next_batch(0, 1000000)));
cmp_ok(ahead(), '<=', 2400, 'a burst after a pause');

# With another step: never further than five seconds, which is what callers wait for after a crash.
foreach my $step (100, 2000, 5000)
{
    close_session($session);
    $node->append_conf('postgresql.conf', "snowid.ceiling_step = $step\n");
    $node->stop;
    start_server($node);
    $session = open_session($node);
    waits('COMMIT', 20);
    my $most = $step * 2.4 < 5000 ? $step * 2.4 : 5000;
    is(ahead(), $most, "a step of $step ms: $most ms ahead after a pause");
}

# What a transaction that makes the extension raises the ceiling to counts as used when it commits. So that
# nobody has to wait for that, it is no further than the lead that is allowed.
ask($session, 'DROP EXTENSION snowid CASCADE');
close_session($session);
$node->append_conf('postgresql.conf', "snowid.ceiling_step = 1s\n");
$node->stop;
stop_clock($now += 10, $node);
start_server($node);
$session = open_session($node);
ask($session, 'BEGIN; CREATE EXTENSION snowid');
like(ask($session, 'SELECT snowid_next()'), qr/^\d+$/, 'the transaction that makes the extension draws');
is(ask($session, 'COMMIT'), '', 'and commits');
stop_clock($now += 0.01, $node);
like(ask($session, 'SET snowid.max_wait = 0; SELECT snowid_next()'), qr/^\d+$/, 'who draws then does not wait');
close_session($session);
$node->stop;
check_log($node);
done_testing();
