# Under load a shard gives no more than the layout's 1,024 IDs a millisecond, and with max_lead = 0 never one ahead of its time;
# with a lead a burst has all of that at once, and no more.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('overload');
# Four sessions at once, each of which tells how many IDs it had of each unit of time, and how many were ahead of the clock.
my @sessions = map {
    draw($node, 'id >> 23, count(*), count(*) FILTER (WHERE snowid_timestamp(id) > clock_timestamp())'
          . ' FROM (SELECT snowid_next(0) AS id FROM generate_series(1, 200000) OFFSET 0) ids GROUP BY 1', 1, setup => 'SET snowid.max_lead = 0')
} 1 .. 4;
finish(@sessions);
my (%count, $ahead, $sum);
foreach (map { @{ ids($_) } } @sessions)
{
    my ($unit, $n, $early) = split /\t/;
    $count{$unit} += $n;
    $sum += $n;
    $ahead += $early;
}
is($sum, 800_000, 'all are served');
is(scalar(grep { $_ > 1024 } values %count), 0, 'no more than 1,024 in a millisecond');
is($ahead, 0, 'none ahead of its time');

# Statements, and their answers. The last is long enough to get ahead of the clock at some time, however slow the machine.
my $lead = 'SELECT max(snowid_timestamp(id) - clock_timestamp()) <= interval %s, count(*) FROM (SELECT snowid_next_batch(%s) AS id OFFSET 0) ids';
foreach (
    [ 'SET snowid.max_wait = 0; SELECT count(*) FROM snowid_next_batch(1, 1000000)', '1000000', 'a burst has almost a second of IDs at once' ],
    [ sprintf($lead, q('1 s'), '1, 2000000'), 't|2000000', 'a longer one waits, and runs ahead by max_lead at most' ],
    [ 'SET snowid.max_lead = 0; ' . sprintf($lead, q('0'), '2, 100000'), 't|100000', 'a batch with no lead keeps to the clock' ],
    [ 'SET snowid.max_lead = 0; SET snowid.max_wait = 0; SELECT count(*) FROM snowid_next_batch(2, 100000000)', 'ERROR SN001',
        'and is refused where it may not wait' ])
{
    is(attempt($node, $_->[0]), $_->[1], $_->[2]);
}
end_test($node);
