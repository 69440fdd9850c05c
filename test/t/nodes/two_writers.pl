# From PostgreSQL 16 on two servers can write to each other: with numbers of their own both have all rows, each once, and meet no
# conflict.
#
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my @pair = map { new_server("writer$_", allows_streaming => 'logical') } 2, 3;
plan skip_all => 'PostgreSQL tells origins apart from version 16 on' if $pair[0]->pg_version < 16;

foreach my $one (0, 1)
{
    start_server($pair[$one]);
    $pair[$one]->safe_psql('postgres', "ALTER DATABASE postgres SET snowid.default_shard = @{[ 2 + $one ]}; CREATE EXTENSION snowid");
    $pair[$one]->safe_psql('postgres', 'CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next()); CREATE PUBLICATION photos FOR TABLE photos');
}
foreach my $one (0, 1)
{
    my $connection = $pair[ 1 - $one ]->connstr('postgres') =~ s{'}{''}gr;
    $pair[$one]->safe_psql('postgres', "CREATE SUBSCRIPTION to_$one CONNECTION '$connection' PUBLICATION photos WITH (origin = none, copy_data = false)");
}
my @writing = map { open_session($_) } @pair;
start_asking($_, 'DO $$ BEGIN FOR i IN 1 .. 100 LOOP INSERT INTO photos DEFAULT VALUES; COMMIT; END LOOP; END $$') foreach @writing;
is(answer($_), '', 'a writer to the other has written') foreach @writing;
close_session(@writing);
# What either would send back comes before what it writes once it has all of the other.
foreach my $one (0, 1, 0)
{
    $pair[$one]->safe_psql('postgres', 'INSERT INTO photos DEFAULT VALUES');
    $pair[$one]->wait_for_catchup('to_' . (1 - $one));
}
my @have = map { $_->safe_psql('postgres', 'SELECT count(*), count(DISTINCT snowid_shard(id)), sum(id) FROM photos') } @pair;
like($have[0], qr/^203[|]2[|]/, 'both have written');
is($have[1], $have[0], 'both have the same rows');
is($_->safe_psql('postgres', 'SELECT apply_error_count FROM pg_stat_subscription_stats'), '0', 'no conflict') foreach @pair;
$_->stop foreach @pair;
done_testing();
