# Databases of one server are apart: each is unique and in order in itself, whatever others are advanced to, have learned from
# their ceilings, or drop. A copy of one goes on above what the original has, also after a crash. The clock is no help: IDs of
# the original are hours ahead of it.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('neighbours', conf => "snowid.max_lead = '1d'\n", databases => [qw(one two)]);
my %drawing = map { my $dbname = $_; $dbname => [ map { draw($node, 'snowid_next(0)', 10_000, dbname => $dbname) } 1 .. 2 ] } qw(one two);
my %last;
foreach my $dbname (qw(one two))
{
    finish(@{ $drawing{$dbname} });
    (my $count, $last{$dbname}) = check_round($dbname, 0, @{ $drawing{$dbname} });
    is($count, 20_000, "$dbname: its sessions got all");
}

# A new ID of a database is above those of before.
sub above
{
    my ($name, $dbname) = @_;
    my $id = attempt($node, 'SELECT snowid_next(0)', dbname => $dbname);
    cmp_ok($id, '>', $last{$dbname}, "$dbname, $name: above all those of before");
    $last{$dbname} = $id;
    return;
}

# The other one goes by the clock.
sub is_apart
{
    my ($name) = @_;
    above($name, 'two');
    is($node->safe_psql('two', "SELECT snowid_timestamp($last{two}) < clock_timestamp() + interval '1 hour'"), 't', "two, $name: by the clock");
    return;
}

$node->safe_psql('one', "SELECT snowid.advance_shard(snowid_encode(clock_timestamp() + interval '6 hours', 0, 0))");
is_apart('the other advanced');
above('advanced', 'one');
crash_and_start($node, 'kill');
above('after a crash', 'one');
is_apart('the other has learned from its ceiling');
$node->safe_psql('one', 'DROP EXTENSION snowid');
is_apart('the other has dropped the extension');
is(attempt($node, 'SELECT snowid_next(0)', dbname => 'one'), 'ERROR 42883', 'where it is gone');
$node->safe_psql('one', 'CREATE EXTENSION snowid');
above('created again', 'one');

my @copies = qw(wal_log file_copy);
foreach my $strategy (@copies)
{
    $node->safe_psql('postgres', "CREATE DATABASE $strategy TEMPLATE one STRATEGY $strategy");
    $last{$strategy} = $last{one};
    above('copied', $strategy);
}
crash_and_start($node, 'kill', -600);
above('after a crash', $_) foreach @copies;
end_test($node);
