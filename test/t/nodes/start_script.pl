# The script of docs/many-servers.md that has a server check before clients may connect, run as it stands there: a server
# that is the node is open to clients afterwards, with the settings that it has, also while the registry is down; one
# that is a copy, or whose check fails otherwise, is stopped. And how a copy that still draws gets a number of its own, as the runbook has it.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my ($script) = slurp_file('docs/many-servers.md') =~ /^```\n(pg_ctl .*?)^```$/ms;
like($script, qr/snowid_check.*^pg_ctl .*stop/ms, 'the page has a script');
my $socket = PostgreSQL::Test::Utils::tempdir_short();
$script =~ s{/run/starting}{$socket}g;
$script =~ s/in berlin app;/in postgres;/;

my $registry = new_server('registry');
$registry->start;
$registry->safe_psql('postgres', 'CREATE EXTENSION snowid');
my $node = new_server('node', allows_streaming => 1);
$node->start;
add_source($node, $registry, name => 'registry');
is(attempt($node, q(SELECT snowid_join('registry', 'the node'))), '1', 'joined');

# Runs the script on a server that is stopped. Returns what it says.
sub start_by_script
{
    my ($server, $run) = (@_, $script);
    local $ENV{PGDATA} = $server->data_dir;
    local $ENV{PGPORT} = $server->port;
    my $log = "$socket/said";
    system('sh', '-c', "exec >$log 2>&1; $run");
    return slurp_file($log);
}
sub is_running { my ($server) = @_; return system('pg_ctl', '-s', '-D', $server->data_dir, 'status') == 0 ? 1 : 0 }

$node->stop;
# A database that is not there, and one without the extension, come before the one that has joined.
foreach my $databases ('nowhere postgres', 'template1 postgres')
{
    like(start_by_script($node, $script =~ s/in postgres;/in $databases;/r), qr/look before/, "a check in $databases");
    is(is_running($node), 0, 'keeps clients out');
}
unlike(start_by_script($node), qr/look before/, 'the node checks');
$node->_update_pid(1);
is($node->safe_psql('postgres', 'SHOW unix_socket_directories'), $node->host, 'and is open to clients');
is(attempt($node, 'SELECT snowid_shard(snowid_next())'), '1', 'and draws');

$node->backup('copy');
my $copy = PostgreSQL::Test::Cluster->new('copy');
$copy->init_from_backup($node, 'copy');
is(attempt($node, 'SELECT snowid_check()'), '1', 'the node has checked since it was copied');
like(start_by_script($copy), qr/is not this server's.*look before/s, 'a copy is told');
is(is_running($copy), 0, 'and lets nobody in');

# A key that a copy of the files does not get: it knows by itself, before it has asked anybody.
sub start_with_key
{
    my ($server, $key) = @_;
    $server->stop if is_running($server);
    $server->append_conf('postgresql.conf', "snowid.server_key = '$key'\n");
    $server->start;
    return attempt($server, 'SELECT snowid_shard(snowid_next())');
}
is(start_with_key($node, 'production'), '1', 'a server is given a key: nothing is bound to it yet');
is(attempt($node, 'SELECT snowid_check()'), '1', 'it checks, and is bound');
is(start_with_key($node, $_->[0]), $_->[1], "with the key '$_->[0]'") foreach [ 'staging', 'ERROR 55000' ], [ '', 'ERROR 55000' ], [ 'production', '1' ];
$node->backup('clone');
my $clone = PostgreSQL::Test::Cluster->new('clone');
$clone->init_from_backup($node, 'clone');
is(start_with_key($clone, 'staging'), 'ERROR 55000', 'a copy with another key draws nothing');
is(attempt($clone, 'SELECT snowid_check()'), 'ERROR 55000', 'and does not ask');
like(($clone->psql('postgres', 'SELECT snowid_next()'))[2], qr/is not the database that has joined.*"snowid.server_key" is another one/s, 'it says why');
is(attempt($node, 'SELECT snowid_check()'), '1', 'the original has not noticed');
is(attempt($clone, q(SELECT snowid_join('registry', 'the clone'))), '2', 'the copy joins under a name of its own');
is(start_with_key($clone, 'staging'), '2', 'and is bound to its own key');
is(attempt($clone, q(SELECT snowid_next() > 0; SET snowid.server_key = 'production')), 'ERROR 55P02', 'which no session sets, once it knows of it');
$clone->stop;

# A copy that draws, and is to go on beside the original.
sub said_by { my ($server, $sql) = @_; return ($server->psql('postgres', $sql))[2] }
my $runbook = 'docs/operations.md';
my ($check, $join) = map { said_in($runbook, 'A clone is found', "SELECT $_") } 'snowid_check()', q(snowid_join('registry', 'another name'));
my ($lost, $joined) = map { said_in($runbook, 'A clone is found', $_) =~ s/^… | …$//gr } q(… is not this server's), 'database has joined as node …';
$node->backup('drawing');
my $drawing = PostgreSQL::Test::Cluster->new('drawing');
$drawing->init_from_backup($node, 'drawing');
$drawing->start;
is(attempt($drawing, 'SELECT snowid_shard(snowid_next())'), '1', 'a copy with the same key draws');
like(said_by($drawing, $join), qr/\Q$joined\E "the node", with number 1/, 'it may not join yet');
is(attempt($node, $check), '1', 'the original checks');
like(said_by($drawing, $check), qr/\Q$lost\E/, 'then the copy, which is told');
is(attempt($drawing, $join), '3', 'now it may join');
is(attempt($drawing, 'SELECT snowid_shard(snowid_next())'), '3', 'and draws from its own number');
is(attempt($node, $check), '1', 'the original keeps its number');
$drawing->stop;

$registry->stop;
$node->stop;
my $said = start_by_script($node);
like($said, qr/ERROR:  08006: could not reach the registry/, 'the registry is down');
unlike($said, qr/look before/, 'which keeps nobody out');
is(is_running($node), 1, 'the server starts');
$node->_update_pid(1);
is(attempt($node, 'SELECT snowid_shard(snowid_next())'), '1', 'and draws');
$node->stop;
done_testing();
