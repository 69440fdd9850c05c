# Promise 1, through fail-over: the primary dies while sessions draw, a streaming standby whose clock
# is ten minutes behind is promoted, and no ID comes twice. A raise of the ceiling waits for
# synchronous standbys.
#
# And through recovery to a point in time, as far as it can hold: the restored server knows of nothing that
# was issued after the point. With the clock right no ID comes again all the same; where the clock is behind,
# snowid.advance_past says from when on IDs may be, durably. Its ceiling is that of the point, and IDs up to it do
# not come again, whatever the clock. Segments go on where somebody sets them.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

# 1. Recovery to a point in time.
my $primary = new_server('primary', has_archiving => 1, allows_streaming => 1);
# So that a new page is replayed only where its own record has all of it.
$primary->append_conf('postgresql.conf', "full_page_writes = off\n");
start_server($primary);
$primary->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE SEQUENCE invoices INCREMENT 1000;'
      . ' CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(1))');
$primary->backup('base');
my $insert = 'INSERT INTO photos SELECT FROM generate_series(1, 1000)';
my $draw = q(SELECT max(n) FROM (SELECT snowid_segment_next('invoices') AS n FROM generate_series(1, 5000)) AS drawn);
$primary->safe_psql('postgres', $insert);
$primary->safe_psql('postgres', $draw);
my $before = $primary->safe_psql('postgres', 'SELECT max(id) FROM photos');
$primary->safe_psql('postgres', q(SELECT pg_create_restore_point('the point')));
# Three seconds later by its clock, so that the ceiling of the point does not cover what comes.
set_clock(30, $primary);
$primary->safe_psql('postgres', $insert);
my ($lost, $invoice) = map { $primary->safe_psql('postgres', $_) } 'SELECT max(id) FROM photos', $draw;
my $stopped = $primary->safe_psql('postgres', 'SELECT snowid_ceiling()');
cmp_ok($lost, '>', $before, 'there is something to be lost');
# Whose name is that of the last segment that a restore needs.
my $segment = $primary->safe_psql('postgres', 'SELECT pg_walfile_name(pg_switch_wal())');
my $archived = "SELECT last_archived_wal >= '$segment' FROM pg_stat_archiver";
wait_for(sub { $primary->safe_psql('postgres', $archived) eq 't' }, 'the segment to be archived');

# A server that is restored to the point, with its clock so many seconds from the right one.
sub restore
{
    my ($name, $clock) = @_;
    my $node = PostgreSQL::Test::Cluster->new($name);
    $node->init_from_backup($primary, 'base', has_restoring => 1, standby => 0);
    $node->append_conf('postgresql.conf', "recovery_target_name = 'the point'\nrecovery_target_action = 'promote'\n");
    set_clock($clock, $node);
    start_server($node);
    wait_for(sub { $node->safe_psql('postgres', 'SELECT pg_is_in_recovery()') eq 'f' }, 'the server to be promoted');
    is($node->safe_psql('postgres', 'SELECT count(*), max(id) FROM photos'), "1000|$before", "$name: rows as of the point");
    return $node;
}

# Its clock is a minute on: restoring takes longer than what was lost.
my $node = restore('clock_right', 90);
cmp_ok($node->safe_psql('postgres', 'SELECT snowid_next(1)'), '>', $lost, 'clock right: above what was lost');
is(attempt($node, $insert), '', 'clock right: served');
$node->stop;

# As far behind as to be before the point: what the server knows is above that.
$node = restore('clock_behind', -600);
is(attempt($node, 'SELECT snowid_next(1)'), 'ERROR SN001', 'clock behind: refused');
my $far = "SET snowid.max_lead = '1d'";
my $next = attempt($node, "$far; SELECT snowid_next(1)");
cmp_ok($next, '>', $before, 'clock behind: above all of the point');
# It cannot know what it has not got, until it is told.
is(attempt($node, "$far; SELECT snowid.advance_past(timestamptz '$stopped')"), '', 'told of what was lost');
cmp_ok(attempt($node, "$far; SELECT snowid_next(1)"), '>', $lost, 'told: above what was lost');
cmp_ok(attempt($node, "$far; SELECT snowid_next(7) & ~8388607"), '>', $lost & ~8388607, 'told: other shards, too');
crash($node, 'kill');
start_server($node);
cmp_ok(attempt($node, "$far; SELECT snowid_next(1)"), '>', $lost, 'told, after a crash: above what was lost');

is(attempt($node, "SELECT setval('invoices', $invoice + 100000)"), $invoice + 100000, 'a segment is set forward');
cmp_ok(attempt($node, q(SELECT snowid_segment_next('invoices'))), '>', $invoice, 'a segment: above what was lost');
$node->stop;

# 2. Fail-over. The primary's clock is half a minute ahead of the right one yet.
my @shards = (1, 2);

my $standby = new_standby($primary, 'standby');
set_clock(-600, $standby);
start_server($standby);
$primary->wait_for_catchup($standby);

# On a standby: no IDs, but all that only reads.
foreach my $call ('snowid_next()', 'snowid_next(1)', 'snowid_next_batch(1, 10)', 'snowid_reserve(1, 10)',
    'snowid.advance_shard(1)', q(snowid_watermark('pg_class')))
{
    is(attempt($standby, "SELECT $call"), 'ERROR 25006', "on a standby: $call");
}
is(attempt($standby, 'SELECT snowid_shard(snowid_first_at(now()) + 3 * 1024)'), '3', 'on a standby: decoding');
is(attempt($standby, 'SELECT last_value > 0 FROM snowid_internal.ceiling'), 't', 'on a standby: the ceiling');
$primary->safe_psql('postgres', 'ALTER SEQUENCE snowid_internal.ceiling INCREMENT 1; SELECT snowid_next(1)');
$primary->wait_for_catchup($standby);
is(attempt($standby, 'SELECT last_value > 0 FROM snowid_internal.ceiling'), 't', 'on a standby: new storage of the ceiling');

my $reader = open_session($standby);
foreach my $call ('snowid_lastval()', 'snowid_currval(1)')
{
    is(ask($reader, "SELECT $call"), 'ERROR 55000', "on a standby: $call");
    like($reader->{err}, qr/DETAIL:  A server in recovery issues no IDs\.\n(?!.*HINT)/s, 'and no hint to draw');
}
close_session($reader);

# The standby has what covers each ID. One that lags by more than the ceiling is ahead may lack it.
$primary->append_conf('postgresql.conf', "synchronous_standby_names = '*'\n");
$primary->reload;
$primary->poll_query_until('postgres', q(SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'))
  or die 'the standby is not synchronous';

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
set_clock(60, $standby);
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
