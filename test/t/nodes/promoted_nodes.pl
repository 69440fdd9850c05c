# A server that was promoted or restored unseats nobody by asking, nor is it stopped: it and the old primary are told, at each
# check, until it is stated which one is the node. Then the other one learns that at its next check, and stops.
#
# Runs in make test-all: it has three servers.

use Snowid;
use SnowidNodes;

my $registry = ready_server('registry');
my $original = ready_server('original', allows_streaming => 1, conf => "wal_sender_timeout = 0\nwal_receiver_timeout = 0\n");
add_source($original, $registry, name => 'registry');
is(join_as($original, 'the node'), '1', 'joined');
my $standby = new_standby($original, 'standby');
start_server($standby);
$original->wait_for_catchup($standby);
is($_->($standby), 'ERROR 25006', 'a standby draws nothing, and does not check') foreach \&number_of, \&check_node;
cut_off($standby, $original);
is(check_node($original), '1', 'the primary checks, which the standby does not hear of') for 1, 2;
$standby->promote;
is(number_of($standby), '1|1', 'promoted: it goes on');
my $warned = qr/WARNING:.*not confirmed number 1.*\nDETAIL:  This server was promoted.*\nHINT:.*take_over_node/;
foreach my $round (1, 2)
{
    like(message_of($standby, 'SELECT snowid.check_node()'), $warned, "promoted: warned, $round");
    is(check_node($standby), '1', 'and goes on');
    like(problem_of($standby), qr/this server was promoted or restored/, 'and shows it');
    like(message_of($original, 'SELECT snowid.check_node()'), qr/WARNING:.*\nDETAIL:  Another server, which was promoted.*\nHINT:.*take_over_node/,
        "so is the old primary, $round");
    is(number_of($original), '1|1', 'which goes on, too');
    like(problem_of($original), qr/another server, which was promoted/, 'and shows it');
}
isnt($registry->safe_psql('postgres', 'SELECT promoted_seen FROM snowid.registry'), '', 'the registry shows it');

# Who states that the registry is his does not say that he is the node; also where it is another one by then.
$registry->safe_psql('template1', 'CREATE DATABASE moved TEMPLATE postgres');
$registry->safe_psql('moved', 'SELECT snowid.recover_registry(numbers_used) FROM snowid.registry_usage');
foreach my $dbname ('postgres', 'moved', 'postgres')
{
    $_->safe_psql('postgres', "ALTER SERVER registry OPTIONS (SET dbname '$dbname')") foreach $original, $standby;
    is(attempt($standby, 'SELECT snowid.take_over_node()'), 'ERROR 55000', 'another registry is none to take over at') if $dbname eq 'moved';
    like(message_of($standby, 'SELECT snowid.accept_registry()'), $warned, "accepts $dbname: warned");
    is(attempt($standby, 'SELECT snowid.accept_registry()'), '1', "accepts $dbname: goes on");
    is(attempt($original, 'SELECT snowid.accept_registry()'), '1', "the old primary accepts $dbname");
    is(check_node($original) . number_of($original), '11|1', 'is not replaced, and goes on');
}

# It is stated: the old primary, the promoted one, and the old one once more.
is(take_over($original) . check_node($original) . problem_of($original), '11', 'the old primary is stated to be the node');
like(message_of($standby, 'SELECT snowid.check_node()'), qr/WARNING:/, 'the promoted one is warned as before');
foreach my $pair ([ $standby, $original ], [ $original, $standby ])
{
    my ($stated, $other) = @$pair;
    is(take_over($stated) . check_node($stated) . problem_of($stated), '11', $stated->name . ' is stated, and nothing is wrong');
    is(attempt($other, "SELECT $_"), 'ERROR 55000', $other->name . ": $_") foreach 'snowid.check_node()', 'snowid_next()', 'snowid_next(7)';
}

# After pg_upgrade timelines begin anew.
my %is_at = (claim => claim_of(9), node_number => 2);
sub at_registry { return attempt($registry, request(@_, %is_at)) }
is(at_registry('claim', timeline => 3), 'held|2', 'a node on timeline 3');
is(at_registry('take over', timeline => 1, system_identifier => 2, next => 5), 'held|2', 'is upgraded');
is(at_registry('exchange', timeline => 2, system_identifier => 2, exchange => 1, token => 5, next => 6), 'promoted|2', 'and promoted: replaces nobody');
is(at_registry('exchange', timeline => 1, system_identifier => 2, exchange => 1, token => 5, next => 7), 'held|2', 'the upgraded one goes on');
$_->stop foreach $standby, $original;
end_test($registry);
