# The servers of the cluster, their clocks, and how they are asked. Time is the test's own: all clocks are moved ahead
# together where somebody waits for it.

package ClusterServers;

use strict;
use warnings;

use DBD::Pg ':async';
use DBI;
use Exporter 'import';
use File::Spec;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SnowidClock;
use SnowidServers;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(fresh_server copy_of standby_of start kill_server kill_at_once drop_server promote_server let_time_pass put_clock put_lead
  clock_of query expect start_query result_of is_done forget_sessions notices event fault pick chance wait_until point at_registry);

# The name that a server goes by is never used again.
my $servers = 0;
my $scratch = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir());
my @notices;

sub pick { return $_[ rand @_ ] }
sub chance { return rand() < $_[0] }

# What happens: kept, for the history of a failure, with the numbers that it is about.
sub event
{
    my ($cluster, $text, @numbers) = @_;
    push @{ $cluster->{history} }, { step => $cluster->{step}, text => $text, numbers => { map { $_ => 1 } @numbers } };
    return;
}

sub fault
{
    my ($cluster, $kind, $count) = @_;
    $cluster->{faults}{$kind} += $count // 1;
    return;
}

sub server_of
{
    my ($cluster, $pg) = @_;
    my $server = { pg => $pg, name => $pg->name, offset => 0, lead => 1, sessions => [], clock => "$scratch/clock." . $pg->name };
    $cluster->{servers}{ $server->{name} } = $server;
    put_clock($cluster, $server, $cluster->{offset});
    return $server;
}

# A new server, started, with the extension unless `bare` says that it is to be without. Its clock is up to 9 s off, and
# its IDs may be some seconds ahead of that.
sub fresh_server
{
    my ($cluster, $name, %options) = @_;
    my $pg = new_server($name . '_' . ++$servers, allows_streaming => 1, extra => ['--wal-segsize=1']);
    $pg->append_conf('postgresql.conf', <<'CONF');
shared_buffers = '16MB'
dynamic_shared_memory_type = mmap
max_connections = 40
log_min_messages = fatal
log_checkpoints = off
wal_sender_timeout = 0
wal_receiver_timeout = 0
wal_retrieve_retry_interval = '100ms'
wal_receiver_status_interval = '1s'
wal_keep_size = '64MB'
snowid.require_node_number = on
snowid.max_wait = '300ms'
CONF
    my $server = server_of($cluster, $pg);
    put_lead($server, pick(1, 1, 4, 20));
    put_clock($cluster, $server, rand(18) - 9);
    start($cluster, $server);
    expect(query($server, 'CREATE EXTENSION snowid'), '', 'CREATE EXTENSION') if !$options{bare};
    return $server;
}

# A base backup of a server, not started. Options: archive, as restored from an archive, on a timeline of its own.
sub copy_of
{
    my ($cluster, $server, $name, %options) = @_;
    my $pg = PostgreSQL::Test::Cluster->new($name . '_' . ++$servers);
    mkdir $pg->basedir;
    system_or_bail('pg_basebackup', '--no-sync', '--checkpoint=fast', '-X', 'fetch', '-D', $pg->data_dir,
        '-h', $server->{pg}->host, '-p', $server->{pg}->port);
    my $conf = 'port = ' . $pg->port . "\nsynchronous_standby_names = ''\nprimary_conninfo = ''\n";
    if ($options{archive})
    {
        $conf .= "restore_command = 'false'\n";
        append_to_file($pg->data_dir . '/recovery.signal', '');
    }
    $pg->append_conf('postgresql.conf', $conf);
    my $copy = server_of($cluster, $pg);
    $copy->{lead} = $server->{lead};
    put_clock($cluster, $copy, rand(18) - 9);
    return $copy;
}

# A standby of a server, started.
sub standby_of
{
    my ($cluster, $server, $name) = @_;
    my $standby = copy_of($cluster, $server, $name);
    $standby->{pg}->enable_streaming($server->{pg});
    start($cluster, $standby);
    wait_until(sub { query($server, "SELECT state FROM pg_stat_replication WHERE application_name = '$standby->{name}'") eq 'streaming' },
        'the standby');
    return $standby;
}

# A server's clock: the real one, as much later as it is for all, and some seconds off.
sub put_clock
{
    my ($cluster, $server, $offset) = @_;
    $server->{offset} = $offset if defined $offset;
    put_offset($server->{clock}, $cluster->{passed} + $server->{offset});
    return;
}

# Seconds by which a server's IDs may be ahead of its clock. Counts when it starts next, or reloads its settings.
sub put_lead
{
    my ($server, $seconds) = @_;
    $server->{lead} = $seconds;
    $server->{pg}->append_conf('postgresql.conf', "snowid.max_lead = '$seconds s'\n");
    return;
}

sub clock_of { my ($cluster, $server) = @_; return time + $cluster->{passed} + $server->{offset} }

sub let_time_pass
{
    my ($cluster, $seconds) = @_;
    $cluster->{passed} += $seconds;
    put_clock($cluster, $_) foreach values %{ $cluster->{servers} };
    return;
}

sub start
{
    my ($cluster, $server) = @_;
    local %ENV = (%ENV, offset_clock($server->{clock}));
    $server->{pg}->start;
    return;
}

# kill -9 of all its processes at once. Its sessions are not told.
sub kill_at_once { my ($server) = @_; crash($server->{pg}, 'kill'); return }

sub kill_server
{
    my ($cluster, $server) = @_;
    return if !defined $server->{pg}{_pid};
    kill_at_once($server);
    forget_sessions($server);
    return;
}

sub drop_server
{
    my ($cluster, $server) = @_;
    kill_server($cluster, $server);
    delete $cluster->{servers}{ $server->{name} };
    $server->{pg}->clean_node;
    return;
}

sub promote_server
{
    my ($cluster, $server) = @_;
    forget_sessions($server);
    $server->{pg}->promote;
    wait_until(sub { query($server, 'SELECT pg_is_in_recovery()') eq '0' }, 'the promotion');
    $server->{pg}->append_conf('postgresql.conf', "primary_conninfo = ''\n");
    return;
}

sub wait_until
{
    my ($condition, $what) = @_;
    my $deadline = time + 60;
    until ($condition->())
    {
        die "timed out waiting for $what\n" if time > $deadline;
        sleep 0.01;
    }
    return;
}

sub forget_sessions
{
    my ($server) = @_;
    foreach my $session (splice @{ $server->{sessions} })
    {
        eval { $session->{InactiveDestroy} = 0; $session->disconnect } if $session;
    }
    return;
}

# The manieth session at a server.
sub session_of
{
    my ($server, $which) = @_;
    return $server->{sessions}[ $which // 0 ] //= DBI->connect(
        'dbi:Pg:dbname=' . ($server->{dbname} // 'postgres') . ';host=' . $server->{pg}->host . ';port=' . $server->{pg}->port,
        undef, undef, { RaiseError => 1, PrintError => 0, PrintWarn => 1, AutoCommit => 1 });
}

# What was told since this was last asked.
sub notices { my $all = join '', @notices; @notices = (); return $all }
sub keep_notices { $SIG{__WARN__} = sub { $_[0] =~ /^(?:NOTICE|WARNING|LOG|HINT|DETAIL):/ ? push(@notices, $_[0]) : print STDERR $_[0] }; return }
keep_notices();

# Runs a statement. Returns the first column of the first row, or "ERROR 55000".
sub query
{
    my ($server, $sql, $which) = @_;
    my $pending = start_query($server, $sql, $which);
    return result_of($pending);
}

# The same in two parts.
sub start_query
{
    my ($server, $sql, $which) = @_;
    my $pending = { server => $server, which => $which // 0 };
    eval {
        my $session = session_of($server, $which);
        $pending->{statement} = $session->prepare($sql, { pg_async => PG_ASYNC, pg_direct => 1 });
        $pending->{statement}->execute;
        $pending->{session} = $session;
        1;
    } or $pending->{error} = error_of($server, $which, $@);
    return $pending;
}

sub is_done
{
    my ($pending) = @_;
    return 1 if defined $pending->{error};
    return eval { $pending->{session}->pg_ready } // 1;
}

sub result_of
{
    my ($pending) = @_;
    return $pending->{error} if defined $pending->{error};
    my $result = '';
    eval {
        my $count = $pending->{session}->pg_result;
        my $row = $pending->{statement}{NUM_OF_FIELDS} ? $pending->{statement}->fetch : undef;
        $result = $row->[0] // '' if $row;
        $pending->{statement}->finish;
        1;
    } or $result = error_of($pending->{server}, $pending->{which}, $@);
    return $result;
}

# "ERROR" and the SQLSTATE; a session that is gone is forgotten.
sub error_of
{
    my ($server, $which, $message) = @_;
    my $session = $server->{sessions}[ $which // 0 ];
    my $state = ($session ? $session->state : $DBI::state) || '';
    $state = '08006' if $state !~ /^[0-9A-Z]{5}$/ || $state =~ /^(?:08|57P|22000|S8006)/ && (!$session || $session->ping < 1);
    undef $server->{sessions}[ $which // 0 ] if !$session || !$session->{Active} || $session->ping < 1;
    $server->{message} = $message;
    return "ERROR $state";
}

# Dies where a statement's outcome is another than this: a string, or a pattern.
sub expect
{
    my ($got, $expected, $what) = @_;
    return $got if ref $expected ? $got =~ $expected : $got eq $expected;
    die "$what: got '$got', expected '$expected'\n";
}

# Has a server ask the registry, or another server that is named, over a foreign server.
sub point
{
    my ($cluster, $server, $to, $name) = @_;
    $to //= $cluster->{registry};
    $name //= 'registry';
    my ($host, $port, $database) = ($to->{pg}->host, $to->{pg}->port, $to->{dbname} // 'postgres');
    expect(query($server, "ALTER SERVER $name OPTIONS (SET host '$host', SET port '$port', SET dbname '$database')"),
        qr/^$/, "$server->{name}: ALTER SERVER");
    return;
}

sub at_registry { my ($cluster, $sql) = @_; return query($cluster->{registry}, $sql) }

1;
