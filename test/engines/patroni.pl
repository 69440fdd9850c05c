# Fail-over as it is really done: three servers under Patroni, whose state is in etcd, with clients that write
# to whichever leads. In synchronous mode no ID that a client was given comes twice, committed or not, whoever
# dies and however much he had sent, with the new leader's clock behind; and no row is lost whose commit was
# confirmed. In asynchronous mode none comes twice of a row that the new leader has: what may come twice is
# above the ceiling that it knows of, so that whoever was given it has lost his row. The cluster's number goes
# along.
# Unpacks: patroni etcd-server python3-etcd

use strict;
use warnings;

use List::Util qw(max);
use PostgreSQL::Test::Utils;
use Snowid;
use SnowidPatroni;
use SnowidWriters;
use Test::More;

start_etcd();
my %settings = (
    ttl => 20,
    loop_wait => 1,
    retry_timeout => 3,
    # Who dies is succeeded at once, also where his Patroni could start him again.
    primary_start_timeout => 0,
    # In bytes. What gets nothing for a while is to be promoted all the same.
    maximum_lag_on_failover => 1_000_000_000,
    synchronous_mode => JSON::PP::true,
    postgresql => { use_pg_rewind => JSON::PP::true, parameters => { wal_receiver_status_interval => '1s' } });
my @nodes = map { new_node("node$_", \%settings) } 1 .. 3;
start_patroni($nodes[0]);
wait_for_leader($nodes[0]);
start_patroni($_) foreach @nodes[ 1, 2 ];
my $leader = wait_for_leader(@nodes);

# How the cluster gets its number: from a registry, once.
my $registry = new_server('registry');
$registry->start;
$registry->safe_psql('postgres', 'CREATE EXTENSION snowid');
my ($host, $port) = ($registry->host, $registry->port);
asked($leader, 'CREATE DATABASE load', dbname => 'postgres');
asked($leader, <<"SQL");
CREATE EXTENSION snowid;
CREATE EXTENSION dblink;
CREATE SERVER registry FOREIGN DATA WRAPPER dblink_fdw OPTIONS (host '$host', port '$port', dbname 'postgres', connect_timeout '2');
CREATE USER MAPPING FOR CURRENT_USER SERVER registry OPTIONS (user 'postgres');
SQL
my $number = asked($leader, "SELECT snowid.join('registry', 'load')");
is(asked($leader, 'SELECT snowid_default_shard()'), $number, "joined: number $number");
$registry->stop;

asked($leader, 'CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next())');

sub new_writers
{
    my @writers = start_writers(3, connection_to(undef, 'load'), 'photos');
    wait_for_writes(20, @writers);
    return @writers;
}

# Has a leader go while clients write and the clocks of the others are 3 s behind, and waits until the clients
# write to a new one.
sub fail_over
{
    my ($name, $goes, @writers) = @_;
    wait_for_writes(20, @writers);
    set_clock(-3, $_) foreach grep { $_ != $leader } @nodes;
    $goes->();
    my $old = $leader;
    $leader = wait_for_leader(grep { $_ != $old } @nodes);
    wait_for_writes(20, @writers);
    is(asked($leader, 'SELECT snowid_default_shard()'), $number, "$name: the new leader has the cluster's number");
    set_clock(0, $_) foreach @nodes;
    return;
}

# Has the leader's last WAL not reach anybody, and its successor draw what it takes for free. Returns whether
# somebody had to wait for a standby, the ceiling that the successor knew of, and the IDs that came again.
sub fail_over_with_wal_lost
{
    my ($name, @writers) = @_;
    my $drawing = draw($leader, 'snowid_next()', undef, dbname => 'load', pause_every => 10);
    wait_to_draw(1, $drawing);
    wait_for_writes(20, @writers);
    my @others = grep { $_ != $leader } @nodes;
    hold_walsenders($leader);
    my $ceiling = max(map { ceiling_of($_) } @others);
    my $waiting = q(SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query ~ 'COPY.*snowid_next');
    my $waits = 0;
    wait_for(
        sub {
            $waits = asked($leader, $waiting);
            return $waits || asked($leader, 'SELECT last_value FROM snowid_internal.ceiling') > $ceiling + 2_000;
        },
        'the leader to want more than its standbys know of');
    let_go(@writers);
    kill_server($leader);
    finish($drawing);
    stop_writers(@writers);

    my $old = $leader;
    wait_for(sub { $leader = leader_of(grep { $_ != $old } @nodes) }, 'a leader');
    $ceiling = ceiling_of($leader);
    my @before = (@{ ids($drawing) }, map { $_->[0] } map { given_to($_) } @writers);
    return ($waits, $ceiling, draw_again($name, $leader, $number, $ceiling, \@before, dbname => 'load'));
}

sub ceiling_of { return asked($_[0], 'SELECT last_value FROM snowid_internal.ceiling') }

# What a server has, of a list of numbers.
sub rows_of
{
    my ($node, @numbers) = @_;
    my $list = join ',', @numbers;
    return asked($node, "SELECT count(*) FROM photos WHERE id = ANY ('{$list}')");
}

{
    my @writers = new_writers();
    wait_for_synchronous($leader, 1);
    fail_over('synchronous, its server killed', sub { kill_server($leader) }, @writers);

    wait_for_leader(@nodes);
    wait_for_synchronous($leader, 1);
    my $machine = $leader;
    fail_over('synchronous, its machine killed', sub { kill_machine($leader) }, @writers);

    # It comes back, follows, and leads again.
    start_patroni($machine);
    configure($leader, { synchronous_node_count => 2 });
    wait_for_leader(@nodes);
    wait_for_synchronous($leader, 2);
    fail_over('synchronous, switched back', sub { switch_over($leader, $machine) }, @writers);
    is($leader, $machine, 'the one that had died leads');

    wait_for_leader(@nodes);
    wait_for_synchronous($leader, 2);
    my ($old, $rewinds) = ($leader, rewinds_of($leader));
    my ($waits, $ceiling, @repeated) = fail_over_with_wal_lost('synchronous, its last WAL lost', @writers);
    is($waits, 1, 'nobody was given an ID that the standbys know nothing of');
    is(scalar(@repeated), 0, 'and none comes again');

    check_writers('synchronous', sub { asked($leader, $_[0]) }, 'photos', @writers);
    is(asked($leader, "SELECT count(*) FROM photos WHERE snowid_shard(id) <> $number"), '0',
        'all are of the one number');

    # What only it had is gone from it, the ceiling as well.
    wait_for_leader(@nodes);
    is(rewinds_of($old), $rewinds + 1, 'the old leader was rewound, and follows');
}

{
    configure($leader, { synchronous_mode => JSON::PP::false });
    wait_for(sub { asked($leader, 'SHOW synchronous_standby_names') eq '' }, 'commits to wait for nobody');
    my @writers = new_writers();
    fail_over('asynchronous, its server killed', sub { kill_server($leader) }, @writers);

    wait_for_leader(@nodes);
    my ($waits, $ceiling, @repeated) = fail_over_with_wal_lost('asynchronous, its last WAL lost', @writers);
    is($waits, 0, 'nobody waits for a standby');
    cmp_ok(scalar(@repeated), '>', 0, 'IDs come again, ' . @repeated . ' of them, as the guarantees say that they may');
    is(rows_of($leader, @repeated), '0', 'but none of a row that the new leader has');
    my $known = "snowid_timestamp(id) <= 'epoch'::timestamptz + $ceiling * interval '1 millisecond'";
    my $list = join ',', @repeated;
    is(asked($leader, "SELECT count(*) FROM unnest('{$list}'::bigint[]) AS id WHERE $known"), '0',
        'all are above the ceiling that it knew of');
    is(asked($leader, "SELECT count(*) FROM photos WHERE NOT $known"), '0', 'and all rows below');
    check_no_conflict('asynchronous', @writers);
}
done_testing();
