# Shards of a dropped database make room for those of others, even such as were ahead of the clock; who uses others goes on, above
# all IDs of before.
# Runs in make test-all: it fills shared memory.

use Snowid;

my $layout = 'time:41 shard:13 seq:10 unit:1ms epoch:2012-01-01T00:00:00Z';
my $node = ready_server('dropped');
my @databases = map { "d$_" } 1 .. 5;
my %low = (max_shards => 800, max_shards_of_database => 200);
make_bounded($node, [@databases], %low);
my %greatest;

sub take { my ($session, $dbname, $from, $to) = @_; return take_shards($session, $layout, $from, $to, $greatest{$dbname} //= {}) }

my %keeping = map { $_ => open_session($node, dbname => $_) } qw(d1 d2 d3);
is(take($keeping{$_}, $_, 0, 199), 200, "all of $_") foreach sort keys %keeping;
is($node->safe_psql('d4', "SET snowid.max_lead = '1h'; SELECT count(snowid.advance_shard(snowid_encode(now() + '30 min', n, 0, '$layout'), '$layout'))"
          . ' FROM generate_series(0, 199) n'), 200, 'all of d4, ahead of the clock');
# At most 40 go at a time, so what is known of the database has to stay until the last of them.
lower_bounds($node, 'd5', %low, most_idle_shards => 40);
my $waiting = open_session($node, dbname => 'd5');
ask($waiting, q(SET snowid.max_lead = '1h'));
is(take($waiting, 'd5', 0, 59), 0, 'the server is full');
$node->safe_psql('postgres', 'DROP DATABASE d4');
wait_for(sub { take($waiting, 'd5', 0, 199) == 200 }, 'room');
is(take($keeping{$_}, $_, 0, 199), 200, "$_ goes on") foreach sort keys %keeping;
end_test($node);
