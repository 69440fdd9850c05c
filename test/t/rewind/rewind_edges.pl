# snowid.return_to_clock() at its edges: times near the present are neither taken for the right clock's nor left out, whatever
# lead a session allows itself; a clock that goes back a little at a wild time has callers wait, not refused; a range
# that holds the present is refused, also where it begins in one that is known; a clock that has passed a known range
# can be told of. At each bound a millisecond makes the difference.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use SnowidRewinding;
use Test::More;

my $node = start_rewinding('edges', allows_streaming => 1);
sub ahead { my @at = map { "clock_timestamp() + interval '$_ s'" } @_; return "tstzmultirange(tstzrange($at[0], $at[1]))" }

# 1. IDs of the wrong clock that are nine seconds ahead, then an hour; a crash, so that no slot tells of them. The clock
# stands, however long that takes.
make('near');
my $stands = int(time) + 100;
stop_clock($stands + 9, $node);
my $near = at('near', 'INSERT INTO ids SELECT snowid_next(1) FROM generate_series(1, 2000) RETURNING id');
stop_clock($stands + 3600, $node);
at('near', 'INSERT INTO ids SELECT snowid_next(1)');
crash($node, 'kill');
stop_clock($stands, $node);
start_server($node);
is(say_wild('near'), 'ERROR 22023', 'near: what begins within ten seconds cannot be told');
is(at('near', 'SELECT snowid_next(1)'), 'ERROR SN001', 'near: nothing has happened');
set_clock(115);
told('near', 'told when the clock has passed it');
foreach my $lead ('0', '1s', '20d')
{
    set_clock(109) if $lead eq '20d';
    check_apart("near, lead $lead", $near, at('near', "SET snowid.max_lead = '$lead'; SELECT snowid_next(1) FROM generate_series(1, 2000)"));
}

# 2. A clock that goes back a little where slots have been lifted.
set_clock(0);
$node->stop;
start_server($node);
make('back');
told('back', 'told', ahead(100, 4000));
set_clock(91);
is(at('back', "SELECT snowid_timestamp(snowid_next(1)) > clock_timestamp() + interval '1 h'"), 't', 'back: lifted');
is(at('back', "SELECT $_"), '', "back: what was issued can be advanced to: $_")
  foreach 'snowid.advance_shard(snowid_next(1))', 'snowid.advance_past(snowid_timestamp(snowid_next(1)))';
set_clock(89.5);
is(at('back', "SELECT snowid_timestamp(snowid_next(1)) > clock_timestamp() + interval '1 h'"), 't', 'back: not refused');

# 3. A range that holds the present.
set_clock(4100);
is(say_wild('back', "(SELECT tstzmultirange(tstzrange(lower(skipped) + interval '1 s', now() + interval '1 year')) FROM snowid.skipped_times)"),
    'ERROR 22023', 'back: a range that begins in a known one, and holds now');
is(say_wild('back', '(SELECT range_agg(skipped) FROM snowid.skipped_times) + ' . ahead(1000, 2000)), 'told', 'back: what is known may be told again');
goes_on('back', 'by the clock');

# 4. A wrong clock passes a known range, which does not end with a millisecond.
set_clock(0);
$node->stop;
start_server($node);
make('passed');
told('passed', 'told', ahead(3600, 7200.0005));
set_clock(36_000);
at('passed', 'INSERT INTO ids SELECT snowid_next(1)');
set_clock(0);
told('passed', 'told of what came after');
goes_on('passed', 'by the clock');
is($node->safe_psql('passed', 'SELECT count(*) FROM snowid.skipped_times'), 2, 'passed: both are known');

# 5. A ceiling that is beyond a range already does not let the quick path into it.
set_clock(0);
make('beyond');
told('beyond', 'told', ahead(60, 120));
$node->safe_psql('beyond', "SELECT snowid_next(1); SET snowid.max_lead = '1h'; SELECT snowid.advance_shard(snowid_encode(now() + interval '200 s', 9, 0))");
my $from = $node->safe_psql('beyond', 'SELECT extract(epoch FROM lower(skipped)) FROM snowid.skipped_times');
stop_clock($from + 1, $node);
at('beyond', 'INSERT INTO ids SELECT snowid_next(1)');
is($node->safe_psql('beyond', 'SELECT count(*) FROM ids, snowid.skipped_times WHERE skipped @> snowid_timestamp(id)'), 0, 'beyond: no ID in it');

# 6. A lead that reaches a range before the clock does: no unit of time is issued that has a part in it, and the last one
# before it is no reason to try without end. The clock stands.
my $sparse = 'time:41 shard:18 seq:4 unit:1ms epoch:2020-01-01T00:00:00Z';
set_clock(0);
$node->stop;
start_server($node);
make('lead');
$node->safe_psql('lead', 'CREATE TABLE drawn (id bigint PRIMARY KEY)');
told('lead', 'told', ahead(3600.0003, 3700));
$from = $node->safe_psql('lead', 'SELECT extract(epoch FROM lower(skipped)) FROM snowid.skipped_times');
stop_clock($from - 10.3, $node);
my $far = "SET snowid.max_lead = '1h'; SET snowid.max_wait = 0; INSERT INTO drawn SELECT";
at('lead', "$far snowid_reserve(1, 16, '$sparse') FROM generate_series(1, 10290)");
foreach (1 .. 30)
{
    last if at('lead', "$far snowid_next_batch(1, 24, '$sparse')") =~ /^ERROR/;
}
is(at('lead', "$far snowid_next(1, '$sparse')"), 'ERROR SN001', 'lead: refused at the range');
my $patient = open_session($node, dbname => 'lead');
backend_of($patient);
start_asking($patient, "SET snowid.max_wait = '1min'; SET snowid.max_lead = '1h'; SELECT snowid_next(1, '$sparse')");
wait_until_waiting($node, $patient, $node->pg_version >= 17 ? 'SnowidClock' : 'Extension');
stop_clock($from - 9.9, $node);
like(answer($patient), qr/^\d+$/, 'lead: who waits has an ID when slots are lifted');
close_session($patient);
is($node->safe_psql('lead', "SELECT count(*) FROM drawn, snowid.skipped_times WHERE skipped && tstzrange(snowid_timestamp(id, '$sparse'), snowid_timestamp(id, '$sparse') + interval '1 ms')"),
    0, 'lead: no unit that has a part in it');

# 7. While a range is stepped over, another one is refused that begins where IDs may have come to.
set_clock(0);
$node->stop;
start_server($node);
make('second');
told('second', 'told', ahead(60, 660));
set_clock(300);
at('second', 'SELECT snowid_next(1)');
is(say_wild('second', ahead(550, 560)), 'ERROR 22023', 'second: refused');
told('second', 'told of one beyond', ahead(5000, 5010));

# 8. UUIDs that a session of another database has ahead of the clock, as its lead allows, are no wrong clock's: those that
# follow are above.
set_clock(0);
$node->stop;
start_server($node);
make($_) foreach 'common', 'neighbour';
set_clock(3600);
at('common', 'INSERT INTO ids SELECT snowid_next(1)');
set_clock(0);
my $neighbour = open_session($node, dbname => 'neighbour');
ask($neighbour, "SET snowid.max_lead = '1h'; SELECT snowid.advance_past(clock_timestamp() + interval '10 min')");
my $uuid = ask($neighbour, 'SELECT snowid_uuidv7()');
told('common', 'told');
is(ask($neighbour, "SELECT snowid_uuidv7() > '$uuid'"), 't', 'common: UUIDs of another database are in their order');
close_session($neighbour);

# 9. The bounds, while the clock stands: where a range may begin; which last ID, and which ceiling, is the right clock's.
$node->stop;
start_server($node);
make('bounds');
$node->safe_psql('postgres', 'CREATE DATABASE unused');
$node->safe_psql('unused', 'CREATE EXTENSION snowid');
my $now = int(time) + 60;
stop_clock($now, $node);
is(say_wild('bounds', ahead(10, 7200)), 'ERROR 22023', 'bounds: a range that begins ten seconds ahead');
told('bounds', 'one that begins later', ahead(10.001, 7200));
my $later = ahead(9000, 9001);
foreach my $ahead (2, 2.001)
{
    is(at('bounds', "SET snowid.max_lead = '1h'; SELECT snowid.advance_shard(snowid_encode(clock_timestamp() + interval '$ahead s', 9, 0))"),
        '', "bounds: a shard is $ahead s ahead");
    is(say_wild('bounds', $later), $ahead == 2 ? 'told' : 'ERROR 22023', "bounds: with a shard $ahead s ahead");
}
foreach my $ahead (7, 7.001)
{
    my $ceiling = 1000 * ($now + $ahead);
    $node->safe_psql('unused', "SELECT setval('snowid_internal.ceiling', $ceiling)");
    is(say_wild('unused', $later), $ahead == 7 ? 'told' : 'ERROR 22023', "bounds: with a ceiling $ahead s ahead");
    is($node->safe_psql('unused', "SELECT snowid_ceiling() = to_timestamp($now + $ahead)"), 't', 'bounds: which stays');
}

# 10. What was written ahead, and is not durable yet, does not become the ceiling by being told of a wild time: others wait.
set_clock(0);
$node->stop;
start_server($node);
make('ahead');
my $ceiling = $node->safe_psql('ahead', 'SELECT extract(epoch FROM snowid_ceiling())');
my $held = hold_commits($node);
stop_clock($ceiling - 0.1, $node);
like(at('ahead', 'SELECT snowid_next(1)'), qr/^\d+$/, 'ahead: somebody writes ahead, and need not wait');
my $teller = open_session($node, dbname => 'ahead');
backend_of($teller);
start_asking($teller, "SELECT 'told' FROM snowid.return_to_clock($later)");
wait_until_waiting($node, $teller, 'SyncRep');
stop_clock($ceiling + 0.1, $node);
my $drawing = open_session($node, dbname => 'ahead');
backend_of($drawing);
start_asking($drawing, 'SELECT snowid_next(1)');
wait_for(sub { is_answered($drawing) || $node->safe_psql('postgres', "SELECT wait_event FROM pg_stat_activity WHERE pid = $drawing->{backend}") eq 'SyncRep' },
    'who draws');
ok(!is_answered($drawing), 'ahead: who draws above what is durable waits');
release_commits($node, $held);
is(answer($teller), 'told', 'ahead: told');
like(answer($drawing), qr/^\d+$/, 'ahead: and draws');
close_session($teller, $drawing);

# 11. New storage has the ranges with the next ID, also where that needs no raise of the ceiling. The clock stands.
set_clock(0);
$node->stop;
start_server($node);
make('storage');
told('storage', 'told', ahead(3600, 7200));
stop_clock(int(time) + 60, $node);
at('storage', 'SELECT snowid_next(1)');
$node->safe_psql('storage', 'ALTER SEQUENCE snowid_internal.ceiling INCREMENT BY 3');
like(at('storage', 'SELECT snowid_next(1)'), qr/^\d+$/, 'storage: an ID');
crash($node, 'kill');
start_server($node);
is($node->safe_psql('storage', 'SELECT count(*) FROM snowid.skipped_times'), 1, 'storage: known after a crash');
# 12. What snowid.future_times() finds: an ID that is ahead, with the margin on both sides, but nothing that is too near; the
# ceiling, where no row tells.
set_clock(0);
$node->stop;
start_server($node);
make('found');
sub found { return "snowid.future_times('public.ids'::regclass, 'id'::name, 'instagram'::public.snowid_layout, '$_[0]'::interval)" }
is(at('found', 'SELECT ' . found('1 month')), 'ERROR 22023', 'found: no margin of months');
$stands = int(time) + 1;
stop_clock($stands + 3, $node);
at('found', 'INSERT INTO ids SELECT snowid_next(1)');
stop_clock($stands, $node);
is(at('found', 'SELECT ' . found('10 min') . ' @> snowid_timestamp(max(id)) FROM ids'), 't', 'found: an ID that is three seconds ahead');
set_clock(65);
at('found', 'SELECT snowid_next(1)');
set_clock(5);
told('found', 'no row, and a margin that comes to the present', found('10 min'));
goes_on('found', 'by the clock');
set_clock(36_000);
at('found', 'INSERT INTO ids SELECT snowid_next(1)');
set_clock(5);
is( at('found', 'SELECT ' . found('10 min') . " @> tstzrange(at - interval '10 min', at + interval '10 min', '[]') FROM (SELECT snowid_timestamp(max(id)) AS at FROM ids) AS last"),
    't', 'found: with the margin');
# The ceiling is above the last ID.
is(say_wild('found', "(SELECT tstzmultirange(tstzrange(at - interval '1 s', at + interval '10 ms')) FROM (SELECT snowid_timestamp(max(id)) AS at FROM ids) AS last)"),
    'ERROR 22023', 'found: the ceiling is in no range');
told('found', 'told', found('10 min'));

# 14. Planning a query of a table evaluates what is constant in its owner's expressions and checks: with his rights. The times
# are the same in every style of dates.
make('others');
$node->safe_psql('others', <<'SQL');
CREATE ROLE mallory;
CREATE SCHEMA AUTHORIZATION mallory;
SET ROLE mallory;
CREATE SEQUENCE mallory.evaluated;
CREATE SEQUENCE mallory.with_more_rights;
CREATE FUNCTION mallory.five() RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('spy.armed', true) = 'yes' THEN
    PERFORM nextval('mallory.evaluated'), CASE WHEN current_user <> 'mallory' THEN nextval('mallory.with_more_rights') END;
  END IF;
  RETURN 5;
END $$;
CREATE TABLE mallory.ids (id bigint DEFAULT snowid_next(), CHECK (id > mallory.five() - 100));
CREATE STATISTICS mallory.estimates ON (id + mallory.five()) FROM mallory.ids;
ALTER TABLE mallory.ids ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
SQL
# A zone whose short name is another one's, too.
$node->safe_psql('others', "WITH i AS (INSERT INTO mallory.ids VALUES (snowid_first_at(clock_timestamp() + interval '1 h')) RETURNING id) "
      . 'SELECT snowid_timestamp(id) AS at INTO ahead FROM i');
is( at('others', "SET timezone = 'Asia/Kolkata'; SET intervalstyle = sql_standard; SET constraint_exclusion = on; SET spy.armed = yes; SET datestyle = '$_'; "
          . "SELECT snowid.future_times('mallory.ids', 'id', margin => '30 s') @> tstzrange(at - interval '30 s', at + interval '30 s', '[]') FROM ahead"),
    't', "others: what is ahead, $_")
  foreach 'ISO, MDY', 'SQL, DMY', 'German', 'Postgres, DMY';
is($node->safe_psql('others', 'SELECT e.is_called, r.is_called FROM mallory.evaluated AS e, mallory.with_more_rights AS r'),
    't|f', "others: the owner's code has the owner's rights");
check_log($node);
$node->stop;
done_testing();
