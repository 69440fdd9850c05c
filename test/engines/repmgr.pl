# Fail-over with repmgr: a primary whose commits wait for its standby is killed while clients write, the standby is
# promoted, with its clock behind when it draws, the old primary is rewound and follows, and takes over again in
# the same way. No ID that a client was given comes twice, committed or not, and no row is lost whose commit was confirmed.
# The number goes along.
# Needs: postgresql-MAJOR-repmgr

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use SnowidWriters;
use Test::More;

my $scratch = PostgreSQL::Test::Utils::tempdir();
my $primary = new_server('one', allows_streaming => 1, extra => ['--data-checksums']);
$primary->append_conf('postgresql.conf', "wal_keep_size = 256\n");
start_server($primary);
$primary->safe_psql('postgres', 'CREATE DATABASE repmgr; CREATE EXTENSION snowid; ALTER DATABASE postgres SET snowid.default_shard = 5');
$primary->safe_psql('postgres', 'CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next())');

# repmgr's command for a node, in whose place it stands: a server that it starts has that node's clock.
my $bin = (split /\n/, (run_command([ $ENV{PG_CONFIG} // 'pg_config', '--bindir' ]))[0])[0];
sub repmgr
{
    my ($node, $name, @command) = @_;
    my $file = "$scratch/" . $node->name . '.conf';
    local %ENV = (%ENV, faked_clock($node));
    command_ok([ "$bin/repmgr", '-f', $file, @command ], $name);
    return;
}

sub connection_to { my ($node) = @_; return 'host=' . $node->host . ' port=' . $node->port . " user=postgres dbname=repmgr" }

my $nodes = 0;
sub configure
{
    my ($node) = @_;
    my ($number, $connection) = (++$nodes, connection_to($node));
    append_to_file("$scratch/" . $node->name . '.conf', <<"CONF");
node_id = $number
node_name = '@{[ $node->name ]}'
conninfo = '$connection'
data_directory = '@{[ $node->data_dir ]}'
pg_bindir = '$bin'
pg_ctl_options = '-l @{[ $node->logfile ]}'
CONF
    return;
}

configure($primary);
repmgr($primary, 'the primary is registered', 'primary', 'register');
my $standby = new_standby($primary, 'two');
configure($standby);
start_server($standby);
repmgr($standby, 'the standby is registered', 'standby', 'register', '--upstream-node-id=1');
# As each sees it: the standby, which has another's name for itself.
$_->append_conf('postgresql.conf', "synchronous_standby_names = '*'\n") foreach $primary, $standby;
$_->reload foreach $primary, $standby;
wait_for_synchronous($primary);

sub wait_for_synchronous
{
    my ($node) = @_;
    wait_for(sub { $node->safe_psql('postgres', 'SELECT sync_state FROM pg_stat_replication') eq 'sync' },
        'the standby to be synchronous');
    return;
}

my $hosts = join ',', map { $_->host } $primary, $standby;
my $ports = join ',', map { $_->port } $primary, $standby;
my $connection = "host=$hosts port=$ports user=postgres dbname=postgres target_session_attrs=read-write";
my @writers;
foreach my $round ('fail-over', 'and back')
{
    my @these = start_writers(3, $connection, 'photos');
    wait_for_writes(100, @these);
    let_go(@these);
    crash($primary, 'kill');
    stop_writers(@these);
    my $ceiling = $standby->safe_psql('postgres', 'SELECT last_value FROM snowid_internal.ceiling');
    repmgr($standby, "$round: the standby is promoted", 'standby', 'promote');
    # pg_rewind goes by the timeline of the last checkpoint.
    $standby->safe_psql('postgres', 'CHECKPOINT');
    repmgr($primary, "$round: the old primary is rewound, and follows",
        'node', 'rejoin', '-d', connection_to($standby), '--force-rewind',
        '--config-files=postgresql.conf', "--config-archive-dir=$scratch");
    # It was repmgr that started it.
    $primary->_update_pid(1);
    ($primary, $standby) = ($standby, $primary);
    wait_for_synchronous($primary);
    is($primary->safe_psql('postgres', 'SELECT snowid_default_shard()'), '5', "$round: the number goes along");
    push @writers, @these;
    my @given = map { $_->[0] } map { given_to($_) } @writers;
    is(scalar(my @repeated = draw_again($round, $primary, 5, $ceiling, \@given)), 0, "$round: nothing that was given before");
}
push @writers, start_writers(3, $connection, 'photos');
wait_for_writes(100, @writers[ -3 .. -1 ]);
stop_writers(@writers[ -3 .. -1 ]);
check_writers('all', sub { $primary->safe_psql('postgres', $_[0]) }, 'photos', @writers);
$_->stop foreach $standby, $primary;
done_testing();
