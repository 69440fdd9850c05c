# Sessions: such as draw in the background while something is done to the server, and such as are asked one
# statement after another.
package SnowidSessions;

use strict;
use warnings;

use Exporter 'import';
use File::Spec;
use IO::Select;
use PostgreSQL::Test::Utils;
use SnowidRun;
use SnowidServers;
use Test::More;
use Time::HiRes qw(time);

our @EXPORT = qw(attempt sqlstate_of draw ids errors_of wait_to_draw wait_to_draw_together wait_to_go_on
  stop_drawing finish open_session ask start_asking start_waiting answer is_answered wait_until_waiting
  wait_for_waiting close_session hold_commits release_commits wait_until_synchronous reload_with);

my $scratch = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir());

# Runs a statement, which may take five minutes. Returns its output, or the SQLSTATE of its error as "ERROR 55000".
sub attempt
{
    my ($node, $sql, %options) = @_;
    my ($status, $out, $err) =
      eval { $node->psql($options{dbname} // 'postgres', "\\set VERBOSITY verbose\n$sql", timeout => 300) };
    # psql that cannot connect may have ended before it is sent the statement.
    die $@ if $@ && $@ !~ /Broken pipe/;
    return defined $status && $status == 0 ? $out : 'ERROR ' . sqlstate_of($err // $@);
}

sub sqlstate_of
{
    my ($text) = @_;
    return $text =~ /(?:ERROR|FATAL):  ([0-9A-Z]{5}):/ ? $1 : "in: $text";
}

# Starts a session that sends results of an expression to its client one by one, who records each as it
# comes: what it has seen counts, whether or not anything is ever committed. There are `rows` results, of
# which generate_series is the number; undef is for as many as it gets to. The expression may bring a FROM
# clause of its own. Options: setup, a statement to run before; dbname; pause_every, after how many results
# it pauses for a millisecond, so that it lasts while something is done to the server, and does not draw
# too much meanwhile.
my $sessions = 0;

sub draw
{
    my ($node, $expression, $rows, %options) = @_;
    my $file = "$scratch/drawn" . $sessions++;
    my $setup = $options{setup} // '';
    $rows //= 1_000_000_000_000;
    # In the SELECT list, since FROM would have all the numbers made before the first result.
    my $from = $expression =~ /\bFROM\b/ ? '' : "FROM (SELECT generate_series(1, $rows)) AS numbers";
    $from .= " WHERE generate_series % $options{pause_every} > 0 OR pg_sleep(0.001) IS NOT NULL"
      if $options{pause_every};
    my $sql = "COPY (SELECT $expression $from) TO STDOUT";
    open my $input, '<', File::Spec->devnull or die "/dev/null: $!";
    open my $output, '>', $file or die "$file: $!";
    open my $errors, '>', "$file.err" or die "$file.err: $!";
    my @command = ('psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $node->connstr($options{dbname} // 'postgres'));
    my $run = start_program([ @command, ($setup ? ('-c', $setup) : ()), '-c', $sql ], $input, $output, $errors);
    return { run => $run, file => $file };
}

# What a session's client saw.
sub ids
{
    my ($session) = @_;
    my @lines = split /^/, slurp_file($session->{file});
    pop @lines if @lines && $lines[-1] !~ /\n$/;
    chomp @lines;
    return \@lines;
}

# All that sessions that draw were told: errors, but no results.
sub errors_of { return join '', map { slurp_file("$_->{file}.err") } @_ }

# Waits until the client of each session has seen so many bytes.
sub wait_to_draw
{
    my ($bytes, @drawing) = @_;
    wait_for(sub { !grep { (-s $_->{file} // 0) < $bytes } @drawing }, 'the sessions to draw');
    return;
}

# The same of all clients together.
sub wait_to_draw_together
{
    my ($bytes, @drawing) = @_;
    my $seen = sub {
        my $sum = 0;
        $sum += -s $_->{file} // 0 foreach @drawing;
        return $sum;
    };
    wait_for(sub { $seen->() >= $bytes }, 'the sessions to draw');
    return;
}

# Waits until the client of each session has seen more than it has now.
sub wait_to_go_on
{
    my (@drawing) = @_;
    my %seen = map { $_->{file} => -s $_->{file} // 0 } @drawing;
    wait_for(sub { !grep { (-s $_->{file} // 0) <= $seen{ $_->{file} } } @drawing },
        'the sessions to go on');
    return;
}

# Has the sessions that draw on these nodes, which clients have seen something of, come to an end.
sub stop_drawing
{
    my ($nodes, @drawing) = @_;
    $_->safe_psql('postgres',
        q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY (%'})
      foreach @$nodes;
    finish(@drawing);
    return;
}

# Waits for sessions to end; their exit status does not matter.
sub finish
{
    $_->{run}->finish for @_;
    return;
}

# Opens a session that is asked one statement after another. `backend` is the process that serves it. Options: dbname; user.
sub open_session
{
    my ($node, %options) = @_;
    my @theirs = map { pipe my $from, my $to or die "pipe: $!"; [ $from, $to ] } 0 .. 2;
    my @command = ('psql', '-XAtq', '-v', 'VERBOSITY=verbose', ($options{user} ? ('-U', $options{user}) : ()),
        '-d', $node->connstr($options{dbname} // 'postgres'));
    my $run = start_program(\@command, $theirs[0][0], $theirs[1][1], $theirs[2][1]);
    $theirs[0][1]->blocking(0);
    my $session = { run => $run, to => $theirs[0][1], from => { out => $theirs[1][0], err => $theirs[2][0] }, in => '', node => $node };
    $session->{backend} = ask($session, 'SELECT pg_backend_pid()');
    return $session;
}

# Passes on what there is, both ways; waits for some, up to so many seconds. Fails where psql has ended.
sub pump
{
    my ($session, $seconds) = @_;
    die "psql has ended: $session->{err}" unless %{ $session->{from} };
    my %part = map { fileno $session->{from}{$_} => $_ } keys %{ $session->{from} };
    my ($can_read, $can_write) = IO::Select->select(IO::Select->new(values %{ $session->{from} }),
        length $session->{in} ? IO::Select->new($session->{to}) : undef, undef, $seconds);
    if ($can_write && @$can_write)
    {
        local $SIG{PIPE} = 'IGNORE';
        my $written = syswrite $session->{to}, $session->{in};
        die "psql has ended: $session->{err}" unless defined $written || $!{EAGAIN};
        substr $session->{in}, 0, $written // 0, '';
    }
    foreach my $handle (@{ $can_read // [] })
    {
        my $part = $part{ fileno $handle };
        sysread $handle, $session->{$part}, 65536, length $session->{$part} or delete $session->{from}{$part};
    }
    return $can_read && @$can_read;
}

# Has a session run a statement. Returns as attempt() does; the session goes on after an error, and
# its `err` has the whole message.
sub ask
{
    my ($session, $sql) = @_;
    start_asking($session, $sql);
    return answer($session);
}

# The same in two parts, for a statement that has to wait for something.
sub start_asking
{
    my ($session, $sql) = @_;
    $session->{$_} = '' foreach qw(out err);
    $session->{in} .= "$sql;\n\\echo end of answer\n\\warn end of answer\n";
    pump($session, 1) while length $session->{in};
    return;
}

sub answer
{
    my ($session) = @_;
    # How long an answer may take.
    my $deadline = time + 180;
    until ($session->{out} =~ /^end of answer\n/m && $session->{err} =~ /^end of answer\n/m)
    {
        pump($session, 1);
        die "no answer within three minutes" if time > $deadline;
    }
    $session->{$_} =~ s/\n?^end of answer\n//m foreach qw(out err);
    return $session->{err} =~ /ERROR:/ ? 'ERROR ' . sqlstate_of($session->{err}) : $session->{out};
}

# Whether a statement that was begun with start_asking() has come to its end.
sub is_answered
{
    my ($session) = @_;
    1 while pump($session, 0);
    return $session->{err} =~ /^end of answer\n/m;
}

# Has a session begin a statement, and waits until it waits for a thing: for a lock, unless another is named.
sub start_waiting
{
    my ($session, $sql, $for) = @_;
    start_asking($session, $sql);
    return wait_until_waiting($session->{node}, $session, $for // 'Lock');
}

# Waits until a session waits for a thing: Lock, SyncRep.
sub wait_until_waiting
{
    my ($node, $session, $for) = @_;
    my $sql = "SELECT '$for' IN (wait_event_type, wait_event) FROM pg_stat_activity"
      . " WHERE pid = $session->{backend}";
    wait_for(sub { $node->safe_psql('postgres', $sql) eq 't' }, "a session to wait for $for");
    return;
}

# Ends sessions, those of a crashed server too.
sub close_session
{
    foreach my $session (@_)
    {
        # With the end of its input psql ends, when it has done what it was asked.
        close $session->{to};
        eval { 1 while pump($session, 180) };
        kill 'TERM', $session->{run}{pid} if %{ $session->{from} };
        $session->{run}->finish;
    }
    return;
}

# Waits until so many sessions wait for a thing, in statements that match a pattern.
sub wait_for_waiting
{
    my ($node, $count, $for, $statement) = @_;
    my $sql = "SELECT count(*) FROM pg_stat_activity WHERE '$for' IN (wait_event_type, wait_event)"
      . " AND query ~ \$\$$statement\$\$ AND pid <> pg_backend_pid()";
    wait_for(sub { $node->safe_psql('postgres', $sql) eq $count }, "$count to wait for $for");
    return;
}

# Has all commits on a server wait, as for a synchronous standby that does not answer, from when this
# returns until release_commits() gets what it has returned.
sub hold_commits
{
    my ($node) = @_;
    my $holder = open_session($node);
    ask($holder, 'SELECT pg_advisory_lock(1)');
    set_standbys($node, 'nobody');
    # Backends learn of it when the checkpointer does, and nobody can say when that is.
    my $committing = open_session($node);
    ask($committing, 'SET synchronous_commit = on');
    start_asking($committing, <<'SQL');
DO $$ BEGIN
  LOOP
    PERFORM pg_logical_emit_message(true, 'snowid', '');
    COMMIT;
    EXIT WHEN pg_try_advisory_xact_lock(1);
  END LOOP;
END $$
SQL
    wait_until_waiting($node, $committing, 'SyncRep');
    close_session($holder);
    return $committing;
}

# From now on commits wait for these standbys, for none if there is no name.
sub release_commits
{
    my ($node, $held, $standbys) = @_;
    set_standbys($node, $standbys // '');
    answer($held);
    close_session($held);
    return;
}

sub set_standbys
{
    my ($node, $standbys) = @_;
    $node->append_conf('postgresql.conf', "synchronous_standby_names = '$standbys'\n");
    $node->reload;
    return;
}

# Has commits on a server wait for a standby that is there, from when this returns.
sub wait_until_synchronous
{
    my ($node, $standby) = @_;
    set_standbys($node, $standby->name);
    wait_for(sub { $node->safe_psql('postgres', 'SELECT sync_state FROM pg_stat_replication') eq 'sync' },
        'the standby to be synchronous');
    return;
}

# Has a server, and the sessions given, take up a setting of snowid's.
sub reload_with
{
    my ($node, $name, $value, @sessions) = @_;
    # Without the library the server does not know the setting.
    $node->safe_psql('postgres', "LOAD 'snowid'; ALTER SYSTEM SET $name = '$value'");
    $node->reload;
    wait_for(sub { $node->safe_psql('postgres', "LOAD 'snowid'; SHOW $name") eq $value },
        'new sessions to have the setting');
    foreach my $session (@sessions)
    {
        wait_for(sub { ask($session, "SHOW $name") eq $value }, 'a session to have the setting');
    }
    return;
}

1;
