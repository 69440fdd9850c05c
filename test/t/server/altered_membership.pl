# The table with a node's number may be altered: no column of it is read, so what the node does goes on. What is no member of the
# extension is no such table.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('altered_membership', sql => 'CREATE DATABASE app');
add_source($node, $node, name => 'registry', dbname => 'app');
my $admin = open_session($node, dbname => 'app');
is(ask($admin, q(SELECT snowid.join('registry', 'app'))), '1', 'joined');
ask($admin, q(CREATE FUNCTION say() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'));
my $membership = 'snowid_internal.membership';
my @works = (
    [ 'SELECT source, node_name, problem IS NULL FROM snowid.node_status', 'joined|app|t' ], [ 'SELECT snowid_shard(snowid_next())', '1' ],
    [ 'SELECT snowid.check_node()', '1' ], [ q(SELECT snowid.join('registry', 'app')), '1' ]);
foreach my $alteration (
    'CREATE INDEX "Odd" ON %s (lower(node_name))',
    'CREATE TRIGGER "Odd" AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION say()',
    'ALTER TABLE %s DISABLE TRIGGER USER, ALTER node_name DROP NOT NULL; UPDATE %s SET node_name = NULL',
    'ALTER TABLE %s ALTER node_number TYPE numeric',
    'ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY',
    'ALTER TABLE %s ADD COLUMN "Odd" text')
{
    my $name = $alteration =~ s/%s/$membership/gr;
    is(ask($admin, $name), '', "altered: $name") or diag($admin->{err});
    is(attempt($node, $_->[0], dbname => 'app'), $_->[1], "$name: $_->[0]") foreach @works;
}
my $row = ask($admin, "SELECT * FROM $membership");
is(ask($admin, 'SELECT snowid.check_node()'), '1', 'a check of the node');
is(ask($admin, "SELECT * FROM $membership"), $row, 'changes no row');
is(ask($admin, 'SELECT snowid.leave()'), '', 'the node leaves');
is(ask($admin, q(SELECT snowid.join('registry', 'app again'))), '2', 'and joins again');
is(ask($admin, "BEGIN; ALTER EXTENSION snowid DROP TABLE $membership; SELECT snowid.join('registry', 'app again')"), 'ERROR 55000', 'no member: no such table');
end_test($node);
