# Shards go to and fro between two servers while sessions draw from them on both, through releases and accepts that are rolled back
# in whole or in part, and IDs of before that are passed again: no ID comes twice, all are in order, and each shard is open on
# one server at most. SNOWID_SEED repeats a run.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $seed = $ENV{SNOWID_SEED} // int(rand(1 << 30));
srand $seed;
note("SNOWID_SEED=$seed");
# The next ID of a shard that is here.
my @nodes = map { ready_server($_, sql => <<'SQL') } 'east', 'west';
CREATE FUNCTION try_next(shard bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RETURN snowid_next(shard);
EXCEPTION WHEN object_not_in_prerequisite_state OR SQLSTATE 'SN001' THEN
  RETURN NULL;
END $$
SQL
my @shards = (2 .. 5);
my %home = map { $_ => 0 } @shards;
$nodes[1]->safe_psql('postgres', "SELECT snowid.release_shard($_)") foreach @shards;
my @drawing = map { draw($_, q(concat_ws(' ', 2 + generate_series % 4, try_next(2 + generate_series % 4))), undef) } (@nodes) x 2;
wait_to_draw(1000, @drawing);
my @movers = map { open_session($_) } @nodes;
my ($moves, $undone, %passed, @stale) = (0, 0);
while ($moves < 100)
{
    my $shard = $shards[ rand @shards ];
    my ($from, $to) = @movers[ $home{$shard}, 1 - $home{$shard} ];
    my $release = "SELECT snowid.release_shard($shard)";
    $undone += () = ask($from, 'BEGIN; ' . (rand() < 0.5 ? 'SAVEPOINT a; ' : '') . "$release; ROLLBACK") if rand() < 0.5;
    # Released once more after a part that is rolled back, which has released it, too.
    my $id = ask($from, rand() < 0.5 ? $release : "BEGIN; SAVEPOINT a; SELECT FROM snowid.release_shard($shard); ROLLBACK TO a; $release; COMMIT") =~ s/\s//gr;
    die "released: $id" unless $id =~ /^\d+$/;
    # The other one may first fail to commit.
    my $accept = "SELECT snowid.accept_shard($shard, $id)";
    $undone += () = ask($to, "BEGIN; $accept; ROLLBACK") if rand() < 0.3;
    my $answer = ask($to, $accept);
    die "accepted: $answer" if $answer ne '';
    $home{$shard} = 1 - $home{$shard};
    $moves++;
    # An ID that was passed before, to whichever server.
    push @stale, "SELECT snowid.accept_shard($shard, $passed{$shard})" if exists $passed{$shard};
    $passed{$shard} = $id;
    my $refused = @stale ? ask($movers[ rand 2 ], $stale[ rand @stale ]) : 'ERROR 55000';
    die "a stale ID: $refused" if $refused ne 'ERROR 55000';
}
stop_drawing(\@nodes, @drawing);
my (%seen, $repeated, $unordered);
foreach my $drawing (@drawing)
{
    my %latest;
    foreach my $line (grep { / / } @{ ids($drawing) })
    {
        my ($shard, $id) = split / /, $line;
        $repeated++ if $seen{$id}++;
        $unordered++ if $id <= ($latest{$shard} // 0);
        $latest{$shard} = $id;
    }
}
my $count = keys %seen;
ok(!$repeated && !$unordered, "$count IDs, $moves moves, $undone undone: none twice, all in order");
cmp_ok($count, '>', 1000, 'IDs were drawn');
foreach my $shard (@shards)
{
    is(join(' ', grep { attempt($nodes[$_], "SELECT snowid_next($shard)") ne 'ERROR 55000' } 0, 1), $home{$shard}, "shard $shard is where it should be, and there alone");
}
end_test(@nodes);
