# Promise 1 where a transaction alters or drops the ceiling's sequence: it gets no IDs until it ends, since it could be
# rolled back to a ceiling below them. What it has shown before does not come again, not after a crash either. A
# transaction that creates the extension, where there was none, gets IDs.
#
# Runs in make test-all: it starts many servers.

use strict;
use warnings;

use Snowid;
use Test::More;

my $node = new_server('altered');
$node->append_conf('postgresql.conf', qq(max_prepared_transactions = 1\nsnowid.max_lead = '1h'\n));
start_server($node);
$node->safe_psql('postgres', 'CREATE EXTENSION snowid');
my $draw = 'SELECT snowid_next(1)';
my $alter = 'ALTER SEQUENCE snowid_internal.ceiling INCREMENT 1';
my $unlog = 'ALTER SEQUENCE snowid_internal.ceiling SET UNLOGGED; ALTER SEQUENCE snowid_internal.ceiling SET LOGGED';
my $anew = 'DROP EXTENSION snowid; CREATE EXTENSION snowid';

# How a transaction begins before it is refused, and how it ends.
my %cases = (
    'altered' => [ $alter, 'COMMIT' ],
    'altered, and rolled back' => [ $alter, 'ROLLBACK' ],
    'altered twice' => [ "$alter; $alter", 'ROLLBACK' ],
    'reset' => [ 'ALTER SEQUENCE snowid_internal.ceiling RESTART', 'ROLLBACK' ],
    'made unlogged and logged again' => [ $unlog, 'COMMIT' ],
    'altered in a part that stays' => [ "SAVEPOINT a; $alter; RELEASE a", 'ROLLBACK' ],
    'altered, and again in a part that does not' => [ "$alter; SAVEPOINT a; $alter; ROLLBACK TO a", 'ROLLBACK' ],
    'prepared' => [ $alter, q(PREPARE TRANSACTION 'a'; COMMIT PREPARED 'a') ],
    'prepared, and rolled back' => [ $alter, q(PREPARE TRANSACTION 'a'; ROLLBACK PREPARED 'a') ],
    'made anew' => [ $anew, 'COMMIT' ],
    'made anew, and rolled back' => [ $anew, 'ROLLBACK' ],
    'made anew in a part that stays' => [ "SAVEPOINT a; $anew; RELEASE a", 'ROLLBACK' ],
    'altered and made anew' => [ "$alter; $anew", 'ROLLBACK' ],
    'made anew and altered' => [ "$anew; $alter", 'COMMIT' ]);

# What it cannot call.
my @calls = (
    'snowid_next()', 'snowid_next(1)', q(snowid_next(1, 'twitter')), 'snowid_next_batch(1, 2)', 'snowid_reserve(2)',
    'snowid_uuidv7()', 'objectid_next()', 'snowid.advance_shard(1)', 'snowid.advance_past(1)', 'snowid.release_shard(7)');

foreach my $case (sort keys %cases)
{
    my ($begin, $end) = @{ $cases{$case} };
    # With memory that knows the sequence, since an ID was drawn; and that begins with the transaction: then a sequence that
    # was dropped cannot be found (docs/guarantees.md).
    foreach my $known (1, $case =~ /made anew/ ? () : 0)
    {
        my $name = "$case, " . ($known ? 'known' : 'unknown');
        if (!$known) { $node->stop; start_server($node) }
        my $session = open_session($node);
        my $seen = $known ? ask($session, $draw) : 0;
        if ($known) { ask($session, 'BEGIN'); $seen = ask($session, $draw) }
        is(ask($session, $known ? $begin : "BEGIN; $begin"), '', "$name: begun");
        ask($session, 'SAVEPOINT refused');
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
        crash($node, 'kill');
        close_session($session);
        set_clock(-60);
        start_server($node);
        cmp_ok($node->safe_psql('postgres', $draw), '>', $next, "$name: and after a crash");
        set_clock(0);
    }
}

# Rolled back to a savepoint before it, it goes on at once. A cursor that has drawn before is refused, too.
my $session = open_session($node);
foreach my $change ($alter, $anew)
{
    ask($session, 'BEGIN');
    my $seen = ask($session, $draw);
    ask($session, "SAVEPOINT a; $change; ROLLBACK TO a");
    cmp_ok(ask($session, $draw), '>', $seen, "$change: rolled back to before it");
    ask($session, 'ROLLBACK');
}
ask($session, 'BEGIN; DECLARE drawing CURSOR FOR SELECT snowid_next(1) FROM generate_series(1, 9)');
like(ask($session, 'FETCH drawing'), qr/^\d+$/, 'a cursor');
ask($session, $alter);
is(ask($session, 'FETCH drawing'), 'ERROR 55000', 'a cursor does not go on after that');
ask($session, 'ROLLBACK');

# The transaction that creates the extension, whether or not there has been one before.
$node->safe_psql('postgres', 'CREATE DATABASE fresh');
foreach my $dbname ('fresh', 'fresh', 'postgres')
{
    $node->safe_psql($dbname, 'DROP EXTENSION IF EXISTS snowid');
    my $creating = open_session($node, dbname => $dbname);
    ask($creating, 'BEGIN; CREATE EXTENSION snowid');
    unlike(ask($creating, "SELECT $_"), qr/^ERROR/, "$dbname, created: $_ works") foreach @calls;
    my $seen = ask($creating, $draw);
    is(ask($creating, 'COMMIT'), '', "$dbname, created: commits");
    cmp_ok($node->safe_psql($dbname, $draw), '>', $seen, "$dbname, created: others go on above");
    close_session($creating);
}
close_session($session);
check_log($node);
$node->stop;
done_testing();
