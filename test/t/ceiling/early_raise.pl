# While there is room below the ceiling, nobody waits for the disk: who raises it early leaves it at a record that counts for nothing
# yet. If the power is cut then, no ID comes again.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use Time::HiRes qw(time);

my $node = new_powered_server('early');
$node->append_conf('postgresql.conf', "snowid.ceiling_step = '5s'\n");
start_server($node);
$node->safe_psql('postgres', 'CREATE EXTENSION snowid');
$node->stop;
power_on($node);
hold_wal_writer($node);
my ($session, $watching) = map { open_session($node) } 1 .. 2;
my $pid = $session->{backend};
# The clock stands still each time, or the room would be used up.
my $from = int(time) + 10;
stop_clock($from, $node);
my $last = ask($session, 'SELECT snowid_next(1)');
hang_disk($node);

sub is_served
{
    start_asking($session, 'SELECT snowid_next(1)');
    wait_for(sub { is_answered($session) || ask($watching, "SELECT wait_event ILIKE 'WALSync' FROM pg_stat_activity WHERE pid = $pid") eq 't' },
        'a session to wait for the disk, or to be answered');
    return is_answered($session);
}

foreach my $later (2.7, 3.2, 3.7, 4.2, 4.7)
{
    stop_clock($from + $later, $node);
    ok(is_served(), "after $later s: the disk hangs, and nobody waits") or last;
    $last = answer($session);
}
stop_clock($from + 50, $node);
ok(!is_served(), 'above the ceiling: who draws waits');
cut_power($node);
close_session($session, $watching);
set_clock(-3600, $node);
start_server($node);
cmp_ok(attempt($node, "SET snowid.max_lead = '1d'; SELECT snowid_next(1)"), '>', $last, 'after the cut: above what was seen');
end_test($node);
