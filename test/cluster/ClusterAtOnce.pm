# What is done on several servers at the same time, and the numbers of counters: segments of a central source, and sections.

package ClusterAtOnce;

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
use Time::HiRes qw(sleep time);

our @EXPORT = qw(join_at_once check_at_once take_over_at_once take_numbers lose_source);

# Nodes leave at once, and join at once, each in two sessions, while others draw.
sub join_at_once
{
    my ($cluster) = @_;
    my @nodes = grep { chance(0.6) } @{ $cluster->{nodes} };
    my @others = grep { my $node = $_; !grep { $_ == $node } @nodes } @{ $cluster->{nodes} };
    notices();
    my @pending = map { start_query($_->{server}, 'SELECT snowid.leave()') } @nodes;
    draw($cluster, $_) foreach @others;
    expect(result_of($_), '', 'a leave beside others') foreach @pending;
    expect(notices(), '', 'leaves at once: what they are told');
    foreach my $node (@nodes)
    {
        event($cluster, "$node->{name} has left beside others", $node->{number});
        undef $node->{number};
        rename_node($cluster, $node);
    }
    my @joins = map { my $node = $_; map { start_query($node->{server}, "SELECT snowid.join('registry', '$node->{name}')", $_) } 0, 1 } @nodes;
    draw($cluster, $_) foreach @others;
    foreach my $node (@nodes)
    {
        my ($number, $again) = map { result_of(shift @joins) } 0, 1;
        note_number($cluster, $node, $number, "$node->{name} joins beside others");
        expect($again, $number, "$node->{name} joins in two sessions");
    }
    check_node($cluster, $_, 'after others have joined') foreach @{ $cluster->{nodes} };
    return;
}

# Nodes check at once, each in three sessions, while others draw; one is killed meanwhile.
sub check_at_once
{
    my ($cluster) = @_;
    my $killed = chance(0.5) ? pick_node($cluster) : undef;
    my @pending = map { my $node = $_; map { [ $node, start_query($node->{server}, 'SELECT snowid.check_node()', $_) ] } 0 .. 2 } @{ $cluster->{nodes} };
    if ($killed)
    {
        sleep rand 0.03;
        kill_at_once($killed->{server});
        fault($cluster, 'nodes killed');
    }
    foreach my $pending (@pending)
    {
        my ($node, $query) = @$pending;
        expect(result_of($query), $killed && $killed == $node ? qr/^(?:$node->{number}|ERROR \w+)$/ : $node->{number}, "$node->{name} checks beside others");
    }
    if ($killed)
    {
        forget_sessions($killed->{server});
        start($cluster, $killed->{server});
        wait_for_standby($cluster, $killed);
    }
    check_node($cluster, $_, 'after checks at once') foreach @{ $cluster->{nodes} };
    return;
}

# A node and its clone take over at once. Who has got the number is found by a check; nobody repeats what the other has drawn.
sub take_over_at_once
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    my $mark = mark_of($cluster->{oracle});
    my $clone = copy_of($cluster, $node->{server}, 'clone');
    start($cluster, $clone);
    fault($cluster, 'clones');
    draw($cluster, $node);
    my @servers = ($node->{server}, $clone);
    notices();
    my @pending = map { start_query($_, 'SELECT snowid.take_over_node()') } @servers;
    my $limit = time + 60;
    my $said = '';
    until (2 == grep { is_done($_) } @pending)
    {
        $said .= notices();
        let_time_pass($cluster, 5) if $said =~ /waiting until/;
        die "$node->{name} and a clone: taking over takes too long\n" if time > $limit;
        sleep 0.05;
    }
    expect(result_of($_), qr/^(?:$node->{number}|ERROR 55000)$/, "$node->{name} and a clone take over at once") foreach @pending;
    event($cluster, "$node->{name} on $servers[0]{name} and $servers[1]{name} has been taken over by both", $node->{number});
    # The node's own server has the number in the end, whoever has it now.
    take_over($cluster, $node->{server}, $node->{number}, shards_of($cluster, $node));
    check_stopped($cluster, $clone, 'a clone that is not the node');
    check_node($cluster, $node, 'after it and its clone have taken over');
    drop_server($cluster, $clone);
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    return;
}

my $segment = q(SELECT string_agg(int8send(n), '') FROM snowid_segment_batch('parcel_seq', %d) AS d(n));
my $section = q(SELECT string_agg(int8send(snowid_section_next('inbox_seq', %d)), '') FROM generate_series(1, %d));

# Numbers of segments, whose source is the same for all, and of sections, taken on all servers at a time in two sessions
# each; one may be killed after that.
sub take_numbers
{
    my ($cluster) = @_;
    my @pending;
    foreach my $node (@{ $cluster->{nodes} })
    {
        $node->{lineage} //= $node->{letter};
        my $key = 1 + int rand 3;
        my @counters = ([ parcels => sprintf $segment, pick(10, 700, 3000) ], [ "section of $node->{lineage}, key $key" => sprintf $section, $key, pick(10, 500) ]);
        foreach my $which (0 .. 3)
        {
            my ($counter, $sql) = @{ $counters[ $which % 2 ] };
            push @pending, [ $node, $counter, start_query($node->{server}, $sql, $which) ];
        }
    }
    foreach my $pending (@pending)
    {
        my ($node, $counter, $query) = @$pending;
        my $answer = result_of($query);
        die "$node->{name}: $counter: $answer: $node->{server}{message}\n" if length $answer == 11 && $answer =~ /^ERROR/;
        record_numbers($cluster->{oracle}, $counter, "$node->{name} on $node->{server}{name} in step $cluster->{step}", unpack 'q>*', $answer);
    }
    return;
}

# The source of numbers is promoted without its last WAL, or is a backup that was restored. Each server is refused, until
# the administrator has set the source above all that they have taken, and attaches them again.
sub lose_source
{
    my ($cluster) = @_;
    my $old = $cluster->{hub};
    my $is_promoted = chance(0.5);
    my $new = $is_promoted ? standby_of($cluster, $old, 'hub') : copy_of($cluster, $old, 'hub', archive => 1);
    kill_server($cluster, $new) if $is_promoted;
    take_numbers($cluster) foreach 1 .. 2;
    kill_server($cluster, $old);
    $new->{pg}->append_conf('postgresql.conf', "primary_conninfo = ''\n");
    start($cluster, $new);
    if ($is_promoted) { promote_server($cluster, $new) }
    wait_until(sub { query($new, 'SELECT pg_is_in_recovery()') eq '0' }, 'the source');
    $cluster->{hub} = $new;
    event($cluster, "the source of numbers is $new->{name} in place of $old->{name}");
    fault($cluster, 'sources of numbers lost');
    my $greatest = 0;
    foreach my $node (@{ $cluster->{nodes} })
    {
        my $server = $node->{server};
        point($cluster, $server, $new, 'hub');
        expect(query($server, q(SELECT setval('parcel_seq', last_value, is_called) FROM parcel_seq)), qr/^\d+$/, 'setval');
        expect(query($server, q(SELECT snowid_segment_next('parcel_seq'))), 'ERROR 55000', "$node->{name} takes numbers from a source that may have lost some");
        my $taken = query($server, q(SELECT snowid.last_allocated('parcel_seq')));
        $greatest = $taken if $taken ne '' && $taken > $greatest;
    }
    expect(query($new, "SELECT setval('public.parcel_seq', greatest($greatest, last_value)) FROM public.parcel_seq"), qr/^\d+$/, 'the source is set');
    my $attach = q(SELECT snowid_segment_attach('parcel_seq', 'hub', 'public.parcel_seq'));
    expect(query($_->{server}, $attach), '', "$_->{name}: attached again") foreach @{ $cluster->{nodes} };
    point($cluster, $cluster->{late}, $new, 'hub');
    take_numbers($cluster);
    drop_server($cluster, $old);
    return;
}

1;
