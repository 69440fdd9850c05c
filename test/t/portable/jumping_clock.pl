# portable/snowid.sql: the clock is set back and forward under a running server. Little of it goes unnoticed, some is
# waited for, much is refused at once, and IDs increase through all of it. After a crash, too, with the clock behind.
#
# Runs in make test-all: sessions draw for long, with crashes.

use strict;
use warnings;

use Snowid;
use Test::More;
use Time::HiRes qw(time);
use Time::Local qw(timegm);

my $node = new_quiet_server('clock');
start_server($node);
my $owner = portable_owner();
create_portable($node, 'app', shards => [ 1, 2, 3 ]);
$node->safe_psql('postgres', 'CREATE ROLE clerk LOGIN');
my $last = 0;

sub asked { return attempt($node, $_[0], dbname => 'app') }

# Draws an ID, which must be above all before.
sub draws
{
    my ($name, $settings) = @_;
    my $id = asked(($settings // '') . 'SELECT snowid_next(1)');
    my $above = $id =~ /^\d+$/ && $id > $last;
    ok($above, $name) or diag("got $id after $last");
    $last = $id if $above;
    return;
}

# Whoever would have to wait is refused: proof that nobody waits. And who waits first is cancelled: proof that a refusal
# comes at once.
my $no_wait = 'SET snowid.max_wait = 0;';
my $at_once = "SET statement_timeout = '1min'; SET snowid.max_wait = '10min';";

draws('a first ID', $no_wait);
set_clock(-0.4);
draws('400 ms back: nobody waits', $no_wait);
set_clock(0);
draws('the clock is right', $no_wait);
is(asked('SELECT snowid_timestamp(snowid_next(1)) BETWEEN now() - interval \'1 ms\' AND clock_timestamp()'), 't', 'an ID of now');
set_clock(-3);
draws('3 s back: callers wait');
my $lead = asked('SELECT max(snowid_timestamp(snowid_next(1)) - clock_timestamp())');
is(asked("SELECT '$lead'::interval <= interval '1 s'"), 't', 'ID is max_lead ahead at most') or diag($lead);
set_clock(0);
draws('the clock is right');
set_clock(-3600);
is(asked("$at_once SELECT $_"), 'ERROR SN001', "1 h back: $_ is refused at once")
  foreach ('snowid_next(1)', 'snowid_next_batch(1, 10)', 'snowid_reserve(1, 10)');
my ($status, $out, $err) = $node->psql('app', 'SELECT snowid_next(1)');
like($err, qr/ERROR:  clock is (?:00:[5-9]\d:\d\d|01:00:0\d) behind the next ID of shard 1 of layout "instagram"$/m, 'how much it is behind');
like($err, qr/^DETAIL:  The next ID's time is 20.*by 1000 ms, .* for 5000 ms.*HINT:  Set the server's clock right\./ms, 'what to do');
my ($allow) = $err =~ /, as the owner of the schema snowid: (UPDATE .*;)$/m;
# Who is refused takes nothing: however often somebody asks, nobody is refused for longer.
my $value = $node->safe_psql('app', 'SELECT last_value FROM snowid_shards.instagram_1');
asked("$no_wait SELECT snowid_next(1)") for 1 .. 5;
is($node->safe_psql('app', 'SELECT last_value FROM snowid_shards.instagram_1'), $value, 'who is refused takes nothing');
is(asked('SELECT snowid_next(2) > 0'), 't', 'a shard that has issued nothing goes by the clock');
is(attempt($node, "SET snowid.max_lead = '2h'; $no_wait SELECT snowid_next(1)", dbname => 'app'), 'ERROR SN001',
    'no session says how far IDs may run ahead');
$node->safe_psql('app', $allow, extra_params => [ '-U', $owner ]);
draws("their owner does: $allow", $no_wait);
$node->safe_psql('app', 'UPDATE snowid.settings SET max_lead = DEFAULT', extra_params => [ '-U', $owner ]);
# What is accepted is another server's: its clock may be the wrong one, and the message names no shard of this one.
$node->safe_psql('app', q(SELECT snowid.create_shard(0)), extra_params => [ '-U', $owner ]);
my $accept = q(SELECT snowid.accept_shard(8191, snowid_encode(now() + interval '%s', 8191, 0)));
my %says = (
    '3 d' => qr/^psql:.* ERROR:  ID is [23] days? \d\d:\d\d:\d\d ahead of the clock
DETAIL:  "snowid.max_lead" allows 1000 ms, and "snowid.max_wait" lets a caller wait for 5000 ms.
HINT:  Compare the clocks of the two servers. If they are right, wait, or let IDs run further ahead, as the owner of the schema snowid: (UPDATE .*;)\n/,
    '40 d' => qr/HINT:  Compare the clocks of the two servers[.]\n/);
foreach my $ahead (sort keys %says)
{
    ($status, $out, $err) = $node->psql('app', sprintf($accept, $ahead), on_error_stop => 0, extra_params => [ '-U', $owner ]);
    like($err, $says{$ahead}, "an accept $ahead ahead");
}
($status, $out, $err) = $node->psql('app', sprintf($accept, '20 s'), on_error_stop => 0, extra_params => [ '-U', $owner ]);
like($err, qr/ID is (?:19|20)\d\d\d ms ahead of the clock/, 'an accept 20 s ahead');
($status, $out, $err) = $node->psql('app', $no_wait . sprintf($accept, '3 d'), on_error_stop => 0, extra_params => [ '-U', $owner ]);
($allow) = $err =~ /DETAIL:  "snowid.max_lead" allows 1000 ms[.]\nHINT:  Compare .* right, let IDs .*: (UPDATE .*;)$/m;
$node->safe_psql('app', "$allow " . sprintf($accept, '3 d') . '; UPDATE snowid.settings SET max_lead = DEFAULT', extra_params => [ '-U', $owner ]);
is($node->safe_psql('app', 'SELECT last_value > 0 FROM snowid_shards.instagram_8191'), 't', "it is accepted after the hint's statement");

# A wait: it can be cancelled, and ends when the clock is put right.
my $session = draw($node, 'snowid_next(1)', 1, setup => "SET snowid.max_wait = '2h'", dbname => 'app');
wait_for_waiting($node, 1, 'PgSleep', 'snowid_next');
$node->safe_psql('app', q(SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'));
finish($session);
is(sqlstate_of(errors_of($session)), '57014', 'cancelled');
$session = draw($node, 'snowid_next(1)', 1, setup => "SET snowid.max_wait = '2h'", dbname => 'app');
wait_for_waiting($node, 1, 'PgSleep', 'snowid_next');
set_clock(0);
finish($session);
(my $count, $last) = check_round('the clock put right', $last, $session);
is($count, 1, 'ends the wait');

# A clock that jumps both ways while sessions draw.
my @sessions = map { draw($node, 'snowid_next(3)', 500, pause_every => 50, dbname => 'app') } 1 .. 32;
jump_clock($node);
finish(@sessions);
($count) = check_round('a clock that jumps', 0, @sessions);
is($count, 16_000, 'a clock that jumps: nobody is refused') or diag(errors_of(@sessions));

# A unit's sequence is used up: with the clock standing still, IDs borrow from the next ones, up to max_lead. A read of the
# clock that comes to none of them is the proof: a second has a thousand units, of 1,024 each.
stop_clock(time + 7200, $node);
is(asked("$no_wait SELECT count(DISTINCT id) FROM snowid_next_batch(2, 100000) id"), '100000', 'as many as there are in 98 ms');
is(asked("$no_wait SELECT count(*) FROM snowid_next_batch(2, 1000000)"), 'ERROR SN001', 'a million more are too far ahead');
is(asked("$no_wait SELECT snowid_timestamp(snowid_next(2)) - now() BETWEEN interval '990 ms' AND interval '1001 ms'"), 't', 'a second ahead')
  or diag(asked("$no_wait SELECT snowid_timestamp(snowid_next(2)) - now()"));

# What somebody was shown after its commit does not come again, though the server is killed and the clock is behind then.
# What the first session has drawn below is in a transaction that is open: nobody has had that written to disk.
foreach my $how ('kill', 'immediate')
{
    stop_clock(time + 7200 + ($how eq 'kill' ? 100 : 200), $node);
    my ($open, $sees) = map { open_session($node, dbname => 'app', user => 'clerk') } 1 .. 2;
    ask($open, 'BEGIN; SELECT snowid_next(3), snowid_next(3)');
    my @seen = map { ask($sees, 'SELECT snowid_next(3)') } 1 .. 5;
    crash($node, $how);
    close_session($open, $sees);
    set_clock(3600);
    start_server($node);
    $node->safe_psql('app', 'UPDATE snowid.settings SET max_lead = 86400000', extra_params => [ '-U', $owner ]);
    cmp_ok(asked('SELECT snowid_next(3)'), '>', $seen[-1], "$how, and the clock behind: above all that was seen");
    $node->safe_psql('app', 'UPDATE snowid.settings SET max_lead = DEFAULT', extra_params => [ '-U', $owner ]);
}

# Under load, with the clock behind by less than was drawn in.
my $dir = PostgreSQL::Test::Utils::tempdir();
PostgreSQL::Test::Utils::append_to_file("$dir/draws", "SELECT snowid_next(1);\n" x 100000);
$node->safe_psql('app', 'UPDATE snowid.settings SET max_lead = 86400000', extra_params => [ '-U', $owner ]);
my $floor = asked('SELECT snowid_next(1)');
foreach my $round (1 .. 3)
{
    my @drawing = map {
        my $file = "$dir/drawn$round.$_";
        { file => $file, run => IPC::Run::start(
                [ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-U', 'clerk', '-d', $node->connstr('app'), '-f', "$dir/draws" ],
                '<', \undef, '>', $file, '2>', "$file.err") }
    } 1 .. 8;
    wait_to_draw(2000, @drawing);
    crash($node, $round % 2 ? 'kill' : 'immediate');
    finish(@drawing);
    (my $seen, $floor) = check_round("crash $round", $floor, @drawing);
    cmp_ok($seen, '>', 500, "crash $round: sessions had drawn");
    set_clock(3600 - 10 * $round);
    start_server($node);
}
$node->stop;

# The layout's end, and its beginning.
my $end = timegm(49, 0, 17, 27, 5, 2046) + 0.497;
my $late = new_server('late');
start_server($late);
create_portable($late, 'app');
set_clock($end - 1800 - time, $late);
my $far = 'UPDATE snowid.settings SET max_lead = 3600000';
is($late->safe_psql('app', "$far; SELECT snowid.accept_shard(0, snowid_encode('2046-06-27 17:00:49.400Z', 0, 0))"), '', 'a tenth of a second is left');
is(attempt($late, 'SELECT count(*) FROM snowid_next_batch(0, 50000)', dbname => 'app'), '50000', 'service to the end');
my $rest = draw($late, 'snowid_next(0)', undef, dbname => 'app');
finish($rest);
is(sqlstate_of(errors_of($rest)), '2200H', 'the time is used up');
my ($drawn, $greatest) = check_round('the last IDs', 0, $rest);
is($greatest, 9223372036854775807 - (8191 << 10), 'the last ID is the greatest of its shard');
set_clock($end + 3600 - time, $late);
is(attempt($late, "SELECT $_", dbname => 'app'), 'ERROR 2200H', "past the end: $_")
  foreach ('snowid_next(0)', 'snowid_next_batch(0, 10)', 'snowid_reserve(0, 10)');
$late->stop;
my $early = new_server('early');
start_server($early);
create_portable($early, 'app');
set_clock(timegm(0, 0, 0, 1, 0, 2010) - time, $early);
is(attempt($early, 'SELECT snowid_next(0)', dbname => 'app'), 'ERROR SN001', 'before the epoch');
set_clock(0, $early);
is(attempt($early, 'SELECT snowid_next(0) > 0', dbname => 'app'), 't', 'and after it');
$early->stop;
done_testing();
