# A watermark waits for writers of partitions that are made while it is computed, that other sessions do not see yet, or that the
# writer has not come to; not for VACUUM and ANALYZE, which have the same lock.

use Snowid;

my $node = ready_server('watermark_partitions', sql => <<'SQL');
CREATE TABLE first (id bigint DEFAULT snowid_next(7), note text) PARTITION BY LIST (note);
CREATE TABLE parts (id bigint DEFAULT snowid_next(7), note text) PARTITION BY LIST (note);
CREATE TABLE parts_a PARTITION OF parts FOR VALUES IN ('a');
CREATE TABLE loaded (LIKE parts INCLUDING DEFAULTS);
CREATE TABLE parent (id bigint DEFAULT snowid_next(7));
SQL
my ($writer, $reader, $other, $detaching) = map { open_session($node) } 1 .. 4;
my $is_new = $node->pg_version >= 17;

# The reader waits for a writer until a statement of some session lets that commit.
sub waits
{
    my ($name, $session, $release) = @_;
    my $sql = "SELECT wait_event = '@{[ $is_new ? 'SnowidWatermark' : 'virtualxid' ]}' FROM pg_stat_activity WHERE pid = $reader->{backend}";
    wait_for(sub { is_answered($reader) || $node->safe_psql('postgres', $sql) eq 't' }, 'the reader to wait');
    ok(!is_answered($reader), "$name: it waits");
    ask($session, $release);
    return;
}

sub ask_watermark { my ($table) = @_; start_asking($reader, "SELECT snowid_watermark('$table')"); return }
sub covers { my ($name, $id) = @_; cmp_ok(answer($reader), '>=', $id, "$name: the row is covered"); return }

# A table has its first partition while the caller waits for the clock. Whether it has any is in a cache, which the caller has
# filled before.
ask($reader, q(SELECT snowid_watermark('first')));
set_clock(3);
ask($other, 'SELECT snowid_next(3)');
set_clock(0);
ask_watermark('first');
wait_until_waiting($node, $reader, $is_new ? 'SnowidClock' : 'Extension');
ask($other, q(CREATE TABLE first_a PARTITION OF first FOR VALUES IN ('a')));
ask($writer, 'BEGIN');
my $id = ask($writer, q(INSERT INTO first_a (note) VALUES ('a') RETURNING id));
waits('made meanwhile', $writer, 'COMMIT');
covers('made meanwhile', $id);

# The partition is made and written by one transaction.
foreach (
    [ 'parts', q(CREATE TABLE parts_b PARTITION OF parts FOR VALUES IN ('b')), q(INSERT INTO parts_b (note) VALUES ('b')) ],
    [ 'parts', q(ALTER TABLE parts ATTACH PARTITION loaded FOR VALUES IN ('c')), q(INSERT INTO loaded (note) VALUES ('c')) ],
    [ 'parent', 'CREATE TABLE child () INHERITS (parent)', 'INSERT INTO child DEFAULT VALUES' ])
{
    my ($table, $make, $insert) = @$_;
    ask($writer, "BEGIN; $make");
    $id = ask($writer, "$insert RETURNING id");
    ask_watermark($table);
    waits("not seen yet, $make", $writer, 'COMMIT');
    covers("not seen yet, $make", $id);
}

# Who writes through the parent has an ID before he has locked the partition; also while that is being detached.
foreach my $name ('not come to yet', 'not come to yet, and being detached')
{
    ask($other, 'SELECT pg_advisory_lock(1)');
    start_waiting($writer, q(INSERT INTO parts (id, note) SELECT snowid_next(7), CASE WHEN pg_advisory_xact_lock(1) IS NOT NULL THEN 'a' END RETURNING id), 'advisory');
    if ($name =~ /detached/)
    {
        start_waiting($detaching, 'ALTER TABLE parts DETACH PARTITION parts_a CONCURRENTLY');
    }
    ask_watermark('parts_a');
    waits($name, $other, 'SELECT pg_advisory_unlock(1)');
    covers($name, answer($writer));
}
is(answer($detaching), '', 'detached');

is(ask($other, q(BEGIN; ANALYZE parts; SELECT count(*) FROM pg_locks WHERE relation = 'parts'::regclass AND mode = 'ShareUpdateExclusiveLock'
  AND pid = pg_backend_pid())), '1', 'ANALYZE has locked the table');
cmp_ok(ask($reader, q(SET lock_timeout = '5s'; SELECT snowid_watermark('parts'))), '>', 0, 'and is not waited for');
end_test($node);
