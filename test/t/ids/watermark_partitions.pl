# Partitions that are made while a watermark is computed, and those that other sessions do not see yet.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('watermark_partitions');
$node->append_conf('postgresql.conf', "max_prepared_transactions = 10\n");
start_server($node);
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION snowid;
CREATE TABLE first (id bigint DEFAULT snowid_next(7), note text) PARTITION BY LIST (note);
CREATE TABLE parts (id bigint DEFAULT snowid_next(7), note text) PARTITION BY LIST (note);
CREATE TABLE parts_a PARTITION OF parts FOR VALUES IN ('a');
CREATE TABLE loaded (LIKE parts INCLUDING DEFAULTS);
CREATE TABLE parent (id bigint DEFAULT snowid_next(7));
SQL
my ($writer, $reader, $other) = map { open_session($node) } 1 .. 3;
backend_of($_) foreach $writer, $reader, $other;
my $event = $node->pg_version >= 17 ? 'SnowidWatermark' : 'virtualxid';

# The reader waits for a writer, or has wrongly not waited.
sub wait_until_it_waits
{
    my $sql = "SELECT wait_event = '$event' FROM pg_stat_activity WHERE pid = $reader->{backend}";
    wait_for(sub { is_answered($reader) || $node->safe_psql('postgres', $sql) eq 't' }, 'the reader to wait');
    return;
}

# A table has its first partition while the caller waits for the clock. Whether it has any is in a cache, which the caller
# has filled before.
ask($reader, q(SELECT snowid_watermark('first')));
set_clock(3, $node);
ask($other, 'SELECT snowid_next(3)');
set_clock(0, $node);
start_asking($reader, q(SELECT snowid_watermark('first')));
wait_until_waiting($node, $reader, $node->pg_version >= 17 ? 'SnowidClock' : 'Extension');
ask($other, q(CREATE TABLE first_a PARTITION OF first FOR VALUES IN ('a')));
ask($writer, 'BEGIN');
my $id = ask($writer, q(INSERT INTO first_a (note) VALUES ('a') RETURNING id));
wait_until_it_waits();
ok(!is_answered($reader), 'a partition made while the caller waits for the clock: its writer is waited for');
ask($writer, 'COMMIT');
cmp_ok(answer($reader), '>=', $id, 'the watermark covers the row');

# The partition is made and written by one transaction.
foreach my $case (
    [ 'parts', q(CREATE TABLE parts_b PARTITION OF parts FOR VALUES IN ('b')), q(INSERT INTO parts_b (note) VALUES ('b')) ],
    [ 'parts', q(ALTER TABLE parts ATTACH PARTITION loaded FOR VALUES IN ('c')), q(INSERT INTO loaded (note) VALUES ('c')) ],
    [ 'parent', 'CREATE TABLE child () INHERITS (parent)', 'INSERT INTO child DEFAULT VALUES' ])
{
    my ($table, $make, $insert) = @$case;
    ask($writer, 'BEGIN');
    is(ask($writer, $make), '', $make);
    $id = ask($writer, "$insert RETURNING id");
    start_asking($reader, "SELECT snowid_watermark('$table')");
    wait_until_it_waits();
    ok(!is_answered($reader), 'a partition that others do not see yet: its maker is waited for');
    ask($writer, 'COMMIT');
    cmp_ok(answer($reader), '>=', $id, 'the watermark covers the row');
}

# Who writes through the parent has an ID before he has locked the partition; also while that is being detached.
my $detaching = open_session($node);
backend_of($detaching);
foreach my $detaches (0, 1)
{
    my $name = $detaches ? ', of a partition that is being detached,' : '';
    ask($other, 'SELECT pg_advisory_lock(1)');
    start_asking($writer, q(INSERT INTO parts (id, note) SELECT snowid_next(7), CASE WHEN pg_advisory_xact_lock(1) IS NOT NULL THEN 'a' END RETURNING id));
    wait_until_waiting($node, $writer, 'advisory');
    if ($detaches)
    {
        start_asking($detaching, 'ALTER TABLE parts DETACH PARTITION parts_a CONCURRENTLY');
        wait_until_waiting($node, $detaching, 'Lock');
    }
    start_asking($reader, q(SELECT snowid_watermark('parts_a')));
    wait_until_it_waits();
    ok(!is_answered($reader), "who has not come to the partition yet$name is waited for");
    ask($other, 'SELECT pg_advisory_unlock(1)');
    my $routed = answer($writer);
    cmp_ok(answer($reader), '>=', $routed, 'the watermark covers the row');
    answer($detaching) if $detaches;
}
close_session($detaching);

# VACUUM and ANALYZE have the same lock on the table.
ask($other, 'BEGIN');
ask($other, 'ANALYZE parts');
is(ask($other, q(SELECT count(*) FROM pg_locks WHERE relation = 'parts'::regclass AND mode = 'ShareUpdateExclusiveLock' AND pid = pg_backend_pid())),
    '1', 'ANALYZE has locked the table');
cmp_ok(ask($reader, q(SET lock_timeout = '5s'; SELECT snowid_watermark('parts'))), '>', 0, 'ANALYZE is not waited for');
ask($other, 'ROLLBACK');

close_session($writer, $reader, $other);
done_testing();
