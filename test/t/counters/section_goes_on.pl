# What does not set a section's sequence, or is rolled back, sets no key back: each goes on above all numbers that it had, in every
# session. A change takes effect in its transaction until then.

use Snowid;

my $node = ready_server('goes_on', conf => "max_prepared_transactions = 5\n");
my ($changer, $second, $third) = my @sessions = map { open_session($node) } 1 .. 3;
my $next = q(SELECT snowid_section_next('counted', 1));

# Checks that keys go on above their numbers, and `floor`, whatever session draws.
sub check_go_on
{
    my ($name, $floor, $of_1, $of_2) = @_;
    my @numbers = map { ask($_, $next) } $second, $changer, $third;
    my @of_2 = map { ask($_, q(SELECT snowid_section_next('counted', 2))) } $third, $second;
    my @above = (($numbers[0] > $of_1 && $numbers[0] > $floor), $of_2[0] > $of_2 && $of_2[0] > $floor);
    ok($above[0] && $above[1] && $numbers[0] < $numbers[1] && $numbers[1] < $numbers[2] && $of_2[0] < $of_2[1], "$name: keys go on")
      or diag("above $floor, $of_1, $of_2: @numbers, @of_2");
    return;
}

foreach my $sql ('ALTER SEQUENCE counted RESTART', 'ALTER SEQUENCE counted RESTART WITH 700', 'TRUNCATE owner RESTART IDENTITY',
    'DROP SEQUENCE counted CASCADE; CREATE SEQUENCE counted INCREMENT 100')
{
    my $begins = $sql =~ /700/ ? 700 : 1;
    # So few that the limits before and after are the same.
    make_counted(5, @sessions);
    is(ask($changer, "BEGIN; $sql; $next"), $begins, "$sql: takes effect in its transaction");
    start_asking($second, $next);
    wait_for_waiting($node, 1, 'Lock', 'snowid_section_next');
    ask($changer, 'ROLLBACK');
    my $number = answer($second);
    cmp_ok($number, '>', 15, "$sql, rolled back: who has waited goes on");
    check_go_on("$sql, rolled back", 0, $number, 3);

    make_counted(50, @sessions);
    my $before = ask($changer, "BEGIN; $next");
    is(ask($changer, "SAVEPOINT s; $sql; $next"), $begins, "$sql: takes effect in its subtransaction");
    $number = ask($changer, "ROLLBACK TO s; $next");
    cmp_ok($number, '>', $before, "$sql, savepoint rolled back: the transaction goes on");
    ask($changer, 'COMMIT');
    check_go_on("$sql, savepoint rolled back", 0, $number, 3);
}
foreach my $sql (q(SELECT nextval('counted')), (map { "ALTER SEQUENCE counted $_" } 'INCREMENT 7', 'MAXVALUE 100000', 'CACHE 20', 'SET UNLOGGED', 'OWNED BY NONE',
        'RENAME TO other; ALTER SEQUENCE other RENAME TO counted'), q(SELECT setval('counted', last_value) FROM counted),
    q(BEGIN; SELECT snowid_section_next('counted', 1); PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p'))
{
    make_counted(50, @sessions);
    my $answer = ask($changer, $sql);
    unlike($answer, qr/ERROR/, $sql);
    # A number that nextval has given is never that of a key.
    check_go_on($sql, $sql =~ /nextval/ ? $answer : 0, 150, 3);
}
make_counted(50, @sessions);
my @numbers = map { (ask($changer, q(SELECT nextval('counted'))), map { ask($_, $next) } $second, $third) } 1 .. 30;
is(scalar(grep { $numbers[$_] <= $numbers[ $_ - 1 ] } 1 .. $#numbers), 0, 'nextval and a key, in turn: in order');

# A sequence that comes and goes with a subtransaction; and one that others cannot see yet, and take for dropped.
my ($make, $of_brief) = ('CREATE SEQUENCE brief INCREMENT 10', q(SELECT snowid_section_next('brief', 1)));
is(ask($changer, $_), 1, $_) foreach "BEGIN; SAVEPOINT s; $make; $of_brief; ROLLBACK TO s; COMMIT", "BEGIN; $make; $of_brief; DROP SEQUENCE brief; COMMIT";
ask($changer, "BEGIN; $make");
ask($changer, $of_brief) foreach 1 .. 5;
ask($second, q(SELECT snowid_section_next('counted', 9)));
cmp_ok(ask($changer, $of_brief), '>', 5, 'a sequence that others cannot see goes on');
ask($changer, 'COMMIT');
end_test($node);
