# Slots of released shards in shared memory: no sweep has a released shard opened, and they go with their database. They are no
# reason to take a layout's last time for one that was used: a database that gets the OID of one that was dropped goes on as the
# clock has it.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use Time::HiRes qw(sleep);

# A server has 100 slots of other layouts than the default one, a database 25; a sweep forgets 5 at a time.
my $node = ready_server('node');
my $oid = 100_000;

sub make_database
{
    my ($dbname, $at) = @_;
    $node->safe_psql('postgres', "CREATE DATABASE $dbname OID @{[ $at // ++$oid ]}");
    $node->safe_psql($dbname, 'CREATE EXTENSION snowid');
    return lower_bounds($node, $dbname, max_shards => 100, max_shards_of_database => 25, most_idle_shards => 5);
}

sub session_of
{
    my ($dbname, $sql) = @_;
    my $session = open_session($node, dbname => $dbname);
    ask($session, q(SET snowid.max_wait = '20s'; ) . ($sql // ''));
    return $session;
}
sub check_closed { my ($name, $session) = @_; is(ask($session, "SELECT snowid_next($_, 'twitter')"), 'ERROR 55000', "$name: shard $_ is closed") foreach 1, 12; return }
my @databases = map { "d$_" } 1 .. 4;
make_database($_) foreach @databases;
$node->stop;
start_server($node);

# Each has all that it may: half of one's are released. Sweeps leave those closed that are released, and forget others.
$node->safe_psql($_, q(SELECT snowid_next(n, 'twitter') FROM generate_series(1, 25) n)) foreach @databases;
my $release = q(SELECT snowid.release_shard(n, 'twitter') FROM generate_series(1, 12) n);
$node->safe_psql('d1', "$release; SELECT pg_sleep(1.1)");
my $session = session_of('d1');
wait_for(sub { ask($session, "SELECT snowid_next($_, 'twitter')") =~ /^\d+$/ }, 'a sweep to make room') foreach 26 .. 38;
check_closed('others are forgotten', $session);
# By sessions that find no slot, too: since the start nobody has looked.
close_session($session);
$node->stop;
start_server($node);
$session = session_of('d1');
check_closed('after a start', $session);
# Those of the first one lie in memory again, all that are closed among them.
ask($session, "$release; SELECT snowid_next(n, 'twitter') FROM generate_series(20, 32) n");
close_session($session);

# The others have all that they may, and keep it. The database is dropped, and made again with its OID when one sweep has met its
# slots, and has forgotten some of them.
my @others = map { session_of($_, q(SELECT snowid_next(n, 'twitter') FROM generate_series(1, 25) n)) } @databases[ 1 .. 3 ];
my $ceiling = $node->safe_psql('d1', 'SELECT snowid_ceiling()');
$node->safe_psql('postgres', 'DROP DATABASE d1');
is(ask($others[0], q(SELECT snowid_next(26, 'twitter'))), 'ERROR 53400', 'a sweep, which makes no room where all is in use');
make_database('d1', 100_001);
is(attempt($node, "SET snowid.max_wait = '20s'; SELECT snowid_timestamp(snowid_next(40, 'twitter'), 'twitter')"
          . " BETWEEN '$ceiling'::timestamptz - interval '5 s' AND '$ceiling'::timestamptz + interval '1 min'", dbname => 'd1'),
    't', 'the new one goes on as the clock has it');

# Dropped for good, it leaves all of its room to another.
$node->safe_psql('postgres', 'DROP DATABASE d1');
make_database('d5');
my $heir = session_of('d5');
my $inherited = 0;
foreach my $attempt (1 .. 100)
{
    # Each sweep forgets some, and they are a moment apart.
    $inherited++ while $inherited < 25 && ask($heir, "SELECT snowid_next($inherited, 'twitter')") =~ /^\d+$/;
    last if $inherited == 25;
    sleep 0.1;
}
is($inherited, 25, 'a database that is dropped leaves nothing behind');
end_test($node);
