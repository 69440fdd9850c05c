# Where a unit of time is long, what a crash leaves of one is not used: IDs go on with the next, and each has all of its sequence.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $hours = q(2, 'time:24 shard:10 seq:12 unit:1h epoch:2020-01-01T00:00:00Z');
my $node = ready_server('long_unit');
my $hour = int(time / 3600 + 1) * 3600;
my $greatest = 0;

# The clock is so many minutes after the hour.
sub at_minute { set_clock($hour + $_[0] * 60 - time); return }

sub serves
{
    my ($name, $count, @sessions) = @_;
    @sessions = map { draw($node, "snowid_next($hours)", 1_000) } 1 .. 4 unless @sessions;
    finish(@sessions);
    (my $got, $greatest) = check_round($name, $greatest, @sessions);
    is($got, $count, "$name: as many as asked for");
    return;
}

at_minute(20);
serves('before', 4_000);
foreach my $round (0 .. 1)
{
    my $name = $round ? 'immediate' : 'kill';
    crash($node, $name);
    # The second time the clock is set back to the hour before.
    at_minute($round ? 50 : 25);
    start_server($node);
    is(attempt($node, "SELECT snowid_next($hours)"), 'ERROR SN001', "$name: refused");
    at_minute(35 + 60 * $round);
    is(attempt($node, "SET snowid.max_wait = 0; SELECT snowid_next($hours)"), 'ERROR SN001', "$name: also later in the hour");
    my $waiting = draw($node, "snowid_next($hours)", 1, setup => "SET snowid.max_wait = '2h'");
    wait_for_waiting($node, 1, 'Extension', 'snowid_next');
    at_minute(62 + 60 * $round);
    serves("$name: the wait ends with the hour", 1, $waiting);
    serves("$name: the next hour", 4_000);
}
at_minute(185);
serves('yet another hour', 4_000);
end_test($node);
