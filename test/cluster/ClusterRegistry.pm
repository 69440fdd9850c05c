# What happens to the registry: kills, restores, promotions with the old one alive. No node stops for it, none is taken for
# a copy, and no number is given again.

package ClusterRegistry;

use strict;
use warnings;

use ClusterFaults;
use ClusterModel;
use ClusterOracle;
use ClusterServers;
use Exporter 'import';
use PostgreSQL::Test::Utils;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(kill_registry dump_registry back_up_registry promote_registry free_numbers);

# Killed while nodes ask it. Who was not answered finishes that with the next check.
sub kill_registry
{
    my ($cluster) = @_;
    my $registry = $cluster->{registry};
    my @pending = map { start_query($_->{server}, 'SELECT snowid_check()') } @{ $cluster->{nodes} };
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
    expect(query($node->{server}, 'SELECT snowid_check()'), 'ERROR 08006', "$node->{name}: a check while the registry is down");
    start($cluster, $registry);
    fault($cluster, 'registries killed');
    check_node($cluster, $_, 'after the registry has crashed') foreach @{ $cluster->{nodes} };
    return;
}

# Checks that nobody joins before the registry is settled, and none checks who has not been told that it moved; settles it.
# moved: whether it is another registry as far as it can tell itself.
sub settle
{
    my ($cluster, $moved, $what) = @_;
    notices();
    foreach my $node (@{ $cluster->{nodes} })
    {
        point($cluster, $node->{server});
        if ($moved)
        {
            expect(query($node->{server}, 'SELECT snowid_check()'), 'ERROR 55000', "$node->{name}: a check of a registry that $what");
            draw($cluster, $node, layout => $_, count => 20) foreach @{ LAYOUTS() };
        }
        my $answer = query($node->{server}, 'SELECT snowid_check(' . ($moved ? 'registry_moved => true' : '') . ')');
        expect($answer, $node->{number}, "$node->{name}: a registry that $what" . ($answer =~ /ERROR/ ? ": $node->{server}{message}" : ''));
        check_node($cluster, $node, "of a registry that $what");
    }
    refuse_to_join($cluster, $what) if $moved || notices() =~ /is older than this node/;
    my $most = greatest_given($cluster) + int rand 3;
    expect(at_registry($cluster, "SELECT snowid.settle_registry($most)"), qr/^\d+$/, 'snowid.settle_registry');
    # What was named is not given either.
    $cluster->{given}{$most} //= 'nobody, it was named when the registry was settled';
    $cluster->{freed} = {};
    check_node($cluster, $_, 'settled') foreach @{ $cluster->{nodes} };
    return;
}

# Nobody joins before that.
sub refuse_to_join
{
    my ($cluster, $what) = @_;
    my $late = $cluster->{late};
    point($cluster, $late);
    expect(query($late, q(SELECT snowid_join('registry', 'late'))), 'ERROR 55000', "a join at a registry that $what, and was not settled");
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
    my $number = $node->{number};
    my $answer = query($node->{server}, 'SELECT snowid_leave()');
    expect($answer, '', "$node->{name} leaves" . ($answer =~ /ERROR/ ? ": $node->{server}{message}" : ''));
    event($cluster, "$node->{name} has left $number", $number);
    undef $node->{number};
    expect_refused($cluster, $node->{server}, 0, "$node->{name}, which has left");
    join_node($cluster, $node);
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    return;
}
push @EXPORT, 'leave_and_join';

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
    settle($cluster, 1, 'was restored from a dump');
    # Who asks the old one is told.
    my $node = pick_node($cluster);
    point($cluster, $node->{server}, { %$old, dbname => $in });
    expect(query($node->{server}, 'SELECT snowid_check()'), 'ERROR 55000', "$node->{name}: a check of the registry that was");
    point($cluster, $node->{server});
    leave_and_join($cluster, $node) if chance(0.5);
    expect(query($old, "DROP DATABASE $in WITH (FORCE)"), '', 'DROP DATABASE') if $in ne 'postgres';
    return;
}

# The registry is started from a base backup, without a promotion: it cannot know.
sub back_up_registry
{
    my ($cluster) = @_;
    my $old = $cluster->{registry};
    my $new = copy_of($cluster, $old, 'registry');
    go_on($cluster);
    take_registry_over($cluster, $new);
    event($cluster, "the registry is started from a base backup, $new->{name}");
    fault($cluster, 'base backups of the registry started');
    settle($cluster, 0, 'was started from a base backup');
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
    settle($cluster, 1, 'was promoted');
    if (defined $old->{pg}{_pid})
    {
        my $node = pick_node($cluster);
        point($cluster, $node->{server}, $old);
        expect(query($node->{server}, 'SELECT snowid_check()'), 'ERROR 55000', "$node->{name}: a check of the old registry, which lives");
        draw($cluster, $node);
        point($cluster, $node->{server});
        check_node($cluster, $node, 'back at the new registry');
    }
    drop_server($cluster, $old);
    give_registry_standby($cluster);
    leave_and_join($cluster, pick_node($cluster)) if chance(0.5);
    return;
}

# A retired number is given again, a day later; not before.
sub free_numbers
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    my $number = $node->{number};
    leave_and_join($cluster, $node);
    my $free = "SELECT snowid.free_number($number)";
    expect(at_registry($cluster, $free), 'ERROR 55000', "number $number is made free at once");
    let_time_pass($cluster, 86400 + 61);
    expect(at_registry($cluster, $free), '', "number $number is made free a day later");
    delete $cluster->{given}{$number};
    seal($cluster->{oracle}, $number);
    event($cluster, "number $number is free", $number);
    my $other = pick_node($cluster);
    leave_and_join($cluster, $other);
    die "number $number is free, and $other->{name} gets $other->{number}\n" if $other->{number} > $number;
    return;
}

1;
