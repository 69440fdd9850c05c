# Who waits for the clock can be cancelled, is stopped by statement_timeout, and goes on when the clock is put right. Under a
# clock that jumps both ways nobody is refused, and IDs increase.

use Snowid;

my $node = ready_server('waiting');
my $patient = q(SET snowid.max_wait = '2h');
set_clock(3600);
my $last = $node->safe_psql('postgres', 'SELECT snowid_next(1)');
set_clock(0);
is(attempt($node, "$patient; SET statement_timeout = '300ms'; SELECT snowid_next(1)"), 'ERROR 57014', 'statement_timeout');
foreach my $end ('cancelled', 'the clock put right')
{
    my $session = draw($node, 'snowid_next(1)', 1, setup => $patient);
    wait_for_waiting($node, 1, 'Extension', 'snowid_next');
    if ($end eq 'cancelled')
    {
        $node->safe_psql('postgres', q(SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Extension'));
        finish($session);
        is(sqlstate_of(errors_of($session)), '57014', $end);
        next;
    }
    set_clock(3600);
    finish($session);
    is((check_round($end, $last, $session))[0], 1, "$end: the wait ends");
}

my @sessions = map { draw($node, 'snowid_next(3)', 5_000, pause_every => 100) } 1 .. 4;
jump_clock($node);
finish(@sessions);
is((check_round('a clock that jumps', 0, @sessions))[0], 20_000, 'a clock that jumps: nobody is refused');
end_test($node);
