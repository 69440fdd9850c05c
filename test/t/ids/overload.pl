# Promise 3 under load: with max_lead = 0 a shard gives no more than the layout's 1,024 IDs a millisecond,
# and never one ahead of its time; with a lead, a burst has all of that at once, and no more. (How much of
# the 1,024 it gives is a matter of the machine, and for `make bench`.)

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('overload');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION snowid');

# Four sessions at once, each of which tells how many IDs it had of each time unit, and how many of them were
# ahead of the clock.
my $rows = 200_000;
my @sessions = map {
    draw($node,
        'id >> 23, count(*), count(*) FILTER (WHERE snowid_timestamp(id) > clock_timestamp())'
          . " FROM (SELECT snowid_next(0) AS id FROM generate_series(1, $rows) OFFSET 0) ids GROUP BY 1",
        1, setup => 'SET snowid.max_lead = 0')
} 1 .. 4;
finish(@sessions);
my (%count, $ahead, $sum);
foreach my $line (map { @{ ids($_) } } @sessions)
{
    my ($unit, $n, $early) = split /\t/, $line;
    $count{$unit} += $n;
    $sum += $n;
    $ahead += $early;
}
is($sum, 4 * $rows, 'overload: all are served');
is(scalar(grep { $_ > 1024 } values %count), 0, 'overload: no more than 1,024 in a millisecond');
is($ahead, 0, 'overload: none ahead of its time');

# A burst borrows the lead, all of it, and no more. Nobody may wait, and no time need pass.
is(attempt($node, 'SET snowid.max_wait = 0; SELECT count(*) FROM snowid_next_batch(1, 1000000)'), '1000000',
    'a burst has almost a second of IDs at once');
my $lead = $node->safe_psql('postgres',
    q(SELECT extract(epoch FROM max(lead)) * 1000
        FROM (SELECT snowid_timestamp(id) - clock_timestamp() AS lead
                FROM (SELECT snowid_next_batch(1, 2000000) AS id OFFSET 0) ids) leads));
cmp_ok($lead, '<=', 1000, 'a longer one waits, and runs ahead by max_lead at most');
my $sliced = $node->safe_psql('postgres',
    q(SET snowid.max_lead = 0;
      SELECT max(snowid_timestamp(id) - clock_timestamp()) <= interval '0', count(*)
        FROM (SELECT snowid_next_batch(2, 100000) AS id OFFSET 0) ids));
is($sliced, 't|100000', 'a batch with no lead keeps to the clock');
# Long enough to get ahead of the clock at some time, however slow the machine.
is(attempt($node, 'SET snowid.max_lead = 0; SET snowid.max_wait = 0; SELECT count(*) FROM snowid_next_batch(2, 100000000)'),
    'ERROR SN001', 'and is refused where it may not wait');
$node->stop;
done_testing();
