# Every layout on real servers: each that has a name and some that have none keep the promises that
# Instagram's keeps, under load, to the end of their time, through crashes, dump and restore. No two of
# them share a tick. Clients record every ID that they saw.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;
use Time::Local qw(timegm);

my $seconds = 'time:32 shard:10 seq:20 unit:1s epoch:2020-01-01T00:00:00Z';
my $shard_on_top = 'shard:10 time:41 seq:12 unit:1ms epoch:2020-01-01T00:00:00Z';
my $micros = 'time:54 shard:5 seq:4 unit:1us epoch:2020-01-01T00:00:00Z';
my $hours = 'time:24 shard:10 seq:12 unit:1h epoch:2020-01-01T00:00:00Z';

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
is(join(' ', sort keys %shard_of), 'baidu discord instagram js53 leaf pgedge sonyflake taobao twitter',
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
my @both = map { draw_of($node, $_ % 2 ? 'twitter' : 'leaf', 77, 20_000, batch => $_ > 6) } 1 .. 8;
finish(@both);
check_eight('twitter and leaf', 20_000, @both);

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
    is(ask($session, "SELECT snowid_advance($hour_ahead, '$layout')"), '', "$layout: run ahead");
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
foreach my $round (1 .. 2)
{
    set_clock($end - 300 * $day + $round * 25 * 3600 - time, $late);
    draw_late('baidu', 'twitter');
    is(warnings_of('baidu'), $round, "day $round: one warning of baidu");
    is(warnings_of($also), $round - 1, "day $round: none of another");
    draw_late($also, 'baidu', $also);
    is(warnings_of('baidu'), $round, "day $round: still one of baidu");
    is(warnings_of($also), $round, "day $round: another has its own");
    set_clock($end - 300 * $day + ($round * 25 + 3) * 3600 - time, $late);
    draw_late($also, 'baidu', $last);
    is(warnings_of($_), $round, "day $round, hours later: still one of $_") foreach 'baidu', $also, $last;
}
my @many = map { sprintf 'time:28 seq:4 shard:4 unit:1s epoch:2016-05-19T16:00:%02dZ', $_ } 1 .. 30;
draw_late(@many);
is(scalar(grep { warnings_of($_) == 1 } @many), 30, 'so has each of many');
is(warnings_of('twitter') + warnings_of('leaf'), 0, 'none of a layout that does not end');

# Uses up what a shard of a layout has before its end, and checks that all the bits of the time are set
# in the last ID.
sub use_up
{
    my ($layout, $greatest) = @_;
    my @rest = map {
        $_ % 2
          ? draw($late, "snowid_next(3, '$layout')", 10_000_000, setup => $far)
          : draw($late, "snowid_next_batch(3, 10000000, '$layout')", 1, setup => $far)
    } 1 .. 4;
    finish(@rest);
    is(join(' ', map { sqlstate_of(slurp_file("$_->{file}.err")) } @rest), '2200H 2200H 2200H 2200H',
        "$layout: the time is used up");
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
    set_clock($end - 20 - time, $late);
    use_up($layout, $greatest_of{$layout});
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

# The end of the one for JavaScript is that of its numbers.
set_clock(timegm(47, 53, 19, 3, 10, 2060) - 4 - time, $late);
use_up('js53', (2**40 - 1) << 13 | 3 << 8 | 0xFF);
$late->stop;

# 4. Crashes, with sessions that draw from several layouts at once and the clock set back.
my $crashing = new_busy_server('crashing');
start_server($crashing);
$crashing->safe_psql('postgres', 'CREATE EXTENSION snowid');
my @layouts = ('twitter', 'sonyflake', 'js53', $seconds, $shard_on_top, $micros);
my %floor = map { $_ => 0 } @layouts;
foreach my $round (1 .. 4)
{
    my $how = $round % 2 ? 'kill' : 'immediate';
    %drawing = ();
    foreach my $layout (@layouts)
    {
        $drawing{$layout} = [ map { draw($crashing, "snowid_next(9, '$layout')", 5_000_000) } 1 .. 2 ];
    }
    my @all = map { @$_ } values %drawing;
    wait_to_draw(60_000, @all);
    crash($crashing, $how);
    finish(@all);
    foreach my $layout (@layouts)
    {
        (undef, $floor{$layout}) = check_round("$how, $layout", $floor{$layout}, @{ $drawing{$layout} });
    }
    ok(!(grep { slurp_file("$_->{file}.err") =~ /ERROR/ } @all), "$how: no session failed");

    set_clock(-120 * $round, $crashing);
    start_server($crashing);
    my @behind;
    foreach my $layout (@layouts)
    {
        is(attempt($crashing, "$no_wait SELECT snowid_next(9, '$layout')"), 'ERROR SN001',
            "$how: refused while the clock is behind, $layout");
        my $session = draw($crashing, "snowid_next(9, '$layout')", 2_000, setup => $far);
        push @behind, [ $layout, $session ];
    }
    foreach (@behind)
    {
        my ($layout, $session) = @$_;
        finish($session);
        (my $count, $floor{$layout}) = check_round("clock set back, $layout", $floor{$layout}, $session);
        is($count, 2_000, "clock set back, $layout: served when allowed to run ahead");
    }
    set_clock(0, $crashing);
}

# Units of an hour: what a crash leaves of one is not used.
my $hour = int(time / 3600 + 1) * 3600;
my $at = sub { my ($minute) = @_; set_clock($hour + $minute * 60 - time, $crashing) };
my $draws = sub {
    my ($name) = @_;
    my @sessions = map { draw_of($crashing, $hours, 2, 1_000) } 1 .. 4;
    finish(@sessions);
    (my $count, $floor{$hours}) = check_round($name, $floor{$hours} // 0, @sessions);
    is($count, 4_000, "$name: as many as asked for");
};
my $refused = sub {
    my ($name, $settings) = @_;
    is(attempt($crashing, "$settings SELECT snowid_next(2, '$hours')"), 'ERROR SN001', $name);
};
$at->(20);
$draws->('unit of an hour');
foreach my $round (0 .. 1)
{
    my $how = $round ? 'immediate' : 'kill';
    my $name = "unit of an hour, $how";
    crash($crashing, $how);
    # The second time the clock is set back to the hour before.
    $at->($round ? 50 : 25);
    start_server($crashing);
    $refused->("$name: no wait", $no_wait);
    $refused->("$name: as it comes", '');
    $at->(35 + 60 * $round);
    $refused->("$name: later in the hour", $no_wait);
    my $waiting = draw($crashing, "snowid_next(2, '$hours')", 1, setup => "SET snowid.max_wait = '2h'");
    wait_for(
        sub {
            return $crashing->safe_psql('postgres',
                q(SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Extension' AND query ~ 'snowid_next'))
              eq '1';
        },
        'the session to wait');
    $at->(62 + 60 * $round);
    finish($waiting);
    (my $count, $floor{$hours}) = check_round("$name, waited for the next", $floor{$hours}, $waiting);
    is($count, 1, "$name: the wait ends with the hour");
    $draws->("$name, next hour");
}
# Each hour has all of its sequence.
$at->(185);
$draws->('unit of an hour, yet another hour');
$crashing->stop;

# 5. Dump and restore: what uses layouts and the other kinds of ID is the same, and goes on above.
my $source = new_server('source');
$source->start;
$source->safe_psql('postgres', <<SQL);
CREATE EXTENSION snowid;
CREATE TABLE tweets (
  id bigint PRIMARY KEY DEFAULT snowid_next(5, 'twitter'),
  created_at timestamptz GENERATED ALWAYS AS (snowid_timestamp(id, 'twitter')) STORED,
  leaf bigint UNIQUE DEFAULT snowid_next(5, 'leaf'),
  instagram bigint UNIQUE DEFAULT snowid_next(5),
  js53 bigint UNIQUE DEFAULT snowid_next(5, 'js53'),
  top bigint UNIQUE DEFAULT snowid_next(5, '$shard_on_top'),
  CHECK (snowid_between(id, '2020-01-01Z', '2080-01-01Z', 'twitter')));
CREATE INDEX tweets_shard ON tweets (snowid_shard(top, '$shard_on_top'));
CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT snowid_next(6, 'twitter')) PARTITION BY RANGE (id);
CREATE TABLE posts_early PARTITION OF posts
  FOR VALUES FROM (MINVALUE) TO (snowid_min('2026-01-01Z', 'twitter'));
CREATE TABLE posts_late PARTITION OF posts
  FOR VALUES FROM (snowid_min('2026-01-01Z', 'twitter')) TO (MAXVALUE);
CREATE TABLE layouts (layout snowid_layout DEFAULT 'js53', n int);
CREATE INDEX layouts_hash ON layouts USING hash (layout);
CREATE TABLE documents (id objectid PRIMARY KEY DEFAULT objectid_next(), key uuid UNIQUE DEFAULT snowid_uuidv7());
INSERT INTO tweets SELECT FROM generate_series(1, 1000);
INSERT INTO posts SELECT snowid_encode('2025-12-31 23:59Z'::timestamptz + n * interval '1 s', 6, n, 'twitter')
  FROM generate_series(1, 100) n;
INSERT INTO posts SELECT FROM generate_series(1, 100);
INSERT INTO layouts SELECT name::snowid_layout FROM snowid.layouts;
INSERT INTO layouts VALUES ('$seconds'), ('$shard_on_top'), ('$hours'), (NULL);
INSERT INTO documents SELECT FROM generate_series(1, 1000);
SQL

# All that the tables of a database hold, and where.
my @tables = qw(tweets posts posts_early posts_late layouts documents);
my $contents = sub {
    my ($node, $dbname) = @_;
    return map { $node->safe_psql($dbname, "SET timezone = 'UTC'; SELECT t FROM ONLY $_ t ORDER BY t::text") }
      @tables;
};
my %column = (
    tweets => [qw(id leaf instagram js53 top)],
    posts => ['id'],
    documents => [ 'id', 'key' ]);
my $dir = PostgreSQL::Test::Utils::tempdir();
system_or_bail('pg_dump', '-d', $source->connstr('postgres'), '-f', "$dir/plain.sql");
system_or_bail('pg_dump', '-d', $source->connstr('postgres'), '-Fc', '-f', "$dir/custom.dump");
my @before = $contents->($source, 'postgres');
my %greatest;
foreach my $table (sort keys %column)
{
    foreach my $column (@{ $column{$table} })
    {
        $greatest{"$table.$column"} =
          $source->safe_psql('postgres', "SELECT $column FROM $table ORDER BY 1 DESC LIMIT 1");
    }
}
$source->stop;

# The new server's clock is behind, and it has made UUIDs and ObjectIDs of its own.
my $target = new_server('target');
set_clock(-600, $target);
start_server($target);
$target->safe_psql('postgres', 'CREATE EXTENSION snowid; SELECT snowid_uuidv7(), objectid_next()');
foreach my $dbname (qw(plain custom))
{
    $target->safe_psql('postgres', "CREATE DATABASE $dbname");
    my $connection = $target->connstr($dbname);
    command_ok(
        $dbname eq 'plain'
        ? [ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $connection, '-f', "$dir/plain.sql" ]
        : [ 'pg_restore', '--exit-on-error', '-j2', '-d', $connection, "$dir/custom.dump" ],
        "$dbname: restored");
    my @after = $contents->($target, $dbname);
    ok($after[$_] eq $before[$_], "$dbname: $tables[$_] holds the same") foreach 0 .. $#tables;
    # A default of an ID as such: each in a session of its own, which a clock behind refuses.
    foreach my $call ("snowid_next(5, 'twitter')", "snowid_next(7, 'leaf')", "snowid_next(5, '$shard_on_top')",
        "snowid_next(5, '$seconds')", 'snowid_uuidv7()', 'objectid_next()')
    {
        is(attempt($target, "$no_wait SELECT $call", dbname => $dbname), 'ERROR SN001',
            "$dbname: refused while the clock is behind: $call");
    }
    foreach my $table (sort keys %column)
    {
        is(attempt($target, "$far; INSERT INTO $table SELECT FROM generate_series(1, 500)", dbname => $dbname),
            '', "$dbname: defaults of $table work");
        foreach my $column (@{ $column{$table} })
        {
            is(
                attempt($target,
                    "SELECT count(*) FROM $table WHERE $column > '" . $greatest{"$table.$column"} . q('),
                    dbname => $dbname),
                '500', "$dbname: $table.$column goes on above");
        }
    }
    my $lookup = "SET enable_seqscan = off; SET enable_bitmapscan = off;";
    is(attempt($target, "$lookup SELECT count(*) FROM tweets WHERE snowid_shard(top, '$shard_on_top') = 5",
            dbname => $dbname), '1500', "$dbname: the index on the shard serves");
    is(attempt($target, "$lookup SELECT count(*) FROM layouts a JOIN layouts b USING (layout)", dbname => $dbname),
        '14', "$dbname: the index on the layout serves");
    is(attempt($target, 'SELECT count(*) FROM tweets WHERE created_at <> snowid_timestamp(id, \'leaf\')',
            dbname => $dbname), '0', "$dbname: the generated column is right");
    is(attempt($target, 'SELECT (SELECT count(*) FROM posts_early), (SELECT count(*) FROM posts_late)',
            dbname => $dbname), '59|641', "$dbname: the partitions have what is theirs");
}
$target->stop;
done_testing();
