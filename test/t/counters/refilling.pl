# The right to refill, which one session has at a time. It is no lock that pg_locks shows, since readers of
# it, and detectors of deadlocks, would take it for DDL. Whatever becomes of the session that has it, or
# of a part of its transaction, others go on; and where each number has to be allocated, none comes twice.
#
# A central source may fall silent once it has taken a connection: before it has let the client in, or
# right after, with the encoding that the client asked for or with another one, or since its process has
# stopped. Others draw on while one is stuck there; who finds no number left waits, and can be cancelled, as
# the one who is stuck can; without that there is 08006 when connect_timeout and ten seconds are over; and all
# are served when the source answers again. Nor does who is stuck hold up an end of his session, or a stop of
# the server.
#
# Runs in make test-all: it waits until silent sources are given up.

use strict;
use warnings;

use IO::Socket::UNIX;
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $source = new_server('source');
$source->start;
$source->safe_psql('postgres', 'CREATE SEQUENCE there INCREMENT 10');
my $node = new_server('node', allows_streaming => 1);
$node->append_conf('postgresql.conf', "max_connections = 20\nsnowid.segment_adapt = off\n");
start_server($node);
add_source($node, $source);
$node->safe_psql('postgres', <<'SQL');
CREATE SEQUENCE single;
CREATE SEQUENCE limits;
CREATE SEQUENCE held;
CREATE SEQUENCE held_limit;
CREATE SEQUENCE short INCREMENT 10 MAXVALUE 10;
CREATE SEQUENCE refilled;
SELECT snowid_segment_attach('refilled', 'central', 'there');
SQL

# 1. Each number is allocated.
my @drawing = map { draw($node, q(snowid_segment_next('single')), 500) } 1 .. 8;
finish(@drawing);
my ($count, $greatest) = check_round('INCREMENT 1', 0, @drawing);
is("$count $greatest", '4000 4000', 'INCREMENT 1: all, and no gap');
@drawing = map { draw($node, q(1, snowid_section_next('limits', 1)), 500) } 1 .. 8;
finish(@drawing);
($count) = check_keys('INCREMENT 1, section', 0, @drawing);
is($count, 4000, 'INCREMENT 1, section: all');

# 2. What others see of it while it is held up.
my ($refiller, $waiter, $third) = map { open_session($node) } 1 .. 3;
backend_of($_) foreach $refiller, $waiter, $third;
foreach my $draw (q(SELECT snowid_segment_next('held')), q(SELECT snowid_section_next('held_limit', 1)))
{
    my $commits = hold_commits($node);
    start_asking($refiller, $draw);
    wait_until_waiting($node, $refiller, 'SyncRep');
    start_asking($waiter, $draw);
    wait_until_waiting($node, $waiter, 'Extension');
    is(ask($third, <<"SQL"), 'relation|RowExclusiveLock|t', "$draw: no lock but nextval's in pg_locks");
SELECT DISTINCT locktype, mode, granted FROM pg_locks WHERE locktype <> 'virtualxid'
  AND pid IN ($refiller->{backend}, $waiter->{backend})
SQL
    is(ask($third, "SELECT pg_blocking_pids($waiter->{backend})"), '{}', "$draw: nobody blocks who waits");
    release_commits($node, $commits);
    # Who has waited may be the quicker one.
    is(join(' ', sort(answer($refiller), answer($waiter))), '1 2', "$draw: then both are served");
}

# 3. Sessions that fail while they have it.
my $draw_refilled = q(SELECT snowid_segment_next('refilled'));
my $last = ask($waiter, $draw_refilled);
sub check_goes_on
{
    my ($name) = @_;
    ask($_, q(SET statement_timeout = '1min')) foreach $waiter, $third;
    my $until = $last + 20;
    while ($last < $until)
    {
        my $next = ask($last % 2 ? $waiter : $third, $draw_refilled);
        if ($next !~ /^\d+$/ || $next <= $last)
        {
            is($next, 'a number above', "$name: others go on");
            return;
        }
        $last = $next;
    }
    pass("$name: others go on");
    return;
}

my $locker = open_session($source);
foreach my $end ('pg_cancel_backend', 'pg_terminate_backend')
{
    my $victim = open_session($node);
    backend_of($victim);
    ask($locker, 'BEGIN; ALTER SEQUENCE there MINVALUE -1');
    # What is in memory counts no more.
    ask($third, q(SELECT setval('refilled', last_value, is_called) FROM refilled));
    start_asking($victim, $draw_refilled);
    # The source's sequence is locked.
    wait_for_waiting($source, 1, 'Lock', 'nextval');
    start_asking($waiter, $draw_refilled);
    wait_until_waiting($node, $waiter, 'Extension');
    ask($third, "SELECT $end($victim->{backend})");
    eval { answer($victim) };
    ask($locker, 'ROLLBACK');
    like(answer($waiter), qr/^\d+$|ERROR 08006/, "$end: who waits comes to its turn");
    wait_for(sub { ask($third, $draw_refilled) =~ /^\d+$/ }, 'the source to be tried again');
    $last = ask($third, $draw_refilled);
    check_goes_on($end);
    close_session($victim);
}

# Errors of a refill, in a subtransaction of a transaction that goes on.
my $too_long = q(SELECT snowid_segment_next('refilled', 5000));
my $exhausted = q(SELECT snowid_segment_next('short') FROM generate_series(1, 11));
is(ask($refiller, 'BEGIN; SAVEPOINT a; SAVEPOINT b'), '', 'a subtransaction');
is(ask($refiller, $too_long), 'ERROR 22023', 'fails to refill');
check_goes_on('failed subtransaction');
is(ask($refiller, 'ROLLBACK TO a'), '', 'and is rolled back');
like(ask($refiller, $draw_refilled), qr/^\d+$/, 'after which its transaction can draw');
is(ask($refiller, $exhausted), 'ERROR 2200H', 'and fail again');
is(ask($third, q(SELECT snowid_segment_next('short'))), 'ERROR 2200H', 'so do others');
ask($refiller, 'ROLLBACK TO a');
is(ask($refiller, <<'SQL'), '', 'errors that a function catches');
DO $$ BEGIN
  FOR i IN 1 .. 3 LOOP
    BEGIN
      PERFORM snowid_segment_next('refilled', 5000);
    EXCEPTION WHEN invalid_parameter_value THEN
      PERFORM snowid_segment_next('refilled');
    END;
  END LOOP;
END $$
SQL
$last = ask($third, $draw_refilled);
check_goes_on('caught');
ask($refiller, 'COMMIT');
is(ask($third, $exhausted), 'ERROR 2200H', 'fails in no subtransaction');
is(ask($waiter, q(SET statement_timeout = '1min'; SELECT snowid_segment_next('short'))), 'ERROR 2200H', 'others are told, too');

close_session($refiller, $waiter, $third, $locker);

# 4. A source that falls silent: a fake in place of it, or itself.
my @fakes = qw(closed deaf foreign);
my @ways = (@fakes, 'stopped');

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

# In place of a source, one that takes connections, lets clients in or not, and never answers. Its encoding
# is another than the node's. The client's is the one that is asked for, or else its own, as with any server; but
# its own with the way "foreign", which the client has it change then. How many clients it has so far is the size
# of a file.
my $encoding = 'LATIN2';
isnt($node->safe_psql('postgres', 'SHOW server_encoding'), $encoding, 'the encodings differ');

sub let_in
{
    my ($client, $way) = @_;
    # The client's first message has to be read before it is let in. What it sends next is not answered.
    $client->sysread(my $length, 4) // return;
    $client->sysread(my $message, unpack('N', $length) - 4) // return;
    # Names and values, behind the version of the protocol.
    my %wanted = split /\0/, substr($message, 4);
    my $used = $way eq 'foreign' ? $encoding : $wanted{client_encoding} // $encoding;
    $client->syswrite(join '', map { substr($_, 0, 1) . pack('N', 3 + length) . substr($_, 1) }
          'R' . pack('N', 0), "Sserver_encoding\0$encoding\0", "Sclient_encoding\0$used\0", 'ZI');
    $client->sysread($message, 1) if $way eq 'foreign';
    return;
}

sub start_fake
{
    my ($port, $way) = @_;
    my $host = PostgreSQL::Test::Utils::tempdir_short();
    my $listener = IO::Socket::UNIX->new(Local => "$host/.s.PGSQL.$port", Listen => 10) // die $@;
    my $process = fork // die $!;
    if (!$process)
    {
        my @clients;
        while (my $client = $listener->accept)
        {
            push @clients, $client;
            let_in($client, $way) if $way ne 'closed';
            append_to_file("$host/clients", '.');
        }
        require POSIX;
        POSIX::_exit(0);
    }
    $fakes{$process} = 1;
    return { host => $host, port => $port, process => $process };
}

sub end_fake
{
    my ($fake) = @_;
    kill 'KILL', $fake->{process};
    waitpid $fake->{process}, 0;
    delete $fakes{ $fake->{process} };
    return;
}

# Has a node take a fake for these of its sources.
sub point_at_fake
{
    my ($fake, @names) = @_;
    $node->safe_psql('postgres', "ALTER SERVER $_ OPTIONS (SET host '$fake->{host}', SET port '$fake->{port}')") foreach @names;
    return;
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
foreach my $way (@fakes)
{
    foreach my $sequence ("long_$way", "short_$way")
    {
        $fake{$sequence} = start_fake($port++, $way);
        point_at_fake($fake{$sequence}, $sequence);
    }
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

# Who is stuck can be cancelled.
foreach my $way (@ways)
{
    my $stuck = $session{stuck}{$way};
    cancel($stuck);
    is(answer($stuck), 'ERROR 57014', "$way: who is stuck can be cancelled");
}
# Who has no numbers gives up.
foreach my $way (@ways)
{
    my $without = $session{without}{$way};
    is(answer($without), 'ERROR 08006', "$way: who has none gets an error in time");
    like($without->{err}, qr/server "short_$way".*HINT:  Numbers go on as soon as the server can be reached/s,
        "$way: that names the server");
}

# The source answers again. It is tried after twice as long as it has failed for, by the clock.
kill 'CONT', @pids;
%stopped = ();
foreach my $way (@fakes)
{
    foreach my $sequence ("long_$way", "short_$way")
    {
        end_fake($fake{$sequence}) if $fakes{ $fake{$sequence}{process} };
        point_at($node, $source, name => $sequence);
    }
}
set_clock(60, $node);
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

# The right clock again.
set_clock(0, $node);

# Silent once more. Who is stuck does not hold up the end of his session, nor a stop of the server.
my (@silent, %clients_of);
foreach my $way (@fakes)
{
    push @silent, start_fake($port++, $way);
    point_at_fake($silent[-1], "long_$way");
    foreach my $session (map { $session{$_}{$way} } qw(other stuck))
    {
        ask($session, "SELECT setval('long_$way', last_value, is_called) FROM long_$way");
        start_asking($session, statement("long_$way", 1));
        my $clients = ++$clients_of{$way};
        wait_for(sub { (-s "$silent[-1]{host}/clients" // 0) == $clients }, "$way: the refill to be stuck");
        next if $session == $session{stuck}{$way};
        $node->safe_psql('postgres', "SELECT pg_terminate_backend($session->{backend})");
        my $is_there = "SELECT count(*) FROM pg_stat_activity WHERE pid = $session->{backend}";
        wait_for(sub { $node->safe_psql('postgres', $is_there) eq '0' }, "$way: the session to end");
        pass("$way: the session can be ended");
    }
}
ok($node->stop('fast', fail_ok => 1), 'stuck: the server can be stopped');
end_fake($_) foreach @silent;
# Where it could not.
$node->stop('immediate');

close_session(map { values %{ $session{$_} } } keys %session);
check_log($node);
$source->stop;
done_testing();
