# portable/snowid.sql: the clock is set back and forward under a running server. Little of it goes unnoticed, some is waited for, much
# is refused at once, with what to do, and IDs increase through all of it.
# Runs in make test-all: sessions draw for long.

use Snowid;
use Time::HiRes qw(time);

my $node = new_server('clock');
start_server($node);
my @as_owner = (extra_params => [ '-U', portable_owner() ]);
create_portable($node, 'app', shards => [ 1, 2, 3 ]);
sub asked { return attempt($node, $_[0], dbname => 'app') }
sub error_of { my ($sql) = @_; return ($node->psql('app', $sql, on_error_stop => 0, @as_owner))[2] }

# Draws an ID, which must be above all before.
my $last = 0;

sub draws_above
{
    my ($name, $settings) = @_;
    my $id = asked(($settings // '') . 'SELECT snowid_next(1)');
    my $above = $id =~ /^\d+$/ && $id > $last;
    $last = $id if $above;
    return ok($above, $name) || diag("got $id after $last");
}

# Whoever would have to wait is refused: proof that nobody waits. And who waits first is cancelled: proof that a refusal
# comes at once.
my $no_wait = 'SET snowid.max_wait = 0;';
my $at_once = "SET statement_timeout = '1min'; SET snowid.max_wait = '10min';";

draws_above('a first ID', $no_wait);
set_clock(-0.4);
draws_above('400 ms back: nobody waits', $no_wait);
set_clock(0);
draws_above('the clock is right', $no_wait);
is(asked(q(SELECT snowid_timestamp(snowid_next(1)) BETWEEN now() - interval '1 ms' AND clock_timestamp())), 't', 'an ID of now');
set_clock(-3);
draws_above('3 s back: callers wait');
is(asked(q(SELECT max(snowid_timestamp(snowid_next(1)) - clock_timestamp()) <= interval '1 s')), 't', 'ID is max_lead ahead at most');
set_clock(0);
draws_above('the clock is right');
set_clock(-3600);
is(asked("$at_once SELECT $_"), 'ERROR SN001', "1 h back: $_ is refused at once") foreach 'snowid_next(1)', 'snowid_next_batch(1, 10)', 'snowid_reserve(1, 10)';
# Who is refused takes nothing: however often somebody asks, nobody is refused for longer.
my $value = $node->safe_psql('app', 'SELECT last_value FROM snowid_shards.instagram_1');
asked("$no_wait SELECT snowid_next(1)") for 1 .. 5;
is($node->safe_psql('app', 'SELECT last_value FROM snowid_shards.instagram_1'), $value, 'who is refused takes nothing');
is(asked('SELECT snowid_next(2) > 0'), 't', 'a shard that has issued nothing goes by the clock');
is(asked("SET snowid.max_lead = '2h'; $no_wait SELECT snowid_next(1)"), 'ERROR SN001', 'no session says how far IDs may run ahead');
my $err = error_of('SELECT snowid_next(1)');
like($err, qr/ERROR:  clock is (?:00:[5-9]\d:\d\d|01:00:0\d) behind the next ID of shard 1 of layout "instagram"$/m, 'how much it is behind');
like($err, qr/^DETAIL:  The next ID's time is 20.*by 1000 ms, .* for 5000 ms.*HINT:  Correct the server's clock\./ms, 'what to do');
my ($allow) = $err =~ /, as the owner of the schema snowid: (UPDATE .*;)$/m;
$node->safe_psql('app', $allow, @as_owner);
draws_above("their owner does: $allow", $no_wait);

# What is accepted is another server's: its clock may be the wrong one, and the message names no shard of this one.
my $default = 'UPDATE snowid.settings SET max_lead = DEFAULT';
$node->safe_psql('app', "$default; SELECT snowid.create_shard(0)", @as_owner);
my $accept = q(SELECT snowid.accept_shard(8191, snowid_encode(now() + interval '%s', 8191, 0)));
my $says = qr/^psql:.* ERROR:  ID is [23] days? \d\d:\d\d:\d\d ahead of the clock
DETAIL:  "snowid.max_lead" allows 1000 ms, and "snowid.max_wait" lets a caller wait for 5000 ms.
HINT:  Compare the clocks of the two servers. If they are right, wait, or let IDs run further ahead, as the owner of the schema snowid: (UPDATE .*;)\n/;
foreach my $case ([ '3 d', $says ], [ '40 d', qr/HINT:  Compare the clocks of the two servers[.]\n/ ], [ '20 s', qr/ID is (?:19|20)\d\d\d ms ahead of the clock/ ])
{
    like(error_of(sprintf $accept, $case->[0]), $case->[1], "an accept $case->[0] ahead");
}
($allow) = error_of($no_wait . sprintf $accept, '3 d') =~ /DETAIL:  "snowid.max_lead" allows 1000 ms[.]\nHINT:  Compare .* right, let IDs .*: (UPDATE .*;)$/m;
$node->safe_psql('app', "$allow " . sprintf($accept, '3 d') . "; $default", @as_owner);
is($node->safe_psql('app', 'SELECT last_value > 0 FROM snowid_shards.instagram_8191'), 't', "it is accepted after the hint's statement");

# A wait: it can be cancelled, and ends when the clock is put right.
foreach my $end ([ sub { $node->safe_psql('app', q(SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep')) }, 0 ], [ sub { set_clock(0) }, 1 ])
{
    my $session = draw($node, 'snowid_next(1)', 1, setup => "SET snowid.max_wait = '2h'", dbname => 'app');
    wait_for_waiting($node, 1, 'PgSleep', 'snowid_next');
    $end->[0]->();
    finish($session);
    (my $count, $last) = check_round('who has waited', $last, $session);
    is($count, $end->[1], $count ? 'the clock is put right, which ends the wait' : 'a wait is cancelled');
    is(sqlstate_of(errors_of($session)), '57014', 'and says so') unless $count;
}

# A clock that jumps both ways while sessions draw.
my @sessions = map { draw($node, 'snowid_next(3)', 500, pause_every => 50, dbname => 'app') } 1 .. 32;
jump_clock($node);
finish(@sessions);
is((check_round('a clock that jumps', 0, @sessions))[0], 16_000, 'a clock that jumps: nobody is refused') or diag(errors_of(@sessions));

# A unit's sequence is used up: with the clock standing still, IDs borrow from the next ones, up to max_lead. A second has a
# thousand units, of 1,024 each.
stop_clock(time + 7200, $node);
is(asked("$no_wait SELECT count(DISTINCT id) FROM snowid_next_batch(2, 100000) id"), '100000', 'as many as there are in 98 ms');
is(asked("$no_wait SELECT count(*) FROM snowid_next_batch(2, 1000000)"), 'ERROR SN001', 'a million more are too far ahead');
is(asked("$no_wait SELECT snowid_timestamp(snowid_next(2)) - now() BETWEEN interval '990 ms' AND interval '1001 ms'"), 't', 'a second ahead');
end_test($node);
