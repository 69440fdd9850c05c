# A dump carries the ceiling, whoever makes and restores it: a superuser, the database's owner, who may read all data. On a server
# whose clock is behind, IDs are refused, or go on above all that were issued. A dump of the schema alone carries none, and makes a
# database that works. Who may not set the ceiling cannot; to whom the sequence belongs cannot set IDs back.
# Runs in make test-all: it dumps and restores many databases.

use Snowid;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $far = "SET snowid.max_lead = '1d'";
my $insert = 'INSERT INTO photos SELECT FROM generate_series(1, 1000)';
my $source = ready_server('source', sql => <<'SQL');
CREATE ROLE owner LOGIN;
CREATE ROLE reader LOGIN IN ROLE pg_read_all_data;
CREATE ROLE watcher LOGIN IN ROLE pg_monitor;
CREATE ROLE anybody LOGIN;
CREATE DATABASE owned OWNER owner;
CREATE DATABASE others OWNER owner;
SQL
my $target = new_server('target');
set_clock(-600, $target);
start_server($target);
$target->safe_psql('postgres', 'CREATE ROLE owner LOGIN; CREATE ROLE anybody LOGIN');
my $ceiling = 'SELECT last_value FROM snowid_internal.ceiling';

# Runs a program on a database as a role.
sub run_on
{
    my ($name, $node, $dbname, $role, $program, @arguments) = @_;
    command_ok([ $program, '-d', $node->connstr($dbname) . " user=$role", @arguments ], $name);
    return;
}
my @psql = ('psql', '-XAtq', '-v', 'ON_ERROR_STOP=1');

# Which database of the source was made by whom; who dumps it, and who restores it on the target.
run_on('made', $source, $_->[0], $_->[1], @psql, '-c', 'CREATE EXTENSION snowid', '-c', 'CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next())', '-c', $insert)
  foreach [ 'owned', 'owner' ], [ 'others', 'postgres' ];
$source->safe_psql('others', 'GRANT INSERT ON photos TO anybody; ALTER TABLE photos OWNER TO owner');
foreach ([ 'owned', 'owner', 'owner' ], [ 'others', 'postgres', 'postgres' ], [ 'others', 'owner', 'postgres' ], [ 'others', 'reader', 'postgres' ])
{
    my ($dbname, $dumps, $restores) = @$_;
    my $name = "$dbname, dumped by $dumps";
    my ($greatest, $value) = map { $source->safe_psql($dbname, $_) } 'SELECT max(id) FROM photos', $ceiling;
    run_on("$name: dumped", $source, $dbname, $dumps, 'pg_dump', '-f', "$dir/dump.sql");
    $target->safe_psql('postgres', "DROP DATABASE IF EXISTS $dbname; CREATE DATABASE $dbname OWNER owner");
    run_on("$name: restored", $target, $dbname, $restores, @psql, '-f', "$dir/dump.sql");
    is($target->safe_psql($dbname, $ceiling), $value, "$name: the ceiling");
    is($target->safe_psql($dbname, 'SELECT count(*), max(id) FROM photos'), "1000|$greatest", "$name: the rows");
    is(attempt($target, $_, dbname => $dbname), 'ERROR SN001', "$name: refused while the clock is behind: $_") foreach 'SELECT snowid_next()', $insert;
    # The greatest of all shards with that time.
    my $covered = ($value - 1314220021721) << 23 | 0x7FFFFF;
    cmp_ok($covered, '>', $greatest, "$name: it is above all rows");
    cmp_ok($target->safe_psql($dbname, "$far; SELECT snowid_next()"), '>', $covered, "$name: allowed to run ahead, above it");
    is(attempt($target, "$far; $insert", dbname => $dbname), '', "$name: no duplicate key");
}
run_on('the owner has kept the rights', $target, 'owned', 'owner', @psql, '-c', 'SELECT snowid.advance_shard(1)');

foreach my $role ('owner', 'reader', 'watcher', 'anybody')
{
    is($source->safe_psql('others', "SET ROLE $role; SELECT snowid_ceiling() IS NOT NULL"), 't', "$role: may ask for the ceiling");
    is(attempt($source, "SET ROLE $role; SELECT setval('snowid_internal.ceiling', 1)", dbname => 'others'), $role eq 'owner' ? '1' : 'ERROR 42501',
        "$role: sets it, or not");
}
cmp_ok($source->safe_psql('others', 'SET ROLE owner; SELECT snowid_next()'), '>', $source->safe_psql('others', 'SELECT max(id) FROM photos'),
    'owner: IDs go on above, whatever it was set to');

run_on('schema: dumped', $source, 'postgres', 'postgres', 'pg_dump', '--schema-only', '-f', "$dir/schema.sql");
$target->safe_psql('postgres', 'CREATE DATABASE bare');
run_on('schema: restored', $target, 'bare', 'postgres', @psql, '-f', "$dir/schema.sql");
run_on('schema: dumped again', $target, 'bare', 'postgres', 'pg_dump', '--schema-only', '-f', "$dir/again.sql");
my ($once, $again) = map { slurp_file("$dir/$_.sql") =~ s/^\\(?:un)?restrict .*\n//mgr } qw(schema again);
unlike($once, qr/setval/, 'schema: no ceiling');
is($again, $once, 'schema: the same when dumped again');
is($target->safe_psql('bare', 'SELECT snowid_next() > 0'), 't', 'schema: IDs');
end_test($source, $target);
