# Why a node needs a number of its own: Citus has the defaults of an INSERT ... SELECT evaluated by the nodes that hold the rows,
# all of them at once. If all draw from one shard their IDs are the same, and where the key is not the ID alone nobody says
# so. With what Citus tells each node none repeats.
#
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use Time::HiRes qw(time);

my $rows = 30_000;
my @nodes = map { ready_server($_, sql => <<"SQL") } qw(one two);
CREATE TABLE source AS SELECT generate_series(1, $rows) AS n;
CREATE TABLE photos (tenant int, id bigint DEFAULT snowid_next(), n int, PRIMARY KEY (tenant, id));
SQL
my $now = time + 10;
stop_clock($now, $_) foreach @nodes;

# Has all nodes insert at once, with clocks that stand at the same time. Returns how many IDs there are, and how many repeats.
sub insert_at_all
{
    my @running = map { open_session($_) } @nodes;
    start_asking($running[$_], "TRUNCATE photos; INSERT INTO photos (tenant, n) SELECT $_, n FROM source") foreach 0 .. $#running;
    is(answer($_), '', 'inserted') foreach @running;
    my @ids = map { split /\n/, ask($_, 'SELECT id FROM photos') } @running;
    close_session(@running);
    return (scalar(@ids), @ids - keys %{ { map { $_ => 1 } @ids } });
}

my ($count, $repeats) = insert_at_all();
is($count, 2 * $rows, 'two servers that are told nothing');
cmp_ok($repeats, '>', $rows / 2, 'repeat each other\'s IDs, and nobody notices');
create_citus($_) foreach @nodes;
$nodes[0]->safe_psql('postgres', 'CREATE DATABASE coordinator');
create_citus($nodes[0], 'coordinator');
my $cluster = citus_cluster(citus_place($nodes[0], 'coordinator'));
citus_add_node($cluster, $_->name, citus_place($_)) foreach @nodes;
is(join(' ', insert_at_all()), 2 * $rows . ' 0', 'two nodes of Citus repeat none');
is(join(' ', map { $_->safe_psql('postgres', 'SELECT DISTINCT snowid_shard(id) FROM photos') } @nodes), '1 2', 'each has a number of its own');
end_test(@nodes);
