# What docs/node-numbers.md says of containers and Kubernetes, followed to the letter: a tag that is in no volume tells a cluster
# from clones of its volumes, and from what was recovered beside it. No ID comes twice, and no clone takes its original's
# place.
#
# A volume is a data directory here, its copy a base backup without a recovery, and what is mounted outside of it a
# directory beside it.
# Runs in make test-all: it has many servers, by the steps of the page.

use Snowid;
use SnowidNodes;

my $page = 'docs/node-numbers.md';
my ($include, $tag_file, $bound, @more) = blocks_of($page, 'Containers and Kubernetes');
my ($by_hand) = grep { /^ALTER DATABASE app / } blocks_of($page, 'Setting a number by hand');
my $join = said_in($page, 'Clones', q(SELECT snowid.join('registry', 'another name')));
is("@more", '', 'the page has these blocks');
my $scratch = PostgreSQL::Test::Utils::tempdir();
my $registry = ready_server('registry');

# Gives a server what its manifest mounts: the page's file, with a tag of its own, or none. In a container the path is the same
# everywhere, and what is there is another file. Then it starts, at the time that it is.
sub start_with
{
    my ($node, $tag) = @_;
    my $mounted = "$scratch/" . $node->name;
    mkdir $mounted;
    unlink "$mounted/tag.conf";
    append_to_file("$mounted/tag.conf", $tag_file =~ s/berlin/$tag/r) if defined $tag;
    my $conf = $node->data_dir . '/postgresql.conf';
    my $text = slurp_file($conf) =~ s/^include_if_exists.*\n//mgr;
    unlink $conf;
    append_to_file($conf, $text . $include =~ s{/etc/snowid}{$mounted}r);
    return start_in_time($node);
}

# A server that wakes up on a copy of a volume.
sub copy_of
{
    my ($volume, $name, %options) = @_;
    my $copy = PostgreSQL::Test::Cluster->new($name);
    $copy->init_from_backup($volume->{node}, $volume->{name}, %options);
    $copy->append_conf('postgresql.conf', "archive_mode = off\n");
    return $copy;
}
sub volume { my ($node, $name) = @_; $node->backup($name); return { node => $node, name => $name } }

# Follows a block in which a number is taken over.
sub follow_taking_over
{
    my ($node, $name, $block) = @_;
    my ($result) = $block =~ /^-- on \w+\nSELECT snowid.take_over_node\(\).*?;\n--> (.*)$/;
    is(take_over($node), $result // 'another statement', "$name: takes over");
    return;
}

sub check_draws_nothing
{
    my ($node, $name) = @_;
    is(attempt($node, 'SELECT snowid_next()'), 'ERROR 55000', "$name: draws nothing");
    $node->safe_psql('postgres', q(ALTER SERVER registry OPTIONS (SET port '1')));
    is(check_node($node), 'ERROR 55000', "$name: and asks nobody");
    point_at($node, $registry, name => 'registry');
    return;
}

my $berlin = ready_server('berlin', allows_streaming => 1, has_archiving => 1);
is(attempt($registry, request('claim')), 'held|1', 'another node');
add_source($berlin, $registry, name => 'registry');
is(join_as($berlin, 'berlin'), '2', 'the page is about node 2');
is(attempt($registry, request('claim', claim => claim_of($_))), "held|$_", "node $_") foreach 3, 4;

# 1. The tag.
my $earlier = volume($berlin, 'earlier');
$berlin->stop;
start_with($berlin, 'berlin');
is(number_of($berlin), '2|2', 'given a tag, the node is the node');
follow_taking_over($berlin, 'given a tag', $bound);
my $standby = copy_of(volume($berlin, 'standby'), 'standby', has_streaming => 1);
my $snapshot = volume($berlin, 'snapshot');
my $copy = start_with(copy_of($earlier, 'copied_earlier'), 'staging');
is(number_of($copy), '2|2', 'a copy that was made before is bound to nothing');
$copy->stop;

# A standby of the cluster has the tag, too. The CronJob's statements have it take over.
start_with($standby, 'berlin');
$berlin->wait_for_catchup($standby);
cut_off($standby, $berlin);
$standby->promote;
is(number_of($standby), '2|2', 'a standby with the tag goes on as the node');
my ($cron_job) = slurp_file('docs/replication.md') =~ /^```\n(SELECT snowid.check_node\(\);\nSELECT snowid.take_over_node\(\) FROM .*?)^```$/ms;
my ($job_checks, $job_takes_over) = split /(?<=;)\n/, $cron_job;
is(attempt($berlin, $cron_job), '2', 'where nothing was promoted the job checks');
is(attempt($standby, $job_checks), '2', 'on the promoted standby, too');
like(problem_of($standby), qr/^This server was promoted or restored/, 'which is a problem');
is(attempt($standby, 'SELECT problem' . ($job_takes_over =~ s/.* problem( LIKE '.*');/$1/r) . ' FROM snowid.node_status'), 't', 'which the job finds');
my $job = start_taking_over($standby);
pass_time();
is(answer($job), '2', 'taken over');
close_session($job);
is(attempt($standby, "$cron_job SELECT problem IS NULL FROM snowid.node_status"), "2\nt", 'which is solved, and the job checks');
like($job_takes_over, qr/^SELECT snowid.take_over_node\(\) FROM snowid.node_status WHERE problem LIKE/, 'where it does not take over');
is($_->($berlin), 'ERROR 55000', 'the old primary is told, and draws nothing') foreach \&check_node, \&number_of;
$standby->stop;
follow_taking_over($berlin, 'the old primary is the node again', $bound);

# 2. Clones: one for staging, apart from all, and one that goes on beside the original.
my $staging = copy_of($snapshot, 'staging');
foreach my $tag (undef, 'staging')
{
    start_with($staging, $tag);
    check_draws_nothing($staging, $tag // 'without a tag');
    $staging->stop;
}
start_with($staging, 'staging');
$staging->safe_psql('postgres', $by_hand =~ s/app/postgres/r);
is(number_of($staging), '7|7', 'staging has a number set by hand');
$staging->stop;
my $clone = start_with(copy_of($snapshot, 'clone'), 'clone');
check_draws_nothing($clone, 'clone');
is(attempt($clone, $join), '5', 'clone: joins');
is(number_of($clone), '5|5', 'the clone is a node of its own');
is(check_node($_->[0]), $_->[1], "node $_->[1] is who it is") foreach [ $clone, 5 ], [ $berlin, 2 ];
$clone->stop;

# 3. Recovery beside the first cluster, up to what the archive has. The first one has drawn since.
my $file = $berlin->safe_psql('postgres', 'CREATE TABLE filler (n int); SELECT pg_walfile_name(pg_switch_wal())');
wait_for(sub { $berlin->safe_psql('postgres', "SELECT last_archived_wal >= '$file' FROM pg_stat_archiver") eq 't' }, 'the archive');
# Ten minutes of an hour are over, so it does not end meanwhile.
my $hours = 'time:31 shard:16 seq:17 unit:1h epoch:2020-01-01T00:00:00Z';
pass_time(4200 - $berlin->safe_psql('postgres', 'SELECT extract(epoch FROM clock_timestamp())::bigint % 3600'));
my $greatest = $berlin->safe_psql('postgres', 'SELECT snowid_next()');
crash($berlin, 'immediate');
foreach my $tag ('berlin', 'recovered')
{
    my $recovered = start_with(copy_of($snapshot, "recovered_$tag", has_restoring => 1, standby => 0), $tag);
    $recovered->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()');
    $tag eq 'berlin' ? is(number_of($recovered), '2|2', 'with the old tag it takes itself for the node') : check_draws_nothing($recovered, $tag);
    follow_taking_over($recovered, "recovered as $tag", $bound);
    my $next = attempt($recovered, 'SELECT snowid_next()');
    cmp_ok($next, '>', $greatest, "recovered as $tag: above what the others have made");
    is(attempt($recovered, "SELECT snowid_next(7, '$hours')"), 'ERROR SN001', "recovered as $tag: the hour does not begin anew");
    $greatest = $next;
    $recovered->stop;
}
start_in_time($berlin);
is($_->($berlin), 'ERROR 55000', 'the old one, if it lives after all, is found') foreach \&check_node, \&number_of;
end_test($berlin, $registry);
