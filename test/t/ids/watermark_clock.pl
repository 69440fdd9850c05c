# A watermark ahead of the clock takes time from the other shards of the database. However often, and by whomever, it is called,
# these are a unit or two ahead of the clock, or as far as a burst went; and nobody is held back for good.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('watermark_clock', sql => <<'SQL');
CREATE ROLE app LOGIN;
CREATE TABLE events (id bigint PRIMARY KEY DEFAULT snowid_next(5));
CREATE FUNCTION ahead(id bigint) RETURNS int VOLATILE LANGUAGE sql AS
  $$ SELECT round(extract(epoch FROM snowid_timestamp(id) - clock_timestamp()) * 1000) $$;
SELECT snowid_next(shard) FROM generate_series(0, 9) AS shard;
SQL
my ($reader, $writer, $attacker) = (open_session($node), open_session($node), open_session($node, user => 'app'));
my $take = q(SELECT snowid_watermark('events'));

# Waits for the clock of two milliseconds and more have an event.
sub clock_waits { wait_until_waiting($node, $reader, 'Extension'); return }

# A session whose wait for the clock is cancelled.
sub is_cancelled
{
    my ($name, $session) = @_;
    $node->safe_psql('postgres', "SELECT pg_cancel_backend($session->{backend})");
    is(answer($session), 'ERROR 57014', "$name is cancelled");
    return;
}

# Inserts so many rows at once. Returns the greatest ID.
sub burst { return ask($writer, "WITH burst AS (INSERT INTO events SELECT FROM generate_series(1, $_[0]) RETURNING id) SELECT max(id) FROM burst") }

# Past all that was issued.
my $now = time + 10;
stop_clock($now, $node);
my $id = burst(1);
is(ask($reader, $take), $id, 'the last ID is covered at once');

# A role that may only connect draws and calls in turn, on a table of its own. Each round would move the shards below that which
# has issued last, and above all shard 0, one unit on.
ask($attacker, 'CREATE TEMPORARY TABLE mine (id bigint DEFAULT snowid_next(9))');
start_asking($attacker,
    q(DO $$ BEGIN FOR round IN 1 .. 200 LOOP PERFORM snowid_next(round % 9); PERFORM snowid_watermark('mine'); END LOOP; END $$));
foreach my $time ('at first', 'later')
{
    # Shorter waits than that have none. So long it would have taken to do all rounds.
    my $looks = 0;
    wait_for(sub { is_answered($attacker) || ++$looks > 20 }, 'the attacker to have gone far');
    cmp_ok(ask($writer, "SELECT ahead(snowid_next($_))"), '<=', 2, "$time shard $_ is not driven ahead by calls in a loop") foreach 0 .. 9;
    ok(!is_answered($attacker), "$time who calls in a loop waits");
    stop_clock($now += 0.1, $node);
}
is_cancelled('a short wait for the clock', $attacker);

# A burst is covered at once. What comes then, when the clock has reached the burst.
stop_clock($now += 10, $node);
my $burst = burst(100_000);
my $lead = ask($writer, "SELECT ahead($burst)");
cmp_ok($lead, '>', 80, 'a burst is ahead of the clock');
is(ask($reader, $take), $burst, 'and is covered at once');
my $next = burst(5_000);
start_asking($reader, $take);
clock_waits();
stop_clock($now + $lead / 2000, $node);
clock_waits();
ok(!is_answered($reader), 'what comes then waits for the clock');
# A clock that stands still may show a microsecond less than it was set to.
stop_clock($now + ($lead + 1) / 1000, $node);
cmp_ok(answer($reader), '>=', $next, 'until it has reached the burst');

burst(100_000);
start_asking($reader, $take);
clock_waits();
is_cancelled('the wait for the clock', $reader);
end_test($node);
