# A released shard issues nothing any more, to anybody: sessions that draw from it in every way, in the middle of statements and
# transactions, are refused at their next draw, and none of them has an ID at or above the one that was returned.

use Snowid;

my $node = ready_server('node');
my $released = qr/shard 7 of layout "instagram" was released\nDETAIL:  It issues no IDs on this server since .*It has moved to: server b\n/;

# Who is not refused is not waited for.
my %bounded = (setup => q(SET statement_timeout = '2min'));
my @drawing = map { draw($node, $_, undef, %bounded) } ('snowid_next(7)') x 3, 'snowid_reserve(7, 3)', 'snowid_next_batch(7, 5)';
my ($cursor, $transaction, $newcomer) = map { open_session($node) } 1 .. 3;
ask($cursor, 'BEGIN; DECLARE held CURSOR FOR SELECT snowid_next_batch(7, 100000)');
my @held = split /\n/, ask($cursor, 'FETCH 10 FROM held');
my @drawn = split /\n/, ask($transaction, 'BEGIN; SELECT snowid_next(7) FROM generate_series(1, 10)');
wait_to_draw(1, @drawing);
my $id = $node->safe_psql('postgres', q(SELECT snowid.release_shard(7, moved_to => 'server b')));
finish(@drawing);
like(errors_of($_), $released, 'a session that draws is refused') foreach @drawing;
my ($count, $greatest) = check_round('until it was released', 0, @drawing);
cmp_ok($count, '>', 10_000, "clients saw $count IDs");
cmp_ok($greatest, '<', $id, 'all of them below the one that was returned');
my $fetched;
push @held, split /\n/, $fetched while ($fetched = ask($cursor, 'FETCH 500 FROM held')) =~ /^\d/;
like($cursor->{err}, $released, 'a cursor that is open is refused');
is(scalar(grep { $_ >= $id } @held, @drawn), 0, 'what it held was issued before');
like(ask($transaction, 'SELECT snowid_next(7)') . $transaction->{err}, $released, 'a transaction that has drawn is refused');
is(ask($newcomer, "SELECT $_"), 'ERROR 55000', "a session that comes now is refused: $_")
  foreach 'snowid_next(7)', 'snowid_reserve(7, 2)', 'snowid_next_batch(7, 2)', "snowid.advance_shard($id)";
is(ask($newcomer, 'SELECT snowid.release_shard(7)'), $id, 'released again: the same ID');
is(ask($newcomer, q(SELECT snowid_next(8) > 0 AND snowid_next(7, 'twitter') > 0)), 't', 'others go on');
end_test($node);
