# Sequences that have an end are used to the end, by segments and sections, however many draw. A restart, a crash and ALTER
# SEQUENCE skip what is in memory: at most an eighth of the numbers left, where blocks leave no numbers to others. MAXVALUE can be
# lowered to little more than what was issued. The fault: two sequences came to their end with a restart, one of which had issued
# 600 numbers of a thousand, the other a quarter of its numbers.
# Runs in make test-all: it crashes and restarts the server often.

use Snowid;

my $node = ready_server('ends', conf => "fsync = off\n");
my $session = open_session($node);
my ($next, $of_key) = (q(snowid_segment_next('s')), q(snowid_section_next('s', 7)));

# A new sequence, of which so many numbers are drawn one by one. Returns the last.
sub make_sequence
{
    my ($options, $count, $draw) = @_;
    ask($session, "SET client_min_messages = warning; DROP SEQUENCE IF EXISTS s; CREATE SEQUENCE s $options");
    return ask($session, "SELECT max($draw) FROM generate_series(1, $count)");
}

# What is skipped.
my %interruptions = (
    'a restart' => sub { close_session($session); $node->restart; $session = open_session($node) },
    'a crash' => sub { close_session($session); crash($node, 'kill'); start_server($node); $session = open_session($node) },
    'ALTER SEQUENCE' => sub { ask($session, 'ALTER SEQUENCE s CACHE 1') });
foreach my $case (
    [ 'MAXVALUE 1000', 600, 1000, $next ], [ 'AS smallint', 8301, 32767, $next ], [ 'INCREMENT 100 MAXVALUE 1000', 600, 1000, $next ],
    [ 'INCREMENT 5000 MAXVALUE 1000', 1, 1000, $next ], [ 'MAXVALUE 1000', 600, 1000, $of_key ], [ 'INCREMENT 5000 MAXVALUE 1000', 10, 1000, $of_key ])
{
    my ($options, $count, $end, $draw) = @$case;
    foreach my $what (sort keys %interruptions)
    {
        my $name = "$draw, $options, $count numbers, $what";
        is(make_sequence($options, $count, $draw), $count, "$name: issued without a gap");
        $interruptions{$what}->();
        my $goes_on = ask($session, "SELECT $draw");
        ok($goes_on =~ /^\d+$/ && $goes_on > $count && $goes_on <= $count + 1 + ($end - $count) / 8, "$name: goes on at $goes_on");
        my $left = $end - $goes_on;
        is(ask($session, "SELECT count(*), max(n) FROM (SELECT $draw AS n FROM generate_series(1, $left)) AS rest"), "$left|$end", "$name: to the end");
        is(ask($session, "SELECT $draw"), 'ERROR 2200H', "$name: and no further");
    }
}

# The last numbers are allocated for those who ask for them.
foreach my $increment (1, 100)
{
    make_sequence("INCREMENT $increment MAXVALUE 1000", 995, $next);
    is(ask($session, 'SELECT last_value - (NOT is_called)::int FROM s'), '995', "increment $increment: none ahead near the end");
}

# A limit that is lowered.
foreach my $case ([ '', 15, 20 ], [ '', 100, 113 ], [ '', 5000, 5625 ], [ 'MAXVALUE 1000', 600, 675 ])
{
    my ($options, $count, $end) = @$case;
    make_sequence($options, $count, $next);
    is(ask($session, "ALTER SEQUENCE s MAXVALUE $end"), '', "$count numbers: MAXVALUE $end can be set");
    my @rest = grep { /^\d+$/ } map { ask($session, "SELECT $next") } 1 .. $end - $count;
    is($rest[-1], $end, 'to the end');
}

# All numbers, whatever the blocks make of the end.
foreach my $case (
    [ 'INCREMENT 100 MAXVALUE 250', 1, 250 ], [ 'INCREMENT 100 MAXVALUE 300', 1, 300 ], [ 'INCREMENT 100 MAXVALUE 301', 1, 301 ],
    [ 'INCREMENT 100 MAXVALUE 5', 1, 5 ], [ 'INCREMENT 4 MINVALUE -5 MAXVALUE 3', -5, 3 ], [ 'AS smallint INCREMENT 1000 START 32001', 32001, 32767 ],
    [ 'INCREMENT 1000 START 9223372036854775000', '9223372036854775000', '9223372036854775807' ],
    [ 'INCREMENT 9223372036854775807 MINVALUE -9223372036854775808 START 9223372036854775800', '9223372036854775800', '9223372036854775807' ])
{
    my ($options, $first, $last) = @$case;
    foreach my $adapt ('on', 'off')
    {
        my $rows = $last - $first + 1;
        ask($session, "SET snowid.segment_adapt = $adapt; DROP SEQUENCE s; CREATE SEQUENCE s $options");
        is(ask($session, "SELECT min(n), max(n), count(DISTINCT n) FROM (SELECT $next AS n FROM generate_series(1, $rows)) AS s"), "$first|$last|$rows",
            "$options, adapt $adapt: all numbers");
        is(ask($session, $_), 'ERROR 2200H', "$options, adapt $adapt: no more") foreach ("SELECT $next") x 2, q(SELECT snowid_segment_batch('s', 2));
        is(attempt($node, "SELECT $next"), 'ERROR 2200H', "$options, adapt $adapt: nor for others");
    }
}
$node->safe_psql('postgres', 'CREATE SEQUENCE ends INCREMENT 1000 MAXVALUE 9999');
my @sessions = map { draw($node, q(snowid_segment_next('ends')), 10_000) } 1 .. 8;
finish(@sessions);
is(join('|', check_round('eight at once', 0, @sessions)), '9999|9999', 'eight at once: all numbers');
is(join(',', map { sqlstate_of(errors_of($_)) } @sessions), join(',', ('2200H') x 8), 'eight at once: each is told');
end_test($node);
