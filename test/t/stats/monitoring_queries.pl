# The queries of monitoring/ run for a role that has pg_monitor and nothing else, give the columns that the exporter is told of, one row for
# each set of labels, and say what is so of IDs, numbers, a node and a registry. (make test-monitoring runs the exporter itself.)
# Runs in make test-all: it starts many sessions.

use Snowid;
use SnowidMonitoring;

my $node = new_server('node');
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE watcher LOGIN IN ROLE pg_monitor;
CREATE SCHEMA apart;
CREATE EXTENSION snowid SCHEMA apart;
CREATE SEQUENCE orders INCREMENT 100 MAXVALUE 1000;
CREATE SEQUENCE keys INCREMENT 1000;
SELECT apart.snowid_next_batch(shard, 50) FROM generate_series(0, 101) AS shard;
SELECT apart.snowid_next(3, 'twitter');
SELECT apart.snowid_segment_next('orders') FROM generate_series(1, 250);
SELECT apart.snowid_section_next('keys', key) FROM generate_series(1, 7) AS key;
INSERT INTO snowid_internal.nodes
  SELECT number, gen_random_uuid(), name, 'd', 0, 1, 0, 1, 1, 1, 1, now(), 'r', NULL, now() - age, NULL, retired
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
    my $number = qr/^(?:integer|bigint|numeric|double precision)$/;
    my %kind = (LABEL => [ qr/^(?:text|name)$/, qr// ], COUNTER => [ $number, qr/_total$/ ], GAUGE => [ $number, qr/(?<!_total)$/ ]);
    foreach my $column (sort keys %$columns)
    {
        my ($type, $form) = @{ $kind{ $columns->{$column}{usage} } };
        ok($type{$column} =~ $type && $column =~ $form, "$name, $column: its type and name are those of a $columns->{$column}{usage}");
    }
    # Two rows with the same labels, and the exporter gives nothing at all.
    my ($labels, $counts) = map { my $usage = $_; [ sort grep { $columns->{$_}{usage} eq $usage } keys %$columns ] } qw(LABEL COUNTER);
    my $nulls = join ' OR ', map { "$_ IS NULL" } 'datname', @$counts;
    is(watch("SELECT count(*) > 0, count(*) = count(DISTINCT ROW(" . join(', ', @$labels) . ")), count(*) FILTER (WHERE $nulls) FROM ($sql) AS rows"),
        't|t|0', "$name: rows, each of its own, without nulls");
}

sub check
{
    my ($query, $columns, $expected, $where) = @_;
    $where //= 'true';
    is(watch("SELECT $columns FROM ($queries{$query}{sql}) AS rows WHERE datname = 'postgres' AND $where"), $expected, "$query: $columns");
    return;
}
check(@$_) foreach [ 'snowid_layout', 'shards, ids_total', '102|5100', q(layout = 'instagram') ],
  [ 'snowid_layout', 'to_timestamp(expires_timestamp_seconds) > now()', 't', q(layout = 'twitter') ],
  [ 'snowid_shard', 'count(*), min(ids_total)', '100|50' ],
  [ 'snowid_database', 'waits_total, errors_total, backward_clock_steps_total, ceiling_raises_total > 0, max_lead_seconds', '0|0|0|t|1' ],
  [ 'snowid_database', 'ceiling_ahead_seconds < 10, abs(ceiling_timestamp_seconds - extract(epoch FROM now()) - ceiling_ahead_seconds) < 60', 't|t' ],
  # In seconds, what the views have in milliseconds.
  [ 'snowid_database', 'abs(wal_flush_seconds_total * 1000 - (SELECT wal_flush_time FROM snowid.stat_database WHERE wal_flush_time > 0)) < 0.001', 't' ],
  [ 'snowid_counters', 'abs(refill_seconds_total * 1000 - (SELECT sum(refill_time) FROM snowid.stat_counters WHERE kind = rows.kind AND refill_time > 0)) < 0.001',
    't', q(kind = 'segment') ],
  [ 'snowid_counters', 'relations, numbers_total', '1|250', q(kind = 'segment') ],
  [ 'snowid_counters', 'relations, numbers_total, keys', '1|7|7', q(kind = 'section') ],
  [ 'snowid_sequence', 'numbers_total, used_ratio >= 0.2 AND used_ratio < 0.5', '250|t', q(relation = 'orders') ],
  [ 'snowid_registry', 'numbers_used, numbers_left', '3|8188' ],
  [ 'snowid_registered', q(string_agg(number || node || round(extract(epoch FROM now())::numeric - seen_timestamp_seconds::numeric, -3), ' ' ORDER BY number)),
    '1a4000 2b0' ];

# A node that joins the registry, is forgotten by it and goes on, and leaves.
my $node_values = 'source, number, usable, has_problem, checked_timestamp_seconds > 0';
check('snowid_node', $node_values, 'none|0|1|0|');
$node->safe_psql('postgres', 'CREATE EXTENSION dblink SCHEMA apart');
add_source($node, $node, name => 'registry');
is($node->safe_psql('postgres', q(SELECT snowid.join('registry', 'berlin'))), '4', 'it joins');
check('snowid_node', "$node_values, node", 'joined|4|1|0|t|berlin');
check('snowid_registry', 'numbers_used, numbers_left', '4|8187');
$node->safe_psql('postgres', q(UPDATE snowid_internal.nodes SET token = 9, exchange = 0 WHERE node_number = 4; SELECT snowid.check_node()));
check('snowid_node', "$node_values, problem LIKE 'The registry was restored%'", 'joined|4|1|1|t|t');
$node->safe_psql('postgres', 'SELECT snowid.recover_registry(7372)');
check('snowid_registry', 'numbers_used, numbers_left', '7372|819');
$node->safe_psql('postgres', 'SELECT snowid.leave()');
check('snowid_node', "$node_values, problem LIKE 'node % has left %'", 'joined||0|1|t|t');
done_testing();
