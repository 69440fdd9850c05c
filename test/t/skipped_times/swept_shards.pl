# A shard that was swept under the wrong clock, of which nothing in memory tells, repeats no ID when the times are stated: its layout has units of
# an hour, and a database has 25 shards.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use SnowidSkippedTimes;

my $node = start_skipping('swept');
my $hours = "'time:20 shard:10 seq:10 unit:1h epoch:2020-01-01T00:00:00Z'";
my $full_hour = 2 * 3600 - time % 3600;
restart_at($full_hour - 3600);
new_database('swept');
lower_bounds($node, 'swept', max_shards => 100, max_shards_of_database => 25);
$node->stop;
start_server($node);
set_clock($full_hour + 600);
my $right = at('swept', "SELECT snowid_next(1, $hours) FROM generate_series(1, 3)");
set_clock($full_hour + 86_400 * 300);
at('swept', q(SELECT count(snowid_next(s, 'twitter')) FROM generate_series(1, 24) s));
wait_for(sub { at('swept', q(SELECT count(snowid_next(s, 'twitter')) FROM generate_series(100, 120) s)) eq '21' }, 'a sweep');
is(at('swept', q(SELECT count(*) FROM snowid.stat_shards WHERE layout::text ~ '1h')), '0', 'the shard is gone');
set_clock($full_hour + 700);
check_stated('swept', 'stated', ahead(4000, 86_400 * 301));
check_apart('swept', $right, at('swept', "SELECT snowid_next(1, $hours) FROM generate_series(1, 3)"));
check_by_clock('swept', 'by the clock');
end_test($node);
