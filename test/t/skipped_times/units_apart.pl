# A unit of time that has a part in skipped times is left out whole, by all sessions, also those that have issued IDs before, whatever lead they
# have; where the clock goes back a little there, callers have an ID.
# Runs in make test-all: it makes many IDs.

use Snowid;
use SnowidSkippedTimes;

my $node = start_skipping('units');

# Minutes. All shards are lifted before the minute begins.
my $minutes = "'time:28 shard:10 seq:10 unit:1min epoch:2020-01-01T00:00:00Z'";
new_database('units');
my $full_minute = 7200 - time % 60;
set_clock($full_minute + 30);
my $wild = at('units', "INSERT INTO ids SELECT snowid_next(1); SELECT snowid_next(1, $minutes) FROM generate_series(1, 1000)");
set_clock(0);
check_stated('units', 'in the middle of a minute', ahead($full_minute + 20, $full_minute + 40));
set_clock(61);
my $session = open_session($node, dbname => 'units');
like(ask($session, "SELECT snowid_next(1, $minutes)"), qr/^\d+$/, 'units: a session before');
set_clock($full_minute - 40);
like(ask($session, 'SET snowid.max_wait = 0; SELECT snowid_next(2)'), qr/^\d+$/, 'units: all are lifted by now');
is(ask($session, q(SELECT snowid_timestamp(snowid_next(2)) > clock_timestamp() + interval '60 s')), 't', 'units: before the minute begins');
set_clock($full_minute + 5);
check_apart('units', $wild, ask($session, "SET snowid.max_wait = 0; SELECT snowid_next(1, $minutes) FROM generate_series(1, 1000)"));
check_apart('units, another session', $wild, at('units', "SELECT snowid_next(1, $minutes) FROM generate_series(1, 10)"));
close_session($session);
my $right = at('units', 'SELECT snowid_next(1) FROM generate_series(1, 100)');
set_clock(86_400);
at('units', 'SELECT snowid_next(1)');
set_clock($full_minute + 6);
check_stated('units', 'other times, while the first are stepped over', ahead(79_000, 79_300));
check_apart('units: stepping over', $right, at('units', 'SELECT snowid_next(1) FROM generate_series(1, 100)'));

# A clock that goes back a little where shards have been lifted.
restart_at(0);
new_database('back');
check_stated('back', 'stated', ahead(100, 4000));
my $lifted = q(SELECT snowid_timestamp(snowid_next(1)) > clock_timestamp() + interval '1 h');
set_clock(91);
is(at('back', $lifted), 't', 'back: lifted');
is(at('back', "SELECT $_"), '', "back: what was issued can be advanced to: $_")
  foreach 'snowid.advance_shard(snowid_next(1))', 'snowid.advance_past(snowid_timestamp(snowid_next(1)))';
set_clock(89.5);
is(at('back', $lifted), 't', 'back: an ID');

# A ceiling that is beyond the times already does not let the fast path into them. The clock stands.
set_clock(0);
new_database('beyond');
check_stated('beyond', 'stated', ahead(60, 120));
$node->safe_psql('beyond', "SELECT snowid_next(1); SET snowid.max_lead = '1h'; SELECT snowid.advance_shard(snowid_encode(now() + interval '200 s', 9, 0))");
my $from = 'SELECT extract(epoch FROM lower(skipped)) FROM snowid.skipped_times';
stop_clock(1 + $node->safe_psql('beyond', $from), $node);
at('beyond', 'INSERT INTO ids SELECT snowid_next(1)');
is($node->safe_psql('beyond', 'SELECT count(*) FROM ids, snowid.skipped_times WHERE skipped @> snowid_timestamp(id)'), 0, 'beyond: no ID in them');

# A lead that reaches the times before the clock does: the last unit before them is no reason to try without end. The clock stands.
my $sparse = 'time:41 shard:18 seq:4 unit:1ms epoch:2020-01-01T00:00:00Z';
restart_at(0);
new_database('lead');
$node->safe_psql('lead', 'CREATE TABLE issued (id bigint PRIMARY KEY)');
check_stated('lead', 'stated', ahead(3600.0003, 3700));
$from = $node->safe_psql('lead', $from);
stop_clock($from - 10.3, $node);
my $far = "SET snowid.max_lead = '1h'; SET snowid.max_wait = 0; INSERT INTO issued SELECT";
at('lead', "$far snowid_reserve(1, 16, '$sparse') FROM generate_series(1, 10290)");
foreach (1 .. 30) { last if at('lead', "$far snowid_next_batch(1, 24, '$sparse')") =~ /^ERROR/ }
is(at('lead', "$far snowid_next(1, '$sparse')"), 'ERROR SN001', 'lead: an error at the times');
my $patient = open_session($node, dbname => 'lead');
start_asking($patient, "SET snowid.max_wait = '1min'; SET snowid.max_lead = '1h'; SELECT snowid_next(1, '$sparse')");
wait_until_waiting($node, $patient, $node->pg_version >= 17 ? 'SnowidClock' : 'Extension');
stop_clock($from - 9.9, $node);
like(answer($patient), qr/^\d+$/, 'lead: who waits has an ID when shards are lifted');
close_session($patient);
is($node->safe_psql('lead', "SELECT count(*) FROM issued, snowid.skipped_times WHERE skipped && tstzrange(snowid_timestamp(id, '$sparse'), snowid_timestamp(id, '$sparse') + interval '1 ms')"),
    0, 'lead: no unit that has a part in them');
end_test($node);
