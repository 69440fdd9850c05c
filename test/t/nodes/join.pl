# Every database that joins a registry gets a number that no other has, keeps it whatever is rolled back, and needs the
# registry no more. The databases of one server are nodes of their own.

use Snowid;
use SnowidNodes;

my $node = ready_server('node', conf => 'max_prepared_transactions = 5');
sub at { my ($member, $sql) = @_; return attempt($node, $sql, dbname => $member) }
sub on_registry { my ($sql) = @_; return attempt($node, $sql) }
add_members($node, $node, qw(east west north south last late));

# One number each, and the same one again.
my $drawing = open_session($node, dbname => 'east');
is(ask($drawing, 'SELECT snowid_default_shard(), snowid_shard(snowid_next())'), '0|0', 'before it joins: 0');
is(at('east', q(SELECT snowid.join('registry'))), '1', 'the first gets 1');
is(ask($drawing, 'SELECT snowid_shard(snowid_next())'), '1', 'which others draw from at once');
is(join_as($node, 'the west', 'west'), '2', 'the next gets 2, and no other') for 1, 2;
is(at('east', q(SELECT snowid.join('registry'))), '1', 'once more: the same');
is(number_of($node, $_->[0]), $_->[1], "$_->[0] draws from its number") foreach [ 'east', '1|1' ], [ 'west', '2|2' ];
is(at('west', q(SELECT node_number, source, node_name, registry, checked > now() - interval '1 h', problem FROM snowid.node_status)),
    '2|joined|the west|registry|t|', 'the node shows it');
like(on_registry('SELECT node_name, database, claimed <= last_seen, promoted_seen, retired FROM snowid.registry ORDER BY node_number'),
    qr{^[^\n]+:\d+/east\|east\|t\|\|\nthe west\|west\|t\|\|$}, 'and the registry');

# What is refused, and gets nobody a number.
foreach my $case (
    [ 'no other name', 'west', q(SELECT snowid.join('registry', 'other')), 'ERROR 55000' ],
    [ 'no other registry', 'west', q(SELECT snowid.join('central', 'the west')), 'ERROR 55000' ],
    [ 'no name without a letter', 'north', q(SELECT snowid.join('registry', '')), 'ERROR 22023' ],
    [ 'none that is too long', 'north', q(SELECT snowid.join('registry', repeat('n', 256))), 'ERROR 22023' ],
    [ 'no such server', 'north', q(SELECT snowid.join('nowhere')), 'ERROR 42704' ],
    [ 'null for none', 'north', 'SELECT snowid.join(NULL)', '' ],
    (map { [ "not joined: $_", 'north', "SELECT snowid.$_()", 'ERROR 55000' ] } qw(check_node take_over_node accept_registry leave)),
    map { [ "read-only: $_", 'east', "BEGIN READ ONLY; SELECT snowid.$_", 'ERROR 25006' ] } q(join('registry')),
    'check_node()', 'take_over_node()', 'accept_registry()', 'leave()')
{
    my ($name, $member, $sql, $answer) = @$case;
    is(at($member, $sql), $answer, $name);
}
like(message_of($node, q(DO 'BEGIN PERFORM snowid.join(''registry'', repeat(''n'', 256)); END'), 'north'),
    qr/CONTEXT:.*PL\/pgSQL function/s, 'an error says where it was called');
is(on_registry('SELECT count(*) FROM snowid_internal.nodes'), '2', 'nobody got more by all that');
is(join_as($node, 'the west', 'north'), '3', 'a name is a label, which others may have');

my $seen = 'SELECT last_seen, token, exchange FROM snowid_internal.nodes WHERE node_number = 1';
my $before = on_registry($seen);
is(check_node($node, 'east'), '1', 'a check gives the number');
isnt(on_registry($seen), $before, 'and is noted');
is(at('east', 'BEGIN; SELECT snowid.check_node(); ROLLBACK'), '1', 'a check that is rolled back') for 1, 2;
is(at('east', 'SELECT snowid.check_node() FROM generate_series(1, 3)'), "1\n1\n1", 'several in one transaction');
is(check_node($node, 'east'), '1', 'after which the next is right');

# Whatever is rolled back: the number is the node's. Its dumps know it from the next check on.
my $rows = 'SELECT count(*) FROM snowid_internal.membership';
is(at('south', q(BEGIN; SELECT snowid.join('registry'), snowid_shard(snowid_next()); ROLLBACK)), '4|4', 'joined and drawn from');
is(number_of($node, 'south'), '4|4', 'rolled back: joined all the same');
is(at('south', "$rows; SELECT snowid.check_node(), ($rows); $rows"), "0\n4|0\n1", 'its dumps know it once it has checked');
is(at('south', q(SELECT snowid.join('registry'))), '4', 'joined again: the number of before');
is(at('south', 'SELECT node_number FROM snowid_internal.membership'), '4', 'and its dumps have it');
my $preparing = open_session($node, dbname => 'south');
is(ask($preparing, 'BEGIN; SELECT snowid.check_node()'), '4', 'asked in a transaction');
is(ask($preparing, q(PREPARE TRANSACTION 'checked')), 'ERROR 0A000', 'which cannot be prepared');
close_session($preparing, $drawing);

is(on_registry("TRUNCATE snowid_internal.$_"), 'ERROR 0A000', "TRUNCATE of $_") foreach qw(nodes registry_identities membership);

# All given: it says what to do, and who has a number keeps it.
$node->safe_psql('postgres', <<'SQL');
INSERT INTO snowid_internal.nodes SELECT g, gen_random_uuid(), 'taken', 'd', 0, 0, 0, 1, 1, 1, 0, now(), 'x', NULL, now() FROM generate_series(5, 8190) AS g
SQL
is(at('last', q(SELECT snowid.join('registry'); SELECT snowid_shard(snowid_next()))), "8191\n8191", 'the last one is a shard of the layout');
$node->safe_psql('postgres', 'SELECT snowid.retire_node(8190)');
is(join_as($node, 'late', 'late'), 'ERROR 53400', 'all given, of which one is retired: refused');
like(message_of($node, q(SELECT snowid.join('registry')), 'late'), qr/all numbers of the registry are assigned\nDETAIL:.*\nHINT:.*second registry/,
    'and what to do');
is(check_node($node, 'east'), '1', 'who has one keeps it');
end_test($node);
