# Sections: whatever is done to the sequence in one session, while shared memory has counters that
# other sessions have drawn from, holds for every session at once: numbers are those of the sequence's
# new state. Where nothing was set back, no key goes back. And the rights to draw, checked at each call.

use strict;
use warnings;

use List::Util qw(max);
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('changes');
$node->append_conf('postgresql.conf', "max_prepared_transactions = 5\n");
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION snowid;
CREATE SEQUENCE stamp;
CREATE ROLE reader;
CREATE ROLE user_of_it;
CREATE ROLE writer;
CREATE ROLE nobody;
SQL
my ($changer, $second, $third) = map { open_session($node) } 1 .. 3;
my @bystanders = ($second, $third);

# The last number of each key of the sequence as it is.
my %last;

# The next number of a key, as a session gets it.
sub next_of
{
    my ($session, $key) = @_;
    return $last{$key} = ask($session, "SELECT snowid_section_next('counted', $key)");
}

# Makes the section anew, and has each session draw from it.
sub prepare
{
    my (%options) = @_;
    ask($changer, 'DROP TABLE IF EXISTS owner; DROP SEQUENCE IF EXISTS counted;'
          . ' CREATE SEQUENCE counted INCREMENT 100 MINVALUE -1000 START 1');
    ask($changer, 'CREATE TABLE owner (id bigint); ALTER SEQUENCE counted OWNED BY owner.id') if $options{owned};
    foreach my $session ($changer, @bystanders)
    {
        next_of($session, 1) foreach 1 .. $options{draws} // 50;
        next_of($session, 2);
    }
    return;
}

# Checks that the sequence's new state begins with a number: that is the first that each key gets, in
# whichever session; memory knows of none before.
sub check_begins
{
    my ($name, $expected) = @_;
    foreach my $session ($changer, @bystanders)
    {
        is(ask($session, "SELECT snowid_section_current('counted', 1) IS NULL"), 't', "$name: no last number");
    }
    my @numbers = (next_of($second, 1), next_of($third, 2), next_of($changer, 3), next_of($third, 1));
    is("@numbers", join(' ', ($expected) x 3, $expected + 1), "$name: what is new holds for all");
    my $limit = ask($third, 'SELECT last_value FROM counted');
    cmp_ok($limit, '>=', $expected + 1, "$name: the limit is above");
    return;
}

# Checks that each key goes on above its last number, and all of them above `floor`, whatever session
# draws.
sub check_go_on
{
    my ($name, $floor) = @_;
    foreach my $draw ([ $second, 1 ], [ $third, 2 ], [ $changer, 1 ], [ $third, 1 ], [ $second, 2 ])
    {
        my ($session, $key) = @$draw;
        my $least = $last{$key} > $floor ? $last{$key} : $floor;
        cmp_ok(next_of($session, $key), '>', $least, "$name: key $key goes on");
    }
    return;
}

# 1. What sets the sequence, and the number that it then begins with.
my @changes = (
    [ q(SELECT setval('counted', 5000)), 5001 ],
    [ q(SELECT setval('counted', 10)), 11 ],
    [ q(SELECT setval('counted', 10, false)), 10 ],
    [ q(SELECT setval('counted', 100000, false)), 100000 ],
    [ q(SELECT setval('counted', -20)), -19 ],
    # The sequence's own last value, though not called.
    [ q(SELECT setval('counted', last_value, false) FROM counted), 'last_value' ],
    [ 'ALTER SEQUENCE counted RESTART', 1 ],
    [ 'ALTER SEQUENCE counted RESTART WITH 700', 700 ],
    [ 'ALTER SEQUENCE counted START 30 RESTART', 30 ],
    [ 'TRUNCATE owner RESTART IDENTITY', 1 ],
    [ 'DROP SEQUENCE counted; CREATE SEQUENCE counted INCREMENT 100 START 1', 1 ],
    [ 'DROP SEQUENCE counted; CREATE SEQUENCE counted INCREMENT 3 START 900', 900 ]);
foreach my $change (@changes)
{
    my ($sql, $expected) = @$change;
    # As it is; in a transaction; under a savepoint, after drawing.
    foreach my $around ([ '', '' ], [ 'BEGIN; ', '; COMMIT' ],
        [ "BEGIN; SELECT snowid_section_next('counted', 1); SAVEPOINT s; ", '; RELEASE s; COMMIT' ])
    {
        prepare(owned => $sql =~ /TRUNCATE/);
        my $begins = $expected eq 'last_value' ? ask($second, 'SELECT last_value FROM counted') : $expected;
        unlike(ask($changer, "$around->[0]$sql$around->[1]"), qr/ERROR/, "$around->[0]$sql");
        check_begins("$around->[0]$sql", $begins);
    }
}

# 2. What is rolled back: keys go on above all that was given out before, in every session, that of
# the transaction too.
foreach my $sql ('ALTER SEQUENCE counted RESTART', 'ALTER SEQUENCE counted RESTART WITH 700',
    'TRUNCATE owner RESTART IDENTITY', 'DROP SEQUENCE counted CASCADE; CREATE SEQUENCE counted INCREMENT 100')
{
    my $owned = $sql =~ /TRUNCATE/;
    # So few that the limits before and after are the same.
    prepare(owned => $owned, draws => 5);
    my $begins = $sql =~ /700/ ? 700 : 1;
    ask($changer, "BEGIN; $sql");
    my $draw = "SELECT snowid_section_next('counted', 1)";
    is(ask($changer, $draw), $begins, "$sql: takes effect in its transaction");
    start_asking($second, $draw);
    wait_for_waiting($node, 1, 'Lock', 'snowid_section_next');
    ask($changer, 'ROLLBACK');
    my $number = answer($second);
    cmp_ok($number, '>', $last{1}, "$sql, rolled back: who has waited goes on");
    $last{1} = $number;
    check_go_on("$sql, rolled back", 0);

    prepare(owned => $owned);
    ask($changer, 'BEGIN');
    next_of($changer, 1);
    ask($changer, "SAVEPOINT s; $sql");
    is(ask($changer, $draw), $begins, "$sql: takes effect in its subtransaction");
    ask($changer, 'ROLLBACK TO s');
    my $before = $last{1};
    cmp_ok(next_of($changer, 1), '>', $before, "$sql, savepoint rolled back: the transaction goes on");
    ask($changer, 'COMMIT');
    check_go_on("$sql, savepoint rolled back", 0);
}
prepare();
ask($changer, q(BEGIN; SELECT setval('counted', 5000); ROLLBACK));
check_begins('setval, which does not roll back', 5001);

# A sequence that comes and goes with a subtransaction.
is(ask($changer, q(BEGIN; SAVEPOINT s; CREATE SEQUENCE brief INCREMENT 10;
                   SELECT snowid_section_next('brief', 1); ROLLBACK TO s; COMMIT)), 1, 'a sequence rolled back');
is(ask($changer, q(BEGIN; CREATE SEQUENCE brief INCREMENT 10; SELECT snowid_section_next('brief', 1);
                   DROP SEQUENCE brief; COMMIT)), 1, 'a sequence made and dropped');

# One that others cannot see yet: they take it for dropped, which does no harm.
ask($changer, 'BEGIN; CREATE SEQUENCE hidden INCREMENT 10');
my $hidden = "SELECT snowid_section_next('hidden', 1)";
ask($changer, $hidden) foreach 1 .. 5;
$node->safe_psql('postgres', "SELECT snowid_section_next('counted', 9)");
cmp_ok(ask($changer, $hidden), '>', 5, 'a sequence that others cannot see: its key goes on');
ask($changer, 'COMMIT');

# 3. What does not set the sequence: keys go on.
foreach my $sql (q(SELECT nextval('counted')), 'ALTER SEQUENCE counted INCREMENT 7', 'ALTER SEQUENCE counted MAXVALUE 100000',
    'ALTER SEQUENCE counted CACHE 20', 'ALTER SEQUENCE counted SET UNLOGGED', 'ALTER SEQUENCE counted OWNED BY NONE',
    q(SELECT setval('counted', last_value) FROM counted), 'ALTER SEQUENCE counted RENAME TO other; ALTER SEQUENCE other RENAME TO counted',
    q(BEGIN; SELECT snowid_section_next('counted', 1); PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p'))
{
    prepare();
    my $answer = ask($changer, $sql);
    unlike($answer, qr/ERROR/, $sql);
    # A number that nextval has given is never that of a key.
    check_go_on($sql, $sql =~ /nextval/ ? $answer : 0);
}

# Keys and calls of nextval take turns.
prepare();
my @numbers;
foreach my $turn (1 .. 30)
{
    push @numbers, ask($changer, q(SELECT nextval('counted'))), map { next_of($_, 1) } @bystanders;
}
is(scalar(grep { $numbers[$_] <= $numbers[ $_ - 1 ] } 1 .. $#numbers), 0, 'nextval and a key, in turn: in order');

# 4. All at once: sessions draw while others call nextval, or set the sequence higher and higher.
my $key = 'generate_series % 20';
my $stamped = "nextval('stamp'), $key, snowid_section_next('counted', $key), nextval('stamp')";
prepare();
my @drawing = map { draw($node, $stamped, 5_000) } 1 .. 4;
my @calling = map { draw($node, q(nextval('counted')), 1000) } 1 .. 2;
finish(@drawing, @calling);
my ($count, $greatest) = check_keys('beside nextval', 0, @drawing);
is($count, 20_000, 'beside nextval: all served');
is(scalar(@{ ids($_) }), 1000, 'nextval is served, too') foreach @calling;

my $step = 10_000_000;
@drawing = map { draw($node, $stamped, undef, pause_every => 20) } 1 .. 4;
wait_to_draw(1, @drawing);
my $setting = draw($node, "nextval('stamp'), setval('counted', ${step}::bigint * generate_series), nextval('stamp')",
    undef, pause_every => 1);
wait_to_draw(1, $setting);
# Until each has drawn between what was set and what was set then.
my $set_first = (split /\t/, ids($setting)->[0])[2];
my $begun_last = sub { return (split /\t/, ids($_[0])->[-1])[0] };
wait_for(sub { !grep { $begun_last->($_) <= $set_first } @drawing }, 'all to draw after what was set');
my $drawn_then = max(map { $begun_last->($_) } @drawing);
wait_for(sub { $begun_last->($setting) > $drawn_then }, 'more to be set');
stop_drawing([$node], @drawing, $setting);
my @set = map { [ split /\t/, $_ ] } @{ ids($setting) };
check_keys('beside setval', 0, @drawing);
my $stale = 0;
foreach my $session (@drawing)
{
    my ($at, $between) = (-1, 0);
    foreach my $line (@{ ids($session) })
    {
        my ($from, undef, $number, $until) = split /\t/, $line;
        $at++ while $at < $#set && $set[ $at + 1 ][2] < $from;
        # What was set before this draw began.
        $stale++ if $at >= 0 && $number <= $set[$at][1];
        $between++ if $at >= 0 && $at < $#set;
    }
    cmp_ok($between, '>', 0, 'beside setval: it drew meanwhile');
}
is($stale, 0, 'beside setval: none below what was set before');

# 5. Rights, at each call. The rights to draw are those of nextval, to ask those of currval.
prepare();
my $draw = q(SELECT snowid_section_next('counted', 1) > 0);
my $look = q(SELECT snowid_section_current('counted', 1) > 0);
my %may = (reader => [ 'SELECT', 0, 1 ], user_of_it => [ 'USAGE', 1, 1 ], writer => [ 'UPDATE', 1, 0 ], nobody => [ '', 0, 0 ]);
my $refused = 'ERROR 42501';
foreach my $role (sort keys %may)
{
    my ($right, $draws, $looks) = @{ $may{$role} };
    ask($changer, "GRANT $right ON SEQUENCE counted TO $role") if $right;
    is(ask($second, 'SELECT 1'), 1, 'another command');
    foreach my $session ($second, open_session($node))
    {
        ask($session, "SET ROLE $role");
        is(ask($session, $draw), $draws ? 't' : $refused, "$role draws");
        is(ask($session, q(SELECT nextval('stamp'))), $refused, "$role has no right to another sequence");
        is(ask($session, $look), $looks ? 't' : $refused, "$role looks");
        ask($changer, "REVOKE ALL ON SEQUENCE counted FROM $role");
        is(ask($session, $_), $refused, "$role: no more of it when it is revoked: $_") foreach $draw, $look;
        ask($changer, "GRANT $right ON SEQUENCE counted TO $role") if $right;
        is(ask($session, $draw), $draws ? 't' : $refused, "$role draws again");
        ask($session, 'RESET ROLE');
        # In one transaction, which has locked the sequence already.
        ask($session, 'BEGIN');
        is(ask($session, $draw), 't', 'the superuser draws');
        ask($session, "SET ROLE $role; SAVEPOINT s");
        is(ask($session, $draw), $draws ? 't' : $refused, "$role draws in the same transaction");
        ask($session, 'ROLLBACK TO s');
        is(ask($session, $look), $looks ? 't' : $refused, "$role looks in the same transaction");
        ask($session, 'ROLLBACK; RESET ROLE');
        close_session($session) if $session != $second;
    }
}

# 6. A read-only transaction looks, and does not draw. A restart leaves nothing to be known.
ask($second, 'BEGIN READ ONLY');
is(ask($second, $look), 't', 'read only: looks');
is(ask($second, $draw), 'ERROR 25006', 'read only: does not draw');
ask($second, 'ROLLBACK');
# A parallel worker, whose transaction is its own, may ask what was given last, and lets go of the page,
# also where it fails.
ask($second, <<'SQL');
CREATE FUNCTION current_by_worker(divisor int) RETURNS bigint PARALLEL SAFE LANGUAGE plpgsql AS
  'BEGIN RETURN snowid_section_current(''counted'', 1) / divisor; END'
SQL
my $parallel = $node->pg_version >= 16 ? 'debug_parallel_query' : 'force_parallel_mode';
my $latest = ask($second, q(SELECT snowid_section_next('counted', 1)));
ask($second, "SET $parallel = on");
like(ask($second, 'EXPLAIN SELECT current_by_worker(1)'), qr/Gather/, 'a parallel plan');
is(ask($second, 'SELECT current_by_worker(1)'), $latest, 'a worker knows the last number');
is(ask($second, 'SELECT current_by_worker(0)'), 'ERROR 22012', 'or fails');
ask($second, "RESET $parallel");

my $known = ask($second, q(SELECT snowid_section_current('counted', 1)));
close_session($changer, @bystanders);
$node->restart;
is(attempt($node, q(SELECT snowid_section_current('counted', 1) IS NULL)), 't', 'restarted: nothing is known');
cmp_ok(attempt($node, q(SELECT snowid_section_next('counted', 1))), '>', $known, 'restarted: the key goes on');

$node->stop;
check_log($node);
done_testing();
