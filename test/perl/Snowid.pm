# What the TAP tests share: servers whose clock can be set, sessions that draw IDs at once, and the
# checking of what they drew.
package Snowid;

use strict;
use warnings;

use Exporter 'import';
use File::Spec;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(new_server start_server set_clock crash attempt draw finish ids
  check_round wait_for sqlstate_of);

# Servers whose clock is faked read it from `clock_file`, at every look.
my $scratch = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir());
my $clock_file = "$scratch/clock";

# Sets the clock of all servers with a faked one to `offset` seconds from the real one. Takes effect
# while they run.
sub set_clock
{
    my ($offset) = @_;
    open my $file, '>', "$clock_file.new" or die "$clock_file.new: $!";
    printf $file "%+.3f\n", $offset;
    close $file;
    rename "$clock_file.new", $clock_file or die "$clock_file: $!";
    return;
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

# Starts a server with the faked clock.
sub start_server
{
    my ($node) = @_;
    my ($library) = glob '/usr/lib/*/faketime/libfaketime.so.1';
    die 'libfaketime is not installed' unless defined $library;
    set_clock(0) unless -e $clock_file;
    local %ENV = (
        %ENV,
        LD_PRELOAD => $library,
        FAKETIME_TIMESTAMP_FILE => $clock_file,
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
        my $postmaster = $node->{_pid};
        chomp(my @children = qx(ps -o pid= --ppid $postmaster));
        $node->kill9;
        kill 'KILL', map { $_ + 0 } @children;
        # The new server refuses to start while the old one's memory is in use.
        wait_for(sub { !grep { kill 0, $_ + 0 } @children }, 'the children to go');
    }
    else
    {
        $node->stop('immediate');
    }
    return;
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
# each as it comes: what it has seen counts, whether or not anything is ever committed.
my $sessions = 0;

sub draw
{
    my ($node, $expression, $rows, %options) = @_;
    my $file = "$scratch/drawn" . $sessions++;
    my $setup = $options{setup} // '';
    my $sql = "COPY (SELECT $expression FROM generate_series(1, $rows)) TO STDOUT";
    my $run = IPC::Run::start(
        [
            'psql', '-XAtq', '-v', 'VERBOSITY=verbose',
            '-d', $node->connstr($options{dbname} // 'postgres'),
            ($setup ? ('-c', $setup) : ()), '-c', $sql
        ],
        '<', \undef, '>', $file, '2>', "$file.err");
    return { run => $run, file => $file };
}

# Waits for sessions to end; their exit status does not matter.
sub finish
{
    $_->{run}->finish for @_;
    return;
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
    my @all;
    my $unordered = 0;
    foreach my $session (@sessions)
    {
        my $last = 0;
        foreach my $id (@{ ids($session) })
        {
            $unordered++ if $id <= $last;
            $last = $id;
            push @all, $id;
        }
    }
    @all = sort { $a <=> $b } @all;
    my $repeated = grep { $all[$_] == $all[ $_ - 1 ] } 1 .. $#all;
    my $least = @all ? $all[0] : $floor + 1;
    ok($unordered == 0 && $repeated == 0 && $least > $floor,
        "$name: in order, none twice, all above those of before")
      or diag("$unordered out of order, $repeated repeated, least $least, floor $floor");
    return (scalar(@all), @all ? $all[-1] : $floor);
}

1;
