# What snowid.stat_counters says of segments and sections is so. Numbers given are exactly those that
# sessions drew: in many sessions at once, in transactions that are rolled back, in sessions that are
# cancelled or terminated. Refills, failures of a central source, keys and those that left are counted;
# the log tells of what no client is told, and does not repeat itself. A crash begins anew, and each
# database has its own.
#
# Runs in make test-all: it starts many sessions.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

my $source = new_server('source');
$source->start;
$source->safe_psql('postgres',
    'CREATE SEQUENCE down_seq INCREMENT 100; CREATE SEQUENCE behind_seq START 100000001 INCREMENT 10000');
my $node = new_server('node', allows_streaming => 1);
# A section of so few keys that some leave.
$node->append_conf('postgresql.conf', "snowid.section_keys = 10\n");
my $second = time;
stop_clock($second, $node);
start_server($node);
add_source($node, $source);
my @sequences = qw(many keys few slow slow_keys);
$node->safe_psql('postgres', "CREATE SEQUENCE $_ INCREMENT 1000") foreach @sequences;

# Columns of a sequence's row.
sub counted
{
    my ($kind, $sequence, $columns, %options) = @_;
    return $node->safe_psql($options{dbname} // 'postgres',
        "SELECT $columns FROM snowid.stat_counters WHERE kind = '$kind' AND relation = '$sequence'::regclass");
}

# The lines of the log that match a pattern.
sub logged
{
    my ($pattern) = @_;
    return grep { /$pattern/ } split /^/, slurp_file($node->logfile);
}

# 1. Numbers given. Those of a segment are dense, and so are those of a key that stays: the numbers
# themselves say how many there were.
my $both = q(snowid_segment_next('many'), snowid_section_next('keys', generate_series % 5));
my @drawing = map { draw($node, $both, 2_000) } 1 .. 6;
my @rolling = map { open_session($node) } 1 .. 2;
start_asking($_, <<"SQL") foreach @rolling;
BEGIN; SELECT count(*) FROM (SELECT $both FROM generate_series(1, 300)) AS t;
SAVEPOINT s; SELECT count(*) FROM (SELECT $both FROM generate_series(1, 300)) AS t; ROLLBACK TO s;
SELECT count(*) FROM (SELECT $both FROM generate_series(1, 300)) AS t; ROLLBACK
SQL
answer($_) foreach @rolling;
finish(@drawing);
my $of_keys = q(SELECT sum(snowid_section_current('keys', k)) FROM generate_series(0, 4) AS k);
is($node->safe_psql('postgres', $of_keys), 13_800, 'a section: all were drawn');
is(counted('section', 'keys', 'given, keys, evictions'), '13800|5|0', 'a section: given is what was drawn');
is(counted('segment', 'many', 'given'), 13_800, 'a segment: given is what was drawn');
cmp_ok(counted('segment', 'many', 'refills'), '>=', 1, 'refilled');
is(counted('segment', 'many', 'remaining = (SELECT last_value FROM many) + 999 - given'),
    't', 'what remains is what was allocated and not given');

# Some are ended while they draw: what they have seen was given, and nothing that nobody drew.
foreach my $how ('cancel', 'terminate')
{
    my @ended = map { draw($node, $both, undef) } 1 .. 4;
    wait_to_draw(50_000, @ended);
    $node->safe_psql('postgres', "SELECT pg_${how}_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY (%'");
    finish(@ended);
    wait_for(sub { $node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'COPY (%'}) eq '0' },
        'the sessions to end');
    my $last = $node->safe_psql('postgres', q(SELECT snowid_segment_next('many')));
    my $sum = $node->safe_psql('postgres', $of_keys);
    cmp_ok($sum, '>', 13_800, "$how: some were drawn");
    is(counted('segment', 'many', 'given'), $last, "$how: a segment's numbers");
    is(counted('section', 'keys', 'given'), $sum, "$how: a section's numbers");
}
# A transaction that is open has its section's numbers to itself yet, and its session has them.
is(ask($rolling[0], q(BEGIN; SELECT snowid_section_next('few', 1) FROM generate_series(1, 3))), "1\n2\n3", 'an open transaction');
is(ask($rolling[0], q(SELECT given FROM snowid.stat_counters WHERE relation = 'few'::regclass)), 3, 'sees its own');
ask($rolling[0], q(SELECT snowid_section_next('few', 1)));
like(counted('section', 'few', 'given'), qr/^[34]$/, 'others see them later');
ask($rolling[0], 'ROLLBACK');
is(counted('section', 'few', 'given'), 4, 'which is when it ends');

# 2. Keys that leave.
is(ask($rolling[0], q(SELECT count(snowid_section_next('few', k)) FROM generate_series(1, 10) AS k)), 10, 'ten keys');
is(counted('section', 'few', 'keys, evictions'), '10|0', 'have room');
ask($rolling[0], q(SELECT count(snowid_section_next('few', k)) FROM generate_series(11, 25) AS k));
is(counted('section', 'few', 'keys, evictions'), '10|15', 'fifteen more have as many leave');
reload_with($node, 'snowid.section_keys', 4, @rolling);
ask($rolling[0], q(SELECT snowid_section_next('few', 25)));
is(counted('section', 'few', 'keys, evictions'), '4|21', 'and so has less room');
is(counted('section', 'few', 'given'), 4 + 10 + 15 + 1, 'all were given');

# 3. Refills that take long. The clock stands still, but for where it is set: a minute is over when the
# test says so.
sub refill_slowly
{
    my ($kind, $draw) = @_;
    my $held = hold_commits($node);
    start_asking($rolling[0], $draw);
    wait_until_waiting($node, $rolling[0], 'SyncRep');
    my $since = clock_gettime(CLOCK_MONOTONIC);
    wait_for(sub { clock_gettime(CLOCK_MONOTONIC) - $since > 1.1 }, 'a second to pass');
    release_commits($node, $held);
    return answer($rolling[0]);
}

backend_of($rolling[0]);
foreach my $case ([ 'segment', 'slow', q(SELECT snowid_segment_next('slow')) ],
    [ 'section', 'slow_keys', q(SELECT snowid_section_next('slow_keys', 1)) ])
{
    my ($kind, $sequence, $draw) = @$case;
    my $pattern = qr/LOG:  refilling sequence "$sequence" took \d{4,} ms/;
    is(refill_slowly($kind, $draw), 1, "$kind: a refill that waits");
    is(counted($kind, $sequence, 'refills, max_refill_time > 1000, refill_time = max_refill_time'),
        '1|t|t', "$kind: its time is counted");
    is(scalar(logged($pattern)), 1, "$kind: and logged");
    stop_clock($second += 59, $node);
    $node->safe_psql('postgres', "SELECT setval('$sequence', 1000000)");
    is(refill_slowly($kind, $draw), 1_001_000 - ($kind eq 'section' ? 999 : 0), "$kind: within a minute");
    is(counted($kind, $sequence, 'refills, refill_time > 2000, refill_time > max_refill_time'),
        '2|t|t', "$kind: the times add up");
    is(scalar(logged($pattern)), 1, "$kind: is not logged again");
    stop_clock($second += 1, $node);
    $node->safe_psql('postgres', "SELECT setval('$sequence', 2000000)");
    refill_slowly($kind, $draw);
    is(scalar(logged($pattern)), 2, "$kind: but after a minute it is");
    $node->safe_psql('postgres', "SELECT setval('$sequence', 3000000)");
    ask($rolling[0], $draw);
    is(counted($kind, $sequence, 'refills, max_refill_time > 1000, refill_time > 3000'), '4|t|t', "$kind: a quick one is not the longest");
}
my ($at) = grep { (logged('LOG:|DETAIL:|HINT:'))[$_] =~ /refilling sequence "slow" took/ } 0 .. 100;
like((logged('LOG:|DETAIL:|HINT:'))[ $at + 1 ], qr/DETAIL:  Refills so far: 1, of \d{4,}\.\d ms on average\./, 'with figures');

# 4. A central source that is behind: the refill ahead fails, which no client is told.
$node->safe_psql('postgres', <<'SQL');
CREATE SEQUENCE behind;
CREATE SEQUENCE down;
SELECT snowid_segment_attach('behind', 'central', 'behind_seq');
SELECT snowid_segment_attach('down', 'central', 'down_seq');
SQL
my $draw = q(SELECT count(snowid_segment_next('behind')) FROM generate_series(1, 1500));
ask($rolling[0], q(SELECT snowid_segment_next('behind')));
is(counted('segment', 'behind', 'source, source_failures, last_failure IS NULL AND last_failure_at IS NULL'),
    'central|0|t', 'a source that gives numbers');
$source->safe_psql('postgres', q(SELECT setval('behind_seq', 1, false)));
is(ask($rolling[0], $draw), 1500, 'one that is behind: numbers that were allocated go on');
is(counted('segment', 'behind', 'source_failures, last_failure, extract(epoch FROM last_failure_at)::bigint'),
    "1|55000|$second", 'but its failure is counted');
my $behind = qr/LOG:  could not allocate numbers from server "central" for sequence "behind"/;
is(scalar(logged($behind)), 1, 'and logged');
is(scalar(logged(qr/DETAIL: .* failures so far: 1, numbers left here: \d+\. Its next block begins at \d+, and numbers up to 100010000 count as allocated to sequence "behind"\./)),
    1, 'with figures');
foreach my $passed (2, 57)
{
    stop_clock($second += $passed, $node);
    $source->safe_psql('postgres', q(SELECT setval('behind_seq', 1, false)));
    is(ask($rolling[0], $draw), 1500, 'tried again');
}
is(counted('segment', 'behind', 'source_failures, extract(epoch FROM last_failure_at)::bigint'), "3|$second", 'each time counts');
is(scalar(logged($behind)), 1, 'and is logged once in a minute');
stop_clock($second += 61, $node);
$source->safe_psql('postgres', q(SELECT setval('behind_seq', 1, false)));
is(ask($rolling[0], $draw), 1500, 'after a minute');
is(scalar(logged($behind)), 2, 'it is logged again');

# One that is down, and comes back.
ask($rolling[0], q(SELECT snowid_segment_next('down')));
my $refills = counted('segment', 'down', 'refills');
$source->stop;
my ($got, $answer) = (1);
$got++ while ($answer = ask($rolling[0], q(SELECT snowid_segment_next('down')))) =~ /^\d+$/;
is($answer, 'ERROR 08006', 'one that is down: an error');
is(counted('segment', 'down', 'given, remaining, refills, source_failures > 0, last_failure, last_failure_at IS NOT NULL'),
    "$got|0|$refills|t|08006|t", 'one that is down: as counted');
my $failures = counted('segment', 'down', 'source_failures');
is(ask($rolling[0], q(SELECT snowid_segment_next('down'))), 'ERROR 08006', 'who is told from memory');
is(counted('segment', 'down', 'source_failures'), $failures, 'has not tried');
$source->start;
stop_clock($second += 61, $node);
like(ask($rolling[0], q(SELECT snowid_segment_next('down'))), qr/^\d+$/, 'it comes back');
is(counted('segment', 'down', "given, refills, source_failures, last_failure"),
    join('|', $got + 1, $refills + 1, $failures, '08006'), 'and is counted on');
# One that belongs to somebody else by now is not tried.
$node->safe_psql('postgres', 'CREATE ROLE another; GRANT CREATE ON SCHEMA public TO another; ALTER SEQUENCE down OWNER TO another');
is(ask($rolling[0], q(SELECT count(snowid_segment_next('down')) FROM generate_series(1, 3000000))), 'ERROR 42501', 'another owner');
is(counted('segment', 'down', 'last_failure'), '42501', 'another owner: the reason is told');
$failures = counted('segment', 'down', 'source_failures');
is(ask($rolling[0], q(SELECT snowid_segment_next('down'))), 'ERROR 42501', 'another owner: each caller is told');
is(counted('segment', 'down', 'source_failures'), $failures + 1, 'another owner: and counted');
like(join('', logged('DETAIL:')), qr/numbers left here: [1-9]\d*\. The sequence has another owner/, 'another owner: logged before numbers ran out');

# 5. A sequence that is dropped, and another database.
$node->safe_psql('postgres', 'DROP SEQUENCE few');
is($node->safe_psql('postgres', q(SELECT count(*) FROM snowid.stat_counters WHERE relation::text ~ '^\d+$')), 1, 'a dropped one is a number');
my $rows = $node->safe_psql('postgres', 'SELECT count(*) FROM snowid.stat_counters');
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', q(CREATE EXTENSION snowid; CREATE SEQUENCE many; SELECT snowid_segment_next('many')));
is($node->safe_psql('other', 'SELECT kind, relation, given FROM snowid.stat_counters'), 'segment|many|1', 'another database has its own');
is($node->safe_psql('postgres', 'SELECT count(*) FROM snowid.stat_counters'), $rows, 'and this one no more');

# 6. A crash.
my $before = $node->safe_psql('postgres', q(SELECT snowid_segment_next('many')));
close_session(@rolling);
crash($node, 'kill');
start_server($node);
is($node->safe_psql('postgres', 'SELECT count(*) FROM snowid.stat_counters'), 0, 'after a crash there is nothing');
cmp_ok($node->safe_psql('postgres', q(SELECT snowid_segment_next('many'))), '>', $before, 'numbers go on');
is(counted('segment', 'many', 'given, refills'), '1|1', 'and counts begin anew');

check_log($node);
$_->stop foreach $node, $source;
done_testing();
