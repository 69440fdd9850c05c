# A shard goes on above the ID that it is accepted with, wherever it goes and however often: from one
# server to another and back, where clocks are behind, through crashes, and while sessions draw at both,
# through releases and accepts that are rolled back in whole or in part. No ID comes twice. SNOWID_SEED
# repeats a run.

use strict;
use warnings;

use Snowid;
use Test::More;

my $seed = $ENV{SNOWID_SEED} // int(rand(1 << 30));
srand $seed;
note("SNOWID_SEED=$seed");

my @nodes = map { new_server($_) } 'east', 'west';
foreach my $node (@nodes)
{
    start_server($node);
    $node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION snowid;
-- The next ID of a shard that is here.
CREATE FUNCTION try_next(shard bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RETURN snowid_next(shard);
EXCEPTION WHEN object_not_in_prerequisite_state OR SQLSTATE 'SN001' THEN
  RETURN NULL;
END $$;
SQL
}

# 1. There and back again, with one crash each.
my ($last, $clock) = (0, 0);
foreach my $round (1 .. 3)
{
    my ($from, $to) = @nodes[ $round % 2, 1 - $round % 2 ];
    # The last one's clock is ahead of the other's, which then is to go by what it was told.
    set_clock(30, $from) if $round == 3;
    my $drawn = $from->safe_psql('postgres', 'SELECT max(id) FROM snowid_next_batch(9, 3000) id');
    cmp_ok($drawn, '>', $last, "round $round: above those of before");
    my $id = $from->safe_psql('postgres', 'SELECT snowid.release_shard(9)');
    crash($from, 'kill') if $round == 2;
    start_server($from) if $round == 2;
    $to->safe_psql('postgres', "SET snowid.max_lead = '2min'; SELECT snowid.accept_shard(9, $id)");
    if ($round == 3)
    {
        # Back at once, with nothing to go by but what is durable.
        crash($to, 'immediate');
        set_clock(-60, $to);
        start_server($to);
    }
    $last = $to->safe_psql('postgres', "SET snowid.max_lead = '2min'; SELECT snowid_next(9)");
    # The clocks go on from there.
    set_clock($clock = 32) if $round == 3;
    cmp_ok($last, '>', $id, "round $round: above what was returned, and that above all") if $id > $drawn;
    is(attempt($from, 'SELECT snowid_next(9)'), 'ERROR 55000', "round $round: not where it was");
}
# Its own ID, where it was meant to go and did not; an older one, which cannot harm.
my ($east, $west) = @nodes;
my $own = $east->safe_psql('postgres', 'SELECT snowid_next(10) FROM generate_series(1, 5); SELECT snowid.release_shard(10)') =~ s/.*\n//sr;
$east->safe_psql('postgres', "SELECT snowid.accept_shard(10, $own - (1 << 23))");
cmp_ok($east->safe_psql('postgres', 'SELECT snowid_next(10)'), '>', $own, 'taken back: above what was returned');
# What comes back is open once that is durable, and not before.
$own = $east->safe_psql('postgres', 'SELECT snowid.release_shard(10)');
my $session = open_session($east);
my $other = open_session($east);
backend_of($other);
ask($session, "BEGIN; SELECT snowid.accept_shard(10, $own)");
start_asking($other, 'SELECT snowid_next(10)');
wait_until_waiting($east, $other, 'Lock');
crash($east, 'kill');
close_session($session, $other);
start_server($east);
is(attempt($east, 'SELECT snowid_next(10)'), 'ERROR 55000', 'a crash undoes what was not committed');
$session = open_session($east);
ask($session, "SET synchronous_commit = off; SELECT snowid.accept_shard(10, $own)");
$last = ask($session, 'SELECT snowid_next(10)');
crash($east, 'kill');
close_session($session);
start_server($east);
cmp_ok(attempt($east, 'SELECT snowid_next(10)'), '>', $last, 'what was committed stays, whatever the session has set');

# 2. A clock that is behind: by little, who accepts waits, and can be interrupted; by much, he is refused at
# once, and nothing is changed.
my $ceiling = last_value($west, 'snowid_internal.ceiling');
my $at_once = "SET statement_timeout = '1min'; SET snowid.max_wait = '10min';";
foreach my $call ('snowid.accept_shard(8191, snowid_max(now() + interval \'1 h\'))', 'snowid.advance_past(now() + interval \'1 h\')')
{
    is(attempt($west, "$at_once SELECT $call"), 'ERROR SN001', "an hour: $call");
}
is(last_value($west, 'snowid_internal.ceiling'), $ceiling, 'and the ceiling is as it was');
$session = open_session($west);
backend_of($session);
foreach my $function ('accept', 'advance_all')
{
    my $moment = $east->safe_psql('postgres', 'SELECT clock_timestamp()');
    my $id = $east->safe_psql('postgres', "SELECT snowid_encode('$moment', 33, 1023)");
    my $call = $function eq 'accept' ? "snowid.accept_shard(33, $id)" : "snowid.advance_past(timestamptz '$moment')";
    set_clock($clock - 60, $west);
    ask($session, q(SET snowid.max_wait = '3min'));
    start_asking($session, "SELECT $call");
    my $what = $west->pg_version >= 17 ? 'SnowidClock' : 'Extension';
    wait_until_waiting($west, $session, $what);
    $west->safe_psql('postgres', "SELECT pg_cancel_backend($session->{backend})");
    is(answer($session), 'ERROR 57014', "$function: the wait can be cancelled");
    is($west->safe_psql('postgres', "SET snowid.max_lead = '1h'; SELECT snowid_next(34) < snowid_min('$moment')"), 't',
        "$function: and nothing was done") if $function eq 'advance_all';
    start_asking($session, "SELECT $call");
    wait_until_waiting($west, $session, $what);
    set_clock($clock, $west);
    is(answer($session), '', "$function: it waits until the clock is right");
    cmp_ok(attempt($west, 'SELECT snowid_next(33)'), '>', $id, "$function: above");
}
close_session($session);

# 3. Sessions draw at both servers, from shards that are now here, now there.
my @shards = (1 .. 4);
my %home = map { $_ => 0 } @shards;
my %id;
foreach my $shard (@shards)
{
    # Nobody has accepted it at the other one yet.
    $west->safe_psql('postgres', "SELECT snowid.release_shard($shard)");
}
my @drawing = map {
    my $node = $_;
    map { draw($node, 'concat_ws(\' \', 1 + generate_series % 4, try_next(1 + generate_series % 4))', undef) } 1 .. 2
} @nodes;
wait_to_draw(1000, @drawing);
my @movers = map { open_session($_) } @nodes;
my ($moves, $undone) = (0, 0);
my $deadline = time + 4;
while (time < $deadline || $moves < 20)
{
    my $shard = $shards[ rand @shards ];
    my ($from, $to) = @movers[ $home{$shard}, 1 - $home{$shard} ];
    # Tried, in parts, and rolled back.
    if (rand() < 0.5)
    {
        my $first = ask($from, "BEGIN; SELECT snowid.release_shard($shard)");
        if (rand() < 0.5)
        {
            ask($from, "SAVEPOINT a; SELECT snowid.accept_shard($shard, $first)");
            ask($from, "SELECT snowid.release_shard($shard)") if rand() < 0.5;
            ask($from, rand() < 0.5 ? 'ROLLBACK TO a' : 'RELEASE a');
        }
        ask($from, 'ROLLBACK');
        $undone++;
    }
    my $returned;
    if (rand() < 0.5)
    {
        $returned = ask($from, "SELECT snowid.release_shard($shard)");
    }
    else
    {
        # Released, taken back and released again, the last two in a part that may be rolled back.
        $returned = ask($from, "BEGIN; SELECT snowid.release_shard($shard)");
        ask($from, "SAVEPOINT a; SELECT snowid.accept_shard($shard, $returned)");
        my $again = ask($from, "SELECT snowid.release_shard($shard)");
        my $is_kept = rand() < 0.5;
        ask($from, $is_kept ? 'RELEASE a' : 'ROLLBACK TO a');
        $returned = $again if $is_kept;
        ask($from, 'COMMIT');
    }
    die "released: $returned" unless $returned =~ /^\d+$/;
    # The other one first fails to commit.
    if (rand() < 0.3)
    {
        ask($to, "BEGIN; SELECT snowid.accept_shard($shard, $returned); ROLLBACK");
        $undone++;
    }
    my $accepted = ask($to, "SELECT snowid.accept_shard($shard, $returned)");
    die "accepted: $accepted" if $accepted ne '';
    $home{$shard} = 1 - $home{$shard};
    $moves++;
}
stop_drawing(\@nodes, @drawing);
my %seen;
my ($count, $repeated, $unordered) = (0, 0, 0);
foreach my $session (@drawing)
{
    my %latest;
    foreach my $line (@{ ids($session) })
    {
        my ($shard, $id) = split / /, $line;
        next unless defined $id;
        $count++;
        $repeated++ if $seen{$id}++;
        $unordered++ if $id <= ($latest{$shard} // 0);
        $latest{$shard} = $id;
    }
}
is("$repeated $unordered", '0 0', "$count IDs, $moves moves, $undone undone: none twice, all in order");
cmp_ok($count, '>', 1000, 'IDs were drawn');
# Each shard is at one of the two, and as many rows say so.
foreach my $shard (@shards)
{
    is(join(' ', map { attempt($_, "SELECT try_next($shard) IS NOT NULL") } @nodes), $home{$shard} ? 'f t' : 't f',
        "shard $shard is where it should be");
}
close_session(@movers);

# A ceiling that was restored meanwhile counts for a shard that comes back, too.
$own = $east->safe_psql('postgres', 'SELECT snowid.release_shard(50)');
my $restored = $east->safe_psql('postgres',
    q(SELECT setval('snowid_internal.ceiling', (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 600000)));
is($east->safe_psql('postgres', <<"SQL"), 't', 'accepted under a higher ceiling: above that');
SET snowid.max_lead = '1h';
DO 'BEGIN PERFORM snowid_next(51), snowid.accept_shard(50, $own); END';
SELECT snowid_timestamp(snowid_next(50)) >= to_timestamp($restored / 1000.0);
SQL
check_log($_) foreach @nodes;
$_->stop foreach @nodes;
done_testing();
