# A parallel worker, whose transaction is its own, may ask what a section gave last, and lets go of the sequence's page, also where it
# fails.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('worker', sql => <<'SQL');
CREATE SEQUENCE counted INCREMENT 100;
CREATE FUNCTION current_by_worker(divisor int) RETURNS bigint PARALLEL SAFE LANGUAGE plpgsql AS
  'BEGIN RETURN snowid_section_current(''counted'', 1) / divisor; END'
SQL
my $session = open_session($node);
ask($session, q(SELECT snowid_section_next('counted', 1) FROM generate_series(1, 7)));
ask($session, 'SET ' . ($node->pg_version >= 16 ? 'debug_parallel_query' : 'force_parallel_mode') . ' = on');
like(ask($session, 'EXPLAIN SELECT current_by_worker(1)'), qr/Gather/, 'a parallel plan');
is(ask($session, 'SELECT current_by_worker(1)'), 7, 'a worker knows the last number');
is(ask($session, 'SELECT current_by_worker(0)'), 'ERROR 22012', 'or fails');
end_test($node);
