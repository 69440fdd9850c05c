# Promises 2 and 3: the clock is set back and forward under a running server. Little of it goes
# unnoticed, some is waited for, much is refused at once, and IDs increase through all of it.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;
use Time::Local qw(timegm);

my $node = new_server('clock');
start_server($node);
$node->safe_psql('postgres', 'CREATE EXTENSION snowid');

my $last = 0;

# Draws an ID, which must be above all before.
sub draws
{
    my ($name, $settings) = @_;
    my $id = attempt($node, ($settings // '') . 'SELECT snowid_next(1)');
    my $above = $id =~ /^\d+$/ && $id > $last;
    ok($above, $name) or diag("got $id after $last");
    $last = $id if $above;
    return;
}

sub refused
{
    my ($name, $settings, $state) = @_;
    is(attempt($node, ($settings // '') . 'SELECT snowid_next(1)'), 'ERROR ' . ($state // 'SN001'), $name);
    return;
}

# Whoever would have to wait is refused: proof that nobody waits.
my $no_wait = 'SET snowid.max_wait = 0;';
# Whoever waits first, and then refuses, is cancelled: proof that a refusal comes at once.
my $at_once = "SET statement_timeout = '1min'; SET snowid.max_wait = '10min';";

draws('a first ID', $no_wait);
set_clock(-0.2);
draws('200 ms back: nobody waits', $no_wait);
set_clock(-0.4);
draws('200 ms more: nobody waits', $no_wait);

# Three seconds: callers wait. (Only if they draw within two seconds of the change, which a busy machine may
# not let them.)
set_clock(0);
draws('the clock is right', $no_wait);
set_clock(-3);
draws('3 s back: callers wait');
my $lead = attempt($node, 'SELECT max(snowid_timestamp(snowid_next(1)) - clock_timestamp())');
cmp_ok(attempt($node, "SELECT '$lead'::interval <= interval '1 s'"), 'eq', 't', 'ID is max_lead ahead at most')
  or diag($lead);

# An hour: refused at once, and what the error says.
set_clock(0);
draws('the clock is right');
set_clock(-3600);
refused('1 h back: refused at once', $at_once);
my ($status, $out, $err) = $node->psql('postgres', 'SELECT snowid_next(1)');
my ($behind) = $err =~ /ERROR:  clock is (\d+) ms behind the next ID of shard 1 of layout "instagram"$/m;
# A second ahead of the clock may have been drawn before; and the clock goes on.
ok($behind > 3_000_000 && $behind <= 3_601_000, 'how much it is behind') or diag($err);
like($err, qr/^DETAIL:  The next ID's time is 20.*HINT:  Set the server's clock right\./ms, 'what to do');
foreach my $call ('snowid_next_batch(1, 10)', 'snowid_reserve(1, 10)')
{
    is(attempt($node, "$at_once SELECT $call"), 'ERROR SN001', "1 h back: $call");
}
is(attempt($node, 'SELECT snowid_next(2) > 0'), 't', 'a shard that has issued nothing goes by the clock');
set_clock(0);
draws('the clock is right: service again', $no_wait);

# Forward, and back again.
set_clock(2);
draws('2 s forward', $no_wait);
set_clock(0);
draws('and back: callers wait');
set_clock(3600);
draws('1 h forward', $no_wait);
set_clock(0);
refused('and back: there is a wait', $no_wait);
refused('and back: refused', $at_once);
draws('a superuser may let it run ahead', "SET snowid.max_lead = '2h'; $no_wait");
set_clock(3600);
draws('forward again: service', $no_wait);

# A clock that jumps both ways while sessions draw.
my @sessions = map { draw($node, 'snowid_next(3)', 5_000, pause_every => 100) } 1 .. 4;
my @offsets = (3600, 3600.7, 3599.5, 3601.5, 3600.2, 3602, 3600.9);
my $at = 0;
wait_for(
    sub {
        set_clock($offsets[ $at++ % @offsets ]);
        return $node->safe_psql('postgres',
            q(SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'COPY%' AND state = 'active')) eq '0';
    },
    'the sessions to end');
finish(@sessions);
my ($count) = check_round('a clock that jumps', 0, @sessions);
is($count, 20_000, 'a clock that jumps: nobody is refused');

# Waiting: it can be cancelled, it obeys statement_timeout, and it ends when the clock is put right.
set_clock(3600);
draws('before the waits', "SET snowid.max_lead = '2h'; $no_wait");
set_clock(0);
refused('statement_timeout', "SET snowid.max_wait = '2h'; SET statement_timeout = '300ms';", '57014');
my $session = draw($node, 'snowid_next(1)', 1, setup => "SET snowid.max_wait = '2h'");
wait_for_waiting($node, 1, 'Extension', 'snowid_next');
$node->safe_psql('postgres',
    q(SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Extension'));
finish($session);
is(sqlstate_of(errors_of($session)), '57014', 'cancelled');
$session = draw($node, 'snowid_next(1)', 1, setup => "SET snowid.max_wait = '2h'");
wait_for_waiting($node, 1, 'Extension', 'snowid_next');
set_clock(3600);
finish($session);
($count, $last) = check_round('the clock put right', $last, $session);
is($count, 1, 'ends the wait');
$node->stop;

# The layout's end. Its last ID is that of 2046-06-27 17:00:49.496.
my $end = timegm(49, 0, 17, 27, 5, 2046) + 0.497;
my $late = new_server('late');
start_server($late);
set_clock($end - 366 * 86400 - time, $late);
$late->safe_psql('postgres', 'CREATE EXTENSION snowid; SELECT snowid_next(0)');
my $warnings = sub { return scalar(() = slurp_file($late->logfile) =~ /used up within a year/g) };
is($warnings->(), 0, 'no warning more than a year before the end');
set_clock($end - 364 * 86400 - time, $late);
my $from = -s $late->logfile;
$late->safe_psql('postgres', 'SELECT snowid_next(0) FROM generate_series(1, 10)') for 1 .. 3;
is($warnings->(), 1, 'one warning within a year, for all sessions');
set_clock($end - 362 * 86400 - time, $late);
my (undef, undef, $heard) =
  $late->psql('postgres', q(SET client_min_messages = log; SELECT snowid_next(0) FROM generate_series(1, 10)));
is($warnings->(), 2, 'another a day later');
unlike($heard, qr{within a year}, 'which is for the log alone');
# Those who run ahead of the clock reach the end before it.
set_clock($end - 1800 - time, $late);
my $far = "SET snowid.max_lead = '1h'";
is($late->safe_psql('postgres', "$far; SELECT snowid_advance(snowid_encode('2046-06-27 17:00:49.400Z', 0, 0))"), '',
    'a tenth of a second is left');
is(attempt($late, "$far; SELECT count(*) FROM snowid_next_batch(0, 50000)"), '50000', 'service to the end');
my $rest = draw($late, 'snowid_next_batch(0, 100000000)', 1, setup => $far);
finish($rest);
is(sqlstate_of(errors_of($rest)), '2200H', 'the time is used up');
my ($drawn, $greatest) = check_round('the last IDs', 0, $rest);
cmp_ok($drawn, '>', 0, 'there were last IDs');
is($greatest, 9223372036854775807 - (8191 << 10), 'the last ID is the greatest of its shard');
set_clock($end + 3600 - time, $late);
is(attempt($late, "SELECT $_"), 'ERROR 2200H', "past the end: $_")
  foreach ('snowid_next(0)', 'snowid_next(7)', 'snowid_next_batch(0, 10)', 'snowid_reserve(0, 10)');
$late->stop;

# Before the layout's beginning there is no time to give.
my $early = new_server('early');
start_server($early);
$early->safe_psql('postgres', 'CREATE EXTENSION snowid');
set_clock(timegm(0, 0, 0, 1, 0, 2010) - time, $early);
is(attempt($early, 'SELECT snowid_next(0)'), 'ERROR SN001', 'before the epoch');
set_clock(0, $early);
is(attempt($early, 'SELECT snowid_next(0) > 0'), 't', 'and after it');
$early->stop;
done_testing();
