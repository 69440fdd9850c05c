# A central source that falls silent once it has taken a connection: before it has let the client in, or
# before it answers the query, or since its process has stopped. Others draw on while one is stuck there;
# who finds no number left waits, and can be cancelled, as the one who is stuck can; without that there is
# 08006 when connect_timeout and ten seconds are over; and all are served when the source answers again.
#
# PostgreSQL 15's dblink cannot be interrupted while it connects: who is stuck there stays so, for as long
# as connect_timeout says or until the source acts.

use strict;
use warnings;

use IO::Socket::UNIX;
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my @ways = qw(closed deaf stopped);
my $source = new_server('source');
$source->start;
my $node = new_server('node');
$node->append_conf('postgresql.conf', "snowid.segment_adapt = off\n");
$node->start;
# Ways in which who is stuck cannot be cancelled.
my %is_deaf = $node->pg_version < 16 ? (closed => 1) : ();

# Of each way two sequences, each with a server of its own: `long` allows for more time than this test
# takes, `short` for twelve seconds.
foreach my $way (@ways)
{
    foreach my $sequence ("long_$way", "short_$way")
    {
        add_source($node, $source, name => $sequence);
        $source->safe_psql('postgres', "CREATE SEQUENCE $sequence INCREMENT 100");
        $node->safe_psql('postgres', "CREATE SEQUENCE $sequence; SELECT snowid_segment_attach('$sequence', '$sequence', '$sequence')");
    }
    $node->safe_psql('postgres', "ALTER SERVER long_$way OPTIONS (SET connect_timeout '600')");
}

# What is not to outlive the test: processes that take connections, and those of the source that have
# stopped.
my (%fakes, %stopped);
END
{
    kill 'KILL', keys %fakes;
    kill 'CONT', keys %stopped;
}

# Another one than the server's own would be set, in a query for which dblink has no patience.
my $encoding = $node->safe_psql('postgres', 'SHOW server_encoding');

# In place of a source, one that takes connections, lets clients in or not, and never answers.
sub start_fake
{
    my ($port, $lets_in) = @_;
    my $host = PostgreSQL::Test::Utils::tempdir_short();
    my $listener = IO::Socket::UNIX->new(Local => "$host/.s.PGSQL.$port", Listen => 10) // die $@;
    my $process = fork // die $!;
    if (!$process)
    {
        my @clients;
        while (my $client = $listener->accept)
        {
            push @clients, $client;
            next unless $lets_in;
            # The client's first message has to be read before it is let in. What it sends next is not.
            $client->sysread(my $length, 4) // next;
            $client->sysread(my $message, unpack('N', $length) - 4) // next;
            $client->syswrite(join '', map { substr($_, 0, 1) . pack('N', 3 + length) . substr($_, 1) }
                  'R' . pack('N', 0), "Sclient_encoding\0$encoding\0", 'ZI');
        }
        require POSIX;
        POSIX::_exit(0);
    }
    $fakes{$process} = 1;
    return { host => $host, port => $port, process => $process };
}

# No number comes twice.
my %seen;
my $repeated = 0;

sub note_numbers
{
    my ($sequence, $answer) = @_;
    $repeated += grep { $seen{"$sequence $_"}++ } split / /, $answer if $answer =~ /^[\d ]+$/;
    return $answer;
}

sub statement
{
    my ($sequence, $count) = @_;
    return "SELECT string_agg(n::text, ' ') FROM snowid_segment_batch('$sequence', $count) AS n";
}

sub cancel { return $node->safe_psql('postgres', "SELECT pg_cancel_backend($_[0]{backend})") }

sub is_active
{
    return $node->safe_psql('postgres', "SELECT state = 'active' FROM pg_stat_activity WHERE pid = $_[0]{backend}");
}

# Everybody has a block.
my (%session, %fake);
foreach my $way (@ways)
{
    $session{$_}{$way} = open_session($node) foreach qw(stuck other without);
    backend_of($session{$_}{$way}) foreach qw(stuck other without);
    note_numbers($_, $node->safe_psql('postgres', statement($_, 1))) foreach "long_$way", "short_$way";
}

# Then the source falls silent. Who is stuck has used more than a tenth of the block, so that another is
# due; who is without has set the sequence, so that what is left counts no more.
my $port = 1;
foreach my $way ('closed', 'deaf')
{
    $fake{$way} = start_fake($port++, $way eq 'deaf');
    $node->safe_psql('postgres', "ALTER SERVER $_ OPTIONS (SET host '$fake{$way}{host}', SET port '$fake{$way}{port}')")
      foreach "long_$way", "short_$way";
}
my $holder = open_session($source);
# A lock for which the refill waits with no lock_timeout yet.
ask($holder, 'BEGIN; LOCK TABLE pg_catalog.pg_sequence');
foreach my $way (@ways)
{
    ask($session{without}{$way}, "SELECT setval('short_$way', last_value, is_called) FROM short_$way");
    start_asking($session{stuck}{$way}, statement("long_$way", 50));
    start_asking($session{without}{$way}, statement("short_$way", 5));
}
my $waiting = q(SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ 'nextval');
my @pids;
wait_for(sub { (@pids = split /\n/, $source->safe_psql('postgres', $waiting)) == 2 }, 'two refills to reach the source');
@stopped{@pids} = ();
kill 'STOP', @pids;
wait_for(sub { !grep { SnowidServers::state_of($_) ne 'T' } @pids }, 'their processes to stop');
ask($holder, 'ROLLBACK');

# Others go on while somebody is stuck.
foreach my $way (@ways)
{
    my $other = $session{other}{$way};
    my @numbers = map { note_numbers("long_$way", ask($other, statement("long_$way", 1))) } 1 .. 20;
    is(scalar(grep { /^\d+$/ } @numbers), 20, "$way: who has numbers goes on");
    is(is_active($session{stuck}{$way}), 't', "$way: while another is stuck");
    start_asking($other, statement("long_$way", 100));
    wait_until_waiting($node, $other, 'Extension');
    cancel($other);
    is(answer($other), 'ERROR 57014', "$way: who finds none left waits, and can be cancelled");
}

# Who is stuck can be cancelled, or gives up.
foreach my $way (@ways)
{
    my ($stuck, $without) = map { $session{$_}{$way} } qw(stuck without);
    if (!$is_deaf{$way})
    {
        cancel($stuck);
        is(answer($stuck), 'ERROR 57014', "$way: who is stuck can be cancelled");
    }
    is(answer($without), 'ERROR 08006', "$way: who has none gets an error in time");
    like($without->{err}, qr/server "short_$way".*HINT:  Numbers go on as soon as the server can be reached/s,
        "$way: that names the server");
}

# The source answers again.
kill 'CONT', @pids;
%stopped = ();
foreach my $way ('closed', 'deaf')
{
    kill 'KILL', $fake{$way}{process};
    waitpid $fake{$way}{process}, 0;
    delete $fakes{ $fake{$way}{process} };
    point_at($node, $source, name => $_) foreach "long_$way", "short_$way";
}
foreach my $way (sort keys %is_deaf)
{
    # Who was stuck all the time gets what was there.
    like(note_numbers("long_$way", answer($session{stuck}{$way})), qr/^\d+( \d+){49}$/, "$way: who was stuck has the numbers");
}
foreach my $way (@ways)
{
    foreach my $sequence ("long_$way", "short_$way")
    {
        my $answer;
        wait_for(sub { ($answer = ask($session{other}{$way}, statement($sequence, 1))) ne 'ERROR 08006' }, 'the source to be tried again');
        like(note_numbers($sequence, $answer), qr/^\d+$/, "$sequence: served again");
    }
}
is($repeated, 0, 'no number came twice');
close_session($holder);
check_no_connection($source, 'all refills leave the source');

close_session(map { values %{ $session{$_} } } keys %session);
check_log($node);
$_->stop foreach $node, $source;
done_testing();
