# One session refills at a time: where each number has to be allocated, eight at once get all numbers, none twice. The right to
# is no lock that pg_locks shows, since readers of it, and detectors of deadlocks, would take it for DDL.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('right', allows_streaming => 1, conf => "snowid.segment_adapt = off\n",
    sql => join '; ', map { "CREATE SEQUENCE $_" } qw(single limits held held_limit));
my @drawing = map { draw($node, q(snowid_segment_next('single')), 500) } 1 .. 8;
finish(@drawing);
is(join(' ', check_round('segment', 0, @drawing)), '4000 4000', 'segment: all, and no gap');
@drawing = map { draw($node, q(1, snowid_section_next('limits', 1)), 500) } 1 .. 8;
finish(@drawing);
is((check_keys('section', 0, @drawing))[0], 4000, 'section: all');

my ($refiller, $waiter, $third) = my @sessions = map { open_session($node) } 1 .. 3;
foreach my $draw (q(SELECT snowid_segment_next('held')), q(SELECT snowid_section_next('held_limit', 1)))
{
    my $commits = hold_commits($node);
    start_waiting($refiller, $draw, 'SyncRep');
    start_waiting($waiter, $draw, 'Extension');
    is(ask($third, <<"SQL"), 'relation|RowExclusiveLock|t', "$draw: no lock but nextval's in pg_locks");
SELECT DISTINCT locktype, mode, granted FROM pg_locks WHERE locktype <> 'virtualxid' AND pid IN ($refiller->{backend}, $waiter->{backend})
SQL
    is(ask($third, "SELECT pg_blocking_pids($waiter->{backend})"), '{}', "$draw: nobody blocks who waits");
    release_commits($node, $commits);
    # Who has waited may be the quicker one.
    is(join(' ', sort(answer($refiller), answer($waiter))), '1 2', "$draw: then both are served");
}
end_test($node);
