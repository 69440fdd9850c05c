# How much WAL numbers and IDs take: one record for so many numbers of a segment, or of a section's busiest key, as INCREMENT says;
# for IDs two at most for each snowid.ceiling_step that the ceiling goes on, since it is raised half of one early, however many IDs,
# shards and sessions there are.
# Runs in make test-all: it draws for long.

use Snowid;
use Time::HiRes qw(time);

my $node = new_quiet_server('wal');
start_server($node);
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION snowid;
CREATE EXTENSION pg_walinspect;
CREATE SEQUENCE steady INCREMENT 1000;
CREATE SEQUENCE adapted INCREMENT 1000;
CREATE SEQUENCE inbox INCREMENT 10000;
SQL
# The clock stands still, so the IDs' times, and not the machine, say how far they go.
my $now = int(time) + 1000;
stop_clock($now, $node);

# Has sessions draw at once, each so many results of an expression. Checks how many WAL records they have written: those of the
# sequence's page, whoever wrote them, and all that a call could have written besides.
sub check_records
{
    my ($name, $least, $most, $sequence, $rows, $setup, @expressions) = @_;
    my $page = $node->safe_psql('postgres',
        "SELECT format('%%rel %%/%s/%s %%', oid, pg_relation_filenode('$sequence')) FROM pg_database WHERE datname = current_database()");
    my $from = $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
    my @drawing = map { draw($node, $_, $rows, setup => $setup) } @expressions;
    finish(@drawing);
    my $until = $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
    is(join(' ', map { scalar @{ ids($_) } } @drawing), join(' ', map { $rows } @drawing), "$name: all are served") or diag(errors_of(@drawing));
    # Only what is on disk can be read, and not the last of it.
    $node->safe_psql('postgres', q(SELECT pg_logical_emit_message(true, 'the end', '')));
    my $count = $from eq $until ? 0 : $node->safe_psql('postgres', <<"SQL");
SELECT count(*) FROM pg_get_wal_records_info('$from', '$until') WHERE block_ref LIKE '$page'
  OR resource_manager IN ('Generic', 'Sequence', 'Transaction', 'LogicalMessage')
SQL
    ok($count >= $least && $count <= $most, "$name: $least to $most records") or diag("it is $count");
    return;
}

# A block is allocated before the one before it is used up. Of a section's draws every other is that of one key; the others have
# one number each.
my $steady = 'SET snowid.segment_adapt = off';
my @keyed = (q(snowid_section_next('inbox', (CASE WHEN generate_series % 2 = 0 THEN 0 ELSE generate_series END)))) x 4;
check_records('20,000 numbers of a segment', 20, 21, 'steady', 5_000, $steady, (q(snowid_segment_next('steady'))) x 4);
check_records('20,000 numbers of a segment that adapts', 1, 21, 'adapted', 5_000, '', (q(snowid_segment_next('adapted'))) x 4);
check_records('batches of 20,000 numbers', 19, 21, 'steady', 20_000, $steady, q(n FROM snowid_segment_batch('steady', 20000) AS n));
check_records('40,000 numbers of one of many keys', 4, 5, 'inbox', 20_000, $steady, @keyed);
check_records('40,000 more of a section that adapts', 1, 5, 'inbox', 20_000, '', @keyed);

# IDs within a millisecond. The first one after a start of the server finds out what the ceiling is.
my $ceiling = 'snowid_internal.ceiling';
$node->safe_psql('postgres', 'SELECT snowid_next(0)');
stop_clock($now += 100, $node);
check_records("120,000 IDs of a millisecond, $_", $_, $_, $ceiling, 30_000, 'SET snowid.max_lead = 0; SET snowid.max_wait = 0',
    ('snowid_next(generate_series % 300)') x 4) foreach 1, 0;

# IDs whose times go on for ten seconds: two for each millisecond, of each shard.
my $slow = 'time:41 shard:13 seq:1 unit:1ms epoch:2020-01-01T00:00:00Z';
foreach my $step (2000, 1000, 5000, 100)
{
    reload_with($node, 'snowid.ceiling_step', $step < 1000 ? "${step}ms" : $step / 1000 . 's');
    stop_clock($now += 100, $node);
    $node->safe_psql('postgres', "SELECT snowid_next(0, '$slow')");
    my $began = last_value($node, $ceiling);
    check_records("a step of $step ms", 1, int(2 * (10_000 + $step) / $step) + 1, $ceiling, 40_000, q(SET snowid.max_lead = '20s'),
        map { "snowid_next($_ + generate_series % 2, '$slow')" } 10, 20, 30);
    my $advance = last_value($node, $ceiling) - $began;
    # The first ID came after a pause: the ceiling was up to so much ahead.
    my $most = $step * 2.4 < 5000 ? $step * 2.4 : 5000;
    ok($advance >= 10_000 - $most && $advance <= 10_000 + $step, "a step of $step ms: how far ten seconds of IDs take the ceiling") or diag($advance);
}
end_test($node);
