# A transaction that alters or drops the ceiling's sequence gets no IDs until it ends, since it could be rolled back to a ceiling
# below them; rolled back to before that, it does. What it has shown before does not come again, not after a crash either.
# Runs in make test-all: it starts many servers.

use Snowid;

my $node = ready_server('altered', conf => "max_prepared_transactions = 1\nsnowid.max_lead = '1h'\n");
my $draw = 'SELECT snowid_next(1)';
my $sequence = 'ALTER SEQUENCE snowid_internal.ceiling';
my $alter = "$sequence INCREMENT 1";
my $anew = 'DROP EXTENSION snowid; CREATE EXTENSION snowid';

# How a transaction begins before it is refused, and how it ends.
my %cases = (
    'altered' => [ $alter, 'COMMIT' ],
    'altered, and rolled back' => [ $alter, 'ROLLBACK' ],
    'altered twice' => [ "$alter; $alter", 'ROLLBACK' ],
    'reset' => [ "$sequence RESTART", 'ROLLBACK' ],
    'made unlogged and logged again' => [ "$sequence SET UNLOGGED; $sequence SET LOGGED", 'COMMIT' ],
    'altered in a part that stays' => [ "SAVEPOINT a; $alter; RELEASE a", 'ROLLBACK' ],
    'altered, and again in a part that does not' => [ "$alter; SAVEPOINT a; $alter; ROLLBACK TO a", 'ROLLBACK' ],
    'prepared' => [ $alter, q(PREPARE TRANSACTION 'a'; COMMIT PREPARED 'a') ],
    'prepared, and rolled back' => [ $alter, q(PREPARE TRANSACTION 'a'; ROLLBACK PREPARED 'a') ],
    'made anew' => [ $anew, 'COMMIT' ],
    'made anew, and rolled back' => [ $anew, 'ROLLBACK' ],
    'made anew in a part that stays' => [ "SAVEPOINT a; $anew; RELEASE a", 'ROLLBACK' ],
    'altered and made anew' => [ "$alter; $anew", 'ROLLBACK' ],
    'made anew and altered' => [ "$anew; $alter", 'COMMIT' ]);
my @calls = (
    'snowid_next()', 'snowid_next(1)', q(snowid_next(1, 'twitter')), 'snowid_next_batch(1, 2)', 'snowid_reserve(2)',
    'snowid_uuidv7()', 'objectid_next()', 'snowid.advance_shard(1)', 'snowid.advance_past(1)', 'snowid.release_shard(7)');

foreach my $case (sort keys %cases)
{
    my ($begin, $end) = @{ $cases{$case} };
    # With memory that knows the sequence, since an ID was drawn; and that begins with the transaction: then a sequence that was
    # dropped cannot be found (docs/guarantees.md).
    foreach my $known (1, $case =~ /made anew/ ? () : 0)
    {
        my $name = "$case, " . ($known ? 'known' : 'unknown');
        if (!$known) { $node->stop; start_server($node) }
        my $session = open_session($node);
        my $seen = ask($session, $known ? "$draw \\g /dev/null\nBEGIN; $draw" : 'BEGIN; SELECT 0');
        is(ask($session, "$begin; SAVEPOINT refused"), '', "$name: begun");
        foreach my $call ($known ? @calls : 'snowid_next(1)')
        {
            is(ask($session, "SELECT $call"), 'ERROR 55000', "$name: $call is refused");
            like($session->{err}, qr/has altered or dropped sequence "snowid_internal\.ceiling"\n.*HINT:  Commit/s, "$name: with what to do");
            ask($session, 'ROLLBACK TO refused');
        }
        is(ask($session, $end), '', "$name: ends");
        my $next = ask($session, $draw);
        cmp_ok($next, '>', $seen, "$name: goes on above what was shown");
        cmp_ok($node->safe_psql('postgres', $draw), '>', $next, "$name: in another session, too");
        crash_and_start($node, 'kill', -60);
        close_session($session);
        cmp_ok($node->safe_psql('postgres', $draw), '>', $next, "$name: and after a crash");
        set_clock(0);
    }
}

my $session = open_session($node);
foreach my $change ($alter, $anew)
{
    my $seen = ask($session, "BEGIN; $draw");
    cmp_ok(ask($session, "SAVEPOINT a; $change; ROLLBACK TO a; $draw"), '>', $seen, "$change: rolled back to before it");
    ask($session, 'ROLLBACK');
}
like(ask($session, 'BEGIN; DECLARE drawing CURSOR FOR SELECT snowid_next(1) FROM generate_series(1, 9); FETCH drawing'), qr/^\d+$/, 'a cursor');
is(ask($session, "$alter; FETCH drawing"), 'ERROR 55000', 'does not go on after that');
end_test($node);
