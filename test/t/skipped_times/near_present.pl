# IDs of a clock that was nine seconds ahead, then an hour: as long as the first are near the present their times cannot be stated, and they do
# not come again whatever lead a session has. The clock stands.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use SnowidSkippedTimes;

my $node = start_skipping('near');
new_database('near');
my $now = int(time) + 100;
stop_clock($now + 9, $node);
my $near = at('near', 'INSERT INTO ids SELECT snowid_next(1) FROM generate_series(1, 2000) RETURNING id');
stop_clock($now + 3600, $node);
at('near', 'INSERT INTO ids SELECT snowid_next(1)');
# So that nothing in memory tells of them.
crash($node, 'kill');
stop_clock($now, $node);
start_server($node);
is(answer_to('near'), 'ERROR 22023', 'what begins within ten seconds cannot be stated');
is(at('near', 'SELECT snowid_next(1)'), 'ERROR SN001', 'nothing has happened');
set_clock(115);
check_stated('near', 'when the clock has passed it');
foreach my $lead ('0', '1s', '20d')
{
    set_clock(109) if $lead eq '20d';
    check_apart("near, lead $lead", $near, at('near', "SET snowid.max_lead = '$lead'; SELECT snowid_next(1) FROM generate_series(1, 2000)"));
}
end_test($node);
