# Whatever is done to a segment's sequence counts at once for every session, also for one that has numbers left in memory: in
# transactions that commit, roll back, or roll back in part.

use Snowid;

my $node = ready_server('changes', conf => "snowid.segment_adapt = off\n", sql => 'CREATE ROLE alice; CREATE SCHEMA elsewhere');
my ($changer, $other, $third) = my @sessions = map { open_session($node) } 1 .. 3;
my $by_name = q(SELECT snowid_segment_next('numbers'));

sub does
{
    my ($session, $sql) = @_;
    die "$sql: $session->{err}" if ask($session, $sql) =~ /ERROR/;
    return;
}

# What is done, and the number drawn then: as nextval would give it where the change says so, else one above all that were drawn.
# Only what was allocated may be wasted.
my @changes = (
    (map { [ "ALTER SEQUENCE numbers $_->[0]", $_->[1] ] } [ 'RESTART', 1 ], [ 'RESTART WITH 16', 16 ], [ 'RESTART WITH 5000', 5000 ],
        [ 'MAXVALUE 150', 'ERROR 2200H' ], [ 'CYCLE', 'ERROR 55000' ], [ 'INCREMENT -1', 'ERROR 55000' ],
        map { [ $_, 'above' ] } 'INCREMENT 1000', 'INCREMENT 10', 'MAXVALUE 203', 'MINVALUE -7', 'START WITH 7', 'CACHE 7', 'AS int', 'SET UNLOGGED',
        'SET UNLOGGED; ALTER SEQUENCE numbers SET LOGGED', 'OWNED BY NONE; ALTER SEQUENCE numbers OWNER TO alice',
        'OWNED BY NONE; ALTER SEQUENCE numbers SET SCHEMA elsewhere', 'RENAME TO numerals'),
    [ 'TRUNCATE rows RESTART IDENTITY', 1 ],
    [ 'DROP SEQUENCE numbers; CREATE SEQUENCE numbers INCREMENT 100', 1 ],
    # These are no change of the sequence.
    [ 'TRUNCATE rows', 16 ],
    [ 'GRANT USAGE ON SEQUENCE numbers TO alice', 16 ],
    # These are not undone by a rollback, and nobody waits for them.
    (map { [ "SELECT setval('numbers', $_->[0]) IS NULL", $_->[1] ] } [ 1, 101 ], [ '1, false', 1 ], [ 16, 116 ], [ 100, 200 ],
        [ 5000, 5100 ], [ '5000, false', 5000 ], [ 101, 201 ], [ '101, false', 101 ]),
    [ q(SELECT nextval('numbers') IS NULL), 'above' ]);

# Checks the number that a session draws next, and returns it: the one expected, or, where that is 'above', one above the
# greatest drawn, with no more left out than two blocks and another of `increment`.
sub is_next
{
    my ($name, $answer, $expected, $greatest, $increment) = @_;
    my $is = $expected eq 'above' ? $answer =~ /^\d+$/ && $answer > $greatest && $answer <= $greatest + 200 + $increment : $answer eq $expected;
    ok($is, $name) or diag("got $answer, expected $expected; the greatest was $greatest");
    return $answer;
}

foreach my $change (@changes)
{
    my ($do, $then) = @$change;
    my $increment = $do =~ /INCREMENT (\d+)/ ? $1 : 100;
    my $is_refused = $then =~ /ERROR/;
    my $stays = $do =~ /setval|nextval/;
    my $waits = !$stays && $do !~ /^GRANT|^TRUNCATE rows$/;
    # A sequence of its name is another one to those who know only the old.
    my $is_other = $do =~ /^DROP/;

    my $next = make_numbers(@sessions);
    does($changer, $do);
    $next = $by_name if $is_other;
    # What nextval gives is drawn, too.
    my $before = $do =~ /nextval/ ? last_value($node, 'numbers') : 15;
    my $is = is_next("$do: counts at once", ask($other, $next), $then, $before, $increment);
    is(join(' ', map { ask($_, $next) } $third, $changer), $is_refused ? "$then $then" : join(' ', $is + 1, $is + 2), "$do: for all");

    # Rolled back before anybody has drawn, it has never been.
    $next = make_numbers(@sessions);
    does($changer, "BEGIN; $do; ROLLBACK");
    is_next("$do, rolled back: nothing has happened", ask($other, $next), $stays ? $then : 16, $before, $increment);
    next if $is_refused;

    $next = make_numbers(@sessions);
    $next = $by_name if $is_other;
    does($changer, "BEGIN; $do");
    $is = is_next("$do, committed: counts in the transaction", ask($changer, $next), $then, $before, $increment);
    start_asking($other, $next);
    wait_until_waiting($node, $other, 'Lock') if $waits;
    does($changer, 'COMMIT') if $waits;
    # Who has waited for a sequence that was dropped meanwhile is told that it is no more.
    my $answer = answer($other);
    $answer = ask($other, $next) if $is_other && $answer eq 'ERROR 42P01';
    is($answer, $is + 1, "$do, committed: others " . ($waits ? 'wait for it' : 'go on'));
    does($changer, 'COMMIT') unless $waits;

    $next = make_numbers(@sessions);
    $next = $by_name if $is_other;
    does($changer, "BEGIN; $do");
    $is = is_next("$do, drawn and rolled back: counts in the transaction", ask($changer, $next), $then, $before, $increment);
    start_asking($other, $next);
    wait_until_waiting($node, $other, 'Lock') if $waits;
    does($changer, 'ROLLBACK') if $waits;
    # Those that the transaction drew from what it has altered are no more.
    my $left = is_next("$do, drawn and rolled back: others go on from what it was", answer($other), 'above', $stays ? $is : 15, 100);
    does($changer, 'ROLLBACK') unless $waits;
    is(ask($third, $next), $left + 1, "$do, drawn and rolled back: all do");

    $next = make_numbers(@sessions);
    $next = $by_name if $is_other;
    does($changer, "BEGIN; SAVEPOINT a; $do");
    $is = is_next("$do, rolled back in part: counts until then", ask($changer, $next), $then, $before, $increment);
    does($changer, 'ROLLBACK TO a');
    $left = is_next("$do, rolled back in part: goes on from what it was", ask($changer, $next), 'above', $stays ? $is : 15, 100);
    is(ask($other, $next), $left + 1, "$do, rolled back in part: others do");
    does($changer, 'COMMIT');
}

# Back from what is refused.
my $next = make_numbers(@sessions);
foreach my $step ([ 'CYCLE', 'ERROR 55000' ], [ 'NO CYCLE INCREMENT -1', 'ERROR 55000' ], [ 'INCREMENT 100 MAXVALUE 200', 'ERROR 2200H' ], [ 'MAXVALUE 1000', 'above' ])
{
    does($changer, "ALTER SEQUENCE numbers $step->[0]");
    is_next("$step->[0]: refused as long as it is so", ask($other, $next), $step->[1], 15, 100);
}
# Statements that were prepared, and functions that were called, before a sequence was made anew.
make_numbers(@sessions);
does($other, "PREPARE next AS $by_name; CREATE FUNCTION draw() RETURNS bigint LANGUAGE plpgsql AS " . q($$ BEGIN RETURN snowid_segment_next('numbers'); END $$));
is(ask($other, 'EXECUTE next; SELECT draw()'), "16\n17", 'made anew: before');
does($changer, 'DROP SEQUENCE numbers');
is(ask($other, 'EXECUTE next'), 'ERROR 42P01', 'dropped');
does($changer, 'CREATE SEQUENCE numbers INCREMENT 100');
is(ask($other, 'EXECUTE next; SELECT draw()'), "1\n2", 'made anew: after');
end_test($node);
