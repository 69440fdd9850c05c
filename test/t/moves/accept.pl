# An ID opens a shard only above all that the server itself has issued, released or accepted of it: passed twice, late,
# crosswise or for another shard it opens nothing. So a shard is open on one server at most, wherever it goes and
# however often, where clocks are behind, through crashes, while sessions draw at both, and through releases and
# accepts that are rolled back in whole or in part. No ID comes twice. SNOWID_SEED repeats a run.
#
# The faults: an ID that had been accepted before opened the shard on both servers; two moves that crossed did in 18 of
# 30 runs; and an ID of another shard opened that one.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $seed = $ENV{SNOWID_SEED} // int(rand(1 << 30));
srand $seed;
note("SNOWID_SEED=$seed");

my @nodes = my ($east, $west) = map { new_server($_) } 'east', 'west';
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

sub released { my ($node, $shard) = @_; return $node->safe_psql('postgres', "SELECT snowid.release_shard($shard)") }
sub accepted { my ($node, $shard, $id) = @_; return attempt($node, "SELECT snowid.accept_shard($shard, $id)") }
sub open_on { my ($shard) = @_; return join ' ', map { $_->name } grep { attempt($_, "SELECT snowid_next($shard)") ne 'ERROR 55000' } @nodes }

# 1. There and back again, and what was accepted before once more.
released($west, 1);
my $first = released($east, 1);
is(accepted($west, 1, $first), '', 'east to west');
my $second = released($west, 1);
cmp_ok($second, '>', $first, 'released above the accepted ID, though none was issued since');
is(accepted($east, 1, $second), '', 'and back');
is(accepted($west, 1, $first), 'ERROR 55000', 'the first ID once more');
is(accepted($west, 1, $second), 'ERROR 55000', 'its own');
is(open_on(1), 'east', 'the shard is open on one');
my ($status, $out, $err) = $west->psql('postgres', "SELECT snowid.accept_shard(1, $first)");
like($err, qr/ID $first is not above ID \d{19}\nDETAIL:  This server has released shard 1 /, 'the message has both IDs');
# Again what is open, with the same ID, whatever was issued since: nothing changes.
my $third = released($east, 1);
is(accepted($west, 1, $third), '', 'once more to west');
my $before = $west->safe_psql('postgres', 'SELECT snowid_next(1) FROM generate_series(1, 10); SELECT xmin, * FROM snowid_internal.moved_shards') =~ s/.*\n(?=.)//sr;
is(accepted($west, 1, $third), '', 'accepted again');
is($west->safe_psql('postgres', 'SELECT xmin, * FROM snowid_internal.moved_shards'), $before, 'changes nothing');
is(accepted($west, 1, $west->safe_psql('postgres', 'SELECT snowid_next(1)')), 'ERROR 55000', 'what it has issued itself');
# An ID of another shard opens neither.
my $other = released($east, 42);
released($west, 42);
($status, $out, $err) = $west->psql('postgres', "SELECT snowid.accept_shard(41, $other)");
like($err, qr/^psql:.* ERROR:  ID $other is not of shard 41$/m, 'an ID of another shard');
is($west->safe_psql('postgres', 'SELECT count(*) FROM snowid_internal.moved_shards WHERE shard = 41'), '0', 'changes nothing');
# In a transaction whose snapshot is older than the row, or than its last change.
foreach my $level ('REPEATABLE READ', 'SERIALIZABLE')
{
    my $session = open_session($west);
    my $shard = 60 + length $level;
    my $begin = "BEGIN ISOLATION LEVEL $level; SELECT FROM snowid.released_shards";
    foreach my $age ('row', 'change')
    {
        ask($session, $begin);
        released($west, $shard);
        like(ask($session, "SELECT snowid.accept_shard($shard, snowid_encode(clock_timestamp() + '5 ms', $shard, 0)); COMMIT"), qr/^\s*$/, "$level: the $age is newer")
          or diag($session->{err});
        is(open_on($shard), 'east west', "$level: it is open");
    }
    ask($session, $begin);
    my $id = released($west, $shard);
    is(ask($session, "SELECT snowid.release_shard($shard, moved_to => 'b'); COMMIT"), $id, "$level: released once more") or diag($session->{err});
    is($west->safe_psql('postgres', "SELECT moved_to FROM snowid.released_shards WHERE shard = $shard"), 'b', "$level: with its destination");
    close_session($session);
}

# 2. Two moves that cross: each server releases it, or finds it released, and each is handed the other's ID.
my @both;
foreach my $run (1 .. 10)
{
    my $shard = 100 + $run;
    released($west, $shard) if rand() < 0.5;
    attempt($_, "SELECT snowid_next($shard) FROM generate_series(1, 50)") foreach $nodes[ rand 2 ];
    my @turns = rand() < 0.5 ? @nodes : reverse @nodes;
    my %id = map { $_->name => released($_, $shard) } @turns;
    accepted($turns[ 1 - $_ ], $shard, $id{ $turns[$_]->name }) foreach rand() < 0.5 ? (0, 1) : (1, 0);
    push @both, $shard if open_on($shard) =~ / /;
}
is("@both", '', 'moves that cross leave no shard open on both');

# 3. With one crash each, and a clock that is ahead.
my ($last, $clock) = (0, 0);
foreach my $round (1 .. 3)
{
    my ($from, $to) = @nodes[ $round % 2, 1 - $round % 2 ];
    # The last one's clock is ahead of the other's, which then is to go by what it was told.
    set_clock(30, $from) if $round == 3;
    my $drawn = $from->safe_psql('postgres', 'SELECT max(id) FROM snowid_next_batch(9, 3000) id');
    cmp_ok($drawn, '>', $last, "round $round: above those of before");
    my $id = released($from, 9);
    crash($from, 'kill') if $round == 2;
    start_server($from) if $round == 2;
    $to->safe_psql('postgres', "SET snowid.max_lead = '2min'; SELECT snowid.accept_shard(9, $id)");
    if ($round == 3)
    {
        # Back at once, with nothing to go by but what is durable.
        crash($to, 'immediate');
        set_clock(-60, $to);
        start_server($to);
        is(attempt($to, "SET snowid.max_lead = '2min'; SELECT snowid.accept_shard(9, $id)"), '', 'after the crash it is known what was accepted');
        is(attempt($to, "SET snowid.max_lead = '2min'; SELECT snowid.accept_shard(9, $id - 8388608)"), 'ERROR 55000', 'and what was not');
    }
    $last = $to->safe_psql('postgres', "SET snowid.max_lead = '2min'; SELECT snowid_next(9)");
    # The clocks go on from there.
    set_clock($clock = 32) if $round == 3;
    cmp_ok($last, '>', $id, "round $round: above what was returned");
    cmp_ok($id, '>', $drawn, 'and that above all');
    is(attempt($from, 'SELECT snowid_next(9)'), 'ERROR 55000', "round $round: not where it was");
}
# Taken back, where no other has accepted it: with a new ID, open once that is durable, and not before.
my $later = 'snowid_encode(clock_timestamp() + interval \'5 ms\', 10, 0)';
released($east, 10);
my $session = open_session($east);
my $waiting = open_session($east);
backend_of($waiting);
ask($session, "BEGIN; SELECT snowid.accept_shard(10, $later)");
start_asking($waiting, 'SELECT snowid_next(10)');
wait_until_waiting($east, $waiting, 'Lock');
crash($east, 'kill');
close_session($session, $waiting);
start_server($east);
is(attempt($east, 'SELECT snowid_next(10)'), 'ERROR 55000', 'a crash undoes what was not committed');
$session = open_session($east);
ask($session, "SET synchronous_commit = off; SELECT snowid.accept_shard(10, $later)");
$last = ask($session, 'SELECT snowid_next(10)');
crash($east, 'kill');
close_session($session);
start_server($east);
cmp_ok(attempt($east, 'SELECT snowid_next(10)'), '>', $last, 'what was committed stays, whatever the session has set');

# 4. A clock that is behind: by little, who accepts waits, and can be interrupted; by much, an error at once, and
# nothing is changed.
my $ceiling = last_value($west, 'snowid_internal.ceiling');
my $at_once = "SET statement_timeout = '1min'; SET snowid.max_wait = '10min';";
foreach my $call ("accept_shard(8191, snowid_last_at(now() + interval '1 h'))", "advance_past(snowid_last_at(now() + interval '1 h'))", "advance_past(now() + interval '1 h')")
{
    is(attempt($west, "$at_once SELECT snowid.$call"), 'ERROR SN001', "an hour: $call");
}
is(last_value($west, 'snowid_internal.ceiling'), $ceiling, 'and the ceiling is as it was');
$session = open_session($west);
backend_of($session);
foreach my $function ('accept', 'advance')
{
    my $id = $east->safe_psql('postgres', 'SELECT snowid_encode(clock_timestamp(), 33, 1023)');
    my $call = $function eq 'accept' ? "snowid.accept_shard(33, $id)" : "snowid.advance_past($id)";
    set_clock($clock - 60, $west);
    ask($session, q(SET snowid.max_wait = '3min'));
    start_asking($session, "SELECT $call");
    my $what = $west->pg_version >= 17 ? 'SnowidClock' : 'Extension';
    wait_until_waiting($west, $session, $what);
    $west->safe_psql('postgres', "SELECT pg_cancel_backend($session->{backend})");
    is(answer($session), 'ERROR 57014', "$function: the wait can be cancelled");
    is($west->safe_psql('postgres', "SET snowid.max_lead = '1h'; SELECT snowid_next(34) < $id"), 't', "$function: and nothing was done");
    start_asking($session, "SELECT $call");
    wait_until_waiting($west, $session, $what);
    set_clock($clock, $west);
    is(answer($session), '', "$function: it waits until the clock is right");
    cmp_ok(attempt($west, 'SELECT snowid_next(33)'), '>', $id, "$function: above");
}
close_session($session);

# 5. Sessions draw at both servers, from shards that are now here, now there.
my @shards = (2 .. 5);
my %home = map { $_ => 0 } @shards;
released($west, $_) foreach @shards;
my @drawing = map {
    my $node = $_;
    map { draw($node, 'concat_ws(\' \', 2 + generate_series % 4, try_next(2 + generate_series % 4))', undef) } 1 .. 2
} @nodes;
wait_to_draw(1000, @drawing);
my @movers = map { open_session($_) } @nodes;
my ($moves, $undone, %passed, @stale) = (0, 0);
my $deadline = time + 4;
while (time < $deadline || $moves < 20)
{
    my $shard = $shards[ rand @shards ];
    my ($from, $to) = @movers[ $home{$shard}, 1 - $home{$shard} ];
    if (rand() < 0.5)
    {
        ask($from, 'BEGIN');
        ask($from, 'SAVEPOINT a') if rand() < 0.5;
        ask($from, "SELECT snowid.release_shard($shard)");
        ask($from, 'ROLLBACK');
        $undone++;
    }
    # Released once more after a part that is rolled back, which has released it, too.
    my $returned = rand() < 0.5 ? ask($from, "SELECT snowid.release_shard($shard)")
      : ask($from, "BEGIN; SAVEPOINT a; SELECT FROM snowid.release_shard($shard); ROLLBACK TO a; SELECT snowid.release_shard($shard); COMMIT") =~ s/\s//gr;
    die "released: $returned" unless $returned =~ /^\d+$/;
    # The other one first fails to commit.
    if (rand() < 0.3)
    {
        ask($to, "BEGIN; SELECT snowid.accept_shard($shard, $returned); ROLLBACK");
        $undone++;
    }
    my $answer = ask($to, "SELECT snowid.accept_shard($shard, $returned)");
    die "accepted: $answer" if $answer ne '';
    $home{$shard} = 1 - $home{$shard};
    $moves++;
    push @stale, [ $shard, $passed{$shard} ] if exists $passed{$shard};
    $passed{$shard} = $returned;
    # An ID that was passed before, to whichever server.
    next if !@stale;
    my ($at, $id) = @{ $stale[ rand @stale ] };
    my $refused = ask($movers[ rand 2 ], "SELECT snowid.accept_shard($at, $id)");
    die "a stale ID: $refused" if $refused ne 'ERROR 55000';
}
stop_drawing(\@nodes, @drawing);
my %seen;
my ($count, $repeated, $unordered) = (0, 0, 0);
foreach my $drawing (@drawing)
{
    my %latest;
    foreach my $line (@{ ids($drawing) })
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
is(open_on($_), $nodes[ $home{$_} ]->name, "shard $_ is where it should be, and there alone") foreach @shards;
close_session(@movers);

# 6. A dump has what was accepted, too: in the restored database a stale ID opens nothing either.
$third = released($west, 1);
is(accepted($east, 1, $third), '', 'to east, at last');
$east->safe_psql('postgres', 'CREATE DATABASE restored');
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
command_ok([ 'pg_dump', '-f', $dump, '-d', $east->connstr('postgres') ], 'dumped');
command_ok([ 'psql', '-XAtq1', '-v', 'ON_ERROR_STOP=1', '-d', $east->connstr('restored'), '-f', $dump ], 'restored');
is(attempt($east, "SELECT snowid.accept_shard(1, $first)", dbname => 'restored'), 'ERROR 55000', 'restored: a stale ID');
is(attempt($east, "SELECT snowid_next(1) > $third", dbname => 'restored'), 't', 'restored: it is open');

# A ceiling that was restored meanwhile counts for a shard that comes back, too.
released($east, 50);
my $restored = $east->safe_psql('postgres',
    q(SELECT setval('snowid_internal.ceiling', (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 600000)));
is($east->safe_psql('postgres', <<"SQL"), 't', 'accepted under a higher ceiling: above that');
SET snowid.max_lead = '1h';
DO 'BEGIN PERFORM snowid_next(51), snowid.accept_shard(50, snowid_encode(clock_timestamp() + interval ''5 ms'', 50, 0)); END';
SELECT snowid_timestamp(snowid_next(50)) >= to_timestamp($restored / 1000.0);
SQL
check_log($_) foreach @nodes;
$_->stop foreach @nodes;
done_testing();
