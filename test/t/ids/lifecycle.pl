# Promises 1 and 2 through all that happens to a database in its life: neighbours, copies of it,
# transactions that roll back or are prepared, the extension dropped and created again under running
# sessions, wal_level = minimal, a preloaded library, a killed backend. Crashes come with the clock set
# back, so that the clock is no help. Clients record every ID that they saw. None comes twice, and later
# ones are greater.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

# The greatest ID seen of each database and shard.
my %greatest;

sub see
{
    my ($node, $dbname, $shard, $id) = @_;
    $greatest{ $node->name }{$dbname}{$shard} = $id;
    return;
}

sub seen
{
    my ($node, $dbname, $shard) = @_;
    return $greatest{ $node->name }{$dbname}{$shard} // 0;
}

# Draws an ID and checks that it is above those seen of its shard.
sub above
{
    my ($name, $node, $dbname, $shard) = @_;
    my $id = attempt($node, "SELECT snowid_next($shard)", dbname => $dbname);
    cmp_ok($id, '>', seen($node, $dbname, $shard), "$name: above all those of before");
    see($node, $dbname, $shard, $id);
    return $id;
}

# Checks what sessions saw of one shard; they are through with it.
sub check
{
    my ($name, $node, $dbname, $shard, @sessions) = @_;
    my ($count, $max) = check_round($name, seen($node, $dbname, $shard), @sessions);
    see($node, $dbname, $shard, $max);
    return $count;
}

# Waits until a session's client has seen as many more IDs.
sub wait_for_ids
{
    my ($session, $more) = @_;
    my $bytes = (-s $session->{file} // 0) + 20 * $more;
    wait_for(sub { (-s $session->{file} // 0) >= $bytes }, 'a session to draw');
    return;
}

# Crashes a server, and starts it with its clock so many seconds behind.
sub crash_behind
{
    my ($node, $how, $behind) = @_;
    crash($node, $how);
    set_clock(-$behind, $node);
    start_server($node);
    my $clock = $node->safe_psql('postgres', 'SELECT extract(epoch FROM clock_timestamp())');
    die 'the clock is not what it should be' if abs($clock + $behind - time) > 30;
    return;
}

# Has a session draw until it is ended, slowly, so that it is at work while the server is worked at.
sub draw_on
{
    my ($node, $call, %options) = @_;
    return draw($node, $call, undef, pause_every => 32, %options);
}

my $node = new_server('lifecycle');
$node->append_conf('postgresql.conf', <<'CONF');
snowid.max_lead = '1d'
max_prepared_transactions = 5
max_worker_processes = 16
max_parallel_workers = 16
CONF
start_server($node);

# Two databases at once: each is unique and in order in itself.
$node->safe_psql('postgres', "CREATE DATABASE $_") foreach qw(one two);
$node->safe_psql($_, 'CREATE EXTENSION snowid') foreach qw(one two);
my @in_one = map { draw($node, 'snowid_next(0)', 10_000, dbname => 'one') } 1 .. 2;
my @in_two = map { draw($node, 'snowid_next(0)', 10_000, dbname => 'two') } 1 .. 2;
finish(@in_one, @in_two);
is(check('first of two databases', $node, 'one', 0, @in_one), 20_000, 'its sessions got all');
is(check('second of two databases', $node, 'two', 0, @in_two), 20_000, 'its sessions got all');

# Neither moves the other. From here on the first one's IDs are hours ahead of any clock here, so it is
# never the clock that keeps them from repeating.
$node->safe_psql('one',
    "SELECT snowid.advance_shard(snowid_encode(clock_timestamp() + interval '6 hours', 0, 0))");
my $of_now = "SELECT snowid_timestamp(snowid_lastval()) < clock_timestamp() + interval '1 hour'";
my $two = open_session($node, dbname => 'two');
ask($two, 'SELECT snowid_next(0)');
is(ask($two, $of_now), 't', 'an advance in one database leaves the other alone');
close_session($two);
above('one database, advanced', $node, 'one', 0);
crash_behind($node, 'kill', 0);
$two = open_session($node, dbname => 'two');
see($node, 'two', 0, ask($two, 'SELECT snowid_next(0)'));
above('one database, after a crash', $node, 'one', 0);
ask($two, 'SELECT snowid_next(0)');
is(ask($two, $of_now), 't', "so does what it learns from its own ceiling");
$node->safe_psql('one', 'DROP EXTENSION snowid');
cmp_ok(ask($two, 'SELECT snowid_next(0)'), '>', seen($node, 'two', 0), 'and that it drops the extension');
close_session($two);
is(attempt($node, 'SELECT snowid_next(0)', dbname => 'one'), 'ERROR 42883', 'which then is gone there');
$node->safe_psql('one', 'CREATE EXTENSION snowid');
above('created again', $node, 'one', 0);

# A copy of a database goes on above what the original has.
foreach my $strategy (qw(wal_log file_copy))
{
    $node->safe_psql('postgres', "CREATE DATABASE $strategy TEMPLATE one STRATEGY $strategy");
    see($node, $strategy, 0, seen($node, 'one', 0));
    above("copy by $strategy", $node, $strategy, 0);
}
crash_behind($node, 'kill', 600);
above("copy by $_, after a crash", $node, $_, 0) foreach qw(wal_log file_copy);

# A transaction that rolls back takes no ID back, nor the ceiling that it has raised.
my $session = open_session($node, dbname => 'one');
ask($session, 'BEGIN');
see($node, 'one', 0, ask($session, 'SELECT snowid_next(0)'));
ask($session, 'ROLLBACK');
cmp_ok(ask($session, 'SELECT snowid_next(0)'), '>', seen($node, 'one', 0), 'rolled back: not reissued');
ask($session, 'BEGIN');
ask($session, 'SELECT snowid_reserve(0, 1024) FROM generate_series(1, 5000)');
see($node, 'one', 0, ask($session, 'SELECT snowid_next(0)'));
ask($session, 'ROLLBACK');
crash_behind($node, 'immediate', 3600);
close_session($session);
above('rolled back, and crashed', $node, 'one', 0);

# Prepared transactions, one that has made the extension among them.
$node->safe_psql('one', 'CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next())');
$node->safe_psql('postgres', 'CREATE DATABASE fresh');
my ($prepared, $in_fresh) = map {
    $node->safe_psql($_->[0],
        "BEGIN; $_->[1]; INSERT INTO photos DEFAULT VALUES RETURNING id; PREPARE TRANSACTION '$_->[0]'")
} ['one', 'SELECT'],
  ['fresh', 'CREATE EXTENSION snowid; CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next())'];
see($node, 'one', 0, (split /\n/, $prepared)[-1]);
see($node, 'fresh', 0, (split /\n/, $in_fresh)[-1]);
crash_behind($node, 'kill', 7200);
above('after a crash, before COMMIT PREPARED', $node, 'one', 0);
foreach my $dbname (qw(one fresh))
{
    my $id = (split /\n/, $dbname eq 'one' ? $prepared : $in_fresh)[-1];
    $node->safe_psql($dbname, "COMMIT PREPARED '$dbname'");
    is($node->safe_psql($dbname, 'SELECT id FROM photos'), $id, "$dbname: what was prepared is there");
    above("$dbname, after COMMIT PREPARED", $node, $dbname, 0);
    is($node->safe_psql($dbname, 'INSERT INTO photos SELECT FROM generate_series(1, 1000);'
              . ' SELECT count(*) FROM photos'), 1001, "$dbname: no duplicate key");
}

# The extension dropped and created again while sessions draw, in one transaction. One of them raises the
# ceiling every few hundred IDs, each of which has a millisecond of its own.
my $again = 'BEGIN; DROP EXTENSION snowid CASCADE; CREATE EXTENSION snowid; COMMIT';
my $drawing = draw_on($node, 'snowid_reserve(7, 1024)', dbname => 'one');
foreach (1 .. 2)
{
    wait_for_ids($drawing, 500);
    $node->safe_psql('one', $again);
}
wait_for_ids($drawing, 2_000);
crash_behind($node, 'kill', 600);
finish($drawing);
check('created again, ceiling raised', $node, 'one', 7, $drawing);
unlike(errors_of($drawing), qr/ERROR/, 'created again, ceiling raised: the session goes on');
above('created again, ceiling raised, after a crash', $node, 'one', 7);

# The other does not come to raise it before the crash.
$drawing = draw_on($node, 'snowid_next(7)', dbname => 'one');
wait_for_ids($drawing, 500);
$node->safe_psql('one', $again);
wait_for_ids($drawing, 500);
crash_behind($node, 'kill', 1200);
finish($drawing);
check('created again, ceiling not raised', $node, 'one', 7, $drawing);
above('created again, ceiling not raised, after a crash', $node, 'one', 7);

# In two transactions. A session goes on up to the ceiling that was, and is refused there.
$drawing = draw_on($node, 'snowid_reserve(7, 1024)', dbname => 'one');
wait_for_ids($drawing, 500);
$node->safe_psql('one', 'DROP EXTENSION snowid');
finish($drawing);
check('dropped', $node, 'one', 7, $drawing);
is(sqlstate_of(errors_of($drawing)), '55000', 'dropped: the session is refused in the end');
$node->safe_psql('one', 'CREATE EXTENSION snowid');
above('created again later', $node, 'one', 7);
crash_behind($node, 'kill', 1800);
above('created again later, after a crash', $node, 'one', 7);

# While a transaction that has dropped and created the extension is open, and gets no IDs itself, another session draws. The
# crash takes that transaction away; what the other session saw stays.
$drawing = draw_on($node, 'snowid_reserve(7, 1024)', dbname => 'one');
wait_for_ids($drawing, 500);
$session = open_session($node, dbname => 'one');
ask($session, $_) foreach 'BEGIN', 'DROP EXTENSION snowid', 'CREATE EXTENSION snowid', 'SAVEPOINT refused';
is(ask($session, 'SELECT snowid_next(8)'), 'ERROR 55000', 'a transaction that has dropped and created the extension');
ask($session, 'ROLLBACK TO refused');
# The other one goes on below the ceiling that it knows, and then waits for the transaction.
wait_for_waiting($node, 1, 'Lock', '^COPY');
crash_behind($node, 'kill', 2400);
close_session($session);
finish($drawing);
check('beside an uncommitted extension', $node, 'one', 7, $drawing);
above('beside an uncommitted extension, after a crash', $node, 'one', 7);

# A killed backend: the postmaster starts all anew by itself, with the clock set back meanwhile. So
# too where it has the library preloaded, which behaves as one that is not.
foreach my $preloaded ('', 'snowid')
{
    $node->append_conf('postgresql.conf',
        "restart_after_crash = on\nshared_preload_libraries = '$preloaded'\n");
    crash_behind($node, 'kill', 60);
    is(attempt($node, 'SHOW snowid.ceiling_step'), $preloaded ? '1s' : 'ERROR 42704',
        $preloaded ? 'preloaded' : 'not preloaded');
    my $name = $preloaded ? 'preloaded' : 'as it comes';
    above("$name, after a crash", $node, 'one', 7);
    my @drawing = map { draw_on($node, 'snowid_next(7)', dbname => 'one') } 1 .. 3;
    wait_for_ids($_, 500) foreach @drawing;
    my $victim = $node->safe_psql('postgres',
        "SELECT pid FROM pg_stat_activity WHERE query ~ '^COPY' AND state = 'active' LIMIT 1");
    kill 'KILL', $victim;
    # By the clock the postmaster knows how long it has waited for its children to end.
    finish(@drawing);
    set_clock(-3600, $node);
    wait_for(sub { attempt($node, 'SELECT 1', dbname => 'one') eq '1' }, 'the server to be back');
    check("$name, backend killed", $node, 'one', 7, @drawing);
    above("$name, after that", $node, 'one', 7);
    my @later = map { draw($node, 'snowid_next(7)', 5_000, dbname => 'one') } 1 .. 3;
    finish(@later);
    is(check("$name, drawn after that", $node, 'one', 7, @later), 15_000, "$name: drawn after that");
}
$node->stop;

# With wal_level = minimal, what a transaction does to a relation that it has made is not WAL-logged.
my $minimal = new_server('minimal');
$minimal->append_conf('postgresql.conf', <<'CONF');
wal_level = minimal
max_wal_senders = 0
snowid.max_lead = '1d'
CONF
start_server($minimal);
my $table = 'CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(0))';
my $insert = 'INSERT INTO photos SELECT FROM generate_series(1, 10000)';
my $last = $minimal->safe_psql('postgres',
    "BEGIN; CREATE EXTENSION snowid; $table; $insert; COMMIT; SELECT max(id) FROM photos");
crash_behind($minimal, 'kill', 3600);
is($minimal->safe_psql('postgres', 'SELECT count(*), max(id) FROM photos'), "10000|$last",
    'minimal: what was committed is there');
see($minimal, 'postgres', 0, $last);
above('minimal, made before the crash', $minimal, 'postgres', 0);
is(attempt($minimal, $insert), '', 'minimal: no duplicate key');

foreach my $behind (4000, 5000)
{
    my @drawing = map { draw_on($minimal, 'snowid_next(7)') } 1 .. 3;
    wait_for_ids($_, 500) foreach @drawing;
    crash_behind($minimal, $behind == 4000 ? 'kill' : 'immediate', $behind);
    finish(@drawing);
    check("minimal, drawn with the clock set back to $behind s", $minimal, 'postgres', 7, @drawing);
    above('minimal, after that', $minimal, 'postgres', 7);
}
$minimal->stop;
done_testing();
