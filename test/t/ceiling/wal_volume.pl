# What numbers and IDs cost on disk. How much WAL it takes: one record for so many numbers of a segment, or of a section's
# busiest key, as INCREMENT says; for IDs two at most for each snowid.ceiling_step that the ceiling goes on, since it is
# raised half of one early, however many IDs, shards and sessions there are. How far ahead of IDs that come seldom the
# ceiling is raised: such an ID waits for the disk only where none has come for about two seconds, for its raise of the
# ceiling rides on the next commit. Where IDs come often the ceiling is a step ahead and no more. The clock stands still,
# and is moved on by hand, so the IDs' times, and not the machine, say how far that is. That an ID waits for the disk is
# told by the place up to which the WAL is flushed.
#
# Runs in make test-all: it draws for long.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;
use Time::HiRes qw(time);

my $node = new_quiet_server('wal');
start_server($node);
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION snowid;
CREATE EXTENSION pg_walinspect;
CREATE SEQUENCE steady INCREMENT 1000;
CREATE SEQUENCE adapted INCREMENT 1000;
CREATE SEQUENCE inbox INCREMENT 10000;
CREATE TABLE photos (id bigint DEFAULT snowid_next(), n int);
SQL
my $now = int(time) + 1000;
stop_clock($now, $node);

sub insert_lsn { return $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()') }

# Has sessions draw at once, each so many results of an expression. Returns how many WAL records they
# have written: those of the sequence's page, whoever wrote them, and all that a call could have written
# besides.
sub records_of
{
    my ($name, $sequence, $rows, $setup, @expressions) = @_;
    my $page = $node->safe_psql('postgres', <<"SQL");
SELECT format('%%rel %%/%s/%s %%', oid, pg_relation_filenode('$sequence'))
FROM pg_database WHERE datname = current_database()
SQL
    my $from = insert_lsn();
    my @drawing = map { draw($node, $_, $rows, setup => $setup) } @expressions;
    finish(@drawing);
    my $until = insert_lsn();
    is(join('', map { slurp_file("$_->{file}.err") } @drawing), '', "$name: no error");
    is(join(' ', map { scalar @{ ids($_) } } @drawing), join(' ', map { $rows } @drawing), "$name: all are served");
    return 0 if $from eq $until;
    # Only what is on disk can be read, and not the last of it.
    $node->safe_psql('postgres', q(SELECT pg_logical_emit_message(true, 'the end', '')));
    return $node->safe_psql('postgres', <<"SQL");
SELECT count(*) FROM pg_get_wal_records_info('$from', '$until') WHERE block_ref LIKE '$page'
  OR resource_manager IN ('Generic', 'Sequence', 'Transaction', 'LogicalMessage')
SQL
}

sub check_between
{
    my ($name, $count, $least, $most) = @_;
    note("$name: $count");
    ok($count >= $least && $count <= $most, "$name: $least to $most") or diag("it is $count");
    return;
}

# 1. Counters. A block is allocated before the one before it is used up.
my $count = records_of('a segment', 'steady', 5_000, 'SET snowid.segment_adapt = off',
    map { q(snowid_segment_next('steady')) } 1 .. 4);
check_between('records for 20,000 numbers of a segment', $count, 20, 21);
$count = records_of('a segment that adapts', 'adapted', 5_000, '', map { q(snowid_segment_next('adapted')) } 1 .. 4);
check_between('records for 20,000 numbers of a segment that adapts', $count, 1, 21);
$count = records_of('batches of a segment', 'steady', 20_000, 'SET snowid.segment_adapt = off',
    q(n FROM snowid_segment_batch('steady', 20000) AS n));
check_between('records for batches of 20,000 numbers', $count, 19, 21);
# Every other draw is that of one key; the others have one number each.
my $key = '(CASE WHEN generate_series % 2 = 0 THEN 0 ELSE generate_series END)';
my @keyed = map { "snowid_section_next('inbox', $key)" } 1 .. 4;
$count = records_of('a section', 'inbox', 20_000, 'SET snowid.segment_adapt = off', @keyed);
check_between('records for 40,000 numbers of one of many keys', $count, 4, 5);
$count = records_of('a section that adapts', 'inbox', 20_000, '', @keyed);
check_between('records for 40,000 more', $count, 1, 5);

# 2. IDs within a millisecond.
my $ceiling = 'snowid_internal.ceiling';
# The first ID after a start of the server finds out what the ceiling is.
$node->safe_psql('postgres', 'SELECT snowid_next(0)');
stop_clock($now += 100, $node);
$count = records_of('300 shards', $ceiling, 30_000, 'SET snowid.max_lead = 0; SET snowid.max_wait = 0',
    map { 'snowid_next(generate_series % 300)' } 1 .. 4);
is($count, 1, 'one record for 120,000 IDs of a millisecond');
$count = records_of('the same shards', $ceiling, 30_000, 'SET snowid.max_lead = 0; SET snowid.max_wait = 0',
    map { 'snowid_next(generate_series % 300)' } 1 .. 4);
is($count, 0, 'none for 120,000 more of the same millisecond');

# 3. IDs that come seldom.
my $session = open_session($node);

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
sub ahead { return last_value($node, 'snowid_internal.ceiling') - sprintf('%.0f', $now * 1000) }

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
my $durable = last_value($node, 'snowid_internal.ceiling') / 1000;
my $locker = open_session($node);
ask($locker, 'BEGIN; ALTER SEQUENCE snowid_internal.ceiling INCREMENT 1');
stop_clock($durable - 0.02, $node);
like(ask($session, 'SELECT snowid_next()'), qr/^\d+$/, 'locked: who is just below the ceiling goes on');
stop_clock($now = $durable + 0.02, $node);
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
close_session($session);

# 4. With another step: after a pause it is never further ahead than five seconds, which is what callers wait for after a
# crash. And IDs whose times go on for ten seconds: two for each millisecond, of each shard.
my $slow = 'time:41 shard:13 seq:1 unit:1ms epoch:2020-01-01T00:00:00Z';
foreach my $step (2000, 1000, 5000, 100)
{
    reload_with($node, 'snowid.ceiling_step', $step < 1000 ? "${step}ms" : $step / 1000 . 's');
    $session = open_session($node);
    waits('COMMIT', 20);
    my $most = $step * 2.4 < 5000 ? $step * 2.4 : 5000;
    is(ahead(), $most, "a step of $step ms: $most ms ahead after a pause");
    close_session($session);

    stop_clock($now += 100, $node);
    $node->safe_psql('postgres', "SELECT snowid_next(0, '$slow')");
    my $began = last_value($node, $ceiling);
    $count = records_of("a step of $step ms", $ceiling, 40_000, q(SET snowid.max_lead = '20s'),
        map { "snowid_next($_ + generate_series % 2, '$slow')" } 10, 20, 30);
    my $advance = last_value($node, $ceiling) - $began;
    # The first ID came after a pause: the ceiling was up to so much ahead.
    check_between("a step of $step ms: how far ten seconds of IDs take the ceiling", $advance, 10_000 - $most, 10_000 + $step);
    check_between("a step of $step ms: records for that", $count, 1, int(2 * $advance / $step) + 1);
}

# 5. What a transaction that makes the extension raises the ceiling to counts as used when it commits. So that
# nobody has to wait for that, it is no further than the lead that is allowed.
reload_with($node, 'snowid.ceiling_step', '1s');
$node->safe_psql('postgres', 'DROP EXTENSION snowid CASCADE');
stop_clock($now += 100, $node);
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
