# A server that was promoted or restored unseats nobody by asking, nor is it stopped: it and the old primary are told, at each
# check, until it is stated which one is the node. Then the other one learns that at its next check, and stops.
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
    like(problem_of($standby), qr/^This server was promoted or restored/, 'and shows it');
    like(message_of($original, 'SELECT snowid.check_node()'), qr/WARNING:.*\nDETAIL:  Another server, which was promoted.*\nHINT:.*take_over_node/,
        "so is the old primary, $round");
    is(number_of($original), '1|1', 'which goes on, too');
    like(problem_of($original), qr/^Another server, which was promoted/, 'and shows it');
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
foreach my $pair ([ $original, $standby ], [ $standby, $original ], [ $original, $standby ])
{
    my ($stated, $other) = @$pair;
    is(take_over($stated) . problem_of($stated) . check_node($stated) . problem_of($stated), '11', $stated->name . ' is stated, and nothing is wrong');
    is(attempt($other, "SELECT $_"), 'ERROR 55000', $other->name . ": $_") foreach 'snowid.check_node()', 'snowid_next()', 'snowid_next(7)';
    is(message_of($stated, 'SELECT snowid.check_node()'), '', $stated->name . ' hears nothing of that');
}

# A server that was promoted later than that has not been replaced: it is warned. One that was promoted before has nothing to give back.
is(join_as($standby, 'another name'), '2', 'the promoted one joins');
is(check_node($original), '1', 'the node checks');
my %is_of = (claim => $registry->safe_psql('postgres', 'SELECT claim FROM snowid_internal.nodes WHERE node_number = 1'), node_number => 1,
    system_identifier => $original->safe_psql('postgres', 'SELECT system_identifier FROM pg_control_system()'),
    database_oid => $original->safe_psql('postgres', q(SELECT oid FROM pg_database WHERE datname = 'postgres')));
my ($at, $taken_over) = split /\|/, $registry->safe_psql('postgres', 'SELECT exchange, taken_over FROM snowid_internal.nodes WHERE node_number = 1');
foreach my $step ([ $taken_over, 'promoted|1' ], [ $taken_over - 1, 'copy|1' ], [ 0, 'copy|1' ])
{
    is(attempt($registry, request($_, %is_of, timeline => 9, exchange => $step->[0], token => 5)), $step->[1], "$_: $step->[0] of $at exchanges, $taken_over when it was stated")
      foreach 'exchange', 'accept', 'leave';
}
is($registry->safe_psql('postgres', 'SELECT retired IS NULL FROM snowid.registry WHERE node_number = 1'), 't', 'nothing is retired');

# After pg_upgrade timelines begin anew.
sub at_registry { return attempt($registry, request(@_, claim => claim_of(9), node_number => 3)) }
is(at_registry('claim', timeline => 3), 'held|3', 'a node on timeline 3');
is(at_registry('take over', timeline => 1, system_identifier => 2, next => 5), 'held|3', 'is upgraded');
is(at_registry('exchange', timeline => 2, system_identifier => 2, exchange => 1, token => 5, next => 6), 'promoted|3', 'and promoted: replaces nobody');
is(at_registry('exchange', timeline => 1, system_identifier => 2, exchange => 1, token => 5, next => 7), 'held|3', 'the upgraded one goes on');
$_->stop foreach $standby, $original;
end_test($registry);
