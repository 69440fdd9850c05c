# A table that Citus has distributed: the coordinator has an empty shell of it, and each node draws from a shard of its own.
# snowid.adopt() refuses it, with what does it instead; that runs, and IDs are above all keys, on each node. Partitions of a
# distributed table are made by PostgreSQL's own statements, so they work as ever. See SnowidCitus.pm for what stands in for
# Citus here.
# Runs in make test-all: it starts many sessions.

use Snowid;

my $node = ready_server('citus_tables', conf => "timezone = 'UTC'\n");
my %group = (coordinator => 0, berlin => 1, cairo => 2);
foreach my $place (sort keys %group)
{
    $node->safe_psql('postgres', "CREATE DATABASE $place");
    create_citus($node, $place);
    $node->safe_psql($place, 'CREATE EXTENSION snowid');
    $node->safe_psql($place, 'CREATE TABLE orders (id bigint PRIMARY KEY, item text)');
    citus_set_group($node, $group{$place}, $place);
}
$node->safe_psql('coordinator', 'ALTER TABLE orders ALTER id SET DEFAULT 0');

# Not distributed, it is a table like any other; one of the coordinator's own is, too, where others are distributed.
is(attempt($node, q(BEGIN; SELECT snowid.adopt('orders', 'id'); ROLLBACK), dbname => 'coordinator'), 'public.snowid_next()', 'a local table');
citus_distribute($node, 'coordinator', 'orders', 'berlin', 'cairo');
is(attempt($node, q(CREATE TABLE own (id bigint); SELECT snowid.adopt('own', 'id')), dbname => 'coordinator'), 'public.snowid_next()', 'another local table');

# Rows with keys as far ahead as IDs may be, in the shard of the one node, and in the other's.
$node->safe_psql($_, "SET snowid.max_lead = '2h'; INSERT INTO orders VALUES (17, 'old'),"
      . " (snowid_encode(clock_timestamp() + interval '1 hour', $group{$_}, 1023), 'ahead')") foreach qw(berlin cairo);
my $greatest = $node->safe_psql('coordinator', 'SELECT max(id) FROM orders');
cmp_ok($greatest, '>', 17, 'the coordinator reads keys of all nodes');
my ($status, $out, $err) = $node->psql('coordinator', q(SELECT snowid.adopt('orders', 'id')));
like($err, qr/table public\.orders is distributed by Citus/, 'refused');
is(attempt($node, q(SELECT snowid.adopt('orders', 'id')), dbname => 'coordinator'), 'ERROR 0A000', 'with 0A000');
is($node->safe_psql('coordinator', q(SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'orders'::regclass)), '0', 'nothing is changed');

# Nor is there a watermark of it: the rows are on other nodes.
is(attempt($node, q(SELECT snowid_watermark('orders')), dbname => 'coordinator'), 'ERROR 0A000', 'no watermark of a distributed table');
like(attempt($node, "SELECT snowid_watermark('$_->[0]')", dbname => $_->[1]), qr/^\d+$/, "but of table $_->[0] of $_->[1]")
  foreach [ 'own', 'coordinator' ], [ 'orders', 'berlin' ];

# What the hint says. ALTER TABLE reaches the other nodes by Citus; here it is told to each.
my ($hint) = $err =~ /^HINT:  (.*?)(?=^CONTEXT|\z)/ms;
my ($title, $advance, $default) = split /\n/, $hint;
like($advance, qr/^SELECT run_command_on_all_nodes\(/, 'what has all nodes go above the keys');
like($default, qr/^ALTER TABLE public\.orders ALTER COLUMN id SET DEFAULT public\.snowid_next\(\);$/, 'what sets the default');
$node->append_conf('postgresql.conf', "snowid.max_lead = '2h'");
$node->reload;
$node->safe_psql('coordinator', $advance);
$node->safe_psql($_, $default) foreach qw(berlin cairo);
foreach my $place (qw(berlin cairo))
{
    is($node->safe_psql($place, "INSERT INTO orders (item) VALUES ('new') RETURNING id > $greatest, snowid_shard(id)"), "t|$group{$place}",
        "$place: above all keys, and its own");
}
is($node->safe_psql('coordinator', 'SELECT count(*) - count(DISTINCT id) FROM orders WHERE id > 17'), '0', 'no key twice');
# Of another layout, what the hint says goes by that one's times: by Instagram's this key would be of the past.
$node->safe_psql($_, q(CREATE TABLE tweets (id bigint PRIMARY KEY, item text))) foreach sort keys %group;
citus_distribute($node, 'coordinator', 'tweets', 'berlin', 'cairo');
$node->safe_psql('cairo', q(INSERT INTO tweets VALUES (snowid_encode(clock_timestamp() + interval '90 min', 1023, 4095, 'twitter'))));
$greatest = $node->safe_psql('coordinator', 'SELECT max(id) FROM tweets');
($status, $out, $err) = $node->psql('coordinator', q(SELECT snowid.adopt('tweets', 'id', layout => 'twitter')));
($hint) = $err =~ /^HINT:  (.*?)(?=^CONTEXT|\z)/ms;
($title, $advance, $default) = split /\n/, $hint;
$node->safe_psql('coordinator', $advance);
$node->safe_psql('berlin', $default);
is($node->safe_psql('berlin', "INSERT INTO tweets (item) VALUES ('new') RETURNING id > $greatest"), 't', 'another layout: above all keys');

$node->safe_psql('coordinator', 'CREATE TABLE events (id bigint DEFAULT snowid_next()) PARTITION BY RANGE (id)');
$node->safe_psql('coordinator', q(INSERT INTO pg_catalog.pg_dist_partition VALUES ('events')));
$node->safe_psql('coordinator', q(CREATE TABLE events_0 PARTITION OF events FOR VALUES FROM (0) TO (snowid_first_at('2020-01-01Z'))));
is($node->safe_psql('coordinator', q(SELECT snowid.create_partitions('events', '1 month', '2020-01-31Z'))), 'events_2020_01', 'a partition is made');
is($node->safe_psql('coordinator', q(SELECT snowid.drop_partitions('events', '2020-01-01Z'))), 'public.events_0', 'one is dropped');

# What the page has for a column that is added to a reference table. Each row gets a value that is sent as such.
my ($block) = slurp_file('docs/citus.md') =~ /^```\n(ALTER TABLE countries ADD COLUMN.*?)^```/ms;
$node->safe_psql('berlin', q(CREATE TABLE countries (code text PRIMARY KEY); INSERT INTO countries SELECT n FROM generate_series(1, 5) AS n));
$node->safe_psql('berlin', $block);
$node->safe_psql('berlin', q(INSERT INTO countries VALUES ('new')));
is($node->safe_psql('berlin', 'SELECT count(DISTINCT id), bool_and(snowid_shard(id) = 1) FROM countries'), '6|t', 'a column for old rows and new ones');
end_test($node);
