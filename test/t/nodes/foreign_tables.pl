# Foreign tables: over postgres_fdw a default without a shard has the number of the server that evaluates it, and a range of time is
# sent to each server as one of IDs.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('foreign', conf => "timezone = 'UTC'\n", sql => 'CREATE DATABASE router; CREATE DATABASE s1');
my ($host, $port) = ($node->host, $node->port);
foreach my $number ([ router => 10 ], [ s1 => 1 ])
{
    $node->safe_psql('postgres', "ALTER DATABASE $number->[0] SET snowid.default_shard = $number->[1]");
    $node->safe_psql($number->[0], 'CREATE EXTENSION snowid; CREATE EXTENSION postgres_fdw');
}
$node->safe_psql('s1', 'CREATE TABLE events (id bigint PRIMARY KEY DEFAULT snowid_next(), body text)');
$node->safe_psql('router', <<"SQL");
CREATE SERVER s1 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 's1');
CREATE USER MAPPING FOR PUBLIC SERVER s1;
CREATE FOREIGN TABLE events (id bigint DEFAULT snowid_next(), body text) SERVER s1;
CREATE FOREIGN TABLE theirs (body text) SERVER s1 OPTIONS (table_name 'events');
INSERT INTO events (body) VALUES ('by the router');
INSERT INTO theirs (body) VALUES ('by the server');
SQL
is($node->safe_psql('router', 'SELECT body, snowid_shard(id) FROM events ORDER BY body'), "by the router|10\nby the server|1", 'each has a number of its own');
my $plan = $node->safe_psql('router', q(EXPLAIN (VERBOSE, COSTS OFF) SELECT FROM events WHERE snowid_in_range(id, '2026-11-01Z', '2026-12-01Z')));
like($plan, qr/Remote SQL: .*id >= '?4020418040280645632\b.*id <= '?4042161312216645631\b/, 'a range of time is sent as one of IDs');
end_test($node);
