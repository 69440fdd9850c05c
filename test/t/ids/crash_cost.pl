# What a crash costs: nothing is issued again, so the first ID after it is above the ceiling, for which its caller may have to
# wait. Whatever was drawn before, the ceiling is ahead of the clock by 2.5 s at most, of which snowid.max_lead covers one: so
# the first ID comes within 1.5 s, or 2.5 s where no lead is allowed.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('crash_cost', sql => 'CREATE TABLE rows (id bigint DEFAULT snowid_next(1))');
my $one = 'SELECT snowid_next(1)';
my $row = 'INSERT INTO rows DEFAULT VALUES RETURNING id';
my $clock = 0;
# Loads that end with the crash: how many seconds of the clock are between statements, which these are; how many sessions draw
# besides, as fast as they can; and the lead that is allowed.
foreach my $load (
    [ 'an ID each 0.3 s', 0.3, [ ($one) x 12 ] ],
    [ 'an ID each 3 s', 3, [ ($one) x 12 ] ],
    [ 'a row each 0.7 s', 0.7, [ ($row) x 12 ] ],
    [ 'rare IDs, then a batch that borrows', 3, [ ($one) x 6, 'SELECT max(id) FROM snowid_next_batch(1, 1000000) AS id' ] ],
    [ 'many IDs', 0.2, [ ($one) x 12 ], 2 ],
    [ 'many IDs, no lead', 0.2, [ ($one) x 12 ], 2, 0 ],
    [ 'a row each 0.7 s, no lead', 0.7, [ ($row) x 12 ], 0, 0 ])
{
    my ($name, $pause, $statements, $crowd, $lead) = @$load;
    $lead //= 1;
    reload_with($node, 'snowid.max_lead', '0') if !$lead;
    my $session = open_session($node);
    my @drawing = map { draw($node, 'snowid_next(2)', undef, pause_every => 10) } 1 .. $crowd // 0;
    wait_to_draw(1, @drawing);
    my ($last, $farthest) = (0, 0);
    foreach my $statement (@$statements)
    {
        set_clock($clock += $pause);
        $last = ask($session, $statement);
        # Time that passes meanwhile brings the two nearer to each other.
        my $far = ask($session, 'SELECT last_value / 1000.0 - extract(epoch FROM clock_timestamp()) FROM snowid_internal.ceiling');
        $farthest = $far if $far > $farthest;
    }
    cmp_ok($farthest, '<=', 2.5, "$name: the ceiling is near");
    crash_and_start($node, 'kill');
    finish(@drawing);
    close_session($session);
    my $ceiling = $node->safe_psql('postgres', 'SELECT last_value / 1000.0 FROM snowid_internal.ceiling');
    cmp_ok(attempt($node, $one), '>', $last, "$name: the first ID is new, and no error");
    # A shard that nobody has used since the start begins where all of them begin. However long the crash took: with the
    # bound above that is 1.5 s after it, or 2.5 s without a lead.
    stop_clock($ceiling - $lead + 0.01, $node);
    like(attempt($node, 'SET snowid.max_wait = 0; SELECT snowid_next(3)'), qr/^\d+$/, "$name: $lead s before the ceiling nobody waits");
    set_clock($clock += 10);
}
end_test($node);
