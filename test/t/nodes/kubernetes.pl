# What docs/many-servers.md says of containers and Kubernetes, followed to the letter: a tag that is in no volume, which
# tells a cluster from copies of its volumes; a clone for staging; recovery to a point in time beside the first cluster;
# and a registry of several hosts, whose standby is promoted. No ID comes twice, and no clone takes the place of its
# original.
#
# A volume is a data directory here, its copy a base backup without a recovery, and what is mounted outside of it a
# directory beside it.
#
# Runs in make test-all: it has four servers, by the steps of the page.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $page = 'docs/many-servers.md';
my $heading = 'Containers and Kubernetes';
my ($include, $tag_file, $bound, $staging_goes, $clone_joins, $take_over, @more) = blocks_of($page, $heading);
is("@more", '', 'the page has these blocks');
my $scratch = PostgreSQL::Test::Utils::tempdir();
my $number = 'SELECT snowid_default_shard(), snowid_shard(snowid_next())';
# All clocks are the same, and pass by hand where somebody waits for them.
my $clock = 0;
sub start { my ($node) = @_; set_clock($clock, $node); start_server($node); return }
sub number_of { my ($node) = @_; return attempt($node, $number) }
sub check { my ($node) = @_; return attempt($node, 'SELECT snowid.check_node()') }
sub join_as { my ($node, $name) = @_; return attempt($node, "SELECT snowid.join('registry', '$name')") }

# Gives a server what its manifest mounts: the page's file, with a tag of its own, or none.
sub mount
{
    my ($node, $tag) = @_;
    my $mounted = "$scratch/" . $node->name;
    mkdir $mounted;
    unlink "$mounted/tag.conf";
    append_to_file("$mounted/tag.conf", $tag_file =~ s/berlin/$tag/r) if defined $tag;
    # In a container the path is the same everywhere, and what is there is another file.
    my $conf = $node->data_dir . '/postgresql.conf';
    my $text = slurp_file($conf) =~ s/^include_if_exists.*\n//mgr;
    unlink $conf;
    append_to_file($conf, $text . $include =~ s{/etc/snowid}{$mounted}r);
    return;
}

# A server that wakes up on a copy of a volume.
sub new_copy
{
    my ($volume, $name, %options) = @_;
    my $copy = PostgreSQL::Test::Cluster->new($name);
    $copy->init_from_backup($volume->{node}, $volume->{name}, %options);
    $copy->append_conf('postgresql.conf', "archive_mode = off\n");
    return $copy;
}
sub volume { my ($node, $name) = @_; $node->backup($name); return { node => $node, name => $name } }

# Follows a block in which a number is taken over: until all that others may have made is past.
sub follow_taking_over
{
    my ($node, $name, $block) = @_;
    $block //= $take_over;
    like($block, qr/^-- on \w+\nSELECT snowid.take_over_node\(\).*?;\n/, "$name: the page has one statement");
    my $session = open_session($node);
    start_asking($session, $block =~ s/;\n.*//sr);
    wait_for(sub { is_answered($session) || $session->{err} =~ /waiting until/ }, 'the take-over to wait');
    like($session->{err}, qr/waiting until/, "$name: waits");
    set_clock($clock += 12);
    my ($result) = $block =~ /^--> (.*)/m;
    is(answer($session), $result, "$name: takes over");
    close_session($session);
    return;
}

my $registry = new_server('registry0', allows_streaming => 1);
$registry->append_conf('postgresql.conf', "wal_sender_timeout = 0\nwal_receiver_timeout = 0\n");
start($registry);
$registry->safe_psql('postgres', 'CREATE EXTENSION snowid');
my $berlin = new_server('berlin', allows_streaming => 1, has_archiving => 1);
start($berlin);
my $others = new_server('others');
start($others);
add_source($berlin, $registry, name => 'registry');
foreach my $member (1, 3, 4)
{
    $others->safe_psql('postgres', "CREATE DATABASE node$member");
    add_source($others, $registry, name => 'registry', dbname => "node$member");
}
sub on_others { my ($sql, $dbname) = @_; return attempt($others, $sql, dbname => $dbname) }
sub join_other { my ($dbname) = @_; return on_others("SELECT snowid.join('registry', '$dbname')", $dbname) }
is(join_other('node1'), '1', 'another node');
is(join_as($berlin, 'berlin'), '2', 'the page is about node 2');
is(join_other("node$_"), $_, "node $_") foreach 3, 4;

# 1. The tag.
my $earlier = volume($berlin, 'earlier');
$berlin->stop;
mount($berlin, 'berlin');
start($berlin);
is(number_of($berlin), '2|2', 'given a tag, the node is the node');
follow_taking_over($berlin, 'given a tag', $bound);
my $standby = new_copy(volume($berlin, 'standby'), 'standby', has_streaming => 1);
my $snapshot = volume($berlin, 'snapshot');
my $copy = new_copy($earlier, 'copied_earlier');
mount($copy, 'staging');
start($copy);
is(number_of($copy), '2|2', 'a copy that was made before is bound to nothing');
$copy->stop;

# A standby of the cluster has the tag, too. The CronJob's statements have it take over.
mount($standby, 'berlin');
start($standby);
$berlin->wait_for_catchup($standby);
$standby->append_conf('postgresql.conf', "primary_conninfo = ''\n");
$standby->reload;
$standby->promote;
wait_for(sub { $standby->safe_psql('postgres', 'SELECT pg_is_in_recovery()') eq 'f' }, 'the promotion');
is(number_of($standby), '2|2', 'a standby with the tag goes on as the node');
my ($cron_job) = slurp_file($page) =~ /^```\n(SELECT snowid.check_node\(\);\nSELECT snowid.take_over_node\(\) FROM .*?)^```$/ms;
my ($job_checks, $job_takes_over) = split /(?<=;)\n/, $cron_job;
is(attempt($berlin, $cron_job), '2', 'where nothing was promoted the job checks');
is(attempt($standby, $job_checks), '2', 'on the promoted standby, too');
like(attempt($standby, 'SELECT problem FROM snowid.node_status'), qr/^this server was promoted or restored/, 'which is a problem');
follow_taking_over($standby, 'the job', "-- on standby\n$job_takes_over\n--> 2");
is(attempt($standby, "$cron_job SELECT problem IS NULL FROM snowid.node_status"), "2\nt", 'which is solved');
is(check($berlin), 'ERROR 55000', 'the old primary is told');
is(number_of($berlin), 'ERROR 55000', 'and draws nothing');
$standby->stop;
follow_taking_over($berlin, 'the old primary is the node again', $bound);

# 2. Clones: one for staging, apart from all, and one that goes on beside the original.
sub check_draws_nothing
{
    my ($node, $name) = @_;
    is(attempt($node, 'SELECT snowid_next()'), 'ERROR 55000', "$name: draws nothing");
    $node->safe_psql('postgres', q(ALTER SERVER registry OPTIONS (SET port '1')));
    is(check($node), 'ERROR 55000', "$name: and asks nobody");
    point_at($node, $registry, name => 'registry');
    return;
}
my $staging = new_copy($snapshot, 'staging');
foreach my $tag (undef, 'staging')
{
    mount($staging, $tag);
    start($staging);
    check_draws_nothing($staging, $tag // 'without a tag');
    $staging->stop;
}
start($staging);
$staging->safe_psql('postgres', q(ALTER SERVER registry OPTIONS (SET host '/nowhere')));
follow($staging, 'staging', $staging_goes);
is(number_of($staging), '0|0', 'staging draws from 0');
is(check($berlin), '2', 'the original is who it is');
my $own = new_server('own');
start($own);
$own->safe_psql('postgres', 'CREATE EXTENSION snowid');
point_at($staging, $own, name => 'registry');
$staging->safe_psql('postgres', 'ALTER DATABASE postgres RESET snowid.shard');
is(join_as($staging, 'berlin'), '1', 'and joins a registry of its own');
$_->stop foreach $staging, $own;
my $clone = new_copy($snapshot, 'clone');
mount($clone, 'clone');
start($clone);
check_draws_nothing($clone, 'clone');
follow($clone, 'clone', $clone_joins);
is(number_of($clone), '5|5', 'the clone is a node of its own');
is(check($_->[0]), $_->[1], "node $_->[1] is who it is") foreach [ $clone, 5 ], [ $berlin, 2 ];

# 3. Recovery beside the first cluster, up to what the archive has. The first one has drawn since, in another hour.
my $hours = 'time:31 shard:16 seq:17 unit:1h epoch:2020-01-01T00:00:00Z';
my $file = $berlin->safe_psql('postgres', 'CREATE TABLE filler (n int); SELECT pg_walfile_name(pg_switch_wal())');
my $archived = "SELECT last_archived_wal >= '$file' FROM pg_stat_archiver";
wait_for(sub { $berlin->safe_psql('postgres', $archived) eq 't' }, 'the archive');
# Ten minutes of it are over, so it does not end meanwhile.
set_clock($clock = 7800 - (time + 7200) % 3600);
my $greatest = $berlin->safe_psql('postgres', 'SELECT snowid_next()');
my $in_hours = $berlin->safe_psql('postgres', "SELECT snowid_next(7, '$hours')");
crash($berlin, 'immediate');
sub check_above
{
    my ($node, $name) = @_;
    is(number_of($node), '2|2', "$name: is the node");
    is(attempt($node, "SELECT snowid_next() > $greatest"), 't', "$name: above what the old one has made");
    is(attempt($node, "SELECT snowid_next(7, '$hours')"), 'ERROR SN001', "$name: the hour does not begin anew");
    $greatest = attempt($node, 'SELECT snowid_next()');
    return;
}
sub recover
{
    my ($name, $tag) = @_;
    my $node = new_copy($snapshot, $name, has_restoring => 1, standby => 0);
    mount($node, $tag);
    start($node);
    wait_for(sub { $node->safe_psql('postgres', 'SELECT pg_is_in_recovery()') eq 'f' }, 'the end of recovery');
    return $node;
}
my $in_place = recover('in_place', 'berlin');
is(number_of($in_place), '2|2', 'with the old tag it takes itself for the node');
is(attempt($in_place, "SELECT snowid_next(7, '$hours')"), $in_hours, 'and would begin the hour anew');
follow_taking_over($in_place, 'recovered in place');
check_above($in_place, 'recovered in place');
is(attempt($in_place, "SET snowid.max_lead = '61min'; SELECT snowid_next(7, '$hours') > $in_hours | 131071"),
    't', 'but the next one');
$in_place->stop;
my $recovered = recover('recovered', 'recovered');
check_draws_nothing($recovered, 'recovered');
follow_taking_over($recovered, 'recovered');
check_above($recovered, 'recovered');
is(check($recovered), '2', 'recovered: is who it is');
start($berlin);
is(check($berlin), 'ERROR 55000', 'the old one, if it lives after all, is found');
is(number_of($berlin), 'ERROR 55000', 'and draws nothing');
$berlin->stop;

# Another tag.
$recovered->stop;
mount($recovered, 'another');
start($recovered);
check_draws_nothing($recovered, 'another tag');
follow_taking_over($recovered, 'another tag');
check_above($recovered, 'another tag');

# 4. The registry has a standby, which is listed first, and is passed over until it is promoted.
my $registry_heading = 'When something happens to the registry';
my ($recovered_by_hand, $accepted, $hosts, $recover) = blocks_of($page, $registry_heading);
like($recovered_by_hand, qr/recover_registry\(\d+\)/, 'the page names a number where it is not sure');
my $second_registry = new_standby($registry, 'registry1');
start($second_registry);
wait_until_synchronous($registry, $second_registry);
sub here
{
    my ($block) = @_;
    my ($host, $port) = map { my $what = $_; join ',', map { $_->$what } $second_registry, $registry } qw(host port);
    return $block =~ s/host '[^']*'/host '$host', SET port '$port'/r;
}
my @nodes = ([ $recovered, 'postgres', 2 ], [ $clone, 'postgres', 5 ], map { [ $others, "node$_", $_ ] } 1, 3, 4);
point_at($recovered, $second_registry, name => 'registry');
like(($recovered->psql('postgres', 'SELECT snowid.check_node()'))[2],
    qr/server "registry" is read-only/, 'a standby is no registry');
foreach my $node (@nodes)
{
    my ($server, $dbname, $held) = @$node;
    follow($server, 'berlin', $hosts =~ s/^--> .*/--> $held/mr, here => \&here, dbname => $dbname);
}
is($hosts =~ /^--> (.*)/m ? $1 : '', '2', 'of which the page shows node 2');
$registry->stop;
is(check($recovered), 'ERROR 08006', 'no primary is there');
$second_registry->promote;
wait_for(sub { $second_registry->safe_psql('postgres', 'SELECT pg_is_in_recovery()') eq 'f' }, 'the promotion');
like(($recovered->psql('postgres', 'SELECT snowid.check_node()'))[2], qr/WARNING: .*^DETAIL:  Registry was .*promoted/ms,
    'it is another one until it is said that it is not');
is(number_of($recovered), '2|2', 'nodes draw on');
$others->safe_psql('postgres', 'CREATE DATABASE late TEMPLATE node1');
is(join_other('late'), 'ERROR 55000', 'no number before it is recovered');
follow($second_registry, 'registry', $recover);
foreach my $node (@nodes)
{
    my ($server, $dbname, $held) = @$node;
    follow($server, 'berlin', $accepted =~ s/^--> 1/--> $held/mr, dbname => $dbname);
}
is(join_other('late'), '6', 'then the next one');
is(check($recovered), '2', 'and checks go on');
$_->stop foreach $recovered, $clone, $others, $second_registry;
done_testing();
