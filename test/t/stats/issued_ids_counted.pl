# snowid.stat_shards counts each issued ID once: of concurrent sessions, of transactions that are rolled back, prepared or ended with
# their session, of batches and reservations, and of shards for which a transaction makes room.

use Snowid;

my $node = ready_server('issued', conf => "max_prepared_transactions = 5\n");

sub issued
{
    my ($shard, $layout) = @_;
    $layout //= 'instagram';
    return $node->safe_psql('postgres', "SELECT issued FROM snowid.stat_shards WHERE shard = $shard AND layout = '$layout'");
}

my @drawing = map { draw($node, 'snowid_next(1)', 5_000) } 1 .. 4;
finish(@drawing);
my (undef, $last) = check_round('concurrent sessions', 0, @drawing);
is($node->safe_psql('postgres', 'SELECT issued, last_id, last_time = snowid_timestamp(last_id), expires_at::date FROM snowid.stat_shards'),
    "20000|$last|t|2046-06-27", 'concurrent sessions: IDs, the last one and its time, and the end of the layout');

my $session = open_session($node);
my $total = 0;
foreach my $case (
    [ 'rolled back', 600, 'BEGIN; SELECT count(snowid_next(2)) FROM generate_series(1, 600); ROLLBACK' ],
    [ 'in a subtransaction', 51, 'BEGIN; SAVEPOINT s; SELECT count(snowid_next(2)) FROM generate_series(1, 50); ROLLBACK TO s; SELECT snowid_next(2); COMMIT' ],
    [ 'prepared', 1, q(BEGIN; SELECT snowid_next(2); PREPARE TRANSACTION 'p') ],
    [ 'prepared and rolled back', 0, q(ROLLBACK PREPARED 'p') ],
    [ 'a batch', 3000, 'SELECT count(*) FROM snowid_next_batch(2, 3000)' ],
    [ 'a reservation', 50, 'SELECT snowid_reserve(2, 50)' ],
    [ 'what is passed over is not issued', 1, 'SELECT snowid.advance_shard(snowid_next(2))' ])
{
    my ($name, $count, $sql) = @$case;
    unlike(ask($session, $sql), qr/ERROR/, $name);
    is(issued(2), $total += $count, "$name: counted");
}
is(ask($session, q(BEGIN; SELECT count(snowid_next(2)) FROM generate_series(1, 10) \g /dev/null
    SELECT issued FROM snowid.stat_shards WHERE shard = 2)), $total + 10, 'an open transaction sees its own');
$node->safe_psql('postgres', 'SELECT pg_terminate_backend(' . $session->{backend} . ', 180000)');
is(issued(2), $total + 10, 'a terminated session');
close_session($session);

# Room for more shards is made while there are IDs of the first to be counted.
$session = open_session($node);
ask($session, 'BEGIN; SELECT snowid_next(60); SELECT snowid_next(8000); SELECT snowid_next(60); COMMIT');
is(issued(60), 2, 'a transaction that goes on to a shard far above');
ask($session, 'SELECT snowid_next(60)') foreach 1 .. 3;
is(issued(60), 5, "the session's next transactions");
close_session($session);

my $wide = 'time:31 shard:22 seq:10 unit:1s epoch:2020-01-01T00:00:00Z';
$node->safe_psql('postgres', "SELECT snowid_next(4000000, '$wide') FROM generate_series(1, 300)");
is(issued(4000000, $wide), 300, 'a shard above a million');
$node->safe_psql('postgres', q(SELECT snowid_next(s, 'twitter') FROM generate_series(0, 999) s));
is($node->safe_psql('postgres', q(SELECT count(*), sum(issued) FROM snowid.stat_shards WHERE layout = 'twitter')), '1000|1000', 'many shards');
end_test($node);
