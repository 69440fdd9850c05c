# The registry itself is dumped and restored, copied, and its standby promoted. The tokens that it then has
# are old, and no node is taken for a copy for that: the first to know a number's secret has it, and of two
# copies the second is found as ever. A node that the dump did not know yet is told so, and can be put back.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $registry = new_server('registry', allows_streaming => 1);
$registry->start;
# Who dumps and restores need be no superuser.
$registry->safe_psql('postgres', 'CREATE ROLE keeper LOGIN CREATEDB');
$registry->safe_psql('postgres', "CREATE DATABASE $_ OWNER keeper") foreach 'first', 'second';
$registry->safe_psql('first', 'SET ROLE keeper; CREATE EXTENSION snowid');
my $node = new_server('node');
$node->start;

sub ask_at
{
    my ($dbname, $server) = @_;
    foreach my $member ('a', 'b', 'c', 'd')
    {
        point_at($node, $server // $registry, name => 'registry', dbname => $member);
        $node->safe_psql($member, "ALTER SERVER registry OPTIONS (SET dbname '$dbname')");
    }
    return;
}
sub at { my ($member, $sql) = @_; return attempt($node, $sql, dbname => $member) }
sub check { my ($member) = @_; return at($member, 'SELECT snowid_check()') }

foreach my $member ('a', 'b', 'c', 'd')
{
    $node->safe_psql('postgres', "CREATE DATABASE $member");
    add_source($node, $registry, name => 'registry', dbname => $member);
}
ask_at('first');
is(at('a', q(SELECT snowid_join('registry', 'a'))), '1', 'a has joined');
is(at('b', q(SELECT snowid_join('registry', 'b'))), '2', 'b has joined');
is(at('c', q(SELECT snowid_join('registry', 'c'))), '3', 'c has joined');
at('c', 'SELECT snowid_leave()');
my $dump = "$dir/registry.sql";
command_ok([ 'pg_dump', '-d', $registry->connstr('first') . ' user=keeper', '-f', $dump ], 'the registry is dumped by its owner');
# Later than the dump: two more exchanges, and a node.
is(check($_->[0]), $_->[1], "$_->[0] goes on") foreach [ 'a', 1 ], [ 'a', 1 ], [ 'b', 2 ];
is(at('c', q(SELECT snowid_join('registry', 'c'))), '4', 'c joins again');
# And a copy of b, with all that b knows.
$node->stop;
$node->backup_fs_cold('copy');
$node->start;
my $copy = PostgreSQL::Test::Cluster->new('copy');
$copy->init_from_backup($node, 'copy');
$copy->start;

sub restore
{
    my ($dbname, $file) = @_;
    command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $registry->connstr($dbname) . ' user=keeper', '-f', $file ],
        "restored in $dbname");
    return;
}

restore('second', $dump);
ask_at('second');
is(check('a'), '1', 'restored: a is who it is');
is(check('a'), '1', 'again');
is(attempt($copy, q(ALTER SERVER registry OPTIONS (SET dbname 'second')), dbname => 'b'), '', 'a copy of b');
is(attempt($copy, 'SELECT snowid_check()', dbname => 'b'), '2', 'the copy of b comes first');
is(check('b'), 'ERROR 55000', 'b comes second, and is found');
is(at('b', 'SELECT snowid_next()'), 'ERROR 55000', 'and refuses');
is(at('b', 'SELECT snowid_check(take_over => true)'), '2', 'it takes over');
is(attempt($copy, 'SELECT snowid_check()', dbname => 'b'), 'ERROR 55000', 'and the copy is found');
is(check('c'), 'ERROR 55000', 'c is not known');
my (undef, undef, $message) = $node->psql('c', 'SELECT snowid_check()');
like($message, qr/registry knows no node "c" with number 4\nDETAIL:.*restored.*\nHINT:.*take_over/, 'and is told why');
is(at('c', 'SELECT snowid_shard(snowid_next())'), '4', 'it draws from its number');
is(at('c', 'SELECT snowid_check(take_over => true)'), '4', 'and is put back');
is(check('c'), '4', 'as if it had never been away');
is(at('d', q(SELECT snowid_join('registry', 'd'))), '5', 'so nobody else gets it');

# In the same database, whose tokens are of the same registry as far as catalogs tell.
sub restore_in_place
{
    $registry->safe_psql('second', 'DROP EXTENSION snowid; DROP SCHEMA IF EXISTS snowid');
    restore('second', @_);
    return;
}
command_ok([ 'pg_dump', '-d', $registry->connstr('second') . ' user=keeper', '-f', "$dir/second.sql" ], 'dumped once more');
is(check($_->[0]), $_->[1], "$_->[0] goes on") foreach [ 'a', 1 ], [ 'a', 1 ], [ 'b', 2 ];
restore_in_place("$dir/second.sql");
is(check($_->[0]), $_->[1], "restored in place: $_->[0] is who it is") foreach [ 'a', 1 ], [ 'a', 1 ], [ 'b', 2 ], [ 'c', 4 ];
restore_in_place($dump);
is(check('b'), '2', 'and of long ago: b');
# Before c was known others have joined: it is found as one of two.
is(attempt($copy, q(SELECT snowid_join('registry', 'e')), dbname => 'b'), '4', 'a number that the dump did not know is given away');
is(check('c'), 'ERROR 55000', 'c is found');
is(at('c', 'SELECT snowid_next()'), 'ERROR 55000', 'and refuses');
is(at('c', 'SELECT snowid_check(take_over => true)'), 'ERROR 55000', 'it cannot take that');
is(at('c', q(SELECT snowid_join('registry', 'c'))), '5', 'it gets another');

# Copied with all files, by CREATE DATABASE; and promoted, an exchange behind.
$registry->safe_psql('postgres', 'CREATE DATABASE third TEMPLATE second OWNER keeper');
is(check('a'), '1', 'later than the copy: two exchanges') for 1, 2;
ask_at('third');
is(check('a'), '1', 'a copy of the registry: a is who it is') for 1, 2;
my $standby = new_standby($registry, 'standby');
$standby->start;
$registry->wait_for_catchup($standby);
$standby->append_conf('postgresql.conf', "primary_conninfo = ''\n");
$standby->reload;
wait_for(sub { $registry->safe_psql('postgres', 'SELECT count(*) FROM pg_stat_replication') eq '0' }, 'the standby to be cut off');
is(check('a'), '1', 'later than the standby: two exchanges') for 1, 2;
$registry->stop;
ask_at('third', $standby);
is(check('a'), 'ERROR 25006', 'a standby is no registry');
$standby->promote;
is(check('a'), '1', 'promoted: a is who it is') for 1, 2;
is(check('c'), '5', 'and c');
is(at('a', 'SELECT snowid_shard(snowid_next())'), '1', 'nobody has noticed');
check_log($_) foreach $node, $standby;
$_->stop foreach $node, $copy, $standby;
done_testing();
