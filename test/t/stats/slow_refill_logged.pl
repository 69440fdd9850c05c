# A refill that takes more than a second is counted with its time, and the log tells of it, once a minute for each sequence.
# Runs in make test-all: its refills take long.

use Snowid;
use Time::HiRes qw(sleep);

my $node = ready_server('slow', allows_streaming => 1);
my $session = open_session($node);
foreach my $case ([ 'segment', 'ships', q(SELECT snowid_segment_next('ships')) ], [ 'section', 'keys', q(SELECT snowid_section_next('keys', 1)) ])
{
    my ($kind, $sequence, $draw) = @$case;
    my $times = 0;
    $node->safe_psql('postgres', "CREATE SEQUENCE $sequence INCREMENT 1000");
    foreach my $counted ('refill_time = max_refill_time', 'refill_time > 2000', 'refill_time > max_refill_time')
    {
        $node->safe_psql('postgres', "SELECT setval('$sequence', 1000000 * last_value) FROM $sequence") if $times++;
        my $held = $times < 3 ? hold_commits($node) : undef;
        start_asking($session, $draw);
        if ($held)
        {
            wait_until_waiting($node, $session, 'SyncRep');
            sleep 1.1;
            release_commits($node, $held);
        }
        like(answer($session), qr/^\d+$/, "$kind, refill $times: a number");
        is($node->safe_psql('postgres', "SELECT refills, max_refill_time > 1000, $counted FROM snowid.stat_counters WHERE relation = '$sequence'::regclass"),
            "$times|t|t", "$kind, refill $times: $counted");
    }
    is(join(' ', slurp_file($node->logfile) =~ /LOG:  refilling sequence "$sequence" took \d{4,} ms\n.*DETAIL:  Refills so far: (\d), of \d{4,}\.\d ms on average\./g),
        1, "$kind: the log is told of the first");
}
end_test($node);
