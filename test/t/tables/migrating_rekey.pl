# docs/converting.md, new keys for old rows, as in migrating_bigserial.pl: these have the rows' times, and references follow; so do
# negative keys, and rows of the layout's first days; rows that are older keep theirs. A row that a client has is rekeyed when he
# lets it go.
# Runs in make test-all: it takes a way of the page under load.

use Snowid;
use SnowidMigration;

my $node = new_migration_server('migrating_rekey');
# Orders with negative keys, of the first days of the layout, and from before.
my $number = 50000;
my $odd = join '', map { $number++; <<"SQL" } [ -9223372036854775807, 2012 ], [ -1, 2013 ], [ 30001, 2011 ], [ 30002, 2010 ];
INSERT INTO orders VALUES ($_->[0], 1, '$_->[1]-08-28Z');
INSERT INTO items VALUES ($number, $_->[0], 'odd', '2024-01-01Z');
INSERT INTO load.given VALUES ('orders', $_->[0], 0, 0), ('items', $number, 0, 0);
SQL
# Rows have both keys while that lasts.
set_up($node, 'rekey', old => 'n', then => $odd . setvals(), looks_up => 1);
my $load = start_load($node, 'rekey');
sub sql { return $node->safe_psql('rekey', $_[0]) }

# A client has one of the old rows, which no session of the load works on.
sub check_held_row
{
    my ($rekeying, $holder) = map { open_session($node, dbname => 'rekey') } 1 .. 2;
    ask($holder, 'BEGIN; SELECT FROM customers WHERE id = 10000 FOR KEY SHARE');
    start_asking($rekeying, q(CALL rekey('customers')));
    my $left = 'SELECT count(*) FROM customers WHERE id < 100000';
    wait_for(sub { sql($left) <= 200 }, 'all but one batch to be rekeyed');
    is(sql("$left AND id = 10000"), 1, 'a row that a client has keeps its key');
    ok(!is_answered($rekeying), 'rekeying goes on while a row is left');
    ask($holder, 'COMMIT');
    is(answer($rekeying), '', 'it ends when the client has let that go');
    is(sql($left), 0, 'which has another key, too');
    close_session($rekeying, $holder);
    return;
}

sub after_plan
{
    sql(<<'SQL');
CREATE OR REPLACE FUNCTION load.now(tbl text, id text) RETURNS text STABLE RETURN COALESCE(
  (SELECT k.new FROM new_keys k WHERE k.tbl = $1::regclass AND k.old = $2::bigint)::text,
  (SELECT k.old FROM new_keys k WHERE k.tbl = $1::regclass AND k.new = $2::bigint)::text, id);
SQL
    wait_for_load($load);
    return;
}

sub after_check
{
    is(sql(<<'SQL'), '10000|10000|30002|t', 'old rows have keys of their time, and the references');
SELECT count(*), count(*) FILTER (WHERE snowid_timestamp(id) = created_at AND id = new),
       (SELECT string_agg(id::text, ' ') FROM orders WHERE id < 100000 OR customer_id < 100000), min(id) > snowid_first_at('2024-01-01Z')
  FROM customers JOIN new_keys k ON k.tbl = 'customers'::regclass AND k.old = substr(name, 5)::bigint WHERE name LIKE 'old %'
SQL
    is(sql(<<'SQL'), '2010|2011|2012|2013', 'so have negative keys, and the first days; not older rows');
SELECT string_agg(CASE WHEN o.id = 30002 THEN '2010' ELSE extract(year FROM snowid_timestamp(o.id))::text END, '|' ORDER BY o.created_at)
  FROM items i JOIN orders o ON o.id = order_id WHERE sku = 'odd'
SQL
    return;
}

run_step($load, 'bigserial: adopt');
mark($load, 'adopt');
foreach my $name (steps_of('rekey'))
{
    check_held_row() if $name eq 'rekey';
    run_step($load, "rekey: $name");
    after_plan() if $name eq 'plan';
    after_check() if $name eq 'check';
}
stop_load($load);
# All have their old keys again.
sql('CREATE OR REPLACE FUNCTION load.now(tbl text, id text) RETURNS text STABLE RETURN id');
check_above($load, 'adopt', 'adopting');
check_rows($node, 'rekey');
end_test($node);
