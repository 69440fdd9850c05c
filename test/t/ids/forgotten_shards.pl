# A shard that nobody used, that made room for another, and that is used again repeats no ID, whatever the clock does meanwhile.
# One that is ahead of the clock, or at its layout's end, is not forgotten.
# Runs in make test-all: it fills shared memory again and again.

use Snowid;

my $other = 'time:41 shard:13 seq:10 unit:1ms epoch:2012-01-01T00:00:00Z';
my $node = ready_server('forgotten');
make_bounded($node, [qw(used set_back ended)], max_shards => 800, max_shards_of_database => 200);
my (%greatest, @sessions);

# A session that lets IDs run ahead of the clock, as it has to where that was set back.
sub open_in
{
    my ($dbname) = @_;
    my $session = { %{ open_session($node, dbname => $dbname) }, dbname => $dbname };
    ask($session, q(SET snowid.max_lead = '1h'));
    push @sessions, $session;
    return $session;
}

sub leave
{
    my ($session) = @_;
    @sessions = grep { $_ != $session } @sessions;
    close_session($session);
    return;
}

sub take { my ($session, $from, $to) = @_; return take_shards($session, $other, $from, $to, $greatest{ $session->{dbname} } //= {}) }

sub wait_for_shards
{
    my ($session, $from, $to) = @_;
    wait_for(sub { take($session, $from, $to) == $to - $from + 1 }, "shards $from to $to");
    return;
}

# Ends all sessions, and has the server start with nothing in memory.
sub start_anew
{
    close_session(splice @sessions);
    $node->stop;
    start_server($node);
    return;
}

foreach my $offset (0, 600, -600)
{
    my $name = "the clock set by $offset";
    my ($user, $busy, $others, $again) = map { open_in('used') } 1 .. 4;
    wait_for_shards($user, 0, 149);
    is(take($busy, 0, 0), 1, "$name: one stays in use");
    leave($user);
    set_clock($offset);
    wait_for_shards($others, 1000, $offset < 0 ? 1049 : 1198);
    is(take($others, 1000, 1199), $offset < 0 ? 50 : 199, "$name: room for others");
    leave($others);
    is(take($busy, 0, 0), 1, "$name: it goes on") foreach 1 .. 3;
    wait_for_shards($again, 0, 149);
    start_anew();
}

# The clock is set back once they were forgotten; also where a transaction uses them that has made the ceiling's sequence.
foreach my $begin ('', 'DROP EXTENSION snowid; BEGIN; CREATE EXTENSION snowid')
{
    my $name = "forgotten, then set back: $begin";
    set_clock(my $offset = $begin ? 120 : 0);
    my $user = open_in('set_back');
    wait_for_shards($user, 0, 9);
    leave($user);
    set_clock($offset + 60);
    wait_for_shards(open_in('set_back'), 1000, 1194);
    set_clock($offset - 60);
    my $again = open_in('set_back');
    is(ask($again, $begin), '', "$name: begun");
    is(take($again, 0, 4), 5, "$name: there is room");
    start_anew();
}

# A wrong clock has brought a layout to its end, an hour ahead: made anew the shard would begin at the clock.
set_clock(0);
my $end = time + 3600;
my $layout = $node->safe_psql('ended', sprintf(<<'SQL', $end - (1 << 22)));
SELECT to_char(to_timestamp(%d) AT TIME ZONE 'UTC', '"time:22 shard:20 seq:12 unit:1s epoch:"YYYY-MM-DD"T"HH24:MI:SS"Z"')
SQL
is(attempt($node, "SET snowid.max_lead = '1d'; SELECT snowid.advance_shard(snowid_encode(to_timestamp($end - 1), 7, 4095, '$layout'), '$layout')",
        dbname => 'ended'), '', 'a layout at its end');
foreach my $from (1000, 2000)
{
    my $others = open_in('ended');
    wait_for_shards($others, $from, $from + 198);
    is(take($others, $from + 199, $from + 199), 0, 'it keeps its place');
    leave($others);
}
is(attempt($node, "SELECT snowid_next(7, '$layout')", dbname => 'ended'), 'ERROR 2200H', 'and has no more IDs');
$node->stop;
done_testing();
