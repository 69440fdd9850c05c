# What happens to the registry: kills, restores, promotions with the old one alive. No node stops for it, none is taken for
# a copy, and no number is given again.

package ClusterRegistry;

use strict;
use warnings;

use ClusterCopies;
use ClusterFaults;
use ClusterModel;
use ClusterOracle;
use ClusterServers;
use Exporter 'import';
use PostgreSQL::Test::Utils;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(kill_registry join_while_killed dump_registry back_up_registry keep_registry start_kept_registry promote_registry
  leave_and_join);

# Killed while nodes ask it. Who was not answered finishes that with the next check.
sub kill_registry
{
    my ($cluster) = @_;
    my $registry = $cluster->{registry};
    my @pending = map { start_query($_->{server}, 'SELECT snowid.check_node()') } @{ $cluster->{nodes} };
    event($cluster, "the registry $registry->{name} is killed while nodes check", map { $_->{number} } @{ $cluster->{nodes} });
    sleep rand 0.03;
    kill_server($cluster, $registry);
    foreach my $node (@{ $cluster->{nodes} })
    {
        my $answer = result_of(shift @pending);
        expect($answer, qr/^(?:$node->{number}|ERROR (?:08006|57P01))$/, "$node->{name}: a check while the registry is killed");
    }
    my $node = pick_node($cluster);
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    expect(query($node->{server}, 'SELECT snowid.check_node()'), 'ERROR 08006', "$node->{name}: a check while the registry is down");
    start($cluster, $registry);
    fault($cluster, 'registries killed');
    check_node($cluster, $_, 'after the registry has crashed') foreach @{ $cluster->{nodes} };
    return;
}

# The same while nodes join: who was answered has the number, who was not gets the one that it has claimed.
sub join_while_killed
{
    my ($cluster) = @_;
    my $registry = $cluster->{registry};
    my @nodes = @{ $cluster->{nodes} }[ 0 .. 1 + int rand 3 ];
    leave_node($cluster, $_) foreach @nodes;
    rename_node($cluster, $_) foreach @nodes;
    my @joins = map { "SELECT snowid.join('registry', '$_->{name}')" } @nodes;
    my @pending = map { start_query($nodes[$_]{server}, $joins[$_]) } 0 .. $#nodes;
    sleep rand 0.04;
    kill_server($cluster, $registry);
    my @answers = map { result_of($_) } @pending;
    start($cluster, $registry);
    fault($cluster, 'registries killed');
    foreach my $at (0 .. $#nodes)
    {
        expect($answers[$at], qr/^(?:\d+|ERROR (?:08006|57P01))$/, "$nodes[$at]{name}: a join while the registry is killed");
        my $number = query($nodes[$at]{server}, $joins[$at]);
        expect($number, $answers[$at], "$nodes[$at]{name}: joins again") if $answers[$at] !~ /ERROR/;
        note_number($cluster, $nodes[$at], $number, "$nodes[$at]{name} has joined while the registry was killed");
    }
    check_node($cluster, $_, 'after the registry has crashed') foreach @{ $cluster->{nodes} };
    draw_all($cluster, 50);
    return;
}

my $moved = qr/registry was restored, promoted, upgraded or moved/i;
# What a registry that was set back says of a server that was promoted since.
my $moved_or_promoted = qr/$moved|this server was promoted/i;

# Checks that nodes are warned by another registry and go on, and that nobody joins before it is recovered; recovers it,
# has each node accept it. known: the exchanges that a registry knows which cannot tell that it was set back, by number.
sub settle
{
    my ($cluster, $what, $known, $cannot_know) = @_;
    $cluster->{registries}++;
    # Two that were promoted from one timeline, knowing nothing of each other, have one identity. A node that goes by the first
    # one finds that the second one lacks exchanges, or its row.
    my $is_alike = !$known && identity($cluster) eq ($cluster->{identity} // '');
    fault($cluster, 'identities of registries met again') if $is_alike;
    @{ $cluster->{held} } = grep { $_->{kind} ne 'take over' } @{ $cluster->{held} };
    foreach my $node (@{ $cluster->{nodes} })
    {
        point($cluster, $node->{server});
        my $is_known = $known && defined $known->{ $node->{number} }
          && at_registry($cluster, "SELECT exchange FROM snowid_internal.nodes WHERE node_number = $node->{number}") eq $known->{ $node->{number} };
        check_warned($cluster, $node->{server}, $node->{number}, $is_known ? undef : $known || $is_alike ? $moved_or_promoted : $moved,
            "at a registry that $what");
        draw($cluster, $node, layout => $_, count => 20) foreach @{ LAYOUTS() };
    }
    if (!$known && !$cannot_know)
    {
        refuse_to_join($cluster, $what);
        my $node = pick_node($cluster);
        expect(query($node->{server}, 'SELECT snowid.accept_registry()'), 'ERROR 55000', "$node->{name} accepts a registry that $what, and was not recovered");
        # Its number is its own wherever its row is.
        my $rows = at_registry($cluster, "SELECT count(*) FROM snowid_internal.nodes WHERE node_number = $node->{number}");
        if ($is_alike && $rows eq '1') { take_over($cluster, $node->{server}, $node->{number}, shards_of($cluster, $node)) }
        else { expect(query($node->{server}, 'SELECT snowid.take_over_node()'), 'ERROR 55000', "$node->{name} takes over at a registry that $what") }
    }
    my ($most) = sort { $b <=> $a } greatest_given($cluster), at_registry($cluster, 'SELECT coalesce(max(node_number), 0) FROM snowid.registry'), $cluster->{floor};
    $most += int rand 3;
    expect(at_registry($cluster, "SELECT snowid.recover_registry($most)"), '', 'snowid.recover_registry');
    event($cluster, "the registry is recovered with $most");
    $cluster->{floor} = $most;
    my @nodes = sort { rand() <=> 0.5 } @{ $cluster->{nodes} };
    # Who was promoted since the registry was copied states that it is the node once more.
    my %is_promoted = map { $_->{number} => is_promoted($cluster, $_) } @nodes;
    # Two at once, and others join meanwhile.
    my @pending = map { start_query($_->{server}, 'SELECT snowid.accept_registry()') } @nodes[ 0, 1 ];
    my $late = { letter => 'late', server => $cluster->{late} };
    point($cluster, $late->{server});
    if (chance(0.3))
    {
        end_claim($cluster);
        join_node($cluster, $late);
        draw($cluster, $late, layout => $_, count => 20) foreach @{ LAYOUTS() };
        leave_node($cluster, $late);
    }
    foreach my $node (@nodes)
    {
        my $pending = shift(@pending) // start_query($node->{server}, 'SELECT snowid.accept_registry()');
        my $answer = result_of($pending);
        expect($answer, $node->{number}, "$node->{name} accepts a registry that $what" . ($answer =~ /ERROR/ ? ": $node->{server}{message}" : ''));
        next if !$is_promoted{ $node->{number} };
        check_warned($cluster, $node->{server}, $node->{number}, $was_promoted, "at a registry that $what, which it has accepted");
        take_over($cluster, $node->{server}, $node->{number}, shards_of($cluster, $node));
    }
    check_node($cluster, $_, 'accepted') foreach @nodes;
    $cluster->{identity} = identity($cluster);
    return;
}

# Whether the registry knows a node from an earlier timeline.
sub is_promoted
{
    my ($cluster, $node) = @_;
    my $timeline = query($node->{server}, q(SELECT ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint));
    return at_registry($cluster, "SELECT count(*) FROM snowid_internal.nodes WHERE node_number = $node->{number} AND timeline < $timeline") eq '1';
}

# Nobody joins before that. Who tries has claimed a number of that registry from then on.
sub refuse_to_join
{
    my ($cluster, $what) = @_;
    my $late = $cluster->{late};
    point($cluster, $late);
    end_claim($cluster);
    refuse_late($cluster, qr/registry may have lost assigned numbers/, "at a registry that $what, and was not recovered");
    $late->{claimed_at} = identity($cluster);
    return;
}

# What `late` has claimed before is claimed again by its next join. If that was of another registry it was lost, as a join says
# once.
sub end_claim
{
    my ($cluster) = @_;
    my $claimed_at = delete $cluster->{late}{claimed_at};
    return if !defined $claimed_at || $claimed_at eq identity($cluster);
    refuse_late($cluster, qr/claim of node "late" at server "registry" was lost/, 'whose claim is of another registry');
    fault($cluster, 'claims lost');
    return;
}

sub refuse_late
{
    my ($cluster, $message, $what) = @_;
    my $late = $cluster->{late};
    expect(query($late, q(SELECT snowid.join('registry', 'late'))), 'ERROR 55000', "a join $what");
    expect($late->{message}, $message, "a join $what: what it is told");
    return;
}

# Exchanges, joins and leaves that the copy of the registry does not know.
sub go_on
{
    my ($cluster) = @_;
    foreach my $node (@{ $cluster->{nodes} })
    {
        if (chance(0.2)) { leave_and_join($cluster, $node) }
        check_node($cluster, $node) foreach 1 .. int rand 3;
    }
    return;
}

sub leave_and_join
{
    my ($cluster, $node) = @_;
    leave_node($cluster, $node);
    expect_refused($cluster, $node->{server}, 0, "$node->{name}, which has left");
    join_node($cluster, $node);
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    return;
}

# The exchanges of the nodes' numbers, as the registry and they themselves know them.
sub exchanges
{
    my ($cluster) = @_;
    check_node($cluster, $_) foreach @{ $cluster->{nodes} };
    return { map { $_->{number} => at_registry($cluster, "SELECT exchange FROM snowid_internal.nodes WHERE node_number = $_->{number}") } @{ $cluster->{nodes} } };
}

# A dump of the registry, restored in another database of its server. The old one is fenced by the nodes' foreign servers.
sub dump_registry
{
    my ($cluster) = @_;
    my $old = $cluster->{registry};
    my $dump = PostgreSQL::Test::Utils::tempdir() . '/registry.sql';
    my @at = ('-h', $old->{pg}->host, '-p', $old->{pg}->port);
    system_or_bail('pg_dump', @at, '-d', $old->{dbname} // 'postgres', '-f', $dump);
    go_on($cluster);
    my $database = 'registry_' . $cluster->{step};
    my $in = $old->{dbname} // 'postgres';
    expect(query($old, "CREATE DATABASE $database TEMPLATE template0"), '', 'CREATE DATABASE');
    system_or_bail('psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', @at, '-d', $database, '-f', $dump, '-o', '/dev/null');
    forget_sessions($old);
    $old->{dbname} = $database;
    event($cluster, "the registry is a dump of itself now, in $database");
    fault($cluster, 'dumps of the registry restored');
    settle($cluster, 'was restored from a dump');
    # Who asks the old one is told.
    my $node = pick_node($cluster);
    point($cluster, $node->{server}, { %$old, dbname => $in, sessions => [] });
    check_warned($cluster, $node->{server}, $node->{number}, $moved, 'at the registry that was');
    point($cluster, $node->{server});
    check_node($cluster, $node, 'back at the new registry');
    leave_and_join($cluster, $node) if chance(0.5);
    expect(query($old, "DROP DATABASE $in WITH (FORCE)"), '', 'DROP DATABASE') if $in ne 'postgres';
    return;
}

# The registry is started from a base backup, without a promotion: it cannot know.
sub back_up_registry
{
    my ($cluster) = @_;
    my $new = copy_of($cluster, $cluster->{registry}, 'registry');
    go_on($cluster);
    start_other_registry($cluster, $new, 0, 'was started from a base backup');
    return;
}

# A base backup of the registry that is kept for some steps.
sub keep_registry
{
    my ($cluster) = @_;
    drop_server($cluster, delete($cluster->{kept_registry})->{server}) if $cluster->{kept_registry};
    my $is_archive = chance(0.6);
    $cluster->{kept_registry} = {
        server => copy_of($cluster, $cluster->{registry}, 'registry', archive => $is_archive), is_archive => $is_archive,
        dbname => $cluster->{registry}{dbname} // 'postgres', identity => identity($cluster) };
    event($cluster, 'a backup of the registry is kept');
    go_on($cluster);
    return;
}

# It is the registry from now on. Numbers were given since.
sub start_kept_registry
{
    my ($cluster) = @_;
    keep_registry($cluster) if !$cluster->{kept_registry};
    my $kept = delete $cluster->{kept_registry};
    $kept->{server}{dbname} = $kept->{dbname};
    leave_and_join($cluster, pick_node($cluster));
    # One that is started without a promotion has the identity that it had, and cannot know that another came since.
    my $is_older = $kept->{identity} ne identity($cluster);
    start_other_registry($cluster, $kept->{server}, $kept->{is_archive} || $is_older, 'was restored from a backup that was kept',
        !$kept->{is_archive});
    return;
}

sub start_other_registry
{
    my ($cluster, $new, $is_moved, $what, $cannot_know) = @_;
    my $old = $cluster->{registry};
    my $dbname = $new->{dbname} // $old->{dbname};
    my $known = $is_moved ? undef : exchanges($cluster);
    take_registry_over($cluster, $new);
    $new->{dbname} = $dbname;
    forget_sessions($new);
    wait_until(sub { query($new, 'SELECT pg_is_in_recovery()') eq '0' }, 'the end of recovery');
    event($cluster, "the registry is $new->{name}, which $what");
    fault($cluster, 'base backups of the registry started');
    settle($cluster, $what, $known, $cannot_know);
    drop_server($cluster, $old);
    give_registry_standby($cluster);
    leave_and_join($cluster, pick_node($cluster)) if chance(0.5);
    return;
}

sub take_registry_over
{
    my ($cluster, $new) = @_;
    my $old = $cluster->{registry};
    drop_server($cluster, delete $cluster->{registry_standby}) if $cluster->{registry_standby} && $cluster->{registry_standby} != $new;
    delete $cluster->{registry_standby};
    $new->{dbname} = $old->{dbname};
    forget_sessions($new);
    put_clock($cluster, $new, 0);
    kill_server($cluster, $old) if chance(0.5);
    start($cluster, $new) if !defined $new->{pg}{_pid};
    $cluster->{registry} = $new;
    return;
}

sub give_registry_standby
{
    my ($cluster) = @_;
    $cluster->{registry_standby} = standby_of($cluster, $cluster->{registry}, 'registry_standby');
    return;
}

# The registry's standby, which lacks the last exchanges, is promoted; the old registry may live for a while.
sub promote_registry
{
    my ($cluster) = @_;
    my ($old, $standby) = ($cluster->{registry}, $cluster->{registry_standby});
    kill_server($cluster, $standby) if chance(0.7);
    go_on($cluster);
    if (!defined $standby->{pg}{_pid})
    {
        $standby->{pg}->append_conf('postgresql.conf', "primary_conninfo = ''\n");
        start($cluster, $standby);
    }
    promote_server($cluster, $standby);
    $standby->{dbname} = $old->{dbname};
    take_registry_over($cluster, $standby);
    event($cluster, "the registry is its promoted standby $standby->{name}, in place of $old->{name}");
    fault($cluster, 'fail-overs of the registry');
    settle($cluster, 'was promoted');
    if (defined $old->{pg}{_pid})
    {
        my $node = pick_node($cluster);
        point($cluster, $node->{server}, $old);
        check_warned($cluster, $node->{server}, $node->{number}, $moved, 'at the old registry, which lives');
        draw($cluster, $node);
        point($cluster, $node->{server});
        check_node($cluster, $node, 'back at the new registry');
    }
    drop_server($cluster, $old);
    give_registry_standby($cluster);
    leave_and_join($cluster, pick_node($cluster)) if chance(0.5);
    return;
}

1;
