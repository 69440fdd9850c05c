# docs/converting.md, from pg_partman: a table with partitions by number gets partitions by time after them, and IDs, while a
# client that is not the owner inserts. No row goes to the default partition, and none is refused. Partitions by number count
# as those of August 2011, as the page warns: they are the first to be dropped.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use SnowidMigration;

my $node = new_migration_server('migrating_partman');
my $way = 'partman';
$node->safe_psql('postgres', "CREATE DATABASE $way");
$node->safe_psql($way, 'CREATE EXTENSION snowid');
is_deeply([ steps_of($way) ], [qw(table adopt)], 'the steps of the page');
is(attempt_step($node, $way, 'partman: table'), '', 'the table');
$node->safe_psql($way, <<'SQL');
GRANT SELECT, INSERT ON events TO app;
GRANT USAGE ON SEQUENCE events_id_seq TO app;
INSERT INTO events (body) SELECT 'old ' || n FROM generate_series(1, 1500) n;
SQL
my $client = open_session($node, dbname => $way, user => 'app');
my $insert = q(INSERT INTO events (body) VALUES ('new') RETURNING tableoid::regclass, id);
is(ask($client, $insert), 'events_p1000|1501', 'a client numbers rows');

ask($client, "BEGIN; $insert");
is(attempt_step($node, $way, 'partman: adopt'), 'ERROR 55P03', 'a step gives up waiting for a lock');
is($node->safe_psql($way, q(SELECT count(*) FROM pg_inherits WHERE inhparent = 'events'::regclass)), 3, 'nothing is changed');
ask($client, 'COMMIT');

my @expected = step_of('partman: adopt') =~ /^--> (.*)$/mg;
is_deeply([ split /\n/, attempt_step($node, $way, 'partman: adopt') ], \@expected, 'partman: adopt');
my ($partition, $id) = split /[|]/, ask($client, $insert);
is($partition, $node->safe_psql($way, q(SELECT to_char(now() AT TIME ZONE 'UTC', '"events_"YYYY_MM'))), 'a client goes on, in partitions by time');
is($node->safe_psql($way, "SELECT snowid_timestamp($id) > now() - interval '1 minute'"), 't', 'with IDs');
is($node->safe_psql($way, 'SELECT count(*) FROM events_default'), 0, 'the default partition is empty');
# Without a gap between them.
is($node->safe_psql($way, <<'SQL'), 't', 'partitions follow one another');
SELECT bool_and(range_end = next) FROM (SELECT range_end, lead(range_start) OVER (ORDER BY range_end) AS next FROM snowid.partitions
  WHERE parent = 'events'::regclass AND NOT is_default) _ WHERE next IS NOT NULL
SQL
is($node->safe_psql($way, q(SELECT string_agg(p, ' ') FROM snowid.drop_partitions('events', now() - interval '1 year') p)),
    'public.events_p0 public.events_p1000', 'partitions by number are dropped first, with rows of today');
is($node->safe_psql($way, "SELECT count(*) FROM events WHERE id <> $id"), 0, 'which is what the page warns of');
end_test($node);
