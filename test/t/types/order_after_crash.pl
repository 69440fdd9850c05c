# After a crash UUIDs and ObjectIDs of all databases go on above those of before, with the clock set back by ten minutes: who has drawn has to
# wait, or is let run ahead, and takes the others along. ObjectIDs have another process after each start.
# Runs in make test-all: it crashes under load.

use Snowid;

my $node = ready_server('crashes', conf => "max_connections = 60\n", databases => ['other']);
my $clock = 0;
foreach my $call ('snowid_uuidv7()', 'objectid_next()')
{
    my $greatest = '';
    # In the second round one database alone draws, for an hour; the other has nothing to wait for.
    foreach my $round ([ 'kill', 'postgres', 'other' ], [ 'immediate', 'other' ])
    {
        my ($how, @drawing_in) = @$round;
        my $name = "$how, drawing in @drawing_in";
        set_clock($clock += 3600, $node);
        my @drawing = map { draw($node, $call, undef, dbname => $drawing_in[ $_ % @drawing_in ]) } 1 .. 4;
        wait_to_draw(20_000, @drawing);
        crash($node, $how);
        finish(@drawing);
        unlike(errors_of(@drawing), qr/ERROR/, "$name: no session failed");
        (undef, $greatest) = check_text_round("$name, $call", $greatest, @drawing);
        my $process = substr $greatest, 8, 10;
        set_clock($clock - 600, $node);
        start_server($node);
        my %session = map { $_ => open_session($node, dbname => $_) } qw(postgres other);
        is(ask($session{$_}, "SET snowid.max_wait = 0; SELECT $call"), 'ERROR SN001', "$name: an error while the clock is behind, in $_: $call") foreach @drawing_in;
        ask($_, "SET snowid.max_lead = '1d'") foreach values %session;
        check_in_turns("$name, clock set back", $call, \$greatest, @session{@drawing_in}, values %session);
        isnt(substr($greatest, 8, 10), $process, "$name: another process") if $call =~ /objectid/;
        close_session(values %session);
    }
}
end_test($node);
