# UUIDs and ObjectIDs are in order after a crash, too, where one database was ahead of the clock, and the server is back at once, and
# another database comes first.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use Time::HiRes qw(time);

my $node = ready_server('order', databases => ['other']);
my $clock = 0;
foreach my $call ('snowid_uuidv7()', 'objectid_next()')
{
    my $greatest = '';
    foreach my $round ([ 'kill', 'postgres', 'other' ], [ 'immediate', 'other', 'postgres' ])
    {
        my ($how, $first, $second) = @$round;
        # Ahead of the clock by most of what snowid.max_lead allows.
        $node->safe_psql($first, "SELECT $call");
        set_clock($clock -= 0.9, $node);
        my @drawn = ($greatest, $node->safe_psql($first, "SELECT $call"));
        my $crashed = time;
        crash($node, $how);
        # The clock is where it was then.
        $clock -= time - $crashed;
        set_clock($clock, $node);
        start_server($node);
        push @drawn, $node->safe_psql($_, "SELECT $call") foreach $second, $first;
        is(join(' ', @drawn), join(' ', sort @drawn), "$how: $call: in order");
        $greatest = $drawn[-1];
    }
}
end_test($node);
