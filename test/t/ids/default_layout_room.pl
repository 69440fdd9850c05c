# Every shard of the default layout has room in its database, whatever shards of other layouts any roles take there and in other
# databases, and whatever the clock does meanwhile. What a sweep makes room for takes nothing from it.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $other = 'time:41 shard:13 seq:10 unit:1ms epoch:2012-01-01T00:00:00Z';
my $node = ready_server('room', sql => 'CREATE ROLE mallory LOGIN; CREATE ROLE alice LOGIN');
my @databases = map { "d$_" } 1 .. 5;
make_bounded($node, [@databases], max_shards => 800, max_shards_of_database => 200);

# Somebody has used shard 0, and is gone. Then all shards of other layouts are taken, and kept, and more are asked for, so that
# whatever may be swept is.
my $last = $node->safe_psql('d1', 'SELECT snowid_next(0)');
set_clock(200);
my @keeping = map { open_session($node, dbname => $_, user => 'mallory') } @databases;
is(take_shards($keeping[$_], $other, 0, 200, {}), 200, "$databases[$_]: all shards of other layouts are taken") foreach 0 .. 3;
wait_for(sub { ask($_, "SELECT snowid_next(5000, '$other')") eq 'ERROR 53400' }, 'the next one to be refused') foreach @keeping;

is($node->safe_psql('d1', q(SELECT issued FROM snowid.stat_shards WHERE shard = 0 AND layout = 'instagram')), '1', 'shard 0 was not swept');
my $alice = open_session($node, dbname => 'd1', user => 'alice');
cmp_ok(ask($alice, 'SELECT snowid_next()'), '>', $last, 'shard 0 goes on');
foreach my $dbname (@databases)
{
    is(attempt($node, 'SELECT count(snowid_next(n)) FROM generate_series(0, 4000) n', dbname => $dbname), '4001', "$dbname: shards never used before");
}

# What was swept by the time that the clock had does not hold up a shard of the default layout.
set_clock(100);
like(ask($alice, 'SET snowid.max_wait = 0; SELECT snowid_next(8191)'), qr/^\d+$/, 'the clock is set back: a shard never used before');
is(attempt($node, 'SELECT count(snowid_next(n)) FROM generate_series(4001, 8190) n', dbname => 'd1'), '4190', 'and all the others');
end_test($node);
