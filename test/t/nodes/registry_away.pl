# A registry that is busy, held up, silent or down: a node is told so in time, draws on meanwhile, and is who it is when the
# registry is back. A claim that is held up, and made again and again, gets one number.
# Runs in make test-all: it waits for timeouts.

use Snowid;
use SnowidNodes;

my $registry = ready_server('registry', allows_streaming => 1);
my $node = ready_server('node');
add_source($node, $registry, name => 'registry');
add_members($node, $registry, 'second');
is(join_as($node, 'first'), '1', 'joined');
my $check = 'SELECT snowid.check_node()';

stand_between($registry, q(RAISE 'busy' USING ERRCODE = 'lock_not_available', HINT = 'Try again.';));
is(check_node($node), 'ERROR 55P03', 'a busy registry');
like(message_of($node, $check), qr/ERROR:  busy\nHINT:  Try again/, 'what it says is shown');
stand_aside($registry);
# Class 57 is what a server says that shuts down or has given up: it could not be reached.
foreach my $code (qw(57014 57P01 57P02 57P03 57P04 57P05))
{
    stand_between($registry, "RAISE 'away' USING ERRCODE = '$code';");
    is(check_node($node), 'ERROR 08006', "a registry that says $code is away");
}
stand_aside($registry);

# Its answer waits for its synchronous standby, whatever the settings; who gives up meanwhile asks again.
my $held = hold_commits($registry);
my $patient = open_session($node);
start_asking($patient, $check);
wait_for_waiting($registry, 1, 'SyncRep', 'register');
$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query = '$check'");
like(answer($patient), qr/^ERROR (?:57014|08006)$/, 'the answer waits, or is given up');
close_session($patient);
my $claims = q(SELECT count(*) FROM pg_stat_activity WHERE query ~ $$'claim'$$ AND wait_event = 'SyncRep');
foreach my $try (1, 2)
{
    my $claiming = open_session($node, dbname => 'second');
    start_asking($claiming, q(SELECT snowid.join('registry', 'second')));
    wait_for(sub { is_answered($claiming) || $registry->safe_psql('postgres', $claims) > 0 }, 'the claim to be held up');
    $node->safe_psql('postgres', "SELECT pg_cancel_backend($claiming->{backend})");
    like(answer($claiming), qr/^ERROR (?:57014|55P03)$/, "a claim that is held up, try $try");
    close_session($claiming);
}
release_commits($registry, $held);
my $given = $registry->safe_psql('postgres', q(SELECT string_agg(node_number::text, ' ') FROM snowid_internal.nodes WHERE node_name = 'second'));
is(join_as($node, 'second', 'second'), $given, 'one number was given, and it gets that');
is(check_node($node), '1', 'a check after that is right');

crash($registry, 'kill');
is(number_of($node), '1|1', 'the registry is down: the node goes on');
is(join_as($node, 'first'), '1', 'it has joined');
is(check_node($node), 'ERROR 08006', 'and cannot check');
crash_and_start($node, 'kill');
is(number_of($node), '1|1', 'also after a crash');
{
    my $hole = black_hole($registry);
    like(message_of($node, $check), qr/could not reach the registry over server "registry"/, 'the registry is silent: an error in time');
}
start_server($registry);
my $checked = $node->safe_psql('postgres', 'SELECT checked FROM snowid.node_status');
is(check_node($node), '1', 'the registry is back: the node is who it is');
is($node->safe_psql('postgres', "SELECT checked > '$checked' FROM snowid.node_status"), 't', 'which its status says');
end_test($node, $registry);
