# Views of everybody's tables wait for no table that somebody has locked, be it a temporary one of a role that may do nothing but connect.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('views', sql => 'CREATE ROLE mallory LOGIN');
my $locker = open_session($node, user => 'mallory');
ask($locker, <<'SQL');
CREATE TEMP TABLE locked (id bigint DEFAULT snowid_next(), n int DEFAULT 1, twice int GENERATED ALWAYS AS (n * 2) STORED) PARTITION BY RANGE (id);
CREATE TEMP TABLE locked_divided PARTITION OF locked FOR VALUES FROM (0) TO (100) PARTITION BY RANGE (id);
CREATE TEMP TABLE locked_leaf PARTITION OF locked_divided DEFAULT;
BEGIN;
LOCK TABLE locked IN ACCESS EXCLUSIVE MODE;
SQL
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_locks WHERE mode = ' . q('AccessExclusiveLock' AND pid = ) . $locker->{backend}), '3', 'tables are locked');
my @views = split /\n/, $node->safe_psql('postgres', q(SELECT oid::regclass FROM pg_class WHERE relkind = 'v' AND relnamespace = 'snowid'::regnamespace));
cmp_ok(scalar(@views), '>', 8, 'views');
unlike(attempt($node, "SET lock_timeout = '50ms'; SELECT max(v::text) FROM $_ AS v"), qr/^ERROR/, "$_ waits for nobody")
  foreach @views;
is(attempt($node, "SET lock_timeout = '50ms'; SELECT count(*) FROM snowid.partitions WHERE parent::text ~ 'locked'"), '2', 'its partitions are seen');
end_test($node);
