# An ID opens a shard only above all that the server itself has issued, released or accepted of it: passed twice, late,
# crosswise or for another shard it opens nothing, in whatever isolation level and after a restore. The faults: an ID that had
# been accepted before opened the shard on both servers; so did two moves that crossed, in 18 of 30 runs; and an ID of another
# shard opened that one. SNOWID_SEED repeats a run.

use Snowid;

my $seed = $ENV{SNOWID_SEED} // int(rand(1 << 30));
srand $seed;
note("SNOWID_SEED=$seed");
my @nodes = my ($east, $west) = map { ready_server($_) } 'east', 'west';
sub released { my ($node, $shard) = @_; return $node->safe_psql('postgres', "SELECT snowid.release_shard($shard)") }
sub accepted { my ($node, $shard, $id, $dbname) = @_; return attempt($node, "SELECT snowid.accept_shard($shard, $id)", dbname => $dbname) }
sub open_on { my ($shard) = @_; return join ' ', map { $_->name } grep { attempt($_, "SELECT snowid_next($shard)") ne 'ERROR 55000' } @nodes }

# There and back again, and what was accepted before once more.
released($west, 1);
my $first = released($east, 1);
is(accepted($west, 1, $first), '', 'east to west');
my $second = released($west, 1);
cmp_ok($second, '>', $first, 'released above the accepted ID, though none was issued since');
is(accepted($east, 1, $second), '', 'and back');
is(accepted($west, 1, $second), 'ERROR 55000', 'its own');
my ($status, $out, $err) = $west->psql('postgres', "SELECT snowid.accept_shard(1, $first)");
like($err, qr/ID $first is not above ID \d{19}\nDETAIL:  This server has released shard 1 /, 'the first ID once more: the message has both IDs');
is(open_on(1), 'east', 'the shard is open on one');
# Again what is open, with the same ID, whatever was issued since: nothing changes.
my $third = released($east, 1);
is(accepted($west, 1, $third), '', 'once more to west');
my $row = 'SELECT xmin, * FROM snowid_internal.moved_shards';
my $before = $west->safe_psql('postgres', "SELECT FROM generate_series(1, 10) WHERE snowid_next(1) IS NULL; $row");
is(accepted($west, 1, $third), '', 'accepted again');
is($west->safe_psql('postgres', $row), $before, 'changes nothing');
is(accepted($west, 1, $west->safe_psql('postgres', 'SELECT snowid_next(1)')), 'ERROR 55000', 'what it has issued itself');
my $other = released($east, 42);
released($west, 42);
is(accepted($west, 41, $other), 'ERROR 22023', 'an ID of another shard');
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

# Two moves that cross: each server releases it, or finds it released, and each is handed the other's ID.
my @both;
foreach my $shard (101 .. 110)
{
    released($west, $shard) if rand() < 0.5;
    attempt($nodes[ rand 2 ], "SELECT snowid_next($shard) FROM generate_series(1, 50)");
    my @turns = rand() < 0.5 ? @nodes : reverse @nodes;
    my %id = map { $_->name => released($_, $shard) } @turns;
    accepted($turns[ 1 - $_ ], $shard, $id{ $turns[$_]->name }) foreach rand() < 0.5 ? (0, 1) : (1, 0);
    push @both, $shard if open_on($shard) =~ / /;
}
is("@both", '', 'moves that cross leave no shard open on both');

# A dump has what was accepted: in the restored database a stale ID opens nothing either.
$third = released($west, 1);
is(accepted($east, 1, $third), '', 'to east, at last');
$east->safe_psql('postgres', 'CREATE DATABASE restored');
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
system_or_bail('pg_dump', '-f', $dump, '-d', $east->connstr('postgres'));
system_or_bail('psql', '-XAtq1', '-v', 'ON_ERROR_STOP=1', '-o', "$dump.out", '-d', $east->connstr('restored'), '-f', $dump);
is(accepted($east, 1, $first, 'restored'), 'ERROR 55000', 'restored: a stale ID');
is(attempt($east, "SELECT snowid_next(1) > $third", dbname => 'restored'), 't', 'restored: it is open');

# A move that is cancelled as the page says, also of a shard whose IDs were ahead of the clock.
my ($cancel) = map { s/\b42\b/43/gr } grep { /snowid_encode/ } blocks_of('docs/moving-shards.md', 'Moving a shard');
stop_clock(time + 1, $west);
is(attempt($west, <<"SQL"), "800000\nt", 'cancelled: open again, above what was issued');
SELECT count(*) FROM snowid_next_batch(43, 800000);
SELECT snowid.release_shard(43) AS handed_over \\gset
\\o /dev/null
$cancel
\\o
SELECT snowid_next(43) > :handed_over;
SQL
set_clock(0, $west);

# A ceiling that was restored meanwhile counts for a shard that comes back, too.
released($east, 50);
my $restored = $east->safe_psql('postgres', q(SELECT setval('snowid_internal.ceiling', (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 600000)));
is($east->safe_psql('postgres', <<"SQL"), 't', 'accepted under a higher ceiling: above that');
SET snowid.max_lead = '1h';
DO 'BEGIN PERFORM snowid_next(51), snowid.accept_shard(50, snowid_encode(clock_timestamp() + interval ''5 ms'', 50, 0)); END';
SELECT snowid_timestamp(snowid_next(50)) >= to_timestamp($restored / 1000.0);
SQL
end_test(@nodes);
