# While a release is not committed, who draws waits: nobody is refused for what is rolled back. Then the shard goes on, above what
# was returned, and above what it was advanced to meanwhile.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('node', conf => "max_prepared_transactions = 5\n");
my ($mover, $drawer) = map { open_session($node) } 1, 2;
my $last = ask($drawer, 'SELECT snowid_next(1)');

# Has the drawer draw while the mover has released shard 1, until the mover does something, a statement or more.
sub check_waiting
{
    my ($name, $end, $expected) = @_;
    my $returned = ask($mover, 'BEGIN; SELECT snowid.release_shard(1)');
    cmp_ok($returned, '>', $last, "$name: released above what was issued");
    start_waiting($drawer, 'SELECT snowid_next(1)');
    ref $end ? $end->() : ask($mover, $end);
    my $answer = answer($drawer);
    return is($answer, $expected, $name) if defined $expected;
    ok($answer =~ /^\d+$/ && $answer > $returned, "$name: it goes on, above") or diag("$answer after $returned");
    return $last = $answer;
}

sub new_mover { close_session($mover); $mover = open_session($node); return $mover->{backend} }
check_waiting('rolled back', 'ROLLBACK');
check_waiting('an error', 'SELECT 1/0; COMMIT');
check_waiting('prepared', sub { is(ask($mover, q(PREPARE TRANSACTION 'one')), 'ERROR 0A000', 'not prepared') });
check_waiting('the client is gone', \&new_mover);
check_waiting('the session is ended', sub { $node->safe_psql('postgres', "SELECT pg_terminate_backend($mover->{backend})"); new_mover() });
check_waiting('who waits is cancelled', sub {
    $node->safe_psql('postgres', "SELECT pg_cancel_backend($drawer->{backend})");
    wait_for(sub { is_answered($drawer) }, 'the drawer to be cancelled');
    ask($mover, 'ROLLBACK');
}, 'ERROR 57014');
# A part of it that is rolled back opens the shard at once, what is left of it does not.
ask($mover, 'BEGIN; SAVEPOINT a; SELECT snowid.release_shard(1); ROLLBACK TO a');
like($last = ask($drawer, 'SELECT snowid_next(1)'), qr/^\d+$/, 'a savepoint that is rolled back opens it');
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
start_waiting($drawer, "SELECT snowid.advance_shard($ahead)");
ask($mover, 'ROLLBACK');
is(answer($drawer), '', 'advanced once it is open again');
cmp_ok($last = ask($drawer, 'SELECT snowid_next(1)'), '>', $ahead, 'and above that');
check_waiting('committed', 'COMMIT', 'ERROR 55000');
end_test($node);
