# What shared memory has of a sequence stays there as long as a session can reach it. The fault: a transaction that has dropped
# sequences took them for unused, had others made in their place, and rolled back; so two sequences gave the same numbers.

use Snowid;

my $node = few_counters('d1', 'd2');
foreach my $kind ('segment', 'section')
{
    # Who gets the place is of the same database, or of another.
    foreach my $heir ('d1', 'd2')
    {
        my $name = "a $kind, its heir in $heir";
        $node->restart;
        $node->safe_psql('d1', join '; ', map { "DROP SEQUENCE IF EXISTS s$_; CREATE SEQUENCE s$_ INCREMENT 100" } 1 .. 4);
        my ($using, $dropping) = map { open_session($node, dbname => 'd1') } 1 .. 2;
        my $inheriting = open_session($node, dbname => $heir);
        my %seen;
        my $take = sub {
            my ($session, @sequences) = @_;
            $seen{"$_ " . ask($session, 'SELECT ' . next_of($kind, $_))}++ foreach @sequences;
        };
        my @names = map { "s$_" } 1 .. 4;
        $take->($using, @names) foreach 1 .. 3;
        ask($dropping, 'BEGIN; DROP SEQUENCE s1, s2, s3, s4');
        is(ask($dropping, 'SELECT ' . next_of($kind, 'c1')), 'ERROR 53400', "$name: nothing goes that is in use");
        foreach my $turn (1 .. 3)
        {
            ask($inheriting, 'SELECT ' . next_of($kind, 'c2'));
            ask($dropping, 'ROLLBACK') if $turn == 1;
            $take->($using, @names) foreach 1 .. 2;
        }
        $take->($_, 's1') foreach $dropping, $using;
        is(join(' ', grep { $seen{$_} > 1 || /ERROR/ } sort keys %seen), '', "$name: no number came twice");
        close_session($using, $dropping, $inheriting);
    }
}
end_test($node);
