# A transaction holds on to pages of sequences that it has drawn from, and makes and drops their storage, in any order: nothing
# fails at its end, nor is a page left pinned.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('storage', conf => "max_prepared_transactions = 5\nsnowid.segment_adapt = off\n");
my $session = open_session($node);
foreach my $steps (
    'NEXT; RESTART; NEXT; RESTART; NEXT; COMMIT', 'NEXT; RESTART; COMMIT', 'NEXT; RESTART; NEXT; ROLLBACK',
    'NEXT; SAVEPOINT a; RESTART; NEXT; ROLLBACK TO a; NEXT; COMMIT', 'NEXT; SAVEPOINT a; NEXT; RESTART; ROLLBACK TO a; NEXT; COMMIT',
    'SAVEPOINT a; NEXT; SAVEPOINT b; RESTART; NEXT; RELEASE b; ROLLBACK TO a; NEXT; COMMIT', 'SAVEPOINT a; MAKE; ROLLBACK TO a; NEXT; COMMIT',
    'MAKE; ROLLBACK', 'MAKE; DROP SEQUENCE made; COMMIT', 'MAKE; SAVEPOINT a; MADE; SELECT 1/0; ROLLBACK TO a; MADE; DROP SEQUENCE made; COMMIT',
    'NEXT; DROP SEQUENCE numbers; COMMIT', 'NEXT; DROP SEQUENCE numbers; ROLLBACK', 'NEXT; DROP TABLE rows; CREATE TABLE rows (id int); ROLLBACK',
    'NEXT; SELECT 1/0; ROLLBACK', 'NEXT; SAVEPOINT a; SELECT 1/0; ROLLBACK TO a; RESTART; NEXT; COMMIT',
    (map { "NEXT; TRUNCATE rows RESTART IDENTITY; NEXT; PREPARE TRANSACTION 'p'; $_ PREPARED 'p'" } 'COMMIT', 'ROLLBACK'))
{
    my $next = make_numbers($session);
    my $made = q(SELECT snowid_segment_next('made'));
    my %sql = (NEXT => $next, RESTART => 'ALTER SEQUENCE numbers RESTART', MAKE => "CREATE SEQUENCE made; $made", MADE => $made);
    my @errors = grep { /ERROR/ } map { ask($session, $sql{$_} // $_) } 'BEGIN', split /; /, $steps;
    is("@errors", $steps =~ m{1/0} ? 'ERROR 22012' : '', $steps);
}
end_test($node);
