# Bounds on shards of other layouts than the default one, which callers choose: one database cannot take all of the server's,
# and CREATE EXTENSION and a restore work elsewhere, whatever has been taken. What nobody uses comes back: shards of
# dropped databases, and idle ones. An idle shard that was forgotten and is used again must not repeat an ID, whatever the
# clock does meanwhile.
#
# Runs in make test-all: it fills shared memory again and again.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

# A server has 800, a database 200.
my %low = (max_shards => 800, max_shards_of_database => 200);
my $other = q('time:41 shard:13 seq:10 unit:1ms epoch:2012-01-01T00:00:00Z');
my $node = new_server('bounds');
my @databases = map { "d$_" } 1 .. 7;
start_server($node);
$node->safe_psql('postgres', 'CREATE ROLE mallory LOGIN; CREATE ROLE alice LOGIN');
$node->safe_psql('postgres', "CREATE DATABASE $_") foreach @databases, 'fresh', 'restored';
$node->safe_psql($_, 'CREATE EXTENSION snowid') foreach @databases, 'fresh';
lower_bounds($node, $_, %low) foreach @databases, 'fresh';

# With nothing in memory.
sub start_anew
{
    $node->stop;
    start_server($node);
    return;
}
start_anew();

# The greatest ID that anybody got of a shard, and how many were not above it.
my %greatest;
my $wrong = 0;

# Has a session draw from shards, one after another, up to the first error. Returns how many served it.
sub take
{
    my ($session, $dbname, $from, $to) = @_;
    foreach my $shard ($from .. $to)
    {
        my $id = ask($session, "SELECT snowid_next($shard, $other)");
        return $shard - $from unless $id =~ /^\d+$/;
        $wrong++ if $id <= ($greatest{"$dbname $shard"} // 0);
        $greatest{"$dbname $shard"} = $id;
    }
    return $to - $from + 1;
}

# Opens a session of a role; a superuser's lets IDs run ahead of the clock, as it has to where that was
# set back.
sub open_as
{
    my ($role, $dbname) = @_;
    my $session = open_session($node, dbname => $dbname, ($role ? (user => $role) : ()));
    ask($session, $role ? q(SET snowid.max_wait = '20s') : q(SET snowid.max_lead = '1h'));
    return $session;
}

# Waits until a session is served from all of these shards.
sub wait_for_shards
{
    my ($session, $dbname, $from, $to) = @_;
    wait_for(sub { take($session, $dbname, $from, $to) == $to - $from + 1 }, "shards $from to $to of $dbname");
    return;
}

# 1. One role takes all that there is, in four databases, and keeps it.
my %mallory = map { $_ => open_as('mallory', $_) } @databases[ 0 .. 4 ];
is(take($mallory{$_}, $_, 0, 299), 200, "mallory gets what $_ may have") foreach @databases[ 0 .. 3 ];
like($mallory{d1}{err}, qr/too many shards of layouts other than "instagram" are in use\nDETAIL:  This database has 200, .*\nHINT:/,
    'and is told who has them');
is(take(open_as('mallory', 'd1'), 'd1', 200, 299), 0, 'nor has he more in another session');
is(take(open_as('mallory', 'd1'), 'd1', 0, 199), 200, 'but goes on with those that he has there');
is(take($mallory{d5}, 'd5', 0, 9), 0, 'where the server has no more, the fifth database gets none');
like($mallory{d5}{err}, qr/DETAIL:  The server has 800, .*\nHINT:  .*in any database/, 'and is told so');

# The others have what there is where he is, and their shards of the default layout.
my $alice = open_as('alice', 'd1');
is(take($alice, 'd1', 100, 104), 5, 'alice has the same shards in d1');
is(attempt($node, 'SELECT snowid.advance_shard(0)', dbname => 'fresh'), '', 'what CREATE EXTENSION calls works elsewhere');
$node->safe_psql('d1', 'CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(150), title text)');
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $node->connstr('d1') ], 'a dump');
command_ok([ 'pg_restore', '-d', $node->connstr('restored'), $dump ], 'its restore');
lower_bounds($node, 'restored', %low);
is(attempt($node, "INSERT INTO photos (title) VALUES ('one') RETURNING title", dbname => 'restored'),
    'one', 'has new IDs');
is($wrong, 0, 'mallory: in order');

# 2. His shards come back when his sessions end; a session that stays keeps its own.
close_session($alice, map { $mallory{$_} } @databases[ 1 .. 4 ]);
$alice = open_as('alice', 'd2');
wait_for_shards($alice, 'd2', 400, 499);
my $superuser = open_as(undef, 'd2');
wait_for_shards($superuser, 'd2', 0, 99);
is(take($superuser, 'd2', 600, 600), 0, 'even a superuser gets no more than the database may have');
like($superuser->{err}, qr/DETAIL:  This database has 200, .*\nHINT:/, 'and is told so');
is(take($alice, 'd2', 400, 499), 100, 'alice goes on');
is(take(open_as('alice', 'd1'), 'd1', 0, 99), 100, 'mallory has kept his');
is(take($mallory{d1}, 'd1', 0, 199), 200, 'and goes on');
is($wrong, 0, 'idle shards come back: in order');

# 3. Shards that were forgotten and are used again, after others had taken their place. Where the clock
# was set back, they are ahead of it, and nothing may be forgotten.
close_session($alice, $superuser, $mallory{d1});
start_anew();
foreach my $offset (0, 600, -600)
{
    my $name = "clock set by $offset";
    my $user = open_as(undef, 'd3');
    wait_for_shards($user, 'd3', 0, 149);
    my $busy = open_as(undef, 'd3');
    is(take($busy, 'd3', 0, 0), 1, "$name: one stays in use");
    close_session($user);
    set_clock($offset, $node);
    my $others = open_as(undef, 'd3');
    wait_for_shards($others, 'd3', 1000, $offset < 0 ? 1049 : 1198);
    is(take($others, 'd3', 1000, 1199), $offset < 0 ? 50 : 199, "$name: room for others");
    close_session($others);
    take($busy, 'd3', 0, 0) foreach 1 .. 3;
    my $again = open_as(undef, 'd3');
    wait_for_shards($again, 'd3', 0, 149);
    is($wrong, 0, "$name: in order");
    # They go before the next round, whatever the clock has been.
    close_session($busy, $again);
    start_anew();
}

# So too where the clock is set back once they were forgotten, and where a transaction uses them that has made the
# ceiling's sequence.
foreach my $round ([ 0, '' ], [ 120, 'DROP EXTENSION snowid; BEGIN; CREATE EXTENSION snowid' ])
{
    my ($offset, $begin) = @$round;
    my $name = "forgotten, then set back: $begin";
    set_clock($offset, $node);
    my $user = open_as(undef, 'd6');
    wait_for_shards($user, 'd6', 0, 9);
    close_session($user);
    set_clock($offset + 60, $node);
    my $others = open_as(undef, 'd6');
    wait_for_shards($others, 'd6', 1000, 1194);
    set_clock($offset - 60, $node);
    my $again = open_as(undef, 'd6');
    is(ask($again, $begin), '', "$name: begun");
    is(take($again, 'd6', 0, 4), 5, "$name: there is room");
    is($wrong, 0, "$name: in order");
    close_session($others, $again);
    start_anew();
}

# A shard whose layout a wrong clock has brought to its end, an hour ahead, stays: made anew it would begin at the clock.
set_clock(0, $node);
my $end = time + 3600;
my $layout = $node->safe_psql('d7', sprintf(<<'SQL', $end - (1 << 22)));
SELECT to_char(to_timestamp(%d) AT TIME ZONE 'UTC', '"time:22 shard:20 seq:12 unit:1s epoch:"YYYY-MM-DD"T"HH24:MI:SS"Z"')
SQL
my $wild = open_as(undef, 'd7');
ask($wild, q(SET snowid.max_lead = '1d'));
is(ask($wild, "SELECT snowid.advance_shard(snowid_encode(to_timestamp($end - 1), 7, 4095, '$layout'), '$layout')"), '',
    'a layout at its end');
is(ask($wild, "SELECT snowid_next(7, '$layout')"), 'ERROR 2200H', 'has no more IDs');
close_session($wild);
foreach my $from (1000, 2000)
{
    my $others = open_as(undef, 'd7');
    wait_for_shards($others, 'd7', $from, $from + 198);
    is(take($others, 'd7', $from + 199, $from + 199), 0, 'it keeps its place');
    close_session($others);
}
is(attempt($node, "SELECT snowid_next(7, '$layout')", dbname => 'd7'), 'ERROR 2200H', 'and has no more IDs');
start_anew();
set_clock(-600, $node);

# 4. Shards of a dropped database come back, even those that were ahead of the clock.
my @keeping;
foreach my $dbname (@databases[ 0 .. 2 ])
{
    push @keeping, open_as(undef, $dbname);
    is(take($keeping[-1], $dbname, 0, 199), 200, "all of $dbname");
}
my $ahead = open_as(undef, 'd4');
is(ask($ahead, "SELECT count(snowid.advance_shard(snowid_encode(now() + '30 min', n, 0, $other), $other)) FROM generate_series(0, 199) n"), 200,
    'all of d4, ahead of the clock');
close_session($ahead);
# At most 40 go at a time, so what is known of the database has to stay until the last of them.
lower_bounds($node, 'd5', %low, most_idle_shards => 40);
my $waiting = open_as(undef, 'd5');
is(take($waiting, 'd5', 0, 59), 0, 'the server is full');
$node->safe_psql('postgres', 'DROP DATABASE d4');
wait_for_shards($waiting, 'd5', 0, 199);
is(take($waiting, 'd5', 0, 199), 200, 'with a database dropped there is room');
foreach my $number (0 .. 2)
{
    is(take($keeping[$number], $databases[$number], 0, 199), 200, "$databases[$number] goes on");
}
is($wrong, 0, 'with a database dropped: in order');
close_session(@keeping, $waiting);

$node->stop;
done_testing();
