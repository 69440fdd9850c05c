# When the clock comes to skipped times of ten minutes there are IDs through all of it, as many as may be ahead of the clock each time, in a
# layout of 16 IDs a millisecond. UUIDs and ObjectIDs, of other databases, too, go on by the clock, ObjectIDs with another random number.
# Runs in make test-all: it makes many IDs.

use Snowid;
use SnowidSkippedTimes;

my $node = start_skipping('outage');
new_database($_) foreach 'beside', 'long';
my $random = 'SELECT substr(objectid_next()::text, 9, 10)';
my $both = q(SELECT snowid_uuid_timestamp(snowid_uuidv7()) < clock_timestamp() + interval '10 s', objectid_timestamp(objectid_next()) < clock_timestamp() + interval '10 s');
my $then;
foreach my $at (86_400, 87_000)
{
    set_clock($at);
    $then = at('long', "INSERT INTO ids SELECT snowid_next(1); $random");
}
set_clock(0);
is(at('long', 'SELECT objectid_next()'), 'ERROR SN001', 'no ObjectID');
check_stated('long', 'ten minutes', future('10 minutes'));
isnt(at('long', $random), $then, 'ObjectIDs have another random number');
is(at('long', $both), 't|t', 'UUIDs and ObjectIDs by the clock');
my $sparse = 'time:41 shard:18 seq:4 unit:1ms epoch:2020-01-01T00:00:00Z';
my ($begin, $end) = split /\|/, $node->safe_psql('long',
    'SELECT extract(epoch FROM lower(skipped) - clock_timestamp()), extract(epoch FROM upper(skipped) - clock_timestamp()) FROM snowid.skipped_times');
foreach my $at ($begin - 9, $begin, $begin + 300, $begin + 310, $end - 10, $end)
{
    set_clock($at);
    is(at('long', "SELECT count(DISTINCT snowid_next(1, '$sparse')) FROM generate_series(1, 14000)"), 14_000, "at $at s: IDs");
    is(at($_, $both), 't|t', "at $at s: UUIDs and ObjectIDs in database $_ by the clock") foreach 'long', 'beside';
}
set_clock($end + 30);
check_by_clock('long', 'by the clock again');

# UUIDs that a session of another database has ahead of the clock, as its lead allows, are no wrong clock's: those that follow are above.
restart_at(0);
new_database($_) foreach 'common', 'neighbor';
set_clock(3600);
at('common', 'INSERT INTO ids SELECT snowid_next(1)');
set_clock(0);
my $neighbor = open_session($node, dbname => 'neighbor');
ask($neighbor, "SET snowid.max_lead = '1h'; SELECT snowid.advance_past(clock_timestamp() + interval '10 min')");
my $uuid = ask($neighbor, 'SELECT snowid_uuidv7()');
check_stated('common', 'stated');
is(ask($neighbor, "SELECT snowid_uuidv7() > '$uuid'"), 't', 'UUIDs of another database are in their order');
end_test($node);
