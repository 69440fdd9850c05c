# Who is stuck at a silent central source holds up neither the end of his session nor a stop of the server.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use SnowidFakes;

my $source = new_server('source');
$source->start;
my $node = new_server('node');
$node->start;
my @open;
foreach my $way (qw(closed deaf foreign))
{
    my $name = "silent_$way";
    attach_to($node, $source, $name);
    $node->safe_psql('postgres', "ALTER SERVER $name OPTIONS (SET connect_timeout '600')");
    my $fake = start_fake($way);
    point_at($node, $fake, name => $name);
    foreach my $number (1, 2)
    {
        push @open, my $session = open_session($node);
        start_asking($session, statement_for($name, 1));
        wait_for(sub { $fake->clients == $number }, "$way: the refill to be stuck");
        next if $number == 2;
        $node->safe_psql('postgres', "SELECT pg_terminate_backend($session->{backend})");
        wait_for(sub { $node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE pid = $session->{backend}") eq '0' }, "$way: the session to end");
        pass("$way: the session can be ended");
    }
}
ok($node->stop('fast', fail_ok => 1), 'the server can be stopped');
# Where it could not.
$node->stop('immediate');
close_session(@open);
check_log($node);
end_test($source);
