# Slots of released shards in shared memory. They are no reason to take a layout's last time for one that was
# used: where a database is dropped, and another one gets its OID, that goes on as the clock has it. They go
# with their database; and no sweep has a released shard opened.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;
use Time::HiRes qw(sleep);

# A server has 100 slots of other layouts than the default one, a database 25; a sweep forgets 5 at a time.
my %low = (max_shards => 100, max_shards_of_database => 25, most_idle_shards => 5);
my $node = new_server('node');
start_server($node);
my @databases = map { "d$_" } 1 .. 4;
my $oid = 100_000;
foreach my $dbname (@databases)
{
    $oid++;
    $node->safe_psql('postgres', "CREATE DATABASE $dbname OID $oid");
    $node->safe_psql($dbname, 'CREATE EXTENSION snowid');
    lower_bounds($node, $dbname, %low);
}
$node->stop;
start_server($node);

# Each has all that it may: half of one's are released.
$node->safe_psql($_, q(SELECT snowid_next(n, 'twitter') FROM generate_series(1, 25) n)) foreach @databases;
$node->safe_psql('d1', q(SELECT snowid.release_shard(n, 'twitter') FROM generate_series(1, 12) n));

# Sweeps for the bound of one database leave those closed that are released, and forget others.
$node->safe_psql('postgres', 'SELECT pg_sleep(1.1)');
my $session = open_session($node, dbname => 'd1');
ask($session, q(SET snowid.max_wait = '20s'));
foreach my $shard (26 .. 38)
{
    wait_for(sub { ask($session, "SELECT snowid_next($shard, 'twitter')") =~ /^\d+$/ }, 'a sweep to make room');
}
pass('others are forgotten');
is(ask($session, "SELECT snowid_next($_, 'twitter')"), 'ERROR 55000', "shard $_ is closed") foreach 1, 12;
# By sessions that find no slot, too: since the start nobody has looked.
close_session($session);
$node->stop;
start_server($node);
$session = open_session($node, dbname => 'd1');
is(ask($session, "SELECT snowid_next($_, 'twitter')"), 'ERROR 55000', "after a start: shard $_ is closed") foreach 1, 12;
# Those of the first one lie in memory again, all that are closed among them.
ask($session, q(SELECT snowid.release_shard(n, 'twitter') FROM generate_series(1, 12) n));
ask($session, q(SELECT snowid_next(n, 'twitter') FROM generate_series(20, 32) n));
close_session($session);

# The others have all that they may, and keep it.
my @others = map { open_session($node, dbname => $_) } @databases[ 1 .. 3 ];
ask($_, q(SET snowid.max_wait = '20s'; SELECT snowid_next(n, 'twitter') FROM generate_series(1, 25) n)) foreach @others;

# The database is dropped, and made again with its OID when one sweep has met its slots, and has forgotten
# some of them.
my $ceiling = $node->safe_psql('d1', 'SELECT snowid_ceiling()');
$node->safe_psql('postgres', 'DROP DATABASE d1');
is(ask($others[0], q(SELECT snowid_next(26, 'twitter'))), 'ERROR 53400', 'a sweep, which makes no room where all is in use');
$node->safe_psql('postgres', 'CREATE DATABASE d1 OID 100001');
$node->safe_psql('d1', 'CREATE EXTENSION snowid');
lower_bounds($node, 'd1', %low);
is(attempt($node, "SET snowid.max_wait = '20s'; SELECT snowid_timestamp(snowid_next(40, 'twitter'), 'twitter')"
          . " BETWEEN '$ceiling'::timestamptz - interval '5 s' AND '$ceiling'::timestamptz + interval '1 min'", dbname => 'd1'),
    't', 'the new one goes on as the clock has it');

# Dropped for good, it leaves all of its room to another.
$node->safe_psql('postgres', 'DROP DATABASE d1');
$node->safe_psql('postgres', 'CREATE DATABASE d5');
$node->safe_psql('d5', 'CREATE EXTENSION snowid');
lower_bounds($node, 'd5', %low);
my $heir = open_session($node, dbname => 'd5');
ask($heir, q(SET snowid.max_wait = '20s'));
my $inherited = 0;
foreach my $attempt (1 .. 100)
{
    # Each sweep forgets some, and they are a moment apart.
    $inherited++ while $inherited < 25 && ask($heir, "SELECT snowid_next($inherited, 'twitter')") =~ /^\d+$/;
    last if $inherited == 25;
    sleep 0.1;
}
is($inherited, 25, 'a database that is dropped leaves nothing behind');
close_session($heir, @others);
check_log($node);
$node->stop;
done_testing();
