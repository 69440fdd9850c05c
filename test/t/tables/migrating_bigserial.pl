# docs/converting.md, from bigserial, whose steps run as printed, on four tables with 100,000 rows, while sessions insert, update
# and delete, and back again. No session is told of an error, no ID comes twice, no row and no update is lost, foreign keys hold, no
# table is written anew, and IDs are above the keys that were there. The sessions own nothing: no step takes a right from them, and
# none costs a published table its replica identity. A long transaction keeps a step from its lock: it gives up, and nobody else is
# worse off.
# Runs in make test-all: it takes a way of the page under load.

use Snowid;
use SnowidMigration;

my $node = new_migration_server('migrating_bigserial');

# Every step of the page belongs to a way that a test takes, migrating_*.pl and own_times.pl, or to all of them.
my %taken = map { $_ => 1 } 'bigserial', 'rekey', 'short', 'integer', 'uuid', 'instagram', 'pgedge', 'partman', 'old rows', 'import';
is_deeply([ grep { !/^([\w ]+): / || !$taken{$1} } page_steps() ], [ 'list', 'look for functions' ], 'the steps that all ways share');

set_up($node, 'bigserial', old => 'n', then => setvals());
$node->safe_psql('bigserial', <<'SQL');
CREATE FUNCTION last_order() RETURNS bigint LANGUAGE sql AS $$SELECT currval('orders_id_seq')$$;
CREATE FUNCTION sequence_of_orders() RETURNS text RETURN pg_get_serial_sequence('orders', 'id');
SQL
is(join(' ', sort split /\n/, attempt_step($node, 'bigserial', 'look for functions')), 'last_order() sequence_of_orders()',
    'functions that have to be changed are found');

sub check_giving_up
{
    my ($load) = @_;
    # A table is adopted by itself: those that refer to it, and that it refers to, are not locked.
    is(locks_of($load, q(SELECT snowid.adopt('orders', 'id'))), 'orders AccessExclusive', 'what adopting locks');
    my ($client, $step) = map { open_session($node, dbname => 'bigserial') } 1 .. 2;
    ask($client, 'BEGIN; SELECT count(*) FROM orders');
    # Customers may take more than one attempt, too.
    my $adopted = q(SELECT table_name FROM information_schema.columns WHERE column_default = 'snowid_next()');
    my $out;
    wait_for(sub { ($out = attempt_step($node, 'bigserial', 'bigserial: adopt')) ne 'ERROR 55P03' || $node->safe_psql('bigserial', $adopted) ne '' },
        'customers to be adopted');
    is($out, 'ERROR 55P03', 'a step gives up waiting for a lock');
    is($node->safe_psql('bigserial', $adopted), 'customers', 'what was done before it stays');
    wait_for_load($load);
    # A client that locks in another order than a step is never the one that is told of a deadlock.
    ask($client, 'COMMIT; BEGIN; LOCK TABLE payments IN ROW EXCLUSIVE MODE');
    ask($step, q(BEGIN; LOCK TABLE customers IN ACCESS EXCLUSIVE MODE; SET LOCAL lock_timeout = '200ms'));
    start_asking($step, 'LOCK TABLE payments IN ACCESS EXCLUSIVE MODE');
    is(ask($client, 'LOCK TABLE customers IN ROW EXCLUSIVE MODE; COMMIT'), '', 'a client gets its locks');
    is(answer($step), 'ERROR 55P03', 'the step does not');
    close_session($client, $step);
    return;
}
take($node, 'bigserial', before => { adopt => \&check_giving_up });
end_test($node);
