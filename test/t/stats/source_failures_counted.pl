# Failures of a remote sequence are counted with their SQLSTATE and time, those too of which no client is told, since numbers are left; the
# log tells of these once a minute, with figures.
# Runs in make test-all: it draws until numbers run out.

use Snowid;

my ($source, $node) = ready_source({ down_seq => 'INCREMENT 100', behind_seq => 'START 100000001 INCREMENT 10000' });
my $second = time;
stop_clock($second, $node);
$node->safe_psql('postgres', "CREATE SEQUENCE $_; SELECT snowid_segment_attach('$_', 'central', '${_}_seq')") foreach qw(behind down);
my $session = open_session($node);
sub number_of { return ask($session, "SELECT snowid_segment_next('$_[0]')") }
sub counted { return $node->safe_psql('postgres', "SELECT $_[1] FROM snowid.stat_counters WHERE relation = '$_[0]'::regclass") }
sub logged { return scalar(() = slurp_file($node->logfile) =~ /$_[0]/g) }

number_of('behind');
is(counted('behind', 'source, source_failures, last_failure IS NULL AND last_failure_at IS NULL'), 'central|0|t', 'a source that gives numbers');
my $failures = 0;
foreach my $passed (0, 2, 57)
{
    stop_clock($second += $passed, $node);
    $source->safe_psql('postgres', q(SELECT setval('behind_seq', 1, false)));
    is(ask($session, q(SELECT count(snowid_segment_next('behind')) FROM generate_series(1, 1500))), 1500, 'one that is behind: numbers go on while they last');
    $failures++;
    is(counted('behind', 'source_failures, last_failure, extract(epoch FROM last_failure_at)::bigint'), "$failures|55000|$second", 'a failure is counted');
}
is(logged('LOG:  could not allocate numbers from server "central" for sequence "behind"'), 1, 'and logged once a minute');
is(logged(qr/DETAIL: .* failures so far: 1, numbers left on this server: \d+\. Its next block begins at \d+, and numbers up to 100010000 count as allocated to sequence "behind"\./),
    1, 'with figures');

number_of('down');
my $refills = counted('down', 'refills');
$source->stop;
my ($given, $answer) = (1);
$given++ while ($answer = number_of('down')) =~ /^\d+$/;
is($answer, 'ERROR 08006', 'one that is down: an error when numbers have run out');
$failures = counted('down', 'source_failures');
is(counted('down', 'issued, remaining, refills, source_failures > 0, last_failure, last_failure_at IS NOT NULL'), "$given|0|$refills|t|08006|t", 'counted');
is(number_of('down'), 'ERROR 08006', 'who is told from memory');
is(counted('down', 'source_failures'), $failures, 'has not tried');
$source->start;
stop_clock($second += 61, $node);
like(number_of('down'), qr/^\d+$/, 'it comes back');
is(counted('down', 'issued, refills, source_failures, last_failure'), join('|', $given + 1, $refills + 1, $failures, '08006'), 'counted from there');

$node->safe_psql('postgres', 'CREATE ROLE another; GRANT CREATE ON SCHEMA public TO another; ALTER SEQUENCE down OWNER TO another');
is(ask($session, q(SELECT count(snowid_segment_next('down')) FROM generate_series(1, 3000000))), 'ERROR 42501', 'another owner');
$failures = counted('down', 'source_failures');
is(number_of('down'), 'ERROR 42501', 'another owner: each caller is told');
is(counted('down', 'source_failures, last_failure'), $failures + 1 . '|42501', 'another owner: counted each time');
cmp_ok(logged(qr/DETAIL: .*numbers left on this server: [1-9]\d*\. Numbers are allocated with the rights of the owner who attached it/), '>', 0, 'another owner: logged before numbers ran out');
end_test($node, $source);
