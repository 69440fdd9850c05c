# What happens to nodes: kills, clocks and fail-overs.

package ClusterFaults;

use strict;
use warnings;

use ClusterCopies;
use ClusterModel;
use ClusterNames;
use ClusterOracle;
use ClusterServers;
use Exporter 'import';
use PostgreSQL::Test::Utils;

our @EXPORT = qw(draw_many set_clocks set_lead pass_time kill_node lead_and_take_over wait_for_standby fail_over_synchronous
  fail_over_asynchronous node_of_kind);

sub draw_many
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    foreach my $layout (@{ LAYOUTS() })
    {
        draw($cluster, $node, layout => $layout, count => pick(500, 5_000, 40_000, 400_000), sessions => 1 + int rand 3);
    }
    return;
}

# A node's clock, up to 9 s off the registry's.
sub set_clocks
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    put_clock($cluster, $node->{server}, rand(18) - 9);
    $cluster->{moved_clocks}++;
    event($cluster, sprintf('clock of %s: %+.3f s', $node->{name}, $node->{server}{offset}), $node->{number} // ());
    draw($cluster, $node, layout => $_, count => 20) foreach @{ LAYOUTS() };
    return;
}

# How far ahead of its clock a node's IDs may be. The registry knows it from the node's next check.
sub set_lead
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    change_lead($cluster, $node, pick(0, 1, 4, 20));
    check_node($cluster, $node);
    draw($cluster, $node, layout => $_) foreach 'few', @{ LAYOUTS() };
    return;
}

sub change_lead
{
    my ($cluster, $node, $seconds) = @_;
    my $server = $node->{server};
    put_lead($server, $seconds);
    $server->{pg}->reload;
    wait_until(sub { forget_sessions($server); query($server, q(SELECT snowid_default_shard(), setting::int FROM pg_settings WHERE name = 'snowid.max_lead')); 
            query($server, qq(SELECT setting::int = $seconds * 1000 FROM pg_settings WHERE name = 'snowid.max_lead')) eq '1' }, 'snowid.max_lead');
    event($cluster, "$node->{name}: IDs may be $seconds s ahead", $node->{number});
    return;
}

sub pass_time
{
    my ($cluster) = @_;
    my $seconds = pick(1, 10, 100, 4000, 86400, 86400 * 40);
    let_time_pass($cluster, $seconds);
    event($cluster, "$seconds s pass");
    return;
}

# kill -9 while sessions draw, and a clock that is another one when it starts.
sub kill_node
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    my $server = $node->{server};
    my $layout = pick(@{ LAYOUTS() });
    event($cluster, "$node->{name} ($server->{name}) is killed while it draws $layout", $node->{number} // ());
    my $count = pick(50, 2000, 20000);
    if (defined $node->{number})
    {
        draw($cluster, $node, layout => $layout, count => pick(1, 5000));
        draw($cluster, $node, layout => $layout, count => $count, sessions => 3, killed => 1);
    }
    kill_server($cluster, $server);
    put_clock($cluster, $server, rand(18) - 9) if chance(0.6);
    start($cluster, $server);
    wait_for_standby($cluster, $node);
    fault($cluster, 'nodes killed');
    if (chance(0.5) && defined $node->{number}) { check_node($cluster, $node, 'after a crash') }
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    return;
}

sub wait_for_standby
{
    my ($cluster, $node) = @_;
    return if !$node->{standby};
    wait_until(sub { query($node->{server}, 'SELECT state FROM pg_stat_replication') eq 'streaming' }, "$node->{name}'s standby");
    return;
}

# A node's IDs run ahead of its clock by as much as they may. A copy of it, whose own may not, takes over, and goes above.
sub lead_and_take_over
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    change_lead($cluster, $node, 20);
    put_clock($cluster, $node->{server}, 9) if chance(0.7);
    check_node($cluster, $node);
    my ($clone) = new_clone($cluster, $node, archive => chance(0.5));
    kill_server($cluster, $clone);
    put_lead($clone, 1);
    put_clock($cluster, $clone, -9) if chance(0.5);
    start($cluster, $clone);
    draw($cluster, $node, layout => 'few', logical => undef, count => pick(20_000, 60_000), sessions => 3);
    take_over($cluster, $clone, $node->{number}, shards_of($cluster, $node));
    drop_server($cluster, replace_server($cluster, $node, $clone));
    draw($cluster, $node, layout => $_, logical => undef) foreach 'few', @{ LAYOUTS() };
    give_standby($cluster, $node);
    check_node($cluster, $node, 'which has taken over from one that was ahead');
    return;
}

sub node_of_kind { my ($cluster, $kind) = @_; my ($node) = grep { $_->{kind} eq $kind } @{ $cluster->{nodes} }; return $node }

# A synchronous standby is promoted, and nothing repeats, though the old primary may live for a while.
sub fail_over_synchronous
{
    my ($cluster) = @_;
    my $node = node_of_kind($cluster, 'synchronous');
    my ($old, $standby) = ($node->{server}, delete $node->{standby});
    put_clock($cluster, $standby, rand(18) - 9);
    my $layout = pick(@{ LAYOUTS() });
    event($cluster, "$node->{name} fails over from $old->{name} to $standby->{name}, synchronous", $node->{number});
    draw($cluster, $node, layout => $_, count => 3000) foreach @{ LAYOUTS() };
    my $is_alive = chance(0.5);
    draw($cluster, $node, layout => $layout, count => 5000, sessions => 3, killed => 1) if !$is_alive;
    kill_server($cluster, $old) if !$is_alive;
    promote_server($cluster, $standby);
    replace_server($cluster, $node, $standby, is_same => 1);
    fault($cluster, 'synchronous fail-overs');
    if ($is_alive)
    {
        # It has what its ceiling allows, and then waits for a standby that does not answer.
        query($old, q(SET statement_timeout = '300ms'));
        my $keys = draw_from($cluster, $old, 'milliseconds', $node->{number}, count => 100);
        record_ids($cluster->{oracle}, 'milliseconds', $node->{number}, "$old->{name}, whose standby was promoted, in step $cluster->{step}",
            [ map { @$_ } @$keys ], any_order => 1)
          if ref $keys;
    }
    draw($cluster, $node, layout => $_, count => 1000) foreach @{ LAYOUTS() };
    check_warned($cluster, $standby, $node->{number}, $was_promoted, 'as a promoted standby') if chance(0.7);
    take_over($cluster, $standby, $node->{number}, shards_of($cluster, $node));
    check_node($cluster, $node, 'promoted');
    if ($is_alive)
    {
        set_standbys($old, '');
        check_stopped($cluster, $old, 'whose synchronous standby was promoted');
    }
    drop_server($cluster, $old);
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    give_standby($cluster, $node);
    return;
}

# An asynchronous standby that lacks what was drawn last is promoted; the old primary comes back. meanwhile: what else
# it lacks.
sub fail_over_asynchronous
{
    my ($cluster, $meanwhile) = @_;
    my $node = node_of_kind($cluster, 'asynchronous');
    my ($old, $standby) = ($node->{server}, delete $node->{standby});
    # It has all before.
    my $lsn = query($old, 'SELECT pg_current_wal_flush_lsn()');
    wait_until(sub { query($standby, "SELECT pg_last_wal_replay_lsn() >= '$lsn'") eq '1' }, 'the standby to catch up');
    kill_server($cluster, $standby);
    my $mark = mark_of($cluster->{oracle});
    $meanwhile->() if $meanwhile;
    my $checks = int rand 3;
    draw($cluster, $node, layout => $_, count => 3000) foreach @{ LAYOUTS() };
    check_node($cluster, $node) foreach 1 .. $checks;
    let_time_pass($cluster, pick(0, 1, 5));
    draw($cluster, $node, layout => $_, count => 500) foreach @{ LAYOUTS() };
    event($cluster, "$node->{name} fails over from $old->{name} to $standby->{name}, asynchronous, $checks checks behind", $node->{number});
    kill_server($cluster, $old);
    put_clock($cluster, $standby, rand(18) - 9);
    start($cluster, $standby);
    promote_server($cluster, $standby);
    fault($cluster, 'asynchronous fail-overs');
    my @shards = all_shards_of($cluster, $node);
    draw_loosely($cluster, $node, $standby, $mark) if chance(0.3);
    advance_all($cluster, $standby, @shards);
    replace_server($cluster, $node, $standby);
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    check_warned($cluster, $standby, $node->{number}, $was_promoted, 'as a promoted standby') if chance(0.7);
    take_over($cluster, $standby, $node->{number}, shards_of($cluster, $node));
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    if (chance(0.5))
    {
        start($cluster, $old);
        draw_loosely($cluster, $node, $old, $mark) if chance(0.5);
        check_stopped($cluster, $old, 'whose standby was promoted');
        check_node($cluster, $node, 'after the old primary was found');
    }
    drop_server($cluster, $old);
    give_standby($cluster, $node);
    return;
}

1;
