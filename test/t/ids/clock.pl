# Promises 2 and 3: the clock is set back and forward under a running server. Little of it goes
# unnoticed, some is waited for, much is refused at once, and IDs increase through all of it.
#
# How many IDs one unit of time has, where the clock stands still: 1,024 a millisecond in Instagram's layout, for each
# shard; 4,096 UUIDs a millisecond, for the whole server. All of them are given, each once and in order, before the next
# millisecond is begun, however many sessions draw; the one after the last that snowid.max_lead allows is refused; and a
# clock that has moved on gives as many again.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;
use Time::HiRes qw(time);
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
my ($hours, $minutes, $seconds) = $err =~ /ERROR:  clock is (\d\d):(\d\d):(\d\d) behind the next ID of shard 1 of layout "instagram"$/m;
my $behind = ($hours * 60 + $minutes) * 60 + $seconds;
# A second ahead of the clock may have been drawn before; and the clock goes on.
ok($behind > 3_000 && $behind <= 3_601, 'how much it is behind') or diag($err);
like($err, qr/^DETAIL:  The next ID's time is 20.* by 1000 ms, .* for 5000 ms\.\nHINT:  Set the server's clock right\./ms, 'what to do');
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

# The hint, followed word by word in a session that has not used snowid: IDs run ahead of the clock. Behind by more than
# any setting allows, it names what is left to do.
sub hint_at
{
    my ($offset) = @_;
    set_clock($offset);
    my (undef, undef, $said) = $node->psql('postgres', "$no_wait SELECT snowid_next(1)");
    return $said =~ /^HINT:  (.*)$/m ? $1 : $said;
}

my %follows = (-40 => '2min', -59 => '2min', -130 => '4min', -5000 => '8[45]min', -2_000_000 => '3333[56]min');
foreach my $offset (sort { $b <=> $a } keys %follows)
{
    set_clock(3600);
    draws("$offset s: before");
    my $hint = hint_at(3600 + $offset);
    my ($statements, $lead) = $hint =~ /: (LOAD 'snowid'; ALTER SYSTEM SET snowid[.]max_lead = '(.*)'; SELECT pg_reload_conf\(\);)$/;
    like($lead, qr/^$follows{$offset}$/, "$offset s: the hint has the statements") or diag($hint);
    is(scalar($hint =~ /snowid[.]return_to_clock\(\).*snowid[.]future_times\(\)/), $offset < -60 ? 1 : '', "$offset s: what minutes take");
    is($node->safe_psql('postgres', $statements), 't', "$offset s: they work in a new session");
    wait_for(sub { $node->safe_psql('postgres', q(LOAD 'snowid'; SELECT current_setting('snowid.max_lead') <> '1s')) eq 't' }, 'the setting');
    draws("$offset s: the hint followed", $no_wait);
    $node->safe_psql('postgres', q(LOAD 'snowid'; ALTER SYSTEM RESET snowid.max_lead; SELECT pg_reload_conf()));
    wait_for(sub { $node->safe_psql('postgres', q(LOAD 'snowid'; SHOW snowid.max_lead)) eq '1s' }, 'the setting');
}
my $far = hint_at(-30 * 86400);
like($far, qr/^Set the server's clock right\. .* by snowid[.]return_to_clock\(\) with the times that snowid[.]future_times\(\) finds[.]$/, '30 days back');
like(($node->psql('postgres', 'SELECT snowid_next(1)'))[2], qr/clock is 30 days 0[01]:\d\d:\d\d behind/, 'by how much');
set_clock(3600);
draws('forward again: service', $no_wait);

# What the runbook says to do meanwhile reaches sessions that are open, as a pool's are: one that has drawn before, and
# one that has not, which does not know the setting yet. What is stored for the database does not.
my $runbook = 'docs/operations.md';
my (undef, $let_run_ahead, $take_back) = blocks_of($runbook, 'The clock went back');
my ($drew, $new) = map { open_session($node) } 1 .. 2;
like(ask($drew, 'SELECT snowid_next(1)'), qr/^\d+$/, 'a session of a pool');
is(ask($new, 'SELECT 1'), '1', 'and one that has not drawn');
set_clock(3540);
is(ask($drew, 'SELECT snowid_next(1)'), 'ERROR SN001', '1 min back: refused');
is(attempt($node, 'ALTER DATABASE postgres SET snowid.max_lead = 120000'), '', 'stored for the database');
is(ask($drew, 'SELECT snowid_next(1)'), 'ERROR SN001', 'which the session does not hear of');
is(attempt($node, 'ALTER DATABASE postgres RESET snowid.max_lead'), '', 'and taken back');
follow($node, '', $let_run_ahead);
foreach my $session ($drew, $new)
{
    wait_for(sub { ask($session, 'SHOW snowid.max_lead') eq '2min' }, 'the session to hear of it');
    my $id = ask($session, 'SELECT snowid_next(1)');
    cmp_ok($id, '>', $last, 'the runbook followed: an open session draws');
    $last = $id;
}
follow($node, '', $take_back);
foreach my $session ($drew, $new)
{
    wait_for(sub { ask($session, 'SHOW snowid.max_lead') eq '1s' }, 'the session to hear of it');
    is(ask($session, 'SELECT snowid_next(1)'), 'ERROR SN001', 'taken back: refused');
    close_session($session);
}
set_clock(3600);
draws('the clock is right', $no_wait);

# A clock that jumps both ways while sessions draw.
my @sessions = map { draw($node, 'snowid_next(3)', 5_000, pause_every => 100) } 1 .. 4;
jump_clock($node);
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

# Before the layout's beginning there is no time to give.
$node->safe_psql('postgres', 'CREATE DATABASE early');
$node->safe_psql('early', 'CREATE EXTENSION snowid');
set_clock(timegm(0, 0, 0, 1, 0, 2010) - time, $node);
is(attempt($node, 'SELECT snowid_next(0)', dbname => 'early'), 'ERROR SN001', 'before the epoch');
set_clock(0, $node);
is(attempt($node, 'SELECT snowid_next(0) > 0', dbname => 'early'), 't', 'and after it');

# The clock stands still, at Unix seconds. All that was used before is behind it.
my $second = int(time) + 3 * 3600;

# Has sessions draw at once, from a clock that stands, until they are refused. Returns how many were
# drawn of each millisecond, after the place of its sequence, both counted from where the clock stands.
sub exhaust
{
    my ($name, $lead, $kind) = @_;
    my $setup = "SET snowid.max_lead = $lead; SET snowid.max_wait = 0";
    my @drawing = map { draw($node, $kind->{call}, 100_000, setup => $setup) } 1 .. 2;
    finish(@drawing);
    is(sqlstate_of(slurp_file("$_->{file}.err")), 'SN001', "$name: then it is refused") foreach @drawing;
    (undef, $kind->{last}) = $kind->{check}->($name, $kind->{last}, @drawing);
    my %sequences;
    foreach my $id (map { @{ ids($_) } } @drawing)
    {
        my ($time, $sequence) = $kind->{parts}->($id);
        $sequences{ $time - $second * 1000 }{$sequence}++;
    }
    return { map { $_ => scalar keys %{ $sequences{$_} } } keys %sequences };
}

my %kinds = (
    'IDs of one shard' => {
        call => 'snowid_next(5)',
        last => 0,
        most => 1024,
        check => \&check_round,
        parts => sub { (1314220021721 + ($_[0] >> 23), $_[0] & 1023) }
    },
    'UUIDs' => {
        call => 'snowid_uuidv7()',
        last => '',
        most => 4096,
        check => \&check_text_round,
        parts => sub { (hex(substr($_[0], 0, 8) . substr($_[0], 9, 4)), substr($_[0], 15, 3)) }
    });
foreach my $name (sort keys %kinds)
{
    my $kind = $kinds{$name};
    stop_clock(++$second, $node);
    # The sequence goes on from where the last millisecond has left it: the first one may be cut short.
    exhaust("$name, up to the end of a millisecond", 0, $kind);
    stop_clock(++$second, $node);
    is_deeply(exhaust("$name, one millisecond", 0, $kind), { 0 => $kind->{most} }, "$name: all of a millisecond, and no more");
    is_deeply(exhaust("$name, ahead of the clock", 3, $kind), { map { $_ => $kind->{most} } 1 .. 3 },
        "$name: all of each that it may run ahead");
    stop_clock(++$second, $node);
    is_deeply(exhaust("$name, the clock moved on", 1, $kind), { map { $_ => $kind->{most} } 0 .. 1 },
        "$name: as many again when the clock has moved on");
}

# What one shard has used up another has yet.
stop_clock(++$second, $node);
$session = open_session($node);
ask($session, 'SET snowid.max_lead = 0; SET snowid.max_wait = 0');
foreach my $shard (5, 6)
{
    is(ask($session, "SELECT snowid_sequence(snowid_reserve($shard, 1024))"), '0', "shard $shard has a whole millisecond");
    is(ask($session, "SELECT snowid_next($shard)"), 'ERROR SN001', "shard $shard has no more");
}
close_session($session);

$node->stop;
check_log($node);
done_testing();
