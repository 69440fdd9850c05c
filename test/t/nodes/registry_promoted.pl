# A standby of the registry that is promoted, and is a number behind, gives none until it is recovered; so does one that was
# restored to before the first node. The old primary, alive beside it, is found. A standby is no registry.
#
# Runs in make test-all: it starts several servers, or crashes them.

use Snowid;
use SnowidNodes;

my $registry = ready_server('registry', allows_streaming => 1, sql => 'CREATE DATABASE empty');
$registry->safe_psql('empty', 'CREATE EXTENSION snowid');
my $node = ready_server('node');
add_members($node, $registry, qw(a g h i));
sub accept_registry { my ($member) = @_; return attempt($node, 'SELECT snowid.accept_registry()', dbname => $member) }
sub ask_at { my ($server) = @_; point_at($node, $server, name => 'registry', dbname => $_) foreach qw(a g h i); return }
sub check_warned { my ($member) = @_; return like(message_of($node, 'SELECT snowid.check_node()', $member), qr/WARNING:.*not confirmed number/, "$member is warned") }

is(join_as($node, 'a', 'a'), '1', 'a joins');
my $standby = new_standby($registry, 'standby');
start_server($standby);
$registry->wait_for_catchup($standby);
cut_off($standby, $registry);
is(check_node($node, 'a'), '1', 'a checks, which the standby does not hear of') for 1, 2;
is(join_as($node, 'g', 'g'), '2', 'g joins, and its number is lost');
ask_at($standby);
like(message_of($node, 'SELECT snowid.check_node()', 'a'), qr/server "registry" is read-only\nDETAIL:.*\nHINT:.*target_session_attrs/, 'a standby is no registry');
is(check_node($node, 'a'), 'ERROR 25006', 'for nodes');
is(join_as($node, 'h', 'h'), 'ERROR 25006', 'nor for who joins');
$standby->promote;
check_warned($_) foreach 'a', 'g';
is(number_of($node, $_->[0]), $_->[1], "$_->[0] goes on") foreach [ 'a', '1|1' ], [ 'g', '2|2' ];
is(join_as($node, 'h', 'h'), 'ERROR 55000', 'promoted: nobody joins');
is(attempt($standby, 'SELECT snowid.recover_registry(2)'), '', 'recovered');
is(accept_registry($_->[0]), $_->[1], "$_->[0] accepts it") foreach [ 'a', 1 ], [ 'g', 2 ];
is(message_of($node, 'SELECT snowid.check_node()', $_), '', "$_ is confirmed") foreach 'a', 'g';
is(join_as($node, 'h', 'h'), '3', 'h joins');
ask_at($registry);
check_warned($_) foreach 'a', 'g', 'h';

# One that has given nothing yet.
ask_at($standby);
$node->safe_psql('i', q(ALTER SERVER registry OPTIONS (SET dbname 'empty')));
is(join_as($node, 'i', 'i'), 'ERROR 55000', 'restored to before the first node: nobody joins');
is(attempt($standby, 'SELECT snowid.recover_registry(1)', dbname => 'empty'), '', 'recovered');
is(join_as($node, 'i', 'i'), '2', 'and gives the next');
$node->stop;
end_test($standby, $registry);
