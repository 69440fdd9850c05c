# setval counts also where it sets what the sequence holds already, ALTER SEQUENCE also where it shortens the last block; on
# unlogged sequences, too.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('itself', conf => "snowid.segment_adapt = off\n", sql => 'CREATE SEQUENCE s');
my ($session, $other) = map { open_session($node) } 1 .. 2;
foreach my $persistence ('', 'UNLOGGED')
{
    ask($session, "DROP SEQUENCE s; CREATE $persistence SEQUENCE s INCREMENT 899");
    foreach my $step (
        # Numbers were given out that the sequence, of which a block counts as one, does not tell of.
        [ q(SELECT count(snowid_segment_next('s')) FROM generate_series(1, 5)), 6 ], [ 'ALTER SEQUENCE s INCREMENT 1', 7 ],
        [ q(SELECT setval('s', 1)), 2 ], [ q(SELECT setval('s', 2)), 3 ],
        [ q(SELECT setval('s', 500); SELECT count(nextval('s')) FROM generate_series(1, 40); SELECT setval('s', 500)), 501 ])
    {
        ask($other, $step->[0]);
        is(ask($session, q(SELECT snowid_segment_next('s'))), $step->[1], "$persistence $step->[0]");
    }
}
end_test($node);
