# The extension is dropped and created again while a session draws: in one transaction, in two, and in one that a crash takes away.
# The session goes on, up to the ceiling that was, and no ID comes again, though the clock is set back at each crash.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('created_again', conf => "snowid.max_lead = '1d'\n");
my $again = 'BEGIN; DROP EXTENSION snowid; CREATE EXTENSION snowid; COMMIT';
my ($last, $behind, $drawing) = (0, 0);

# Has a session draw, slowly, so that it is at work while the server is worked at.
sub start_drawing
{
    my ($call) = @_;
    $drawing = draw($node, $call, undef, pause_every => 32);
    wait_for_more(500);
    return;
}

sub wait_for_more
{
    my ($ids) = @_;
    my $bytes = -s $drawing->{file} + 20 * $ids;
    wait_for(sub { -s $drawing->{file} >= $bytes }, 'the session to draw');
    return;
}

sub check_drawn
{
    my ($name) = @_;
    finish($drawing);
    (undef, $last) = check_round($name, $last, $drawing);
    return;
}

sub above
{
    my ($name) = @_;
    my $id = attempt($node, 'SELECT snowid_next(7)');
    cmp_ok($id, '>', $last, "$name: above all those of before");
    $last = $id;
    return;
}

# The ceiling is raised every few hundred IDs, each of which has a millisecond of its own; or it does not come to that.
foreach my $call ('snowid_reserve(7, 1024)', 'snowid_next(7)')
{
    start_drawing($call);
    $node->safe_psql('postgres', $again);
    wait_for_more(2_000);
    crash_and_start($node, 'kill', -($behind += 600));
    check_drawn("in one transaction, $call");
    unlike(errors_of($drawing), qr/ERROR/, "$call: the session goes on");
    above("$call, after a crash");
}

start_drawing('snowid_reserve(7, 1024)');
$node->safe_psql('postgres', 'DROP EXTENSION snowid');
check_drawn('in two transactions');
is(sqlstate_of(errors_of($drawing)), '55000', 'dropped: the session is refused in the end');
$node->safe_psql('postgres', 'CREATE EXTENSION snowid');
above('created again later');
crash_and_start($node, 'kill', -($behind += 600));
above('created again later, after a crash');

# Another session goes on below the ceiling that it knows, and then waits for the transaction, which gets no IDs itself.
start_drawing('snowid_reserve(7, 1024)');
my $session = open_session($node);
ask($session, $_) foreach 'BEGIN', 'DROP EXTENSION snowid', 'CREATE EXTENSION snowid';
wait_for_waiting($node, 1, 'Lock', '^COPY');
crash_and_start($node, 'kill', -($behind += 600));
close_session($session);
check_drawn('beside an uncommitted extension');
above('beside an uncommitted extension, after a crash');
end_test($node);
