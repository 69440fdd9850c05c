# Promise 1 where a clock was ahead by a minute, a month or ten years, and was put right: a superuser states the times that it has used; IDs of
# all kinds and layouts go on by the clock at once, step over those times when the clock comes to them, and go by it again, through crashes.
# Runs in make test-all: it goes through every kind of clock, with crashes.

use Snowid;
use SnowidSkippedTimes;

my $node = start_skipping('used');

# The tables refuse what comes twice. Units of a microsecond, a millisecond, ten, and a second.
my @layouts = ('instagram', 'twitter', 'sonyflake', 'time:35 shard:10 seq:18 unit:1s epoch:2020-01-01T00:00:00Z',
    'time:50 shard:6 seq:7 unit:1us epoch:2020-01-01T00:00:00Z');
my $schema = join ' ', 'CREATE EXTENSION snowid;', (map { "CREATE TABLE ids$_ (id bigint PRIMARY KEY);" } 0 .. $#layouts),
  'CREATE TABLE uuids (id uuid PRIMARY KEY); CREATE TABLE oids (id objectid PRIMARY KEY)';
my $used = join ' + ', map { "snowid.future_times('public.ids$_', 'id', '$layouts[$_]', '5 s')" } 0 .. $#layouts;

# Makes IDs of all kinds, which are in the tables after a crash. Returns by how many seconds one of instagram's is ahead of the clock.
sub check_made
{
    my ($database, $name, $shard) = @_;
    # Layouts of long units wait for the next one.
    my $sql = join ' ', "SET synchronous_commit = on; SET snowid.max_wait = '20s';",
      (map { "INSERT INTO ids$_ SELECT snowid_next($shard, '$layouts[$_]') FROM generate_series(1, 20);" } 0 .. $#layouts),
      'INSERT INTO uuids SELECT snowid_uuidv7() FROM generate_series(1, 20); INSERT INTO oids SELECT objectid_next() FROM generate_series(1, 20);',
      "SELECT extract(epoch FROM snowid_timestamp(snowid_next($shard)) - clock_timestamp())";
    my $ahead = attempt($node, $sql, dbname => $database);
    like($ahead, qr/^-?\d/, "a $database $name: shard $shard");
    return $ahead =~ /^-?\d/ ? $ahead : 0;
}

my $day = 86_400;
foreach my $case ([ 'minute', 90 ], [ 'month', 30 * $day ], [ 'years', 3652 * $day ])
{
    my ($name, $ahead) = @$case;
    # No checkpointer bears a clock that goes back by years while it runs.
    restart_at(0);
    $node->safe_psql('postgres', "CREATE DATABASE $name");
    $node->safe_psql($name, $schema);
    check_made($name, 'before', $_) foreach 1, 2;
    # Shard 3 has its first IDs now, shard 2 none.
    set_clock($ahead);
    check_made($name, 'ahead', $_) foreach 1, 3;
    if ($name ne 'minute') { crash($node, 'kill'); set_clock(5); start_server($node) }
    set_clock(5);
    is(attempt($node, 'SET snowid.max_wait = 0; SELECT snowid_next(1)', dbname => $name), 'ERROR SN001', "a $name, put right: an error");
    check_stated($name, 'stated', $used);
    cmp_ok(check_made($name, 'stated', $_), '<', 15, "a $name: by the clock") foreach 1 .. 4;
    crash_and_start($node, 'kill');
    cmp_ok(check_made($name, 'after a crash', $_), '<', 15, "a $name: by the clock") foreach 1, 5;
    is($node->safe_psql($name, 'SELECT count(*) FROM snowid.skipped_times'), 1, "a $name: it is known which times are skipped");

    my ($from, $length) = split /\|/, $node->safe_psql($name, 'SELECT extract(epoch FROM lower(skipped)) - extract(epoch FROM clock_timestamp()),'
          . ' extract(epoch FROM upper(skipped) - lower(skipped)) FROM snowid.skipped_times');
    my $right = 5 + $from;
    my $inside = 'SELECT count(*) FROM ids0, snowid.skipped_times WHERE skipped @> snowid_timestamp(id)';
    my $before = $node->safe_psql($name, $inside);
    cmp_ok($before, '>', 0, "a $name: there are IDs of those times");
    foreach my $at (-30, -12, -11, -3, -1.2, -0.5, 0, 0.5, $length / 2, $length - 0.2, $length, $length + 1, -1, $length + 3, -7)
    {
        set_clock($right + $at);
        check_made($name, "at those times, $at s", $_) foreach 1, 2, 6;
    }
    crash_and_start($node, 'kill', $right + 0.5);
    check_made($name, 'after a crash among them', $_) foreach 1, 2;
    set_clock($right + $length + 60);
    cmp_ok(check_made($name, 'past them', $_), '<', 15, "a $name: by the clock again") foreach 1, 7;
    is($node->safe_psql($name, $inside), $before, "a $name: no ID more is of those times");
}
end_test($node);
