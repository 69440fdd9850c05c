# The monitoring in monitoring/ fits the views that it reads. Each query runs for a role that has pg_monitor
# and nothing else, and gives the columns that the exporter is told of, with values; each metric that an alert
# or the dashboard names is one of them; and each alert leads to its section of the page. (make test-monitoring runs the
# exporter itself.)
#
# Runs in make test-all: it starts many sessions.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use SnowidMonitoring;
use Test::More;

my $node = new_server('node');
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE watcher LOGIN IN ROLE pg_monitor;
CREATE SCHEMA apart;
CREATE EXTENSION snowid SCHEMA apart;
CREATE SEQUENCE orders INCREMENT 100 MAXVALUE 1000;
CREATE SEQUENCE keys INCREMENT 1000;
SQL
is($node->safe_psql('postgres', 'SELECT count(*) FROM (SELECT apart.snowid_next_batch(shard, 50) FROM generate_series(0, 101) AS shard) AS drawn'),
    '5100', 'IDs of 102 shards');
$node->safe_psql('postgres', "SELECT apart.snowid_next(3, 'twitter')");
is($node->safe_psql('postgres', q(SELECT max(apart.snowid_segment_next('orders')) FROM generate_series(1, 250))), '250', 'numbers of a segment');
is($node->safe_psql('postgres', q(SELECT max(apart.snowid_section_next('keys', key)) FROM generate_series(1, 7) AS key)), '1', 'and of a section');
$node->safe_psql('postgres', <<'SQL');
INSERT INTO snowid_internal.nodes
  SELECT number, gen_random_uuid(), name, 'd', 0, 1, 1, 1, 1, 1, now(), 'r', NULL, now() - age, NULL, retired
    FROM (VALUES (1, 'a', interval '1 hour', NULL::timestamptz), (2, 'b', '0', NULL), (3, 'c', '0', now())) AS n (number, name, age, retired);
SQL

# Each query is run in a session of its own, as the exporter's first one is.
sub watch { my ($sql) = @_; return $node->safe_psql('postgres', "SET ROLE watcher;\n$sql") }

my %queries = monitoring_queries();
cmp_ok(scalar(keys %queries), '>', 5, 'there are queries');
foreach my $name (sort keys %queries)
{
    my ($sql, $columns) = @{ $queries{$name} }{qw(sql columns)};
    my %type = map { split /\|/ } split /\n/, watch("$sql \\gdesc");
    is_deeply([ sort keys %type ], [ sort keys %$columns ], "$name: the columns that the exporter is told of");
    my %used = map { my $usage = $_; ($usage => [ sort grep { $columns->{$_}{usage} eq $usage } keys %$columns ]) } qw(LABEL COUNTER GAUGE);
    is(@{ $used{LABEL} } + @{ $used{COUNTER} } + @{ $used{GAUGE} }, scalar(keys %$columns), "$name: and how each is used");
    is(join(' ', grep { $type{$_} !~ /^(?:text|name)$/ } @{ $used{LABEL} }), '', "$name: labels are text");
    is(join(' ', grep { $type{$_} !~ /^(?:integer|bigint|numeric|double precision)$/ } @{ $used{COUNTER} }, @{ $used{GAUGE} }),
        '', "$name: all others are numbers");
    is(join(' ', grep { !/_total$/ } @{ $used{COUNTER} }), '', "$name: counters end in _total");
    is(join(' ', grep { /_total$/ } @{ $used{GAUGE} }), '', "$name: and nothing else does");
    # Two rows with the same labels, and the exporter gives nothing at all.
    my $labels = join ', ', @{ $used{LABEL} };
    is(watch("SELECT count(*) > 0, count(*) = count(DISTINCT ROW($labels)) FROM ($sql) AS rows"), 't|t', "$name: rows, each of its own");
    my $nulls = join ' OR ', 'datname IS NULL', map { "$_ IS NULL" } @{ $used{COUNTER} };
    is(watch("SELECT count(*) FROM ($sql) AS rows WHERE $nulls"), '0', "$name: every count is one");
}

# What the queries say is so.
sub value_of
{
    my ($query, $column, $where) = @_;
    return watch("SELECT $column FROM ($queries{$query}{sql}) AS rows WHERE datname = 'postgres' AND $where");
}
is(value_of('snowid_layout', 'shards, ids_total', q(layout = 'instagram')), '102|5100', 'a layout');
is(value_of('snowid_database', 'waits_total, refusals_total, clock_steps_back_total', 'true'), '0|0|0', 'what has happened in a database');
is(value_of('snowid_layout', 'to_timestamp(end_timestamp_seconds) > now()', q(layout = 'twitter')), 't', 'when it ends');
is(value_of('snowid_shard', 'count(*), min(ids_total)', 'true'), '100|50', 'the busiest shards alone');
is(value_of('snowid_database', 'ceiling_ahead_seconds < 10, abs(ceiling_timestamp_seconds - extract(epoch FROM now()) - ceiling_ahead_seconds) < 60, max_lead_seconds', 'true'),
    't|t|1', 'a database');
is(value_of('snowid_database', 'ceiling_raises_total > 0', 'true'), 't', 'its ceiling was raised');
# In seconds, what the views have in milliseconds.
is(value_of('snowid_database', 'abs(wal_flush_seconds_total * 1000 - (SELECT wal_flush_time FROM snowid.stat_database WHERE wal_flush_time > 0)) < 0.001', 'true'),
    't', 'how long flushes took');
is(value_of('snowid_counters', 'abs(refill_seconds_total * 1000 - (SELECT sum(refill_time) FROM snowid.stat_counters WHERE kind = rows.kind AND refill_time > 0)) < 0.001',
        q(kind = 'segment')), 't', 'how long refills took');
my $node_values = 'source, number, usable, has_problem, checked_timestamp_seconds > 0';
is(value_of('snowid_node', $node_values, 'true'), 'none|0|1|0|', 'a node');
is(value_of('snowid_registry', 'numbers_used, numbers_left', 'true'), '3|8188', 'a registry');
is(value_of('snowid_registered', q(string_agg(number || node || round(extract(epoch FROM now())::numeric - seen_timestamp_seconds::numeric, -3), ' ' ORDER BY number)), 'true'),
    '1a4000 2b0', "a registry's nodes");
is(value_of('snowid_counters', 'relations, numbers_total', q(kind = 'segment')), '1|250', 'segments');
is(value_of('snowid_counters', 'relations, numbers_total, keys', q(kind = 'section')), '1|7|7', 'sections');
is(value_of('snowid_sequence', 'numbers_total, used_ratio >= 0.2 AND used_ratio < 0.5', q(relation = 'orders')), '250|t', 'a sequence');

# A node that joins the registry, is forgotten by it and goes on, and leaves.
$node->safe_psql('postgres', 'CREATE EXTENSION dblink SCHEMA apart');
add_source($node, $node, name => 'registry');
is($node->safe_psql('postgres', q(SELECT snowid.join('registry', 'berlin'))), '4', 'it joins');
is(value_of('snowid_node', "$node_values, node", 'true'), 'joined|4|1|0|t|berlin', 'a node that has joined');
is(value_of('snowid_registry', 'numbers_used, numbers_left', 'true'), '4|8187', 'a number more is used');
$node->safe_psql('postgres', q(UPDATE snowid_internal.nodes SET token = 9, exchange = 0 WHERE node_number = 4; SELECT snowid.check_node()));
is(value_of('snowid_node', "$node_values, problem LIKE 'registry was restored%'", 'true'), 'joined|4|1|1|t|t', 'a node that the registry has not confirmed');
$node->safe_psql('postgres', 'SELECT snowid.recover_registry(7372)');
is(value_of('snowid_registry', 'numbers_used, numbers_left', 'true'), '7372|819', 'numbers that may be lost are used');
$node->safe_psql('postgres', 'SELECT snowid.leave()');
is(value_of('snowid_node', "$node_values, problem LIKE 'node % has left %'", 'true'), 'joined||0|1|t|t', 'a node that has left');

# Those who name metrics name what there is.
my %metrics = (metrics_of(%queries), pg_exporter_last_scrape_error => 'GAUGE');
my @alerts = alert_rules();
cmp_ok(scalar(@alerts), '>', 10, 'there are alerts');
foreach my $alert (@alerts)
{
    my @named = metrics_in($alert->{expr});
    ok(@named > 0 && !(grep { !$metrics{$_} } @named), "$alert->{alert}: its metrics are there") or diag("@named");
    like($alert->{labels}{severity}, qr/^(?:warning|critical)$/, "$alert->{alert}: how severe it is");
    ok($alert->{annotations}{summary} && $alert->{annotations}{description}, "$alert->{alert}: what it says");
}

# Whoever is woken follows a link, to a section of the page, wherever a copy of that is.
my $page = 'docs/monitoring.md';
my ($adapt, $address, $own) = slurp_file($page) =~ m{^(sed 's\|([^|]+)\|([^|]+)\|'.*?) \| sudo}ms;
my $adapted = `$adapt`;
foreach my $alert (@alerts)
{
    my $anchor = lc $alert->{alert};
    is($alert->{annotations}{runbook_url}, "$address#$anchor", "$alert->{alert}: where to read on");
    like($adapted, qr/^ *runbook_url: '\Q$own\E#$anchor'$/m, "$alert->{alert}: on one's own copy");
    like(section_of($page, $alert->{alert}), qr/\A\n\*\u$alert->{labels}{severity}\*: /, "$alert->{alert}: the page says how severe it is");
}
my ($sections) = slurp_file($page) =~ /^## Alerts\n(.*?)^## /ms;
is(join(' ', sort $sections =~ /^### (.*)$/mg), join(' ', sort map { $_->{alert} } @alerts), 'the page has a section of each alert');
my @panels = panel_expressions();
cmp_ok(scalar(@panels), '>', 20, 'there are panels');
foreach my $panel (@panels)
{
    my ($title, $expression) = @$panel;
    my @named = metrics_in($expression);
    ok(@named > 0 && !(grep { !$metrics{$_} } @named), "$title: its metrics are there") or diag("$expression: @named");
}
my @variables = map { $_->{query}{query} =~ /^label_values\((\w+)/ } grep { $_->{type} eq 'query' } @{ dashboard()->{templating}{list} };
is(join(' ', grep { $metrics{$_} } @variables), join(' ', ('snowid_database_ceiling_timestamp_seconds') x 2), 'and those of its variables');
is(join("\n", sort(documented_metrics())), join("\n", sort grep { /^snowid_/ } keys %metrics), 'the page explains each metric');

$node->stop;
done_testing();
