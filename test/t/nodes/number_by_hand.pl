# A number that somebody sets by hand. snowid.node_status names where it was set. One that ALTER DATABASE has set is in no dump of
# the database, nor in a copy made by TEMPLATE: where the configuration file has snowid.require_node_number = on, as
# docs/node-numbers.md has it, these raise an error instead of using shard 0.

use Snowid;
use SnowidNodes;

my $node = ready_server('number_by_hand', sql => 'CREATE DATABASE app; CREATE ROLE clerk LOGIN');
$node->safe_psql('app', 'CREATE EXTENSION snowid; CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(), n int)');
my $what = 'SELECT node_number, source FROM snowid.node_status';
sub shown { my ($after, $dbname) = @_; return attempt($node, ($after // '') . $what, dbname => $dbname // 'app') }

sub configure
{
    my ($number, $expected) = @_;
    $node->append_conf('postgresql.conf', "snowid.default_shard = '$number'\n");
    $node->reload;
    return wait_for(sub { shown() eq $expected }, 'the configuration file to count');
}

# Where it was set, each way over the ones before it.
is(shown(), '0|none', 'no number');
configure(1, '1|setting (configuration file)');
foreach my $way ([ 'ROLE ALL', 2, 'global' ], [ 'DATABASE app', 3, 'database' ], [ 'ROLE postgres', 4, 'user' ], [ 'ROLE postgres IN DATABASE app', 5, 'database user' ])
{
    my ($whose, $number, $source) = @$way;
    $node->safe_psql('postgres', "ALTER $whose SET snowid.default_shard = $number");
    is(shown(), "$number|setting ($source)", $whose);
}
{
    local $ENV{PGOPTIONS} = '-c snowid.default_shard=6';
    is(shown(), '6|setting (client)', 'options of a connection');
    is(shown('SET snowid.default_shard = 7; '), '7|setting (session)', 'SET');
    is(shown('BEGIN; SET LOCAL snowid.default_shard = 8; '), '8|setting (session)', 'SET LOCAL');
}
is(shown(q(SET snowid.default_shard = '-1'; )), '0|none', 'SET: none');
$node->safe_psql('postgres', "ALTER $_ RESET snowid.default_shard") foreach 'ROLE ALL', 'ROLE postgres', 'ROLE postgres IN DATABASE app', 'DATABASE app';
configure(-1, '0|none');

# Dumps and templates of a database whose number ALTER DATABASE has set.
my $dir = PostgreSQL::Test::Utils::tempdir();
my $page = 'docs/node-numbers.md';
my ($require) = grep { /require_node_number/ } blocks_of($page, 'Joining');
my ($set) = grep { /^ALTER DATABASE app SET / } blocks_of($page, 'Setting a number by hand');
$node->safe_psql('postgres', $set);
my $insert = 'INSERT INTO photos (n) VALUES (1) RETURNING snowid_shard(id)';
is(attempt($node, $insert, dbname => 'app'), '7', 'the number');
$node->safe_psql('postgres', 'CREATE DATABASE restored; CREATE DATABASE copy TEMPLATE app');
system_or_bail('pg_dump', '--create', '-d', $node->connstr('app'), '-f', "$dir/create.sql");
like(slurp_file("$dir/create.sql"), qr/^ALTER DATABASE app SET "?snowid[.]default_shard"? TO '7';$/m, 'pg_dump --create takes the number along');
system_or_bail('pg_dump', '-d', $node->connstr('app'), '-f', "$dir/dump.sql");
system_or_bail('psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', "$dir/dump.sql", '-o', "$dir/out");
is(shown('SELECT snowid_shard(snowid_next()); ', $_), "0\n0|none", "$_: the number is lost, without a word") foreach 'restored', 'copy';
is(attempt($node, $require), 't', 'as the page has it');
wait_for(sub { attempt($node, 'SELECT snowid_next()', dbname => 'copy') eq 'ERROR 55000' }, 'the setting to count');
is(attempt($node, "$insert; $what", dbname => 'app'), "7\n7|setting (database)", 'the database keeps its number, and shows it');
foreach my $copy ('restored', 'copy')
{
    is(attempt($node, $_, dbname => $copy), 'ERROR 55000', "$copy: an error instead of shard 0: $_")
      foreach 'SELECT snowid_next()', $insert, 'SELECT snowid_next_batch(snowid_default_shard(), 2)', 'SELECT snowid_next(77); SELECT snowid_next()';
    is(attempt($node, 'SELECT node_number IS NULL, problem FROM snowid.node_status', dbname => $copy), 't|this server has no node number', "$copy: and why");
    like(message_of($node, 'SELECT snowid_next()', $copy), qr/^HINT:  Use snowid[.]join\(\), or set "snowid[.]default_shard" to a number that no other server has[.]$/m, "$copy: and what to do");
    is(attempt($node, 'SET snowid.default_shard = 9; SELECT snowid_shard(snowid_next()), snowid_shard(snowid_next(77)), snowid_uuidv7() IS NOT NULL', dbname => $copy), '9|77|t',
        "$copy: a number of its own, and named shards");
}
is(attempt($node, 'SELECT snowid_next(77); SET ROLE pg_monitor; SET snowid.require_node_number = off', dbname => 'copy'), 'ERROR 42501', 'superusers alone say so');
end_test($node);
