# What the TAP tests share: servers whose clock can be set, sessions that draw IDs at once, and the
# checking of what they drew.
package Snowid;

use strict;
use warnings;

use Exporter 'import';
use File::Spec;
use IO::Socket::UNIX;
use IPC::Run;
use POSIX qw(strftime);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SnowidLibrary;
use Test::More;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(new_server start_server set_clock crash attempt draw wait_to_draw finish ids
  check_round check_text_round wait_for sqlstate_of open_session ask start_asking answer backend_of
  wait_until_waiting close_session hold_commits release_commits check_log build_library
  wait_to_go_on stop_drawing add_source point_at black_hole attempts_at check_keys last_value
  reload_with use_library wait_to_draw_together connections_to stop_clock);

# A server whose clock is faked reads it from a file of its own, at every look.
my $scratch = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir());
my %clock_files;

# Sets the clock of a server to `offset` seconds from the real one; without a server, of all that
# were started. Takes effect while they run.
sub set_clock
{
    my ($offset, $node) = @_;
    write_clock(sprintf('%+.3f', $offset), $node ? clock_file($node) : values %clock_files);
    return;
}

# Has the clock of a server stand still at a second, as Unix time, until it is set again. Timeouts of the
# server do not come meanwhile.
sub stop_clock
{
    my ($second, $node) = @_;
    write_clock(strftime('%Y-%m-%d %H:%M:%S', localtime $second), clock_file($node));
    return;
}

sub write_clock
{
    my ($time, @files) = @_;
    foreach my $file (@files)
    {
        append_to_file("$file.new", "$time\n");
        rename "$file.new", $file or die "$file: $!";
    }
    return;
}

sub clock_file
{
    my ($node) = @_;
    return $clock_files{ $node->name } //= "$scratch/clock." . $node->name;
}

# A new server, not started. Crashes lose what was not flushed to the system, so fsync may be off.
sub new_server
{
    my ($name, %options) = @_;
    my $node = PostgreSQL::Test::Cluster->new($name);
    $node->init(%options);
    $node->append_conf('postgresql.conf', "autovacuum = off\nlog_min_messages = warning\n");
    return $node;
}

# Starts a server with a faked clock: the real one, unless set_clock was called for it.
sub start_server
{
    my ($node) = @_;
    my ($library) = glob '/usr/lib/*/faketime/libfaketime.so.1';
    die 'libfaketime is not installed' unless defined $library;
    set_clock(0, $node) unless -e clock_file($node);
    local %ENV = (
        %ENV,
        LD_PRELOAD => $library,
        FAKETIME_TIMESTAMP_FILE => clock_file($node),
        FAKETIME_NO_CACHE => 1,
        FAKETIME_DONT_FAKE_MONOTONIC => 1);
    $node->start;
    return;
}

# Ends a server as a power cut does: the postmaster and all its children at once ('kill'), or as
# pg_ctl's immediate shutdown does ('immediate').
sub crash
{
    my ($node, $how) = @_;
    if ($how eq 'kill')
    {
        # Stopped it has no more children.
        kill 'STOP', $node->{_pid};
        wait_for(sub { state_of($node->{_pid}) eq 'T' }, 'the postmaster to stop');
        my @processes = ($node->{_pid}, children_of($node->{_pid}));
        $node->kill9;
        kill 'KILL', @processes;
        # The new server refuses to start while the old one is there, or its memory is in use.
        wait_for(sub { !grep { kill 0, $_ } @processes }, 'the processes to go');
    }
    else
    {
        $node->stop('immediate');
    }
    return;
}

# A process's state, as one letter.
sub state_of
{
    my ($process) = @_;
    open my $file, '<', "/proc/$process/stat" or return '';
    # The name, in parentheses, may hold anything.
    return (<$file> // '') =~ /\) (\S) [^)]*$/ ? $1 : '';
}

# The processes that a process has started, as far as they are its own children.
sub children_of
{
    my ($parent) = @_;
    my @children;
    foreach my $stat (glob '/proc/[0-9]*/stat')
    {
        open my $file, '<', $stat or next;
        # The name, in parentheses, may hold anything; the parent is the second field after it.
        push @children, $1 if (<$file> // '') =~ /^(\d+) \(.*\) \S (\d+) /s && $2 == $parent;
    }
    return @children;
}

# Waits, up to three minutes, until a condition holds.
sub wait_for
{
    my ($condition, $what) = @_;
    my $deadline = time + 180;
    until ($condition->())
    {
        die "timed out waiting for $what" if time > $deadline;
        sleep 0.02;
    }
    return;
}

# Runs a statement. Returns its output, or the SQLSTATE of its error as "ERROR 55000".
sub attempt
{
    my ($node, $sql, %options) = @_;
    my ($status, $out, $err) =
      $node->psql($options{dbname} // 'postgres', "\\set VERBOSITY verbose\n$sql");
    return $status == 0 ? $out : 'ERROR ' . sqlstate_of($err);
}

sub sqlstate_of
{
    my ($text) = @_;
    return $text =~ /(?:ERROR|FATAL):  ([0-9A-Z]{5}):/ ? $1 : "in: $text";
}

# Starts a session that sends `rows` results of an expression to its client one by one, who records
# each as it comes: what it has seen counts, whether or not anything is ever committed. The expression
# may bring a FROM clause of its own, for a single row. Options: setup, a statement to run before;
# dbname.
my $sessions = 0;

sub draw
{
    my ($node, $expression, $rows, %options) = @_;
    my $file = "$scratch/drawn" . $sessions++;
    my $setup = $options{setup} // '';
    my $from = $expression =~ /\bFROM\b/ ? '' : "FROM generate_series(1, $rows)";
    my $sql = "COPY (SELECT $expression $from) TO STDOUT";
    my $run = IPC::Run::start(
        [
            'psql', '-XAtq', '-v', 'VERBOSITY=verbose',
            '-d', $node->connstr($options{dbname} // 'postgres'),
            ($setup ? ('-c', $setup) : ()), '-c', $sql
        ],
        '<', \undef, '>', $file, '2>', "$file.err");
    return { run => $run, file => $file };
}

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

# Opens a session that is asked one statement after another. Options: dbname; user.
sub open_session
{
    my ($node, %options) = @_;
    my $session = { in => '', out => '', err => '' };
    $session->{run} = IPC::Run::start(
        [
            'psql', '-XAtq', '-v', 'VERBOSITY=verbose', ($options{user} ? ('-U', $options{user}) : ()),
            '-d', $node->connstr($options{dbname} // 'postgres')
        ],
        '<', \$session->{in}, '>', \$session->{out}, '2>', \$session->{err},
        IPC::Run::timeout(180));
    return $session;
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
    # pump() would wait for an answer, too.
    $session->{run}->pump_nb while length $session->{in};
    do { $session->{run}->pump_nb } while length $session->{in};
    return;
}

sub answer
{
    my ($session) = @_;
    $session->{run}->pump
      until $session->{out} =~ /^end of answer\n/m && $session->{err} =~ /^end of answer\n/m;
    $session->{$_} =~ s/\n?^end of answer\n//m foreach qw(out err);
    return $session->{err} =~ /ERROR:/ ? 'ERROR ' . sqlstate_of($session->{err}) : $session->{out};
}

# The process that serves a session.
sub backend_of
{
    my ($session) = @_;
    return $session->{backend} //= ask($session, 'SELECT pg_backend_pid()');
}

# Waits until a session, whose backend_of was asked for before, waits for a thing: Lock, SyncRep.
sub wait_until_waiting
{
    my ($node, $session, $for) = @_;
    my $sql = "SELECT '$for' IN (wait_event_type, wait_event) FROM pg_stat_activity"
      . " WHERE pid = $session->{backend}";
    wait_for(sub { $node->safe_psql('postgres', $sql) eq 't' }, "a session to wait for $for");
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
    backend_of($committing);
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

# Checks that a server has logged nothing that says that something is wrong with it.
sub check_log
{
    my ($node) = @_;
    my @wrong = grep { /(?:WARNING|PANIC):|TRAP|leaked|leak:|buffers available|buffer is pinned/ } split /^/, slurp_file($node->logfile);
    is("@wrong", '', 'nothing wrong in the log of ' . $node->name);
    return;
}

# Ends sessions, those of a crashed server too.
sub close_session
{
    foreach my $session (@_)
    {
        $session->{in} .= "\\q\n";
        eval { $session->{run}->finish };
    }
    return;
}

# Has a node know another as the foreign server `name`, which its sequences can be attached to.
sub add_source
{
    my ($node, $source, %options) = @_;
    my $name = $options{name} // 'central';
    my ($host, $port) = ($source->host, $source->port);
    $node->safe_psql($options{dbname} // 'postgres', <<"SQL");
CREATE EXTENSION IF NOT EXISTS dblink;
CREATE EXTENSION IF NOT EXISTS snowid;
CREATE SERVER $name FOREIGN DATA WRAPPER dblink_fdw
  OPTIONS (host '$host', port '$port', dbname 'postgres', connect_timeout '2');
CREATE USER MAPPING FOR PUBLIC SERVER $name;
SQL
    return;
}

# Has the foreign server be another node from now on.
sub point_at
{
    my ($node, $source, %options) = @_;
    my $name = $options{name} // 'central';
    my ($host, $port) = ($source->host, $source->port);
    $node->safe_psql($options{dbname} // 'postgres',
        "ALTER SERVER $name OPTIONS (SET host '$host', SET port '$port')");
    return;
}

# In place of a node that has crashed, a socket that takes connections and never answers. It is there
# until $node->start, which takes its place, or until it is let go.
sub black_hole
{
    my ($node) = @_;
    my $path = $node->host . '/.s.PGSQL.' . $node->port;
    unlink $path;
    return IO::Socket::UNIX->new(Local => $path, Listen => 4096) // die "$path: $@";
}

# How often somebody has connected to a black hole since it was last asked.
sub attempts_at
{
    my ($hole) = @_;
    my $attempts = 0;
    $hole->blocking(0);
    $attempts++ while $hole->accept;
    return $attempts;
}

# How many sessions a node has, but for the one that looks.
sub connections_to
{
    my ($node) = @_;
    return $node->safe_psql('postgres', q(SELECT count(*) FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()));
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

# Checks what sessions saw of one shard in one round: each its IDs in increasing order, none of them
# twice, all above `floor`, the greatest ID of the rounds before. Returns how many there were, and
# the greatest.
sub check_round
{
    my ($name, $floor, @sessions) = @_;
    return check_in_order($name, 0, $floor, @sessions);
}

# The same of UUIDs, or of ObjectIDs: their order is that of their text.
sub check_text_round
{
    my ($name, $floor, @sessions) = @_;
    return check_in_order($name, 1, $floor, @sessions);
}

sub check_in_order
{
    my ($name, $is_text, $floor, @sessions) = @_;
    my @all;
    my $unordered = 0;
    foreach my $session (@sessions)
    {
        my $last = $is_text ? '' : 0;
        foreach my $id (@{ ids($session) })
        {
            $unordered++ if $is_text ? $id le $last : $id <= $last;
            $last = $id;
            push @all, $id;
        }
    }
    @all = $is_text ? sort @all : sort { $a <=> $b } @all;
    my $repeated = grep { $all[$_] eq $all[ $_ - 1 ] } 1 .. $#all;
    my $least = @all ? $all[0] : 'none';
    my $above = !@all || ($is_text ? $least gt $floor : $least > $floor);
    ok($unordered == 0 && $repeated == 0 && $above,
        "$name: in order, none twice, all above those of before")
      or diag("$unordered out of order, $repeated repeated, least $least, floor $floor");
    return (scalar(@all), @all ? $all[-1] : $floor);
}

# Checks what sessions saw of a section's keys. Their lines are a key and a number, or two stamps
# around those: the draw took place between the two. Each key's numbers are in order in each session
# and, where there are stamps, across sessions; none comes twice; all are above `floor`, which is one
# number, or one for each key. Returns how many there were, and the greatest of each key.
sub check_keys
{
    my ($name, $floor, @sessions) = @_;
    my (%drawn, %stamps, %greatest);
    my ($count, $unordered, $repeated, $low) = (0, 0, 0, 0);
    foreach my $session (@sessions)
    {
        my %last;
        foreach my $line (@{ ids($session) })
        {
            my @fields = split /\t/, $line;
            my ($key, $number) = @fields == 4 ? @fields[ 1, 2 ] : @fields;
            $unordered++ if exists $last{$key} && $number <= $last{$key};
            $last{$key} = $number;
            push @{ $drawn{$key} }, $number;
            push @{ $stamps{$key} }, [ $number, @fields[ 0, 3 ] ] if @fields == 4;
            $count++;
        }
    }
    foreach my $key (keys %drawn)
    {
        my @numbers = sort { $a <=> $b } @{ $drawn{$key} };
        $repeated += grep { $numbers[$_] == $numbers[ $_ - 1 ] } 1 .. $#numbers;
        $low++ if $numbers[0] <= (ref $floor ? $floor->{$key} // 0 : $floor);
        $greatest{$key} = $numbers[-1];
        my $begun = 0;
        foreach my $draw (sort { $a->[0] <=> $b->[0] } @{ $stamps{$key} // [] })
        {
            my ($number, $from, $until) = @$draw;
            # Over before a lesser number was begun to be drawn.
            $unordered++ if $until < $begun;
            $begun = $from if $from > $begun;
        }
    }
    ok($unordered == 0 && $repeated == 0 && $low == 0,
        "$name: each key's numbers in order, none twice, all above those of before")
      or diag("$unordered out of order, $repeated repeated, $low keys too low");
    return ($count, \%greatest);
}

# A sequence's last value, read in the form that a new session sees.
sub last_value
{
    my ($node, $sequence) = @_;
    return $node->safe_psql('postgres', "SELECT last_value FROM $sequence");
}

# Has a server, and the sessions given, take up a setting of snowid's.
sub reload_with
{
    my ($node, $name, $value, @sessions) = @_;
    # Without the library the server does not know the setting.
    $node->safe_psql('postgres', "LOAD 'snowid'; ALTER SYSTEM SET $name = $value");
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
