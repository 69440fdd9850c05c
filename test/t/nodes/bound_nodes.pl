# A node number is one database's of one server. What is made of it otherwise finds out by itself, asks nobody, and draws no
# IDs of its own number: another database, a restored dump, a server with another tag.
# Runs in make test-all: it starts several servers, or crashes them.

use Snowid;
use SnowidNodes;

my $registry = ready_server('registry');
my $node = ready_server('node', allows_streaming => 1);
add_source($node, $registry, name => 'registry');
add_members($node, $registry, 'app');
is(join_as($node, $_->[0], $_->[1]), $_->[2], "$_->[0] joins") foreach [ 'the node', 'postgres', 1 ], [ 'app', 'app', 2 ];

$node->safe_psql('postgres', 'CREATE DATABASE shop TEMPLATE app');
is(attempt($node, $_, dbname => 'shop'), 'ERROR 55000', "CREATE DATABASE: $_") foreach 'SELECT snowid_next()', 'SELECT snowid.check_node()';
like(message_of($node, 'SELECT snowid_next()', 'shop'),
    qr/this server is not node "app"\nDETAIL:.*\nHINT:.*snowid\.take_over_node\(\).*snowid\.join\(\)/, 'and says what to do');
is(attempt($node, 'SELECT snowid_shard(snowid_next(7))', dbname => 'shop'), '7', 'but named shards');
is(join_as($node, 'shop', 'shop'), '3', 'it joins');
is(check_node($node, 'app'), '2', 'and the original has not noticed');

# A dump has no number, and the restored database does not go by 0, as if it had never joined.
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
command_ok([ 'pg_dump', '-d', $node->connstr('app'), '-f', $dump ], 'dumped');
unlike(slurp_file($dump), qr/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-/, 'no claim is in the dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
my ($restoring, $deleting) = map { open_session($node, dbname => 'restored') } 1, 2;
command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', $dump ], 'restored');
is(ask($restoring, 'SELECT snowid_next()'), 'ERROR 55000', 'restored: refused');
like($restoring->{err}, qr/restored from a dump of a node/, 'and says why');
is(ask($restoring, "SELECT snowid.$_()"), 'ERROR 55000', "nor $_") foreach qw(check_node take_over_node accept_registry leave);
is(ask($restoring, 'SET snowid.default_shard = 0; SELECT snowid_shard(snowid_next()); RESET snowid.default_shard'), '0', 'unless it is said');
# Its own transaction sees that the row was deleted, other sessions do not.
is(ask($deleting, 'BEGIN; DELETE FROM snowid_internal.membership; SELECT snowid_default_shard()'), '0', 'who has deleted the row draws');
is(ask($restoring, 'SELECT snowid_default_shard()'), 'ERROR 55000', 'and others do not');
is(ask($deleting, 'ROLLBACK; SELECT snowid_default_shard()'), 'ERROR 55000', 'rolled back: refused again');
is(ask($restoring, q(SELECT snowid.join('registry', 'restored'))), '4', 'it joins');
close_session($restoring, $deleting);

# Until a restore commits, other sessions use and share number 0.
$node->safe_psql('postgres', 'CREATE DATABASE at_once');
$node->safe_psql('at_once', 'CREATE EXTENSION snowid');
($restoring, my $other) = map { open_session($node, dbname => 'at_once') } 1, 2;
ask($restoring, q(BEGIN; INSERT INTO snowid_internal.membership VALUES (true, 2, 'app')));
is(ask($other, 'SELECT snowid_shard(snowid_next())'), '0', 'beside a restore');
ask($restoring, 'COMMIT');
is(ask($other, 'SELECT snowid_shard(snowid_next())'), 'ERROR 55000', 'refused from its commit on');
close_session($restoring, $other);

# Another server that has got the files and a tag of its own.
$node->append_conf('postgresql.conf', "snowid.instance_tag = 'a'\n");
$node->reload;
wait_for(sub { attempt($node, q(SELECT current_setting('snowid.instance_tag', true) FROM snowid_next(7))) eq 'a' }, 'the tag');
is(number_of($node), '1|1', 'a number that was got without a tag');
is(take_over($node), '1', 'stated with the tag');
my $copy = new_copy($node);
$copy->append_conf('postgresql.conf', "snowid.instance_tag = 'b'\n");
start_in_time($copy);
is(attempt($copy, $_), 'ERROR 55000', "another tag: $_") foreach 'SELECT snowid_next()', 'SELECT snowid.check_node()';
is(check_node($node), '1', 'and the original has not noticed');
end_test($copy, $node, $registry);
