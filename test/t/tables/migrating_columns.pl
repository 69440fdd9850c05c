# docs/migrating.md as in migrating.pl, the ways with new columns: from an integer serial, where keys get 8 bytes before they
# can be IDs, and from UUIDs, of which there are several versions, with a column for their time.
#
# Runs in make test-all: it takes three ways of the page under load.

use strict;
use warnings;

use Snowid;
use SnowidMigration;
use Test::More;

my $node = new_migration_server('migrating_columns');

# All steps of a way are taken.
sub check_steps
{
    my ($way, @steps) = @_;
    my %taken = map { $_ => 1 } @steps;
    is_deeply([ sort keys %taken ], [ sort(steps_of($way)) ], "$way: all steps of the page");
    return;
}

my $setval = join '', map { "SELECT setval(pg_get_serial_sequence('$_', 'id'), max(id)) FROM $_;\n" } @TABLES;
# The short way, and the lock that a table gets when another's key is widened.
check_steps('short', 'widen and adopt');
set_up($node, 'short', key => 'serial', old => 'n', then => $setval);
my $load = start_load($node, 'short');
is(attempt($node, q(SELECT snowid.adopt('customers', 'id')), dbname => 'short'), 'ERROR 42804', 'short: refused as it is');
like(locks_of($load, 'LOCK TABLE customers; ALTER TABLE orders ALTER COLUMN id TYPE bigint'),
    qr/^customers AccessExclusive, .*items AccessExclusive, .*payments AccessExclusive/,
    'short: tables that refer to it are locked');
run_step($load, 'short: widen and adopt');
mark($load, 'adopt');
run_step($load, 'bigserial: check');
run_step($load, 'bigserial: back');
mark($load, 'back');
stop_load($load);
check_above($load, 'adopt', 'adopting');
check_above($load, 'back', 'going back');
check_rows($node, 'short');

my @begin = ('definitions', 'new columns');
my @columns = ('fill', 'indexes', 'constraints', 'validate', 'check');
check_steps('integer', @begin, @columns, 'back', 'swap', 'check again');
set_up($node, 'integer', key => 'serial', old => 'n', then => $setval);
$load = start_load($node, 'integer');
run_step($load, 'fill');
my $catalog = 'SELECT attrelid::regclass, attname, atttypid FROM pg_attribute JOIN pg_class c ON c.oid = attrelid'
  . " WHERE relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped ORDER BY 1, 2";
my $as_before = $node->safe_psql('integer', $catalog);
# Taken back when nothing more has been done, and when all but the swap has.
run_step($load, "integer: $_") foreach @begin;
# A row as logical replication brings it.
is($node->safe_psql('integer', <<'SQL'), '123456', 'integer: a row that replication brings has the new key, too');
BEGIN;
SET LOCAL session_replication_role = replica;
INSERT INTO customers (id, name) VALUES (123456, 'replicated') RETURNING new_id;
ROLLBACK;
SQL
run_step($load, "integer: $_") foreach 'back', @begin, @columns, 'back';
is($node->safe_psql('integer', $catalog), $as_before, 'integer: taken back, all columns are as before');
is($node->safe_psql('integer', q(SELECT count(*) FROM pg_trigger WHERE tgname ~ '^widen')), 0, 'integer: no trigger is left');
is($node->safe_psql('integer', 'SELECT count(*) FROM load.touched'), 0, 'integer: fill fires none of the tables\' triggers');
run_step($load, "integer: $_") foreach @begin;

# A row that somebody holds keeps nobody waiting: all others are filled, and it is when it is free. No session of the
# load works on it.
my $filling = open_session($node, dbname => 'integer');
ask($filling, 'SET session_replication_role = replica');
my $holder = open_session($node, dbname => 'integer');
ask($holder, 'BEGIN; SELECT FROM customers WHERE id = 10000 FOR UPDATE');
start_asking($filling, q(CALL fill('customers', 'new_id')));
wait_for(sub { $node->safe_psql('integer', 'SELECT min(id) || count(*)::text FROM customers WHERE new_id IS NULL') eq '100001' },
    'all rows but the one that is held to be filled');
ok(!is_answered($filling), 'integer: fill goes on while a row is left');
ask($holder, 'COMMIT');
is(answer($filling), '', 'integer: it ends when that is filled');
is($node->safe_psql('integer', 'SELECT new_id FROM customers WHERE id = 10000'), '10000', 'integer: with its key');
close_session($filling, $holder);
foreach my $name (@columns)
{
    is(locks_of($load, 'integer: validate'),
        'customers RowShare, customers ShareUpdateExclusive, items ShareUpdateExclusive, '
          . 'orders RowShare, orders ShareUpdateExclusive, payments ShareUpdateExclusive',
        'integer: what validating locks')
      if $name eq 'validate';
    run_step($load, "integer: $name");
}
# A view that names an old column: the swap fails, and nothing is changed.
$as_before = $node->safe_psql('integer', $catalog);
$node->safe_psql('integer', 'CREATE VIEW keys AS SELECT id FROM customers');
is(attempt_step($node, 'integer', 'integer: swap'), 'ERROR 2BP01', 'integer: a view is in the way of the swap');
$node->safe_psql('integer', 'DROP VIEW keys');
is($node->safe_psql('integer', $catalog), $as_before, 'integer: and nothing is changed');
my $client = open_session($node, dbname => 'integer');
ask($client, 'PREPARE read AS SELECT id FROM customers ORDER BY id LIMIT 1');
is(ask($client, 'EXECUTE read'), '1', 'integer: a prepared statement');
my $files = files_of_tables($node, 'integer', @TABLES);
run_step($load, 'integer: swap');
mark($load, 'swap');
is(files_of_tables($node, 'integer', @TABLES), $files, 'integer: the swap writes no table anew');
is(ask($client, 'EXECUTE read'), 'ERROR 0A000', 'integer: that statement fails after the swap');
is(ask($client, 'DEALLOCATE read; PREPARE read AS SELECT id FROM customers ORDER BY id LIMIT 1; EXECUTE read'), '1',
    'integer: prepared again it goes on');
close_session($client);
run_step($load, 'integer: check again');
# Back to bigserial, as the page says.
run_step($load, 'bigserial: back');
mark($load, 'back');
stop_load($load);
check_above($load, 'swap', 'the swap');
check_above($load, 'back', 'going back');
check_rows($node, 'integer');
is($node->safe_psql('integer', <<'SQL'), 'customers_pkey orders_customer_id_fkey orders_pkey', 'integer: names of constraints');
SELECT string_agg(conname, ' ' ORDER BY conname) FROM pg_constraint
 WHERE conrelid IN ('customers'::regclass, 'orders'::regclass) AND contype IN ('p', 'f')
SQL

# Of version 4, and of version 7 with the row's time, in turn.
set_up($node, 'uuid', key => 'uuid DEFAULT gen_random_uuid()', type => 'uuid', old => <<'SQL');
CASE WHEN n % 2 = 0 THEN overlay(overlay(md5(tbl || n) PLACING '4' FROM 13) PLACING '8' FROM 17)
     ELSE lpad(to_hex((extract(epoch FROM t) * 1000)::bigint), 12, '0') || '7'
          || overlay(substr(md5(tbl || n), 14) PLACING '8' FROM 4) END::uuid
SQL
check_steps('uuid', steps_of('uuid'));
$load = start_load($node, 'uuid');
run_step($load, 'fill');
foreach my $name (steps_of('uuid'))
{
    my @before = map { files_of_tables($node, 'uuid', $_) } @TABLES;
    like(locks_of($load, "uuid: $name"), qr/^orders AccessExclusive(, orders \w+)*$/, "uuid: $name locks one table")
      if $name eq 'column with a trigger';
    run_step($load, "uuid: $name");
    my @after = map { files_of_tables($node, 'uuid', $_) } @TABLES;
    is_deeply([ grep { $before[$_] ne $after[$_] } 0 .. 3 ], $name eq 'generated column' ? [0] : [],
        "uuid, $name: " . ($name eq 'generated column' ? 'customers alone are' : 'no table is') . ' written anew');
    mark($load, $name) if $name =~ /^(default|check|back)$/;
}
stop_load($load);
is($node->safe_psql('uuid', 'SELECT count(*) FROM load.touched'), 0, 'uuid: fill fires none of the table\'s triggers');
is($node->safe_psql('uuid', <<'SQL'), '0|0|t', 'uuid: keys of after have the time they were made at, until the way back');
SELECT count(*) FILTER (WHERE g.n <= c.n
         AND NOT COALESCE(made BETWEEN d.at - interval '2 s' AND c.at + interval '2 s', false)),
       count(*) FILTER (WHERE g.n > b.n + 1 AND made IS NOT NULL), count(*) FILTER (WHERE g.n <= c.n) > 100
  FROM load.given g JOIN load."default" d USING (who) JOIN load."check" c USING (who) JOIN load.back b USING (who),
    LATERAL (SELECT snowid_uuid_timestamp(g.id::uuid)) _(made)
 WHERE g.n > d.n + 1
SQL
is($node->safe_psql('uuid', <<'SQL'), '0|0|5000|t', 'uuid: old rows have the time of their key, or else their own');
SELECT count(*) FILTER (WHERE made_at IS DISTINCT FROM COALESCE(snowid_uuid_timestamp(id), created_at)),
       count(*) FILTER (WHERE abs(extract(epoch FROM made_at - load.moment(k))) > 0.001),
       count(*) FILTER (WHERE snowid_uuid_timestamp(id) IS NULL), count(*) > 9998
  FROM (SELECT id, made_at, created_at, substr(name, 5)::int AS k FROM customers WHERE name LIKE 'old %') s
SQL
is($node->safe_psql('uuid', <<'SQL'), 0, 'uuid: so do rows of the column with a trigger, also those of after');
SELECT count(*) FROM orders WHERE made_at IS DISTINCT FROM COALESCE(snowid_uuid_timestamp(id), created_at)
SQL
like($node->safe_psql('uuid', <<'SQL'), qr/payments_made_at/, 'uuid: the index on the time serves');
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT FROM payments WHERE snowid_uuid_timestamp(id) > now()
SQL
check_rows($node, 'uuid');
check_log($node);
$node->stop;
done_testing();
