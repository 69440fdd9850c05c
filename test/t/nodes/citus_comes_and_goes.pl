# Citus can be installed, dropped and installed again while sessions run that have long known their shard, and
# a transaction that does so may be rolled back. Each session goes by what is there. A table that is only
# called as Citus' is not taken for it; one of Citus' that does not say what it should is refused.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('citus');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE ROLE app LOGIN');
my ($session, $other) = map { open_session($node) } 1 .. 2;
ask($other, 'PREPARE draw AS SELECT snowid_shard(snowid_next())');

# What both sessions go by; the second one has its plan ready.
sub numbers { return ask($session, 'SELECT snowid_shard(snowid_next())') . ' ' . ask($other, 'EXECUTE draw') }

sub shown { return ask($session, q(SELECT concat_ws('|', coalesce(node_number::text, 'null'), source, problem) FROM snowid.node_status)) }

my $group = 'UPDATE pg_dist_local_group SET groupid';
my $drop = 'DROP EXTENSION citus CASCADE';
ask($_, 'SET client_min_messages = error') foreach $session, $other;

# 1. It comes and goes.
is(numbers(), '0 0', 'no Citus');
is(shown(), '0|none', 'which is shown');
foreach my $time (1 .. 2)
{
    ask($session, 'BEGIN; ' . citus_sql() . "$group = 5");
    is(numbers(), '5 0', "time $time: who installs it sees it, others do not");
    ask($session, 'ROLLBACK');
    is(numbers(), '0 0', "time $time: taken back");
    ask($session, 'BEGIN; SELECT snowid_next(); SAVEPOINT s; ' . citus_sql() . "$group = 5");
    is(numbers(), '5 0', "time $time: in a part of a transaction");
    ask($session, 'ROLLBACK TO s');
    is(numbers(), '0 0', "time $time: which is rolled back");
    ask($session, citus_sql() . "$group = 6; COMMIT");
    is(numbers(), '6 6', "time $time: installed");
    ask($session, "BEGIN; $drop");
    is(ask($session, 'SELECT snowid_shard(snowid_next())'), '0', "time $time: who drops it has done so");
    ask($session, 'ROLLBACK');
    is(numbers(), '6 6', "time $time: taken back");
    ask($session, "BEGIN; $drop; " . citus_sql() . "$group = 7");
    is(ask($session, 'SELECT snowid_shard(snowid_next())'), '7', "time $time: dropped and installed at once");
    ask($session, 'COMMIT');
    is(numbers(), '7 7', "time $time: by all");
    ask($other, $drop);
    is(numbers(), '0 0', "time $time: dropped");
}
is(attempt($node, 'BEGIN; ' . citus_sql() . "$group = 8; SELECT snowid_shard(snowid_next())"), '8',
    'installed by a session that has not looked before');
is(attempt($node, citus_sql() . "$group = 8; SELECT snowid_shard(snowid_next()); $drop; SELECT snowid_shard(snowid_next())"),
    "8\n0", 'installed and dropped within one');

# 2. Where it is not Citus'. Whether it is one's own is seen by what it belongs to, not by its name.
ask($session, 'CREATE TABLE pg_dist_local_group (groupid int); INSERT INTO pg_dist_local_group VALUES (9)');
is(numbers(), '0 0', 'a table of this name elsewhere');
ask($session, 'CREATE TABLE pg_dist_node (nodeid int); ALTER TABLE pg_dist_local_group SET SCHEMA pg_catalog');
is(numbers(), '0 0', 'one in pg_catalog that belongs to nobody');
is(shown(), '0|none', 'which is shown as if there were none');
$node->safe_psql('postgres', <<'SQL');
INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
  VALUES (pg_nextoid('pg_extension', 'oid', 'pg_extension_oid_index'), 'mine', 10, 11, false, '1');
ALTER EXTENSION mine ADD TABLE pg_catalog.pg_dist_local_group
SQL
is(numbers(), '0 0', 'one of another extension');
$node->safe_psql('postgres', q(UPDATE pg_extension SET extname = 'citus' WHERE extname = 'mine'));
is(numbers(), '9 9', 'one that becomes Citus\', of which nobody is told');
ask($session, $drop);
is(numbers(), '0 0', 'dropped');

# 3. What belongs to Citus and does not say what it should.
sub is_refused
{
    my ($name, $damage, $message) = @_;
    my $session = open_session($node);
    ask($session, "BEGIN; $damage");
    foreach my $sql ('SELECT snowid_default_shard()', 'SELECT snowid_next()', q(SELECT snowid_next(snowid_default_shard(), 'twitter')))
    {
        is(ask($session, "SAVEPOINT s; $sql"), 'ERROR 55000', "$name: refused: $sql");
        like($session->{err}, qr/\AERROR:  55000: \Q$message\E\nDETAIL:  .*[.]\nHINT:  .*[.]\n/, "$name: with the reason: $sql");
        ask($session, 'ROLLBACK TO s');
    }
    is(ask($session, q(SELECT concat_ws('|', coalesce(node_number::text, 'null'), source, problem) FROM snowid.node_status)), "null|citus|$message",
        "$name: the view says so");
    is(ask($session, 'SELECT snowid_shard(snowid_next(7))'), '7', "$name: who names a shard is served");
    ask($session, 'ROLLBACK');
    close_session($session);
    return;
}
ask($session, citus_sql());
ask($session, "$group = 4");
my $altered = 'table "pg_catalog.pg_dist_local_group" is not as Citus makes it';
is_refused('no row', 'DELETE FROM pg_dist_local_group', 'this node has no group in Citus');
is_refused('two rows', 'INSERT INTO pg_dist_local_group VALUES (5)', $altered);
is_refused('a negative group', "$group = -1", $altered);
is_refused('no group', "ALTER TABLE pg_dist_local_group DROP CONSTRAINT pg_dist_local_group_pkey;"
      . " ALTER TABLE pg_dist_local_group ALTER groupid DROP NOT NULL; $group = NULL", $altered);
is_refused('another type', 'DROP TRIGGER invalidate ON pg_dist_local_group;'
      . ' ALTER TABLE pg_dist_local_group ALTER groupid TYPE bigint', $altered);
is_refused('another column', 'ALTER TABLE pg_dist_local_group RENAME groupid TO group_id', $altered);
is_refused('no column', 'ALTER TABLE pg_dist_local_group ADD id int; ALTER TABLE pg_dist_local_group DROP groupid', $altered);
is_refused('a view', <<'SQL', $altered);
ALTER EXTENSION citus DROP TABLE pg_dist_local_group; DROP TABLE pg_dist_local_group;
CREATE VIEW public.pg_dist_local_group AS SELECT 3 AS groupid; ALTER VIEW public.pg_dist_local_group SET SCHEMA pg_catalog;
ALTER EXTENSION citus ADD VIEW pg_dist_local_group
SQL
is(numbers(), '4 4', 'put right');
ask($session, 'ALTER TABLE pg_dist_local_group ADD name text DEFAULT version()');
is(numbers(), '4 4', 'a column more does no harm');
ask($session, 'BEGIN; ALTER TABLE pg_dist_node RENAME TO nodes');
ask($session, "$group = 0; SET LOCAL application_name = 'citus_internal gpid=1'");
is(ask($session, 'SELECT snowid_next()'), 'ERROR 55000', 'without the list of nodes nothing tells the coordinator from others');
ask($session, 'ROLLBACK');

# 4. A group that a layout cannot hold is an error that names both, and never another node's number.
foreach my $case ([ 8191, 'instagram', 'snowid_next()' ], [ 1023, 'twitter', q(snowid_next(snowid_default_shard(), 'twitter')) ])
{
    my ($greatest, $layout, $draw) = @$case;
    citus_set_group($node, $greatest);
    is(ask($session, "SELECT snowid_shard($draw, '$layout')"), $greatest, "$layout: the greatest group");
    citus_set_group($node, $greatest + 1);
    is(ask($session, "SELECT $draw"), 'ERROR 22023', "$layout: one more");
    my $above = $greatest + 1;
    like($session->{err}, qr/shard $above is out of range for ID layout "$layout"\nDETAIL:  .* 0 to $greatest\./, 'with both');
}
citus_set_group($node, 8192);
is(shown(), '8192|citus|shard 8192 is out of range for ID layout "instagram"', 'shown');
is(ask($session, q(SELECT snowid_shard(snowid_next(snowid_default_shard(), 'sonyflake'), 'sonyflake'))), '8192', 'a layout that can hold it');
citus_set_group($node, 2147483647);
is(ask($session, 'SELECT snowid_default_shard()'), '2147483647', 'the greatest that there can be');
is(ask($session, 'SELECT snowid_next()'), 'ERROR 22023', 'out of range');

# 5. Who has no right to anything has a number, and can ask for it.
citus_set_group($node, 3);
$node->safe_psql('postgres', 'REVOKE ALL ON pg_catalog.pg_dist_local_group, pg_catalog.pg_dist_node FROM PUBLIC');
my $app = open_session($node, user => 'app');
is(ask($app, 'SELECT node_number, source, node_name, registry, problem FROM snowid.node_status'), '3|citus|||', 'the view is for everybody');
is(ask($app, 'SET default_transaction_read_only = on; SELECT node_number, snowid_default_shard() FROM snowid.node_status'), '3|3', 'also to read only');
is(ask($app, 'BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT node_number, snowid_default_shard() FROM snowid.node_status; COMMIT'), '3|3', 'or serializable');

# 6. A worker whose metadata were taken away looks like a Citus without a cluster, and draws from 0 for clients of its own.
# snowid.require_node_number has it refuse; not so the coordinator, and a node that has its group.
reload_with($node, 'snowid.require_node_number', 'on', $session, $other);
is(numbers(), '3 3', 'require_node_number: a worker');
my $nodes = 'INSERT INTO pg_dist_node VALUES (0, 0, 0, 0)';
ask($session, "BEGIN; DELETE FROM pg_dist_node; $group = 0; COMMIT");
is(numbers(), 'ERROR 55000 ERROR 55000', 'require_node_number: one without its metadata');
like($session->{err}, qr/ERROR:  55000: Citus has not synchronized its metadata to this node\nDETAIL:.*\nHINT:  Call start_metadata_sync_to_node\(\)/,
    'require_node_number: which says what to do');
is(shown(), 'null|citus|Citus has not synchronized its metadata to this node', 'require_node_number: shown');
is(ask($session, 'SELECT snowid_shard(snowid_next(7))'), '7', 'require_node_number: who names a shard is served');
ask($session, $nodes);
is(numbers(), '0 0', 'require_node_number: the coordinator');
ask($session, 'DELETE FROM pg_dist_node');
is(ask($session, $drop) . numbers(), 'ERROR 55000 ERROR 55000', 'require_node_number: without Citus');
like($session->{err}, qr/this server has no number of its own\n.*\nHINT:  Use snowid[.]join/, 'require_node_number: it may join');
reload_with($node, 'snowid.require_node_number', 'off', $session, $other);
is(numbers(), '0 0', 'and draws from 0 as ever without the setting');

close_session($session, $other, $app);
check_log($node);
$node->stop;
done_testing();
