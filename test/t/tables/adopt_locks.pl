# snowid.adopt() waits for locks that others have: it gives up when it is told to, and has changed nothing; it holds up nobody for
# long; and what others have committed by the time that it has the lock counts. Where nothing is to be done, or it is refused, it
# waits for none.

use Snowid;

my $node = ready_server('adopt_locks', sql => 'CREATE ROLE nobody; CREATE TABLE busy (id bigserial PRIMARY KEY, n int)');
my ($writer, $reader, $adopting, $other) = map { open_session($node) } 1 .. 4;
sub adopted { return "public.snowid_next(($_[0])::bigint)" }

# A session adopts a table for a shard, and waits for a lock.
sub start_adopting
{
    my ($session, $table, $shard) = @_;
    start_waiting($session, "SELECT snowid.adopt('$table', 'id', $shard)");
    return;
}

ask($writer, 'BEGIN; INSERT INTO busy (n) VALUES (1)');
is(attempt($node, q(SET lock_timeout = '50ms'; SELECT snowid.adopt('busy', 'id'))), 'ERROR 55P03', 'lock_timeout: given up');
is(ask($writer, 'INSERT INTO busy (n) VALUES (2) RETURNING id; COMMIT'), '2', 'lock_timeout: others go on as before');
ask($reader, 'BEGIN; SELECT count(*) FROM busy');
start_adopting($adopting, 'busy', 9);
ask($reader, 'COMMIT');
is(answer($adopting), adopted(9), 'a lock of a reader that was waited for');

ask($writer, 'BEGIN; INSERT INTO busy (n) VALUES (3)');
foreach (
    [ 'nothing to do', q(snowid.adopt('busy', 'id', 9)), adopted(9) ],
    [ 'refused', q(snowid.adopt('busy', 'n')), 'ERROR 42804' ],
    [ 'of another', q(set_config('role', 'nobody', false); SELECT snowid.adopt('busy', 'id', 8)), 'ERROR 42501' ])
{
    my ($name, $call, $answer) = @$_;
    is(attempt($node, "SET lock_timeout = '50ms'; SELECT $call") =~ s/^nobody\n//r, $answer, "$name: no lock is waited for");
}
ask($writer, 'COMMIT');

# Two at once: one changes it, the other is told that nothing is left to do, though it had found something before it got the lock.
# (Whoever has read the table before goes first.)
ask($other, 'BEGIN; SELECT count(*) FROM busy');
ask($writer, 'BEGIN; INSERT INTO busy (n) VALUES (4)');
start_adopting($_, 'busy', 10) foreach $adopting, $other;
ask($writer, 'COMMIT');
is(answer($other) . $other->{err}, adopted(10), 'two at once: the first changes it');
ask($other, 'COMMIT');
is(answer($adopting), adopted(10), 'two at once: the second');
like($adopting->{err}, qr/already has this default/, 'two at once: the second finds it done');

# A key that comes while it waits: less than max_lead ahead, and not passed by the clock before the next ID.
$node->safe_psql('postgres', 'DROP TABLE busy; CREATE TABLE busy (id bigserial PRIMARY KEY, n int)');
ask($_, 'SET snowid.max_lead = 100000') foreach $writer, $adopting;
ask($writer, "BEGIN; INSERT INTO busy VALUES (snowid_encode(clock_timestamp() + interval '90 s', 9, 1000))");
start_adopting($adopting, 'busy', 9);
ask($writer, 'COMMIT');
is(answer($adopting), adopted(9), 'a key that came: adopted');
is(ask($adopting, 'INSERT INTO busy (n) VALUES (1); SELECT array_agg(n ORDER BY id) FROM busy'), '{NULL,1}', 'IDs are above it');

# A child that comes while it waits is locked before keys are looked at: nobody writes to it afterwards. An index that is tried has
# it stand still between the look and the change.
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION stand_still(bigint) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('stand.still', true) = 'on' THEN PERFORM pg_advisory_xact_lock(1); END IF;
  RETURN 1;
END $$;
CREATE TABLE grown (id bigint);
CREATE INDEX ON grown (id);
CREATE INDEX ON grown (stand_still(id));
SQL
ask($reader, 'BEGIN; SELECT count(*) FROM grown');
# One turn is all, however long it takes.
ask($adopting, q(SET stand.still = on; SET lock_timeout = '5min'; SET deadlock_timeout = '10min'));
start_adopting($adopting, 'grown', 9);
ask($writer, 'BEGIN; SELECT pg_advisory_xact_lock(1)');
ask($reader, 'CREATE TABLE grown_child () INHERITS (grown); COMMIT');
wait_for_waiting($node, 1, 'advisory', 'snowid.adopt');
is(attempt($node, q(SET lock_timeout = '100ms'; INSERT INTO grown_child VALUES (snowid_encode(clock_timestamp() + interval '80 s', 9, 0)))),
    'ERROR 55P03', 'nobody writes to a child that has come while it waited');
ask($writer, 'COMMIT');
is(answer($adopting), adopted(9), 'adopted with that child');

# Who waits gives way in turns, though his patience lasts.
ask($adopting, 'RESET stand.still; RESET deadlock_timeout');
ask($reader, 'BEGIN; SELECT count(*) FROM busy');
start_adopting($adopting, 'busy', 11);
is(ask($writer, 'INSERT INTO busy (n) VALUES (2) RETURNING n'), '2', 'a client goes on beside one who waits');
ok(!is_answered($adopting), 'who waits still');
ask($reader, 'COMMIT');
is(answer($adopting), adopted(11), 'and gets it');
is(ask($adopting, 'SHOW lock_timeout'), '5min', 'lock_timeout is what it was');

# A serial's sequence that somebody keeps while it waits for that: the table owns it no more. Any other is dropped.
ask($writer, 'CREATE TABLE kept (id serial8 PRIMARY KEY, n int); CREATE TABLE unkept (id serial8 PRIMARY KEY, n int)');
ask($writer, 'BEGIN; ALTER SEQUENCE kept_id_seq OWNED BY NONE');
ask($adopting, q(SET deadlock_timeout = '10min'));
start_adopting($adopting, 'kept', 12);
ask($writer, 'COMMIT');
is(answer($adopting), adopted(12), 'a table whose sequence somebody keeps is adopted');
like($adopting->{err}, qr/NOTICE:.*sequence public.kept_id_seq is left/, 'who calls it is told');
ask($adopting, q(SELECT snowid.adopt('unkept', 'id', 12)));
is(ask($writer, q(SELECT nextval('kept_id_seq'), to_regclass('unkept_id_seq') IS NULL)), '1|t', 'the sequence is left, another is dropped');
end_test($node);
