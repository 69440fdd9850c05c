# Every shard of the default layout has room in its database, whatever shards of other layouts any roles take there and in
# other databases, and whatever the clock does meanwhile. What a sweep makes room for takes nothing from it. Two roles with
# CONNECT alone used to take all shards of a database in a second, and everyone else got 53200 at the first ID of a shard.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

# A database has 200 shards of other layouts, the server 800.
my %low = (max_shards => 800, max_shards_of_database => 200);
my $other = q('time:41 shard:13 seq:10 unit:1ms epoch:2012-01-01T00:00:00Z');
my $node = new_server('room');
start_server($node);
my @databases = map { "d$_" } 1 .. 5;
$node->safe_psql('postgres', "CREATE ROLE $_ LOGIN") foreach qw(mallory trudy alice);
foreach my $dbname (@databases)
{
    $node->safe_psql('postgres', "CREATE DATABASE $dbname; REVOKE TEMPORARY ON DATABASE $dbname FROM PUBLIC");
    $node->safe_psql($dbname, 'CREATE EXTENSION snowid; REVOKE ALL ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA public TO PUBLIC');
    lower_bounds($node, $dbname, %low);
}
# With nothing in memory of what the other library has made. The clock goes on 200 s later, and is set back below.
$node->stop;
start_server($node);

# Has a session of a role draw from shards of another layout until it is refused. Returns it, and how many it got.
sub fill
{
    my ($dbname, $role, $from) = @_;
    my $session = open_session($node, dbname => $dbname, user => $role);
    my $got = 0;
    $got++ while ask($session, 'SELECT snowid_next(' . ($from + $got) . ", $other)") =~ /^\d+$/;
    return ($session, $got);
}

# Someone has used shard 0, and a few more, and is gone.
my $last = $node->safe_psql('d1', 'SELECT snowid_next(n) FROM generate_series(3, 0, -1) n');
$last = (split /\n/, $last)[-1];
set_clock(200, $node);

# 1. Two roles take all that there is, in four databases, and keep it; and go on asking, so that whatever may be swept is.
my (@keeping, %got);
foreach my $dbname (@databases[ 0 .. 3 ])
{
    my ($first, $mallory) = fill($dbname, 'mallory', 0);
    my ($second, $trudy) = fill($dbname, 'trudy', 1000);
    push @keeping, $first, $second;
    is($mallory + $trudy, 200, "$dbname: the two have all shards of other layouts");
}
like($keeping[0]{err}, qr/^ERROR:  53400: too many shards of layouts other than "instagram" are in use\nDETAIL:  This database has 200, .*\nHINT:  End the sessions/,
    'they are told of the bound');
my ($late, $more) = fill('d5', 'mallory', 0);
is($more, 0, 'where the server is full, another database has none');
like($late->{err}, qr/DETAIL:  The server has 800, .*\nHINT:  .*in any database/, 'and its bound is told');
foreach my $session (@keeping, $late)
{
    wait_for(sub { ask($session, "SELECT snowid_next(5000, $other)") eq 'ERROR 53400' }, 'the next one to be refused');
}

# 2. All shards of the default layout are there for anyone: shard 0, which nobody uses, with what it has issued; those never
# used before; in each database.
is($node->safe_psql('d1', q(SELECT issued FROM snowid.stat_shards WHERE shard = 0 AND layout = 'instagram')), '1',
    'shard 0 was not swept');
my $alice = open_session($node, dbname => 'd1', user => 'alice');
cmp_ok(ask($alice, 'SELECT snowid_next()'), '>', $last, 'shard 0 goes on');
foreach my $dbname (@databases)
{
    my $session = open_session($node, dbname => $dbname, user => 'alice');
    is(ask($session, 'SELECT count(snowid_next(n)) FROM generate_series(0, 4000) n'), '4001', "$dbname: shards never used before");
    close_session($session);
}

# 3. The clock is set back. What was swept by the time that it had does not hold up a shard of the default layout.
set_clock(100, $node);
ask($alice, 'SET snowid.max_wait = 0');
like(ask($alice, 'SELECT snowid_next(8191)'), qr/^\d+$/, 'the clock is set back: a shard never used before');
close_session($alice);
my $superuser = open_session($node, dbname => 'd1');
is(ask($superuser, 'SELECT count(snowid_next(n)) FROM generate_series(4001, 8191) n'), '4191', 'and all the others');
close_session($superuser, @keeping, $late);

# 4. Shards of the default layout that a dropped database has used go, though no bound is met; those of others stay.
lower_bounds($node, 'd1', %low, shards_between_sweeps => 100);
lower_bounds($node, 'postgres', %low);
$node->safe_psql('postgres', 'CREATE EXTENSION snowid');
my $memory = sub { $node->safe_psql('postgres', 'SELECT ids_memory FROM snowid.stat_database') };
$node->stop;
set_clock(300, $node);
start_server($node);
$node->safe_psql('d2', 'SELECT count(snowid_next(n)) FROM generate_series(1, 60) n');
$node->safe_psql('d1', 'SELECT count(snowid_next(n)) FROM generate_series(1, 10) n');
my @memory;
foreach my $round (1 .. 8)
{
    $node->safe_psql('postgres', 'CREATE DATABASE brief');
    $node->safe_psql('brief', 'CREATE EXTENSION snowid');
    lower_bounds($node, 'brief', %low);
    $node->safe_psql('brief', 'SELECT count(snowid_next(n)) FROM generate_series(1, 100) n');
    $node->safe_psql('postgres', 'DROP DATABASE brief');
    $node->safe_psql('d1', "SELECT snowid_next(100 + $round)");
    push @memory, $memory->();
}
is($node->safe_psql('d2', 'SELECT count(*) FROM snowid.stat_shards'), '60', 'dropped databases: shards of others stay');
is($node->safe_psql('d1', 'SELECT count(*) FROM snowid.stat_shards'), '18', 'in use or not');
cmp_ok($memory[7] - $memory[3], '<', 2 * 100 * 64, 'dropped databases leave nothing behind') or diag("@memory");

$node->stop;
done_testing();
