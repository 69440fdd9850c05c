# What sets a section's sequence, in one session, holds for every session at once: the first number that each key gets is the
# sequence's new beginning, and memory knows of none before.

use Snowid;

my $node = ready_server('set');
my ($changer, $second, $third) = my @sessions = map { open_session($node) } 1 .. 3;
sub next_number { my ($session, $key) = @_; return ask($session, "SELECT snowid_section_next('counted', $key)") }

foreach my $change (
    # The sequence's own last value, though not called, too.
    (map { [ "SELECT setval('counted', $_->[0])", $_->[1] ] } [ 5000, 5001 ], [ 10, 11 ], [ '10, false', 10 ], [ '100000, false', 100000 ], [ -20, -19 ],
        [ '(SELECT last_value FROM counted), false', 'last_value' ]),
    (map { [ "ALTER SEQUENCE counted $_->[0]", $_->[1] ] } [ 'RESTART', 1 ], [ 'RESTART WITH 700', 700 ], [ 'START 30 RESTART', 30 ]),
    [ 'TRUNCATE owner RESTART IDENTITY', 1 ],
    (map { [ "DROP SEQUENCE counted; CREATE SEQUENCE counted $_->[0]", $_->[1] ] } [ 'INCREMENT 100', 1 ], [ 'INCREMENT 3 START 900', 900 ]))
{
    # As it is; in a transaction that is rolled back where setval does not care; under a savepoint, after drawing.
    foreach my $around ([ '', '' ], [ 'BEGIN; ', $change->[0] =~ /setval/ ? '; ROLLBACK' : '; COMMIT' ],
        [ q(BEGIN; SELECT snowid_section_next('counted', 1); SAVEPOINT s; ), '; RELEASE s; COMMIT' ])
    {
        make_counted(50, @sessions);
        my $begins = $change->[1] eq 'last_value' ? last_value($node, 'counted') : $change->[1];
        my $sql = join $change->[0], @$around;
        unlike(ask($changer, $sql), qr/ERROR/, $sql);
        is(join(' ', map { ask($_, q(SELECT snowid_section_current('counted', 1) IS NULL)) } @sessions), 't t t', "$sql: memory knows of no number");
        my @numbers = (next_number($second, 1), next_number($third, 2), next_number($changer, 3), next_number($third, 1));
        is("@numbers", join(' ', ($begins) x 3, $begins + 1), "$sql: what is new holds for all");
        cmp_ok(last_value($node, 'counted'), '>=', $begins + 1, "$sql: the limit is above");
    }
}
end_test($node);
