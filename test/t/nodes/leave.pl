# Leaving stops the node, at once and for good, and nobody waits for those who are drawing. The number of a node that is
# gone is retired on the registry; should it live after all, it finds at its next check that it has lost the number.
#
# Runs in make test-all: it starts and crashes servers often.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use SnowidNodes;
use Test::More;

my $registry = new_server('registry', allows_streaming => 1);
start_server($registry);
$registry->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE ROLE keeper LOGIN');
my $node = new_server('node');
# Its system knows no name of the host, until it is started again.
my $dir = PostgreSQL::Test::Utils::tempdir();
append_to_file("$dir/nameless.c", <<'C');
#include <errno.h>
#include <stddef.h>
int gethostname(char *name, size_t length) { errno = EPERM; return -1; }
C
system_or_bail('gcc', '-shared', '-fPIC', '-o', "$dir/nameless.so", "$dir/nameless.c");
{
    local $ENV{LD_PRELOAD} = "$dir/nameless.so";
    start_server($node);
}
foreach my $member ('east', 'west', 'south')
{
    $node->safe_psql('postgres', "CREATE DATABASE $member");
    add_source($node, $registry, name => 'registry', dbname => $member);
}
sub at { my ($member, $sql) = @_; return attempt($node, $sql, dbname => $member) }
sub join_as { my ($member) = @_; return at($member, "SELECT snowid.join('registry', '$member')") }
sub on_registry { my ($sql) = @_; return attempt($registry, $sql) }
sub message_of { my ($member, $sql) = @_; return ($node->psql($member, $sql))[2] }
sub new_session { my ($member) = @_; my $session = open_session($node, dbname => $member); backend_of($session); return $session }

is(at('east', q(SELECT snowid.join('registry'))), 'ERROR 58000', 'nothing to be named by');
like(message_of('east', q(SELECT snowid.join('registry'))), qr/HINT:  Name the node/, 'and what to do');
crash($node, 'kill');
start_server($node);

# Nobody waits, whoever is drawing, holds a batch, or has joined just now.
is(join_as($_->[0]), $_->[1], "$_->[0] has joined") foreach [ 'east', 1 ], [ 'west', 2 ];
my ($drawing, $batch, $idle) = map { new_session('east') } 1 .. 3;
ask($idle, q(BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1));
ask($drawing, 'BEGIN');
is(ask($drawing, 'SELECT snowid_shard(snowid_next())'), '1', 'drawing');
ask($batch, 'BEGIN; DECLARE own CURSOR FOR SELECT snowid_next_batch(snowid_default_shard(), 100000)');
like(ask($batch, 'FETCH own'), qr/^\d+$/, 'in the middle of a batch');
is(at('east', q(SET lock_timeout = '10s'; SELECT snowid.leave())), '', 'left, and waited for nobody');
is(message_of('west', 'SELECT snowid.leave()'), '', 'nothing is said');
is(on_registry('SELECT count(*) FROM snowid.registry WHERE retired IS NULL'), '0', 'both numbers are retired');
is(ask($drawing, 'SELECT snowid_next()'), 'ERROR 55000', 'who was drawing draws no more');
is(ask($batch, 'MOVE 3000 FROM own'), 'ERROR 55000', 'the batch ends');
ask($_, 'ROLLBACK') foreach $drawing, $batch, $idle;
close_session($drawing, $batch, $idle);
foreach my $member ('east', 'west')
{
    is(at($member, $_), 'ERROR 55000', "$member has left: $_")
      foreach 'SELECT snowid_next()', 'SELECT snowid.check_node()', 'SELECT snowid.take_over_node()', 'SELECT snowid.accept_registry()';
    like(message_of($member, 'SELECT snowid_next()'), qr/node "$member" has left the registry\nHINT:.*snowid\.join\(\).*snowid\.shard/, "$member: and is told what to do");
    is(at($member, 'SELECT snowid_shard(snowid_next(7))'), '7', "$member: draws from shards that are named");
    is(at($member, 'SET snowid.shard = 0; SELECT snowid_shard(snowid_next())'), '0', "$member: or that a setting names");
    is(at($member, 'SELECT snowid.leave()'), '', "$member leaves once more");
}
is(join_as('west'), 3, 'west has joined again, with a number that was never given');

# Durable before it is heard of.
my $held = hold_commits($registry);
my $leaving = new_session('west');
start_asking($leaving, 'SELECT snowid.leave()');
wait_for_waiting($registry, 1, 'SyncRep', 'register');
ok(!is_answered($leaving), 'who leaves waits for the registry\'s synchronous standby');
is(at('west', 'SELECT snowid_next()'), 'ERROR 55000', 'and has stopped already');
crash($node, 'kill');
close_session($leaving);
release_commits($registry, $held);
start_server($node);
is(at('west', 'SELECT snowid_next()'), 'ERROR 55000', 'also after a crash');
is(message_of('west', 'SELECT snowid.leave()'), '', 'which it says once more');
isnt(on_registry('SELECT retired FROM snowid.registry WHERE node_number = 3'), '', 'the number is retired');

# On the registry, for who is gone. Whoever may needs no right to the table.
is(join_as('west'), 4, 'west has joined anew');
is(on_registry("SET ROLE keeper; $_"), 'ERROR 42501', "not for everybody: $_") foreach 'SELECT snowid.retire_node(4)', 'SELECT snowid.recover_registry(8000)';
$registry->safe_psql('postgres', 'GRANT EXECUTE ON FUNCTION snowid.retire_node(bigint) TO keeper');
is(on_registry('BEGIN READ ONLY; SELECT snowid.retire_node(4)'), 'ERROR 25006', 'read-only');
is(on_registry('SELECT snowid.retire_node(NULL)'), '', 'null for none');
is(on_registry('SELECT snowid.retire_node(99)'), 'ERROR 42704', 'a number that nobody has');
# Whoever keeps his row locked is not safe from it.
foreach my $lock ('UPDATE snowid_internal.nodes SET last_seen = last_seen', 'DO $$ BEGIN PERFORM 1/0; EXCEPTION WHEN division_by_zero THEN PERFORM FROM snowid_internal.nodes FOR UPDATE; END $$')
{
    my $holder = open_session($registry);
    ask($holder, 'BEGIN');
    ask($holder, $lock);
    my $message = ($registry->psql('postgres', q(ALTER FUNCTION snowid.retire_node(bigint) SET lock_timeout = '10ms'; SELECT snowid.retire_node(4))))[2];
    my ($end) = $message =~ /number 4 is locked by a transaction that does not end\nHINT:.*: (SELECT .*)\.$/m;
    is(on_registry($end // 'nothing'), 't', 'locked: whom to end');
    wait_for(sub { on_registry('SELECT count(*) FROM pg_locks AS l, snowid_internal.nodes AS n WHERE l.transactionid = n.xmax') eq '0' }, 'the end of it');
    close_session($holder);
}
like(($registry->psql('postgres', 'SELECT snowid.retire_node(99)'))[2], qr/number 99 was not given to a node\nHINT:.*snowid\.registry/, 'says so');
my $session = new_session('west');
is(ask($session, 'SELECT snowid_shard(snowid_next())'), '4', 'west draws');
is(on_registry('SET ROLE keeper; SELECT snowid.retire_node(4)'), '', 'west is retired');
crash($registry, 'kill');
start_server($registry);
my $retired = on_registry('SELECT retired FROM snowid.registry WHERE node_number = 4');
like($retired, qr/^2/, 'also after a crash');
is(on_registry('SELECT snowid.retire_node(4)'), '', 'once more');
is(on_registry('SELECT retired FROM snowid.registry WHERE node_number = 4'), $retired, 'it was so before');
is(ask($session, 'SELECT snowid_shard(snowid_next())'), '4', 'west lives, and draws until it asks');
close_session($session);
is(at('west', 'SELECT snowid.check_node()'), 'ERROR 55000', 'it learns at the next check');
crash($node, 'kill');
start_server($node);
is(at('west', $_), 'ERROR 55000', "and has stopped: $_") foreach 'SELECT snowid_next()', 'SELECT snowid.check_node()', 'SELECT snowid.take_over_node()';
like(message_of('west', 'SELECT snowid_next()'), qr/registry has retired number 4 of node "west"\nHINT:.*snowid\.join\(\)/, 'and is told what to do');
set_clock(86400 * 400);
is(join_as('south'), 5, 'a year later: nobody gets a number that was given');

# A server that must join draws from no number that is not its own.
$node->safe_psql('postgres', 'CREATE EXTENSION IF NOT EXISTS snowid');
my $must = 'SET snowid.require_node_number = on; ';
is(at('postgres', "${must}SELECT snowid_next()"), 'ERROR 55000', 'it has to join');
like(at('postgres', "${must}SELECT problem FROM snowid.node_status"), qr/no number of its own/, 'and says so');
is(at('postgres', "${must}SELECT snowid_shard(snowid_next(77)), snowid_uuidv7() IS NOT NULL"), '77|t', 'it draws from shards that are named');
is(at('postgres', "SELECT snowid_next() > 0; ${must}SELECT snowid_next()"), 'ERROR 55000', 'also a session that has drawn');
is(at('postgres', "${must}SET snowid.shard = 7; SELECT snowid_shard(snowid_next())"), '7', 'or that a setting names');
is(at('south', "${must}SELECT snowid_shard(snowid_next())"), '5', 'who has joined draws');
is(at('postgres', "SELECT snowid_next(77); SET ROLE pg_monitor; ${must}"), 'ERROR 42501', 'superusers alone say so');

# Who monitors sees all but claims.
is(at('south', 'SET ROLE pg_monitor; SELECT node_number, node_name, registry, checked <= now() FROM snowid.node_status'), '5|south|registry|t', 'a node, as monitors see it');
is(on_registry('SET ROLE pg_monitor; SELECT node_name, database, claimed <= last_seen, retired FROM snowid.registry WHERE node_number = 5'), 'south|south|t|', 'and at the registry');
is(on_registry("SET ROLE pg_monitor; TABLE snowid_internal.$_"), 'ERROR 42501', "but not $_") foreach 'membership', 'nodes';
is($registry->safe_psql('postgres', q(SELECT string_agg(attname, ' ') FROM pg_attribute WHERE attrelid = 'snowid.registry'::regclass AND attname ~ 'claim$|token')), '', 'no claim is in the view');

# The foreign server is gone.
foreach my $sql ('SELECT snowid.check_node()', 'SELECT snowid.take_over_node()', 'SELECT snowid.accept_registry()')
{
    $node->safe_psql('south', 'ALTER SERVER registry RENAME TO central');
    is(at('south', $sql), 'ERROR 42704', "no server: $sql");
    like(message_of('south', $sql), qr/server "registry" does not exist\nHINT:.*rename it back: .*as node "south"/, "no server: $sql: what to do");
    $node->safe_psql('south', 'ALTER SERVER central RENAME TO registry');
    is(at('south', 'SELECT snowid.check_node()'), '5', 'renamed back: as before');
}
check_log($_) foreach $node, $registry;
$node->safe_psql('south', 'ALTER SERVER registry RENAME TO central');
like(message_of('south', 'SELECT snowid.leave()'), qr/WARNING:  registry was not told that node "south" has left\nDETAIL:  server "registry" does not exist/, 'left without its server: a warning');
is(at('south', 'SELECT snowid_next()'), 'ERROR 55000', 'and it has stopped');
$_->stop foreach $node, $registry;
done_testing();
