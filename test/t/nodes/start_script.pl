# The script of docs/node-numbers.md that has a server check before clients may connect, run as it stands there: a server that is
# the node is open to clients afterwards, with the settings that it has, also while the registry is down; one that is a copy, or
# whose check fails otherwise, is stopped, and a copy that starts first does not stop its original. And how a tag is given.
# Runs in make test-all: it starts servers a score of times.

use Snowid;
use SnowidNodes;

my $page = 'docs/node-numbers.md';
my ($script) = slurp_file($page) =~ /^```\n(tag=.*?)^```$/ms;
like($script, qr/snowid[.]check_node.*^pg_ctl .*stop/ms, 'the page has a script');
unlike($script, qr/take_over|join|accept/, 'which only checks');
my $scratch = PostgreSQL::Test::Utils::tempdir_short();
$script =~ s{/run/starting}{$scratch}g;
$script =~ s{/etc/snowid/instance_tag}{$scratch/tag}g;
$script =~ s/in berlin app;/in postgres;/;

# Runs a script for a server that is stopped. Returns what it says.
sub run_for
{
    my ($server, $run) = @_;
    local ($ENV{PGDATA}, $ENV{PGPORT}, $ENV{PGHOST}) = ($server->data_dir, $server->port, $server->host);
    system('sh', '-c', "exec >$scratch/said 2>&1; $run");
    $server->_update_pid(-1);
    return slurp_file("$scratch/said");
}

# Runs the page's, on a machine with this tag, or none. Checks what it says, and whether the server runs then.
sub check_script
{
    my ($name, $server, $tag, $said, $is_running, $run) = @_;
    unlink "$scratch/tag";
    append_to_file("$scratch/tag", "$tag\n") if defined $tag;
    like(run_for($server, $run // $script), $said, $name);
    is(system('pg_ctl', '-s', '-D', $server->data_dir, 'status') == 0 ? 1 : 0, $is_running, "$name: " . ($is_running ? 'it runs' : 'nobody is let in'));
    return;
}
my $number = 'SELECT snowid_shard(snowid_next())';
my $look = qr/not started/;
my $goes = qr/\A(?!.*not started)/s;

my $registry = ready_server('registry');
my $node = new_server('node', allows_streaming => 1);
$node->start;
add_source($node, $registry, name => 'registry');
is(join_as($node, 'the node'), '1', 'joined, without a tag');

# A tag, as the page has it: started with it, and bound.
my ($start) = said_in($page, 'Clones', 'pg_ctl start -o "-c snowid.instance_tag=production"');
$node->stop;
run_for($node, $start =~ s/start/-w start/r);
is(attempt($node, $number), '1', 'a server is given a tag: the node is bound to none yet');
is(attempt($node, said_in($page, 'Clones', 'SELECT snowid.take_over_node()')), '1', 'it takes over, and is bound');
foreach my $case ([ ' -o "-c snowid.instance_tag=staging"', 'ERROR 55000' ], [ '', 'ERROR 55000' ], [ ' -o "-c snowid.instance_tag=production"', '1' ])
{
    $node->stop;
    run_for($node, "pg_ctl -w start$case->[0]");
    is(attempt($node, $number), $case->[1], "started$case->[0]");
}
is(attempt($node, q(SELECT snowid_next() > 0; SET snowid.instance_tag = 'staging')), 'ERROR 55P02', 'which no session sets, once it knows of it');

# The node. A database that is not there, and one without the extension, come before the one that has joined.
$node->stop;
check_script('a machine without a tag', $node, $_, qr/^/, 0) foreach undef, '';
check_script("a check in $_", $node, 'production', $look, 0, $script =~ s/in postgres;/in $_;/r) foreach 'nowhere postgres', 'template1 postgres';
check_script('the node checks', $node, 'production', $goes, 1);
is($node->safe_psql('postgres', 'SHOW unix_socket_directories'), $node->host, 'and is open to clients');
is(attempt($node, $number), '1', 'and issues IDs');

my $clone = new_copy($node);
check_script('a copy with another tag', $clone, 'staging', qr/this server is not node .*"snowid.instance_tag" has changed.*not started/s, 0);
is(check_node($node), '1', 'the original is still the node');
run_for($clone, q(pg_ctl -w start -o '-c snowid.instance_tag=staging'));
is(attempt($clone, $_), 'ERROR 55000', "it asks nobody: $_") foreach $number, 'SELECT snowid.check_node()';
is(check_node($node), '1', 'the original has not noticed');
is(join_as($clone, 'another') . check_node($clone), '22', 'the copy joins, and is bound to its own tag');
$clone->stop;

my $twin = new_copy($node);
$node->stop;
check_script('a copy with the same tag starts first', $twin, 'production', $goes, 1);
is(attempt($twin, $number), '1', 'and has the number');
check_script('then the original is told', $node, 'production', qr/another server has replaced this one.*not started/s, 0);
$twin->stop;
run_for($node, q(pg_ctl -w start -o '-c snowid.instance_tag=production'));
is(attempt($node, $number), 'ERROR 55000', 'the original issues none');
is(attempt($node, "SELECT snowid.take_over_node(); $number"), "1\n1", 'but takes over');
$registry->stop;
$node->stop;
check_script('the registry is down', $node, 'production', qr/\A(?!.*not started).*ERROR:  08006: could not reach the registry/s, 1);
is(attempt($node, $number), '1', 'which keeps nobody out');
end_test($node);
