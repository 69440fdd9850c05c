# docs/monitoring.md as it stands, with the programs that it is about: its role, its options of the exporter, its
# configuration of Prometheus. The exporter gives every metric that it is said to give, with the right figures,
# of each of its databases. Every panel of the dashboard shows something. While all is well no alert fires; when
# a clock is set back, IDs are refused, a source fails, a copy is found, a sequence or a layout comes to its end,
# the alerts for that do. What each of them is told by, in figures, is in alerts_test.yaml.
# Unpacks: prometheus-postgres-exporter prometheus

use strict;
use warnings;

use HTTP::Tiny;
use JSON::PP;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use POSIX qw(strftime);
use Snowid;
use SnowidMonitoring;
use SnowidPrograms;
use Test::More;

my $page = slurp_file('docs/monitoring.md');
my %queries = monitoring_queries();
my %metrics = metrics_of(%queries);

# What promtool says of the files.
command_ok([ 'promtool', 'check', 'rules', 'monitoring/alerts.yaml' ], 'the alerts can be read');
command_ok([ 'promtool', 'test', 'rules', 'test/engines/alerts_test.yaml' ], 'they fire when they should');

# The servers: one that is watched, and one that is its registry and central source.
my $hub = new_server('hub');
$hub->start;
$hub->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE SEQUENCE tickets INCREMENT 100');
my $node = new_server('node');
start_server($node);
my ($grants) = $page =~ /^```\n(CREATE ROLE prometheus.*?)^```$/ms;
$node->safe_psql('postgres', $grants);
$node->safe_psql('postgres', 'CREATE DATABASE app');
$node->safe_psql('app', <<'SQL');
CREATE EXTENSION snowid;
CREATE SEQUENCE orders INCREMENT 100 MAXVALUE 1000;
CREATE SEQUENCE tickets;
CREATE SEQUENCE keys INCREMENT 1000;
-- It is a registry, too.
INSERT INTO snowid_internal.nodes VALUES (1, gen_random_uuid(), 'other', 'd', 0, 1, 0, 1, 1, 1, 1, now(), 'r', NULL, now(), NULL, NULL);
SQL
add_source($node, $hub, dbname => 'app');
is(attempt($node, q(SELECT snowid.join('central', 'app')), dbname => 'app'), '1', 'joined');
$node->safe_psql('app', q(SELECT snowid_segment_attach('tickets', 'central', 'tickets')));

# IDs and numbers, of all kinds. They are drawn again and again, since rates are of what comes while one looks.
my $drawn = 0;
sub draw_all
{
    $node->safe_psql('app', <<'SQL');
SELECT count(snowid_next()), count(snowid_next(7, 'twitter')), count(snowid_section_next('keys', n)),
  count(snowid_segment_next('tickets')) FROM generate_series(1, 10) AS n;
SQL
    $drawn += 10;
    return;
}
draw_all();
$node->safe_psql('app', q(SELECT count(snowid_segment_next('orders')) FROM generate_series(1, 250)));

# The exporter, with the options that the page gives for several databases. One of them is yet to come.
my ($exporter_port, $prometheus_port) = map { PostgreSQL::Test::Cluster::get_free_port() } 1 .. 2;
my ($data_source) = $page =~ /^DATA_SOURCE_NAME='(.*)'$/m;
my ($arguments) = $page =~ /^ARGS='(.*--include-databases=app,shop)'$/m;
my ($host, $port) = ($node->host, $node->port);
$data_source =~ s/host=\S+/host=$host port=$port/;
$arguments =~ s{/etc/prometheus/snowid-}{monitoring/};
{
    local $ENV{DATA_SOURCE_NAME} = $data_source;
    start_program(log_of('exporter'), 'prometheus-postgres-exporter', "--web.listen-address=127.0.0.1:$exporter_port", split ' ', $arguments);
}

my $http = HTTP::Tiny->new(timeout => 60);

# What the exporter gives now.
sub scrape
{
    my $text = '';
    wait_for(sub { $text = $http->get("http://127.0.0.1:$exporter_port/metrics")->{content} // ''; $text =~ /^pg_up/m }, 'the exporter');
    return $text;
}

# Values of a metric with labels that match, in order.
sub values_of
{
    my ($text, $metric, $labels) = @_;
    my @values;
    foreach my $line (split /\n/, $text)
    {
        my ($has, $value) = $line =~ /^\Q$metric\E[{](.*)[}] (\S+)$/;
        push @values, $value if defined $has && $has =~ $labels;
    }
    return join ' ', sort @values;
}

my $text = scrape();
like($text, qr/^pg_exporter_last_scrape_error 0$/m, 'every query is answered');
foreach my $metric (sort keys %metrics)
{
    like($text, qr/^# TYPE $metric \L$metrics{$metric}\E$/m, "$metric: the exporter has it");
    like($text, qr/^$metric\{.*datname="app".*\} \S+$/m, "$metric: and a value");
}
is(values_of($text, 'snowid_layout_ids_total', qr/"(?:instagram|twitter)"/), '10 10', 'how many IDs of each layout');
is(values_of($text, 'snowid_layout_shards', qr/"(?:instagram|twitter)"/), '1 1', 'how many shards');
is(values_of($text, 'snowid_shard_ids_total', qr/shard="7"/), '10', 'IDs of a shard');
is(values_of($text, 'snowid_counters_numbers_total', qr/kind="segment"/), '260', 'numbers of segments');
is(values_of($text, 'snowid_counters_keys', qr/kind="section"/), '10', 'keys of a section');
is(values_of($text, 'snowid_sequence_used_ratio', qr/relation="public.orders"/), '0.25', 'how much of a sequence is used');
is(values_of($text, 'snowid_sequence_numbers_total', qr/relation="public.tickets".*source="central"/), '10', 'numbers of a source');
is(values_of($text, 'snowid_node_number', qr/node="app",problem="",.*source="joined"/), '1', "the node's number");
is(values_of($text, 'snowid_sequence_last_failure_timestamp_seconds', qr/relation="public.tickets"/), 'NaN', 'what is not is no number');

# How metrics should be named and explained, in Prometheus' own opinion.
my $own = join '', grep { /^(?:# \w+ )?snowid_/ } split /^/, $text;
my ($out, $err) = ('', '');
IPC::Run::run([ 'promtool', 'check', 'metrics' ], '<', \$own, '>', \$out, '2>', \$err);
is("$out$err", '', 'promtool has nothing against the metrics');

# Prometheus, as the page has it, but that it looks every second.
my ($configuration) = $page =~ /^```\n(rule_files:.*?)^```$/ms;
my $alerts = File::Spec->rel2abs('monitoring/alerts.yaml');
$configuration =~ s{/etc/prometheus/snowid-alerts.yaml}{$alerts};
$configuration =~ s/localhost:9187/127.0.0.1:$exporter_port/;
my $dir = PostgreSQL::Test::Utils::tempdir();
append_to_file("$dir/prometheus.yml", "global:\n  scrape_interval: 1s\n  evaluation_interval: 1s\n\n$configuration");
start_program(log_of('prometheus'), 'prometheus', "--config.file=$dir/prometheus.yml", "--storage.tsdb.path=$dir/data",
    "--web.listen-address=127.0.0.1:$prometheus_port");

sub prometheus
{
    my ($path, %form) = @_;
    my $query = $http->www_form_urlencode(\%form);
    my $answer = $http->get("http://127.0.0.1:$prometheus_port/api/v1/$path?$query");
    return $answer->{content} =~ /^\{/ ? decode_json($answer->{content}) : { status => $answer->{content} };
}

sub alerts_now { return map { $_->{labels}{alertname} . " $_->{state}" } @{ prometheus('alerts')->{data}{alerts} // [] } }

# Waits until an alert is there: one that is to hold for some minutes is pending first.
sub wait_for_alert
{
    my ($name) = @_;
    wait_for(sub { grep { /^$name (?:firing|pending)$/ } alerts_now() }, $name);
    pass($name);
    return;
}

wait_for(sub { @{ prometheus('query', query => 'snowid_node_usable')->{data}{result} // [] } }, 'Prometheus');
my %choice = (instance => '.*', datname => 'app', __rate_interval => '1m', __range => '1h');
foreach my $panel (panel_expressions())
{
    my ($title, $expression) = @$panel;
    $expression =~ s/\$(\w+)/$choice{$1} \/\/ die "$title: $1"/eg;
    my $answer;
    wait_for(
        sub {
            $answer = prometheus('query', query => $expression);
            return 1 if $answer->{status} ne 'success' || @{ $answer->{data}{result} };
            draw_all();
            return 0;
        },
        "$title: $expression");
    is($answer->{status}, 'success', "$title: is shown") or diag($answer->{error} // $answer->{status});
}
is(join(' ', grep { /firing/ } alerts_now()), '', 'all is well, and no alert fires');

# Trouble. A central source that does not answer:
$hub->stop;
wait_for(sub { attempt($node, q(SELECT count(snowid_segment_next('tickets')) FROM generate_series(1, 100)), dbname => 'app') =~ /ERROR 08006/ },
    'the source to be missed');
wait_for_alert('SnowidSourceFailing');

# A database that is restored beside its original, and watched because it is in the list:
$node->safe_psql('postgres', 'CREATE DATABASE shop');
command_ok([ 'pg_dump', '-d', $node->connstr('app'), '-f', "$dir/app.sql" ], 'dumped');
command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('shop'), '-f', "$dir/app.sql" ], 'restored');
is(attempt($node, 'SELECT snowid_next()', dbname => 'shop'), 'ERROR 55000', 'the copy refuses');
wait_for_alert('SnowidNodeStopped');
$text = scrape();
is(values_of($text, 'snowid_node_usable', qr/datname="app"/), '1', 'the original has its number');
is(values_of($text, 'snowid_node_usable', qr/datname="shop".*problem="database was restored from a dump/), '0', 'the copy has none');
like($text, qr/^pg_exporter_last_scrape_error 0$/m, 'every query is answered, in both');

# A sequence, and a layout, near their ends:
$node->safe_psql('app', q(SELECT count(snowid_segment_next('orders')) FROM generate_series(1, 710)));
wait_for_alert('SnowidSequenceUsedUp');
my $epoch = strftime('%Y-%m-%dT00:00:00Z', gmtime(time - 2**25 + 10 * 86_400));
$node->safe_psql('app', "SELECT snowid_next(1, 'time:25 shard:10 seq:10 unit:1s epoch:$epoch')");
wait_for_alert($_) foreach 'SnowidLayoutEndNear', 'SnowidLayoutEnds';

# A clock that is set back by three seconds, and again until somebody has to wait:
foreach my $times (1 .. 20)
{
    set_clock(-3 * $times);
    $node->safe_psql('app', 'SELECT snowid_next()');
    $text = scrape();
    last if values_of($text, 'snowid_database_waits_total', qr/datname/);
}
cmp_ok(values_of($text, 'snowid_database_waits_total', qr/datname/), '>', 0, 'a caller has waited');
my $waited = values_of($text, 'snowid_database_wait_seconds_total', qr/datname/);
ok($waited > 0 && $waited < 10, 'for seconds') or diag($waited);

# And by an hour:
set_clock(-3600);
is(attempt($node, 'SELECT snowid_next()', dbname => 'app'), 'ERROR SN001', 'IDs are refused');
wait_for_alert($_) foreach 'SnowidErrors', 'SnowidClockSteppedBack', 'SnowidClockBehind', 'SnowidLeadHigh';
$text = scrape();
foreach my $metric ('snowid_layout_lead_seconds', 'snowid_database_ceiling_ahead_seconds')
{
    my ($seconds) = sort { $b <=> $a } split / /, values_of($text, $metric, qr/datname="app"/);
    ok($seconds > 3000 && $seconds < 4000, "$metric: an hour") or diag($seconds);
}
set_clock(0);

# A role that may not look:
$node->safe_psql('postgres', 'REVOKE pg_monitor FROM prometheus');
wait_for_alert('SnowidNotWatched');

$node->stop;
done_testing();
