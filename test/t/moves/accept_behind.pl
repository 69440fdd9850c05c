# Whoever accepts a shard, or advances shards, with a clock that is behind the ID: by little, he waits until it is right, and can
# be interrupted; by much, it is an error at once. Either way nothing is changed before.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('node');
my $ceiling = last_value($node, 'snowid_internal.ceiling');
is(attempt($node, "SET statement_timeout = '1min'; SET snowid.max_wait = '10min'; SELECT snowid.$_"), 'ERROR SN001', "an hour: $_")
  foreach "accept_shard(8191, snowid_last_at(now() + interval '1 h'))", "advance_past(snowid_last_at(now() + interval '1 h'))", "advance_past(now() + interval '1 h')";
is(last_value($node, 'snowid_internal.ceiling'), $ceiling, 'and the ceiling is as it was');
my $session = open_session($node);
ask($session, q(SET snowid.max_wait = '3min'));
my $what = $node->pg_version >= 17 ? 'SnowidClock' : 'Extension';
foreach my $function ('accept_shard(33, %s)', 'advance_past(%s)')
{
    my $id = $node->safe_psql('postgres', 'SELECT snowid_encode(clock_timestamp(), 33, 1023)');
    my $call = sprintf "SELECT snowid.$function", $id;
    set_clock(-60, $node);
    start_waiting($session, $call, $what);
    $node->safe_psql('postgres', "SELECT pg_cancel_backend($session->{backend})");
    is(answer($session), 'ERROR 57014', "$call: the wait can be cancelled");
    is($node->safe_psql('postgres', "SET snowid.max_lead = '1h'; SELECT snowid_next(34) < $id"), 't', "$call: and nothing was done");
    start_waiting($session, $call, $what);
    set_clock(0, $node);
    is(answer($session), '', "$call: it waits until the clock is right");
    cmp_ok(attempt($node, 'SELECT snowid_next(33)'), '>', $id, "$call: above");
}
end_test($node);
