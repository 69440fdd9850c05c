# docs/read-in-order.md, where its examples alone show nothing: the query that finds who keeps readers waiting, the lock for IDs
# taken before the INSERT, copied IDs, and versions of updated rows. For what is said not to be covered it shows that it is not.

use Snowid;

my $page = 'docs/read-in-order.md';
my $node = ready_server('read_in_order', conf => "max_prepared_transactions = 10\nsnowid.default_shard = 7\n", sql => <<'SQL');
CREATE TABLE outbox (id bigint DEFAULT snowid_next(), note text) PARTITION BY LIST (note);
CREATE TABLE outbox_a PARTITION OF outbox FOR VALUES IN ('a');
CREATE TABLE elsewhere (id bigint DEFAULT snowid_next());
CREATE TABLE events (id bigint PRIMARY KEY DEFAULT snowid_next());
CREATE TABLE copies (id bigint PRIMARY KEY);
SQL
my ($writer, $reader, $other) = map { open_session($node) } 1 .. 3;
my $event = $node->pg_version >= 17 ? 'SnowidWatermark' : 'virtualxid';

# Who keeps readers waiting: sessions and prepared transactions that the page's query finds.
my ($query) = blocks_of($page, 'Long transactions of writers');

sub holders_of
{
    my ($table) = @_;
    return join ' ', map { /^(\d*)\|(\w*)\|/ ? $1 || $2 : $_ } split /\n/, $node->safe_psql('postgres', $query =~ s/'outbox'/'$table'/gr);
}

sub prepare { $node->safe_psql('postgres', "BEGIN; INSERT INTO outbox_a (note) VALUES ('a'); PREPARE TRANSACTION 'forgotten'"); return }

ask($writer, "BEGIN; INSERT INTO outbox (note) VALUES ('a')");
ask($other, 'BEGIN; INSERT INTO elsewhere DEFAULT VALUES; SELECT count(*) FROM outbox; SELECT FROM outbox FOR UPDATE');
is(holders_of('outbox'), $writer->{backend}, 'the writer is found, and nobody else');
is(holders_of('outbox_a'), $writer->{backend}, 'by its partition, too');
is(holders_of('elsewhere'), $other->{backend}, 'a table without partitions');
like($node->safe_psql('postgres', $query), qr/^\d+\|\|[^|]*\|\d{4}-[^|]*\|idle in transaction\|(?:BEGIN|INSERT)/, 'since when, and what it does');
ask($_, 'COMMIT') foreach $writer, $other;
prepare();
is(holders_of('outbox'), 'forgotten', 'a prepared transaction');
start_waiting($reader, "SELECT snowid_watermark('outbox')", $node->pg_version >= 17 ? $event : 'transactionid');
ask($other, q(ROLLBACK PREPARED 'forgotten'));
cmp_ok(answer($reader), '>', 0, 'it is what the reader has waited for');
is(holders_of('outbox'), '', 'then there is nobody');

# A watermark of the table waits until the writer's transaction ends, and is then at or above the ID.
sub waits
{
    my ($name, $table, $id) = @_;
    start_waiting($reader, "SELECT snowid_watermark('$table')", $event);
    is(ask($writer, 'COMMIT'), '', "$name: committed");
    my $watermark = answer($reader);
    cmp_ok($watermark, '>=', $id, "$name: covered");
    return $watermark;
}

# IDs taken before the INSERT: not covered, unless the table was locked first.
my $id = ask($writer, "BEGIN; SELECT snowid_next()");
cmp_ok(ask($reader, "SELECT snowid_watermark('events')"), '>=', $id, 'an ID taken first is passed over');
is(ask($writer, "INSERT INTO events VALUES ($id); COMMIT"), '', 'and its row comes later');
my ($lock) = (blocks_of($page, 'IDs taken before the INSERT'))[0] =~ /^(LOCK TABLE .*);$/m;
ask($writer, "BEGIN; $lock");
is(ask($other, "BEGIN; $lock; INSERT INTO events DEFAULT VALUES; COMMIT"), '', 'the lock of the page blocks no other writer');
waits('locked first', 'events', ask($writer, 'SELECT snowid_next()'));

# A copied ID: the table of its default is waited for, the other one not yet.
$id = ask($writer, 'BEGIN; INSERT INTO events DEFAULT VALUES RETURNING id');
cmp_ok(ask($reader, "SELECT snowid_watermark('copies')"), '>=', $id, 'a copied ID: its own table does not wait');
ask($writer, "INSERT INTO copies VALUES ($id)");
my $watermark = waits('a copied ID, by the table of its default', 'events', $id);
is(ask($other, "SELECT count(*) FROM copies WHERE id <= $watermark"), '1', 'the copy is there');

my ($versions) = blocks_of($page, 'Updated rows');
is(attempt($node, $versions . <<'SQL'), 'tea|4', 'versions: an updated row comes again, and no other');
INSERT INTO products VALUES ('tea', 3), ('milk', 1);
SELECT snowid_watermark('products') AS last \gset
UPDATE products SET price = 4 WHERE name = 'tea';
SELECT snowid_watermark('products') AS watermark \gset
SELECT name, price FROM products WHERE version > :last AND version <= :watermark ORDER BY version;
SQL
waits('an updated row', 'products', ask($writer, "BEGIN; UPDATE products SET price = 5 WHERE name = 'milk' RETURNING version"));
close_session($writer, $reader, $other);

prepare();
$node->stop;
start_server($node);
is(holders_of('outbox'), 'forgotten', 'a prepared transaction, after a restart');
end_test($node);
