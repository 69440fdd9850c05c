# A central source falls silent once it has taken a connection: before it has let the client in, or right after, with the encoding
# that the client asked for or with another one, or since its process has stopped. Others draw on while one is stuck there; who
# finds no number left waits, and can be cancelled, as the one who is stuck can; without that there is 08006 when connect_timeout
# and ten seconds are over; and all are served when the source answers again.
# Runs in make test-all: it waits until silent sources are given up.

use Snowid;
use SnowidFakes;

my @fakes = qw(closed deaf foreign);
my @ways = (@fakes, 'stopped');
my $source = new_server('source');
$source->start;
my $node = new_server('node');
$node->append_conf('postgresql.conf', "max_connections = 20\nsnowid.segment_adapt = off\n");
start_server($node);
my %stopped;
END { kill 'CONT', keys %stopped }

# No number comes twice.
my (%seen, $repeated);

sub note_numbers
{
    my ($sequence, $answer) = @_;
    $repeated .= join '', grep { $seen{"$sequence $_"}++ } split / /, $answer if $answer =~ /^[\d ]+$/;
    return $answer;
}

# Of each way two sequences: `long` allows for more time than this test takes, `short` for twelve seconds. Everybody has a block.
my (%session, %fake);
foreach my $way (@ways)
{
    attach_to($node, $source, $_) foreach "long_$way", "short_$way";
    $node->safe_psql('postgres', "ALTER SERVER long_$way OPTIONS (SET connect_timeout '600')");
    $session{$_}{$way} = open_session($node) foreach qw(stuck other without);
    note_numbers($_, $node->safe_psql('postgres', statement_for($_, 1))) foreach "long_$way", "short_$way";
}
foreach my $name (map { ("long_$_", "short_$_") } @fakes)
{
    $fake{$name} = start_fake($name =~ s/.*_//r);
    point_at($node, $fake{$name}, name => $name);
}

# Who is stuck has used more than a tenth of the block, so that another is due; who is without has set the sequence, so that what
# is left counts no more. For this lock the refill waits with no lock_timeout yet.
my $holder = open_session($source);
ask($holder, 'BEGIN; LOCK TABLE pg_catalog.pg_sequence');
foreach my $way (@ways)
{
    ask($session{without}{$way}, "SELECT setval('short_$way', last_value, is_called) FROM short_$way");
    start_asking($session{stuck}{$way}, statement_for("long_$way", 50));
    start_asking($session{without}{$way}, statement_for("short_$way", 5));
}
my @pids;
wait_for(sub { (@pids = split /\n/, $source->safe_psql('postgres', q(SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ 'nextval'))) == 2 },
    'two refills to reach the source');
@stopped{@pids} = ();
kill 'STOP', @pids;
wait_for(sub { !grep { state_of($_) ne 'T' } @pids }, 'their processes to stop');
ask($holder, 'ROLLBACK');

sub cancel { my ($session) = @_; $node->safe_psql('postgres', "SELECT pg_cancel_backend($session->{backend})"); return answer($session) }

foreach my $way (@ways)
{
    my $other = $session{other}{$way};
    my @numbers = map { note_numbers("long_$way", ask($other, statement_for("long_$way", 1))) } 1 .. 20;
    is(scalar(grep { /^\d+$/ } @numbers), 20, "$way: who has numbers goes on");
    is($node->safe_psql('postgres', "SELECT state FROM pg_stat_activity WHERE pid = $session{stuck}{$way}{backend}"), 'active', "$way: while another is stuck");
    start_waiting($other, statement_for("long_$way", 100), 'Extension');
    is(cancel($other), 'ERROR 57014', "$way: who finds none left waits, and can be cancelled");
}
is(cancel($session{stuck}{$_}), 'ERROR 57014', "$_: who is stuck can be cancelled") foreach @ways;
foreach my $way (@ways)
{
    is(answer($session{without}{$way}), 'ERROR 08006', "$way: who has none gets an error in time");
    like($session{without}{$way}{err}, qr/server "short_$way".*HINT:  Numbers are issued again as soon as the server can be reached/s, "$way: that names the server");
}

# The source answers again. It is tried after twice as long as it has failed for, by the clock.
kill 'CONT', @pids;
%stopped = ();
end_fake($fake{$_}), point_at($node, $source, name => $_) foreach sort keys %fake;
set_clock(60, $node);
foreach my $sequence (map { ("long_$_", "short_$_") } @ways)
{
    my $answer;
    wait_for(sub { ($answer = ask($session{other}{ $sequence =~ s/.*_//r }, statement_for($sequence, 1))) ne 'ERROR 08006' }, 'the source to be tried again');
    like(note_numbers($sequence, $answer), qr/^\d+$/, "$sequence: served again");
}
is($repeated // '', '', 'no number came twice');
close_session($holder);
check_no_connection($source, 'all refills leave the source');
close_session(map { values %{ $session{$_} } } keys %session);
$source->stop;
end_test($node);
