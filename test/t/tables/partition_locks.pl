# Who makes or drops partitions gives way to others: no client waits for long behind him, and none is ended by a deadlock,
# whatever foreign keys there are. He gives up when lock_timeout says so, and has changed nothing then.
#
# Runs in make test-all: it starts many sessions.

use strict;
use warnings;

use Snowid;
use SnowidPartitions;
use Test::More;

my $key = partition_key();
my $node = new_server('partition_locks');
$node->append_conf('postgresql.conf', "timezone = 'UTC'");
$node->start;

# It gives up when lock_timeout says so, all waits together, and has changed nothing.
$node->safe_psql('postgres', <<"SQL");
CREATE EXTENSION snowid;
CREATE TABLE past (id $key->{column} DEFAULT $key->{next}) PARTITION BY RANGE (id);
CREATE TABLE past_0 PARTITION OF past FOR VALUES FROM (MINVALUE) TO ($key->{first_at}('2016-01-01Z'));
SELECT snowid.create_partitions('past', '1 month', '2016-01-31Z');
SQL
my $reader = open_session($node);
ask($reader, 'BEGIN; SELECT FROM past');
foreach my $call (q(snowid.drop_partitions('past', '2016-01-01Z')), q(snowid.create_partitions('past', '1 month', '2016-02-01Z')))
{
    is(attempt($node, "SET lock_timeout = '100ms'; SELECT $call"), 'ERROR 55P03', "lock_timeout ends the wait of $call");
}
is($node->safe_psql('postgres', q(SELECT count(*) FROM pg_inherits WHERE inhparent = 'past'::regclass)), '2', 'nothing is changed');
ask($reader, 'COMMIT');
# It waits for nothing where a partition that is to go belongs to another role.
$node->safe_psql('postgres', 'CREATE ROLE other; ALTER TABLE past_0 OWNER TO other; CREATE ROLE owner; ALTER TABLE past OWNER TO owner');
ask($reader, 'BEGIN; SELECT FROM past');
foreach my $verb ('drop', 'detach')
{
    is(attempt($node, qq(SET lock_timeout = '100ms'; SELECT snowid.${verb}_partitions('past', '2016-01-01Z'))),
        'ERROR 42501', "$verb: another role's is refused before anything is locked");
}
ask($reader, 'COMMIT');
$node->safe_psql('postgres', 'ALTER TABLE past OWNER TO CURRENT_USER; ALTER TABLE past_0 OWNER TO CURRENT_USER');
is(attempt($node, q(SET lock_timeout = '100ms'; SELECT snowid.drop_partitions('past', '2016-01-01Z'))), 'public.past_0', 'it goes when it can');

# Whoever makes partitions waits for readers and writers as PostgreSQL's own statement does, but nobody for him for long:
# he gives way in turns, and does it when they are done.
my ($writer, $maker_of_past) = map { open_session($node) } 1 .. 2;
backend_of($maker_of_past);
foreach my $call (q(snowid.create_partitions('past', '1 month', '2016-02-01Z')), q(snowid.drop_partitions('past', '2016-02-01Z')))
{
    ask($reader, 'BEGIN; SELECT FROM past');
    start_asking($maker_of_past, "SELECT $call");
    wait_until_waiting($node, $maker_of_past, 'Lock');
    is(ask($writer, qq(INSERT INTO past VALUES ($key->{first_at}('2016-01-05Z')); SELECT count(*) > 0 FROM past)), 't', "written and read beside $call");
    ask($reader, 'COMMIT');
    like(answer($maker_of_past), qr/^(public\.)?past_2016/, "$call when they are done");
    is(ask($maker_of_past, 'SHOW lock_timeout'), '0', 'lock_timeout is what it was');
}

# Clients that write to a table and to one that it refers to, in either order, beside one that makes and drops
# partitions all the time, with a default partition and foreign keys on both sides: no deadlock ends one of them.
# (Whoever waits for a lock while he holds others' looks for one after deadlock_timeout.)
$node->safe_psql('postgres', <<"SQL");
CREATE TABLE users (id int PRIMARY KEY, n int NOT NULL DEFAULT 0);
INSERT INTO users SELECT generate_series(1, 20);
CREATE TABLE posts (id $key->{column} PRIMARY KEY DEFAULT $key->{next}, user_id int REFERENCES users) PARTITION BY RANGE (id);
CREATE TABLE posts_0 PARTITION OF posts FOR VALUES FROM (MINVALUE) TO ($key->{first_at}('2016-01-01Z'));
CREATE TABLE posts_rest PARTITION OF posts DEFAULT;
CREATE TABLE answers (post_id $key->{type} REFERENCES posts);
CREATE PROCEDURE keep_changing() LANGUAGE plpgsql AS \$\$
DECLARE
  month timestamptz := '2016-01-15Z';
BEGIN
  FOR n IN 1 .. 12 LOOP
    PERFORM snowid.create_partitions('posts', '1 month', month);
    COMMIT;
    PERFORM snowid.drop_partitions('posts', month - interval '1 month');
    COMMIT;
    month := month + interval '1 month';
  END LOOP;
END \$\$;
SQL
$node->append_conf('postgresql.conf', "deadlock_timeout = '200ms'");
$node->reload;
my $changer = open_session($node);
backend_of($changer);
ask($changer, q(SET lock_timeout = '1min'));
start_asking($changer, 'CALL keep_changing()');
my %orders = (
    'referenced_first' => <<'SQL',
\set n random(1, 20)
BEGIN;
UPDATE users SET n = n + 1 WHERE id = :n;
SELECT pg_sleep(0.02);
INSERT INTO posts (user_id) VALUES (:n);
COMMIT;
SQL
    'referenced_last' => <<'SQL');
\set n random(1, 20)
BEGIN;
SELECT count(*) FROM posts WHERE user_id = :n;
SELECT pg_sleep(0.02);
UPDATE users SET n = n + 1 WHERE id = :n;
COMMIT;
SQL
my $rounds = 0;
# As long as partitions are changed, and that comes to an end under load.
my $is_idle = sub { $node->safe_psql('postgres', "SELECT state FROM pg_stat_activity WHERE pid = $changer->{backend}") eq 'idle' };
while (!$is_idle->())
{
    $rounds++;
    $node->pgbench('-n -c 6 -j 2 -t 10 -M prepared', 0, [qr{actually processed: 60/60}], [qr/^(?!.*ERROR)/s],
        "clients, round $rounds", { map { ("${_}_$rounds" => $orders{$_}) } keys %orders });
}
is(answer($changer), '', 'partitions are made and dropped beside them');
is($node->safe_psql('postgres', 'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()'), '0', 'no deadlock');
is($node->safe_psql('postgres', q(SELECT count(*) FROM pg_inherits WHERE inhparent = 'posts'::regclass)), '3', 'all are made, and dropped');
# A partition whose DETACH CONCURRENTLY was interrupted is left alone: nobody drops it, its range stays taken, and it does
# not count as one that stays.
$node->safe_psql('postgres', <<"SQL");
CREATE TABLE leaving (id $key->{column} DEFAULT $key->{next}) PARTITION BY RANGE (id);
CREATE TABLE leaving_0 PARTITION OF leaving FOR VALUES FROM (MINVALUE) TO ($key->{first_at}('2016-01-01Z'));
SELECT snowid.create_partitions('leaving', '1 month', '2016-02-15Z');
SQL
ask($reader, 'BEGIN; SELECT FROM leaving');
start_asking($maker_of_past, 'ALTER TABLE leaving DETACH PARTITION leaving_2016_02 CONCURRENTLY');
wait_until_waiting($node, $maker_of_past, 'Lock');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($maker_of_past->{backend})");
is(answer($maker_of_past), 'ERROR 57014', 'detaching is interrupted');
ask($reader, 'COMMIT');
is(ask($writer, q(SELECT inhrelid::regclass FROM pg_inherits WHERE inhdetachpending)), 'leaving_2016_02', 'and is pending');
is(ask($writer, q(SELECT snowid.create_partitions('leaving', '1 month', '2016-03-15Z'))), 'leaving_2016_03', 'the next one is made beside it');
is(ask($writer, q(SELECT snowid.drop_partitions('leaving', '2016-03-01Z', max_partitions => 1))), 'public.leaving_0', 'others go');
is(ask($writer, q(SELECT snowid.detach_partitions('leaving', '2016-03-01Z'))), 'leaving_2016_01', 'it is passed over');
is(ask($writer, "SELECT snowid.${_}_partitions('leaving', '2016-04-01Z')"), 'ERROR 55000', "$_: all would go") foreach 'drop', 'detach';
is(ask($writer, 'ALTER TABLE leaving DETACH PARTITION leaving_2016_02 FINALIZE; SELECT count(*) FROM leaving_2016_02'), '0', 'it can be ended');

# Who waits for the lock goes by what is there when he has it: which partitions there are, what they are from and to, and the
# layout that the default names, or that UUIDs are of version 7. While he waits, another session puts the table on another
# layout, whose IDs of today are old ones by the first, or lets in UUIDs of version 4; or it moves an old partition to today,
# and detaches one that it wants to keep.
$node->safe_psql('postgres', <<"SQL");
CREATE FUNCTION add_day(days int, layout snowid_layout) RETURNS void LANGUAGE plpgsql AS \$\$
DECLARE
  day CONSTANT timestamptz := date_trunc('day', now()) + days * interval '1 day';
BEGIN
  EXECUTE format('CREATE TABLE changed_%s PARTITION OF changed FOR VALUES FROM (%s) TO (%s)', days, snowid_first_at(day, layout),
    CASE WHEN days = 2 THEN 'MAXVALUE' ELSE snowid_first_at(day + interval '1 day', layout)::text END);
END \$\$;
CREATE FUNCTION move_to_today() RETURNS void LANGUAGE plpgsql AS \$\$
BEGIN
  ALTER TABLE changed DETACH PARTITION changed_old;
  TRUNCATE changed_old;
  ALTER TABLE changed DETACH PARTITION changed_kept;
  EXECUTE format('ALTER TABLE changed ATTACH PARTITION changed_old FOR VALUES FROM (%L) TO (%L)', $key->{first_at}(date_trunc('day', now())),
    $key->{first_at}('2040-01-01Z'));
END \$\$;
SQL
# What it does, with a row of today, and what the one who has waited answers.
my %changes = (bounds => [ 'SELECT FROM move_to_today(); INSERT INTO changed DEFAULT VALUES', '' ]);
$changes{layout} = [
    q(ALTER TABLE changed ALTER id SET DEFAULT snowid_next(0, 'twitter'); DROP TABLE changed_old, changed_kept, changed_rest;
        SELECT FROM generate_series(0, 2) AS days, add_day(days, 'twitter'); INSERT INTO changed DEFAULT VALUES), '' ]
  if $key->{type} eq 'bigint';
$changes{version} = [ q(ALTER TABLE changed DROP CONSTRAINT is_version_7; INSERT INTO changed VALUES ('00c5d4a8-7a1e-4b2f-9c3d-5e6f708192a3')), 'ERROR 42P17' ]
  if $key->{type} eq 'uuid';
sub begin_change
{
    my ($call) = @_;
    $node->safe_psql('postgres', <<"SQL");
SET client_min_messages = warning;
DROP TABLE IF EXISTS changed, changed_old, changed_kept;
CREATE TABLE changed (id $key->{column} DEFAULT $key->{next}) PARTITION BY RANGE (id);
CREATE TABLE changed_old PARTITION OF changed FOR VALUES FROM (MINVALUE) TO ($key->{first_at}('2016-01-01Z'));
CREATE TABLE changed_kept PARTITION OF changed FOR VALUES FROM ($key->{first_at}('2016-01-01Z')) TO ($key->{first_at}('2016-02-01Z'));
CREATE TABLE changed_rest PARTITION OF changed FOR VALUES FROM ($key->{first_at}('2040-01-01Z')) TO (MAXVALUE);
SQL
    ask($reader, 'BEGIN; LOCK TABLE changed IN SHARE MODE');
    start_asking($maker_of_past, $call);
    wait_until_waiting($node, $maker_of_past, 'Lock');
    return;
}
foreach my $change (sort keys %changes)
{
    foreach my $verb ('drop', 'detach')
    {
        my $name = "$verb, $change changed meanwhile";
        begin_change("SELECT snowid.${verb}_partitions('changed', now() - interval '1 year')");
        is(ask($reader, "$changes{$change}[0]; COMMIT"), '', "$name: with a row of today");
        is(answer($maker_of_past), $changes{$change}[1], "$name: nothing goes any more");
        is(ask($reader, 'SELECT count(*) FROM changed'), '1', "$name: no row of today is lost");
        is(ask($reader, q(SELECT count(*) FROM changed_kept)), '0', "$name: what was to be kept is there") if $change eq 'bounds';
    }
}
if ($key->{type} eq 'bigint')
{
    begin_change(q(SELECT snowid.create_partitions('changed', '1 month', now())));
    is(ask($reader, q(ALTER TABLE changed ALTER id SET DEFAULT snowid_next(0, 'twitter'); DROP TABLE changed_old, changed_kept, changed_rest; COMMIT)),
        '', 'create, layout changed meanwhile');
    like(answer($maker_of_past), qr/^changed_\d+_\d+$/, 'create, layout changed meanwhile: made');
    is(ask($reader, q(SELECT layout, range_start = date_trunc('month', now()), range_end = date_trunc('month', now()) + interval '1 month'
      FROM snowid.partitions WHERE parent = 'changed'::regclass)), 'twitter|t|t', 'create, layout changed meanwhile: by the new one');
}

# A table is locked, and not another one that gets its name meanwhile.
begin_change(q(BEGIN; SELECT snowid.drop_partitions('changed', '2016-01-01Z')));
is(ask($reader, 'ALTER TABLE changed RENAME TO renamed; CREATE TABLE changed (id bigint); COMMIT'), '', 'another table gets the name');
is(answer($maker_of_past), 'public.changed_old', 'it goes all the same');
is(ask($reader, qq(SELECT string_agg(relation::regclass::text, ' ') FROM pg_locks WHERE pid = $maker_of_past->{backend}
  AND relation IN ('changed'::regclass, 'renamed'::regclass) AND mode = 'AccessExclusiveLock')), 'renamed', 'and the other table is not locked');
ask($maker_of_past, 'COMMIT');
$node->safe_psql('postgres', 'DROP TABLE changed, renamed');

# Two callers at once, both held where they wait for their locks: what each of them has seen before is stale for the one
# who is second. Together they make, or remove, each partition once, and neither meets an error.
my @callers = map { open_session($node) } 1 .. 2;
foreach my $caller (@callers)
{
    backend_of($caller);
    # One turn is all, so that a deadlock is an error here.
    ask($caller, q(SET deadlock_timeout = '2min'; SET lock_timeout = '1min'));
}
my $until_may = q(create_partitions('held.busy', '1 month', '2016-05-15Z'));
my $until_july = q(create_partitions('held.busy', '1 month', '2016-07-15Z'));
my $before_february = q(drop_partitions('held.busy', '2016-02-01Z'));
my $before_march = q(drop_partitions('held.busy', '2016-03-01Z'));
my $two_of_them = q(drop_partitions('held.busy', '2016-03-01Z', max_partitions => 2));
my $two_detached = q(detach_partitions('held.busy', '2016-03-01Z', max_partitions => 2));
my @pairs = (
    # What is called, what both do together, what is there afterwards.
    [$until_may, $until_july, '2016_04 2016_05 2016_06 2016_07', '0 2016_01 2016_02 2016_03 2016_04 2016_05 2016_06 2016_07'],
    [$until_may, $before_march, '0 2016_01 2016_02 2016_04 2016_05', '2016_03 2016_04 2016_05'],
    [$before_february, $before_march, '0 2016_01 2016_02', '2016_03'],
    [$two_detached, $two_of_them, '0 2016_01 2016_02', '2016_03']);
# What the third session holds: the table, where nothing refers to it; or a table that it refers to, where something does.
# Behind the first the second caller waits before it has looked; behind the other it has looked, and that is stale.
my %holds = (
    'held.busy' => '',
    'held.users' => "CREATE TABLE held.answers (busy_id $key->{type} REFERENCES held.busy)");
foreach my $held (sort keys %holds)
{
    foreach my $pair (map { my ($one, $other, @rest) = @$_; ([$one, $other, @rest], [$other, $one, @rest]) } @pairs)
    {
        my ($first, $second, $done, $there) = @$pair;
        my $name = "$first, $second behind $held";
        $node->safe_psql('postgres', <<"SQL");
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS held CASCADE;
CREATE SCHEMA held;
CREATE TABLE held.users (id int PRIMARY KEY);
CREATE TABLE held.busy (id $key->{column} PRIMARY KEY DEFAULT $key->{next}, user_id int REFERENCES held.users) PARTITION BY RANGE (id);
CREATE TABLE held.busy_0 PARTITION OF held.busy FOR VALUES FROM (MINVALUE) TO ($key->{first_at}('2016-01-01Z'));
CREATE TABLE held.busy_rest PARTITION OF held.busy DEFAULT;
SELECT snowid.create_partitions('held.busy', '1 month', '2016-03-15Z');
INSERT INTO held.busy SELECT $key->{first_at}(day) FROM unnest('{2016-03-05Z, 2016-03-06Z, 2020-01-01Z}'::timestamptz[]) AS day;
$holds{$held}
SQL
        ask($reader, "BEGIN; LOCK TABLE $held IN ROW EXCLUSIVE MODE");
        start_asking($callers[0], "SELECT snowid.$first");
        wait_until_waiting($node, $callers[0], 'Lock');
        start_asking($callers[1], "SELECT snowid.$second");
        wait_until_waiting($node, $callers[1], 'Lock');
        ask($reader, 'COMMIT');
        my @done = map { s/^held\.busy_//r } map { split /\n/, answer($_) } @callers;
        is(join(' ', sort @done), $done, "$name: each once");
        is($node->safe_psql('postgres', q(SELECT string_agg(substr(relname, 6), ' ' ORDER BY relname) FROM pg_inherits
              JOIN pg_class ON oid = inhrelid WHERE inhparent = 'held.busy'::regclass AND relname <> 'busy_rest')), $there, "$name: what is there");
        is($node->safe_psql('postgres', 'SELECT count(*) FROM held.busy'), '3', "$name: no row is lost");
    }
}

# What its owner may not lock, such as a partition that is read-only for him, too, is locked by the statement that removes
# it, which has its name. Where another one gets the name meanwhile, nothing goes.
$node->safe_psql('postgres', 'GRANT CREATE ON SCHEMA public TO owner');
foreach my $referred ('', "CREATE TABLE renamed_answers (id $key->{type} REFERENCES renamed)")
{
    foreach my $verb ('drop', 'detach')
    {
        my $name = "$verb, names exchanged meanwhile" . ($referred ? ', referred to' : '');
        $node->safe_psql('postgres', <<"SQL");
SET client_min_messages = warning;
DROP TABLE IF EXISTS renamed, renamed_answers, renamed_old, renamed_today;
SET ROLE owner;
CREATE TABLE renamed (id $key->{column} PRIMARY KEY DEFAULT $key->{next}) PARTITION BY RANGE (id);
CREATE TABLE renamed_old PARTITION OF renamed FOR VALUES FROM (MINVALUE) TO ($key->{first_at}('2016-01-01Z'));
CREATE TABLE renamed_today PARTITION OF renamed FOR VALUES FROM ($key->{first_at}('2016-01-01Z')) TO ($key->{first_at}('2040-01-01Z'));
CREATE TABLE renamed_rest PARTITION OF renamed FOR VALUES FROM ($key->{first_at}('2040-01-01Z')) TO (MAXVALUE);
REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON renamed_old FROM owner;
INSERT INTO renamed DEFAULT VALUES;
$referred
SQL
        ask($callers[0], 'SET ROLE owner');
        ask($reader, 'BEGIN; ALTER TABLE renamed_old RENAME TO renamed_aside; ALTER TABLE renamed_today RENAME TO renamed_old');
        start_asking($callers[0], "SELECT snowid.${verb}_partitions('renamed', '2016-01-01Z')");
        wait_until_waiting($node, $callers[0], 'Lock');
        ask($reader, 'ALTER TABLE renamed_aside RENAME TO renamed_today; COMMIT');
        is(answer($callers[0]), 'ERROR 55000', "$name: refused");
        is($node->safe_psql('postgres', 'SELECT count(*) FROM renamed'), '1', "$name: the row of today is there");
    }
}
close_session(@callers);
close_session($reader, $writer, $maker_of_past, $changer);
check_log($node);
$node->stop;
done_testing();
