# docs/read-in-order.md, where its examples alone show nothing: the query that finds who keeps readers waiting, the lock
# for IDs taken before the INSERT, copied IDs, versions of updated rows, subscribers and standbys, and a clock that was
# put right. For what is said not to be covered it shows that it is not.
#
# Runs in make test-all: writers and readers go on for long.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $page = 'docs/read-in-order.md';
my $node = new_server('order', allows_streaming => 1);
$node->append_conf('postgresql.conf', "max_prepared_transactions = 10\nwal_level = logical\nsnowid.shard = 7\n");
start_server($node);
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION snowid;
CREATE TABLE outbox (id bigint DEFAULT snowid_next(), note text) PARTITION BY LIST (note);
CREATE TABLE outbox_a PARTITION OF outbox FOR VALUES IN ('a');
CREATE TABLE elsewhere (id bigint DEFAULT snowid_next());
CREATE TABLE events (id bigint PRIMARY KEY DEFAULT snowid_next(), body text NOT NULL DEFAULT 'hello');
CREATE TABLE copies (id bigint PRIMARY KEY);
CREATE TABLE consumers (name text PRIMARY KEY, last_id bigint NOT NULL DEFAULT 0);
SQL
my ($writer, $reader, $other) = map { open_session($node) } 1 .. 3;
backend_of($_) foreach $writer, $reader, $other;
my $event = $node->pg_version >= 17 ? 'SnowidWatermark' : 'virtualxid';

sub sql { return $node->safe_psql('postgres', $_[0]) }

# A watermark of the table waits until the writer's transaction ends, and is then at or above the ID.
sub waits
{
    my ($name, $table, $id) = @_;
    start_asking($reader, "SELECT snowid_watermark('$table')");
    wait_until_waiting($node, $reader, $event);
    is(ask($writer, 'COMMIT'), '', "$name: committed");
    my $watermark = answer($reader);
    cmp_ok($watermark, '>=', $id, "$name: covered");
    return $watermark;
}

# 1. Who keeps readers waiting
my ($query) = blocks_of($page, 'Long transactions of writers');
my $holders = sub { return join ' ', map { /^(\d*)\|(\w*)\|/ ? $1 || $2 : $_ } split /\n/, sql($_[0]) };
ask($writer, 'BEGIN');
ask($writer, "INSERT INTO outbox (note) VALUES ('a')");
ask($other, 'BEGIN');
ask($other, 'INSERT INTO elsewhere DEFAULT VALUES; SELECT count(*) FROM outbox; SELECT FROM outbox FOR UPDATE');
is($holders->($query), $writer->{backend}, 'the writer is found, and nobody else');
is($holders->($query =~ s/'outbox'/'outbox_a'/gr), $writer->{backend}, 'by its partition, too');
is($holders->($query =~ s/'outbox'/'elsewhere'/gr), $other->{backend}, 'a table without partitions');
like(sql($query), qr/^\d+\|\|[^|]*\|\d{4}-[^|]*\|idle in transaction\|INSERT/, 'since when, and what it does');
ask($writer, 'COMMIT');
ask($other, 'COMMIT');
sql("BEGIN; INSERT INTO outbox_a (note) VALUES ('a'); PREPARE TRANSACTION 'forgotten'");
is($holders->($query), 'forgotten', 'a prepared transaction');
start_asking($reader, "SELECT snowid_watermark('outbox')");
wait_until_waiting($node, $reader, $node->pg_version >= 17 ? $event : 'transactionid');
sql(q(ROLLBACK PREPARED 'forgotten'));
cmp_ok(answer($reader), '>', 0, 'it is what the reader has waited for');
is(sql($query), '', 'then there is nobody');

# 2. IDs taken before the INSERT: not covered, unless the table was locked first.
ask($writer, 'BEGIN');
my $id = ask($writer, 'SELECT snowid_next()');
cmp_ok(ask($reader, "SELECT snowid_watermark('events')"), '>=', $id, 'an ID taken first is passed over');
ask($writer, "INSERT INTO events VALUES ($id)");
is(ask($writer, 'COMMIT'), '', 'and its row comes later');
my ($block) = blocks_of($page, 'IDs taken before the INSERT');
my ($lock) = $block =~ /^(LOCK TABLE .*);$/m;
ask($writer, 'BEGIN');
is(ask($writer, $lock), '', 'the lock of the page');
ask($other, 'BEGIN');
is(ask($other, "$lock; INSERT INTO events DEFAULT VALUES"), '', 'blocks no other writer');
ask($other, 'COMMIT');
$id = ask($writer, 'SELECT snowid_next()');
waits('locked first', 'events', $id);

# A copied ID: the table of its default is waited for, the other one not yet.
ask($writer, 'BEGIN');
$id = ask($writer, 'INSERT INTO events DEFAULT VALUES RETURNING id');
cmp_ok(ask($reader, "SELECT snowid_watermark('copies')"), '>=', $id, 'a copied ID: its own table does not wait');
ask($writer, "INSERT INTO copies VALUES ($id)");
my $watermark = waits('a copied ID, by the table of its default', 'events', $id);
is(sql("SELECT count(*) FROM copies WHERE id <= $watermark"), '1', 'the copy is there');

# 3. Versions of updated rows
my ($versions) = blocks_of($page, 'Updated rows');
like(attempt($node, $versions), qr/^tea\|4$/m, 'the example');
ask($writer, 'BEGIN');
$id = ask($writer, "UPDATE products SET price = 5 WHERE name = 'milk' RETURNING version");
waits('an updated row', 'products', $id);
close_session($writer, $reader, $other);

# 4. A subscriber, which has rows of its own, by the steps of the page; and a standby.
my $subscriber = new_server('subscriber');
$subscriber->append_conf('postgresql.conf', "snowid.shard = 8\nmax_logical_replication_workers = 4\n");
start_server($subscriber);
my $table = 'CREATE TABLE events (id bigint PRIMARY KEY DEFAULT snowid_next(), body text NOT NULL)';
$subscriber->safe_psql('postgres', "CREATE EXTENSION snowid; $table");
sql('CREATE PUBLICATION events FOR TABLE events');
$subscriber->safe_psql('postgres', q(CREATE SUBSCRIPTION events_of_amsterdam CONNECTION $$) . $node->connstr('postgres')
      . q($$ PUBLICATION events));
wait_for(sub { $subscriber->safe_psql('postgres', q(SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel)) eq 't' }, 'the copy');
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
start_server($standby);
my $section = slurp_file($page) =~ s/.*^### Rows from other servers\n//msr;
my ($take, $is_there, $read) = $section =~ /^ +(SELECT .*;)$/mg;

# Rows that neither has yet.
$subscriber->safe_psql('postgres', 'ALTER SUBSCRIPTION events_of_amsterdam DISABLE');
$standby->safe_psql('postgres', 'SELECT pg_wal_replay_pause()');
wait_for(sub { sql('SELECT count(*) FROM pg_stat_replication WHERE application_name = $$events_of_amsterdam$$') eq '0' }, 'the subscription to stop');
wait_for(sub { $standby->safe_psql('postgres', 'SELECT pg_get_wal_replay_pause_state()') eq 'paused' }, 'the standby to pause');
sql("INSERT INTO events (body) SELECT 'row ' || n FROM generate_series(1, 1000) AS n");
$subscriber->safe_psql('postgres', "INSERT INTO events (body) VALUES ('its own')");
my ($mark, $lsn) = split /\|/, sql($take);
$is_there =~ s/'0[^']*'/'$lsn'/;
$read =~ s/<= \d+/<= $mark/;
my $on_standby = "SELECT pg_last_wal_replay_lsn() >= '$lsn'";
my $rows = sql($read);
isnt(sql($is_there), 't', 'the subscriber has not got there');
is($standby->safe_psql('postgres', $on_standby), 'f', 'nor has the standby');
is(attempt($standby, "SELECT snowid_watermark('events')"), 'ERROR 25006', 'which makes no watermark itself');
$subscriber->safe_psql('postgres', 'ALTER SUBSCRIPTION events_of_amsterdam ENABLE');
$standby->safe_psql('postgres', 'SELECT pg_wal_replay_resume()');
wait_for(sub { sql($is_there) eq 't' }, 'the subscriber to get there');
is($subscriber->safe_psql('postgres', $read), $rows, 'the subscriber has all rows of the server up to the watermark, and no others');
wait_for(sub { $standby->safe_psql('postgres', $on_standby) eq 't' }, 'the standby to get there');
is($standby->safe_psql('postgres', $read), $rows, 'so has the standby');
$_->stop foreach $standby, $subscriber;
sql(q(SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots));

# 5. A clock that jumped forward is put right: positions are set back by the page, or new rows are missed.
my ($set_back) = slurp_file($page) =~ /^(UPDATE consumers SET last_id = least.*;)$/m;
my $poll = sub {
    my ($consumer) = @_;
    my $to = sql("SELECT snowid_watermark('events')");
    my $found = sql("SELECT string_agg(body, ' ' ORDER BY e.id) FROM events AS e, consumers AS c WHERE c.name = '$consumer' AND e.id > last_id AND e.id <= $to");
    sql("UPDATE consumers SET last_id = $to WHERE name = '$consumer'");
    return $found;
};
sql("TRUNCATE events; INSERT INTO consumers (name) VALUES ('set back'), ('left')");
set_clock(86_400, $node);
sql("INSERT INTO events (body) VALUES ('tomorrow')");
is($poll->($_), 'tomorrow', "$_: a row of the fast clock") foreach 'set back', 'left';
set_clock(0, $node);
is(sql($set_back =~ s/;$/ WHERE name = 'set back'/r), '', 'positions are set back');
sql(q(SELECT snowid.return_to_clock(snowid.future_times('events', 'id', margin => '5 s'))));
sql("INSERT INTO events (body) VALUES ('today')");
is($poll->('set back'), 'today', 'the new row is read, and no other');
is($poll->('left'), '', 'without that it is missed');
set_clock(86_460, $node);
sql("INSERT INTO events (body) VALUES ('the next day')");
is($poll->('set back'), 'tomorrow the next day', 'those of the fast clock come again');

# A prepared transaction that a restart has brought back
sql("BEGIN; INSERT INTO outbox_a (note) VALUES ('a'); PREPARE TRANSACTION 'forgotten'");
$node->restart;
is($holders->($query), 'forgotten', 'a prepared transaction, after a restart');
$node->stop;
done_testing();
