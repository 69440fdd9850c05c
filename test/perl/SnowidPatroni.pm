# A cluster that Patroni manages, with its state in etcd: both on this machine, with files of their own and on
# ports of 127.0.0.1. Not part of Snowid: the test of Patroni uses it.
#
# A node is an object with a name, so that set_clock() can set its server's clock. Patroni takes a server for
# another one whose clock is off by 3 s while it starts: set it back before a server is to start again.
package SnowidPatroni;

use strict;
use warnings;

use Cwd 'realpath';
use Exporter 'import';
use HTTP::Tiny;
use IPC::Run;
use JSON::PP;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SnowidPrograms;
use SnowidServers;
use Test::More;

our @EXPORT = qw(start_etcd new_node start_patroni connection_to asked leader_of wait_for_leader configure wait_for_synchronous
  kill_server kill_machine switch_over hold_walsenders rewinds_of);

my $scratch = realpath(PostgreSQL::Test::Utils::tempdir());
my $sockets = PostgreSQL::Test::Utils::tempdir_short();
my $password = join '', map { sprintf '%08x', rand 2**32 } 1 .. 4;
my ($etcd, $etcd_port, @nodes);

sub name { return $_[0]{name} }

# As of other servers, for what sessions are to draw.
sub connstr { return connection_to(@_[ 0, 1 ]) }

sub start_etcd
{
    $etcd_port = PostgreSQL::Test::Cluster::get_free_port();
    my $peer_port = PostgreSQL::Test::Cluster::get_free_port();
    my ($client, $peer) = map { "http://127.0.0.1:$_" } $etcd_port, $peer_port;
    $etcd = start_program(
        log_of('etcd'), 'etcd', '--data-dir', "$scratch/etcd",
        '--listen-client-urls', $client, '--advertise-client-urls', $client,
        '--listen-peer-urls', $peer, '--initial-advertise-peer-urls', $peer,
        '--initial-cluster', "default=$peer");
    wait_for(sub { HTTP::Tiny->new->get("$client/health")->{success} }, 'etcd');
    return;
}

# A node, which start_patroni() starts. `settings` is what Patroni calls its dynamic configuration: the first
# node's counts, until configure() changes it.
sub new_node
{
    my ($name, $settings) = @_;
    my $node = bless {
        name => $name,
        data => "$scratch/$name/data",
        socket => "$sockets/$name",
        port => PostgreSQL::Test::Cluster::get_free_port(),
        api => PostgreSQL::Test::Cluster::get_free_port() };
    mkdir $_ or die "$_: $!" foreach "$scratch/$name", "$scratch/$name/bin", $node->{socket};
    chmod 0700, $node->{socket};
    put_programs($node);
    # What is JSON is YAML.
    append_to_file("$scratch/$name/patroni.yml", JSON::PP->new->encode(configuration($node, $settings)));
    push @nodes, $node;
    return $node;
}

# Patroni starts servers by itself: it is given one that fakes its clock.
sub put_programs
{
    my ($node) = @_;
    my $bin = "$scratch/$node->{name}/bin";
    my ($original) = split /\n/, (run_command([ $ENV{PG_CONFIG} // 'pg_config', '--bindir' ]))[0];
    foreach my $program (glob "$original/*")
    {
        my ($name) = $program =~ m{([^/]+)$};
        symlink $program, "$bin/$name" unless $name eq 'postgres';
    }
    my %clock = faked_clock($node);
    my $environment = join ' ', map { "$_='$clock{$_}'" } sort keys %clock;
    append_to_file("$bin/postgres", "#!/bin/sh\nexec env $environment '$original/postgres' \"\$@\"\n");
    chmod 0755, "$bin/postgres";
    return;
}

sub configuration
{
    my ($node, $settings) = @_;
    my $address = "127.0.0.1:$node->{port}";
    my $api = "127.0.0.1:$node->{api}";
    my %role = (password => $password, sslmode => 'disable');
    my @access = ('local all all trust', 'local replication all trust', 'host all all 127.0.0.1/32 scram-sha-256',
        'host replication all 127.0.0.1/32 scram-sha-256');
    return {
        scope => 'snowid',
        name => $node->{name},
        etcd3 => { host => "127.0.0.1:$etcd_port" },
        restapi => {
            listen => $api,
            connect_address => $api,
            authentication => { username => 'patroni', password => $password } },
        bootstrap => { dcs => $settings, initdb => [ { encoding => 'UTF8' }, { locale => 'C' }, 'data-checksums' ] },
        postgresql => {
            listen => $address,
            connect_address => $address,
            data_dir => $node->{data},
            bin_dir => "$scratch/$node->{name}/bin",
            pgpass => "$scratch/$node->{name}/pgpass",
            use_unix_socket => JSON::PP::true,
            authentication => {
                superuser => { username => 'postgres', %role },
                replication => { username => 'replicator', %role } },
            pg_hba => \@access,
            parameters => {
                unix_socket_directories => $node->{socket},
                fsync => 'off',
                autovacuum => 'off',
                password_encryption => 'scram-sha-256' } } };
}

# Starts a node's Patroni, which starts its server.
sub start_patroni
{
    my ($node) = @_;
    my ($program) = grep { -x } map { "$_/patroni" } split /:/, $ENV{PATH};
    $node->{patroni} = start_program(log_of("patroni-$node->{name}"), 'python3', $program, "$scratch/$node->{name}/patroni.yml");
    return;
}

# The connection string of a node; without one, of whichever takes writes.
sub connection_to
{
    my ($node, $dbname) = @_;
    my @to = $node ? $node : @nodes;
    my $hosts = join ',', map { $_->{socket} } @to;
    my $ports = join ',', map { $_->{port} } @to;
    return "host=$hosts port=$ports user=postgres dbname=$dbname connect_timeout=5"
      . ($node ? '' : ' target_session_attrs=read-write');
}

# Runs a statement on a node in the database of the load, or where it says. Returns what it gives, or dies.
sub asked
{
    my ($node, $sql, %options) = @_;
    my ($out, $err);
    my @command = ('psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', connection_to($node, $options{dbname} // 'load'));
    IPC::Run::run(\@command, '<', \$sql, '>', \$out, '2>', \$err) or die "$sql: $err";
    chomp $out;
    return $out;
}

# Asks a node's Patroni something.
sub request
{
    my ($node, $method, $path, $content) = @_;
    my $http = HTTP::Tiny->new(timeout => 20);
    my $url = "http://patroni:$password\@127.0.0.1:$node->{api}/$path";
    return $http->request($method, $url, $content ? { content => JSON::PP->new->encode($content) } : {});
}

# Which node leads now, as their Patronis say, and has come so far as to take writes.
sub leader_of
{
    my ($leader) = grep { $_->{patroni} && request($_, 'GET', 'primary')->{success} } @_;
    return unless $leader;
    my $recovers = eval { asked($leader, 'SELECT pg_is_in_recovery()', dbname => 'postgres') } // 't';
    return $recovers eq 'f' ? $leader : undef;
}

# Waits until one of these nodes leads, and all that run follow it.
sub wait_for_leader
{
    my (@candidates) = @_;
    my $leader;
    wait_for(sub { $leader = leader_of(@candidates) }, 'a leader');
    wait_for(
        sub {
            my $following = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'";
            my $running = grep { $_->{patroni} } @nodes;
            return (eval { asked($leader, $following, dbname => 'postgres') } // -1) == $running - 1;
        },
        'the others to follow');
    return $leader;
}

# Changes the dynamic configuration of the cluster.
sub configure
{
    my ($leader, $settings) = @_;
    my $answer = request($leader, 'PATCH', 'config', $settings);
    die "$answer->{status}: $answer->{content}" unless $answer->{success};
    return;
}

# The standbys that are synchronous both to the leader and in what would decide on a new one.
sub synchronous_of
{
    my ($leader) = @_;
    my $members = JSON::PP->new->decode(request($leader, 'GET', 'cluster')->{content})->{members};
    my %decided = map { $_->{name} => 1 } grep { $_->{role} =~ /^(sync|quorum)_standby$/ } @$members;
    my @names = split /\n/, asked($leader, "SELECT application_name FROM pg_stat_replication WHERE sync_state = 'sync'");
    return grep { my $node = $_; $decided{ $node->{name} } && grep { $_ eq $node->{name} } @names } @nodes;
}

# Waits until so many are.
sub wait_for_synchronous
{
    my ($leader, $count) = @_;
    wait_for(sub { (() = synchronous_of($leader)) == $count }, "$count synchronous standbys");
    return;
}

sub postmaster_of
{
    my ($node) = @_;
    return (split /\n/, slurp_file("$node->{data}/postmaster.pid"))[0];
}

# From now on, until the server is killed, its standbys get nothing of what it writes. It goes on taking them
# for connected.
sub hold_walsenders
{
    my ($node) = @_;
    my @walsenders = split /\n/, asked($node, 'SELECT pid FROM pg_stat_replication');
    kill 'STOP', @walsenders;
    foreach my $walsender (@walsenders)
    {
        wait_for(sub { state_of($walsender) eq 'T' }, 'a WAL sender to stop');
    }
    return;
}

# The server dies, and Patroni sees it.
sub kill_server { return end_at_once(postmaster_of($_[0])) }

# All that runs on a node's machine dies at once.
sub kill_machine
{
    my ($node) = @_;
    my $patroni = delete $node->{patroni};
    # Stopped it does not see that its server goes.
    kill 'STOP', process_of($patroni);
    kill_server($node);
    $patroni->kill_kill(grace => 0);
    return;
}

# How often a node's server was rewound.
sub rewinds_of { return scalar(() = slurp_file(log_of("patroni-$_[0]{name}")) =~ /pg_rewind exit code=0/g) }

# Has another node lead, and waits until it does.
sub switch_over
{
    my ($leader, $to) = @_;
    my $answer = request($leader, 'POST', 'switchover', { leader => $leader->{name}, candidate => $to->{name} });
    die "$answer->{status}: $answer->{content}" unless $answer->{success};
    wait_for(sub { (leader_of(@nodes) // $leader) == $to }, 'the other to lead');
    return;
}

# Whatever happens, nothing is left running.
END
{
    my $status = $?;
    foreach my $node (@nodes)
    {
        $node->{patroni}->kill_kill(grace => 0) if $node->{patroni};
        my $postmaster = eval { postmaster_of($node) } or next;
        # The process may be another one by now, where the server has gone.
        eval { end_at_once($postmaster) } if (readlink("/proc/$postmaster/cwd") // '') eq $node->{data};
    }
    $etcd->kill_kill(grace => 0) if $etcd;
    $? = $status;
}

1;
