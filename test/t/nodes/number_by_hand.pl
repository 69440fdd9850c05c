# A number that somebody sets by hand. snowid.node_status names where it was set. One that ALTER DATABASE has set is in
# no dump of the database, nor in a copy made by TEMPLATE: where the configuration file has
# snowid.require_node_number = on, as docs/many-servers.md has it, these raise an error instead of using shard 0.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('number_by_hand');
start_server($node);
$node->safe_psql('postgres', 'CREATE DATABASE app; CREATE ROLE clerk LOGIN');
$node->safe_psql('app', 'CREATE EXTENSION snowid; CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(), n int);'
      . ' GRANT INSERT, SELECT ON photos TO clerk');

# 1. Where it was set, each way over the ones before it.
my $what = 'SELECT node_number, source FROM snowid.node_status';

# In a new session of the database, or what is given.
sub shown
{
    my ($dbname, %options) = @_;
    my $session = open_session($node, dbname => $dbname, %options);
    my $shown = ask($session, ($options{after} // '') . $what);
    close_session($session);
    return $shown;
}

is(shown('app'), '0|none', 'no number');
$node->append_conf('postgresql.conf', 'snowid.shard = 1');
$node->reload;
wait_for(sub { shown('app') eq '1|setting (configuration file)' }, 'the configuration file to count');
pass('configuration file');
foreach my $way (
    [ 'ALTER ROLE ALL SET snowid.shard = 2', '2|setting (global)' ],
    [ 'ALTER DATABASE app SET snowid.shard = 3', '3|setting (database)' ],
    [ 'ALTER ROLE clerk SET snowid.shard = 4', '4|setting (user)' ],
    [ 'ALTER ROLE clerk IN DATABASE app SET snowid.shard = 5', '5|setting (database user)' ])
{
    my ($sql, $shown) = @$way;
    $node->safe_psql('postgres', $sql);
    is(shown('app', user => 'clerk'), $shown, $sql);
}
{
    local $ENV{PGOPTIONS} = '-c snowid.shard=6';
    is(shown('app', user => 'clerk'), '6|setting (client)', 'options of a connection');
    is(shown('app', user => 'clerk', after => 'SET snowid.shard = 7; '), '7|setting (session)', 'SET');
    is(shown('app', user => 'clerk', after => 'BEGIN; SET LOCAL snowid.shard = 8; '), '8|setting (session)', 'SET LOCAL');
}
is(shown('app', after => q(SET snowid.shard = '-1'; )), '0|none', 'SET: none');
$node->safe_psql('postgres', "ALTER ROLE $_ RESET snowid.shard") foreach 'ALL', 'clerk', 'clerk IN DATABASE app';
$node->safe_psql('postgres', 'ALTER DATABASE app RESET snowid.shard');
$node->append_conf('postgresql.conf', q(snowid.shard = '-1'));
$node->reload;
wait_for(sub { shown('app') eq '0|none' }, 'no setting to be left');

# 2. Dumps and templates of a database whose number ALTER DATABASE has set.
my $dir = PostgreSQL::Test::Utils::tempdir();
my $page = 'docs/many-servers.md';
my ($require) = grep { /require_node_number/ } blocks_of($page, 'By hand');
my ($set) = $require =~ /^(ALTER DATABASE app SET .*;)$/m;
$node->safe_psql('postgres', $set);
is(attempt($node, 'INSERT INTO photos (n) VALUES (1) RETURNING snowid_shard(id)', dbname => 'app'), '7', 'the number');

sub copy_all
{
    my ($name) = @_;
    $node->safe_psql('postgres', "CREATE DATABASE ${name}_restored");
    $node->safe_psql('postgres', "CREATE DATABASE ${name}_copy TEMPLATE app");
    system_or_bail('pg_dump', '-d', $node->connstr('app'), '-f', "$dir/$name.sql");
    system_or_bail('psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr("${name}_restored"), '-f', "$dir/$name.sql", '-o', "$dir/out");
    return map { "${name}_$_" } 'restored', 'copy';
}

foreach my $copy (copy_all('silent'))
{
    is(shown($copy), '0|none', "$copy: the number is lost");
    is(attempt($node, 'SELECT snowid_shard(snowid_next())', dbname => $copy), '0', "$copy: without a word");
}
is(attempt($node, $require), 't', 'as the page has it');
wait_for(sub { attempt($node, 'SELECT snowid_next()', dbname => 'silent_copy') eq 'ERROR 55000' }, 'the setting to count');
is(attempt($node, 'INSERT INTO photos (n) VALUES (1) RETURNING snowid_shard(id)', dbname => 'app'), '7', 'the database keeps its number');
is(shown('app'), '7|setting (database)', 'and shows it');
foreach my $copy ('silent_restored', copy_all('loud'))
{
    is(attempt($node, $_, dbname => $copy), 'ERROR 55000', "$copy: an error instead of shard 0: $_")
      foreach 'SELECT snowid_next()', 'INSERT INTO photos (n) VALUES (2)', 'SELECT snowid_next_batch(snowid_default_shard(), 2)';
    is(attempt($node, 'SELECT node_number IS NULL, problem FROM snowid.node_status', dbname => $copy), 't|this server has no number of its own', "$copy: and why");
    my (undef, undef, $err) = $node->psql($copy, 'SELECT snowid_next()');
    like($err, qr/^HINT:  Use snowid[.]join\(\), or set "snowid[.]shard" to a number that no other server has[.]$/m, "$copy: and what to do");
    is(attempt($node, 'SELECT count(*) FROM photos', dbname => $copy) > 0, 1, "$copy: the rows are there");
}
$node->safe_psql('postgres', 'ALTER DATABASE loud_copy SET snowid.shard = 9');
is(attempt($node, 'INSERT INTO photos (n) VALUES (1) RETURNING snowid_shard(id)', dbname => 'loud_copy'), '9', 'a number of its own');

# What takes the number along.
system_or_bail('pg_dump', '--create', '-d', $node->connstr('app'), '-f', "$dir/create.sql");
like(slurp_file("$dir/create.sql"), qr/^ALTER DATABASE app SET "?snowid[.]shard"? TO '7';$/m, 'pg_dump --create');
$node->stop;
done_testing();
