# What happens to nodes: kills, clocks, lost and held answers, clones, restores and fail-overs.

package ClusterFaults;

use strict;
use warnings;

use ClusterModel;
use ClusterNames;
use ClusterOracle;
use ClusterServers;
use Exporter 'import';
use PostgreSQL::Test::Utils;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(draw_many set_clocks set_lead pass_time kill_node clone_second clone_first clone_promoted lead_and_take_over
  restore_dump restore_backup keep_backup start_backup fail_over_synchronous fail_over_asynchronous node_of_kind advance_all
  replace_server);

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

push @EXPORT, 'wait_for_standby', 'refusal_of_next';
sub wait_for_standby
{
    my ($cluster, $node) = @_;
    return if !$node->{standby};
    wait_until(sub { query($node->{server}, 'SELECT state FROM pg_stat_replication') eq 'streaming' }, "$node->{name}'s standby");
    return;
}

# Has a copy that is found join as another node, or leave, and go.
sub end_copy
{
    my ($cluster, $copy) = @_;
    expect_refused($cluster, $copy, 1, "$copy->{name}, a copy that was found");
    if (chance(0.3))
    {
        kill_server($cluster, $copy);
        start($cluster, $copy);
        expect_refused($cluster, $copy, 1, "$copy->{name}, a copy that was found, after a crash");
    }
    if (chance(0.3))
    {
        expect(query($copy, 'SELECT snowid.leave()'), '', "$copy->{name} leaves, and takes nothing with it");
        expect_refused($cluster, $copy, 0, "$copy->{name} after that");
    }
    if (chance(0.6))
    {
        my $node = { letter => 'copy', server => $copy };
        join_node($cluster, $node);
        draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
        leave_node($cluster, $node) if chance(0.5);
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
    expect(query($clone, 'SELECT snowid.check_node()'), 'ERROR 55000', "$clone->{name} checks second");
    end_copy($cluster, $clone);
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
    expect(query($clone, 'SELECT snowid.check_node()'), $node->{number}, "$clone->{name} checks first");
    draw($cluster, $node);
    draw_loosely($cluster, $node, $clone, $mark) if chance(0.7);
    expect(query($node->{server}, 'SELECT snowid.check_node()'), 'ERROR 55000', "$node->{name} checks after its clone");
    expect_refused($cluster, $node->{server}, 1, "$node->{name}, which its clone has displaced");
    draw_loosely($cluster, $node, $clone, $mark) if chance(0.3);
    take_over($cluster, $node->{server}, $node->{number}, shards_of($cluster, $node));
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    expect(query($clone, 'SELECT snowid.check_node()'), 'ERROR 55000', "$clone->{name} checks after the original has taken over");
    end_copy($cluster, $clone);
    check_node($cluster, $node, 'after it has taken over');
    return;
}

my $was_promoted = qr/^DETAIL:  This server was promoted or restored/m;
my $other_was_promoted = qr/^DETAIL:  Another server, which was promoted or restored/m;

# A clone that was restored from an archive, beside its original: both are warned, and go on, until it is stated who is
# the node.
sub clone_promoted
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    my ($clone, $mark) = new_clone($cluster, $node, archive => 1);
    check_node($cluster, $node, 'before a clone that was restored asks') foreach 1 .. int rand 3;
    foreach (1 .. 1 + int rand 2)
    {
        check_warned($cluster, $clone, $node->{number}, $was_promoted, 'as a clone that was restored');
        check_warned($cluster, $node->{server}, $node->{number}, $other_was_promoted, 'beside a clone that was restored');
    }
    draw($cluster, $node);
    draw_loosely($cluster, $node, $clone, $mark) if chance(0.7);
    if (chance(0.5))
    {
        take_over($cluster, $node->{server}, $node->{number}, shards_of($cluster, $node));
        check_node($cluster, $node, 'after it was stated to be the node');
        check_warned($cluster, $clone, $node->{number}, $was_promoted, 'as a clone that is not the node');
        take_over($cluster, $node->{server}, $node->{number}, shards_of($cluster, $node));
        drop_server($cluster, $clone);
    }
    else
    {
        take_over($cluster, $clone, $node->{number}, shards_of($cluster, $node));
        check_stopped($cluster, $node->{server}, 'which a clone has replaced');
        drop_server($cluster, replace_server($cluster, $node, $clone));
        give_standby($cluster, $node);
    }
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    check_node($cluster, $node, 'after it was stated who is the node');
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

# A server takes the place of a node's: its logical shards are as they were then. is_same: it lacks nothing of the old one.
sub replace_server
{
    my ($cluster, $node, $server, %options) = @_;
    if ($node->{standby}) { drop_server($cluster, delete $node->{standby}) }
    my $old = $node->{server};
    $node->{server} = $server;
    # What was left of the old server's numbers may have been given.
    if (!$options{is_same})
    {
        $node->{lineage} = "$node->{letter} from step $cluster->{step} on";
        expect(query($server, q(SELECT setval('parcel_seq', last_value, is_called) FROM parcel_seq)), qr/^\d+$/, 'setval');
    }
    event($cluster, "$server->{name} is $node->{name} now, in place of $old->{name}", $node->{number});
    return $old;
}

# A moment that is past all IDs of a server, whose clock is up to 9 s ahead of a right one, is had all shards go above.
sub advance_all
{
    my ($cluster, $server, @shards) = @_;
    my $moment = time + $cluster->{passed} + 9 + 20;
    foreach my $pass (0 .. 20)
    {
        my $answer = query($server, advance_to_moment_sql("to_timestamp($moment)"));
        if ($answer eq '') { seal($cluster->{oracle}, @shards); return }
        expect($answer, 'ERROR SN001', "$server->{name}: above a moment");
        let_time_pass($cluster, 5);
    }
    die "$server->{name}: above a moment: refused though time has passed\n";
}

# A dump of a node, restored on a new server that takes its place: it has no number, and joins anew.
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
    my $server = fresh_server($cluster, $node->{letter}, bare => 1);
    system_or_bail('psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-h', $server->{pg}->host, '-p', $server->{pg}->port, '-d', 'postgres', '-f',
        $dump, '-o', '/dev/null');
    event($cluster, "$server->{name} is a dump of $node->{name} that was restored", $node->{number});
    fault($cluster, 'dumps of nodes restored');
    expect_refused($cluster, $server, 0, "$server->{name}, a dump that was restored");
    expect(query($server, "SELECT snowid.$_()"), 'ERROR 55000', "$server->{name}, a dump that was restored: $_")
      foreach 'check_node', 'take_over_node', 'accept_registry';
    if (chance(0.5)) { leave_node($cluster, $node) }
    else { retire($cluster, $node) }
    kill_server($cluster, $old);
    advance_all($cluster, $server, shards_of($cluster, $node));
    drop_server($cluster, replace_server($cluster, $node, $server));
    join_node($cluster, $node);
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    check_node($cluster, $node, 'restored from a dump');
    give_standby($cluster, $node);
    return;
}

# The administrator retires a node's number.
sub retire
{
    my ($cluster, $node) = @_;
    expect(at_registry($cluster, "SELECT snowid.retire_node($node->{number})"), '', "the administrator retires $node->{name}");
    event($cluster, "the administrator has retired $node->{number} of $node->{name}", $node->{number});
    undef $node->{number};
    return;
}
push @EXPORT, 'retire';

# A base backup of a node, started in its place. One that was restored from an archive is warned; else it is a copy, unless
# the node has not checked since.
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
    if ($is_archive) { check_warned($cluster, $server, $node->{number}, $was_promoted, 'as a restored base backup') }
    elsif ($checks > 0) { check_stopped($cluster, $server, "a base backup that is $checks checks behind") }
    else { check_warned($cluster, $server, $node->{number}, undef, 'as a base backup that lacks no check') }
    if ($is_archive || $checks > 0 || chance(0.5)) { take_over($cluster, $server, $node->{number}, shards_of($cluster, $node)) }
    else { advance_all($cluster, $server, all_shards_of($cluster, $node)) }
    drop_server($cluster, replace_server($cluster, $node, $server));
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    check_node($cluster, $node, 'restored from a base backup');
    give_standby($cluster, $node);
    return;
}

# A base backup of a node that is kept, to be started some steps later.
sub keep_backup
{
    my ($cluster) = @_;
    if (@{ $cluster->{backups} } >= 2) { drop_server($cluster, shift(@{ $cluster->{backups} })->{server}) }
    my $node = pick_node($cluster);
    my $is_archive = chance(0.5);
    push @{ $cluster->{backups} }, {
        node => $node, number => $node->{number}, is_archive => $is_archive, registries => $cluster->{registries}, identity => identity($cluster),
        mark => mark_of($cluster->{oracle}), server => copy_of($cluster, $node->{server}, 'kept', archive => $is_archive) };
    event($cluster, "a backup of $node->{name} is kept", $node->{number});
    draw($cluster, $node, layout => $_, count => 2000) foreach @{ LAYOUTS() };
    return;
}

sub identity { my ($cluster) = @_; return at_registry($cluster, 'SELECT snowid_internal.registry_identity()') }
push @EXPORT, 'identity';

# What was kept is started, beside whatever has become of the node: it unseats nobody, and is found or warned.
sub start_backup
{
    my ($cluster) = @_;
    keep_backup($cluster) if !@{ $cluster->{backups} };
    my $kept = shift @{ $cluster->{backups} };
    my ($node, $server, $number) = @{$kept}{qw(node server number)};
    my $is_current = defined $node->{number} && $node->{number} == $number;
    check_node($cluster, $node, 'before a backup of it is started') if $is_current;
    put_clock($cluster, $server, rand(18) - 9);
    start($cluster, $server);
    wait_until(sub { query($server, 'SELECT pg_is_in_recovery()') eq '0' }, 'the end of recovery');
    event($cluster, "$server->{name}, a backup of $number, is started", $number);
    fault($cluster, 'kept backups of nodes started');
    point($cluster, $server);
    if (chance(0.5)) { record_loosely($cluster, $server, $kept->{mark}, $number) }
    my $timeline = query($server, q(SELECT ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int));
    my $is_later = at_registry($cluster, "SELECT timeline < $timeline AND system_identifier = "
          . query($server, 'SELECT system_identifier FROM pg_control_system()') . " FROM snowid_internal.nodes WHERE node_number = $number AND retired IS NULL");
    if (identity($cluster) eq $kept->{identity} && $cluster->{registries} != $kept->{registries})
    {
        # The registry does not know that it was set back, nor how far.
        expect(query($server, 'SELECT snowid.check_node()'), qr/^(?:$number|ERROR 55000)$/, "$server->{name} checks at a registry that was set back");
    }
    elsif (identity($cluster) ne $kept->{identity})
    {
        check_warned($cluster, $server, $number, qr/^DETAIL:  Registry was restored/m, 'as a backup that knows another registry');
        expect(query($server, 'SELECT snowid.take_over_node()'), 'ERROR 55000', "$server->{name} takes over at a registry that it does not know");
    }
    elsif ($is_later eq '1')
    {
        check_warned($cluster, $server, $number, $was_promoted, 'as a backup that was restored from an archive');
        check_warned($cluster, $node->{server}, $number, $other_was_promoted, 'beside its backup') if $is_current;
    }
    else
    {
        expect(query($server, 'SELECT snowid.check_node()'), 'ERROR 55000', "$server->{name}, a backup of $number, checks");
        expect(refusal_of_next($cluster, $server), 'ERROR 55000', "$server->{name}, a backup of $number");
    }
    my $copy = { letter => 'kept', server => $server };
    if (query($server, 'SELECT snowid_default_shard()') =~ /ERROR/ || query($server, 'SELECT snowid.leave()') eq '')
    {
        join_node($cluster, $copy);
        draw($cluster, $copy, layout => $_) foreach @{ LAYOUTS() };
    }
    # Its original was told, and states that it goes on.
    take_over($cluster, $node->{server}, $number, shards_of($cluster, $node)) if $is_current && $is_later eq '1';
    check_node($cluster, $node, 'after a backup of it has left') if $is_current;
    draw($cluster, $node);
    drop_server($cluster, $server);
    return;
}

sub refusal_of_next
{
    my ($cluster, $server) = @_;
    foreach my $seconds (1, 10, 60, 60)
    {
        my $answer = query($server, 'SELECT snowid_next()');
        return $answer if $answer ne 'ERROR SN001';
        let_time_pass($cluster, $seconds);
    }
    return query($server, 'SELECT snowid_next()');
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
