# The hint of SN001, followed word by word in a session that has not used snowid: IDs run ahead of the clock. Behind by more
# than any setting allows, it names what is left to do.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('clock_hint');
my $draw = 'SET snowid.max_wait = 0; SELECT snowid_next(1)';
my $last = 0;

sub draws_above
{
    my ($name) = @_;
    my $id = attempt($node, $draw);
    cmp_ok($id, '>', $last, $name);
    $last = $id;
    return;
}

sub message_at
{
    my ($offset) = @_;
    set_clock($offset);
    return ($node->psql('postgres', $draw))[2];
}

foreach ([ -40, '2min' ], [ -59, '2min' ], [ -130, '4min' ], [ -5000, '8[45]min' ], [ -2_000_000, '3333[56]min' ])
{
    my ($offset, $needed) = @$_;
    set_clock(3600);
    draws_above("$offset s: before");
    my $message = message_at(3600 + $offset);
    my ($hint, $statements, $lead) =
      $message =~ /^HINT:  (.*: (LOAD 'snowid'; ALTER SYSTEM SET snowid[.]max_lead = '(.*)'; SELECT pg_reload_conf\(\);))$/m;
    like($lead, qr/^$needed$/, "$offset s: the hint has the statements") or diag($message);
    is($hint =~ /snowid[.]return_to_clock\(\).*snowid[.]future_times\(\)/ ? 'yes' : 'no', $offset < -60 ? 'yes' : 'no', "$offset s: what minutes take");
    is($node->safe_psql('postgres', $statements), 't', "$offset s: they work");
    wait_for(sub { $node->safe_psql('postgres', q(LOAD 'snowid'; SHOW snowid.max_lead)) ne '1s' }, 'the setting');
    draws_above("$offset s: the hint followed");
    reload_with($node, 'snowid.max_lead', '1s');
}
my $far = message_at(-30 * 86400);
like($far, qr/^HINT:  Correct the server's clock\. .* by snowid[.]return_to_clock\(\) with the times found by snowid[.]future_times\(\)[.]$/m, '30 days back');
like($far, qr/clock is 30 days 0[01]:\d\d:\d\d behind/, 'by how much');
end_test($node);
