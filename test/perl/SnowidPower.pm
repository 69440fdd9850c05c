# Servers whose power is cut: what was written and never synced is gone, as it is not after kill -9. A
# library put before the C library sets WAL segments aside whenever they are synced; after the cut the
# server's files are those of before its start, and of the WAL what was set aside.
package SnowidPower;

use strict;
use warnings;

use Exporter 'import';
use File::Spec;
use PostgreSQL::Test::Utils;
use SnowidRun;
use SnowidServers;

our @EXPORT = qw(new_powered_server power_on cut_power hold_wal_writer hang_disk);

my $scratch = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir());

# A new server that can be used with the others, not started. Nothing but sessions and the WAL writer
# writes or syncs WAL.
sub new_powered_server
{
    my ($name) = @_;
    my $node = new_server($name, extra => ['--wal-segsize=1']);
    $node->append_conf('postgresql.conf', <<'CONF');
wal_level = replica
checkpoint_timeout = '1d'
max_wal_size = '1GB'
bgwriter_lru_maxpages = 0
CONF
    return $node;
}

# Starts a server that was stopped, not crashed. start: what starts it, if not start_server.
sub power_on
{
    my ($node, $start) = @_;
    my ($data, $base, $aside) = ($node->data_dir, base($node), aside($node));
    system_or_bail('rm', '-rf', $base, $aside);
    mkdir $aside or die "$aside: $!";
    system_or_bail('cp', '-a', $data, $base);
    # In the files of now alone: nothing cuts the power of the server that comes after.
    $node->append_conf('postgresql.conf', "fsync = on\n");
    {
        local %ENV = (%ENV, LD_PRELOAD => preload_library('aside'), SNOWID_ASIDE => $aside);
        ($start // \&start_server)->($node);
    }
    # That the server runs is synced before it serves, and has the next one recover.
    system_or_bail('cp', "$data/global/pg_control", "$base/global/pg_control");
    my ($control) = run_command([ 'pg_controldata', '-D', $base ]);
    die "not running: $control" unless $control =~ /: +in production$/m;
    return;
}

# Cuts the power, and leaves the server to be started.
sub cut_power
{
    my ($node) = @_;
    my ($data, $base, $aside) = ($node->data_dir, base($node), aside($node));
    crash($node, 'kill');
    # The directory itself stays: by its inode the next server finds shared memory that was left.
    system_or_bail('find', $data, '-mindepth', '1', '-delete');
    system_or_bail('cp', '-a', "$base/.", $data);
    my @segments = grep { m{/[0-9A-F]{24}$} } glob "$aside/*";
    die 'nothing was synced' unless @segments;
    system_or_bail('cp', '-a', @segments, "$data/pg_wal");
    return;
}

sub base { my ($node) = @_; return "$scratch/base." . $node->name }
sub aside { my ($node) = @_; return "$scratch/aside." . $node->name }

# From now until the power is cut, no sync of WAL comes to its end.
sub hang_disk
{
    my ($node) = @_;
    append_to_file(aside($node) . '/hang', '');
    return;
}

# Stops the process of a running server that flushes WAL in the background, where it holds no lock: from
# now on what nobody waits for is not flushed.
sub hold_wal_writer
{
    my ($node) = @_;
    my $idle = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter' AND wait_event_type = 'Activity'";
    wait_for(
        sub {
            my $process = $node->safe_psql('postgres', $idle) or return 0;
            kill 'STOP', $process;
            wait_for(sub { state_of($process) eq 'T' }, 'the WAL writer to stop');
            return 1 if $node->safe_psql('postgres', $idle) eq $process;
            kill 'CONT', $process;
            return 0;
        },
        'the WAL writer to be idle');
    return;
}

1;
