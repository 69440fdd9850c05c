# UUIDs and ObjectIDs have one order for all sessions of all databases, whatever the clock does; while it is far behind there is an error.

use Snowid;

# However far the clock is behind; and no wait.
my ($far, $no_wait) = ("SET snowid.max_lead = '1d'", 'SET snowid.max_wait = 0');
my $node = ready_server('order', databases => ['other']);
my @databases = qw(postgres other);
my @sessions = map { open_session($node, dbname => $_) } @databases;
# Each has the clock to itself, from here on.
my $base = 0;
sub at { return set_clock($base + $_[0], $node) }
foreach my $call ('snowid_uuidv7()', 'objectid_next()')
{
    my $time = $call =~ /uuid/ ? 'snowid_uuid_timestamp' : 'objectid_timestamp';
    at(0);
    my @drawing = map { draw($node, $call, 2_000, dbname => $databases[ $_ % 2 ]) } 1 .. 8;
    finish(@drawing);
    my ($count, $greatest) = check_text_round("sessions of two databases, $call", '', @drawing);
    is($count, 16_000, "as many as asked for of $call");
    my $form = $call =~ /uuid/ ? qr/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/ : qr/^[0-9a-f]{8}\Q@{[ substr $greatest, 8, 10 ]}\E[0-9a-f]{6}$/;
    is(scalar(grep { !/$form/ } map { @{ ids($_) } } @drawing), 0, "of version 7, or of one process: $call");

    # The clock is set back a little after each turn, so that the order is not the clock's.
    ask($_, $far) foreach @sessions;
    foreach my $turn (1 .. 10)
    {
        at(-60 * $turn);
        check_in_turns("turn $turn", $call, \$greatest, @sessions[ $turn % 2, 1 - $turn % 2 ]);
    }
    ask($_, "RESET snowid.max_lead; $no_wait") foreach @sessions;
    foreach my $at (3600, 3599.8)
    {
        at($at);
        check_in_turns("$at s", $call, \$greatest, @sessions);
    }
    at(0);
    foreach my $session (@sessions)
    {
        is(ask($session, "SELECT $call"), 'ERROR SN001', "1 h back: an error: $call");
        like($session->{err}, qr/clock is (?:00:5\d:\d\d|01:00:0[012]) behind/, "1 h back: by how much: $call");
    }

    # A ceiling that is restored in one database while sessions draw: they go on above it from its next raise on, in both.
    at(4000);
    check_in_turns('before a restore', $call, \$greatest, @sessions);
    my $restored = $node->safe_psql('postgres', q(SELECT setval('snowid_internal.ceiling', (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 600000)));
    at(4300);
    ask($_, $far) foreach @sessions;
    check_in_turns('a ceiling restored', $call, \$greatest, @sessions);
    is(ask($_, "SELECT $time($call) >= date_trunc('second', to_timestamp($restored / 1000.0))"), 't', "a ceiling restored: above it: $call") foreach @sessions;
    ask($_, 'RESET snowid.max_lead') foreach @sessions;
    $base += 20_000;
}
end_test($node);
