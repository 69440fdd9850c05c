# Every layout on real servers: each that has a name and some that have none keep the promises that
# Instagram's keeps, under load and to the end of their time. No two of them share a tick. Clients record
# every ID that they saw. Crashes are crash.pl, dumps ceiling/dump.pl.
#
# Runs in make test-all: it draws of every layout, with restarts.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;
use Time::Local qw(timegm);

my $seconds = 'time:32 shard:10 seq:20 unit:1s epoch:2020-01-01T00:00:00Z';
my $shard_on_top = 'shard:10 time:41 seq:12 unit:1ms epoch:2020-01-01T00:00:00Z';
my $micros = 'time:54 shard:5 seq:4 unit:1us epoch:2020-01-01T00:00:00Z';

# Lets a superuser's session issue IDs however far the clock is behind.
my $far = "SET snowid.max_lead = '1d'";

# Whoever would have to wait is refused: proof that nobody waits.
my $no_wait = 'SET snowid.max_wait = 0;';

# A server for many sessions, not started.
sub new_busy_server
{
    my ($name) = @_;
    my $node = new_server($name);
    $node->append_conf('postgresql.conf', "max_connections = 110\n");
    return $node;
}

# Draws from a shard of a layout, of each ID that it is the shard's and of now. One that is not is a 0
# to the client, and out of order.
sub draw_of
{
    my ($node, $layout, $shard, $rows, %options) = @_;
    my $source =
      $options{batch}
      ? "SELECT id FROM snowid_next_batch($shard, $rows, '$layout') AS id"
      : "SELECT snowid_next($shard, '$layout') FROM generate_series(1, $rows) OFFSET 0";
    my $unit = "(SELECT unit FROM snowid_layout_describe('$layout'))";
    return draw(
        $node,
        "CASE WHEN snowid_shard(id, '$layout') = $shard AND snowid_timestamp(id, '$layout')"
          . " BETWEEN clock_timestamp() - $unit - interval '5 minutes' AND clock_timestamp() + interval '1 s'"
          . " THEN id ELSE 0 END FROM ($source) AS drawn (id)",
        1, setup => "SET snowid.max_wait = '1min'", %options);
}

# Starts eight sessions that draw from one shard of a layout, some of them in batches.
sub draw_by_eight
{
    my ($node, $layout, $shard, $rows) = @_;
    return map { draw_of($node, $layout, $shard, $rows, batch => $_ % 3 == 0) } 1 .. 8;
}

# Checks that they got all they asked for.
sub check_eight
{
    my ($name, $rows, @sessions) = @_;
    my ($count, $greatest) = check_round($name, 0, @sessions);
    is($count, 8 * $rows, "$name: as many as asked for");
    return $greatest;
}

# 1. Each layout that has a name, all of them at once, on the greatest shard that it has.
my $node = new_busy_server('layouts');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION snowid');
my %shard_of = split /[|\n]/, $node->safe_psql('postgres', 'SELECT name, max_shard FROM snowid.layouts');
is(join(' ', sort keys %shard_of),
    'baidu bluesky discord instagram js53 leaf linkedin mastodon pgedge seata sonyflake sonyflake2 taobao tiktok twitter yitter',
    'layouts that have a name');
$shard_of{leaf}--;
my $baidus_shard = delete $shard_of{baidu};
is(attempt($node, "SELECT snowid_next($baidus_shard, 'baidu')"), 'ERROR 2200H', 'baidu is past its end');
$shard_of{$_} = 31 foreach $seconds, $shard_on_top, $micros;
my %drawing = map { $_ => [ draw_by_eight($node, $_, $shard_of{$_}, 2_000) ] } sort keys %shard_of;
foreach my $layout (sort keys %shard_of)
{
    finish(@{ $drawing{$layout} });
    my $greatest = check_eight($layout, 2_000, @{ $drawing{$layout} });
    cmp_ok($greatest, '<', 2**53, 'js53: within what JavaScript can count to') if $layout eq 'js53';
}

# 2. Two names of one layout are one allocator.
my @both = map { draw_of($node, $_ % 2 ? 'twitter' : 'leaf', 77, 2_000, batch => $_ > 6) } 1 .. 8;
finish(@both);
check_eight('twitter and leaf', 2_000, @both);

# Layouts that differ in whatever it be are several.
my @alike = (
    'twitter', 'discord',
    'time:41 shard:10 seq:12 unit:1ms epoch:2010-11-04T01:42:54.656Z',
    'time:41 seq:12 shard:10 unit:1ms epoch:2010-11-04T01:42:54.657Z',
    'shard:10 time:41 seq:12 unit:1ms epoch:2010-11-04T01:42:54.657Z',
    'time:40 shard:10 seq:12 unit:1ms epoch:2010-11-04T01:42:54.657Z',
    'time:41 shard:11 seq:11 unit:1ms epoch:2010-11-04T01:42:54.657Z',
    'time:41 shard:11 seq:12 unit:1ms epoch:2010-11-04T01:42:54.657Z',
    'time:41 shard:10 seq:13 unit:1ms epoch:2010-11-04T01:42:54.657Z',
    'time:41 shard:10 seq:12 unit:2ms epoch:2010-11-04T01:42:54.657Z');
my $session = open_session($node);
foreach my $number (reverse 0 .. $#alike)
{
    # An hour ahead, which the others must not see.
    my $layout = $alike[$number];
    my $hour_ahead = "snowid_encode(clock_timestamp() + interval '1 hour', 5, 0, '$layout')";
    ask($session, $far);
    is(ask($session, "SELECT snowid.advance_shard($hour_ahead, '$layout')"), '', "$layout: run ahead");
    is(ask($session, "SELECT snowid_timestamp(snowid_next(5, '$layout'), '$layout')"
              . " > clock_timestamp() + interval '59 minutes'"), 't', "$layout: stays ahead");
    ask($session, 'RESET snowid.max_lead');
    my $others = join ' AND ', map {
        "snowid_timestamp(snowid_next(5, '$_'), '$_') <= clock_timestamp() + interval '1 s'"
    } @alike[ 0 .. $number - 1 ];
    is(ask($session, "SELECT $others"), 't', "$layout: leaves others alone") if $others;
}
is(ask($session, "$no_wait SELECT snowid_next(5, 'leaf')"), 'ERROR SN001', 'leaf: not twitter alone');
close_session($session);
$node->stop;

# 3. A layout's end. Baidu's was in 2024; two more that end with it and one that does not.
my $end = timegm(16, 24, 13, 20, 10, 2024);
my $day = 24 * 3600;
my $also = 'shard:10 time:28 seq:12 unit:1s epoch:2016-05-19T16:00:00Z';
my $last = 'time:28 seq:4 shard:4 unit:1s epoch:2016-05-19T16:00:00Z';
my $late = new_busy_server('late');
set_clock($end - 366 * $day - time, $late);
start_server($late);
$late->safe_psql('postgres', 'CREATE DATABASE other');
$late->safe_psql($_, 'CREATE EXTENSION snowid') foreach qw(postgres other);
my @eight = draw_by_eight($late, 'baidu', 4_194_303, 1_000);
finish(@eight);
check_eight('baidu before its end', 1_000, @eight);

# How many warnings there are of a layout's end.
sub warnings_of
{
    my ($layout) = @_;
    return scalar grep { /LOG:.*used up within a year/ && index($_, "\"$layout\"") >= 0 }
      split /\n/, slurp_file($late->logfile);
}

# Has many sessions draw from several shards in two databases, from layouts one after another.
sub draw_late
{
    my (@layouts) = @_;
    my @sessions;
    foreach my $number (1 .. 6)
    {
        my $sums = join ' + ', map { "sum(snowid_next($number % 4, '$_') % 2)" } @layouts;
        push @sessions,
          draw($late, "$sums FROM generate_series(1, 10)", 1, setup => "SET snowid.max_wait = '1min'",
            dbname => $number % 2 ? 'postgres' : 'other');
    }
    finish(@sessions);
    is(scalar(map { @{ ids($_) } } @sessions), 6, 'drawn from ' . @layouts . ' layouts');
    return;
}

draw_late('baidu', $also, 'twitter');
is(warnings_of($_), 0, "more than a year before the end: no warning of $_") foreach 'baidu', $also;
set_clock($end - 300 * $day - time, $late);
draw_late('baidu', $also, 'twitter');
my $told = warnings_of('baidu') + warnings_of($also);
is($told, 2, 'within a year: one warning in each database, whoever draws');
is(warnings_of('twitter'), 0, 'none of a layout that does not end');
set_clock($end - 298 * $day - time, $late);
draw_late($also, 'baidu', $last);
is(warnings_of('baidu') + warnings_of($also) + warnings_of($last), 2, 'no other because the clock was set');
# Its time has come where the day is over at once.
lower_bounds($late, 'postgres', log_every => 0);
$late->stop;
start_server($late);
$late->safe_psql('postgres', "SELECT snowid_next(3, '$_')") foreach 'baidu', $also, $also;
is(warnings_of('baidu') + warnings_of($also) - $told, 3, 'another warning each time that one is due');
lower_bounds($late, 'postgres');
$late->stop;
start_server($late);

# Uses up what a shard of a layout has before its end, from a moment so many milliseconds before it on, and
# checks that all the bits of the time are set in the last ID.
sub use_up
{
    my ($layout, $before, $greatest) = @_;
    my $advance = "SELECT snowid.advance_shard(snowid_encode(used_up_at - $before * interval '1 ms', 3, 0, '$layout'), '$layout')"
      . " FROM snowid_layout_describe('$layout')";
    is(attempt($late, "$far; $advance"), '', "$layout: near its end");
    my @rest = map {
        $_ % 2
          ? draw($late, "snowid_next(3, '$layout')", undef, setup => $far)
          : draw($late, "snowid_next_batch(3, 10000000, '$layout')", 1, setup => $far)
    } 1 .. 4;
    finish(@rest);
    is(join(' ', map { sqlstate_of(errors_of($_)) } @rest), '2200H 2200H 2200H 2200H', "$layout: the time is used up");
    my ($count, $last_id) = check_round("$layout, the last IDs", 0, @rest);
    is($last_id, $greatest, "$layout: the last ID is the greatest of its shard");
    return;
}

my %greatest_of = (
    baidu => (2**28 - 1) << 35 | 3 << 13 | 0x1FFF,
    $also => 3 << 40 | (2**28 - 1) << 12 | 0xFFF,
    $last => (2**28 - 1) << 8 | 0xF << 4 | 3);
foreach my $layout (sort keys %greatest_of)
{
    set_clock($end - 3600 - time, $late);
    use_up($layout, 3_000, $greatest_of{$layout});
}
set_clock($end + 3600 - time, $late);
foreach my $round ('past the end', 'after a crash')
{
    foreach my $layout ('baidu', $also, $last)
    {
        foreach my $call (map { "$_, '$layout')" } 'snowid_next(3', 'snowid_next(2', 'snowid_next_batch(3, 10',
            'snowid_reserve(1, 1')
        {
            is(attempt($late, "SELECT $call"), 'ERROR 2200H', "$round: $call");
        }
        is(attempt($late, "SELECT snowid_next(0, '$layout')", dbname => 'other'), 'ERROR 2200H',
            "$round: in another database");
        my ($status, $out, $err) = $late->psql('postgres', "SELECT snowid_next(3, '$layout')");
        like($err, qr/ERROR: .*\Q"$layout"\E.* used up/, "$round: it says of what");
    }
    is(attempt($late, "$far; SELECT snowid_next(3, 'twitter') > 0"), 't', "$round: others go on");
    next if $round eq 'after a crash';
    crash($late, 'kill');
    start_server($late);
}

# 4. The end of Instagram's, whose last ID is that of 2046-06-27 17:00:49.496.
$end = timegm(49, 0, 17, 27, 5, 2046) + 0.497;
set_clock($end - 366 * $day - time, $late);
$late->safe_psql('postgres', 'SELECT snowid_next(0)');
is(warnings_of('instagram'), 0, 'no warning more than a year before the end');
set_clock($end - 364 * $day - time, $late);
$late->stop;
start_server($late);
my (undef, undef, $heard) =
  $late->psql('postgres', q(SET client_min_messages = log; SELECT snowid_next(0) FROM generate_series(1, 10)));
is(warnings_of('instagram'), 1, 'one warning within a year');
unlike($heard, qr{within a year}, 'which is for the log alone');
# Those who run ahead of the clock reach the end before it.
set_clock($end - 1800 - time, $late);
my $hour = "SET snowid.max_lead = '1h'";
is($late->safe_psql('postgres', "$hour; SELECT snowid.advance_shard(snowid_encode('2046-06-27 17:00:49.400Z', 0, 0))"), '',
    'a tenth of a second is left');
is(attempt($late, "$hour; SELECT count(*) FROM snowid_next_batch(0, 50000)"), '50000', 'service to the end');
my $rest = draw($late, 'snowid_next_batch(0, 100000000)', 1, setup => $hour);
finish($rest);
is(sqlstate_of(errors_of($rest)), '2200H', 'the time is used up');
my ($drawn, $greatest) = check_round('the last IDs', 0, $rest);
cmp_ok($drawn, '>', 0, 'there were last IDs');
is($greatest, 9223372036854775807 - (8191 << 10), 'the last ID is the greatest of its shard');
set_clock($end + 3600 - time, $late);
is(attempt($late, "SELECT $_"), 'ERROR 2200H', "past the end: $_")
  foreach ('snowid_next(0)', 'snowid_next(7)', 'snowid_next_batch(0, 10)', 'snowid_reserve(0, 10)');

# The end of the one for JavaScript is that of its numbers.
set_clock(timegm(47, 53, 19, 3, 10, 2060) - 3600 - time, $late);
use_up('js53', 200, (2**40 - 1) << 13 | 3 << 8 | 0xFF);
$late->stop;
done_testing();
