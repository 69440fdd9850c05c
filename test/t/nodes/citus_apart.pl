# Why a node needs a number of its own: Citus has the defaults of an INSERT ... SELECT evaluated by the nodes
# that hold the rows, all of them at once. If all draw from one shard their IDs are the same, and where the key
# is not the ID alone nobody says so. With what Citus tells each node none repeats.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;
use Time::HiRes qw(time);

my $rows = 30_000;
my @nodes = map { new_server($_) } qw(one two);
my $now = time + 10;
stop_clock($now, $_) foreach @nodes;
start_server($_) foreach @nodes;
$_->safe_psql('postgres', <<"SQL") foreach @nodes;
CREATE EXTENSION snowid;
CREATE TABLE source AS SELECT generate_series(1, $rows) AS n;
CREATE TABLE photos (tenant int, id bigint DEFAULT snowid_next(), n int, PRIMARY KEY (tenant, id));
SQL

# Has all nodes insert at once, with clocks that stand at the same time, and returns how many IDs there are and
# how many of them are repeats.
sub insert_at_all
{
    my @running = map { open_session($_) } @nodes;
    start_asking($running[$_], "TRUNCATE photos; INSERT INTO photos (tenant, n) SELECT $_, n FROM source") foreach 0 .. $#running;
    is(answer($_), '', 'inserted') foreach @running;
    my %seen;
    my $count = 0;
    foreach my $session (@running)
    {
        foreach my $id (split /\n/, ask($session, 'SELECT id FROM photos'))
        {
            $seen{$id}++;
            $count++;
        }
    }
    close_session(@running);
    return ($count, $count - keys %seen);
}

my ($count, $repeats) = insert_at_all();
is($count, 2 * $rows, 'two servers that are told nothing');
cmp_ok($repeats, '>', $rows / 2, 'repeat each other\'s IDs, and nobody notices');

create_citus($_) foreach @nodes;
$nodes[0]->safe_psql('postgres', 'CREATE DATABASE coordinator');
create_citus($nodes[0], 'coordinator');
my $cluster = citus_cluster(citus_place($nodes[0], 'coordinator'));
citus_add_node($cluster, $_->name, citus_place($_)) foreach @nodes;
($count, $repeats) = insert_at_all();
is($count, 2 * $rows, 'two nodes of Citus');
is($repeats, 0, 'repeat none');
is(join(' ', map { $_->safe_psql('postgres', 'SELECT DISTINCT snowid_shard(id) FROM photos') } @nodes), '1 2', 'each has a number of its own');

check_log($_) foreach @nodes;
$_->stop foreach @nodes;
done_testing();
