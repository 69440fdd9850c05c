# The runbook, docs/runbook.md, followed word by word where nodes, their registry, and central sources are concerned: servers print
# the messages of its entries, numbers and times aside, and what it says to do helps.
# Runs in make test-all: it takes each step of the page.

use Snowid;

my $page = 'docs/runbook.md';
my $node = ready_server('runbook_nodes', databases => [qw(registry berlin late restored)]);
sub try_in { my ($dbname, $sql) = @_; return attempt($node, $sql, dbname => $dbname) }

# A registry, two nodes, and one that is to be restored, in databases of a server.
foreach ([ 'berlin', 'registry' ], [ 'berlin', 'central' ], [ 'late', 'registry' ])
{
    my ($dbname, $server) = @$_;
    add_source($node, $node, dbname => $dbname, name => $server);
    $node->safe_psql($dbname, "ALTER SERVER $server OPTIONS (SET dbname 'registry')");
}
$node->safe_psql('registry', 'CREATE SEQUENCE orders_seq INCREMENT 100');
is(printed_by($node, 'berlin', q(SELECT snowid.join('registry', 'berlin'); CREATE SEQUENCE orders_seq; SELECT snowid_segment_attach('orders_seq', 'central', 'orders_seq'))),
    '', 'a node, and a segment of a central source');

my ($role) = grep { /SET ROLE/ } blocks_of($page, 'Before you paste');
is(try_in('berlin', "$role SELECT current_user = session_user, snowid.check_node()"), 't|1', 'as the role that joined');

$node->safe_psql('postgres', 'CREATE DATABASE copied TEMPLATE berlin');
$node->safe_psql('registry', 'UPDATE snowid_internal.nodes SET token = 1, exchange = exchange + 1');
my $found = 'A clone is found';
leads_to($page, $found,
    printed_by($node, 'berlin', said_in($page, $found, 'SELECT snowid.check_node()')) . "\n" . printed_by($node, 'copied', 'SELECT snowid_next()'));
is(try_in('berlin', said_in($page, $found, 'SELECT snowid.take_over_node()')), '1', 'the node takes over');
is(try_in('copied', said_in($page, $found, q(SELECT snowid.join('registry', 'another name')))), '2', 'and the copy joins');
is(try_in($_->[0], said_in($page, $found, 'SELECT node_number, problem FROM snowid.node_status')), $_->[1], "$_->[0]: verified")
  foreach [ 'berlin', '1|' ], [ 'copied', '2|' ];

my $lost = 'The registry may have lost numbers';
$node->safe_psql('registry', q(UPDATE snowid_internal.registry_identities SET identity = 'before'; UPDATE snowid_internal.nodes SET token = 1, exchange = 0 WHERE node_number = 1));
my $join_late = q(SELECT snowid.join('registry', 'late'));
my $both = (printed_by($node, 'late', $join_late) . "\n" . printed_by($node, 'berlin', 'SELECT snowid.check_node()')) =~ s/01000: //r;
leads_to($page, $lost, $both);
has_lines($page, $lost, 'DETAIL', $both);
is(try_in('registry', said_in($page, $lost, 'SELECT snowid.recover_registry(8)')), '', 'recovered');
is(try_in('berlin', said_in($page, $lost, 'SELECT snowid.accept_registry()')), '1', 'accepted');
is(printed_by($node, 'berlin', said_in($page, $lost, 'SELECT snowid.check_node()')), '', 'a check without a WARNING');
is(try_in('late', $join_late), '9', 'and another node joins');
$node->safe_psql('registry', 'SELECT snowid.recover_registry(8191)');
$node->safe_psql('late', 'SELECT snowid.leave()');
my $all_assigned = 'All node numbers are assigned';
leads_to($page, $all_assigned, printed_by($node, 'late', $join_late));
is(try_in('registry', said_in($page, $all_assigned, 'SELECT numbers_left FROM snowid.registry_usage')), '0', 'none is left');
my ($larger) = grep { /CREATE TABLE events/ } blocks_of($page, $all_assigned);
my ($larger_layout) = $larger =~ /'(time:[^']*)'/;
is(try_in('berlin', $larger), '', 'a layout with more shards');
is(try_in('berlin', "INSERT INTO events DEFAULT VALUES RETURNING snowid_shard(id, '$larger_layout')"), '8193', 'for a second registry');

# A dump of data alone, and segments after pg_upgrade.
my $restored = 'A dump was restored';
my ($data) = run_command([ 'pg_dump', '-a', '-T', 'events', '-d', $node->connstr('berlin') ]);
$node->psql('restored', $data, on_error_stop => 0);
leads_to($page, $restored, printed_by($node, 'restored', 'SELECT snowid_next()'));
is(try_in('restored', said_in($page, $restored, 'ALTER DATABASE restored SET snowid.default_shard = 0')), '', 'it is for tests');
is(try_in('restored', 'SELECT snowid_shard(snowid_next())'), '0', 'and draws from 0');
is(try_in('berlin', 'SELECT snowid.check_node()'), '1', 'and the original keeps its number');
my ($attach) = grep { /^SELECT snowid_segment_attach/ } blocks_of($page, 'pg_upgrade');
is(try_in('berlin', $attach), '', 'segments are attached again');

my ($must_join) = grep { /require_node_number/ } blocks_of('docs/node-numbers.md', 'Joining');
is(try_in('postgres', $must_join), 't', 'every server must join');
wait_for(sub { try_in('postgres', 'SELECT snowid_next()') eq 'ERROR 55000' }, 'the setting');
is(try_in('berlin', 'SELECT snowid.check_node()'), '1', 'a node draws on');

$node->safe_psql('registry', 'ALTER DATABASE registry SET default_transaction_read_only = on');
my $read_only = printed_by($node, 'berlin', 'SELECT snowid.check_node()');
$node->safe_psql('berlin', "ALTER USER MAPPING FOR PUBLIC SERVER registry OPTIONS (ADD user 'nosuch')");
like(printed_by($node, 'berlin', 'SELECT snowid.check_node()'), qr/ERROR:  28000: server "registry" rejected the login/, 'a registry that refuses');
$node->safe_psql('berlin', "ALTER SERVER $_ OPTIONS (SET host '/nowhere')") foreach 'registry', 'central';
leads_to($page, 'A remote server is down',
    join "\n", $read_only, printed_by($node, 'berlin', 'SELECT snowid.check_node()'), printed_by($node, 'berlin', q(SELECT snowid_segment_next('orders_seq'))));
$node->stop;
done_testing();
