# After snowid.advance_past no ID of the database, of any kind or shard, has a time up to that moment: not after a crash, nor where
# the transaction that has called it is rolled back, though it has made the ceiling's sequence, nor where the clock goes back
# meanwhile. And snowid_ceiling says a time that no ID is above.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = new_quiet_server('node');
start_server($node);
$node->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE DATABASE other; CREATE ROLE anybody LOGIN');
$node->safe_psql('other', 'CREATE EXTENSION snowid');

# A moment far above all that was issued, and above the ceiling, up to which who draws may be ahead of the clock.
my $far_ahead = q(SET snowid.max_lead = '10min');
my $seconds_ahead = 0;
sub ahead { $seconds_ahead += 20; return $node->safe_psql('postgres', "SELECT clock_timestamp() + interval '$seconds_ahead s'") }
sub advance { my ($to) = @_; return $node->safe_psql('postgres', "$far_ahead; SELECT snowid.advance_past(timestamptz '$to')") }

# Checks that sessions, one that has drawn and one that comes now, get IDs of every kind above a moment, also of a shard that
# nobody has used before.
my $old = open_session($node);
my $shard = 100;

sub check_above
{
    my ($name, $moment) = @_;
    my $seconds = 'time:31 shard:10 seq:22 unit:1s epoch:2020-01-01T00:00:00Z';
    $shard++;
    my $all = <<"SQL";
$far_ahead; SELECT snowid_timestamp(snowid_next(1)) > '$moment' AND snowid_timestamp(snowid_next($shard)) > '$moment'
   AND snowid_timestamp(snowid_next($shard, 'twitter'), 'twitter') > '$moment'
   AND snowid_timestamp(snowid_next(1, '$seconds'), '$seconds') > '$moment'
   AND snowid_uuid_timestamp(snowid_uuidv7()) >= date_trunc('milliseconds', '$moment'::timestamptz)
   AND objectid_timestamp(objectid_next()) > '$moment'
SQL
    is(ask($old, $all), 't', "$name, to a session that has drawn");
    is(attempt($node, $all), 't', "$name, to a new one");
    return;
}
ask($old, 'SELECT snowid_next(1), snowid_uuidv7(), objectid_next()');
my $moment = ahead();
advance($moment);
check_above('from now on', $moment);
is($node->safe_psql('other', "SELECT snowid_timestamp(snowid_next(1)) < '$moment'"), 't', 'other databases have their own');
foreach my $how ('kill', 'immediate')
{
    advance($moment = ahead());
    crash_and_start($node, $how);
    close_session($old);
    $old = open_session($node);
    check_above("after a crash ($how)", $moment);
}

# Where the clock goes back while it waits for the ceiling's lock.
my ($holder, $advancing) = map { open_session($node) } 1 .. 2;
ask($advancing, "$far_ahead; SELECT snowid_next(1)");
ask($holder, 'BEGIN; ALTER SEQUENCE snowid_internal.ceiling INCREMENT 1');
$moment = ahead();
start_waiting($advancing, "SELECT snowid.advance_past(timestamptz '$moment')", 'relation');
set_clock(-2);
ask($holder, 'ROLLBACK');
is(answer($advancing), '', 'advanced, with a clock that has gone back');
check_above('a clock that has gone back', $moment);
set_clock(0);
close_session($holder, $advancing);

# In a transaction that has made the sequence. What is rolled back has advanced the shards in memory.
foreach my $end ('ROLLBACK', 'COMMIT')
{
    my $session = open_session($node);
    ask($session, "$far_ahead; DROP EXTENSION snowid; BEGIN; CREATE EXTENSION snowid; SELECT snowid_next(1)");
    $moment = ahead();
    is(ask($session, "SELECT snowid.advance_past(timestamptz '$moment')"), '', "$end: advanced");
    ask($session, "$end; CREATE EXTENSION IF NOT EXISTS snowid");
    check_above("made and advanced: $end", $moment);
    close_session($session);
}

# The ceiling, read by anybody, while sessions draw.
my @drawing = map { draw($node, "snowid_next($_)", undef, setup => $far_ahead) } 1 .. 2;
wait_to_draw(20 * 5_000, @drawing);
stop_drawing([$node], @drawing);
my ($greatest) = sort { $b <=> $a } map { @{ ids($_) } } @drawing;
is($node->safe_psql('postgres', "SET ROLE anybody; SELECT snowid_ceiling() - snowid_timestamp($greatest) BETWEEN interval '0' AND interval '3 s'"),
    't', 'no ID is above the ceiling, which is no further than it must be');
end_test($node);
