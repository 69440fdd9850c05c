# A refill that waits for a lock at the source counts as an outage after a while, as one does that the source gives up: numbers go on while they
# last, then there is an error, and service comes back by itself.
# Runs in make test-all: it waits for time-outs.

use Snowid;

my ($source, $node) = ready_source({ slow => 'INCREMENT 1000', late => 'INCREMENT 1000' });
my @sessions = map { open_session($node) } 1 .. 3;
attach($sessions[0], $_) foreach 'slow', 'late';
my $holder = open_session($source);
foreach my $sequence ('slow', 'late')
{
    my $draw = "SELECT snowid_segment_next('$sequence')";
    is(scalar(grep { /^\d+$/ } map { ask($sessions[1], $draw) } 1 .. 50), 50, "$sequence: a source that is there");
    ask($holder, "BEGIN; ALTER SEQUENCE $sequence MINVALUE -1");
    if ($sequence eq 'slow') { give_up($sessions[0], $sequence) }
    else
    {
        $node->safe_psql('postgres', q(ALTER SERVER central OPTIONS (ADD options '-c statement_timeout=200ms')));
        is(scalar(grep { /^\d+$/ } map { ask($sessions[1], $draw) } 1 .. 950), 950, "$sequence: numbers go on while they last");
    }
    is(ask($_, $draw), 'ERROR 08006', "$sequence: then there is an error") foreach @sessions;
    like($sessions[1]->{err}, qr/server "central"/, "$sequence: that names the server");
    ask($holder, 'ROLLBACK');
    $node->safe_psql('postgres', q(ALTER SERVER central OPTIONS (DROP options))) if $sequence eq 'late';
    # It is tried after twice as long as it has failed for, by the clock.
    set_clock($sequence eq 'slow' ? 60 : 120, $node);
    wait_for(sub { ask($sessions[0], $draw) =~ /^\d+$/ }, 'service to come back');
}
end_test($node, $source);
