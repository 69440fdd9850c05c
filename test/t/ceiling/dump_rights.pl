# Who may dump a database may dump the extension with it, though a superuser made it: the database's owner,
# and who may read all data. The dump carries the ceiling, and whoever may connect may read that.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $ceiling = 'snowid.ceiling';
my $dir = PostgreSQL::Test::Utils::tempdir();
my $node = new_server('node');
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE owner LOGIN;
CREATE ROLE reader LOGIN IN ROLE pg_read_all_data;
CREATE ROLE watcher LOGIN IN ROLE pg_monitor;
CREATE ROLE anybody LOGIN;
CREATE DATABASE owned OWNER owner;
CREATE DATABASE restored;
SQL
$node->safe_psql('owned', <<'SQL');
CREATE EXTENSION snowid;
CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next());
GRANT INSERT ON photos TO anybody;
ALTER TABLE photos OWNER TO owner;
INSERT INTO photos DEFAULT VALUES;
SQL
my $value = $node->safe_psql('owned', "SELECT last_value FROM $ceiling");
foreach my $role ('owner', 'reader')
{
    my $file = "$dir/$role.sql";
    command_ok([ 'pg_dump', '-d', $node->connstr('owned') . " user=$role", '-f', $file ], "$role: dumped");
    $node->safe_psql('postgres', 'DROP DATABASE restored');
    $node->safe_psql('postgres', 'CREATE DATABASE restored');
    command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', $file ],
        "$role: restored");
    cmp_ok($node->safe_psql('restored', "SELECT last_value FROM $ceiling"), '>=', $value, "$role: with the ceiling");
    is($node->safe_psql('restored', 'SELECT snowid_next() > max(id) FROM photos'), 't', "$role: and IDs go on above");
}
foreach my $role ('owner', 'reader', 'watcher', 'anybody')
{
    is($node->safe_psql('owned', "SET ROLE $role; SELECT last_value >= $value FROM $ceiling"), 't',
        "$role: may read the ceiling");
    my ($status) = $node->psql('owned', "SET ROLE $role; SELECT setval('$ceiling', 1)");
    isnt($status, 0, "$role: may not set it");
}
check_log($node);
$node->stop;
done_testing();
