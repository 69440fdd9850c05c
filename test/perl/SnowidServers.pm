# Servers whose clock can be set, and that crash.
package SnowidServers;

use strict;
use warnings;

use Exporter 'import';
use File::Spec;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SnowidClock;
use Test::More;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(new_server new_quiet_server ready_server end_test start_server set_clock jump_clock stop_clock faked_clock crash crash_and_start end_at_once
  state_of wait_for new_standby check_log last_value);

my $scratch = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir());

# The superuser of each test server, whichever operating system user runs the test. PostgreSQL::Test::Utils has
# removed the variable.
my $superuser = 'postgres';
$ENV{PGUSER} = $superuser;

# A server whose clock is faked has it from a file of its own.
my %clock_files;

# Sets the clock of a server to `offset` seconds from the real one; without a server, of all that
# were started. Takes effect while they run.
sub set_clock
{
    my ($offset, $node) = @_;
    put_offset($_, $offset) foreach $node ? clock_file($node) : values %clock_files;
    return;
}

# Has the clock of all servers jump, both ways, about an hour ahead of the real one, until no session of a server draws.
sub jump_clock
{
    my ($node) = @_;
    my @offsets = (3600, 3600.7, 3599.5, 3601.5, 3600.2, 3602, 3600.9);
    my $at = 0;
    wait_for(
        sub {
            set_clock($offsets[ $at++ % @offsets ]);
            return $node->safe_psql('postgres',
                q(SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'COPY%' AND state = 'active')) eq '0';
        },
        'the sessions to end');
    return;
}

# Has the clock of a server stand still at a Unix time, in seconds, until it is set again. Timeouts of the
# server do not come meanwhile.
sub stop_clock
{
    my ($time, $node) = @_;
    put_time(clock_file($node), $time);
    return;
}

sub clock_file
{
    my ($node) = @_;
    return $clock_files{ $node->name } //= "$scratch/clock." . $node->name;
}

# A new server, not started, whose superuser is postgres. Crashes lose what was not flushed to the system, so fsync may
# be off. Options: those of init; install_path, where its bin is, if it is another PostgreSQL than the tests'.
sub new_server
{
    my ($name, %options) = @_;
    my $path = delete $options{install_path};
    my $node = PostgreSQL::Test::Cluster->new($name, defined $path ? (install_path => $path) : ());
    $node->init(%options, extra => [ '-U', $superuser, @{ $options{extra} // [] } ]);
    # A query that draws until it is stopped looks so costly that it would be compiled, by default, up to PostgreSQL 18,
    # for longer than it runs. What is compiled has tests of its own.
    $node->append_conf('postgresql.conf', "autovacuum = off\njit = off\nlog_min_messages = warning\n");
    # A standby begins late on a busy machine.
    $node->append_conf('postgresql.conf', "wal_keep_size = '512MB'\n") if $options{allows_streaming};
    return $node;
}

# One that is started, with a faked clock and the extension. Options: those of new_server; conf, lines of its
# configuration; sql, what is run when the extension is there; databases, more of them, with the extension.
sub ready_server
{
    my ($name, %options) = @_;
    my ($conf, $sql) = map { delete $options{$_} // '' } qw(conf sql);
    my @databases = @{ delete $options{databases} // [] };
    my $node = new_server($name, %options);
    $node->append_conf('postgresql.conf', $conf);
    start_server($node);
    $node->safe_psql('postgres', "CREATE EXTENSION snowid; $sql");
    foreach my $dbname (@databases)
    {
        $node->safe_psql('postgres', "CREATE DATABASE $dbname");
        $node->safe_psql($dbname, 'CREATE EXTENSION snowid');
    }
    return $node;
}

# Ends servers, with the sessions that are open, and the test, when nothing is wrong in their logs.
sub end_test
{
    my (@nodes) = @_;
    $_->stop foreach @nodes;
    check_log($_) foreach @nodes;
    done_testing();
    return;
}

# The same as new_server, where nobody but sessions writes WAL or has it flushed: at this level the background writer logs
# nothing of its own.
sub new_quiet_server
{
    my ($name) = @_;
    my $node = new_server($name);
    $node->append_conf('postgresql.conf', <<'CONF');
wal_level = minimal
max_wal_senders = 0
checkpoint_timeout = '1h'
wal_writer_delay = '10s'
CONF
    return $node;
}

# A standby of a server as it is, not started.
sub new_standby
{
    my ($primary, $name) = @_;
    $primary->backup($name);
    my $standby = PostgreSQL::Test::Cluster->new($name);
    $standby->init_from_backup($primary, $name, has_streaming => 1);
    # Who begins to wait for what the standby has already waits for the next time that it says so.
    $standby->append_conf('postgresql.conf', "wal_receiver_status_interval = 1s\n");
    return $standby;
}

# Starts a server with a faked clock: the real one, unless set_clock was called for it.
sub start_server
{
    my ($node) = @_;
    local %ENV = (%ENV, faked_clock($node));
    $node->start;
    return;
}

# The environment in which a server has a faked clock. A library that LD_PRELOAD names already is kept.
sub faked_clock
{
    my ($node) = @_;
    set_clock(0, $node) unless -e clock_file($node);
    return offset_clock(clock_file($node));
}

# Ends a server as a power cut does: the postmaster and all its children at once ('kill'), or as
# pg_ctl's immediate shutdown does ('immediate').
sub crash
{
    my ($node, $how) = @_;
    if ($how eq 'kill')
    {
        end_at_once($node->{_pid});
        # Or the next one would find a process of that number, where nobody has asked yet how it ended.
        unlink $node->data_dir . '/postmaster.pid', map { $node->host . '/.s.PGSQL.' . $node->port . $_ } '', '.lock';
        $node->{_pid} = undef;
    }
    else
    {
        $node->stop('immediate');
    }
    return;
}

# The same, and starts it again; with its clock so many seconds from the real one, if that is given.
sub crash_and_start
{
    my ($node, $how, $offset) = @_;
    crash($node, $how);
    set_clock($offset, $node) if defined $offset;
    start_server($node);
    return;
}

# Kills a postmaster and all its children at once.
sub end_at_once
{
    my ($postmaster) = @_;
    # Stopped it has no more children.
    kill 'STOP', $postmaster;
    wait_for(sub { state_of($postmaster) eq 'T' }, 'the postmaster to stop');
    my @processes = ($postmaster, children_of($postmaster));
    kill 'KILL', @processes;
    # The new server refuses to start while the old one is there, or its memory is in use. Who is dead may be there until
    # somebody asks for his status, which takes its time.
    wait_for(sub { !grep { state_of($_) !~ /^[ZX]?$/ } @processes }, 'the processes to go');
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
    # What waits for long looks less often: to ask a server takes as much as to start a session.
    my $pause = 0.02;
    until ($condition->())
    {
        die "timed out waiting for $what" if time > $deadline;
        sleep $pause;
        $pause *= 1.2 if $pause < 0.1;
    }
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

# A sequence's last value, read in the form that a new session sees.
sub last_value
{
    my ($node, $sequence) = @_;
    return $node->safe_psql('postgres', "SELECT last_value FROM $sequence");
}

1;
