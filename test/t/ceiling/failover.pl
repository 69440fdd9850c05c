# Promise 1, through fail-over: the primary dies while sessions draw, a streaming standby whose clock
# is ten minutes behind is promoted, and no ID comes twice. A raise of the ceiling waits for
# synchronous standbys.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my @shards = (1, 2);

my $primary = new_server('primary', allows_streaming => 1);
start_server($primary);
$primary->safe_psql('postgres', 'CREATE EXTENSION snowid; SELECT snowid_next(1)');
my $standby = new_standby($primary, 'standby');
set_clock(-600, $standby);
start_server($standby);
$primary->wait_for_catchup($standby);

# On a standby: no IDs, but all that only reads.
foreach my $call ('snowid_next()', 'snowid_next(1)', 'snowid_next_batch(1, 10)', 'snowid_reserve(1, 10)',
    'snowid_advance(1)')
{
    is(attempt($standby, "SELECT $call"), 'ERROR 25006', "on a standby: $call");
}
is(attempt($standby, 'SELECT snowid_shard(snowid_min(now()) + 3 * 1024)'), '3', 'on a standby: decoding');
is(attempt($standby, 'SELECT last_value > 0 FROM snowid.ceiling'), 't', 'on a standby: the ceiling');

my $reader = open_session($standby);
foreach my $call ('snowid_lastval()', 'snowid_currval(1)')
{
    is(ask($reader, "SELECT $call"), 'ERROR 55000', "on a standby: $call");
    like($reader->{err}, qr/DETAIL:  A server in recovery issues no IDs\.\n(?!.*HINT)/s, 'and no hint to draw');
}
close_session($reader);

my %drawing;
foreach my $shard (@shards)
{
    $drawing{$shard} = [ map { draw($primary, "snowid_next($shard)", undef) } 1 .. 4 ];
}
my @all = map { @{ $drawing{$_} } } @shards;
wait_to_draw_together(20 * 100_000, @all);
wait_to_draw(1, @all);
crash($primary, 'kill');
finish(@all);
my %greatest;
foreach my $shard (@shards)
{
    my $count;
    ($count, $greatest{$shard}) =
      check_round("on the primary, shard $shard", 0, @{ $drawing{$shard} });
    cmp_ok($count, '>', 0, "clients saw $count IDs");
}

$standby->promote;
# Whoever waits first, and then refuses, is cancelled.
my $at_once = "SET statement_timeout = '1min'; SET snowid.max_wait = '5min';";
foreach my $shard (@shards)
{
    is(attempt($standby, "$at_once SELECT snowid_next($shard)"), 'ERROR SN001',
        "promoted, clock behind: refused, shard $shard");
    my $ahead = draw($standby, "snowid_next($shard)", 5_000, setup => "SET snowid.max_lead = '1h'");
    finish($ahead);
    my ($count, $max) = check_round("promoted, allowed to run ahead, shard $shard", $greatest{$shard}, $ahead);
    is($count, 5_000, 'served');
    $greatest{$shard} = $max;
}
set_clock(0, $standby);
foreach my $shard (@shards)
{
    my @sessions = map { draw($standby, "snowid_next($shard)", 5_000) } 1 .. 4;
    finish(@sessions);
    my ($count) = check_round("promoted, clock right, shard $shard", $greatest{$shard}, @sessions);
    is($count, 20_000, 'served');
}

# Where commits wait for a synchronous standby, so does the ceiling: the ID is not handed out before.
$standby->append_conf('postgresql.conf', "synchronous_standby_names = 'nobody'");
$standby->reload;
# A clock further on than the ceiling, so that the next ID needs a raise.
set_clock(3600, $standby);
my $session = draw($standby, 'snowid_next(1)', 1);
wait_for_waiting($standby, 1, 'SyncRep', 'snowid_next');
my $other = draw($standby, 'snowid_next(2)', 1);
wait_for_waiting($standby, 2, 'SyncRep', 'snowid_next');
is(-s $session->{file}, 0, 'no ID before a standby has the ceiling');
$standby->append_conf('postgresql.conf', "synchronous_standby_names = ''");
$standby->reload;
finish($session, $other);
is(scalar(@{ ids($session) }) + scalar(@{ ids($other) }), 2, 'both get theirs when the wait is over');
$standby->stop;
done_testing();
