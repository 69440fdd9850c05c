# The scripts of docs/many-servers.md, run as they stand there. The one that has a server check before clients may
# connect: a server that is the node is open to clients afterwards, with the settings that it has, also while the
# registry is down; one that is a copy, or whose check fails otherwise, is stopped, and a copy that starts first does
# not stop its original. The one that takes over after a promotion: the old primary is told. And how a copy that still
# issues IDs gets a number of its own, as the runbook has it.
#
# Runs in make test-all: it starts servers a score of times.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $page = 'docs/many-servers.md';
my $runbook = 'docs/operations.md';
my ($script) = slurp_file($page) =~ /^```\n(tag=.*?)^```$/ms;
like($script, qr/snowid[.]check_node.*^pg_ctl .*stop/ms, 'the page has a script');
unlike($script, qr/take_over|join|accept/, 'which only checks');
my $scratch = PostgreSQL::Test::Utils::tempdir_short();
$script =~ s{/run/starting}{$scratch}g;
$script =~ s{/etc/snowid/instance_tag}{$scratch/tag}g;
$script =~ s/in berlin app;/in postgres;/;

# What the machine has as its tag, or nothing.
sub set_tag
{
    my ($tag) = @_;
    unlink "$scratch/tag";
    append_to_file("$scratch/tag", "$tag\n") if defined $tag;
    return;
}

# Runs a script for a server. Returns what it says.
sub run_for
{
    my ($server, $run) = @_;
    local $ENV{PGDATA} = $server->data_dir;
    local $ENV{PGPORT} = $server->port;
    local $ENV{PGHOST} = $server->host;
    my $log = "$scratch/said";
    system('sh', '-c', "exec >$log 2>&1; $run");
    $server->_update_pid(-1);
    return slurp_file($log);
}
sub start_by_script { my ($server) = @_; return run_for($server, $script) }
sub is_running { my ($server) = @_; return system('pg_ctl', '-s', '-D', $server->data_dir, 'status') == 0 ? 1 : 0 }
sub said_by { my ($server, $sql) = @_; return ($server->psql('postgres', $sql))[2] }
sub copy_of
{
    my ($server, $name, %options) = @_;
    $server->backup($name);
    my $copy = PostgreSQL::Test::Cluster->new($name);
    $copy->init_from_backup($server, $name, %options);
    return $copy;
}
my $number = 'SELECT snowid_shard(snowid_next())';
my ($check, $take_over, $join) = map { said_in($runbook, 'A clone is found', "SELECT $_") } 'snowid.check_node()',
  'snowid.take_over_node()', q(snowid.join('registry', 'another name'));

my $registry = new_server('registry');
$registry->start;
$registry->safe_psql('postgres', 'CREATE EXTENSION snowid');
my $node = new_server('node', allows_streaming => 1);
$node->start;
add_source($node, $registry, name => 'registry');
is(attempt($node, q(SELECT snowid.join('registry', 'the node'))), '1', 'joined, without a tag');

# A tag, as the page has it: started with it, and bound.
my ($start) = said_in($page, 'Clones', 'pg_ctl start -o "-c snowid.instance_tag=production"');
$node->stop;
run_for($node, $start =~ s/start/-w start/r);
is(attempt($node, $number), '1', 'a server is given a tag: the node is bound to none yet');
is(attempt($node, said_in($page, 'Clones', 'SELECT snowid.take_over_node()')), '1', 'it takes over, and is bound');
is(attempt($node, $number), '1', 'and issues IDs');
foreach my $case ([ 'staging', 'ERROR 55000' ], [ undef, 'ERROR 55000' ], [ 'production', '1' ])
{
    my ($tag, $result) = @$case;
    $node->stop;
    run_for($node, 'pg_ctl -w start' . (defined $tag ? " -o '-c snowid.instance_tag=$tag'" : ''));
    is(attempt($node, $number), $result, defined $tag ? "with the tag $tag" : 'without a tag');
}
is(attempt($node, q(SELECT snowid_next() > 0; SET snowid.instance_tag = 'staging')), 'ERROR 55P02', 'which no session sets, once it knows of it');

# The script.
$node->stop;
foreach my $none (undef, '')
{
    set_tag($none);
    start_by_script($node);
    is(is_running($node), 0, 'a machine without a tag starts nothing');
}
set_tag('production');
# A database that is not there, and one without the extension, come before the one that has joined.
foreach my $databases ('nowhere postgres', 'template1 postgres')
{
    like(run_for($node, $script =~ s/in postgres;/in $databases;/r), qr/look before/, "a check in $databases");
    is(is_running($node), 0, 'keeps clients out');
}
unlike(start_by_script($node), qr/look before/, 'the node checks');
is($node->safe_psql('postgres', 'SHOW unix_socket_directories'), $node->host, 'and is open to clients');
is(attempt($node, $number), '1', 'and issues IDs');

# A copy on another machine starts first.
my $clone = copy_of($node, 'clone');
set_tag('staging');
like(start_by_script($clone), qr/is not the server that has joined.*"snowid.instance_tag" has changed.*look before/s, 'a copy with another tag knows by itself');
is(is_running($clone), 0, 'and lets nobody in');
is(attempt($node, $check), '1', 'the original is still the node');
run_for($clone, q(pg_ctl -w start -o '-c snowid.instance_tag=staging'));
is(attempt($clone, $_), 'ERROR 55000', "it asks nobody: $_") foreach $number, $check;
is(attempt($node, $check), '1', 'the original has not noticed');
is(attempt($clone, $join), '2', 'the copy joins, and gets another number');
is(attempt($clone, "$number, snowid.check_node()"), '2|2', 'which is bound to its own tag');
$clone->stop;

# Two copies with one tag: the one that is started first has the number.
set_tag('production');
my $twin = copy_of($node, 'twin');
$node->stop;
unlike(start_by_script($twin), qr/look before/, 'a copy with the same tag starts first');
is(attempt($twin, $number), '1', 'and has the number');
like(start_by_script($node), qr/another server has replaced this one.*look before/s, 'then the original is told');
is(is_running($node), 0, 'and lets nobody in');
$twin->stop;
run_for($node, q(pg_ctl -w start -o '-c snowid.instance_tag=production'));
is(attempt($node, $number), 'ERROR 55000', 'the original issues none');
is(attempt($node, $take_over), '1', 'but takes over');
is(attempt($node, $number), '1', 'and issues IDs');
run_for($twin, q(pg_ctl -w start -o '-c snowid.instance_tag=production'));

# A copy that issues IDs, and is to go on beside the original.
is(attempt($twin, $number), '1', 'the copy with the same tag issues IDs');
my ($replaced, $joined) = map { said_in($runbook, 'A clone is found', $_) =~ s/ … *$| …$//gr } 'another server has replaced this one …', 'database has joined as node …';
like(said_by($twin, $join), qr/\Q$joined\E "the node", with number 1/, 'it may not join yet');
my $taking = open_session($node);
start_asking($taking, $take_over);
wait_for(sub { $taking->{err} =~ /waiting until/ || is_answered($taking) }, 'the take-over to wait');
is(attempt($node, $number), 'ERROR SN001', 'while the original takes over, it issues none');
is(attempt($node, "SET snowid.max_wait = '15s'; $number"), '1', 'unless the caller waits');
is(answer($taking), '1', 'the original takes over');
close_session($taking);
like(said_by($twin, $check), qr/\Q$replaced\E/, 'then the copy checks, and is told');
is(attempt($twin, "$number; SELECT snowid_next(42)"), 'ERROR 55000', 'and issues none, of named shards either');
is(attempt($twin, $join), '3', 'now it joins');
is(attempt($twin, $number), '3', 'and issues IDs of its own number');
is(attempt($node, $check), '1', 'the original keeps its number');
$twin->stop;

# A promoted standby, and the script that has it take over, as Patroni calls it.
my ($callback) = slurp_file($page) =~ /^```\n(#!\/bin\/sh\n\[ .*?)^```$/ms;
$callback =~ s/in berlin app;/in postgres;/;
append_to_file("$scratch/snowid-take-over", $callback);
chmod 0755, "$scratch/snowid-take-over";
my $standby = copy_of($node, 'standby', has_streaming => 1);
$standby->append_conf('postgresql.conf', "snowid.instance_tag = 'production'\n");
$standby->start;
$node->wait_for_catchup($standby);
$standby->promote;
wait_for(sub { $standby->safe_psql('postgres', 'SELECT pg_is_in_recovery()') eq 'f' }, 'the promotion');
is(attempt($_, $number), '1', $_->name . ' issues IDs') foreach $standby, $node;
like(said_by($standby, $check), qr/WARNING: .*^DETAIL:  This server was promoted or restored/ms, 'the promoted server is warned');
like(said_by($node, $check), qr/WARNING: .*^DETAIL:  Another server, which was promoted/ms, 'so is the old one');
is(attempt($_, $number), '1', $_->name . ' goes on') foreach $standby, $node;
is(attempt($_, q(SELECT node_number || (problem LIKE '%promoted%')::text FROM snowid.node_status)), '1true', $_->name . ' shows it') foreach $standby, $node;
is(run_for($standby, "$scratch/snowid-take-over on_role_change replica cluster"), '', 'a server that becomes a replica does nothing');
like(run_for($standby, "$scratch/snowid-take-over on_role_change primary cluster"), qr/^ +1$/m, 'one that becomes the primary takes over');
is(attempt($standby, "$check; SELECT problem IS NULL FROM snowid.node_status"), "1\nt", 'and is the node');
is(attempt($node, $check), 'ERROR 55000', 'the old one is told at its next check');
is(attempt($node, $number), 'ERROR 55000', 'and issues no IDs');
$node->stop;

# The registry is down.
$registry->stop;
$standby->stop;
my $said = start_by_script($standby);
like($said, qr/ERROR:  08006: could not reach the registry/, 'the registry is down');
unlike($said, qr/look before/, 'which keeps nobody out');
is(is_running($standby), 1, 'the server starts');
is(attempt($standby, $number), '1', 'and issues IDs');
$standby->stop;
done_testing();
