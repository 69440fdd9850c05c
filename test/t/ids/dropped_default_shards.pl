# Shards of the default layout that a dropped database has used leave nothing behind, though no bound is met; those of others stay.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my %low = (max_shards => 800, max_shards_of_database => 200);
my $node = ready_server('dropped_default');
make_bounded($node, [qw(one two)], %low, shards_between_sweeps => 100);
$node->safe_psql('one', 'SELECT count(snowid_next(n)) FROM generate_series(1, 60) n');
my @memory;
foreach my $round (1 .. 8)
{
    $node->safe_psql('postgres', 'CREATE DATABASE brief');
    $node->safe_psql('brief', 'CREATE EXTENSION snowid');
    lower_bounds($node, 'brief', %low);
    $node->safe_psql('brief', 'SELECT count(snowid_next(n)) FROM generate_series(1, 100) n');
    $node->safe_psql('postgres', 'DROP DATABASE brief');
    push @memory, $node->safe_psql('two', "SELECT snowid_next($round) \\g /dev/null\nSELECT ids_memory FROM snowid.stat_database");
}
cmp_ok($memory[7] - $memory[3], '<', 2 * 100 * 64, 'nothing is left of them') or diag("@memory");
is($node->safe_psql('one', 'SELECT count(*) FROM snowid.stat_shards'), '60', 'shards of others stay');
is($node->safe_psql('two', 'SELECT count(*) FROM snowid.stat_shards'), '8', 'in use or not');
end_test($node);
