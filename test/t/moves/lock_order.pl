# Relations of the extension are locked in one order, which is that of DROP EXTENSION, the ceiling last: so who moves shards,
# restores them, or draws does not deadlock with it, whoever comes first. Both sides wait here: DROP EXTENSION for the table of
# released shards, which somebody else has locked, and the others behind it.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

# A deadlock would be found at once.
my $node = ready_server('order', conf => "deadlock_timeout = '100ms'\n");
# The order in which the extension's relations were made is that in which they are dropped.
is($node->safe_psql('postgres', <<'SQL'), 'segment_sources nodes membership moved_shards ceiling', 'the order');
SELECT string_agg(relname, ' ' ORDER BY c.oid) FROM pg_class AS c
 WHERE relnamespace = 'snowid_internal'::regnamespace AND relname IN ('ceiling', 'moved_shards', 'membership', 'nodes', 'segment_sources')
SQL
my %moves = (
    'a release' => 'SELECT snowid.release_shard(%d) > 0',
    'an acceptance' => q(SELECT snowid.accept_shard(%1$d, snowid_encode(clock_timestamp() + '5 ms', %1$d, 0))),
    'a row that is restored' => q(INSERT INTO snowid_internal.moved_shards SELECT %1$d, 'instagram', snowid_encode(now(), %1$d, 0), false, null, now()),
    'a draw of a new shard' => 'SELECT snowid_next(%d)');
my $shard = 10;
foreach my $name (sort keys %moves)
{
    # Which are closed is remembered beyond the extension.
    my $known = $shard;
    my ($waiting, $first_of_all) = map { sprintf $moves{$name}, $shard++ } 1, 2;
    my ($holder, $dropper, $mover) = map { open_session($node) } 1 .. 3;
    ask($mover, 'SELECT snowid_next(' . ($name =~ /new shard/ ? 1 : $known) . ')');
    ask($holder, 'BEGIN; LOCK TABLE snowid_internal.moved_shards IN SHARE MODE');
    start_waiting($dropper, 'DROP EXTENSION snowid');
    start_waiting($mover, $waiting);
    ask($holder, 'COMMIT');
    is(answer($dropper), '', "$name: DROP EXTENSION goes on");
    like(answer($mover), qr/^ERROR (?:55000|42883|42P01)$/, "$name: is in no deadlock, and finds nothing any more that it waits for");

    # The other way about: the mover has its locks, and goes on.
    $node->safe_psql('postgres', 'CREATE EXTENSION snowid');
    unlike(ask($mover, "BEGIN; $first_of_all"), qr/^ERROR/, "$name: done");
    start_asking($dropper, 'DROP EXTENSION snowid');
    wait_until_waiting($node, $dropper, 'Lock') if $name !~ /draw/;
    unlike(ask($mover, 'SELECT snowid.release_shard(' . $shard++ . ') > 0; SELECT snowid_next(1)'), qr/^ERROR 40P01/, "$name: goes on beside it");
    ask($mover, 'COMMIT');
    is(answer($dropper), '', "$name: DROP EXTENSION comes after");
    $node->safe_psql('postgres', 'CREATE EXTENSION snowid');
    close_session($holder, $dropper, $mover);
}
end_test($node);
