# Skipped times are kept with the ceiling: through ALTER SEQUENCE, which makes new storage, and DROP EXTENSION while the server runs; a dump has
# none, and the same call tells a restored database.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use SnowidSkippedTimes;

my $node = start_skipping('kept');
my $count = 'SELECT count(*) FROM snowid.skipped_times';
new_database('dumped');
set_clock(7200);
at('dumped', 'INSERT INTO ids SELECT snowid_next(1)');
set_clock(0);
check_stated('dumped', 'stated');
check_by_clock('dumped', 'by the clock');
my $file = PostgreSQL::Test::Utils::tempdir() . '/dump';
system_or_bail('pg_dump', '-d', $node->connstr('dumped'), '-f', $file);
$node->safe_psql('postgres', 'CREATE DATABASE restored');
command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', $file ], 'restored');
is($node->safe_psql('restored', $count), 0, 'restored: nothing is known');
check_stated('restored', 'stated there, too');
check_by_clock('restored', 'by the clock');
$node->safe_psql('dumped', 'SELECT snowid_next(1); DROP EXTENSION snowid; CREATE EXTENSION snowid');
at('dumped', 'SELECT snowid_next(1); ALTER SEQUENCE snowid_internal.ceiling INCREMENT BY 1');
at('dumped', 'SELECT snowid_next(1)');
crash_and_start($node, 'kill');
set_clock(7200);
foreach my $name ('dumped', 'restored')
{
    is(at($name, q(INSERT INTO ids SELECT snowid_next(1); SELECT snowid_timestamp(snowid_next(1)) > now() + interval '10 s')), 't', "$name: stepped over");
    is($node->safe_psql($name, $count), 1, "$name: known");
}

# New storage has the times with the next ID, also where that needs no raise of the ceiling. The clock stands.
restart_at(0);
new_database('storage');
check_stated('storage', 'stated', ahead(3600, 7200));
stop_clock(int(time) + 60, $node);
at('storage', 'SELECT snowid_next(1)');
$node->safe_psql('storage', 'ALTER SEQUENCE snowid_internal.ceiling INCREMENT BY 3');
like(at('storage', 'SELECT snowid_next(1)'), qr/^\d+$/, 'storage: an ID');
crash_and_start($node, 'kill');
is($node->safe_psql('storage', $count), 1, 'storage: known after a crash');
end_test($node);
