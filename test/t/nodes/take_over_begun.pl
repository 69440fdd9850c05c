# Who has begun to take its number over is still who it was: it draws, checks and leaves, whether the registry has not answered, or
# its answer was lost.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $registry = ready_server('registry', allows_streaming => 1);
my $node = ready_server('node');
add_source($node, $registry, name => 'registry');
my $number = 'SELECT snowid_default_shard(), snowid_shard(snowid_next())';
my $taking = open_session($node);
is(ask($taking, q(SELECT snowid.join('registry', 'a node'))), '1', 'joined');
is(attempt($node, $number), '1|1', 'it draws');
$registry->safe_psql('postgres', 'ALTER FUNCTION snowid.register RENAME TO away');
is(ask($taking, 'SELECT snowid.take_over_node()'), 'ERROR 42883', 'the registry does not answer');
$registry->safe_psql('postgres', 'ALTER FUNCTION snowid.away RENAME TO register');
is(attempt($node, $number), '1|1', 'it draws');
is(attempt($node, 'SELECT snowid.check_node()'), '1', 'and checks');
# IDs are above the other server's already, which is eleven seconds from now.
$node->safe_psql('postgres', q(ALTER DATABASE postgres SET snowid.max_wait = '1min'));
foreach my $then ('SELECT snowid.check_node()', 'SELECT snowid.leave()')
{
    my $held = hold_commits($registry);
    start_asking($taking, 'SELECT snowid.take_over_node()');
    wait_for_waiting($registry, 1, 'SyncRep', 'register');
    $node->safe_psql('postgres', "SELECT pg_cancel_backend($taking->{backend})");
    is(answer($taking), 'ERROR 57014', 'taking over is cancelled');
    release_commits($registry, $held);
    is(attempt($node, $number), '1|1', 'it draws');
    unlike(attempt($node, $then), qr/ERROR/, "$then: as if nothing had been");
}
is($registry->safe_psql('postgres', 'SELECT retired IS NOT NULL FROM snowid.registry WHERE node_number = 1'), 't', 'the number is retired');
is(attempt($node, $number), 'ERROR 55000', 'it is no node');
end_test($node, $registry);
