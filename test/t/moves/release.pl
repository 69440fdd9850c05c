# A released shard issues nothing any more, to anybody: sessions that draw from it in every way, in the
# middle of statements and transactions, are refused at their next draw, and none of them has an ID at or
# above the one that was returned. It stays so through crashes, fail-over, dump and restore; and a release
# that is rolled back, or that a crash undoes, leaves the shard as it was.
#
# Runs in make test-all: it starts and crashes servers often.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $node = new_server('old', allows_streaming => 1);
$node->append_conf('postgresql.conf', "max_prepared_transactions = 5\n");
start_server($node);
$node->safe_psql('postgres', 'CREATE EXTENSION snowid');

my $released = qr/shard 7 of layout "instagram" was released\nDETAIL:  It issues no IDs on this server since .*It has moved to: server b\n/;

# Who is not refused is not waited for.
my %bounded = (setup => q(SET statement_timeout = '2min'));

# 1. Under load.
my @drawing = (
    (map { draw($node, 'snowid_next(7)', undef, %bounded) } 1 .. 3),
    draw($node, 'snowid_reserve(7, 3)', undef, %bounded),
    draw($node, 'snowid_next_batch(7, 5)', undef, %bounded));
my $cursor = open_session($node);
ask($cursor, 'BEGIN; DECLARE held CURSOR FOR SELECT snowid_next_batch(7, 100000)');
my @held = split /\n/, ask($cursor, 'FETCH 10 FROM held');
my $transaction = open_session($node);
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
close_session($cursor, $transaction);
my $newcomer = open_session($node);
is(ask($newcomer, "SELECT $_"), 'ERROR 55000', "a session that comes now is refused: $_")
  foreach 'snowid_next(7)', 'snowid_reserve(7, 2)', 'snowid_next_batch(7, 2)', "snowid.advance_shard($id)";
is(ask($newcomer, 'SELECT snowid.release_shard(7)'), $id, 'released again: the same ID');
is(ask($newcomer, q(SELECT snowid_next(8) > 0 AND snowid_next(7, 'twitter') > 0)), 't', 'others go on');

# 2. While it is not committed, who draws waits: nobody is refused for what is rolled back.
my $mover = open_session($node);
my $drawer = open_session($node);
backend_of($drawer);
my $last = ask($drawer, 'SELECT snowid_next(1)');

# Has the drawer draw while the mover has released shard 1, until the mover does something.
sub check_waiting
{
    my ($name, $end, $expected) = @_;
    ask($mover, 'BEGIN');
    my $returned = ask($mover, 'SELECT snowid.release_shard(1)');
    cmp_ok($returned, '>', $last, "$name: released above what was issued");
    start_asking($drawer, 'SELECT snowid_next(1)');
    wait_until_waiting($node, $drawer, 'Lock');
    $end->();
    my $answer = answer($drawer);
    return is($answer, $expected, $name) if defined $expected;
    ok($answer =~ /^\d+$/ && $answer > $returned, "$name: it goes on, above") or diag("$answer after $returned");
    $last = $answer;
    return;
}
check_waiting('rolled back', sub { ask($mover, 'ROLLBACK') });
check_waiting('an error', sub { ask($mover, 'SELECT 1/0; COMMIT') });
check_waiting('prepared', sub { is(ask($mover, q(PREPARE TRANSACTION 'one')), 'ERROR 0A000', 'not prepared') });
check_waiting('the client is gone', sub { close_session($mover); $mover = open_session($node) });
check_waiting('the session is ended', sub {
    $node->safe_psql('postgres', 'SELECT pg_terminate_backend(' . backend_of($mover) . ')');
    close_session($mover);
    $mover = open_session($node);
});
check_waiting('who waits is cancelled', sub {
    $node->safe_psql('postgres', "SELECT pg_cancel_backend($drawer->{backend})");
    wait_for(sub { is_answered($drawer) }, 'the drawer to be cancelled');
    ask($mover, 'ROLLBACK');
}, 'ERROR 57014');
# A part of it that is rolled back opens the shard at once, what is left of it does not.
ask($mover, 'BEGIN; SAVEPOINT a; SELECT snowid.release_shard(1); ROLLBACK TO a');
$last = ask($drawer, 'SELECT snowid_next(1)');
like($last, qr/^\d+$/, 'a savepoint that is rolled back opens it');
ask($mover, 'ROLLBACK');
# Meanwhile all shards are to be above a moment, by which the transaction that is rolled back does not know.
my $moment = $node->safe_psql('postgres', q(SELECT clock_timestamp() + '0.8 s'));
check_waiting('all shards advanced meanwhile', sub {
    $node->safe_psql('postgres', "SELECT snowid.advance_past(timestamptz '$moment')");
    ask($mover, 'ROLLBACK');
});
is($node->safe_psql('postgres', "SELECT snowid_timestamp($last) > '$moment'"), 't', 'it is above that moment');
# One that is advanced meanwhile: it waits, and counts.
ask($mover, 'BEGIN; SELECT snowid.release_shard(1)');
my $ahead = $node->safe_psql('postgres', q(SELECT snowid_encode(clock_timestamp() + '0.9 s', 1, 1023)));
start_asking($drawer, "SELECT snowid.advance_shard($ahead)");
wait_until_waiting($node, $drawer, 'Lock');
ask($mover, 'ROLLBACK');
is(answer($drawer), '', 'advanced once it is open again');
cmp_ok($last = ask($drawer, 'SELECT snowid_next(1)'), '>', $ahead, 'and above that');
check_waiting('committed', sub { ask($mover, 'COMMIT') }, 'ERROR 55000');

# 3. Crashes: what was committed stays, whatever the session thinks of its own commits; what was not is
# undone, and IDs go on above all.
my $standby = new_standby($node, 'standby');
$standby->start;
$node->safe_psql('postgres', 'SELECT snowid_next(5), snowid_next(6)');
foreach my $how ('kill', 'immediate')
{
    my $shard = $how eq 'kill' ? 2 : 3;
    $mover = open_session($node);
    my $open = ask($mover, 'SELECT snowid_next(4)');
    ask($mover, 'BEGIN; SELECT snowid.release_shard(4)');
    my $other = open_session($node);
    $id = ask($other, "SET synchronous_commit = off; SELECT snowid.release_shard($shard, 'twitter', 'elsewhere')");
    crash($node, $how);
    close_session($mover, $other);
    start_server($node);
    cmp_ok(attempt($node, 'SELECT snowid_next(4)'), '>', $open, "$how: one that was not committed goes on");
    is(attempt($node, "SELECT snowid_next($shard, 'twitter')"), 'ERROR 55000', "$how: one that was committed stays closed");
    is(attempt($node, 'SELECT snowid_next(7)'), 'ERROR 55000', "$how: and those of before");
    is(attempt($node, "SELECT snowid.release_shard($shard, 'twitter')"), $id, "$how: with the same ID");
}

# 4. Fail-over.
$node->wait_for_catchup($standby);
is(attempt($standby, $_), 'ERROR 25006', "on a standby: $_")
  foreach 'SELECT snowid.release_shard(5)', 'SELECT snowid.accept_shard(0, 1)', 'SELECT snowid.advance_past(now())';
is(attempt($standby, 'SELECT snowid_ceiling()'), $node->safe_psql('postgres', 'SELECT snowid_ceiling()'),
    'on a standby: the ceiling');
crash($node, 'kill');
$standby->promote;
my ($status, $out, $err) = $standby->psql('postgres', 'SELECT snowid_next(7)');
like($err, $released, 'promoted: it stays closed');
is(attempt($standby, 'SELECT snowid_next(5) > 0'), 't', 'promoted: others go on');
$standby->stop;
start_server($node);

# 5. A restored copy keeps the shard closed, also where sessions have drawn before the rows come; a new
# extension in the same database does, as long as the server runs.
$node->safe_psql('postgres', "CREATE DATABASE $_") foreach 'restored', 'used';
$node->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE restored');
my $dump = "$dir/dump.sql";
command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('postgres') ], 'dumped');
command_ok([ 'psql', '-XAtq1', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', $dump ], 'restored');
$node->safe_psql('postgres', 'CREATE DATABASE cloned TEMPLATE restored');
foreach my $dbname ('restored', 'cloned')
{
    is(attempt($node, 'SELECT snowid_next(7)', dbname => $dbname), 'ERROR 55000', "$dbname: closed");
    is(attempt($node, 'SELECT snowid_next(5) > 0', dbname => $dbname), 't', "$dbname: others are not");
}
$node->safe_psql('used', 'CREATE EXTENSION snowid');
my $user = open_session($node, dbname => 'used');
like(ask($user, 'SELECT snowid_next(7)'), qr/^\d+$/, 'a session has drawn');
$node->safe_psql('used', q(INSERT INTO snowid_internal.moved_shards VALUES (7, 'instagram', 7 << 10, false, 'server b', now())));
like(ask($user, 'SELECT snowid_next(7)') . $user->{err}, $released, 'it is refused once the row is there');
$last = ask($user, 'SELECT snowid_next(6)');
is(ask($user, 'SELECT snowid.release_shard(6) > 0; DROP EXTENSION snowid; CREATE EXTENSION snowid'), 't', 'the extension made anew');
is(ask($user, "SELECT snowid_next($_)"), 'ERROR 55000', "shard $_ stays closed") foreach 6, 7;
like($user->{err}, qr/was released\nHINT:  Generate its IDs on the server/, 'and says why');
cmp_ok($id = ask($user, 'SELECT snowid.release_shard(6)'), '>', $last, 'released again: above all');
is(ask($user, "SELECT snowid.accept_shard(6, snowid_encode(snowid_timestamp($id) + '5 ms', 6, 0)); SELECT snowid_next(6) > $id"), "\nt", 'and it can come back');
is(ask($user, 'SELECT snowid.accept_shard(7, 7 << 10); SELECT snowid_next(7) > 0'), "\nt", 'the other one, too');
check_log($node);
$node->stop;
done_testing();
