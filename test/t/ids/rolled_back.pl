# A transaction that is rolled back, or prepared, takes no ID back, nor the ceiling that it has raised; not after a crash either,
# with the clock set back. Nor does one that has made the extension.

use Snowid;

my $node = ready_server('rolled_back', conf => "snowid.max_lead = '1d'\nmax_prepared_transactions = 5\n",
    sql => 'CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next()); CREATE DATABASE fresh');
my $draw = 'SELECT snowid_next()';
my $last = $node->safe_psql('postgres', "BEGIN; $draw; ROLLBACK");

sub above
{
    my ($name, $dbname) = @_;
    my $id = attempt($node, $draw, dbname => $dbname // 'postgres');
    cmp_ok($id, '>', $last, "$name: above all those of before");
    $last = $id;
    return;
}

above('rolled back');
# Seconds of IDs, so that the ceiling is raised.
$last = $node->safe_psql('postgres', "BEGIN; SELECT snowid_reserve(0, 1024) FROM generate_series(1, 5000) \\g /dev/null\n$draw; ROLLBACK");
crash_and_start($node, 'immediate', -3600);
above('rolled back, and crashed');

my %begin = (postgres => 'SELECT', fresh => 'CREATE EXTENSION snowid; CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next())');
my %id = map { $_ => (split /\n/, $node->safe_psql($_, "BEGIN; $begin{$_}; INSERT INTO photos DEFAULT VALUES RETURNING id; PREPARE TRANSACTION '$_'"))[-1] }
  keys %begin;
crash_and_start($node, 'kill', -7200);
$last = $id{postgres};
above('after a crash, before COMMIT PREPARED');
foreach my $dbname (sort keys %id)
{
    $node->safe_psql($dbname, "COMMIT PREPARED '$dbname'");
    is($node->safe_psql($dbname, 'SELECT id FROM photos'), $id{$dbname}, "$dbname: what was prepared is there");
    $last = $id{$dbname};
    above('after COMMIT PREPARED', $dbname);
    is($node->safe_psql($dbname, 'INSERT INTO photos SELECT FROM generate_series(1, 1000); SELECT count(*) FROM photos'), 1001, "$dbname: no duplicate key");
}
end_test($node);
