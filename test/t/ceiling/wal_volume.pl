# How much WAL it takes: one record for so many numbers of a segment, or of a section's busiest key, as
# INCREMENT says; for IDs two at most for each snowid.ceiling_step that the ceiling goes on, since it is
# raised half of one early, however many IDs, shards and sessions there are. The clock stands still, so
# the IDs' times, and not the machine, say how far that is. (For what IDs take that come seldom see lone_ids.pl.)

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;
use Time::HiRes qw(time);

my $node = new_server('wal');
# Nobody else is to write.
$node->append_conf('postgresql.conf', "checkpoint_timeout = '1h'\n");
start_server($node);
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION snowid;
CREATE EXTENSION pg_walinspect;
CREATE SEQUENCE steady INCREMENT 1000;
CREATE SEQUENCE adapted INCREMENT 1000;
CREATE SEQUENCE inbox INCREMENT 10000;
SQL
my $second = int(time) + 1000;
stop_clock($second, $node);

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
my $ceiling = 'snowid.ceiling';
# The first ID after a start of the server finds out what the ceiling is.
$node->safe_psql('postgres', 'SELECT snowid_next(0)');
stop_clock($second += 100, $node);
$count = records_of('300 shards', $ceiling, 30_000, 'SET snowid.max_lead = 0; SET snowid.max_wait = 0',
    map { 'snowid_next(generate_series % 300)' } 1 .. 4);
is($count, 1, 'one record for 120,000 IDs of a millisecond');
$count = records_of('the same shards', $ceiling, 30_000, 'SET snowid.max_lead = 0; SET snowid.max_wait = 0',
    map { 'snowid_next(generate_series % 300)' } 1 .. 4);
is($count, 0, 'none for 120,000 more of the same millisecond');

# 3. IDs whose times go on for ten seconds: two for each millisecond, of each shard.
my $slow = 'time:41 shard:13 seq:1 unit:1ms epoch:2020-01-01T00:00:00Z';
foreach my $step (1000, 5000, 100)
{
    $node->append_conf('postgresql.conf', "snowid.ceiling_step = $step\n");
    $node->stop;
    start_server($node);
    stop_clock($second += 100, $node);
    $node->safe_psql('postgres', "SELECT snowid_next(0, '$slow')");
    my $began = last_value($node, $ceiling);
    $count = records_of("a step of $step ms", $ceiling, 40_000, q(SET snowid.max_lead = '20s'),
        map { "snowid_next($_ + generate_series % 2, '$slow')" } 10, 20, 30);
    my $advance = last_value($node, $ceiling) - $began;
    # The first ID came after a pause: the ceiling was up to 2.4 steps ahead, or five seconds.
    my $ahead = $step * 2.4 < 5000 ? $step * 2.4 : 5000;
    check_between("a step of $step ms: how far ten seconds of IDs take the ceiling", $advance, 10_000 - $ahead, 10_000 + $step);
    check_between("a step of $step ms: records for that", $count, 1, int(2 * $advance / $step) + 1);
}

$node->stop;
check_log($node);
done_testing();
