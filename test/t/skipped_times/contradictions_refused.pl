# What contradicts that which is known of times that were used, and who may not state it, gets an error, with no effect: by a millisecond, at
# each bound.

use Snowid;
use SnowidSkippedTimes;

my $node = start_skipping('refused');
new_database('who');
set_clock(3600);
my $wild = at('who', 'INSERT INTO ids SELECT snowid_next(1) RETURNING id');
set_clock(0);
$node->safe_psql('who', 'CREATE ROLE owner; CREATE ROLE monitor IN ROLE pg_monitor; ALTER DATABASE who OWNER TO owner; GRANT ALL ON SCHEMA public TO owner');
foreach my $role ('owner', 'monitor')
{
    is(at('who', "SET ROLE $role; SELECT snowid.return_to_clock('{[2040-01-01,2041-01-01]}')"), 'ERROR 42501', "not for $role");
    is(at('who', "SET ROLE $role; SELECT snowid.future_times('ids', 'id', 'instagram')"), 'ERROR 42501', "nor looked for");
}
is(at('who', 'SET ROLE owner; CREATE FUNCTION snowid.return_to_clock(tstzrange) RETURNS void RETURN NULL'), 'ERROR 42501',
    'nobody else makes functions in its schema');
# A shard that had an ID of the wrong clock in a transaction that was rolled back; and what all were advanced to.
set_clock(7200);
at('who', 'BEGIN; SELECT snowid_next(77); ROLLBACK');
set_clock(0);
my $used = "snowid_timestamp($wild)";
my %refused = (
    'no times' => "'{}'",
    'times that are past' => ahead(-7200, -3600),
    'a range that holds the present' => ahead(-60, 7300),
    'one of all times' => "'{(,)}'",
    'one that begins at once' => ahead(5, 7300),
    'one that leaves out the ceiling' => "tstzmultirange(tstzrange($used - interval '10 min', $used - interval '1 s'))",
    'one that leaves out a shard' => "tstzmultirange(tstzrange($used + interval '1.5 s', $used + interval '2 h'))",
    'one that leaves out a shard that no row tells of' => ahead(3500, 3700) . ' + ' . ahead(7201.5, 7300));
is(answer_to('who', $refused{$_}), 'ERROR 22023', "refused: $_") foreach sort keys %refused;
is(at('who', "SET snowid.max_lead = '1h'; SELECT snowid.advance_past(now() + interval '20 min')"), '', 'all advanced');
is(answer_to('who', ahead(2000, 7300)), 'ERROR 22023', 'refused: one that leaves out what all were advanced to');
is(at('who', 'SELECT snowid.return_to_clock(null) IS NULL'), 't', 'null for null');
my $call = 'SELECT snowid.return_to_clock(' . ahead(1000, 7300) . ')';
is(at('who', "SET default_transaction_read_only = on; $call"), 'ERROR 25006', 'not in a read-only transaction');
is(at('who', "BEGIN; ALTER SEQUENCE snowid_internal.ceiling INCREMENT BY 1; $call"), 'ERROR 55000', 'not where the transaction has altered the ceiling');
is(at('who', 'SELECT snowid_next(1)'), 'ERROR SN001', 'nothing of that has had any effect');

# At the bounds the clock stands: where a range may begin; which last ID, and which ceiling, is the right clock's.
restart_at(0);
new_database('bounds');
$node->safe_psql('postgres', 'CREATE DATABASE unused');
$node->safe_psql('unused', 'CREATE EXTENSION snowid');
my $now = int(time) + 60;
stop_clock($now, $node);
is(answer_to('bounds', ahead(10, 7200)), 'ERROR 22023', 'a range that begins ten seconds ahead');
check_stated('bounds', 'one that begins later', ahead(10.001, 7200));
foreach my $ahead (2, 2.001)
{
    is(at('bounds', "SET snowid.max_lead = '1h'; SELECT snowid.advance_shard(snowid_encode(clock_timestamp() + interval '$ahead s', 9, 0))"),
        '', "a shard that is $ahead s ahead");
    is(answer_to('bounds', ahead(9000, 9001)), $ahead == 2 ? 'stated' : 'ERROR 22023', "with a shard $ahead s ahead");
}
foreach my $ahead (7, 7.001)
{
    $node->safe_psql('unused', sprintf q(SELECT setval('snowid_internal.ceiling', %.0f)), 1000 * ($now + $ahead));
    is(answer_to('unused', ahead(9000, 9001)), $ahead == 7 ? 'stated' : 'ERROR 22023', "with a ceiling $ahead s ahead");
    is($node->safe_psql('unused', "SELECT snowid_ceiling() = to_timestamp($now + $ahead)"), 't', 'which stays');
}
end_test($node);
