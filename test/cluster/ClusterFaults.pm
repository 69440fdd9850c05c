# What happens to nodes: kills, clocks, lost and held answers, clones, restores and fail-overs.

package ClusterFaults;

use strict;
use warnings;

use ClusterModel;
use ClusterOracle;
use ClusterServers;
use Exporter 'import';
use PostgreSQL::Test::Utils;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(draw_many set_clocks pass_time kill_node clone_second clone_first clone_late restore_dump restore_backup
  node_of_kind fail_over_synchronous fail_over_asynchronous);

sub draw_many
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    foreach my $layout (@{ LAYOUTS() })
    {
        draw($cluster, $node, layout => $layout, count => pick(500, 5_000, 40_000), sessions => 1 + int rand 3);
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

sub pass_time
{
    my ($cluster) = @_;
    my $seconds = pick(1, 10, 100, 4000);
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

# Has both a copy that is found join as another node, or leave, and go.
sub end_copy
{
    my ($cluster, $copy, $number) = @_;
    expect_refused($cluster, $copy, 1, "$copy->{name}, a copy that was found");
    if (chance(0.3))
    {
        kill_server($cluster, $copy);
        start($cluster, $copy);
        expect_refused($cluster, $copy, 1, "$copy->{name}, a copy that was found, after a crash");
    }
    if (chance(0.6))
    {
        my $node = { letter => 'copy', server => $copy };
        join_node($cluster, $node);
        draw($cluster, $node, layout => $_, logical => undef) foreach @{ LAYOUTS() };
        expect(query($copy, 'SELECT snowid_leave()'), '', "$copy->{name} leaves") if chance(0.5);
    }
    elsif (chance(0.5))
    {
        expect(query($copy, 'SELECT snowid_leave()'), '', "$copy->{name} forgets that it was a node");
        expect_refused($cluster, $copy, 0, "$copy->{name} after that");
    }
    drop_server($cluster, $copy);
    return;
}

# A clone beside its original, on which clients may draw before it has checked.
sub new_clone
{
    my ($cluster, $node, %options) = @_;
    my $mark = mark_of($cluster->{oracle});
    my $clone = copy_of($cluster, $node->{server}, 'clone', %options);
    start($cluster, $clone);
    wait_until(sub { query($clone, 'SELECT pg_is_in_recovery()') eq '0' }, 'the clone') if $options{archive};
    event($cluster, "$clone->{name} is a clone of $node->{name} ($node->{server}{name})", $node->{number});
    fault($cluster, 'clones');
    return ($clone, $mark);
}

sub draw_loosely
{
    my ($cluster, $node, $server, $mark) = @_;
    event($cluster, "$server->{name} draws loosely", $node->{number});
    record_loosely($cluster, $server, $mark, $node->{number}, shards_of($cluster, $node));
    return;
}

# The original checks first: the clone is found, and has harmed nobody unless it drew before.
sub clone_second
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    my ($clone, $mark) = new_clone($cluster, $node);
    draw_loosely($cluster, $node, $clone, $mark) if chance(0.3);
    draw($cluster, $node);
    check_node($cluster, $node, 'beside a clone');
    expect(query($clone, 'SELECT snowid_check()'), 'ERROR 55000', "$clone->{name} checks second");
    end_copy($cluster, $clone, $node->{number});
    check_node($cluster, $node, 'after a clone was found');
    draw($cluster, $node);
    return;
}

# The clone checks first: the original is found, takes over, and then the clone is found.
sub clone_first
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    my ($clone, $mark) = new_clone($cluster, $node);
    expect(query($clone, 'SELECT snowid_check()'), $node->{number}, "$clone->{name} checks first");
    draw($cluster, $node);
    draw_loosely($cluster, $node, $clone, $mark) if chance(0.7);
    expect(query($node->{server}, 'SELECT snowid_check()'), 'ERROR 55000', "$node->{name} checks after its clone");
    expect_refused($cluster, $node->{server}, 1, "$node->{name}, which its clone has displaced");
    draw_loosely($cluster, $node, $clone, $mark) if chance(0.3);
    take_over($cluster, $node->{server}, $node->{number}, shards_of($cluster, $node));
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    expect(query($clone, 'SELECT snowid_check()'), 'ERROR 55000', "$clone->{name} checks after the original has taken over");
    end_copy($cluster, $clone, $node->{number});
    check_node($cluster, $node, 'after it has taken over');
    return;
}

# Restored from an archive beside a node that goes on checking: refused, and the node is not displaced.
sub clone_late
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    check_node($cluster, $node);
    my ($clone, $mark) = new_clone($cluster, $node, archive => 1);
    if (chance(0.5))
    {
        let_time_pass($cluster, 40);
        check_node($cluster, $node);
    }
    let_time_pass($cluster, 40);
    check_node($cluster, $node);
    draw_loosely($cluster, $node, $clone, $mark) if chance(0.3);
    expect(query($clone, 'SELECT snowid_check()'), 'ERROR 55000', "$clone->{name}, restored from an archive, checks beside its original");
    check_node($cluster, $node, 'beside one that was restored from an archive');
    draw($cluster, $node);
    drop_server($cluster, $clone);
    return;
}

# A server takes the place of a node's: its logical shards are as it was then.
sub replace_server
{
    my ($cluster, $node, $server) = @_;
    if ($node->{standby}) { drop_server($cluster, delete $node->{standby}) }
    my $old = $node->{server};
    $node->{server} = $server;
    event($cluster, "$server->{name} is $node->{name} now, in place of $old->{name}", $node->{number});
    return $old;
}

# A moment that is past all IDs of a server, whose clock is up to 9 s ahead of a right one, is had all shards go above.
sub advance_all
{
    my ($cluster, $server, @shards) = @_;
    my $moment = time + $cluster->{passed} + 9 + max_lead();
    foreach my $pass (0 .. 20)
    {
        my $answer = query($server, "SELECT snowid.advance_past(to_timestamp($moment))");
        if ($answer eq '') { seal($cluster->{oracle}, @shards); return }
        expect($answer, 'ERROR SN001', "$server->{name}: snowid.advance_past");
        let_time_pass($cluster, 2);
    }
    die "$server->{name}: snowid.advance_past: refused though time has passed\n";
}
push @EXPORT, 'advance_all', 'replace_server';

# A dump of a node, restored on a new server that takes its place.
sub restore_dump
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    my $old = $node->{server};
    my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
    system_or_bail('pg_dump', '-h', $old->{pg}->host, '-p', $old->{pg}->port, '-d', 'postgres', '-f', $dump);
    draw($cluster, $node);
    check_node($cluster, $node) if chance(0.5);
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    my $server = fresh_server($cluster, $node->{letter});
    expect(query($server, 'DROP EXTENSION snowid'), '', 'DROP EXTENSION');
    expect(query($server, 'DROP SCHEMA IF EXISTS snowid'), '', 'DROP SCHEMA');
    system_or_bail('psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-h', $server->{pg}->host, '-p', $server->{pg}->port, '-d', 'postgres', '-f',
        $dump, '-o', '/dev/null');
    event($cluster, "$server->{name} is a dump of $node->{name} that was restored", $node->{number});
    fault($cluster, 'dumps of nodes restored');
    expect_refused($cluster, $server, 0, "$server->{name}, a dump that was restored");
    expect(query($server, 'SELECT snowid_check()'), 'ERROR 55000', "$server->{name}, a dump that was restored, checks");
    my $is_alive = chance(0.4);
    kill_server($cluster, $old) if !$is_alive;
    take_over($cluster, $server, $node->{number}, shards_of($cluster, $node));
    if ($is_alive)
    {
        drop_server($cluster, delete $node->{standby}) if $node->{standby};
        set_standbys($old, '');
        expect(query($old, 'SELECT snowid_check()'), 'ERROR 55000', "$old->{name}, which a dump has replaced, checks");
        expect_refused($cluster, $old, 1, "$old->{name}, which a dump has replaced");
    }
    drop_server($cluster, replace_server($cluster, $node, $server));
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    check_node($cluster, $node, 'restored from a dump');
    give_standby($cluster, $node);
    return;
}

# A base backup of a node, started in its place.
sub restore_backup
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    my $old = $node->{server};
    my $mark = mark_of($cluster->{oracle});
    my $is_archive = chance(0.5);
    my $server = copy_of($cluster, $old, $node->{letter}, archive => $is_archive);
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    my $checks = int rand 4;
    check_node($cluster, $node) foreach 1 .. $checks;
    draw($cluster, $node);
    kill_server($cluster, $old);
    start($cluster, $server);
    wait_until(sub { query($server, 'SELECT pg_is_in_recovery()') eq '0' }, 'the end of recovery');
    event($cluster, "$server->{name} is a base backup of $node->{name}, which has checked $checks times since", $node->{number});
    fault($cluster, 'base backups of nodes restored');
    draw_loosely($cluster, $node, $server, $mark) if chance(0.3);
    my $answer = query($server, 'SELECT snowid_check()');
    # The token is the last one, or the one before and the timeline a later one.
    my $expected = $checks == 0 || $is_archive && $checks == 1 ? qr/^(?:$node->{number}|ERROR 55000)$/ : 'ERROR 55000';
    $expected = $node->{number} if $checks == 0 && !$is_archive;
    expect($answer, $expected, "$server->{name}, a base backup, checks: $checks checks since, " . ($is_archive ? '' : 'not ') . 'from an archive');
    if ($answer =~ /ERROR/) { take_over($cluster, $server, $node->{number}, shards_of($cluster, $node)) }
    else { advance_all($cluster, $server, all_shards_of($cluster, $node)) }
    drop_server($cluster, replace_server($cluster, $node, $server));
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    check_node($cluster, $node, 'restored from a base backup');
    give_standby($cluster, $node);
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
    replace_server($cluster, $node, $standby);
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
    settle_fail_over($cluster, $node);
    drop_server($cluster, $old);
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    give_standby($cluster, $node);
    return;
}

# The first check of what was promoted: where the primary has checked just now it takes an hour, or a take-over.
sub settle_fail_over
{
    my ($cluster, $node) = @_;
    my $answer = query($node->{server}, 'SELECT snowid_check()');
    expect($answer, qr/^(?:$node->{number}|ERROR 55000)$/, "$node->{name}, promoted, checks");
    return if $answer eq $node->{number};
    expect($node->{server}{message}, qr/another server uses number/, "$node->{name}, promoted, checks: why");
    let_time_pass($cluster, 3601);
    check_node($cluster, $node, 'an hour after it was promoted');
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
    if ($checks < 2) { settle_fail_over($cluster, $node) }
    else
    {
        expect(query($standby, 'SELECT snowid_check()'), 'ERROR 55000', "$standby->{name}, promoted two exchanges behind, checks");
        take_over($cluster, $standby, $node->{number}, shards_of($cluster, $node));
    }
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    if (chance(0.5))
    {
        start($cluster, $old);
        draw_loosely($cluster, $node, $old, $mark) if chance(0.5);
        expect(query($old, 'SELECT snowid_check()'), 'ERROR 55000', "$old->{name}, whose standby was promoted, checks");
        expect_refused($cluster, $old, 1, "$old->{name}, whose standby was promoted");
        check_node($cluster, $node, 'after the old primary was found');
    }
    drop_server($cluster, $old);
    give_standby($cluster, $node);
    return;
}

1;
