# portable/snowid.sql: what somebody was shown after its commit does not come again, though the server is killed, under load or in
# a quiet moment, and the clock is behind then.
# Runs in make test-all: sessions draw for long, with crashes.

use IPC::Run;
use Snowid;
use Time::HiRes qw(time);

my $node = new_quiet_server('clock');
start_server($node);
create_portable($node, 'app', shards => [ 1, 3 ]);
$node->safe_psql('app', 'CREATE ROLE clerk LOGIN; UPDATE snowid.settings SET max_lead = 86400000');

# What the first session has drawn is in a transaction that is open: nobody has had that written to disk.
foreach my $how ('kill', 'immediate')
{
    stop_clock(time + 7200 + ($how eq 'kill' ? 100 : 200), $node);
    my ($open, $sees) = map { open_session($node, dbname => 'app', user => 'clerk') } 1 .. 2;
    ask($open, 'BEGIN; SELECT snowid_next(3), snowid_next(3)');
    my @seen = map { ask($sees, 'SELECT snowid_next(3)') } 1 .. 5;
    crash_and_start($node, $how, 3600);
    close_session($open, $sees);
    cmp_ok(attempt($node, 'SELECT snowid_next(3)', dbname => 'app'), '>', $seen[-1], "$how, and the clock behind: above all that was seen");
}

# Under load, with the clock behind by less than was drawn in.
my $dir = PostgreSQL::Test::Utils::tempdir();
append_to_file("$dir/draws", "SELECT snowid_next(1);\n" x 100000);
my $floor = attempt($node, 'SELECT snowid_next(1)', dbname => 'app');
foreach my $round (1 .. 3)
{
    my @drawing = map {
        my $file = "$dir/drawn$round.$_";
        { file => $file, run => IPC::Run::start(
                [ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-U', 'clerk', '-d', $node->connstr('app'), '-f', "$dir/draws" ],
                '<', \undef, '>', $file, '2>', "$file.err") }
    } 1 .. 8;
    wait_to_draw(2000, @drawing);
    crash($node, $round % 2 ? 'kill' : 'immediate');
    finish(@drawing);
    (my $seen, $floor) = check_round("crash $round", $floor, @drawing);
    cmp_ok($seen, '>', 500, "crash $round: sessions had drawn");
    set_clock(3600 - 10 * $round);
    start_server($node);
}
end_test($node);
