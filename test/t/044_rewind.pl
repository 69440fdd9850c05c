# Promise 1 where a clock ran wild ahead and was put right: snowid_rewind() has IDs go on at once by the right
# clock, and when that comes to the times that were wild IDs step over them. By a minute, a month, ten years;
# through crashes, and a clock that jumps about.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('rewound');

# The tables refuse what comes twice. Units of a microsecond, a millisecond, ten and a second.
my @layouts = (
    'instagram', 'twitter', 'sonyflake',
    'time:35 shard:10 seq:18 unit:1s epoch:2020-01-01T00:00:00Z',
    'time:50 shard:6 seq:7 unit:1us epoch:2020-01-01T00:00:00Z');
my $tables = join ' ', map { "CREATE TABLE ids$_ (id bigint PRIMARY KEY);" } 0 .. $#layouts;
my $schema =
  "CREATE EXTENSION snowid; $tables CREATE TABLE uuids (id uuid PRIMARY KEY); CREATE TABLE oids (id objectid PRIMARY KEY)";

# Makes IDs of all kinds. Returns the greatest number of seconds by which one of instagram's is ahead of the
# clock, or what it failed with.
sub make
{
    my ($database, $shard) = @_;
    my $sql = 'SET snowid.max_wait = 0;';
    $sql .= "INSERT INTO ids$_ SELECT snowid_next($shard, '$layouts[$_]') FROM generate_series(1, 20);"
      foreach 0 .. $#layouts;
    $sql .= 'INSERT INTO uuids SELECT snowid_uuidv7() FROM generate_series(1, 20);'
      . 'INSERT INTO oids SELECT objectid_next() FROM generate_series(1, 20);';
    # On the clock's account layouts of long units wait for the next one.
    $sql =~ s/max_wait = 0/max_wait = '20s'/;
    return attempt($node, "$sql SELECT extract(epoch FROM snowid_timestamp(snowid_next($shard)) - clock_timestamp())",
        dbname => $database);
}

sub made
{
    my ($database, $name, $shard) = @_;
    my $ahead = make($database, $shard // 1);
    like($ahead, qr/^-?\d/, $name);
    return $ahead =~ /^-?\d/ ? $ahead : 0;
}

sub rewind_to
{
    my ($database, $moment, %options) = @_;
    return attempt($node, "SELECT 'rewound' FROM snowid_rewind($moment)", dbname => $database, %options);
}

my $first_wild = 'snowid_timestamp((SELECT id FROM ids0 WHERE id > snowid_max(now() + %s) ORDER BY id LIMIT 1))';

my $day = 86_400;
my %ahead = (minute => 60, month => 30 * $day, years => 3652 * $day);

start_server($node);
foreach my $name (sort { $ahead{$a} <=> $ahead{$b} } keys %ahead)
{
    my $ahead = $ahead{$name};
    set_clock(0);
    $node->stop;
    start_server($node);
    $node->safe_psql('postgres', "CREATE DATABASE $name");
    $node->safe_psql($name, $schema);
    made($name, "a $name: before");
    made($name, "a $name: before, another shard", 2);

    # Wild. Shard 3 has its first IDs now, shard 2 none.
    set_clock($ahead);
    made($name, "a $name ahead: IDs", $_) foreach 1, 3;
    crash($node, 'kill') if $name eq 'month';
    set_clock(5);
    start_server($node) if $name eq 'month';
    is(attempt($node, 'SET snowid.max_wait = 0; SELECT snowid_next(1)', dbname => $name),
        'ERROR SN001', "a $name ahead, and put right: refused");
    my $wild = sprintf $first_wild, q('20 s'::interval);
    is(rewind_to($name, "$wild + interval '1 minute'"), 'ERROR 22023',
        "a $name: not to a moment after wild IDs")
      if $name eq 'years';
    is(rewind_to($name, $wild), 'rewound', "a $name: rewound");
    cmp_ok(made($name, "a $name: IDs go on at once", $_), '<', 30, "a $name: by the clock, shard $_")
      foreach 1, 2, 3, 4;

    # A crash loses none of it.
    crash($node, 'kill');
    start_server($node);
    cmp_ok(made($name, "a $name: after a crash", $_), '<', 30, "a $name: by the clock, shard $_") foreach 1, 5;
    my $rows = $node->safe_psql($name, 'SELECT count(*) FROM snowid.rewinds');
    is($rows, 1, "a $name: it is known which times were wild");

    # The right clock comes to them.
    my ($from, $until) = split /\|/,
      $node->safe_psql($name,
        'SELECT ceil(extract(epoch FROM wild_from) - extract(epoch FROM clock_timestamp())),'
          . ' extract(epoch FROM wild_until) - extract(epoch FROM wild_from) FROM snowid.rewinds');
    my $right = 5 + $from;
    set_clock($right - 20);
    cmp_ok(made($name, "a $name: shortly before", 1), '<', 15, "a $name: IDs by the clock") if $name ne 'minute';
    my $inside = sub {
        return $node->safe_psql($name,
            'SELECT count(*) FROM ids0, snowid.rewinds WHERE snowid_between(id, wild_from, wild_until)');
    };
    my $before = $inside->();
    cmp_ok($before, '>', 0, "a $name: there are wild IDs");
    foreach my $at (-3, -1.2, -0.5, 0, 0.5, $until / 2, $until, $until + 1, 2 * $until, -1, $until + 3, -7)
    {
        set_clock($right + $at);
        made($name, "a $name: at the wild times, $at s", $_) foreach 1, 2, 6;
    }
    is($inside->(), $before, "a $name: no ID more has a wild time");
    crash($node, 'kill');
    set_clock($right);
    start_server($node);
    made($name, "a $name: after a crash among the wild times", $_) foreach 1, 2;
    set_clock($right + 3 * $until + 30);
    cmp_ok(made($name, "a $name: past them", $_), '<', 20, "a $name: IDs are by the clock again") foreach 1, 7;
    is($inside->(), $before, "a $name: still no ID more has a wild time");
    check_log($node);
    $node->safe_psql('postgres', "DROP DATABASE $name");
}

$node->stop;
done_testing();
