# A prepared statement, and a transaction, may draw from many sequences: more than the server has buffers, whose pages they hold.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('many', conf => "shared_buffers = 128kB\n", sql => join '; ', map { "CREATE SEQUENCE s$_ INCREMENT $_" } 1 .. 30);
my $session = open_session($node);
ask($session, 'SET plan_cache_mode = force_generic_plan; PREPARE next(regclass) AS SELECT snowid_segment_next($1)');
my @got = map { my $round = $_; map { ask($session, "EXECUTE next('s$_')") } 1 .. 30 } 1 .. 3;
is("@got", join(' ', map { ($_) x 30 } 1 .. 3), 'prepared: by turns');
my $all = join '; ', map { "SELECT snowid_segment_next('s$_')" } 1 .. 30;
my $round = 4;
foreach my $statements ('BEGIN; ALL; SAVEPOINT a; ALL; ROLLBACK TO a; ALL; COMMIT; ALL', 'BEGIN; ALL; ROLLBACK; ALL')
{
    my $rounds = (my $sql = $statements) =~ s/ALL/$all/g;
    is(ask($session, $sql), join("\n", map { ($_) x 30 } $round .. $round + $rounds - 1), $statements);
    $round += $rounds;
}
end_test($node);
