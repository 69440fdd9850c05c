# Who takes a node number over goes above all that the other server may have issued: by the registry's clock, as far beyond it
# as the other one's clock and max_lead may have been ahead; whatever its own clock says, and also where the answer is lost,
# or comes late.
# Runs in make test-all: it waits for clocks.

use Snowid;
use SnowidNodes;

my $registry = ready_server('registry');
my $node = ready_server('node');
add_source($node, $registry, name => 'registry');
is(join_as($node, 'the node'), '1', 'joined');
sub now_there { return $registry->safe_psql('postgres', 'SELECT clock_timestamp()') }

# Both clocks from now on; IDs go by it.
sub clocks_at
{
    my ($offset) = @_;
    set_clock($offset, $_) foreach $registry, $node;
    like(attempt($node, q(SET snowid.max_wait = '1min'; SELECT snowid_next())), qr/^\d+$/, "at $offset s the node draws");
    return;
}

sub check_above
{
    my ($name, $moment, $shard) = @_;
    is(attempt($node, "SET snowid.max_lead = '1d'; SELECT snowid_timestamp(snowid_next($shard)) >= timestamptz '$moment' + interval '11 s'"),
        't', "$name: above what another one may have issued");
    return;
}

foreach my $offset (-8, 8)
{
    clocks_at(0);
    set_clock($offset, $registry);
    my $there = now_there();
    my $session = start_taking_over($node);
    my ($until) = $session->{err} =~ /waiting until (.*)/;
    is($registry->safe_psql('postgres', "SELECT timestamptz '$until' - timestamptz '$there' BETWEEN interval '11 s' AND interval '18 s'"),
        't', "the registry $offset s: waits until its clock is as far as another one's may have been");
    set_clock(20, $node);
    set_clock(20 + $offset, $registry);
    is(answer($session), '1', "the registry $offset s: taken over");
    close_session($session);
    set_clock(-600, $node);
    check_above("the registry $offset s, the node far behind", $there, $_) foreach '', 77;
}

# The registry has done it, and the answer is lost: the next check will confirm the number.
clocks_at(20);
stand_between($registry, "IF request = 'take over' THEN " . done_apart($registry) . " RAISE 'lost'; END IF;");
my $lost_at = now_there();
is(attempt($node, 'SELECT snowid.take_over_node()'), 'ERROR P0001', 'the answer is lost');
stand_aside($registry);
is(check_node($node), '1', 'and the node confirmed');
check_above('the answer is lost', $lost_at, '');

# What the other one issues until the registry has done it counts.
clocks_at(40);
my $holder = open_session($registry);
ask($holder, 'SELECT pg_advisory_lock(1)');
stand_between($registry, "IF request = 'take over' THEN PERFORM pg_advisory_xact_lock(1); END IF;");
my $delayed = open_session($node);
start_asking($delayed, 'SELECT snowid.take_over_node()');
wait_for_waiting($registry, 1, 'advisory', 'snowid.register');
set_clock(80, $_) foreach $registry, $node;
my $done_at = now_there();
close_session($holder);
wait_for(sub { is_answered($delayed) || $delayed->{err} =~ /NOTICE:.*waiting until/ }, 'the NOTICE');
set_clock(100, $_) foreach $registry, $node;
is(answer($delayed), '1', 'done after a while');
close_session($delayed);
stand_aside($registry);
set_clock(80, $node);
check_above('done late', $done_at, '');

# What the other server was allowed, and this one is not: also where the first attempt is interrupted.
clocks_at(100);
is(attempt($node, q(SET snowid.max_lead = '2min'; SELECT snowid.check_node())), '1', 'a node whose IDs may be two minutes ahead');
is(check_node($node), '1', 'and which is not allowed it any more');
my $interrupted = start_taking_over($node);
$node->safe_psql('postgres', "SELECT pg_cancel_backend($interrupted->{backend})");
is(answer($interrupted), 'ERROR 57014', 'who takes over is interrupted');
my $ahead = now_there();
my $other = start_taking_over($node);
my ($beyond) = $other->{err} =~ /waiting until (.*)/;
is($registry->safe_psql('postgres', "SELECT timestamptz '$beyond' - timestamptz '$ahead' BETWEEN interval '60 s' AND interval '140 s'"),
    't', 'who takes over without that goes above these');
set_clock(240, $_) foreach $registry, $node;
is(answer($other), '1', 'taken over');
end_test($node, $registry);
