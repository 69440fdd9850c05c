# Who changes a sequence waits for transactions that have drawn from its segment, prepared ones too, whatever became of the
# subtransaction that did; and who draws waits for a prepared transaction that has changed it.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('waits', conf => "max_prepared_transactions = 5\nsnowid.segment_adapt = off\n");
my ($changer, $other) = my @sessions = map { open_session($node) } 1 .. 2;
my $restart = 'ALTER SEQUENCE numbers RESTART';
foreach my $drawn ('NEXT', 'SAVEPOINT a; NEXT; ROLLBACK TO a', 'SAVEPOINT a; NEXT; RELEASE a')
{
    foreach my $change ($restart, 'TRUNCATE rows RESTART IDENTITY')
    {
        my $next = make_numbers(@sessions);
        ask($other, 'BEGIN; ' . $drawn =~ s/NEXT/$next/r);
        start_waiting($changer, $change);
        is(ask($other, $next), 17, "$drawn: $change waits");
        ask($other, 'COMMIT');
        is(answer($changer), '', "$drawn: and goes on");
        is(ask($other, $next), 1, "$drawn: which then counts");
    }
}

my $next = make_numbers(@sessions);
is(ask($other, "BEGIN; $next; PREPARE TRANSACTION 'drawn'"), 16, 'prepared: a transaction that has drawn');
start_waiting($changer, $restart);
is(ask($other, "COMMIT PREPARED 'drawn'"), '', 'prepared: is waited for');
is(answer($changer), '', 'prepared: by who alters the sequence');
foreach my $end ([ 'COMMIT', qr/^2$/ ], [ 'ROLLBACK', qr/^(?:1[6-9]|[2-9]\d|[123]\d\d)$/ ])
{
    $next = make_numbers(@sessions);
    is(ask($changer, "BEGIN; $restart; $next; PREPARE TRANSACTION 'altered'"), 1, 'prepared: a transaction that has altered');
    start_waiting($other, $next);
    ask($changer, "$end->[0] PREPARED 'altered'");
    like(answer($other), $end->[1], "prepared: $end->[0]");
}
end_test($node);
