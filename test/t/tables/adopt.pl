# A table is adopted while sessions insert into it: none of them is told of an error, no row is lost, no ID
# comes twice, and those of after the adoption are above those of before. What waits for a lock gives up when
# it is told to, and has changed nothing. What others have committed counts, also while it waits; where a snapshot
# would hide that, it refuses. That IDs come above the keys survives a crash.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('adopt');
start_server($node);
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION snowid;
CREATE TABLE stopped (name text);
-- Inserts a row after another, each in a transaction of its own, until it is told to stop.
CREATE PROCEDURE fill(name text, who int) LANGUAGE plpgsql AS $$
BEGIN
  FOR n IN 1 .. 1000000 LOOP
    EXECUTE format('INSERT INTO %I (who, n) VALUES ($1, $2)', name) USING who, n;
    COMMIT;
    EXIT WHEN n % 50 = 0 AND EXISTS (SELECT FROM stopped s WHERE s.name = fill.name);
  END LOOP;
END $$;
-- The same with a plan that is kept.
CREATE PROCEDURE fill_serial(who int) LANGUAGE plpgsql AS $$
BEGIN
  FOR n IN 1 .. 1000000 LOOP
    INSERT INTO serial (who, n) VALUES (who, n);
    COMMIT;
    EXIT WHEN n % 50 = 0 AND EXISTS (SELECT FROM stopped s WHERE s.name = 'serial');
  END LOOP;
END $$;
CREATE SEQUENCE table_id_seq;
CREATE FUNCTION next_id(OUT result bigint) LANGUAGE plpgsql AS $$
DECLARE
  our_epoch bigint := 1314220021721;
  seq_id bigint;
  now_millis bigint;
  shard_id int := 5;
BEGIN
  -- Without a lock it repeats where a session is held up between the two, and others draw 1,024 times meanwhile.
  PERFORM pg_advisory_lock(1);
  SELECT nextval('table_id_seq') % 1024 INTO seq_id;
  SELECT floor(extract(epoch FROM clock_timestamp()) * 1000) INTO now_millis;
  PERFORM pg_advisory_unlock(1);
  result := (now_millis - our_epoch) << 23;
  result := result | (shard_id << 10);
  result := result | (seq_id);
END $$;
CREATE TABLE serial (id bigserial PRIMARY KEY, who int, n int);
CREATE TABLE identity (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, who int, n int);
CREATE TABLE instagram (id bigint PRIMARY KEY DEFAULT next_id(), who int, n int);
CREATE TABLE parts (id bigserial, who int, n int, PRIMARY KEY (id, who)) PARTITION BY LIST (who);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1, 2);
CREATE TABLE parts_3 PARTITION OF parts FOR VALUES IN (3, 4);
SQL

# Adopts a table in whose column four sessions insert meanwhile, with a shard or without.
sub check_load
{
    my ($table, $shard) = @_;
    my $adopting = open_session($node);
    my @filling = map { open_session($node) } 1 .. 4;
    my $who = 0;
    foreach my $session (@filling)
    {
        $who++;
        start_asking($session, $table eq 'serial' ? "CALL fill_serial($who)" : "CALL fill('$table', $who)");
    }
    my $rows = sub { $node->safe_psql('postgres', "SELECT count(*) FROM $table WHERE $_[0]") };
    wait_for(sub { $rows->('true') > 500 }, 'rows before');
    is(ask($adopting, "SELECT snowid.adopt('$table', 'id'" . ($shard ? ", $shard)" : ')')),
        $shard ? "public.snowid_next(($shard)::bigint)" : 'public.snowid_next()', "$table: adopted");
    # What is committed by now, and what follows.
    my $since = $node->safe_psql('postgres', "SELECT max(id) FROM $table");
    wait_for(sub { $rows->("id > $since") > 500 }, 'rows after');
    $node->safe_psql('postgres', "INSERT INTO stopped VALUES ('$table')");
    is(answer($_), '', "$table: a session had no error") foreach @filling;
    close_session(@filling, $adopting);
    # Each session's rows are all there, and in order; save that Instagram's function has its sequence begin anew
    # within a millisecond.
    my $unordered = 'id <= before';
    $unordered .= " AND (before > $since OR snowid_timestamp(id) <> snowid_timestamp(before))" if $table eq 'instagram';
    is($node->safe_psql('postgres', <<"SQL"), '0|0|0|4', "$table: no row is lost, none has another's ID, all are in order");
SELECT count(*) FILTER (WHERE n <> place), count(*) - count(DISTINCT id), count(*) FILTER (WHERE $unordered),
       count(DISTINCT who)
  FROM (SELECT *, row_number() OVER w AS place, lag(id, 1, 0::bigint) OVER w AS before
          FROM $table WINDOW w AS (PARTITION BY who ORDER BY n)) s
SQL
    is($node->safe_psql('postgres', <<"SQL"), 't|0', "$table: its sequence is gone, and so is the identity");
SELECT pg_get_serial_sequence('$table', 'id') IS NULL, count(*) FROM pg_attribute
 WHERE attrelid = '$table'::regclass AND attidentity <> ''
SQL
    return;
}
check_load('serial');
check_load('identity', 3);
check_load('instagram', 5);
check_load('parts');

# Who waits for a lock gives up when it should, and nobody else is worse off for it.
$node->safe_psql('postgres', 'CREATE TABLE busy (id bigserial PRIMARY KEY, n int)');
my ($writer, $reader) = map { open_session($node) } 1 .. 2;
ask($writer, 'BEGIN; INSERT INTO busy (n) VALUES (1)');
is(attempt($node, q(SET lock_timeout = '50ms'; SELECT snowid.adopt('busy', 'id'))), 'ERROR 55P03', 'lock_timeout: given up');
is(ask($writer, 'INSERT INTO busy (n) VALUES (2) RETURNING id; COMMIT'), '2', 'lock_timeout: others go on as before');
# A reader alone holds it up, too; but no longer than until its transaction ends.
ask($reader, 'BEGIN; SELECT count(*) FROM busy');
my $adopting = open_session($node);
backend_of($adopting);
start_asking($adopting, q(SELECT snowid.adopt('busy', 'id', 9)));
wait_until_waiting($node, $adopting, 'Lock');
ask($reader, 'COMMIT');
is(answer($adopting), 'public.snowid_next((9)::bigint)', 'a lock that was waited for');
# Said again it asks for no lock that a writer has.
ask($writer, 'BEGIN; INSERT INTO busy (n) VALUES (3)');
is(attempt($node, q(SET lock_timeout = '50ms'; SELECT snowid.adopt('busy', 'id', 9))), 'public.snowid_next((9)::bigint)',
    'nothing to do: no lock is waited for');
# Nor does what is refused.
is(attempt($node, q(SET lock_timeout = '50ms'; SELECT snowid.adopt('busy', 'n'))), 'ERROR 42804', 'refused: no lock is waited for');
is(attempt($node, q(CREATE ROLE nobody; SET ROLE nobody; SET lock_timeout = '50ms'; SELECT snowid.adopt('busy', 'id', 8))),
    'ERROR 42501', 'of another: no lock is waited for');
ask($writer, 'COMMIT');

# Two that adopt it at once: one changes it, the other is told that nothing is left to do, though it had found
# something before it got the lock. (Whoever has read the table before goes first.)
my $other = open_session($node);
backend_of($other);
ask($other, 'BEGIN; SELECT count(*) FROM busy');
ask($writer, 'BEGIN; INSERT INTO busy (n) VALUES (4)');
foreach my $session ($adopting, $other)
{
    start_asking($session, q(SELECT snowid.adopt('busy', 'id', 10)));
    wait_until_waiting($node, $session, 'Lock');
}
ask($writer, 'COMMIT');
is(answer($other), 'public.snowid_next((10)::bigint)', 'two at once: the first');
is($other->{err}, '', 'two at once: the first changes it');
ask($other, 'COMMIT');
is(answer($adopting), 'public.snowid_next((10)::bigint)', 'two at once: the second');
like($adopting->{err}, qr/has this default already/, 'two at once: the second finds it done');
close_session($other);

# A key that comes while it waits for the lock.
$node->safe_psql('postgres', 'DROP TABLE busy; CREATE TABLE busy (id bigserial PRIMARY KEY, n int)');
# Less than max_lead ahead, and not passed by the clock before the next ID: it stands.
ask($writer, 'SET snowid.max_lead = 100000; BEGIN;'
      . " INSERT INTO busy VALUES (snowid_encode(clock_timestamp() + interval '90 s', 9, 1000))");
ask($adopting, 'SET snowid.max_lead = 100000');
start_asking($adopting, q(SELECT snowid.adopt('busy', 'id', 9)));
wait_until_waiting($node, $adopting, 'Lock');
ask($writer, 'COMMIT');
is(answer($adopting), 'public.snowid_next((9)::bigint)', 'adopted');
is(ask($adopting, 'INSERT INTO busy (n) VALUES (1)'), '', 'a row');
is($node->safe_psql('postgres', 'SELECT array_agg(n ORDER BY id) FROM busy'), '{NULL,1}', 'above a key that came while it waited');

# A child that comes while it waits is locked before keys are looked at: nobody writes to it afterwards. An index that is tried
# has it stand still between the look and the change.
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
start_asking($adopting, q(SELECT snowid.adopt('grown', 'id', 9)));
wait_until_waiting($node, $adopting, 'Lock');
ask($writer, 'BEGIN; SELECT pg_advisory_xact_lock(1)');
ask($reader, 'CREATE TABLE grown_child () INHERITS (grown); COMMIT');
wait_for_waiting($node, 1, 'advisory', 'snowid.adopt');
is(attempt($node, q(SET lock_timeout = '100ms'; INSERT INTO grown_child VALUES (snowid_encode(clock_timestamp() + interval '80 s', 9, 0)))),
    'ERROR 55P03', 'nobody writes to a child that has come while it waited');
ask($writer, 'COMMIT');
is(answer($adopting), 'public.snowid_next((9)::bigint)', 'adopted with that child');
ask($adopting, 'RESET stand.still; RESET lock_timeout; RESET deadlock_timeout');

# Who waits holds up nobody for long: he gives way in turns, though his patience lasts.
ask($reader, 'BEGIN; SELECT count(*) FROM busy');
start_asking($adopting, q(SET lock_timeout = '5min'; SELECT snowid.adopt('busy', 'id', 11)));
wait_until_waiting($node, $adopting, 'Lock');
is(ask($writer, 'INSERT INTO busy (n) VALUES (2) RETURNING n'), '2', 'a client goes on beside one who waits');
is(is_answered($adopting), '', 'who waits still');
ask($reader, 'COMMIT');
is(answer($adopting), 'public.snowid_next((11)::bigint)', 'and gets it');
is(ask($adopting, 'SHOW lock_timeout'), '5min', 'lock_timeout is what it was');

# A serial's sequence that somebody keeps while it waits for that: the table owns it no more.
ask($writer, 'CREATE TABLE kept (id serial8 PRIMARY KEY, n int)');
ask($writer, 'BEGIN; ALTER SEQUENCE kept_id_seq OWNED BY NONE');
start_asking($adopting, q(SET deadlock_timeout = '10min'; SELECT snowid.adopt('kept', 'id', 12)));
wait_until_waiting($node, $adopting, 'Lock');
ask($writer, 'COMMIT');
is(answer($adopting), 'public.snowid_next((12)::bigint)', 'a table whose sequence somebody keeps is adopted');
like($adopting->{err}, qr/NOTICE:.*sequence public.kept_id_seq is left/, 'who calls it is told');
is(ask($writer, q(SELECT nextval('kept_id_seq'))), '1', 'the sequence is left');
ask($writer, 'CREATE TABLE unkept (id serial8 PRIMARY KEY, n int)');
is(ask($adopting, q(SELECT snowid.adopt('unkept', 'id', 12))), 'public.snowid_next((12)::bigint)', 'adopted');
is(ask($writer, q(SELECT to_regclass('unkept_id_seq') IS NULL)), 't', 'any other is dropped');
ask($adopting, 'RESET deadlock_timeout');

close_session($writer, $reader, $adopting);
# What others draw from by the database's setting goes on above the keys, whatever this session has set.
$node->safe_psql('postgres', 'ALTER DATABASE postgres SET snowid.shard = 9');
$node->safe_psql('postgres', <<'SQL');
SET snowid.max_lead = '2h';
CREATE TABLE others (id bigint PRIMARY KEY, n int);
INSERT INTO others VALUES (snowid_encode(now() + interval '30 min', 9, 5), 0);
SET snowid.shard = 3;
SELECT snowid.adopt('others', 'id');
SQL
is($node->safe_psql('postgres', q(SET snowid.max_lead = '2h'; INSERT INTO others (n) VALUES (1)
  RETURNING snowid_shard(id), id > (SELECT id FROM others WHERE n = 0))), '9|t', 'others go on above');
# What roles have set for themselves, in this database or in all, is named and moves nothing: any role could set anything,
# and have everybody's call fail.
$node->safe_psql('postgres', <<'SQL');
ALTER DATABASE postgres RESET snowid.shard;
CREATE ROLE here LOGIN;
CREATE ROLE everywhere LOGIN;
CREATE ROLE boss LOGIN SUPERUSER;
CREATE ROLE wrong;
ALTER ROLE here IN DATABASE postgres SET snowid.shard = 21;
ALTER ROLE everywhere SET snowid.shard = 22;
ALTER ROLE boss SET snowid.shard = 23;
ALTER ROLE wrong SET snowid.shard = 'many';
CREATE ROLE mallory LOGIN;
SET ROLE mallory;
-- A parameter is a role's to set once its library is loaded.
SELECT snowid_shard(0);
ALTER ROLE mallory SET snowid.shard = '999999';
RESET ROLE;
ALTER ROLE ALL IN DATABASE postgres SET snowid.max_lead = '2h';
CREATE TABLE roles (id bigint PRIMARY KEY, n int);
GRANT SELECT, INSERT ON roles TO PUBLIC;
SQL
$node->safe_psql('postgres', 'INSERT INTO roles VALUES (snowid_encode(now() + interval \'30 min\', 9, 5), 0)');
my ($status, $out, $err) = $node->psql('postgres', q(SELECT snowid.adopt('roles', 'id')), extra_params => [ '-U', 'boss' ]);
is($out, 'public.snowid_next()', 'adopted, whatever roles have set');
like($err, qr/NOTICE:  roles have .*\nDETAIL:  These are: boss: 23, everywhere: 22, here in this database: 21, mallory: 999999, wrong: many\.\nHINT: /,
    'their settings are named');
sub row_of { return $node->safe_psql('postgres', 'INSERT INTO roles (n) VALUES (1) RETURNING snowid_shard(id), id > (SELECT id FROM roles WHERE n = 0)',
    extra_params => [ '-U', $_[0] ]) }
is(row_of('boss'), '23|t', 'the session goes on above');
is(row_of('postgres'), '0|t', 'who has no setting goes on above');
# As the hint says.
foreach (21, 22)
{
    $node->safe_psql('postgres', "SELECT snowid.advance_shard(snowid_encode(snowid_timestamp(id), $_, 1023)) FROM roles WHERE n = 0");
}
is(row_of('here'), '21|t', 'a role with a setting goes on above once its shard is moved');
is(row_of('everywhere'), '22|t', 'so does one whose setting is for all databases');

# That IDs come above the keys that a table had outlives the server, also where its clock stands still below those keys,
# and nothing but the adoption has ever been written.
$node->safe_psql('postgres', 'CREATE DATABASE durable');
# Keys are further ahead than the ceiling comes by drawing: only moving a shard on covers them.
$node->safe_psql('postgres', q(LOAD 'snowid'; ALTER DATABASE durable SET snowid.max_lead = '1min'));
stop_clock(int(time) + 3600, $node);
sub durably { return attempt($node, $_[0], dbname => 'durable') }
$node->safe_psql('durable', <<'SQL');
CREATE EXTENSION snowid;
CREATE TABLE photos (id bigserial PRIMARY KEY, n int);
INSERT INTO photos VALUES (snowid_encode(clock_timestamp() + interval '30 s', 7, 1000), 0);
SQL
is(durably(q(SELECT snowid.adopt('photos', 'id', 7))), 'public.snowid_next((7)::bigint)', 'adopted');
my $greatest = $node->safe_psql('durable', 'SELECT max(id) FROM photos');
is($node->safe_psql('durable', "SELECT last_value >= extract(epoch FROM snowid_timestamp($greatest)) * 1000 FROM snowid_internal.ceiling"),
    't', 'the ceiling covers the key');
crash($node, 'kill');
start_server($node);
# Another session's, with the clock where it was: the next unit of time is within max_lead.
my $id = durably('INSERT INTO photos (n) VALUES (1) RETURNING id');
cmp_ok($id, '>', $greatest, 'after a crash: above the key');

# The tick itself: without a crash the very next ID follows, in the key's own time.
$node->safe_psql('durable', <<'SQL');
CREATE TABLE others (id bigserial PRIMARY KEY, n int);
INSERT INTO others VALUES (snowid_encode(clock_timestamp() + interval '40 s', 8, 1000), 0);
SQL
is(durably(q(SELECT snowid.adopt('others', 'id', 8))), 'public.snowid_next((8)::bigint)', 'adopted while the server runs');
is(durably('INSERT INTO others (n) VALUES (1) RETURNING id - (SELECT min(id) FROM others) BETWEEN 1 AND 9'), 't',
    'the next ticks, of which adopting has drawn some');
# That of a greater shard in the same unit, which only the next unit is above.
$node->safe_psql('durable', q(INSERT INTO others VALUES (snowid_encode(clock_timestamp() + interval '41 s', 9, 3), 0)));
$greatest = $node->safe_psql('durable', 'SELECT max(id) FROM others');
is(durably(q(ALTER TABLE others ALTER id DROP DEFAULT; SELECT snowid.adopt('others', 'id', 8))),
    'public.snowid_next((8)::bigint)', 'adopted again');
is(durably("INSERT INTO others (n) VALUES (1) RETURNING snowid_timestamp(id) = snowid_timestamp($greatest) + interval '1 ms'"),
    't', 'in the next unit');

# Further ahead than max_lead: refused, and nothing is moved.
$node->safe_psql('durable', q(INSERT INTO others VALUES (snowid_encode(clock_timestamp() + interval '60001 ms', 9, 3), 0)));
is(durably(q(SELECT snowid.adopt('others', 'id', 6))), 'ERROR 55000', 'further ahead than max_lead: refused');
is(durably(q(SELECT snowid_timestamp(snowid_next(6)) < clock_timestamp() + interval '39 s')), 't', 'and its shard is where it was');

# What a shard is moved ahead to is as durable where nothing was drawn since.
my $moved = durably(q(SELECT snowid_encode(clock_timestamp() + interval '50 s', 12, 5)));
is(durably("SELECT snowid.advance_shard($moved)"), '', 'moved ahead');
crash($node, 'kill');
start_server($node);
cmp_ok(durably('SELECT snowid_next(12)'), '>', $moved, 'moved ahead, after a crash: above that');
check_log($node);
$node->stop;
done_testing();
