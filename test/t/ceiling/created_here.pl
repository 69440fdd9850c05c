# A transaction that creates the extension gets IDs, whether or not there was one before; others go on above them. They are above
# what it sets the ceiling's sequence to, as a restore does, and that covers them.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('created_here', conf => "snowid.max_lead = '1d'\nsnowid.max_wait = '1d'\n", sql => 'CREATE DATABASE fresh');
# An ID's time, in Unix milliseconds as the ceiling has it.
my $time = 'SELECT (extract(epoch FROM snowid_timestamp(%s)) * 1000)::bigint';
my $next = sprintf $time, 'snowid_next(1)';
# Whole seconds, since an ObjectID has no more.
my $set = int(time) * 1000 + 3_600_000;
foreach my $dbname ('fresh', 'fresh', 'postgres')
{
    $node->safe_psql($dbname, 'DROP EXTENSION IF EXISTS snowid');
    my $session = open_session($node, dbname => $dbname);
    ask($session, 'BEGIN; CREATE EXTENSION snowid');
    unlike(ask($session, "SELECT $_"), qr/^ERROR/, "$dbname: $_ works")
      foreach 'snowid.advance_shard(1)', 'snowid.advance_past(1)', 'snowid.release_shard(7)';
    foreach my $draw (
        $next,
        sprintf($time, q(snowid_next(2, 'twitter'), 'twitter')),
        sprintf($time, 'snowid_reserve(1, 5)'),
        sprintf($time, '(SELECT min(id) FROM snowid_next_batch(3, 2) id)'),
        q(SELECT ('x0' || translate(left(snowid_uuidv7()::text, 13), '-', ''))::bit(52)::bigint),
        q(SELECT ('x' || left(objectid_next()::text, 8))::bit(32)::bigint * 1000))
    {
        $set += 60_000;
        ask($session, "SELECT setval('snowid_internal.ceiling', $set)");
        cmp_ok(ask($session, $draw), '>', $set, "$dbname: above what was set: $draw");
        cmp_ok(ask($session, 'SELECT last_value FROM snowid_internal.ceiling'), '>', $set, "$dbname: and covered");
    }
    $set += 600_000;
    is(ask($session, "SELECT snowid.advance_past(to_timestamp($set / 1000))"), '', "$dbname: advanced");
    my $last = ask($session, $next);
    cmp_ok($last, '>=', $set, "$dbname: above what it was advanced to");
    is(ask($session, 'COMMIT'), '', "$dbname: committed");
    cmp_ok(ask($session, $next), '>', $last, "$dbname: it goes on above");
    cmp_ok($node->safe_psql($dbname, $next), '>', $last, "$dbname: so do others");
    cmp_ok($node->safe_psql($dbname, sprintf $time, $_), '>=', $set, "$dbname: $_ is above what it was advanced to")
      foreach 'snowid_next(40)', q(snowid_next(41, 'discord'), 'discord');
    close_session($session);
}
end_test($node);
