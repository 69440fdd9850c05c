# The extension's own tables can be written anew, by VACUUM FULL and by REPACK, which PostgreSQL has since version 19: what they
# hold is found again, in sessions that are open, too.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use SnowidNodes;

my $node = ready_server('repack', sql => 'CREATE SEQUENCE there INCREMENT 10; SELECT snowid.release_shard(7)');
add_members($node, $node, 'app');
is(join_as($node, 'app', 'app'), '1', 'a node');
$node->safe_psql('app', q(SELECT snowid.release_shard(7); CREATE SEQUENCE here; SELECT snowid_segment_attach('here', 'registry', 'there')));
my $session = open_session($node, dbname => 'app');
my $next = 0;
foreach my $rewrite ('', 'VACUUM FULL', $node->pg_version->major >= 19 ? 'REPACK' : ())
{
    foreach my $dbname ($rewrite ? ('postgres', 'app') : ())
    {
        $node->safe_psql($dbname, "$rewrite snowid_internal.$_") foreach qw(moved_shards membership segment_sources nodes registry_identities);
    }
    is(ask($session, 'SELECT snowid_next(7)'), 'ERROR 55000', "$rewrite: a released shard stays so");
    is(attempt($node, 'SELECT snowid_next(7)', dbname => $_), 'ERROR 55000', "$rewrite: in a new session of $_") foreach 'postgres', 'app';
    is(ask($session, 'SELECT snowid_segment_next($$here$$)'), ++$next, "$rewrite: a segment goes on");
    is(check_node($node, 'app') . number_of($node, 'app'), '11|1', "$rewrite: a node and its registry");
}
end_test($node);
