# The source dies under load, whether connections are refused or never answered: numbers go on while allocated blocks last, then each caller gets
# an error at once, of whom few try themselves; service comes back by itself, and no number comes twice.
# Runs in make test-all: it crashes a source under load.

use Snowid;

my ($source, @nodes) = ready_source({ orders => 'INCREMENT 1000', (map { $_ => 'INCREMENT 10' } qw(spare kill_seq immediate_seq)) });
push @nodes, ready_server('other');
add_source($nodes[1], $source);
foreach my $node (@nodes)
{
    $node->safe_psql('postgres', "CREATE SEQUENCE $_; SELECT snowid_segment_attach('$_', 'central', '$_')") foreach qw(orders spare kill_seq immediate_seq);
    $node->safe_psql('postgres', q(SELECT snowid_segment_next('spare')));
}
# A session draws no more than a number a millisecond, so what each server has by then lasts for the longest time that anything is waited for.
my @drawing = map { my $node = $_; map { draw($node, q(snowid_segment_next('orders')), undef, pause_every => 1) } 1 .. 3 } @nodes;
foreach my $node (@nodes)
{
    wait_for(sub { $node->safe_psql('postgres', q(SELECT last_value > 500000 + snowid_segment_next('orders') FROM orders)) eq 't' }, 'enough to go on without the source');
}
foreach my $how ('kill', 'immediate')
{
    wait_to_go_on(@drawing);
    my $before = last_value($source, 'orders');
    crash($source, $how);
    my $hole = $how eq 'kill' ? undef : black_hole($source);
    my $name = $hole ? 'no answer' : 'refused';
    # Each has numbers left of this one, the first time, and none of the other.
    foreach my $node (@nodes)
    {
        my $session = open_session($node);
        my ($left, $answer) = (0);
        $left++ until ($answer = ask($session, q(SELECT snowid_segment_next('spare')))) =~ /ERROR/;
        cmp_ok($left, '>', 0, "$name: numbers go on while they last") if !$hole;
        is($answer, 'ERROR 08006', "$name: then there is an error");
        like($session->{err}, qr/could not allocate numbers from server "central"/, "$name: that names the server");
        close_session($session);
    }
    wait_to_go_on(@drawing);
    attempts_at($hole) if $hole;
    my @callers = map { open_session($nodes[0]) } 1 .. 6;
    is(scalar(grep { ask($callers[ $_ % 6 ], "SELECT snowid_segment_next('${how}_seq')") eq 'ERROR 08006' } 1 .. 60), 60, "$name: every caller gets an error");
    # Those of the load may have tried as well.
    cmp_ok(attempts_at($hole), '<', 30, "$name: and few have tried themselves") if $hole;
    wait_to_go_on(@drawing);
    is(errors_of(@drawing), '', "$name: those that have blocks have drawn on all the time");

    undef $hole;
    $source->start;
    wait_for(sub { ask($_, "SELECT snowid_segment_next('${how}_seq')") =~ /^\d/ }, 'service to come back') foreach @callers;
    close_session(@callers);
    cmp_ok(last_value($source, 'orders'), '>=', $before, "$name: nothing that was allocated is forgotten");
    wait_to_go_on(@drawing);
}
stop_drawing(\@nodes, @drawing);
check_round('before, in and after the outages', 0, @drawing);
end_test(@nodes, $source);
