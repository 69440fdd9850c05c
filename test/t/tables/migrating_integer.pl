# docs/converting.md, from an integer serial, where keys get 8 bytes before they can be IDs, as in migrating_bigserial.pl: by new columns,
# which are filled and swapped in, and taken back at any time before; and the short way, which locks more.
# Runs in make test-all: it takes two ways of the page under load.

use Snowid;
use SnowidMigration;

my $node = new_migration_server('migrating_integer');
set_up($node, 'short', key => 'serial', old => 'n', then => setvals());
my $load = start_load($node, 'short');
is(attempt($node, q(SELECT snowid.adopt('customers', 'id')), dbname => 'short'), 'ERROR 42804', 'short: refused as it is');
like(locks_of($load, 'LOCK TABLE customers; ALTER TABLE orders ALTER COLUMN id TYPE bigint'),
    qr/^customers AccessExclusive, .*items AccessExclusive, .*payments AccessExclusive/, 'short: tables that refer to it are locked');
is_deeply([ steps_of('short') ], ['widen and adopt'], 'short: the step of the page');
run_step($load, 'short: widen and adopt');
mark($load, 'adopt');
run_step($load, "bigserial: $_") foreach 'check', 'back';
mark($load, 'back');
stop_load($load);
check_above($load, 'adopt', 'adopting');
check_above($load, 'back', 'going back');
check_rows($node, 'short');

my @begin = ('columns');
my @columns = ('fill', 'indexes', 'constraints', 'validate', 'check');
is_deeply([ sort { $a cmp $b } steps_of('integer') ], [ sort @begin, @columns, 'back', 'swap' ], 'all steps of the page');
set_up($node, 'integer', key => 'serial', old => 'n', then => setvals());
$load = start_load($node, 'integer');
sub sql { return $node->safe_psql('integer', $_[0]) }
my $catalog = 'SELECT attrelid::regclass, attname, atttypid FROM pg_attribute JOIN pg_class c ON c.oid = attrelid'
  . " WHERE relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped ORDER BY 1, 2";
my $as_before = sql($catalog);
# Taken back when nothing more has been done, and when all but the swap has.
run_step($load, "integer: $_") foreach @begin;
is(sql(<<'SQL'), '123456', 'a row as logical replication brings it has the new key, too');
BEGIN;
SET LOCAL session_replication_role = replica;
INSERT INTO customers (id, name) VALUES (123456, 'replicated') RETURNING new_id;
ROLLBACK;
SQL
run_step($load, "integer: $_") foreach 'back', @begin, @columns, 'back';
is(sql($catalog), $as_before, 'taken back, all columns are as before');
is(sql(q(SELECT count(*) FROM pg_trigger WHERE tgname ~ '^widen')), 0, 'no trigger is left');
is(sql('SELECT count(*) FROM load.touched'), 0, q(fill fires none of the tables' triggers));
run_step($load, "integer: $_") foreach @begin;

# A row that somebody holds keeps nobody waiting: all others are filled, and it is when it is free. No session of the load works on it.
my ($filling, $holder, $client) = map { open_session($node, dbname => 'integer') } 1 .. 3;
ask($filling, 'SET session_replication_role = replica');
ask($holder, 'BEGIN; SELECT FROM customers WHERE id = 10000 FOR UPDATE');
start_asking($filling, q(CALL fill('customers', 'new_id')));
wait_for(sub { sql('SELECT min(id) || count(*)::text FROM customers WHERE new_id IS NULL') eq '100001' }, 'all rows but the one that is held to be filled');
ok(!is_answered($filling), 'fill goes on while a row is left');
ask($holder, 'COMMIT');
is(answer($filling), '', 'it ends when that is filled');
is(sql('SELECT new_id FROM customers WHERE id = 10000'), '10000', 'with its key');
foreach my $name (@columns)
{
    is(locks_of($load, 'integer: validate'), join(', ', 'customers RowShare', 'customers ShareUpdateExclusive', 'items ShareUpdateExclusive',
            'orders RowShare', 'orders ShareUpdateExclusive', 'payments ShareUpdateExclusive'), 'what validating locks') if $name eq 'validate';
    run_step($load, "integer: $name");
}
$as_before = sql($catalog);
sql('CREATE VIEW keys AS SELECT id FROM customers');
is(attempt_step($node, 'integer', 'integer: swap'), 'ERROR 2BP01', 'a view is in the way of the swap');
sql('DROP VIEW keys');
is(sql($catalog), $as_before, 'and nothing is changed');
my $prepare = 'PREPARE read AS SELECT id FROM customers ORDER BY id LIMIT 1; EXECUTE read';
is(ask($client, $prepare), '1', 'a prepared statement');
my $files = files_of_tables($node, 'integer', @TABLES);
run_step($load, 'integer: swap');
mark($load, 'swap');
is(files_of_tables($node, 'integer', @TABLES), $files, 'the swap writes no table anew');
is(ask($client, 'EXECUTE read'), 'ERROR 0A000', 'that statement fails after the swap');
is(ask($client, "DEALLOCATE read; $prepare"), '1', 'prepared again it goes on');
close_session($filling, $holder, $client);
is(sql(<<'SQL'), "bigint|snowid_next()|NO|4\nbigint||NO|3", 'the columns');
SELECT data_type, column_default, is_nullable, count(*) FROM information_schema.columns
 WHERE table_schema = 'public' AND column_name ~ 'id$' GROUP BY 1, 2, 3 ORDER BY 4 DESC
SQL
run_step($load, "bigserial: $_") foreach 'check', 'back';
mark($load, 'back');
stop_load($load);
check_above($load, 'swap', 'the swap');
check_above($load, 'back', 'going back');
check_rows($node, 'integer');
is(sql(<<'SQL'), 'customers_pkey orders_customer_id_fkey orders_pkey', 'names of constraints');
SELECT string_agg(conname, ' ' ORDER BY conname) FROM pg_constraint
 WHERE conrelid IN ('customers'::regclass, 'orders'::regclass) AND contype IN ('p', 'f')
SQL
end_test($node);
