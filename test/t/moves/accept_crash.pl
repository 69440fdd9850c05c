# What was released and accepted counts through crashes, and with a clock that is behind: IDs of the shard go on above, a stale ID
# opens nothing, and what was not committed is undone, for which others wait.

use Snowid;

my @nodes = my ($east, $west) = map { ready_server($_) } 'east', 'west';
my $far = q(SET snowid.max_lead = '2min';);
my $last = 0;
foreach my $round (1 .. 3)
{
    my ($from, $to) = @nodes[ $round % 2, 1 - $round % 2 ];
    # The last one's clock is ahead of the other's, which then is to go by what it was told.
    set_clock(30, $from) if $round == 3;
    my $drawn = $from->safe_psql('postgres', 'SELECT max(id) FROM snowid_next_batch(9, 3000) id');
    cmp_ok($drawn, '>', $last, "round $round: above those of before");
    my $id = $from->safe_psql('postgres', 'SELECT snowid.release_shard(9)');
    cmp_ok($id, '>', $drawn, "round $round: returned above all");
    crash_and_start($from, 'kill') if $round == 2;
    $to->safe_psql('postgres', "$far SELECT snowid.accept_shard(9, $id)");
    if ($round == 3)
    {
        # Back at once, with nothing to go by but what is durable.
        crash_and_start($to, 'immediate', -60);
        is(attempt($to, "$far SELECT snowid.accept_shard(9, $id)"), '', 'after the crash it is known what was accepted');
        is(attempt($to, "$far SELECT snowid.accept_shard(9, $id - 8388608)"), 'ERROR 55000', 'and what was not');
    }
    $last = $to->safe_psql('postgres', "$far SELECT snowid_next(9)");
    set_clock(32) if $round == 3;
    cmp_ok($last, '>', $id, "round $round: issued above what was returned");
    is(attempt($from, 'SELECT snowid_next(9)'), 'ERROR 55000', "round $round: not where it was");
}

# Taken back, where no other has accepted it: with a new ID, open once that is durable, and not before.
my $later = q(SELECT snowid.accept_shard(10, snowid_encode(clock_timestamp() + interval '5 ms', 10, 0)));
$east->safe_psql('postgres', 'SELECT snowid.release_shard(10)');
my ($session, $waiting) = map { open_session($east) } 1, 2;
ask($session, "BEGIN; $later");
start_waiting($waiting, 'SELECT snowid_next(10)');
crash_and_start($east, 'kill');
close_session($session, $waiting);
is(attempt($east, 'SELECT snowid_next(10)'), 'ERROR 55000', 'a crash undoes what was not committed');
$session = open_session($east);
ask($session, "SET synchronous_commit = off; $later");
$last = ask($session, 'SELECT snowid_next(10)');
crash_and_start($east, 'kill');
close_session($session);
cmp_ok(attempt($east, 'SELECT snowid_next(10)'), '>', $last, 'what was committed stays, whatever the session has set');
end_test(@nodes);
