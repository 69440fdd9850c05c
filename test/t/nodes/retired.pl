# A number whose node is gone is retired on the registry. Should the node live after all, it finds at its next check that it
# has lost the number, and stops for good.
# Runs in make test-all: it starts and crashes servers often.

use Snowid;
use SnowidNodes;

my $registry = ready_server('registry', sql => 'CREATE ROLE keeper LOGIN');
my $node = ready_server('node', allows_streaming => 1);
add_source($node, $registry, name => 'registry');
sub on_registry { my ($sql) = @_; return attempt($registry, $sql) }
is(join_as($node, 'west'), 1, 'joined');

# Whoever may retire needs no right to the table.
is(on_registry("SET ROLE keeper; $_"), 'ERROR 42501', "not for everybody: $_") foreach 'SELECT snowid.retire_node(1)', 'SELECT snowid.recover_registry(8000)';
$registry->safe_psql('postgres', 'GRANT EXECUTE ON FUNCTION snowid.retire_node(bigint) TO keeper');
is(on_registry("SELECT snowid.retire_node($_->[0])"), $_->[1], "number $_->[0]") foreach [ 'NULL', '' ], [ 99, 'ERROR 42704' ];
is(on_registry('BEGIN READ ONLY; SELECT snowid.retire_node(1)'), 'ERROR 25006', 'read-only');
like(message_of($registry, 'SELECT snowid.retire_node(99)'), qr/number 99 is not assigned to a node\nHINT:.*snowid\.registry/, 'a number that nobody has');

# Whoever keeps his row locked is not safe from it.
foreach my $lock ('UPDATE snowid_internal.nodes SET last_seen = last_seen', 'DO $$ BEGIN PERFORM 1/0; EXCEPTION WHEN division_by_zero THEN PERFORM FROM snowid_internal.nodes FOR UPDATE; END $$')
{
    my $holder = open_session($registry);
    ask($holder, "BEGIN; $lock");
    my $message = message_of($registry, q(ALTER FUNCTION snowid.retire_node(bigint) SET lock_timeout = '10ms'; SELECT snowid.retire_node(1)));
    my ($end) = $message =~ /number 1 is locked by another transaction\nHINT:.*: (SELECT .*)\.$/m;
    is(on_registry($end // 'nothing'), 't', 'locked: whom to end');
    wait_for(sub { on_registry('SELECT count(*) FROM pg_locks AS l, snowid_internal.nodes AS n WHERE l.transactionid = n.xmax') eq '0' }, 'the end of it');
    close_session($holder);
}

my $session = open_session($node);
is(ask($session, 'SELECT snowid_shard(snowid_next())'), '1', 'the node draws');
is(on_registry('SET ROLE keeper; SELECT snowid.retire_node(1)'), '', 'it is retired');
crash_and_start($registry, 'kill');
my $retired = on_registry('SELECT retired FROM snowid.registry');
like($retired, qr/^2/, 'also after a crash');
is(on_registry('SELECT snowid.retire_node(1); SELECT retired FROM snowid.registry'), "\n$retired", 'once more: it was so before');
is(ask($session, 'SELECT snowid_shard(snowid_next())'), '1', 'the node lives, and draws until it asks');
ask($session, 'PREPARE draw AS SELECT snowid_next(); BEGIN; EXECUTE draw');
is(check_node($node), 'ERROR 55000', 'it learns at the next check');
is(ask($session, 'EXECUTE draw'), 'ERROR 55000', 'so does a transaction that has drawn before');
close_session($session);
is(attempt($node, 'SELECT snowid_next()'), 'ERROR 55000', 'and a new session');
crash_and_start($node, 'kill');
is(attempt($node, "SELECT $_"), 'ERROR 55000', "and has stopped: $_") foreach 'snowid_next()', 'snowid.check_node()', 'snowid.take_over_node()';
like(message_of($node, 'SELECT snowid_next()'), qr/registry has retired number 1 of node "west"\nHINT:.*snowid\.join\(\)/, 'and is told what to do');
is(join_as($node, 'west'), 2, 'it joins anew');

is(attempt($node, 'SET ROLE pg_monitor; SELECT node_number, node_name, registry, checked <= now() FROM snowid.node_status'), '2|west|registry|t', 'monitors see a node');
is(on_registry('SET ROLE pg_monitor; SELECT node_name, claimed <= last_seen, retired FROM snowid.registry WHERE node_number = 2'), 'west|t|', 'and the registry');
is(on_registry("SET ROLE pg_monitor; TABLE snowid_internal.$_"), 'ERROR 42501', "but not $_") foreach 'membership', 'nodes';
is(on_registry(q(SELECT string_agg(attname, ' ') FROM pg_attribute WHERE attrelid = 'snowid.registry'::regclass AND attname ~ 'claim$|token')), '', 'no claim is in the view');
# A copy that was found stays stopped for named shards, too, whatever has become of the number.
my $copy = start_in_time(new_copy($node));
is(check_node($node) . check_node($copy), '2ERROR 55000', 'a copy is found');
is(on_registry('SELECT snowid.retire_node(2)'), '', 'its number is retired');
like(message_of($copy, 'SELECT snowid.take_over_node()'),
    qr/has not assigned number 2 of node "west" to this server\nDETAIL:  It has retired the number\.\nHINT:  To get another number, use snowid\.join\(\)/, 'which it cannot take over');
is(attempt($copy, 'SELECT snowid_next(7)'), 'ERROR 55000', 'and it is stopped still');
$copy->stop;
end_test($node, $registry);
