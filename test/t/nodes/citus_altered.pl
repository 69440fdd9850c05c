# A table of Citus' that does not say what it should, and a group that a layout cannot hold, are errors that say so; never is it
# another node's number. Who names a shard is served.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('citus');
create_citus($node);
citus_set_group($node, 4);
my $session = open_session($node);
my $shown = q(SELECT concat_ws('|', coalesce(node_number::text, 'null'), source, problem) FROM snowid.node_status);
my $drop_key = 'ALTER TABLE pg_dist_local_group DROP CONSTRAINT pg_dist_local_group_pkey; ALTER TABLE pg_dist_local_group ALTER groupid DROP NOT NULL;';
my $is_altered = 'table "pg_catalog.pg_dist_local_group" is not as created by Citus';
foreach my $case (
    [ 'DELETE FROM pg_dist_local_group', 'this node has no group in Citus' ],
    [ 'INSERT INTO pg_dist_local_group VALUES (5)', $is_altered ],
    [ 'UPDATE pg_dist_local_group SET groupid = -1', $is_altered ],
    [ "$drop_key UPDATE pg_dist_local_group SET groupid = NULL", $is_altered ],
    [ 'DROP TRIGGER invalidate ON pg_dist_local_group; ALTER TABLE pg_dist_local_group ALTER groupid TYPE bigint', $is_altered ],
    [ 'ALTER TABLE pg_dist_local_group RENAME groupid TO group_id', $is_altered ],
    [ 'ALTER TABLE pg_dist_local_group ADD id int; ALTER TABLE pg_dist_local_group DROP groupid', $is_altered ],
    [ 'ALTER EXTENSION citus DROP TABLE pg_dist_local_group; DROP TABLE pg_dist_local_group;'
          . ' CREATE VIEW public.pg_dist_local_group AS SELECT 3 AS groupid; ALTER VIEW public.pg_dist_local_group SET SCHEMA pg_catalog;'
          . ' ALTER EXTENSION citus ADD VIEW pg_dist_local_group', $is_altered ])
{
    my ($damage, $message) = @$case;
    ask($session, "BEGIN; $damage");
    foreach my $sql ('SELECT snowid_default_shard()', 'SELECT snowid_next()', q(SELECT snowid_next(snowid_default_shard(), 'twitter')))
    {
        ask($session, "SAVEPOINT s; $sql");
        like($session->{err}, qr/\AERROR:  55000: \Q$message\E\nDETAIL:  .*[.]\nHINT:  .*[.]\n/, "$damage: $sql");
        ask($session, 'ROLLBACK TO s');
    }
    is(ask($session, $shown), "null|citus|$message", 'the view says so');
    is(ask($session, 'SELECT snowid_shard(snowid_next(7))'), '7', 'who names a shard is served');
    ask($session, 'ROLLBACK');
}
is(ask($session, 'ALTER TABLE pg_dist_local_group ADD name text DEFAULT version(); SELECT snowid_shard(snowid_next())'), '4', 'a column more does no harm');

foreach my $case ([ 8191, 'instagram' ], [ 1023, 'twitter' ])
{
    my ($greatest, $layout) = @$case;
    my $draw = "snowid_next(snowid_default_shard(), '$layout')";
    citus_set_group($node, $greatest);
    is(ask($session, "SELECT snowid_shard($draw, '$layout')"), $greatest, "$layout: the greatest group");
    citus_set_group($node, $greatest + 1);
    ask($session, "SELECT $draw");
    like($session->{err}, qr/ 22023: shard @{[ $greatest + 1 ]} is out of range for ID layout "$layout"\nDETAIL:  .* 0 to $greatest\./, "$layout: one more");
}
citus_set_group($node, 8192);
is(ask($session, $shown), '8192|citus|shard 8192 is out of range for ID layout "instagram"', 'shown');
is(ask($session, q(SELECT snowid_shard(snowid_next(snowid_default_shard(), 'sonyflake'), 'sonyflake'))), '8192', 'a layout that can hold it');
citus_set_group($node, 2147483647);
is(ask($session, 'SELECT snowid_default_shard()'), '2147483647', 'the greatest that there can be');
is(ask($session, 'SELECT snowid_next()'), 'ERROR 22023', 'out of range');
end_test($node);
