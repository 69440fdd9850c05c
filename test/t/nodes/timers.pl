# Who asks another server is not interrupted later for a wait that has ended: whatever fails on the way, also the
# subtransaction itself in which the server is asked, no timer stays armed.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $module = build_module('unsplit');
my $node = ready_server('node', sql => 'CREATE DATABASE east');
add_source($node, $node, name => 'registry', dbname => 'east');
$node->safe_psql('east', "CREATE FUNCTION $_ AS '$module' LANGUAGE C") foreach 'unsplit() RETURNS void', 'armed() RETURNS int';

my $session = open_session($node, dbname => 'east');
is(ask($session, q(SELECT snowid.join('registry'); SELECT armed())), "1\n0", 'a request that succeeds');
is(ask($session, 'SELECT unsplit()'), '', 'no subtransaction begins in this session any more');
is(ask($session, 'SELECT snowid.check_node()'), 'ERROR 53000', 'a request fails for that');
is(ask($session, 'SELECT armed()'), '0', 'and no timer is armed');
end_test($node);
