# While a session that raises a section's limit after a setval waits for that to be durable, nobody gets a number of before.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('raised', allows_streaming => 1, sql => 'CREATE SEQUENCE keyed INCREMENT 100');
my ($raiser, $other, $third) = my @sessions = map { open_session($node) } 1 .. 3;
my $next = q(SELECT snowid_section_next('keyed', 1));
is(ask($_, "$next > 0"), 't', 'before the change') foreach @sessions;
foreach my $set (5000, 20)
{
    my $held = hold_commits($node);
    $node->safe_psql('postgres', "SET synchronous_commit = off; SELECT setval('keyed', $set)");
    start_waiting($raiser, q(SELECT snowid_section_next('keyed', 2)), 'SyncRep');
    is(ask($third, q(SELECT snowid_section_current('keyed', 1) IS NULL)), 't', "set to $set: no number of before is the last one");
    start_asking($other, $next);
    my $waits = "SELECT wait_event_type = 'Extension' FROM pg_stat_activity WHERE pid = $other->{backend}";
    wait_for(sub { is_answered($other) || $node->safe_psql('postgres', $waits) eq 't' }, 'another session to wait, or to be answered');
    release_commits($node, $held);
    is(answer($_), $set + 1, "set to $set: numbers are above") foreach $raiser, $other;
}
end_test($node);
