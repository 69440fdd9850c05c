# docs/converting.md, from an integer serial, on tables that have more than the page's: what hangs on the old columns. The swap
# refuses, with a list, as long as the new columns lack some of it, and changes nothing. With what the page says to add,
# all of it is there afterwards, and published tables can be updated all the time. Where the sequences are gone, the way
# back is the page's, too.
# Runs in make test-all: it starts many sessions.

use Snowid;
use SnowidMigration;

my $node = new_migration_server('migrating_kept');
set_up($node, 'kept', key => 'serial', old => 'n', then => setvals() . <<'SQL');
ALTER TABLE customers REPLICA IDENTITY USING INDEX customers_pkey;
ALTER TABLE customers ADD CHECK (id > 0 AND visits >= 0);
ALTER TABLE payments CLUSTER ON payments_pkey;
ALTER TABLE orders ALTER COLUMN customer_id SET STATISTICS 500, ALTER COLUMN customer_id SET (n_distinct = -0.5);
CREATE STATISTICS of_orders (ndistinct) ON customer_id, created_at FROM orders;
CREATE INDEX "by ON day" ON orders (customer_id, created_at DESC) WHERE customer_id > 7;
COMMENT ON COLUMN items.order_id IS 'whose it is';
CREATE ROLE clerk;
GRANT SELECT (id), UPDATE (order_id) ON payments TO clerk;
SQL

# What the catalogs have of that, by the columns' names.
my $catalogs = <<'SQL';
SELECT (SELECT string_agg(concat(relname, ' ', relreplident), ' ' ORDER BY relname) FROM pg_class
         WHERE oid IN ('customers'::regclass, 'orders'::regclass)),
       (SELECT string_agg(indrelid::regclass::text, ' ') FROM pg_index WHERE indisreplident),
       (SELECT string_agg(indrelid::regclass::text, ' ') FROM pg_index WHERE indisclustered),
       (SELECT string_agg(attname, ' ' ORDER BY attname) FROM pg_statistic_ext, pg_attribute
         WHERE attrelid = stxrelid AND attnum = ANY (stxkeys)),
       (SELECT count(*) FROM pg_index WHERE indpred IS NOT NULL AND indrelid = 'orders'::regclass),
       (SELECT concat(attstattarget, ' ', o) FROM pg_attribute, unnest(attoptions) o
         WHERE attrelid = 'orders'::regclass AND attname = 'customer_id' AND o ~ 'n_distinct'),
       (SELECT col_description(attrelid, attnum) FROM pg_attribute WHERE attrelid = 'items'::regclass AND attname = 'order_id'),
       has_column_privilege('clerk', 'payments', 'id', 'SELECT'), has_column_privilege('clerk', 'payments', 'order_id', 'UPDATE'),
       (SELECT count(*) FROM pg_constraint WHERE contype = 'c' AND connamespace = 'public'::regnamespace AND conname !~ '^filled');
SQL
my $all = 'customers i orders d|customers|payments|created_at customer_id|1|500 n_distinct=-0.5|whose it is|t|t|1';
is($node->safe_psql('kept', $catalogs), $all, 'what there is');

my $load = start_load($node, 'kept');
run_step($load, "integer: $_") foreach 'columns', 'fill', 'indexes', 'constraints', 'validate', 'check';
my $asker = open_session($node, dbname => 'kept');
ask($asker, step_of('list') . 'SET client_min_messages = error');
my ($answer, $message);
# It gives up waiting for locks, as every step does.
wait_for(
    sub {
        $answer = ask($asker, step_of('integer: swap') =~ s/;\s*\z//r);
        $message = $asker->{err};
        return $answer ne 'ERROR 55P03';
    },
    'the locks of the swap');
is($answer, 'ERROR 55000', 'the swap is refused');
my ($lost) = $message =~ /^DETAIL:  (.*?)^(?:CONTEXT|LOCATION)/ms;
is($lost, <<'LOST', 'it lists all that would be lost');
customers: CHECK (((id > 0) AND (visits >= 0)))
customers: CREATE UNIQUE INDEX ON public.customers USING btree (id), REPLICA IDENTITY
orders: COLUMN customer_id, NOT NULL, STATISTICS 500, n_distinct=-0.5
orders: CREATE INDEX ON public.orders USING btree (customer_id, created_at DESC) WHERE (customer_id > 7)
orders: STATISTICS {d} ON created_at, customer_id
items: COLUMN order_id, NOT NULL, COMMENT whose it is
payments: COLUMN id, NOT NULL, GRANT {clerk=r/postgres}
payments: COLUMN order_id, NOT NULL, GRANT {clerk=w/postgres}
payments: CREATE UNIQUE INDEX ON public.payments USING btree (id), CLUSTER
LOST
close_session($asker);
is($node->safe_psql('kept', $catalogs), $all, 'nothing is changed');
wait_for_load($load);

# As the page says: before the swap, and in it.
$node->safe_psql('kept', <<'SQL');
ALTER TABLE customers ADD CHECK (new_id > 0 AND visits >= 0) NOT VALID;
SQL
$node->safe_psql('kept', <<'SQL');
ALTER TABLE customers VALIDATE CONSTRAINT customers_check1;
ALTER TABLE orders ALTER COLUMN new_customer_id SET STATISTICS 500, ALTER COLUMN new_customer_id SET (n_distinct = -0.5);
CREATE STATISTICS of_new_orders (ndistinct) ON new_customer_id, created_at FROM orders;
ANALYZE orders;
CREATE INDEX ON orders (new_customer_id, created_at DESC) WHERE new_customer_id > 7;
COMMENT ON COLUMN items.new_order_id IS 'whose it is';
GRANT SELECT (new_id), UPDATE (new_order_id) ON payments TO clerk;
SQL
my $in_it = 'ALTER TABLE customers REPLICA IDENTITY USING INDEX customers_pkey; ALTER TABLE payments CLUSTER ON payments_pkey;';
my $swap = step_of('integer: swap') =~ s/^DO /$in_it\nDO /mr;
unlike(run_until_locked($load, $swap), qr/ERROR/, 'with all that the swap is not refused');
mark($load, 'swap');
is($node->safe_psql('kept', $catalogs), $all, 'all of it is there');
is($node->safe_psql('kept', q(SELECT count(*) FROM pg_class WHERE relname ~ '^definitions')), 0, 'nothing is left behind');

# The sequences have been dropped.
$node->safe_psql('kept', join '', map { "DROP SEQUENCE ${_}_id_seq;" } @TABLES);
my $made = join '', map { "CREATE SEQUENCE ${_}_id_seq; GRANT USAGE ON SEQUENCE ${_}_id_seq TO app;\n" } @TABLES;
my $back = step_of('bigserial: back') =~ s/^:begin\n/:begin\n$made/mr;
unlike(run_until_locked($load, $back), qr/ERROR/, 'a way back without the old sequences');
mark($load, 'back');
stop_load($load);
check_above($load, 'swap', 'the swap');
check_above($load, 'back', 'going back');
check_rows($node, 'kept');
end_test($node);
