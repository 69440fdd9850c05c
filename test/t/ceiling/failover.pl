# Fail-over: the primary dies while sessions draw, a synchronous standby whose clock is ten minutes behind is promoted, and no ID
# comes twice. Before, the standby issues none, and answers all that only reads.

use Snowid;

# A new page is replayed only where its own record has all of it.
my $primary = ready_server('primary', allows_streaming => 1, conf => "full_page_writes = off\n", sql => 'SELECT snowid_next(1)');
my $standby = new_standby($primary, 'standby');
set_clock(-600, $standby);
start_server($standby);
$primary->wait_for_catchup($standby);

is(attempt($standby, "SELECT $_"), 'ERROR 25006', "on a standby: $_")
  foreach 'snowid_next()', 'snowid_next(1)', 'snowid_next_batch(1, 10)', 'snowid_reserve(1, 10)', 'snowid.advance_shard(1)', q(snowid_watermark('pg_class'));
is(attempt($standby, 'SELECT snowid_shard(snowid_first_at(now()) + 3 * 1024)'), '3', 'on a standby: decoding');
foreach my $storage ('the ceiling', 'new storage of the ceiling')
{
    is(attempt($standby, 'SELECT last_value > 0 FROM snowid_internal.ceiling'), 't', "on a standby: $storage");
    $primary->safe_psql('postgres', 'ALTER SEQUENCE snowid_internal.ceiling INCREMENT 1; SELECT snowid_next(1)');
    $primary->wait_for_catchup($standby);
}
my $reader = open_session($standby);
foreach my $call ('snowid_lastval()', 'snowid_currval(1)')
{
    is(ask($reader, "SELECT $call"), 'ERROR 55000', "on a standby: $call");
    like($reader->{err}, qr/DETAIL:  A server in recovery issues no IDs\.\n(?!.*HINT)/s, 'and no hint to draw');
}
close_session($reader);

# The standby has what covers each ID. One that lags by more than the ceiling is ahead may lack it.
wait_until_synchronous($primary, $standby);
my %drawing = map { my $shard = $_; $shard => [ map { draw($primary, "snowid_next($shard)", undef) } 1 .. 4 ] } 1, 2;
my @all = map { @$_ } values %drawing;
wait_to_draw_together(20 * 100_000, @all);
wait_to_draw(1, @all);
crash($primary, 'kill');
finish(@all);
$standby->promote;
my %greatest;
foreach my $shard (1, 2)
{
    (undef, $greatest{$shard}) = check_round("on the primary, shard $shard", 0, @{ $drawing{$shard} });
    # Whoever waits first, and then refuses, is cancelled.
    is(attempt($standby, "SET statement_timeout = '1min'; SET snowid.max_wait = '5min'; SELECT snowid_next($shard)"), 'ERROR SN001',
        "promoted, clock behind: refused, shard $shard");
}
foreach ([ 'allowed to run ahead', -600, 1, "SET snowid.max_lead = '1h'" ], [ 'clock right', 60, 4, '' ])
{
    my ($name, $clock, $sessions, $setup) = @$_;
    set_clock($clock, $standby);
    foreach my $shard (1, 2)
    {
        my @sessions = map { draw($standby, "snowid_next($shard)", 5_000, setup => $setup) } 1 .. $sessions;
        finish(@sessions);
        (my $count, $greatest{$shard}) = check_round("promoted, $name, shard $shard", $greatest{$shard}, @sessions);
        is($count, 5_000 * $sessions, "promoted, $name, shard $shard: served");
    }
}
end_test($standby);
