# snowid_rewind() after a history: clocks that jumped several times, or little, or were put back too far; wild times
# that lie around other ones; sweeps and dumps under a wrong clock; sessions that read it before they had to wait.
# No ID comes twice, IDs go on, and other databases do not notice.

use strict;
use warnings;

use POSIX qw(strftime);
use PostgreSQL::Test::Utils;
use Snowid;
use SnowidRewinding;
use Test::More;

my $node = start_rewinding('often');

my $minutes = "'time:28 shard:10 seq:10 unit:1min epoch:2020-01-01T00:00:00Z'";
my $hours = "'time:20 shard:10 seq:10 unit:1h epoch:2020-01-01T00:00:00Z'";
my $moment = 'SELECT snowid_timestamp(snowid_next(1))';

sub rewinds
{
    my ($name, $from, $what) = @_;
    is(at($name, "SELECT 'rewound' FROM snowid_rewind('$from')"), 'rewound', "$name: $what");
    return;
}

sub goes_on
{
    my ($name, $what) = @_;
    is(at($name, "SELECT snowid_timestamp(snowid_next(1)) < now() + interval '20 s'"), 't', "$name: $what");
    return;
}

# 1. A clock that jumps twice, is put right, and jumps further.
set_clock(0);
make('twice');
set_clock(86_400);
my $from = at('twice', $moment);
set_clock(3 * 86_400);
at('twice', $moment);
set_clock(10);
rewinds('twice', $from, 'two jumps');
goes_on('twice', 'after two jumps');
set_clock(5 * 86_400);
$from = at('twice', $moment);
set_clock(300);
rewinds('twice', $from, 'and one beyond them');
goes_on('twice', 'after one beyond them');

# 2. Four times, each later than the one before, and further gaps in the last. The first is stepped over.
set_clock(0);
make('chain');
my $five = "SELECT snowid_next(s, $minutes) FROM generate_series(1, 5) AS s";
set_clock(3600);
$from = at('chain', "SELECT date_trunc('minute', snowid_timestamp(snowid_next(1)))");
my $wild = at('chain', $five);
set_clock(3650);
$wild .= "\n" . at('chain', $five);
set_clock(0);
rewinds('chain', $from, 'the first');
my $put_back = 10;
foreach my $jumps ([ 7200, 7900 ], [10_800], [ map { 18_000 + 100 * $_ } 0 .. 9 ])
{
    my ($first, @others) = @$jumps;
    set_clock($first);
    $from = at('chain', $moment);
    foreach my $later (@others) { set_clock($later); at('chain', $moment) }
    set_clock($put_back);
    rewinds('chain', $from, "the one at $first s");
    $put_back += 10;
}
goes_on('chain', 'after all of them');
set_clock(3600);
at('chain', 'SELECT snowid_next(1)');
my $again = at('chain', $five);
set_clock(3650);
$again .= "\n" . at('chain', $five);
set_clock(3900);
my $later = at('chain', $five);
like($later, qr/^\d+(\n\d+){4}$/, 'chain: the first: IDs');
$again .= "\n$later";
check_apart('chain', $wild, $again);

# 3. While one is stepped over there is another: the first goes on to be stepped over.
set_clock(0);
make('around');
set_clock(3600);
$from = at('around', $moment);
set_clock(5400);
at('around', $moment);
set_clock(0);
rewinds('around', $from, 'half an hour long');
set_clock(3900);
my $right = at('around', $moment);
set_clock(300 * 86_400);
$from = at('around', $moment);
set_clock(3901);
rewinds('around', $from, 'in the middle of stepping over');
set_clock(3960);
is(at('around', "SELECT snowid_timestamp(snowid_next(1)) BETWEEN '$right' AND '$right'::timestamptz + interval '1 min'"),
    't', 'around: goes on stepping over');

# 4. A clock that is put back too far, after many idle minutes of the wrong one.
set_clock(600);
make('idle');
$right = at('idle', "SELECT snowid_next(1, $minutes) FROM generate_series(1, 3)");
set_clock(7200);
$from = at('idle', "SELECT snowid_timestamp(snowid_next(1, $minutes), $minutes)");
foreach my $later (1 .. 70) { set_clock(7200 + 100 * $later); at('idle', $moment) }
set_clock(480);
rewinds('idle', $from, 'put back too far');
is(at('idle', 'SELECT snowid_next(1)'), 'ERROR SN001', 'idle: refused until the clock has come to the last right IDs');
set_clock(600);
check_apart('idle', $right, at('idle', "SELECT snowid_next(1, $minutes) FROM generate_series(1, 3)"));
set_clock(640);
goes_on('idle', 'by the clock');

# 5. A clock that ran ahead by less than anybody would notice; and one that did so step by step.
set_clock(0);
make('little');
set_clock(590);
$right = at('little', "SELECT snowid_next(1, 'twitter') FROM generate_series(1, 3)");
set_clock(640);
$from = at('little', $moment);
crash($node, 'kill');
set_clock(580);
start_server($node);
rewinds('little', $from, 'put back by a minute');
set_clock(600);
at('little', 'SELECT snowid_next(1)');
set_clock(645);
goes_on('little', 'at the latest when the clock is there');
set_clock(0);
make('steps');
foreach my $step (1 .. 25) { set_clock(8 * $step); at('steps', $moment) }
$from = at('steps', q(SELECT now() - interval '20 s'));
set_clock(0);
is(at('steps', "SELECT snowid_rewind('$from')"), 'ERROR 22023', 'steps: nobody knows where it began');

# What was said to begin too late begins where the clock jumped.
set_clock(0);
make('late');
set_clock(3600);
$from = at('late', $moment);
set_clock(3608);
at('late', $moment);
set_clock(0);
is(at('late', "SELECT wild_from <= '$from' FROM snowid_rewind('$from'::timestamptz + interval '5 s')"),
    't', 'late: wild from the jump on');
goes_on('late', 'by the clock');

# A long unit of time is used from the clock on, not from its beginning.
set_clock(0);
make('units');
set_clock(2 * 86_400);
at('units', q(SELECT snowid_next(1, 'time:16 shard:10 seq:10 unit:1d epoch:2020-01-01T00:00:00Z')));
$from = at('units', $moment);
set_clock(0);
is(at('units', "SELECT wild_from >= '$from'::timestamptz - interval '10 s' FROM snowid_rewind('$from')"),
    't', 'units: wild from the jump on');
goes_on('units', 'by the clock');

# 6. A dump that was restored under the wrong clock.
set_clock(900);
make('dumped');
$right = at('dumped', "SELECT snowid_next(1, $minutes) FROM generate_series(1, 3)");
my $file = PostgreSQL::Test::Utils::tempdir() . '/dump';
$node->command_ok([ 'pg_dump', '-d', $node->connstr('dumped'), '-f', $file ], 'dumped');
set_clock(7200);
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', $file ], 'restored');
$from = at('restored', "SELECT snowid_timestamp(snowid_next(1, $minutes), $minutes)");
set_clock(800);
rewinds('restored', $from, 'put back too far');
set_clock(900);
check_apart('restored', $right, at('restored', "SELECT snowid_next(1, $minutes) FROM generate_series(1, 3)"));

# 7. Many, all past, and a rewind that is rolled back: what is to come begins where it was said to.
set_clock(0);
make('many');
foreach my $hour (reverse 1 .. 8)
{
    set_clock(3600 * $hour);
    $from = at('many', $moment);
    set_clock(5);
    rewinds('many', $from, "$hour hours");
}
set_clock(20 * 3600);
goes_on('many', 'past all of them');
set_clock(40 * 3600);
$from = at('many', $moment);
set_clock(20 * 3600 + 100);
is(at('many', "BEGIN; SELECT 'rewound' FROM snowid_rewind('$from'); ROLLBACK"), 'rewound', 'many: rolled back');
is(at('many', 'SELECT snowid_next(1)'), 'ERROR SN001', 'many: rolled back');
rewinds('many', $from, '40 hours');
goes_on('many', 'by the clock');

my $both = q(SELECT snowid_uuid_timestamp(snowid_uuidv7()) < now() + interval '10 s', objectid_timestamp(objectid_next()) < now() + interval '10 s');

# Long units, which have begun before a wild time, drag nobody over it; nor where it is past.
set_clock(0);
make('dragged');
set_clock(7200);
$from = at('dragged', $moment);
set_clock(0);
rewinds('dragged', $from, 'two hours ahead');
my $day = strftime(q('time:20 shard:10 seq:1 unit:24h epoch:%Y-%m-%dT%H:%M:%SZ'), gmtime(time - 3600));
is(at('dragged', "SELECT snowid_next(77, $day)"), 'ERROR SN001', 'dragged: a day that the wild time is in');
goes_on('dragged', 'by the clock');
is(at('dragged', $both), 't|t', 'dragged: UUIDs and ObjectIDs, too');
set_clock(7200);
at('dragged', $moment);
set_clock(6 * 3600);
at('dragged', "SELECT snowid_next(77, $day) FROM generate_series(1, 5)");
crash($node, 'kill');
start_server($node);
goes_on('dragged', 'after a crash');

# What is tried when all IDs are refused: the extension made anew, its sequence altered, a rewind that is rolled
# back. Then one that counts.
my %tried = (
    anew => 'DROP EXTENSION snowid; CREATE EXTENSION snowid',
    altered => 'ALTER SEQUENCE snowid.ceiling INCREMENT BY 1',
    given_up => q(BEGIN; SELECT * FROM snowid_rewind($FROM); ROLLBACK; SELECT snowid_advance_all(now())));
foreach my $name (sort keys %tried)
{
    set_clock(0);
    make($name);
    set_clock(86_400);
    $from = at($name, $moment);
    set_clock(10);
    is(at($name, 'SELECT snowid_next(1)'), 'ERROR SN001', "$name: refused");
    at($name, $tried{$name} =~ s/\$FROM/'$from'/r);
    at($name, 'SELECT snowid_next(1)');
    rewinds($name, $from, 'at last');
    goes_on($name, 'by the clock');
    at($name, 'BEGIN; ALTER SEQUENCE snowid.ceiling INCREMENT BY 1; SELECT snowid_next(1); ROLLBACK') foreach 1 .. 2;
    goes_on($name, 'whatever is rolled back since');
}
set_clock(0);
make('undone');
set_clock(86_400);
$from = at('undone', $moment);
set_clock(10);
rewinds('undone', $from, 'nobody has drawn');
at('undone', 'BEGIN; ALTER SEQUENCE snowid.ceiling INCREMENT BY 1; SELECT snowid_next(1); ROLLBACK');
goes_on('undone', 'whatever is rolled back since');

# 8. Other databases get UUIDs and ObjectIDs by the clock, whatever one of them steps over, and whoever says so.
set_clock(0);
make('over');
make('beside');
set_clock(3600);
$from = at('over', $moment);
set_clock(7200);
at('over', $moment);
set_clock(0);
rewinds('over', $from, 'an hour long');
$node->safe_psql('postgres', 'CREATE ROLE mallory CREATEDB');
$node->safe_psql('postgres', 'SET ROLE mallory; CREATE DATABASE mine');
$node->safe_psql('mine',
    q(SET ROLE mallory; CREATE EXTENSION snowid; SELECT snowid_next(1); INSERT INTO snowid.rewinds VALUES (now() - interval '1 h', now() + interval '10 y', now() - interval '2 h')));
set_clock(3700);
is(at('over', 'SELECT snowid_timestamp(snowid_next(1)) > now() + interval \'50 min\''), 't', 'over: IDs step over');
is(at('over', $both), 't|t', 'over: UUIDs and ObjectIDs do not');
at('mine', "SET ROLE mallory; SELECT snowid_next(1)");
is(at('mine', "SET ROLE mallory; $both"), 't|t', 'mine: UUIDs and ObjectIDs by the clock');
is(at('beside', $both), 't|t', 'beside: UUIDs and ObjectIDs by the clock');
crash($node, 'kill');
start_server($node);
at('over', 'SELECT snowid_next(1)');
is(at($_, $both), 't|t', "$_: also after a crash") foreach 'over', 'beside';

# 9. Who has read the wrong clock, and had to wait while it was put right, goes by the right one: whether it was in
# the wild time, or before it.
foreach my $ahead (86_400, 40_000)
{
    my $name = "waited$ahead";
    set_clock(0);
    make($name);
    my ($rewinder, $session) = map { open_session($node, dbname => $name) } 1, 2;
    ask($session, $moment);
    set_clock(86_400);
    $from = at($name, $moment);
    set_clock(0);
    ask($rewinder, 'BEGIN');
    is(ask($rewinder, "SELECT 'rewound' FROM snowid_rewind('$from')"), 'rewound', "$name: rewound");
    set_clock($ahead);
    backend_of($session);
    start_asking($session, q(SET snowid.max_wait = '4s'; SELECT snowid_timestamp(snowid_next(1)) < clock_timestamp() + interval '20 s'));
    wait_until_waiting($node, $session, 'Lock');
    set_clock(0);
    ask($rewinder, 'COMMIT');
    is(answer($session), 't', "$name: by the right clock");
    goes_on($name, 'for everybody');
    close_session($_) foreach $rewinder, $session;
}

# 10. Slots that a sweep has removed under the wrong clock. A database has 25.
my $few = build_library('few', '-DSNOWID_MAX_SLOTS=100 -DSNOWID_RESERVED_SLOTS=0');
my $full_hour = 2 * 3600 - time % 3600;
set_clock($full_hour - 3600);
make('swept');
use_library($node, 'swept', $few);
$node->stop;
start_server($node);
set_clock($full_hour + 600);
$right = at('swept', "SELECT snowid_next(1, $hours) FROM generate_series(1, 3)");
set_clock($full_hour + 86_400 * 300);
$from = at('swept', $moment);
at('swept', 'SELECT count(snowid_next(s)) FROM generate_series(2, 24) s');
wait_for(sub { at('swept', 'SELECT count(snowid_next(s)) FROM generate_series(100, 120) s') eq '21' }, 'a sweep');
is(at('swept', q(SELECT count(*) FROM snowid.stat_shards WHERE layout::text ~ '1h')), '0', 'swept: the slot is gone');
set_clock($full_hour + 700);
rewinds('swept', $from, 'rewound');
like($right, qr/^\d+(\n\d+){2}$/, 'swept: right IDs');
check_apart('swept', $right, at('swept', "SELECT snowid_next(1, $hours) FROM generate_series(1, 3)"));
goes_on('swept', 'by the clock');

$node->stop;
done_testing();
