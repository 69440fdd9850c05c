# A watermark ahead of the clock takes time from the other shards of the database. However often, and by whomever, it is
# called, these are a unit or two ahead of the clock, or as far as a burst went; and nobody is held back for good.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('watermark_clock');
start_server($node);
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION snowid;
CREATE ROLE app LOGIN;
CREATE TABLE events (id bigint PRIMARY KEY DEFAULT snowid_next(5));
CREATE FUNCTION ahead(id bigint) RETURNS int VOLATILE LANGUAGE sql AS
  $$ SELECT round(extract(epoch FROM snowid_timestamp(id) - clock_timestamp()) * 1000) $$;
SELECT snowid_next(shard) FROM generate_series(0, 9) AS shard;
SQL
my ($reader, $writer, $attacker) = (open_session($node), open_session($node), open_session($node, user => 'app'));
backend_of($_) foreach $reader, $writer, $attacker;

# Waits for the clock of two milliseconds and more have an event.
sub clock_waits { wait_until_waiting($node, $_[0], 'Extension'); return }

# Past all that was issued.
my $now = time + 10;
stop_clock($now, $node);

# A reader need not wait for the clock to read what was just written.
my $id = ask($writer, 'INSERT INTO events DEFAULT VALUES RETURNING id');
is(ask($reader, q(SELECT snowid_watermark('events'))), $id, 'the last ID is covered at once');

# A role that may only connect draws and calls in turn, on a table of its own. Each round would move the shards below that
# which has issued last, and above all shard 0, one unit on.
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
    $now += 0.1;
    stop_clock($now, $node);
}
is($node->safe_psql('postgres', "SELECT pg_cancel_backend($attacker->{backend})"), 't', 'cancelled');
is(answer($attacker), 'ERROR 57014', 'a short wait for the clock is cancelled');

# A burst is covered at once. What comes then, when the clock has reached the burst.
$now += 10;
stop_clock($now, $node);
my $burst = ask($writer, 'WITH burst AS (INSERT INTO events SELECT FROM generate_series(1, 100000) RETURNING id) SELECT max(id) FROM burst');
my $lead = ask($writer, "SELECT ahead($burst)");
cmp_ok($lead, '>', 80, 'a burst is ahead of the clock');
is(ask($reader, q(SELECT snowid_watermark('events'))), $burst, 'and is covered at once');
my $next = ask($writer, 'WITH more AS (INSERT INTO events SELECT FROM generate_series(1, 5000) RETURNING id) SELECT max(id) FROM more');
start_asking($reader, q(SELECT snowid_watermark('events')));
clock_waits($reader);
stop_clock($now + $lead / 2000, $node);
clock_waits($reader);
ok(!is_answered($reader), 'what comes then waits for the clock');
# A clock that stands still may show a microsecond less than it was set to.
stop_clock($now + ($lead + 1) / 1000, $node);
cmp_ok(answer($reader), '>=', $next, 'until it has reached the burst');

# The wait can be cancelled.
ask($writer, 'INSERT INTO events SELECT FROM generate_series(1, 100000)');
start_asking($reader, q(SELECT snowid_watermark('events')));
clock_waits($reader);
is($node->safe_psql('postgres', "SELECT pg_cancel_backend($reader->{backend})"), 't', 'cancelled');
is(answer($reader), 'ERROR 57014', 'the wait for the clock is cancelled');
close_session($reader, $writer, $attacker);
$node->stop;
check_log($node);
done_testing();
