# A registry whose tables a superuser has altered gives no numbers where it may forget them, and says how to undo that. Where a trigger
# of his stores something else than it answers, that is an error, and no node is taken for a copy of itself.

use Snowid;
use SnowidNodes;

my $registry = ready_server('registry');
add_members($registry, $registry, 'a');
is(join_as($registry, 'a', 'a'), '1', 'a node');
my $admin = open_session($registry);
my @asks = (request('claim'), request('exchange', node_number => 1), 'SELECT snowid.retire_node(1)', 'SELECT snowid.recover_registry(5)');

# Alters a table in a transaction that is rolled back. What reads a table that a crash would empty is refused, and works when what the
# hint says is done; a column more does no harm.
foreach my $table ('nodes', 'registry_identities')
{
    foreach my $asks (@asks)
    {
        my $name = "$table unlogged: $asks";
        ask($admin, "BEGIN; ALTER TABLE snowid_internal.$table SET UNLOGGED; SAVEPOINT altered");
        is(ask($admin, $asks), 'ERROR 55000', "$name: refused");
        my ($hint) = $admin->{err} =~ /table "snowid_internal\.$table" was altered\nDETAIL:  .+\.\nHINT:  Use (.+)\.$/m;
        unlike(ask($admin, 'ROLLBACK TO altered; ' . ($hint // 'none') . "; $asks"), qr/ERROR/, "$name: after what the hint says");
        unlike(ask($admin, "ROLLBACK; BEGIN; ALTER TABLE snowid_internal.$table ADD COLUMN more text; $asks"), qr/ERROR/, "$table with a column more: $asks");
        ask($admin, 'ROLLBACK');
    }
}
close_session($admin);

foreach my $by ([ 'UPDATE', 'NEW.token := 5' ], [ 'UPDATE', 'RETURN NULL' ], [ 'INSERT', 'NEW.node_number := 77' ], [ 'INSERT', 'NEW.claim := gen_random_uuid()' ],
    [ 'INSERT', 'RETURN NULL' ])
{
    my ($event, $does) = @$by;
    $registry->safe_psql('postgres', "CREATE FUNCTION does() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN $does; RETURN NEW; END'");
    $registry->safe_psql('postgres', "CREATE TRIGGER does BEFORE $event ON snowid_internal.nodes FOR EACH ROW EXECUTE FUNCTION does()");
    my @asked = $event eq 'UPDATE' ? () : (request('claim'), 'SELECT snowid.recover_registry(5); ' . request('accept', claim => claim_of(2), node_number => 5));
    is(check_node($registry, 'a'), 'ERROR 55000', "a trigger by $event: $does") if !@asked;
    is(attempt($registry, $_), 'ERROR 55000', "a trigger by $event: $does: $_") foreach @asked;
    $registry->safe_psql('postgres', 'DROP FUNCTION does CASCADE');
    is(check_node($registry, 'a'), '1', 'it is dropped: the node is the node');
}
is(attempt($registry, request('claim')), 'held|6', 'and the next number is given');
end_test($registry);
