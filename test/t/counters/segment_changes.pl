# Segments of sequences that are changed while others draw from them: whatever is done to a sequence,
# and to the rights on it, counts at once for every session, also for one that has numbers left in
# memory; in transactions that commit, roll back, roll back in part or are prepared.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('changes');
$node->append_conf('postgresql.conf', "max_prepared_transactions = 5\nsnowid.segment_adapt = off\n");
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION snowid;
CREATE ROLE alice;
CREATE ROLE clerks;
CREATE SCHEMA elsewhere;
SQL

# Sessions that have drawn before, and know the sequence.
my ($changer, $other, $third) = my @sessions = map { open_session($node) } 1 .. 3;
backend_of($_) foreach @sessions;
my $by_name = "SELECT snowid_segment_next('numbers')";
my $next;

# Has a session do something that has to work.
sub does
{
    my ($session, $sql) = @_;
    my $answer = ask($session, $sql);
    die "$sql: $session->{err}" if $answer =~ /ERROR/;
    return;
}

# Makes a sequence of which 15 numbers were drawn: 85 are left of its first block, and the second one,
# from 101 on, has been allocated. Afterwards $next draws from it, whatever its name.
sub make_numbers
{
    my ($options) = @_;
    does($changer, <<SQL);
SET client_min_messages = error;
DROP SEQUENCE IF EXISTS numbers, elsewhere.numbers, numerals CASCADE;
DROP TABLE IF EXISTS rows;
CREATE TABLE rows (id bigint);
CREATE SEQUENCE numbers INCREMENT 100 OWNED BY rows.id;
SQL
    is(join(',', map { ask($_, $by_name) } @sessions), '1,2,3', "$options: three draw");
    is(ask($other, "SELECT max(n) FROM snowid_segment_batch('numbers', 12) n"), 15, "$options: fifteen");
    $next = 'SELECT snowid_segment_next(' . ask($changer, "SELECT 'numbers'::regclass::oid") . ')';
    return;
}

# 1. What is done, and the number drawn then: as nextval would give it where the change says so, else one above
# all that were drawn. Only what was allocated may be wasted.
my @changes = (
    [ 'ALTER SEQUENCE numbers RESTART', 1 ],
    [ 'ALTER SEQUENCE numbers RESTART WITH 1', 1 ],
    [ 'ALTER SEQUENCE numbers RESTART WITH 16', 16 ],
    [ 'ALTER SEQUENCE numbers RESTART WITH 5000', 5000 ],
    [ 'ALTER SEQUENCE numbers INCREMENT 1000', 'above' ],
    [ 'ALTER SEQUENCE numbers INCREMENT 10', 'above' ],
    [ 'ALTER SEQUENCE numbers MAXVALUE 150', 'ERROR 2200H' ],
    [ 'ALTER SEQUENCE numbers MAXVALUE 203', 'above' ],
    [ 'ALTER SEQUENCE numbers MINVALUE -7', 'above' ],
    [ 'ALTER SEQUENCE numbers START WITH 7', 'above' ],
    [ 'ALTER SEQUENCE numbers CACHE 7', 'above' ],
    [ 'ALTER SEQUENCE numbers AS int', 'above' ],
    [ 'ALTER SEQUENCE numbers CYCLE', 'ERROR 55000' ],
    [ 'ALTER SEQUENCE numbers INCREMENT -1', 'ERROR 55000' ],
    [ 'ALTER SEQUENCE numbers SET UNLOGGED', 'above' ],
    [ 'ALTER SEQUENCE numbers SET UNLOGGED; ALTER SEQUENCE numbers SET LOGGED', 'above' ],
    [ 'TRUNCATE rows RESTART IDENTITY', 1 ],
    [ 'DROP SEQUENCE numbers; CREATE SEQUENCE numbers INCREMENT 100', 1 ],
    [ 'ALTER SEQUENCE numbers OWNED BY NONE; ALTER SEQUENCE numbers OWNER TO alice', 'above' ],
    [ 'ALTER SEQUENCE numbers RENAME TO numerals', 'above' ],
    [ 'ALTER SEQUENCE numbers OWNED BY NONE; ALTER SEQUENCE numbers SET SCHEMA elsewhere', 'above' ],
    # These are no change of the sequence.
    [ 'TRUNCATE rows', 16 ],
    [ 'GRANT USAGE ON SEQUENCE numbers TO alice', 16 ],
    # These are not undone by a rollback, and nobody waits for them.
    [ q(SELECT setval('numbers', 1) IS NULL), 101 ],
    [ q(SELECT setval('numbers', 1, false) IS NULL), 1 ],
    [ q(SELECT setval('numbers', 16) IS NULL), 116 ],
    [ q(SELECT setval('numbers', 100) IS NULL), 200 ],
    [ q(SELECT setval('numbers', 5000) IS NULL), 5100 ],
    [ q(SELECT setval('numbers', 5000, false) IS NULL), 5000 ],
    [ q(SELECT setval('numbers', 101) IS NULL), 201 ],
    [ q(SELECT setval('numbers', 101, false) IS NULL), 101 ],
    [ q(SELECT nextval('numbers') IS NULL), 'above' ]);

# Checks the number that a session draws next, and returns it: the one expected, or, where that is 'above', one
# above the greatest drawn, with no more left out than two blocks and another of `increment`.
sub is_next
{
    my ($name, $answer, $expected, $greatest, $increment) = @_;
    my $most = $greatest + 200 + $increment;
    my $is = $expected eq 'above' ? $answer =~ /^\d+$/ && $answer > $greatest && $answer <= $most : $answer eq $expected;
    ok($is, $name) or diag("got $answer, expected $expected; the greatest was $greatest");
    return $answer;
}

foreach my $change (@changes)
{
    my ($do, $then) = @$change;
    my $increment = $do =~ /INCREMENT (\d+)/ ? $1 : 100;
    my $is_refused = $then =~ /ERROR/;
    my $name = $do =~ s/^SELECT (.*) IS NULL$/$1/r;
    my $stays = $do =~ /setval|nextval/;
    my $waits = !$stays && $do !~ /^GRANT|^TRUNCATE rows$/;
    # A sequence of its name is another one to those who know only the old.
    my $is_other = $do =~ /^DROP/;

    make_numbers($name);
    does($changer, $do);
    $next = $by_name if $is_other;
    # What nextval gives is drawn, too.
    my $before = $do =~ /nextval/ ? last_value($node, 'numbers') : 15;
    my $is = is_next("$name: counts at once", ask($other, $next), $then, $before, $increment);
    is(ask($third, $next), $is_refused ? $then : $is + 1, "$name: for all");
    is(ask($changer, $next), $is_refused ? $then : $is + 2, "$name: and its own session");

    # Rolled back before anybody has drawn, it has never been.
    make_numbers("$name, rolled back");
    does($changer, "BEGIN; $do; ROLLBACK");
    is_next("$name, rolled back: nothing has happened", ask($other, $next), $stays ? $then : 16, $before, $increment);
    next if $is_refused;

    make_numbers("$name, committed");
    $next = $by_name if $is_other;
    does($changer, "BEGIN; $do");
    $is = is_next("$name, committed: counts in the transaction", ask($changer, $next), $then, $before, $increment);
    start_asking($other, $next);
    wait_until_waiting($node, $other, 'Lock') if $waits;
    does($changer, 'COMMIT') if $waits;
    # Who has waited for a sequence that was dropped meanwhile is told that it is no more.
    my $answer = answer($other);
    $answer = ask($other, $next) if $is_other && $answer eq 'ERROR 42P01';
    is($answer, $is + 1, "$name, committed: others " . ($waits ? 'wait for it' : 'go on'));
    does($changer, 'COMMIT') unless $waits;
    is(ask($third, $next), $is + 2, "$name, committed: counts for all");

    make_numbers("$name, drawn and rolled back");
    $next = $by_name if $is_other;
    does($changer, "BEGIN; $do");
    $is = is_next("$name, drawn and rolled back: counts in the transaction", ask($changer, $next), $then, $before, $increment);
    # Those that the transaction drew from what it has altered are no more.
    my $left = $stays ? $is : 15;
    start_asking($other, $next);
    wait_until_waiting($node, $other, 'Lock') if $waits;
    does($changer, 'ROLLBACK') if $waits;
    $left = is_next("$name, drawn and rolled back: others go on from what it was", answer($other), 'above', $left, 100);
    does($changer, 'ROLLBACK') unless $waits;
    is(ask($third, $next), $left + 1, "$name, drawn and rolled back: all do");

    make_numbers("$name, rolled back in part");
    $next = $by_name if $is_other;
    does($changer, "BEGIN; SAVEPOINT a; $do");
    $is = is_next("$name, rolled back in part: counts until then", ask($changer, $next), $then, $before, $increment);
    does($changer, 'ROLLBACK TO a');
    $left = is_next("$name, rolled back in part: goes on from what it was", ask($changer, $next), 'above', $stays ? $is : 15, 100);
    is(ask($other, $next), $left + 1, "$name, rolled back in part: others do");
    does($changer, 'COMMIT');
    is(ask($third, $next), $left + 2, "$name, rolled back in part: all do");
}

# Back from what is refused.
make_numbers('refused');
does($changer, 'ALTER SEQUENCE numbers CYCLE');
is(ask($other, $next), 'ERROR 55000', 'refused: it cycles');
does($changer, 'ALTER SEQUENCE numbers NO CYCLE INCREMENT -1');
is(ask($other, $next), 'ERROR 55000', 'refused: it counts down');
does($changer, 'ALTER SEQUENCE numbers INCREMENT 100 MAXVALUE 200');
is(ask($other, $next), 'ERROR 2200H', 'refused: at its end');
does($changer, 'ALTER SEQUENCE numbers MAXVALUE 1000');
is_next('refused: and no more', ask($other, $next), 'above', 15, 100);
does($changer, 'DROP SEQUENCE numbers');
is(ask($other, $next), 'ERROR 42P01', 'refused: dropped');
is(ask($other, $by_name), 'ERROR 42P01', 'refused: by its name, too');

# Statements that were prepared, and functions that were called, before a sequence was made anew.
make_numbers('made anew');
does($other, "PREPARE next AS $by_name");
does($changer, 'CREATE FUNCTION draw() RETURNS bigint LANGUAGE plpgsql AS '
      . q($$ BEGIN RETURN snowid_segment_next('numbers'); END $$));
is(ask($other, 'EXECUTE next; SELECT draw()'), "16\n17", 'made anew: before');
does($changer, 'DROP SEQUENCE numbers; CREATE SEQUENCE numbers INCREMENT 100');
is(ask($other, 'EXECUTE next; SELECT draw()'), "1\n2", 'made anew: after');

# 2. Who changes a sequence waits for transactions that have drawn, whatever became of the
# subtransaction that did; and these go on undisturbed.
foreach my $drawn ('SELECT', 'SAVEPOINT a; SELECT; ROLLBACK TO a', 'SAVEPOINT a; SELECT; RELEASE a')
{
    foreach my $change ('ALTER SEQUENCE numbers RESTART', 'TRUNCATE rows RESTART IDENTITY')
    {
        make_numbers("$drawn, $change");
        does($other, 'BEGIN; ' . ($drawn =~ s/SELECT/$next/r));
        start_asking($changer, $change);
        wait_until_waiting($node, $changer, 'Lock');
        is(ask($other, $next), 17, "$drawn: $change waits");
        does($other, 'COMMIT');
        is(answer($changer), '', "$drawn: and goes on");
        is(ask($other, $next), 1, "$drawn: which then counts");
    }
}

# Pages that a transaction holds on to, and storage that it makes or drops: in every order.
foreach my $steps (
    'NEXT; ALTER SEQUENCE numbers RESTART; NEXT; ALTER SEQUENCE numbers RESTART; NEXT; COMMIT',
    'NEXT; ALTER SEQUENCE numbers RESTART; COMMIT',
    'NEXT; ALTER SEQUENCE numbers RESTART; NEXT; ROLLBACK',
    'NEXT; SAVEPOINT a; ALTER SEQUENCE numbers RESTART; NEXT; ROLLBACK TO a; NEXT; COMMIT',
    'NEXT; SAVEPOINT a; NEXT; ALTER SEQUENCE numbers RESTART; ROLLBACK TO a; NEXT; COMMIT',
    'SAVEPOINT a; NEXT; SAVEPOINT b; ALTER SEQUENCE numbers RESTART; NEXT; RELEASE b; ROLLBACK TO a; NEXT; COMMIT',
    'SAVEPOINT a; CREATE SEQUENCE made; SELECT snowid_segment_next(\'made\'); ROLLBACK TO a; NEXT; COMMIT',
    'CREATE SEQUENCE made; SELECT snowid_segment_next(\'made\'); ROLLBACK',
    'CREATE SEQUENCE made; SELECT snowid_segment_next(\'made\'); DROP SEQUENCE made; COMMIT',
    'CREATE SEQUENCE made; SAVEPOINT a; SELECT snowid_segment_next(\'made\'); SELECT 1/0; ROLLBACK TO a; '
      . 'SELECT snowid_segment_next(\'made\'); DROP SEQUENCE made; COMMIT',
    'NEXT; DROP SEQUENCE numbers; COMMIT',
    'NEXT; DROP SEQUENCE numbers; ROLLBACK',
    'NEXT; DROP TABLE rows; CREATE TABLE rows (id int); ROLLBACK',
    'NEXT; SELECT 1/0; ROLLBACK',
    'NEXT; SAVEPOINT a; SELECT 1/0; ROLLBACK TO a; ALTER SEQUENCE numbers RESTART; NEXT; COMMIT',
    'NEXT; TRUNCATE rows RESTART IDENTITY; NEXT; PREPARE TRANSACTION \'p\'; COMMIT PREPARED \'p\'',
    'NEXT; TRUNCATE rows RESTART IDENTITY; NEXT; PREPARE TRANSACTION \'p\'; ROLLBACK PREPARED \'p\'')
{
    make_numbers($steps);
    my $divides = $steps =~ m{1/0};
    my $errors = grep { ask($changer, $_) =~ /ERROR/ } 'BEGIN', split /; /, $steps =~ s/NEXT/$next/gr;
    is($errors, $divides ? 1 : 0, "$steps: done");
}

# Prepared transactions hold on to what they have drawn from, as others do.
make_numbers('prepared');
is(ask($other, "BEGIN; $next; PREPARE TRANSACTION 'drawn'"), 16, 'prepared: a transaction that has drawn');
start_asking($changer, 'ALTER SEQUENCE numbers RESTART');
wait_until_waiting($node, $changer, 'Lock');
does($other, "COMMIT PREPARED 'drawn'");
is(answer($changer), '', 'prepared: who alters the sequence waits for it');
foreach my $end ([ 'COMMIT', 2 ], [ 'ROLLBACK', 'above' ])
{
    make_numbers("prepared, $end->[0]");
    is(ask($changer, "BEGIN; ALTER SEQUENCE numbers RESTART; $next; PREPARE TRANSACTION 'altered'"),
        1, 'prepared: a transaction that has altered');
    start_asking($other, $next);
    wait_until_waiting($node, $other, 'Lock');
    does($changer, "$end->[0] PREPARED 'altered'");
    is_next("prepared: $end->[0]", answer($other), $end->[1], 15, 100);
}

# 3. What makes transactions of its own, or none of its own.
make_numbers('loops');
does($other, <<'SQL');
CREATE TABLE seen (n bigint);
CREATE PROCEDURE draw_and_commit() LANGUAGE plpgsql AS $$
DECLARE
  drawn record;
BEGIN
  FOR i IN 1..300 LOOP
    INSERT INTO seen VALUES (snowid_segment_next('numbers'));
    IF i % 3 = 0 THEN ROLLBACK; ELSE COMMIT; END IF;
  END LOOP;
  FOR drawn IN SELECT snowid_segment_batch('numbers', 2500) AS n LOOP
    INSERT INTO seen VALUES (drawn.n);
    IF drawn.n % 500 = 0 THEN COMMIT; END IF;
  END LOOP;
END $$;
CREATE PROCEDURE draw_and_fail() LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1..300 LOOP
    BEGIN
      INSERT INTO seen VALUES (snowid_segment_next('numbers') / (i % 3));
    EXCEPTION WHEN division_by_zero THEN
      INSERT INTO seen VALUES (snowid_segment_next('numbers'));
    END;
  END LOOP;
END $$;
SQL
is(ask($other, 'CALL draw_and_commit()'), '', 'COMMIT in a loop');
is(ask($third, 'SELECT count(*), count(DISTINCT n), min(n), max(n) FROM seen; TRUNCATE seen'), "2700|2700|16|2815",
    'COMMIT in a loop: what was rolled back does not come again');
is(ask($other, 'CALL draw_and_fail()'), '', 'failures in a loop');
is(ask($other, $next), 2815 + 401, 'failures in a loop: nothing that was drawn comes again');

# Cursors, whose numbers are drawn as they are fetched.
make_numbers('cursors');
my $cursor = "FOR SELECT snowid_segment_batch('numbers', 5000)";
does($other, "BEGIN; DECLARE kept CURSOR WITH HOLD $cursor");
is(ask($other, 'FETCH 2 FROM kept'), "16\n17", 'a cursor with hold');
is(ask($other, 'COMMIT; FETCH 3 FROM kept'), "18\n19\n20", 'goes on after the commit');
is(ask($other, 'MOVE 4994 FROM kept; FETCH 1 FROM kept'), 5015, 'to its end');
is(ask($third, $next), 5016, 'all its numbers are drawn');
is(ask($other, "CLOSE kept; BEGIN; DECLARE c CURSOR $cursor; FETCH 1 FROM c"), 5017, 'a cursor');
is(ask($other, 'SAVEPOINT a; MOVE 2000 FROM c; FETCH 1 FROM c; ROLLBACK TO a; FETCH 1 FROM c'), "7018\n7019",
    'a cursor goes on after its subtransaction has rolled back');
is(ask($other, 'COMMIT; ' . $next), 7101, 'and what it has not come to is left, but for the rest of a block');

# 4. Rights, which are those that nextval needs, are looked at for each call.
make_numbers('rights');
does($other, 'SET ROLE alice');
sub may { return is(ask($other, $by_name), $_[0], "rights: $_[1]") }
my $number = 16;
may('ERROR 42501', 'none');
is(ask($other, "SELECT snowid_segment_next('numbers', 10)"), 'ERROR 42501', 'rights: none, with a size');
is(ask($other, "SELECT snowid_segment_batch('numbers', 10)"), 'ERROR 42501', 'rights: none for a batch');
is(ask($other, "SELECT snowid_segment_batch('numbers', 0)"), 'ERROR 42501', 'rights: none for an empty batch');
foreach my $right ('USAGE', 'UPDATE')
{
    does($changer, "GRANT $right ON SEQUENCE numbers TO alice");
    may($number++, "$right granted");
    may($number++, "$right granted, again");
    does($changer, "REVOKE $right ON SEQUENCE numbers FROM alice");
    may('ERROR 42501', "$right revoked");
}
does($changer, 'GRANT SELECT ON SEQUENCE numbers TO alice');
may('ERROR 42501', 'SELECT does not do');
does($changer, 'GRANT USAGE ON SEQUENCE numbers TO clerks');
may('ERROR 42501', 'another role has it');
does($changer, 'GRANT clerks TO alice');
may($number++, 'a member');
does($changer, 'REVOKE clerks FROM alice');
may('ERROR 42501', 'no member');
does($changer, 'GRANT USAGE ON SEQUENCE numbers TO PUBLIC');
may($number++, 'for all');
does($changer, 'REVOKE USAGE ON SEQUENCE numbers FROM PUBLIC');
may('ERROR 42501', 'not for all');
does($other, 'RESET ROLE');
may($number++, 'as one was before SET ROLE');
is(ask($other, "BEGIN; $by_name"), $number++, 'rights: in a transaction');
is(ask($other, "SET LOCAL ROLE alice; $by_name"), 'ERROR 42501', 'rights: of each call in it');
does($other, 'ROLLBACK');

# As part of something else. Functions with the rights of their owner have those.
does($changer, 'CREATE FUNCTION invoker() RETURNS bigint LANGUAGE sql AS ' . "\$\$ $by_name \$\$");
does($changer, 'CREATE FUNCTION definer() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS ' . "\$\$ $by_name \$\$");
does($changer, q(ALTER TABLE rows ALTER id SET DEFAULT snowid_segment_next('numbers')));
does($changer, 'GRANT INSERT ON rows TO alice');
does($other, 'SET ROLE alice');
is(ask($other, 'SELECT definer()'), $number++, 'rights: those of a SECURITY DEFINER function');
is(ask($other, 'SELECT invoker()'), 'ERROR 42501', 'rights: those of any other');
is(ask($other, 'SELECT definer(), invoker()'), 'ERROR 42501', 'rights: both in a statement');
$number++;
is(ask($other, 'INSERT INTO rows DEFAULT VALUES'), 'ERROR 42501', 'rights: a default needs them');
does($changer, 'GRANT USAGE ON SEQUENCE numbers TO alice');
is(ask($other, 'INSERT INTO rows DEFAULT VALUES'), '', 'rights: and has them');
$number++;
does($other, "BEGIN; DECLARE c CURSOR FOR SELECT snowid_segment_batch('numbers', 5000)");
is(ask($other, 'FETCH 1 FROM c'), $number, 'rights: of a batch');
does($other, 'RESET ROLE; REVOKE USAGE ON SEQUENCE numbers FROM alice; SET LOCAL ROLE alice');
is(ask($other, 'MOVE 5000 FROM c'), 'ERROR 42501', 'rights: of a batch, while it goes on');
does($other, 'ROLLBACK; SET ROLE alice');

# The owner has them, unless revoked.
does($changer, 'ALTER SEQUENCE numbers OWNED BY NONE; ALTER SEQUENCE numbers OWNER TO alice');
like(ask($other, $by_name), qr/^\d+$/, 'rights: the owner has them');
does($other, 'REVOKE ALL ON SEQUENCE numbers FROM alice');
may('ERROR 42501', 'the owner has given them up');
does($other, 'GRANT ALL ON SEQUENCE numbers TO alice');
does($changer, 'REVOKE EXECUTE ON FUNCTION snowid_segment_next(regclass) FROM PUBLIC');
may('ERROR 42501', 'the function itself is not for all');
does($changer, 'GRANT EXECUTE ON FUNCTION snowid_segment_next(regclass) TO PUBLIC');
like(ask($other, $by_name), qr/^\d+$/, 'rights: and it is again');
does($changer, 'ALTER SEQUENCE numbers OWNER TO clerks');
may('ERROR 42501', 'of another owner now');
does($other, 'RESET ROLE');

# 5. A sequence that is set back while a session is about to refill since it was set: there are numbers
# left after all. Who locks the table of sources can have it happen in this order.
make_numbers('set back');
does($other, q(SELECT setval('numbers', 5000)));
does($changer, 'BEGIN; LOCK TABLE snowid_internal.segment_sources');
start_asking($third, $next);
wait_until_waiting($node, $third, 'Lock');
does($other, q(SELECT setval('numbers', 101)));
does($changer, 'COMMIT');
ask($_, "SET statement_timeout = '1min'") foreach $changer, $other;
is(answer($third), 201, 'set back: the one who was to refill has done so');
is(ask($other, $next), 202, 'set back: others go on there');
is(ask($changer, $next), 203, 'set back: all do');

check_log($node);
$node->stop;
done_testing();
