# Leaving and joining, logical shards and whole servers that move.

package ClusterMoves;

use strict;
use warnings;

use ClusterFaults;
use ClusterModel;
use ClusterOracle;
use ClusterRegistry;
use ClusterServers;
use Exporter 'import';

our @EXPORT = qw(leave_and_come_back retire_by_administrator move_shard release_and_fail_over lose_release switch_over
  roll_back);

sub leave_and_come_back { my ($cluster) = @_; leave_and_join($cluster, pick_node($cluster)); return }

# The administrator gives up a node that is not gone: it finds that out, and refuses.
sub retire_by_administrator
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    my $server = $node->{server};
    my $number = $node->{number};
    expect(at_registry($cluster, "SELECT snowid.retire_node('$node->{name}')"), '', "the administrator retires $node->{name}");
    event($cluster, "the administrator has retired $number of $node->{name}", $number);
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    join_another($cluster);
    draw($cluster, $node);
    expect(query($server, 'SELECT snowid_check()'), 'ERROR 55000', "$node->{name}, which the administrator has retired, checks");
    expect_refused($cluster, $server, 1, "$node->{name}, which the administrator has retired");
    undef $node->{number};
    expect(query($server, 'SELECT snowid_leave()'), '', "$node->{name} leaves") if chance(0.5);
    join_node($cluster, $node);
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    return;
}

# Another node leaves and joins meanwhile, if it is not the same one.
sub join_another
{
    my ($cluster) = @_;
    my ($first) = @{ $cluster->{nodes} };
    my $known = at_registry($cluster, "SELECT count(*) FROM snowid_internal.nodes WHERE node = '$first->{name}'");
    leave_and_join($cluster, $first) if $known eq '1' && chance(0.5);
    return;
}

# A logical shard goes to another node.
sub move_shard
{
    my ($cluster) = @_;
    hand_over($cluster, pick(logical_shards()));
    return;
}

# The same, in all layouts, to a node, any by default. Returns who has got it.
sub hand_over
{
    my ($cluster, $shard, $to) = @_;
    my $from = $cluster->{owner}{$shard};
    $to //= pick(grep { $_ != $from } @{ $cluster->{nodes} });
    draw($cluster, $from, logical => $shard, layout => $_) foreach @{ LAYOUTS() };
    event($cluster, "logical shard $shard goes from $from->{name} to $to->{name}", $shard);
    foreach my $layout (@{ LAYOUTS() })
    {
        my $text = layout_of($layout)->{text};
        my $id = query($from->{server}, "SELECT snowid.release_shard($shard, '$text', '$to->{name}')");
        expect($id, qr/^\d+$/, "$from->{name}: snowid.release_shard($shard, $layout)");
        accept_shard($cluster, $to, $shard, $id, $layout);
        expect(query($from->{server}, "SELECT snowid_next($shard, '$text')"), 'ERROR 55000', "$from->{name}: draws from $shard, which it has released");
    }
    $cluster->{owner}{$shard} = $to;
    draw($cluster, $to, logical => $shard, layout => $_) foreach @{ LAYOUTS() };
    if (chance(0.3))
    {
        kill_server($cluster, $from->{server});
        start($cluster, $from->{server});
        fault($cluster, 'nodes killed');
        expect(query($from->{server}, "SELECT snowid_next($shard)"), 'ERROR 55000', "$from->{name}: a shard that was released, after a crash");
    }
    return $to;
}

# A logical shard that a node has, if need be from now on.
sub own_shard
{
    my ($cluster, $node) = @_;
    my ($shard) = shards_of($cluster, $node);
    return $shard if defined $shard;
    $shard = pick(logical_shards());
    hand_over($cluster, $shard, $node);
    return $shard;
}

# What has been released outlives a fail-over to a synchronous standby.
sub release_and_fail_over
{
    my ($cluster) = @_;
    my $node = node_of_kind($cluster, 'synchronous');
    my $shard = own_shard($cluster, $node);
    hand_over($cluster, $shard);
    fail_over_synchronous($cluster);
    expect(query($node->{server}, "SELECT snowid_next($shard, '" . layout_of($_)->{text} . "')"), 'ERROR 55000',
        "$node->{name}: a shard that was released, after a fail-over")
      foreach @{ LAYOUTS() };
    return;
}

# An asynchronous standby that lacks a release is promoted: the shard is open on both servers, until it is released
# once more, and that is accepted where it had gone.
sub lose_release
{
    my ($cluster) = @_;
    my $node = node_of_kind($cluster, 'asynchronous');
    my $shard = own_shard($cluster, $node);
    my $mark = mark_of($cluster->{oracle});
    my $to;
    fail_over_asynchronous($cluster, sub { $to = hand_over($cluster, $shard) });
    my $server = $node->{server};
    event($cluster, "$server->{name} lacks the release of shard $shard", $shard);
    foreach my $layout (@{ LAYOUTS() })
    {
        my $keys = draw_from($cluster, $server, $layout, $shard, logical => 1);
        die "$server->{name}: a shard whose release was lost: $keys: $server->{message}\n" if !ref $keys;
        record_loose($cluster->{oracle}, $layout, $shard, "$server->{name} in step $cluster->{step}, open on both",
            [ map { @$_ } @$keys ], $mark);
        my $text = layout_of($layout)->{text};
        accept_shard($cluster, $to, $shard, query($server, "SELECT snowid.release_shard($shard, '$text', '$to->{name}')"), $layout);
        expect(query($server, "SELECT snowid_next($shard, '$text')"), 'ERROR 55000', "$server->{name}: draws from $shard, which it has released again");
    }
    seal($cluster->{oracle}, $shard);
    return;
}

# It waits for the clock as any caller does.
sub accept_shard
{
    my ($cluster, $node, $shard, $id, $layout) = @_;
    my $answer;
    foreach my $seconds (0.3, 1.5, 5, 20, 61, 61)
    {
        $answer = query($node->{server}, "SELECT snowid.accept_shard($shard, $id, '" . layout_of($layout)->{text} . "')");
        last if $answer ne 'ERROR SN001';
        let_time_pass($cluster, $seconds);
    }
    expect($answer, '', "$node->{name}: snowid.accept_shard, $layout");
    return;
}

# A new server has a node's rows and none of what snowid keeps: it goes on above the old one's ceiling, and joins.
sub switch_over
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    my $old = $node->{server};
    draw($cluster, $node, layout => $_, count => 2000) foreach @{ LAYOUTS() };
    my $server = fresh_server($cluster, $node->{letter});
    prepare_server($cluster, $server);
    my $handed_over = query($old, 'SELECT snowid_max(snowid_ceiling())');
    foreach my $seconds (0.3, 1.5, 5, 20, 61)
    {
        my $answer = query($server, "SELECT snowid.advance_past($handed_over)");
        last if $answer eq '';
        expect($answer, 'ERROR SN001', "$server->{name}: snowid.advance_past");
        let_time_pass($cluster, $seconds);
    }
    foreach my $shard (logical_shards())
    {
        next if $cluster->{owner}{$shard} == $node;
        expect(query($server, "SELECT snowid.release_shard($shard, '" . layout_of($_)->{text} . "')"), qr/^\d+$/, 'snowid.release_shard') foreach @{ LAYOUTS() };
    }
    my $number = $node->{number};
    expect(query($old, 'SELECT snowid_leave()'), '', "$node->{name} leaves");
    drop_server($cluster, replace_server($cluster, $node, $server));
    undef $node->{number};
    join_node($cluster, $node);
    draw($cluster, $node, logical => $_) foreach shards_of($cluster, $node);
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    give_standby($cluster, $node);
    fault($cluster, 'switch-overs');
    return;
}

# What is rolled back.
sub roll_back
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    my $server = $node->{server};
    query($server, 'BEGIN');
    expect(query($server, 'SELECT snowid_check()'), $node->{number}, "$node->{name}: a check that is rolled back");
    query($server, 'ROLLBACK');
    check_node($cluster, $node, 'after a check that was rolled back');
    draw($cluster, $node);
    return if chance(0.6);
    # A leave that is rolled back has retired the number all the same.
    query($server, 'BEGIN');
    expect(query($server, 'SELECT snowid_leave()'), '', "$node->{name}: a leave that is rolled back");
    query($server, 'ROLLBACK');
    expect_refused($cluster, $server, 0, "$node->{name}, whose leave was rolled back");
    expect(query($server, 'SELECT snowid_leave()'), '', "$node->{name} leaves again");
    undef $node->{number};
    query($server, 'BEGIN');
    $node->{name} = $node->{letter} . ++$cluster->{names};
    my $number = query($server, "SELECT snowid_join('registry', '$node->{name}')");
    expect($number, qr/^\d+$/, "$node->{name}: a join that is rolled back");
    query($server, 'ROLLBACK');
    expect_refused($cluster, $server, 0, "$node->{name}, whose join was rolled back");
    expect(query($server, "SELECT snowid_join('registry', '$node->{name}')"), $number, "$node->{name} joins: the number that it has claimed");
    note_number($cluster, $node, $number, "$node->{name} has joined again");
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    return;
}

1;
