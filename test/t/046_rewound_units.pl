# snowid_rewind() where what is known is old or little: sessions that have looked at the ceiling before, or wait for
# it; long units of time; an earlier wild time that is being stepped over; a clock that was put back too far; rows
# that a restore commits.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use SnowidRewinding;
use Test::More;

my $node = start_rewinding('again');

my $hours = "'time:20 shard:10 seq:10 unit:1h epoch:2020-01-01T00:00:00Z'";
my $minutes = "'time:28 shard:10 seq:10 unit:1min epoch:2020-01-01T00:00:00Z'";
my $full_hour = 2 * 3600 - time % 3600;

# 1. A session that knows the ceiling, and draws next when the unit of the wild time has begun: at once, when the
# rewinder has committed, or when others have had the ceiling raised beyond the beginning of that unit; also when
# the server has started, and knows of no such units.
foreach my $how ('learns', 'waits', 'follows', 'starts')
{
    my $name = "known_$how";
    my $waits = $how eq 'waits';
    set_clock($full_hour - 900);
    make($name);
    my $session = open_session($node, dbname => $name);
    ask($session, "SET snowid.max_wait = '4s'; SELECT snowid_next(1), snowid_next(1, $hours)");
    set_clock($full_hour + 1800);
    my $wild = ask($session, "SELECT snowid_next(1, $hours)");
    my $from = ask($session, 'SELECT snowid_timestamp(snowid_next(1))');
    set_clock($full_hour - ($waits ? 8 : 600));
    my $rewinder = open_session($node, dbname => $name);
    ask($rewinder, 'BEGIN');
    is(ask($rewinder, "SELECT 'rewound' FROM snowid_rewind('$from')"), 'rewound', "$name: rewound");
    ask($rewinder, 'COMMIT') unless $waits;
    crash($node, 'kill') if $how eq 'starts';
    set_clock($full_hour + 300);
    if ($how eq 'starts')
    {
        start_server($node);
        $session = open_session($node, dbname => $name);
    }
    like(ask($session, 'SELECT snowid_next(7)'), qr/^\d+$/, "$name: others") if $how =~ /follows|starts/;
    backend_of($session);
    start_asking($session, "SELECT snowid_next(1, $hours)");
    if ($waits)
    {
        is(answer($session), 'ERROR SN001', "$name: refused while that is open");
        ask($rewinder, 'COMMIT');
        start_asking($session, "SELECT snowid_next(1, $hours)");
    }
    isnt(answer($session), $wild, "$name: the wild unit is left out");
    close_session($_) foreach $session, $rewinder;
}

# 2. While an earlier wild time is stepped over, right IDs are ahead of the clock.
set_clock(0);
make('shadow');
set_clock(3600);
my $first = at('shadow', 'SELECT snowid_timestamp(snowid_next(1))');
set_clock(4200);
at('shadow', 'SELECT snowid_next(1)');
set_clock(0);
is(at('shadow', "SELECT 'rewound' FROM snowid_rewind('$first')"), 'rewound', 'stepping over: rewound before');
set_clock(3900);
at('shadow', 'SELECT snowid_next(1)');
set_clock(4100);
my $right = at('shadow', "SELECT snowid_next(1, $minutes) FROM generate_series(1, 5)");
like($right, qr/^\d+(\n\d+){4}$/, 'stepping over: IDs ahead of the clock');
at('shadow', 'SELECT snowid_next(1), snowid_next(2)');
set_clock(86_400 * 300);
at('shadow', "SELECT snowid_next(1, $minutes)");
my $second = at('shadow', 'SELECT snowid_timestamp(snowid_next(1))');
set_clock(4101);
is(at('shadow', "SELECT 'rewound' FROM snowid_rewind(date_trunc('minute', '$second'::timestamptz) - interval '1 min')"),
    'rewound', 'stepping over: rewound again, beside a shard that was not wild');
set_clock(4250);
my $after = at('shadow', "SELECT snowid_next(1, $minutes) FROM generate_series(1, 5)");
check_apart('stepping over', $right, $after);

# 3. A clock that is put back too far: nothing in memory tells of the last right IDs, but the ceiling's page.
foreach my $crash (0, 1)
{
    my $name = "far$crash";
    set_clock(600);
    make($name);
    my $before = at($name, "SELECT snowid_next(1, $minutes) FROM generate_series(1, 3)");
    set_clock(7200);
    my $wild = at($name, "SELECT snowid_timestamp(snowid_next(1, $minutes), $minutes)");
    at($name, 'SELECT snowid_next(1)');
    crash($node, 'kill') if $crash;
    set_clock(480);
    start_server($node) if $crash;
    is(at($name, "SELECT 'rewound' FROM snowid_rewind('$wild')"), 'rewound', "$name: put back too far, rewound");
    is(at($name, 'SELECT snowid_next(1)'), 'ERROR SN001', "$name: refused until the clock has come to the last right IDs");
    set_clock(600);
    check_apart($name, $before, at($name, "SELECT snowid_next(1, $minutes) FROM generate_series(1, 3)"));
    set_clock(800);
    like(at($name, 'SELECT snowid_next(1)'), qr/^\d+$/, "$name: then IDs go on");
}

# 4. Units shorter than the ceiling's millisecond: of the last one before a wild time none is issued, and nobody tries
# without end.
set_clock(0);
make('short');
set_clock(7200);
$first = at('short', 'SELECT snowid_timestamp(snowid_next(1))');
set_clock(0);
is(at('short', "SELECT 'rewound' FROM snowid_rewind('$first')"), 'rewound', 'short units: rewound');
set_clock(7100);
my $micros = "'time:50 shard:6 seq:7 unit:1us epoch:2020-01-01T00:00:00Z'";
my $far = "SET snowid.max_lead = '2h'; SET snowid.max_wait = 0;";
like(at('short', "$far SELECT snowid_advance(snowid_max(wild_from - interval '1001 us', $micros), $micros) IS NULL, snowid_next(63, $micros) FROM snowid.rewinds"),
    qr/^f\|\d+$/, 'short units: up to a millisecond before a wild time');
is(at('short', "$far SELECT snowid_next(63, $micros) FROM generate_series(1, 1000)"), 'ERROR SN001', 'short units: refused after that');
set_clock(7300);
is(at('short', "SELECT snowid_timestamp(snowid_next(63, $micros), $micros) > wild_until FROM snowid.rewinds"), 't', 'short units: stepped over');

$node->stop;
done_testing();
