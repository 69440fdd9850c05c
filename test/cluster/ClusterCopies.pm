# What happens to copies of nodes: clones, dumps and backups that are restored, now or some steps later.

package ClusterCopies;

use strict;
use warnings;

use ClusterModel;
use ClusterNames;
use ClusterOracle;
use ClusterServers;
use Exporter 'import';
use PostgreSQL::Test::Utils;
use Time::HiRes qw(time);

our @EXPORT = qw(new_clone draw_loosely clone_second clone_first clone_promoted replace_server advance_all restore_dump restore_backup
  keep_backup identity start_backup refusal_of_next $was_promoted);

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

our $was_promoted = qr/^DETAIL:  This server was promoted or restored/m;
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
        check_stopped($cluster, $clone, 'a clone that is not the node');
        check_node($cluster, $node, 'after that clone has asked');
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

# A server takes the place of a node's: its logical shards are as they were then. is_same: it lacks nothing of the old one.
sub replace_server
{
    my ($cluster, $node, $server, %options) = @_;
    if ($node->{standby}) { drop_server($cluster, delete $node->{standby}) }
    my $old = $node->{server};
    $node->{server} = $server;
    # What was left of the old server's numbers may have been assigned.
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
    # What was asked for before is finished.
    check_node($cluster, $node, 'before a backup of it is kept');
    push @{ $cluster->{backups} }, {
        node => $node, number => $node->{number}, is_archive => $is_archive, registries => $cluster->{registries},
        exchange => at_registry($cluster, "SELECT exchange FROM snowid_internal.nodes WHERE node_number = $node->{number}"), identity => identity($cluster),
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
          . query($server, 'SELECT system_identifier FROM pg_control_system()') . " FROM snowid_internal.nodes WHERE node_number = $number AND retired IS NULL"
          # If the node has been stated since, the backup is none.
          . " AND taken_over <= $kept->{exchange}");
    if (identity($cluster) eq $kept->{identity} && $cluster->{registries} != $kept->{registries})
    {
        # The registry does not know that it was set back, nor how far.
        expect(query($server, 'SELECT snowid.check_node()'), qr/^(?:$number|ERROR 55000)$/, "$server->{name} checks at a registry that was set back");
    }
    elsif (identity($cluster) ne $kept->{identity})
    {
        check_warned($cluster, $server, $number, qr/^DETAIL:  The registry was restored/m, 'as a backup that knows another registry');
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

1;
