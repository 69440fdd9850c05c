# A section's limit, which the sequence has as its last value, is raised by the increment: never below a number, not far above
# it; and further while it is used up quickly.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('limit', sql => 'CREATE SEQUENCE by_10 INCREMENT 10; CREATE SEQUENCE by_1');
my $session = open_session($node);
foreach my $increment (1, 10)
{
    my $next = "snowid_section_next('by_$increment', -1)";
    my @wrong;
    ask($session, one_by_one());
    foreach my $expected (1 .. 100)
    {
        my $number = ask($session, "SELECT $next");
        my $limit = ask($session, "SELECT last_value FROM by_$increment");
        push @wrong, "$number with limit $limit"
          if $number != $expected || $limit < $number || $limit > $number + 2 * $increment || $limit % $increment;
    }
    is("@wrong", '', "increment $increment: the limit keeps ahead of the numbers");
    # By twice as many increments as before, up to a million numbers.
    ask($session, 'SET snowid.segment_adapt = on');
    is(ask($session, "SELECT max($next) FROM generate_series(1, 3000000)"), 3_000_100, "increment $increment: no gap");
    my $ahead = last_value($node, "by_$increment") - 3_000_100;
    ok($ahead > 2 * $increment && $ahead <= 1_500_000 && ($ahead + 100) % $increment == 0, "increment $increment: and further ahead") or diag($ahead);
}
end_test($node);
