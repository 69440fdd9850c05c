# Foreign tables: which server evaluates a default, and what follows. Over postgres_fdw it is the one where the row is inserted, or
# none. So a shard that is written into a default is drawn from on several servers, and their IDs repeat; a default without a
# shard takes each server's own number, and they do not.
#
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

# Three databases stand for three servers, since each has ticks and a ceiling of its own.
my $node = ready_server('foreign', conf => "timezone = 'UTC'\n");
my %numbers = (router => 10, s1 => 1, s2 => 2, s3 => 3);
my @servers = qw(s1 s2 s3);
my ($host, $port) = ($node->host, $node->port);
foreach my $database (sort keys %numbers)
{
    $node->safe_psql('postgres', "CREATE DATABASE $database");
    $node->safe_psql('postgres', "ALTER DATABASE $database SET snowid.default_shard = $numbers{$database}");
    $node->safe_psql($database, 'CREATE EXTENSION snowid; CREATE SCHEMA wrong; CREATE EXTENSION postgres_fdw');
    $node->safe_psql($database, <<"SQL") if $database ne 'router';
CREATE TABLE events (id bigint PRIMARY KEY DEFAULT snowid_next(), place text NOT NULL CHECK (place = '$database'), body text);
CREATE TABLE wrong.events (id bigint PRIMARY KEY DEFAULT snowid_next(7), place text NOT NULL DEFAULT '$database');
SQL
}
# The right ways: a default of the table that the foreign ones are partitions of; or one that is imported; or, where IDs are to have
# the number of the server that keeps the row, a foreign table that has no such column.
$node->safe_psql('router', 'CREATE TABLE events (id bigint NOT NULL DEFAULT snowid_next(), place text NOT NULL, body text) PARTITION BY LIST (place)');
foreach my $server (@servers)
{
    $node->safe_psql('router', <<"SQL");
CREATE SERVER $server FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname '$server');
CREATE USER MAPPING FOR PUBLIC SERVER $server;
CREATE SCHEMA wrong_$server;
IMPORT FOREIGN SCHEMA wrong FROM SERVER $server INTO wrong_$server OPTIONS (import_default 'true');
CREATE SCHEMA bare_$server;
IMPORT FOREIGN SCHEMA public LIMIT TO (events) FROM SERVER $server INTO bare_$server;
CREATE SCHEMA with_$server;
IMPORT FOREIGN SCHEMA public LIMIT TO (events) FROM SERVER $server INTO with_$server OPTIONS (import_default 'true');
CREATE FOREIGN TABLE events_$server PARTITION OF events FOR VALUES IN ('$server') SERVER $server OPTIONS (table_name 'events');
CREATE FOREIGN TABLE events_to_$server (place text, body text) SERVER $server OPTIONS (table_name 'events');
SQL
}
sub makers { my ($database) = @_; return $node->safe_psql($database, 'SELECT snowid_shard(id), count(*) FROM events GROUP BY 1 ORDER BY 1') }

# Wrong: a shard in the default. The clock stands still, so that all draw at the same time.
stop_clock(time, $node);
$node->safe_psql($_, 'INSERT INTO wrong.events SELECT FROM generate_series(1, 500)') foreach qw(s1 s2);
is($node->safe_psql('router', 'SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM wrong_s1.events UNION ALL SELECT id FROM wrong_s2.events) e'),
    '1000|500', 'the same shard on two servers makes the same IDs, and nobody is told');
is(attempt($node, q(INSERT INTO wrong_s1.events (place) SELECT 's1' FROM generate_series(1, 500)), dbname => 'router'), 'ERROR 23505', 'and with import_default on the router, too');
set_clock(0, $node);
# Without import_default the router sends NULL, and the server's default is not asked.
is(attempt($node, q(INSERT INTO bare_s1.events (place) VALUES ('s1')), dbname => 'router'), 'ERROR 23502', 'no default is no ID');

# Right: all of them at once, and each server's own clients.
my @sessions = map { open_session($node, dbname => $_) } ('router') x 4, @servers;
start_asking($sessions[0], q(INSERT INTO events (place) SELECT 's' || n % 3 + 1 FROM generate_series(1, 1500) n));
start_asking($sessions[$_], "INSERT INTO with_s$_.events (place) SELECT 's$_' FROM generate_series(1, 500)") foreach 1 .. 2;
start_asking($sessions[3], q(INSERT INTO events_to_s3 (place) SELECT 's3' FROM generate_series(1, 500)));
start_asking($sessions[ 3 + $_ ], "INSERT INTO events (place) SELECT 's$_' FROM generate_series(1, 500)") foreach 1 .. 3;
is(answer($_), '', 'inserted without a conflict') foreach @sessions;
is($node->safe_psql('router', 'SELECT count(*), count(DISTINCT id) FROM events'), '4500|4500', 'no ID is there twice, over all servers');
is(makers($_->[0]), $_->[1], "$_->[0]: each has the number of the server that evaluated the default")
  foreach [ 'router', "1|500\n2|500\n3|1000\n10|2500" ], [ 's1', "1|500\n10|1000" ], [ 's3', "3|1000\n10|500" ];

# Rows of all servers are in the order of time, and a range of time is looked for where they are.
foreach my $row ([ 4, 's1', 'first' ], [ 0, 's2', 'second' ], [ 6, 's3', 'third' ])
{
    my ($session, $place, $body) = @$row;
    ask($sessions[$session], "SELECT pg_sleep(0.01); INSERT INTO events (place, body) VALUES ('$place', '$body')");
}
is($node->safe_psql('router', q(SELECT string_agg(body, ' ' ORDER BY id) FROM events WHERE body <> '')), 'first second third',
    'the order of IDs is that of time, over all servers');
my $plan = $node->safe_psql('router', q(EXPLAIN (VERBOSE, COSTS OFF) SELECT FROM events WHERE snowid_in_range(id, '2026-11-01Z', '2026-12-01Z')));
my @sent = $plan =~ /Remote SQL: .*id >= '?4020418040280645632\b.*id <= '?4042161312216645631\b/g;
is(scalar(@sent), 3, 'a range of time is sent to each server as one of IDs') or diag($plan);
end_test($node);
