# A standby issues nothing. Promoted, with a clock that is ten minutes behind, it has UUIDs and ObjectIDs of all databases go on above those of
# the primary. ObjectIDs end in 2106.
# Runs in make test-all: it needs a standby.

use Snowid;
use Time::Local qw(timegm);

my @calls = ('snowid_uuidv7()', 'objectid_next()');
my @databases = qw(postgres other);
my $node = ready_server('primary', allows_streaming => 1, databases => ['other']);
my $standby = new_standby($node, 'standby');
set_clock(-600, $standby);
start_server($standby);
$node->wait_for_catchup($standby);
foreach my $call (@calls, q(snowid_next(1, 'twitter')), q(snowid_next_batch(1, 10, 'sonyflake')), q(snowid.advance_shard(1, 'js53')))
{
    is(attempt($standby, "SELECT $call", dbname => $_), 'ERROR 25006', "on a standby, $_: $call") foreach @databases;
}
my %greatest;
foreach my $call (@calls)
{
    my @drawing = map { draw($node, $call, 1_000, dbname => $databases[ $_ % 2 ]) } 1 .. 4;
    finish(@drawing);
    (undef, $greatest{$call}) = check_text_round("on the primary, $call", '', @drawing);
}
$node->wait_for_catchup($standby);
crash($node, 'kill');
$standby->promote;
my @sessions = map { open_session($standby, dbname => $_) } @databases;
foreach my $call (@calls)
{
    is(ask($_, "SET snowid.max_wait = 0; SELECT $call"), 'ERROR SN001', "promoted, clock behind: an error: $call") foreach @sessions;
}
ask($_, q(SET snowid.max_lead = '1d')) foreach @sessions;
check_in_turns('promoted, clock behind', $_, \$greatest{$_}, @sessions, @sessions) foreach @calls;
ask($_, 'RESET snowid.max_lead') foreach @sessions;
set_clock(60, $standby);
check_in_turns('promoted, clock right', $_, \$greatest{$_}, @sessions, @sessions) foreach @calls;
close_session(@sessions);

# The server starts there: PostgreSQL's checkpointer, with assertions, does not survive a step of 68 years.
$standby->stop;
set_clock(timegm(16, 28, 6, 7, 1, 2106) - time, $standby);
start_server($standby);
foreach my $database (@databases)
{
    is(attempt($standby, 'SELECT objectid_next()', dbname => $database), 'ERROR 2200H', "no ObjectID past the end, in $database");
    is(attempt($standby, q(SELECT snowid_uuid_timestamp(snowid_uuidv7()) > '2106-01-01'), dbname => $database), 't', "but UUIDs, in $database");
}
end_test($standby);
