# docs/migrating.md, whose steps run as they stand there, on four tables with 100,000 rows, while sessions insert,
# update and delete: from bigserial, identities, Instagram's function and pgEdge's snowflake columns, and back again.
# No session is told of an error, no ID comes twice, no row and no update is lost, foreign keys hold, no table is
# written anew, and IDs are above the keys that were there. migrating_columns.pl has the
# ways with new columns, migrating_partman.pl that with partitions.
# The sessions own nothing: no step takes a right from them that they need, and none costs a published table its replica
# identity. Where old rows get new keys, these have the rows' times, and references follow; so do negative keys, and rows of
# the layout's first days; rows that are older keep theirs.
#
# Runs in make test-all: it takes five ways of the page under load.

use strict;
use warnings;

use Snowid;
use SnowidMigration;
use Test::More;

my $node = new_migration_server('migrating');

# Every step of the page belongs to a way that this test, migrating_columns.pl or migrating_partman.pl takes, or to all
# of them.
my %taken = map { $_ => 1 } qw(bigserial rekey identity short integer uuid instagram pgedge partman);
is_deeply([ grep { !/^(\w+): / || !$taken{$1} } page_steps() ], [ 'tables', 'look for functions', 'fill' ],
    'the steps that all ways share');

# Takes all steps of a way, in the order of the page. `before` and `after` have what to do beside them.
sub take
{
    my ($way, %options) = @_;
    my $load = start_load($node, $way);
    my $files = files_of_tables($node, $way, @TABLES);
    my @names = grep { $_ ne 'function' } steps_of($way);
    is($names[-1], 'back', "$way: there is a way back");
    foreach my $name (@names)
    {
        $options{before}{$name}->($load) if $options{before}{$name};
        run_step($load, "$way: $name");
        $options{after}{$name}->($load) if $options{after}{$name};
        mark($load, $name) if $name eq 'adopt' || $name eq 'back';
    }
    stop_load($load);
    check_above($load, 'adopt', 'adopting');
    check_above($load, 'back', 'going back');
    is(files_of_tables($node, $way, @TABLES), $files, "$way: no table was written anew");
    check_rows($node, $way);
    return;
}

my $setval = join '', map { "SELECT setval(pg_get_serial_sequence('$_', 'id'), max(id)) FROM $_;\n" } @TABLES;

# A table is adopted by itself: those that refer to it, and that it refers to, are not locked.
sub check_locks
{
    my ($load) = @_;
    is(locks_of($load, q(SELECT snowid.adopt('orders', 'id'))), 'orders AccessExclusive', "$load->{way}: what adopting locks");
    return;
}

# A long transaction keeps a step from its lock: it gives up, and nobody else is worse off.
sub check_giving_up
{
    my ($load) = @_;
    check_locks($load);
    my $reader = open_session($node, dbname => 'bigserial');
    ask($reader, 'BEGIN; SELECT count(*) FROM orders');
    # Customers may take more than one attempt, too.
    my $adopted = q(SELECT table_name FROM information_schema.columns WHERE column_default = 'snowid_next()');
    wait_for(
        sub {
            my $out = attempt_step($node, 'bigserial', 'bigserial: adopt');
            $out ne 'ERROR 55P03' || $node->safe_psql('bigserial', $adopted) ne '';
        },
        'customers to be adopted');
    is(attempt_step($node, 'bigserial', 'bigserial: adopt'), 'ERROR 55P03', 'bigserial: a step gives up waiting for a lock');
    is($node->safe_psql('bigserial', $adopted), 'customers', 'bigserial: what was done before it stays');
    wait_for_load($load);
    ask($reader, 'COMMIT');
    # A client that locks in another order than a step: it is never the one that is told of a deadlock.
    ask($reader, 'BEGIN; LOCK TABLE payments IN ROW EXCLUSIVE MODE');
    my $step = open_session($node, dbname => 'bigserial');
    ask($step, q(BEGIN; LOCK TABLE customers IN ACCESS EXCLUSIVE MODE; SET LOCAL lock_timeout = '200ms'));
    start_asking($step, 'LOCK TABLE payments IN ACCESS EXCLUSIVE MODE');
    is(ask($reader, 'LOCK TABLE customers IN ROW EXCLUSIVE MODE; COMMIT'), '', 'bigserial: a client gets its locks');
    is(answer($step), 'ERROR 55P03', 'bigserial: the step does not');
    close_session($reader, $step);
    return;
}

set_up($node, 'bigserial', old => 'n', then => $setval);
$node->safe_psql('bigserial', <<'SQL');
CREATE FUNCTION last_order() RETURNS bigint LANGUAGE sql AS $$SELECT currval('orders_id_seq')$$;
CREATE FUNCTION sequence_of_orders() RETURNS text RETURN pg_get_serial_sequence('orders', 'id');
SQL
is(join(' ', sort split /\n/, attempt_step($node, 'bigserial', 'look for functions')), 'last_order() sequence_of_orders()',
    'functions that have to be changed are found');
take('bigserial', before => { adopt => \&check_giving_up });

# A client has one of the old rows, which no session of the load works on: it is rekeyed when the client lets it go, and
# nobody is told of an error.
sub check_held_row
{
    my ($rekeying, $holder) = map { open_session($node, dbname => 'rekey') } 1 .. 2;
    ask($holder, 'BEGIN; SELECT FROM customers WHERE id = 10000 FOR KEY SHARE');
    start_asking($rekeying, q(CALL rekey('customers')));
    my $left = 'SELECT count(*) FROM customers WHERE id < 100000';
    wait_for(sub { $node->safe_psql('rekey', $left) <= 200 }, 'all but one batch to be rekeyed');
    is($node->safe_psql('rekey', "$left AND id = 10000"), 1, 'rekey: a row that a client has keeps its key');
    ok(!is_answered($rekeying), 'rekey: it goes on while a row is left');
    ask($holder, 'COMMIT');
    is(answer($rekeying), '', 'rekey: it ends when the client has let that go');
    is($node->safe_psql('rekey', $left), 0, 'rekey: which has another key, too');
    close_session($rekeying, $holder);
    return;
}

# New keys for old rows, which have both of them while that lasts.
# Orders with negative keys, of the first days of the layout, and from before.
my @odd = ([ -9223372036854775807, 2012 ], [ -1, 2013 ], [ 30001, 2011 ], [ 30002, 2010 ]);
my $number = 50000;
my $odd = join '', map { $number++; <<"SQL" } @odd;
INSERT INTO orders VALUES ($_->[0], 1, '$_->[1]-08-28Z');
INSERT INTO items VALUES ($number, $_->[0], 'odd', '2024-01-01Z');
INSERT INTO load.given VALUES ('orders', $_->[0], 0, 0), ('items', $number, 0, 0);
SQL
set_up($node, 'rekey', old => 'n', then => $odd . $setval, looks_up => 1);
my $load = start_load($node, 'rekey');
run_step($load, 'bigserial: adopt');
mark($load, 'adopt');
foreach my $name (steps_of('rekey'))
{
    check_held_row() if $name eq 'rekey';
    run_step($load, "rekey: $name");
    if ($name eq 'plan')
    {
        $node->safe_psql('rekey', <<'SQL');
CREATE OR REPLACE FUNCTION load.now(tbl text, id text) RETURNS text STABLE RETURN COALESCE(
  (SELECT k.new FROM new_keys k WHERE k.tbl = $1::regclass AND k.old = $2::bigint)::text,
  (SELECT k.old FROM new_keys k WHERE k.tbl = $1::regclass AND k.new = $2::bigint)::text, id);
SQL
        wait_for_load($load);
    }
    next unless $name eq 'check';
    is($node->safe_psql('rekey', <<'SQL'), '10000|10000|30002|t', 'rekey: old rows have keys of their time, and the references');
SELECT count(*), count(*) FILTER (WHERE snowid_timestamp(id) = created_at AND id = new),
       (SELECT string_agg(id::text, ' ') FROM orders WHERE id < 100000 OR customer_id < 100000),
       min(id) > snowid_first_at('2024-01-01Z')
  FROM customers JOIN new_keys k ON k.tbl = 'customers'::regclass AND k.old = substr(name, 5)::bigint WHERE name LIKE 'old %'
SQL
    is($node->safe_psql('rekey', <<'SQL'), '2010|2011|2012|2013', 'rekey: so have negative keys, and the first days; not older rows');
SELECT string_agg(CASE WHEN o.id = 30002 THEN '2010' ELSE extract(year FROM snowid_timestamp(o.id))::text END, '|' ORDER BY o.created_at)
  FROM items i JOIN orders o ON o.id = order_id WHERE sku = 'odd'
SQL
}
stop_load($load);
# All have their old keys again.
$node->safe_psql('rekey', 'CREATE OR REPLACE FUNCTION load.now(tbl text, id text) RETURNS text STABLE RETURN id');
check_above($load, 'adopt', 'adopting');
check_rows($node, 'rekey');

set_up($node, 'identity', key => 'bigint GENERATED ALWAYS AS IDENTITY', old => 'n', then => $setval);
take('identity', before => { adopt => \&check_locks });

# Their default draws from the function when the rows are there.
sub with_default
{
    my ($call) = @_;
    return join '', map { "ALTER TABLE $_ ALTER COLUMN id SET DEFAULT " . $call->($_) . ";\n" } @TABLES;
}
set_up($node, 'instagram', key => 'bigint', old => 'snowid_encode(t, 5, n % 1024)');
is(attempt_step($node, 'instagram', 'instagram: function'), '', 'instagram: the function');
$node->safe_psql('instagram', with_default(sub { 'next_id()' }) . 'GRANT USAGE ON SEQUENCE table_id_seq TO app');
take('instagram');

# What pgEdge's function does: a sequence has the last ID as its last_value, and the next has the clock's time, or is
# one more. Sessions take turns.
set_up($node, 'pgedge', old => "snowid_encode(t, 3, n % 4096, 'pgedge')", then => $setval, first => <<'SQL');
CREATE SCHEMA snowflake;
CREATE FUNCTION snowflake.nextval(seq regclass) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  last bigint;
  id bigint;
BEGIN
  PERFORM pg_advisory_lock(seq::oid::bigint);
  EXECUTE format('SELECT last_value FROM %s', seq) INTO last;
  id := GREATEST(snowid_encode(clock_timestamp(), 3, 0, 'pgedge'), (last + 1) & ~(1023::bigint << 12) | (3 << 12));
  PERFORM setval(seq, id);
  PERFORM pg_advisory_unlock(seq::oid::bigint);
  RETURN id;
END $$;
SQL
$node->safe_psql('pgedge', with_default(sub { "snowflake.nextval('$_[0]_id_seq')" }));
$node->safe_psql('pgedge', 'GRANT USAGE ON SCHEMA snowflake TO app; GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO app');
take('pgedge', after => { number => sub {
    wait_for(sub { $node->safe_psql('pgedge', 'SELECT snowid_default_shard()') eq '3' }, 'new sessions to have the number');
} });

# Sequences as pgEdge's function left them before version 2.5.0: of a maximum that is one above the last value before, which
# its own nextval() does not mind, and a serial's type. The steps work both ways. (Only the catalog can be brought to that.)
$node->safe_psql('postgres', 'CREATE DATABASE converted TEMPLATE pgedge');
my $converted = q(SELECT setval(seqrelid::regclass, snowid_encode(now() - interval '1 minute', 3, 0, 'pgedge')) FROM pg_sequence
  WHERE seqrelid::regclass::text ~ '^(customers|orders|items|payments)_id_seq$';
UPDATE pg_sequence SET seqmax = 4, seqtypid = 'integer'::regtype WHERE seqrelid::regclass::text ~ '^(customers|orders|items|payments)_id_seq$');
$node->safe_psql('converted', $converted);
is(attempt($node, 'ALTER SEQUENCE orders_id_seq OWNED BY NONE', dbname => 'converted'), 'ERROR 22023', 'converted: no other change is possible');
unlike(attempt_step($node, 'converted', "pgedge: $_"), qr/^ERROR/, "converted: $_") foreach 'adopt', 'back';
is($node->safe_psql('converted', q(SELECT count(*) FROM pg_sequences WHERE sequencename ~ '^(customers|orders|items|payments)_id_seq$'
  AND data_type = 'bigint'::regtype AND max_value = 9223372036854775807 AND last_value > 4)), '4', 'converted: the sequences can hold IDs');
# That of an identity stays linked to a column that is none any more.
$node->safe_psql('converted', "CREATE TABLE former (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY);
  UPDATE pg_attribute SET attidentity = '' WHERE attrelid = 'former'::regclass AND attname = 'id';
  ALTER TABLE former ALTER id SET DEFAULT snowflake.nextval('former_id_seq')");
my (undef, $default, $notice) = $node->psql('converted', q(SELECT snowid.adopt('former', 'id', NULL, 'pgedge')));
is($default, q(public.snowid_next(public.snowid_default_shard(), 'pgedge'::public.snowid_layout)), 'former identity: adopted');
like($notice, qr/sequence public\.former_id_seq is left/, 'former identity: its sequence is left');
is($node->safe_psql('converted', 'INSERT INTO former DEFAULT VALUES; ALTER SEQUENCE former_id_seq AS bigint NO MAXVALUE; SELECT count(*) FROM former'), '1',
    'former identity: in use');

check_log($node);
$node->stop;
done_testing();
