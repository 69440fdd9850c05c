# The server of the torture: its databases, its clock, and the ways in which it goes down and comes back.
package TortureServer;

use strict;
use warnings;

use DBI;
use Exporter 'import';
use File::Spec;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SnowidClock;
use SnowidPower;
use SnowidServers;
use Time::HiRes qw(sleep time);
use TortureKinds;

our @EXPORT = qw(new_torture_server come_up go_down stop_well power_up ask answers put_clock clock_now clock_function new_world
  drop_world backends is_up);

my $scratch = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir());
my $full = "$scratch/full.so";

# A server with a database that others are copies of. Numbers of all kinds can be drawn there.
sub new_torture_server
{
    system_or_bail('gcc', '-shared', '-fPIC', '-O1', '-o', $full, 'test/modules/full/full.c', '-ldl');
    my $node = new_powered_server('torture');
    $node->append_conf('postgresql.conf', <<'CONF');
shared_buffers = '16MB'
bgwriter_delay = '10s'
max_connections = 40
restart_after_crash = on
max_prepared_transactions = 40
max_worker_processes = 16
max_parallel_workers = 8
dynamic_shared_memory_type = mmap
max_wal_size = '256MB'
min_wal_size = '5MB'
log_min_messages = fatal
log_checkpoints = off
include_if_exists = 'torture.conf'
CONF
    my $server = { node => $node, offset => 0, steps => [], databases => {}, worlds => 0, faults => {}, file => "$scratch/full", clock_file => "$scratch/clock" };
    put_clock($server, 0);
    come_up($server);
    ask($server, 'postgres', 'CREATE DATABASE model');
    ask($server, 'postgres', 'CREATE DATABASE hub');
    ask($server, 'model', <<'SQL');
CREATE EXTENSION snowid;
CREATE EXTENSION dblink;
CREATE TABLE kept_rows (id bigint);
CREATE TABLE many_rows AS SELECT generate_series(1, 2000) AS g;
ANALYZE many_rows;
CREATE SEQUENCE seg_busy INCREMENT 1000;
CREATE SEQUENCE seg_small INCREMENT 10;
CREATE SEQUENCE sec_keys INCREMENT 100;
CREATE SEQUENCE hub_one;
CREATE SEQUENCE hub_two;
SQL
    my ($host, $port) = ($node->host, $node->port);
    ask($server, 'model', "CREATE SERVER hub FOREIGN DATA WRAPPER dblink_fdw"
          . " OPTIONS (host '$host', port '$port', dbname 'hub', connect_timeout '2'); CREATE USER MAPPING FOR PUBLIC SERVER hub");
    return $server;
}

# Databases of each character, which none were before: numbers begin anew.
sub new_world
{
    my ($server) = @_;
    my $world = ++$server->{worlds};
    foreach my $character (qw(plain counters long))
    {
        my $name = "${character}_$world";
        ask($server, 'postgres', "CREATE DATABASE $name TEMPLATE model");
        $server->{databases}{$character} = $name;
    }
    ask($server, 'hub', "CREATE SEQUENCE numbers_$world INCREMENT 50");
    ask($server, $server->{databases}{counters}, "SELECT snowid_segment_attach('$_', 'hub', 'public.numbers_$world')") foreach 'hub_one', 'hub_two';
    return;
}

sub drop_world
{
    my ($server) = @_;
    foreach my $name (values %{ $server->{databases} })
    {
        end_prepared($server, $name);
        ask($server, 'postgres', "DROP DATABASE $name WITH (FORCE)");
    }
    return;
}

sub end_prepared
{
    my ($server, $database, $part) = @_;
    foreach my $name (answers($server, $database, 'SELECT gid FROM pg_prepared_xacts WHERE database = current_database()'))
    {
        ask($server, $database, (chance(0.5) ? 'COMMIT' : 'ROLLBACK') . " PREPARED '$name'") if !defined $part || chance($part);
    }
    return;
}
push @EXPORT, 'end_prepared';

# What a session of its own is answered: the first column. Dies where that is an error.
sub answers
{
    my ($server, $database, $sql) = @_;
    my $dbh = connect_to($server, $database);
    my $statement = $dbh->prepare($sql, { pg_direct => 1 });
    $statement->execute;
    my @answers = $statement->{NUM_OF_FIELDS} ? map { $_->[0] } @{ $statement->fetchall_arrayref } : ();
    $statement->finish;
    $dbh->disconnect;
    return @answers;
}

sub ask { my ($first) = answers(@_); return $first }

# Where all places are taken, or a server recovers, it is tried again.
sub connect_to
{
    my ($server, $database) = @_;
    my $node = $server->{node};
    my $deadline = time + 60;
    while (1)
    {
        my $dbh = DBI->connect("dbi:Pg:dbname=$database;host=" . $node->host . ';port=' . $node->port . ';connect_timeout=' . 5 * SLOWLY, 'postgres', '',
            { AutoCommit => 1, RaiseError => 0, PrintError => 0, PrintWarn => 0, pg_server_prepare => 0, AutoInactiveDestroy => 1 });
        if ($dbh) { $dbh->{RaiseError} = 1; return $dbh }
        die "cannot connect to $database: $DBI::errstr\n" if time > $deadline;
        sleep 0.05;
    }
    return;
}

# The clock: the real one, and so many seconds.
sub put_clock
{
    my ($server, $offset) = @_;
    my $before = monotonic();
    put_offset($server->{clock_file}, $offset);
    $server->{offset} = $offset;
    push @{ $server->{steps} }, [ $before, monotonic(), $offset ];
    return;
}

sub clock_now { my ($server) = @_; return time + $server->{offset} }

# What the clock may have shown between two monotonic times: the least and the greatest, in Unix seconds. Steps that are
# past by a round are forgotten.
sub clock_function
{
    my ($server, $since) = @_;
    my @steps = @{ $server->{steps} };
    shift @steps while @steps > 1 && $steps[1][1] < $since - 1;
    $server->{steps} = [@steps];
    my $real = time - monotonic();
    return sub {
        my ($from, $to) = @_;
        my ($least, $most);
        foreach my $at (0 .. $#steps)
        {
            my ($begin, $end) = ($steps[$at][0] - 0.01, $at < $#steps ? $steps[ $at + 1 ][1] + 0.01 : $to);
            next if $begin > $to || $end < $from;
            my $shown = ($begin > $from ? $begin : $from) + $real + $steps[$at][2];
            my $last = ($end < $to ? $end : $to) + $real + $steps[$at][2];
            $least = $shown if !defined $least || $shown < $least;
            $most = $last if !defined $most || $last > $most;
        }
        return ($least, $most);
    };
}

# Starts a server that is down. How often the WAL writer comes by is another each time, and how far the ceiling is raised.
sub come_up
{
    my ($server) = @_;
    prepare_start($server);
    start_preloaded($server);
    return;
}

sub prepare_start
{
    my ($server) = @_;
    my $node = $server->{node};
    chmod 0700, $node->data_dir . '/pg_dynshmem';
    unlink $server->{file};
    my $conf = $node->data_dir . '/torture.conf';
    unlink $conf;
    append_to_file($conf, 'wal_writer_delay = ' . pick(200, 10000) . "\nsnowid.ceiling_step = " . pick(1000, 1000, 10, 5000) . "\n");
    return;
}

sub start_preloaded
{
    my ($server) = @_;
    my $node = $server->{node};
    local %ENV = (
        %ENV,
        offset_clock($server->{clock_file}, $full),
        SNOWID_FULL => $server->{file},
        SNOWID_FULL_OF => $node->data_dir);
    $node->start;
    return;
}

# The same where its power is to be cut: it was stopped well.
sub power_up
{
    my ($server) = @_;
    prepare_start($server);
    power_on($server->{node}, sub { start_preloaded($server) });
    # However little time sessions get, something is synced.
    $server->{node}->safe_psql('postgres', q(SET synchronous_commit = on; SELECT pg_logical_emit_message(true, 'torture', '')));
    return;
}

sub stop_well
{
    my ($server) = @_;
    $server->{node}->stop('fast');
    return;
}

# How a server goes down: kill, immediate, cut.
sub go_down
{
    my ($server, $how) = @_;
    my $node = $server->{node};
    # One that could not recover on its full disk is gone already.
    if (!is_up($server)) { $node->{_pid} = undef; unlink $node->data_dir . '/postmaster.pid' }
    elsif ($how eq 'cut') { cut_power($node) }
    else { crash($node, $how) }
    return;
}

sub is_up
{
    my ($server) = @_;
    my $postmaster = $server->{node}{_pid};
    return defined $postmaster && state_of($postmaster) !~ /^[ZX]?$/;
}

# The processes that serve clients.
sub backends
{
    my ($server) = @_;
    my @found;
    foreach my $process (SnowidServers::children_of($server->{node}{_pid} // return))
    {
        open my $file, '<', "/proc/$process/cmdline" or next;
        push @found, $process if (<$file> // '') =~ /^postgres: (?:\w+: )?postgres \w+ \[local\]/;
    }
    return @found;
}

1;
