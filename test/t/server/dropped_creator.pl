# Whoever created the extension can be dropped: dumps, restores and rights are the same afterwards. Before PostgreSQL 17 a
# dropped role's OID stays in pg_init_privs, and pg_dump would revoke from it by that number. So nothing of the extension
# names a role that can be dropped, neither as grantee nor as owner.
# Runs in make test-all: it has many databases.

use Snowid;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $node = ready_server('dropped', sql => 'CREATE ROLE heir');
my $rights = rights_of_members();
my $expected = $node->safe_psql('postgres', $rights);
cmp_ok(scalar(split /\n/, $expected), '>', 150, 'members of the extension');

foreach my $kind ('owner of the database', 'another superuser', 'role that may create')
{
    $node->safe_psql('postgres', 'CREATE ROLE creator LOGIN' . ($kind =~ /superuser/ ? ' SUPERUSER' : '') . '; CREATE DATABASE made' . ($kind =~ /^owner/ ? ' OWNER creator' : ''));
    $node->safe_psql('made', 'GRANT CREATE ON DATABASE made TO creator; GRANT CREATE ON SCHEMA public TO creator');
    $node->psql('made', 'CREATE EXTENSION snowid', extra_params => [ '-U', 'creator' ], on_error_die => 1);
    is($node->safe_psql('made', $rights), $expected, "$kind: owners and rights as if the first superuser had created it");
    $node->safe_psql('made', 'REASSIGN OWNED BY creator TO heir; DROP OWNED BY creator; DROP ROLE creator');
    is($node->safe_psql('made', $rights), $expected, "$kind: dropped, nothing has changed");
    $node->safe_psql('made', 'CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next()); INSERT INTO photos DEFAULT VALUES');
    system_or_bail('pg_dump', '-d', $node->connstr('made'), '-f', "$dir/made.sql");
    system_or_bail('pg_dump', '-d', $node->connstr('made'), '--binary-upgrade', '--schema-only', '-f', "$dir/upgrade.sql");
    unlike(slurp_file("$dir/$_.sql"), qr/"\d+"|\bcreator\b/, "$kind: $_: no role is named by its number") foreach 'made', 'upgrade';
    $node->safe_psql('postgres', 'DROP DATABASE made; CREATE DATABASE made');
    command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('made'), '-f', "$dir/made.sql" ], "$kind: restored");
    is($node->safe_psql('made', 'SELECT snowid_next() > max(id) FROM photos'), 't', "$kind: IDs go on");
    $node->safe_psql('postgres', 'DROP DATABASE made');
}
end_test($node);
