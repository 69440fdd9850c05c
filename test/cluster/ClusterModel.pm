# The cluster as it should be: who has which number and which logical shards; and drawing from them.

package ClusterModel;

use strict;
use warnings;

use ClusterNames;
use ClusterOracle;
use ClusterServers;
use Exporter 'import';
use PostgreSQL::Test::Utils;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(new_cluster pick_node other_node draw draw_from record_loosely expect_refused logical_shards join_node
  check_node check_warned check_stopped leave_node take_over greatest_given draw_all shards_of all_shards_of);

# Logical shards, away from numbers of nodes.
my @logical = map { 5000 + $_ } 1 .. 4;
sub logical_shards { return @logical }

sub new_cluster
{
    my (%options) = @_;
    my $cluster = {
        %options, step => 0, passed => 0, offset => 0, history => [], faults => {}, servers => {}, given => {}, floor => 0, registries => 0, names => 0,
        oracle => new_oracle(), owner => {}, nodes => [], held => [], backups => [], released => {}, moved_clocks => 0 };
    $cluster->{registry} = fresh_server($cluster, 'registry');
    # Nothing is on disk there but what snowid has had written.
    $cluster->{registry}{pg}->append_conf('postgresql.conf', "synchronous_commit = off\nwal_writer_delay = '10s'\n");
    $cluster->{registry}{pg}->reload;
    put_clock($cluster, $cluster->{registry}, 0);
    $cluster->{registry_standby} = standby_of($cluster, $cluster->{registry}, 'registry_standby');
    # Where the numbers of all nodes' counters come from.
    $cluster->{hub} = fresh_server($cluster, 'hub', bare => 1);
    expect(query($cluster->{hub}, 'CREATE SEQUENCE parcel_seq INCREMENT 1000'), '', 'the source of numbers');
    # Who would join where nobody may.
    $cluster->{late} = fresh_server($cluster, 'late');
    prepare_server($cluster, $cluster->{late});
    add_node($cluster, $_) foreach [ 'a', 'synchronous' ], [ 'b', 'asynchronous' ], [ 'c', '' ], [ 'd', '' ];
    for my $i (0 .. $#logical)
    {
        $cluster->{owner}{ $logical[$i] } = $cluster->{nodes}[ $i % 4 ];
        foreach my $node (@{ $cluster->{nodes} })
        {
            next if $node == $cluster->{owner}{ $logical[$i] };
            foreach my $layout (@{ LAYOUTS() })
            {
                expect(query($node->{server}, release_sql($logical[$i], layout_of($layout)->{text}, 'another')), qr/^\d+$/,
                    "$node->{name}: a release");
            }
        }
    }
    return $cluster;
}

# A node with a standby or none. Names it has are of its number; its letter stays.
sub add_node
{
    my ($cluster, $which) = @_;
    my ($letter, $kind) = @$which;
    my $node = { letter => $letter, kind => $kind, server => fresh_server($cluster, $letter) };
    push @{ $cluster->{nodes} }, $node;
    prepare_server($cluster, $node->{server});
    expect_refused($cluster, $node->{server}, 0, "$letter has not joined");
    join_node($cluster, $node);
    give_standby($cluster, $node);
    return;
}

# What a server needs to ask the registry.
sub prepare_server
{
    my ($cluster, $server) = @_;
    expect(query($server, $_), qr/^/, $_) foreach 'CREATE EXTENSION IF NOT EXISTS dblink',
      (map { "CREATE SERVER $_ FOREIGN DATA WRAPPER dblink_fdw OPTIONS (host '', port '', dbname '', connect_timeout '5')" } 'registry', 'hub'),
      (map { "CREATE USER MAPPING FOR PUBLIC SERVER $_" } 'registry', 'hub'), 'CREATE SEQUENCE parcel_seq', 'CREATE SEQUENCE inbox_seq';
    point($cluster, $server);
    point($cluster, $server, $cluster->{hub}, 'hub');
    expect(query($server, q(SELECT snowid_segment_attach('parcel_seq', 'hub', 'public.parcel_seq'))), '', "$server->{name}: attached");
    return;
}
push @EXPORT, 'prepare_server';

# A node whose kind wants a standby gets one.
sub give_standby
{
    my ($cluster, $node) = @_;
    return if !$node->{kind} || $node->{standby};
    $node->{standby} = standby_of($cluster, $node->{server}, "$node->{letter}_standby");
    set_standbys($node->{server}, $node->{standby}{name}) if $node->{kind} eq 'synchronous';
    return;
}
push @EXPORT, 'give_standby', 'set_standbys';

sub set_standbys
{
    my ($server, $names) = @_;
    $server->{pg}->append_conf('postgresql.conf', "synchronous_standby_names = '$names'\n");
    $server->{pg}->reload;
    wait_until(sub { query($server, 'SELECT count(*) FROM pg_stat_replication WHERE sync_state <> \'sync\'') eq '0' }, 'a synchronous standby')
      if $names ne '';
    return;
}

sub pick_node { my ($cluster) = @_; return pick(@{ $cluster->{nodes} }) }
sub other_node { my ($cluster, $node) = @_; return pick(grep { $_ != $node } @{ $cluster->{nodes} }) }
sub shards_of { my ($cluster, $node) = @_; return grep { $cluster->{owner}{$_} == $node } @logical }
sub all_shards_of { my ($cluster, $node) = @_; return ((defined $node->{number} ? $node->{number} : ()), shards_of($cluster, $node)) }
sub greatest_given { my ($cluster) = @_; my ($most) = sort { $b <=> $a } keys %{ $cluster->{given} }; return $most // 0 }

# The statement that draws so many. shard: undef for the node's own.
sub draw_sql
{
    my ($layout, $shard, $count) = @_;
    my $text = layout_of($layout)->{text};
    my $from = defined $shard ? $shard : 'snowid_default_shard()';
    my $made = "(SELECT snowid_next($from, '$text') AS id FROM generate_series(1, $count))";
    $made = "(SELECT snowid_next() AS id FROM generate_series(1, $count))" if $layout eq 'milliseconds' && !defined $shard && chance(0.7);
    $made = "snowid_next_batch($from, $count, '$text')" if chance(0.3);
    return "SELECT string_agg(int8send(id), '') FROM $made AS d(id)";
}

# Draws in some sessions at once. Returns the keys of each, or an error. killed: the server is killed meanwhile, and what
# is not answered does not count. Where the clock has to be waited for time passes.
sub draw_from
{
    my ($cluster, $server, $layout, $number, %options) = @_;
    my $count = $options{count} // 300;
    my @waiting = map { $_ - 1 } 1 .. $options{sessions} // 1;
    my @keys;
    my $limit = time + 120;
    my @passes = (0.3, 1.5, 5, 20, 61, 61, 61);
    while (@waiting)
    {
        my @pending = map { start_query($server, draw_sql($layout, $options{logical} ? $number : undef, $count), $_) } @waiting;
        my @again;
        if ($options{killed}) { sleep rand 0.03; kill_at_once($server) }
        foreach my $pending (@pending)
        {
            my $answer = result_of($pending);
            if ($answer eq 'ERROR SN001') { push @again, $pending->{which} }
            elsif ($answer =~ /^ERROR/ && length $answer == 11) { return $answer if !$options{killed} }
            else { push @keys, keys_of($layout, $number, clock_of($cluster, $server) + $server->{lead}, unpack 'q>*', $answer) }
        }
        last if $options{killed};
        @waiting = @again;
        if (@waiting)
        {
            die "$server->{name}: $layout: refused (SN001) though minutes have passed: $server->{message}\n" if !@passes || time > $limit;
            let_time_pass($cluster, shift @passes);
        }
    }
    forget_sessions($server) if $options{killed};
    return \@keys;
}

# Has a node draw, from its own number or a logical shard of its, and keeps what was seen.
sub draw
{
    my ($cluster, $node, %options) = @_;
    my $layout = $options{layout} // pick(@{ LAYOUTS() });
    my @own = shards_of($cluster, $node);
    my $logical = exists $options{logical} ? $options{logical} : @own && chance(0.25) ? pick(@own) : undef;
    return if !defined $logical && !defined $node->{number};
    my $number = $logical // $node->{number};
    my $keys = draw_from($cluster, $node->{server}, $layout, $number, %options, logical => defined $logical);
    die "$node->{name} ($node->{server}{name}) draws from $number: $keys: $node->{server}{message}\n" if !ref $keys;
    record_ids($cluster->{oracle}, $layout, $number, "$node->{name} on $node->{server}{name} in step $cluster->{step}", [ map { @$_ } @$keys ]);
    return;
}

# All nodes, each layout, a few: what is wrong is to be seen at once.
sub draw_all
{
    my ($cluster, $count) = @_;
    foreach my $node (@{ $cluster->{nodes} })
    {
        draw($cluster, $node, layout => $_, count => $count) foreach @{ LAYOUTS() };
        draw($cluster, $node, logical => $_, count => $count) foreach shards_of($cluster, $node);
    }
    return;
}

# A server that may repeat what its like has drawn since `mark` draws from a number, and from logical shards.
sub record_loosely
{
    my ($cluster, $server, $mark, $number, @logical_shards) = @_;
    foreach my $layout (@{ LAYOUTS() })
    {
        foreach my $shard ($number, @logical_shards)
        {
            my $keys = draw_from($cluster, $server, $layout, $shard, count => 1 + int rand 1000, logical => $shard >= $logical[0]);
            die "$server->{name} draws loosely from $shard: $keys: $server->{message}\n" if !ref $keys;
            record_loose($cluster->{oracle}, $layout, $shard, "$server->{name} in step $cluster->{step}, loosely",
                [ map { @$_ } @$keys ], $mark);
        }
    }
    return;
}

# All that this server is asked for is refused (55000); logical shards, too, where it is a copy.
sub expect_refused
{
    my ($cluster, $server, $is_copy, $what) = @_;
    foreach my $layout (@{ LAYOUTS() })
    {
        my $text = layout_of($layout)->{text};
        expect(refusal($cluster, $server, "SELECT snowid_next($_, '$text')"), 'ERROR 55000', "$what: IDs of $layout from $_")
          foreach 'snowid_default_shard()', $is_copy ? @logical : ();
    }
    expect(refusal($cluster, $server, 'SELECT snowid_next()'), 'ERROR 55000', "$what: snowid_next()");
    return;
}

# What a draw says once no clock stands in its way.
sub refusal
{
    my ($cluster, $server, $sql) = @_;
    foreach my $seconds (1, 10, 60, 60)
    {
        my $answer = query($server, $sql);
        return $answer if $answer ne 'ERROR SN001';
        let_time_pass($cluster, $seconds);
    }
    return query($server, $sql);
}

# A node joins, and gets a number that nobody has had, or an error that is returned. Its name is a label, which others may have.
sub join_node
{
    my ($cluster, $node, %options) = @_;
    rename_node($cluster, $node);
    my $number = query($node->{server}, "SELECT snowid.join('registry', '$node->{name}')");
    return $number if $number =~ /^ERROR/ && $options{may_fail};
    note_number($cluster, $node, $number, "$node->{name} on $node->{server}{name} joins");
    return $number;
}

sub rename_node
{
    my ($cluster, $node) = @_;
    $node->{name} = $node->{letter} . ++$cluster->{names} if !defined $node->{name} || chance(0.7);
    return;
}
push @EXPORT, 'rename_node';

# What a node says that its number is. A number is never given again, nor one below what a registry was recovered with.
sub note_number
{
    my ($cluster, $node, $number, $what) = @_;
    expect($number, qr/^\d+$/, "$what: $node->{server}{name}" . ($number =~ /ERROR/ ? ": $node->{server}{message}" : ''));
    die "$what: gets number $number, which was given to $cluster->{given}{$number}\n" if $cluster->{given}{$number};
    die "$what: gets number $number, and the registry was recovered with $cluster->{floor}\n" if $number <= $cluster->{floor};
    $cluster->{given}{$number} = $node->{name};
    $node->{number} = $number;
    event($cluster, "$what, and gets $number", $number);
    return;
}
push @EXPORT, 'note_number';

# A check, with the WARNING that it is to give: a pattern; undef for none.
sub check_warned
{
    my ($cluster, $server, $number, $warning, $what) = @_;
    notices();
    my $answer = query($server, 'SELECT snowid.check_node()');
    expect($answer, $number, "$server->{name} checks number $number $what" . ($answer =~ /ERROR/ ? ": $server->{message}" : ''));
    expect(notices(), $warning // '', "$server->{name} checks number $number $what: what it is told");
    return;
}

# An ordinary check, which finds nothing wrong.
sub check_node
{
    my ($cluster, $node, $what) = @_;
    check_warned($cluster, $node->{server}, $node->{number}, undef, $what // '');
    return;
}

# A check that finds that another server has the number, or nobody any more.
sub check_stopped
{
    my ($cluster, $server, $what) = @_;
    expect(query($server, 'SELECT snowid.check_node()'), 'ERROR 55000', "$server->{name}, $what, checks");
    expect_refused($cluster, $server, $server->{message} =~ /has replaced this one/ ? 1 : 0, "$server->{name}, $what");
    return;
}

# A node leaves, and the registry hears of it.
sub leave_node
{
    my ($cluster, $node) = @_;
    notices();
    my $answer = query($node->{server}, 'SELECT snowid.leave()');
    expect($answer, '', "$node->{name} leaves" . ($answer =~ /ERROR/ ? ": $node->{server}{message}" : ''));
    expect(notices(), '', "$node->{name} leaves: what it is told");
    event($cluster, "$node->{name} has left $node->{number}", $node->{number});
    undef $node->{number};
    return;
}

# A server takes a number over; meanwhile time passes. Nothing that anybody has drawn from it, or from its logical
# shards, comes again after that.
sub take_over
{
    my ($cluster, $server, $number, @shards) = @_;
    my $answer = wait_for_clocks($cluster, $server, 'SELECT snowid.take_over_node()');
    expect($answer, $number, "$server->{name} takes number $number over" . ($answer =~ /ERROR/ ? ": $server->{message}" : ''));
    seal($cluster->{oracle}, $number, @shards);
    event($cluster, "$server->{name} has taken number $number over", $number);
    return;
}

# What a statement says that waits until others' IDs are past.
sub wait_for_clocks
{
    my ($cluster, $server, $statement) = @_;
    notices();
    my $pending = start_query($server, $statement);
    my $said = '';
    my $limit = time + 60;
    until (is_done($pending))
    {
        $said .= notices();
        let_time_pass($cluster, 5) if $said =~ /waiting until/;
        sleep 0.02;
        die "$server->{name}: $statement: it takes too long\n" if time > $limit;
    }
    return result_of($pending);
}
push @EXPORT, 'wait_for_clocks';

1;
