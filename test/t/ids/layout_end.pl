# The end of a layout: what its shards have is used up, to the last ID, which has all bits of the time set. Then every call fails
# with 2200H, also after a crash, and other layouts go on.
# Runs in make test-all: it draws all that is left.

use Snowid;
use Time::Local qw(timegm);

my $baidus = timegm(16, 24, 13, 20, 10, 2024);
my $also = 'shard:10 time:28 seq:12 unit:1s epoch:2016-05-19T16:00:00Z';
my $last = 'time:28 seq:4 shard:4 unit:1s epoch:2016-05-19T16:00:00Z';
my $far = "SET snowid.max_lead = '1d'";
my $node = new_server('layout_end');
set_clock($baidus - 3600 - time, $node);
start_server($node);
$node->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE DATABASE other');
$node->safe_psql('other', 'CREATE EXTENSION snowid');

# Uses up a shard of a layout, an hour before its end, from so many milliseconds before that on.
sub use_up
{
    my ($layout, $end, $before, $greatest) = @_;
    set_clock($end - 3600 - time);
    is(attempt($node, "$far; SELECT snowid.advance_shard(snowid_encode(expires_at - $before * interval '1 ms', 3, 0, '$layout'), '$layout')"
              . " FROM snowid_describe_layout('$layout')"), '', "$layout: near its end");
    my @rest = map { draw($node, $_ ? "snowid_next(3, '$layout')" : "snowid_next_batch(3, 10000000, '$layout')", $_ ? undef : 1, setup => $far) } 0, 0, 1, 1;
    finish(@rest);
    is(join(' ', map { sqlstate_of(errors_of($_)) } @rest), '2200H 2200H 2200H 2200H', "$layout: the time is used up");
    is((check_round("$layout, the last IDs", 0, @rest))[1], $greatest, "$layout: the last ID is the greatest of its shard");
    return;
}

my $seconds = 2**28 - 1;
use_up('baidu', $baidus, 3_000, $seconds << 35 | 3 << 13 | 0x1FFF);
use_up($also, $baidus, 3_000, 3 << 40 | $seconds << 12 | 0xFFF);
use_up($last, $baidus, 3_000, $seconds << 8 | 0xF << 4 | 3);
set_clock($baidus + 3600 - time);
foreach my $round ('past the end', 'after a crash')
{
    foreach my $layout ('baidu', $also, $last)
    {
        is(attempt($node, "SELECT $_, '$layout')"), 'ERROR 2200H', "$round, $layout: $_)")
          foreach 'snowid_next(3', 'snowid_next(2', 'snowid_next_batch(3, 10', 'snowid_reserve(1, 1';
        is(attempt($node, "SELECT snowid_next(0, '$layout')", dbname => 'other'), 'ERROR 2200H', "$round, $layout: in another database");
    }
    is(attempt($node, "$far; SELECT snowid_next(3, 'twitter') > 0"), 't', "$round: others go on");
    next if $round eq 'after a crash';
    crash_and_start($node, 'kill');
}

# That of Instagram's is in the middle of a millisecond; who runs ahead of the clock reaches it before it.
my $instagrams = timegm(49, 0, 17, 27, 5, 2046) + 0.497;
use_up('instagram', $instagrams, 97, (2**40 - 1) << 23 | 3 << 10 | 0x3FF);
set_clock($instagrams + 3600 - time);
is(attempt($node, "SELECT $_"), 'ERROR 2200H', "past the end: $_")
  foreach 'snowid_next(3)', 'snowid_next(7)', 'snowid_next_batch(0, 10)', 'snowid_reserve(0, 10)';
# That of the one for JavaScript is the end of its numbers.
use_up('js53', timegm(47, 53, 19, 3, 10, 2060), 200, (2**40 - 1) << 13 | 3 << 8 | 0xFF);
end_test($node);
