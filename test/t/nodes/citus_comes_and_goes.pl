# Citus can be installed, dropped and installed again while sessions run that have long known their shard, and a transaction
# that does so may be rolled back. Each session goes by what is there. A table that is only called as Citus' is not taken for
# it; and who has no right to anything has a number, and can ask for it.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('citus', sql => 'CREATE ROLE app LOGIN');
my ($session, $other) = map { open_session($node) } 1 .. 2;
ask($other, 'PREPARE draw AS SELECT snowid_shard(snowid_next())');
ask($_, 'SET client_min_messages = error') foreach $session, $other;
my $drawn = 'SELECT snowid_shard(snowid_next())';
my $group = 'UPDATE pg_dist_local_group SET groupid';
my $drop = 'DROP EXTENSION citus CASCADE';

# What is asked for in one session, and what both go by then; the second one has its plan ready.
sub check
{
    my ($name, $numbers, $sql) = @_;
    ask($session, $sql) if $sql;
    return is(ask($session, $drawn) . ' ' . ask($other, 'EXECUTE draw'), $numbers, $name);
}

sub shown { return ask($session, q(SELECT concat_ws('|', coalesce(node_number::text, 'null'), source, problem) FROM snowid.node_status)) }

check('no Citus', '0 0');
is(shown(), '0|none', 'which is shown');
foreach my $time (1 .. 2)
{
    check("time $time: who installs it sees it, others do not", '5 0', 'BEGIN; ' . citus_sql() . "$group = 5");
    check("time $time: taken back", '0 0', 'ROLLBACK');
    check("time $time: in a part of a transaction", '5 0', 'BEGIN; SELECT snowid_next(); SAVEPOINT s; ' . citus_sql() . "$group = 5");
    check("time $time: which is rolled back", '0 0', 'ROLLBACK TO s');
    check("time $time: installed", '6 6', citus_sql() . "$group = 6; COMMIT");
    is(ask($session, "BEGIN; $drop; $drawn"), '0', "time $time: who drops it has done so");
    check("time $time: taken back", '6 6', 'ROLLBACK');
    is(ask($session, "BEGIN; $drop; " . citus_sql() . "$group = 7; $drawn"), '7', "time $time: dropped and installed at once");
    check("time $time: by all", '7 7', 'COMMIT');
    ask($other, $drop);
    check("time $time: dropped", '0 0');
}
is(attempt($node, citus_sql() . "$group = 8; $drawn; $drop; $drawn"), "8\n0", 'installed and dropped by a session that has not looked before');

# Whether it is Citus' is seen by what it belongs to, not by its name.
check('a table of this name elsewhere', '0 0', 'CREATE TABLE pg_dist_local_group (groupid int); INSERT INTO pg_dist_local_group VALUES (9)');
check('one in pg_catalog that belongs to nobody', '0 0', 'CREATE TABLE pg_dist_node (nodeid int); ALTER TABLE pg_dist_local_group SET SCHEMA pg_catalog');
is(shown(), '0|none', 'which is shown as if there were none');
check('one of another extension', '0 0', <<'SQL');
INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
  VALUES (pg_nextoid('pg_extension', 'oid', 'pg_extension_oid_index'), 'mine', 10, 11, false, '1');
ALTER EXTENSION mine ADD TABLE pg_catalog.pg_dist_local_group
SQL
check('one that becomes Citus\', of which nobody is told', '9 9', q(UPDATE pg_extension SET extname = 'citus' WHERE extname = 'mine'));
check('dropped', '0 0', $drop);

# Rights.
ask($session, citus_sql() . 'REVOKE ALL ON pg_catalog.pg_dist_local_group, pg_catalog.pg_dist_node FROM PUBLIC');
citus_set_group($node, 3);
my $app = open_session($node, user => 'app');
my $both = 'SELECT node_number, snowid_default_shard() FROM snowid.node_status';
is(ask($app, $_), '3|3', "for everybody: $_") foreach $both, "SET default_transaction_read_only = on; $both", "BEGIN ISOLATION LEVEL SERIALIZABLE; $both; COMMIT";
end_test($node);
