# Leaving and joining, logical shards and whole servers that move.

package ClusterMoves;

use strict;
use warnings;

use ClusterCopies;
use ClusterFaults;
use ClusterModel;
use ClusterNames;
use ClusterOracle;
use ClusterRegistry;
use ClusterServers;
use Exporter 'import';

our @EXPORT = qw(leave_and_come_back retire_by_administrator move_shard cross_moves accept_stale release_and_fail_over lose_release
  switch_over roll_back);

sub leave_and_come_back { my ($cluster) = @_; leave_and_join($cluster, pick_node($cluster)); return }

# The administrator gives up a node that is not gone: it finds that out, and has stopped.
sub retire_by_administrator
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    my $number = $node->{number};
    retire($cluster, $node);
    leave_and_join($cluster, other_node($cluster, $node)) if chance(0.5);
    $node->{number} = $number;
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    check_stopped($cluster, $node->{server}, 'which the administrator has retired');
    expect(query($node->{server}, 'SELECT snowid.take_over_node()'), 'ERROR 55000', "$node->{name}, which the administrator has retired, takes over");
    undef $node->{number};
    expect(query($node->{server}, 'SELECT snowid.leave()'), '', "$node->{name} leaves") if chance(0.5);
    join_node($cluster, $node);
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
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
        my $id = query($from->{server}, release_sql($shard, $text, $to->{name}));
        expect($id, qr/^\d+$/, "$from->{name}: releases $shard, $layout");
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
        accept_shard($cluster, $to, $shard, query($server, release_sql($shard, $text, $to->{name})), $layout);
        expect(query($server, "SELECT snowid_next($shard, '$text')"), 'ERROR 55000', "$server->{name}: draws from $shard, which it has released again");
    }
    seal($cluster->{oracle}, $shard);
    return;
}

# It waits for the clock as any caller does. Where the server has itself released the shard with a greater ID, or had it
# open, which is known to be over, it is accepted above that.
sub accept_shard
{
    my ($cluster, $node, $shard, $id, $layout) = @_;
    my $answer = accept_once($cluster, $node, $shard, $id, $layout);
    if ($answer eq 'ERROR 55000')
    {
        my ($known) = $node->{server}{message} =~ /is not above ID (\d+)/;
        die "$node->{name}: accepts $id, $layout: $node->{server}{message}\n" if !defined $known || $known < $id;
        $answer = accept_once($cluster, $node, $shard, id_above($layout, $known), $layout);
    }
    expect($answer, '', "$node->{name}: accepts $id, $layout" . ($answer =~ /ERROR/ ? ": $node->{server}{message}" : ''));
    push @{ $cluster->{released}{$shard}{$layout} }, $id;
    return;
}

sub accept_once
{
    my ($cluster, $node, $shard, $id, $layout) = @_;
    my $answer;
    foreach my $seconds (0.3, 1.5, 5, 20, 61, 61)
    {
        $answer = query($node->{server}, accept_sql($shard, $id, layout_of($layout)->{text}));
        last if $answer ne 'ERROR SN001';
        let_time_pass($cluster, $seconds);
    }
    return $answer;
}

# Nodes that issue IDs of a shard.
sub open_on
{
    my ($cluster, $shard, $layout) = @_;
    my @open;
    foreach my $node (@{ $cluster->{nodes} })
    {
        my $keys = draw_from($cluster, $node->{server}, $layout, $shard, logical => 1, count => 20);
        if (!ref $keys) { expect($keys, 'ERROR 55000', "$node->{name} draws from shard $shard"); next }
        push @open, $node;
        record_ids($cluster->{oracle}, $layout, $shard, "$node->{name} on $node->{server}{name} in step $cluster->{step}", [ map { @$_ } @$keys ]);
    }
    return @open;
}

# Two moves of a shard cross: both servers release it, and each is handed the other's ID, at the same time. It is open on
# one of them at most.
sub cross_moves
{
    my ($cluster) = @_;
    my $shard = pick(logical_shards());
    my $from = $cluster->{owner}{$shard};
    my @both = ($from, other_node($cluster, $from));
    @both = reverse @both if chance(0.5);
    my @owners;
    event($cluster, "moves of logical shard $shard between $both[0]{name} and $both[1]{name} cross", $shard);
    foreach my $layout (@{ LAYOUTS() })
    {
        my $text = layout_of($layout)->{text};
        draw($cluster, $from, logical => $shard, layout => $layout);
        my @pending = map { start_query($_->{server}, release_sql($shard, $text, 'the other')) } @both;
        my @released = map { result_of($_) } @pending;
        $_ =~ /^\d+$/ or die "a release of shard $shard that crosses another: $_\n" foreach @released;
        # Until both clocks are past both.
        foreach my $seconds (0, 1.5, 20, 61, 61)
        {
            let_time_pass($cluster, $seconds) if $seconds;
            my @accepts = map { start_query($both[$_]{server}, accept_sql($shard, $released[ 1 - $_ ], $text)) } 0, 1;
            my @answers = map { result_of($_) } @accepts;
            expect($_, qr/^(?:|ERROR (?:55000|SN001))$/, 'an accept that crosses another') foreach @answers;
            last if !grep { $_ eq 'ERROR SN001' } @answers;
        }
        my @open = open_on($cluster, $shard, $layout);
        die "shard $shard, $layout: open on $open[0]{name} and $open[1]{name} after moves that have crossed\n" if @open > 1;
        if (!@open || $open[0] != $from)
        {
            # All layouts are to be on one server.
            my ($greatest) = sort { $b <=> $a } @released;
            $greatest = query($open[0]{server}, release_sql($shard, $text, $from->{name})) if @open;
            accept_shard($cluster, $from, $shard, id_above($layout, $greatest), $layout);
        }
    }
    draw($cluster, $from, logical => $shard, layout => $_) foreach @{ LAYOUTS() };
    return;
}

# IDs that have opened a shard are accepted once more, where it is not, and where it is.
sub accept_stale
{
    my ($cluster) = @_;
    my $shard = pick(logical_shards());
    my $from = $cluster->{owner}{$shard};
    my $to = hand_over($cluster, $shard);
    hand_over($cluster, $shard, $from) if chance(0.5);
    foreach my $layout (@{ LAYOUTS() })
    {
        my $text = layout_of($layout)->{text};
        foreach my $node (grep { $_ != $cluster->{owner}{$shard} } @{ $cluster->{nodes} })
        {
            my $known = query($node->{server}, "SELECT max(id) FROM snowid.released_shards WHERE shard = $shard AND layout = '$text'");
            expect($known, qr/^\d+$/, "$node->{name}: shard $shard was released");
            my @stale = grep { $_ <= $known } @{ $cluster->{released}{$shard}{$layout} };
            expect(accept_once($cluster, $node, $shard, $_, $layout), 'ERROR 55000', "$node->{name} accepts $_ once more")
              foreach $known, @stale ? pick(@stale) : (), @stale ? $stale[-1] : ();
        }
        my @open = open_on($cluster, $shard, $layout);
        die "shard $shard, $layout: open on " . join(' and ', map { $_->{name} } @open) . ", after stale IDs were accepted\n" if @open != 1;
        # Another shard than the ID's is not opened.
        my $id = $cluster->{released}{$shard}{$layout}[-1];
        expect(query($to->{server}, accept_sql($shard + 1, $id, $text)), 'ERROR 22023', "$to->{name} accepts an ID of shard $shard for another");
    }
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
    my ($ask, $advance) = advance_to_ceiling();
    my $handed_over = query($old, $ask);
    foreach my $seconds (0.3, 1.5, 5, 20, 61)
    {
        my $answer = query($server, $advance->($handed_over));
        last if $answer eq '';
        expect($answer, 'ERROR SN001', "$server->{name}: goes above what was handed over");
        let_time_pass($cluster, $seconds);
    }
    foreach my $shard (logical_shards())
    {
        next if $cluster->{owner}{$shard} == $node;
        expect(query($server, release_sql($shard, layout_of($_)->{text}, 'another')), qr/^\d+$/, 'a release') foreach @{ LAYOUTS() };
    }
    leave_node($cluster, $node);
    drop_server($cluster, replace_server($cluster, $node, $server));
    join_node($cluster, $node);
    draw($cluster, $node, logical => $_) foreach shards_of($cluster, $node);
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    give_standby($cluster, $node);
    fault($cluster, 'switch-overs');
    return;
}

# What a node says to its registry, and knows itself, is not rolled back.
sub roll_back
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    my $server = $node->{server};
    query($server, 'BEGIN');
    expect(query($server, 'SELECT snowid.check_node()'), $node->{number}, "$node->{name}: a check that is rolled back");
    query($server, 'ROLLBACK');
    check_node($cluster, $node, 'after a check that was rolled back');
    draw($cluster, $node);
    return if chance(0.6);
    # A leave that is rolled back has retired the number all the same.
    query($server, 'BEGIN');
    expect(query($server, 'SELECT snowid.leave()'), '', "$node->{name}: a leave that is rolled back");
    query($server, 'ROLLBACK');
    expect_refused($cluster, $server, 0, "$node->{name}, whose leave was rolled back");
    undef $node->{number};
    query($server, 'BEGIN');
    rename_node($cluster, $node);
    my $number = query($server, "SELECT snowid.join('registry', '$node->{name}')");
    expect($number, qr/^\d+$/, "$node->{name}: a join that is rolled back");
    query($server, 'ROLLBACK');
    expect(query($server, "SELECT snowid.join('registry', '$node->{name}')"), $number, "$node->{name} joins: the number that it has");
    note_number($cluster, $node, $number, "$node->{name} has joined again");
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    return;
}

1;
