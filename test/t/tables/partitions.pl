# Partitions are made while the table is in use, before they are needed, and only once; those whose time has
# passed go. Rows in the default partition stay there, also those that come at the last moment.

use strict;
use warnings;

use Snowid;
use SnowidPartitions;
use Test::More;

my $key = partition_key();
my $node = new_server('partitions');
$node->append_conf('postgresql.conf', "timezone = 'UTC'\nallow_in_place_tablespaces = on\nmax_connections = 30\n");
# Fifty minutes before noon, in the clock's own time.
my $hour = 3600;
my $noon = (int(time / 86_400) + 1) * 86_400 + 12 * $hour;
my $offset = $noon - 50 * 60 - time;
set_clock($offset, $node);
start_server($node);
$node->safe_psql('postgres', 'CREATE EXTENSION snowid');

# How many minutes of the clock are an hour is in the names of partitions: h11 is the one from 11:00 on.
sub hours
{
    my ($parent) = @_;
    my $names = $node->safe_psql('postgres',
        "SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = '$parent'::regclass ORDER BY 1");
    return join ' ', map { s/^${parent}_\d+_\d+_\d+_/h/r } split /\n/, $names;
}

# A table without partitions begins with the period that it is now. IDs have places from then on.
$node->safe_psql('postgres', "CREATE TABLE events (id $key->{column} PRIMARY KEY DEFAULT $key->{next}, who int) PARTITION BY RANGE (id)");
$node->safe_psql('postgres', q(SELECT snowid.create_partitions('events', '1 hour', now())));
is(hours('events'), 'h11', 'the first partition is the current one');

# Sessions that insert all the time, each row in a transaction of its own, or ten in one. (PostgreSQL tells a
# transaction that has the table open already of new partitions when it pleases.)
$node->safe_psql('postgres', 'CREATE TABLE ending (n int)');
my @writers = map { open_session($node) } 1 .. 3;
foreach my $n (0 .. 2)
{
    my $rows = $n < 2 ? 1 : 10;
    start_asking($writers[$n], <<"SQL");
DO \$\$ BEGIN
  LOOP
    INSERT INTO events (who) SELECT $n FROM generate_series(1, $rows);
    COMMIT;
    EXIT WHEN EXISTS (SELECT FROM ending);
    PERFORM pg_sleep(0.001);
  END LOOP;
END \$\$
SQL
}

sub wait_for_rows_of_hour
{
    wait_for(
        sub {
            $node->safe_psql('postgres',
                "SELECT count(DISTINCT who) = 3 FROM events WHERE $key->{timestamp}(id) >= date_trunc('hour', clock_timestamp())") eq 't';
        },
        'rows of that hour');
}

# Hour after hour goes by, each partition is made in the hour before it.
my $maker = open_session($node);
wait_for_rows_of_hour();
foreach my $now (12 .. 16)
{
    my $made = ask($maker, q(SELECT snowid.create_partitions('events', '1 hour', clock_timestamp() + interval '1 hour')));
    like($made, qr/^events_\d+_\d+_\d+_$now$/, "the partition of $now:00 is made in time");
    $offset += $hour;
    set_clock($offset, $node);
    wait_for_rows_of_hour();
}
$node->safe_psql('postgres', 'INSERT INTO ending VALUES (1)');
is(answer($_), '', 'a session that inserted has met no error') foreach @writers;
is($node->safe_psql('postgres', <<"SQL"), '6|t', 'there are rows in each partition, and each row is in that of its time');
SELECT count(DISTINCT tableoid), bool_and(tableoid::regclass::text = to_char($key->{timestamp}(id), '"events_"YYYY_MM_DD_HH24')) FROM events
SQL

my $other = open_session($node);
backend_of($_) foreach $maker, $other;
# Of two at once, one makes them, and the other finds them made; or makes them, where the first rolls back.
ask($maker, 'BEGIN');
like(ask($maker, q(SELECT snowid.create_partitions('events', '1 hour', now() + interval '2 hours'))), qr/_17\n.*_18$/, 'made, and not committed');
start_asking($other, q(SELECT snowid.create_partitions('events', '1 hour', now() + interval '2 hours')));
wait_until_waiting($node, $other, 'Lock');
ask($maker, 'ROLLBACK');
like(answer($other), qr/_17\n.*_18$/, 'the second makes what the first has rolled back');
ask($maker, 'BEGIN');
like(ask($maker, q(SELECT snowid.create_partitions('events', '1 hour', now() + interval '3 hours'))), qr/_19$/, 'the next');
start_asking($other, q(SELECT snowid.create_partitions('events', '1 hour', now() + interval '3 hours')));
wait_until_waiting($node, $other, 'Lock');
ask($maker, 'COMMIT');
is(answer($other), '', 'the second finds what the first has made');
# Where there is nothing to make, nobody waits for a lock at all.
ask($maker, 'BEGIN; INSERT INTO events DEFAULT VALUES');
is(ask($other, q(SELECT snowid.create_partitions('events', '1 hour', now()))), '', 'nothing is made beside a writer');
is(ask($other, q(SELECT snowid.drop_partitions('events', now() - interval '9 hours'))), '', 'nor dropped');
ask($maker, 'COMMIT');
# Six sessions at a time, each a new one, which has to read what partitions there are while others make some.
$node->safe_psql('postgres', "CREATE TABLE crowd (id $key->{column} DEFAULT $key->{next}) PARTITION BY RANGE (id)");
$node->pgbench('-n -C -c 6 -j 6 -t 30', 0, [qr{actually processed: 180/180}], [qr/^(?!.*ERROR)/s], 'of six at once one makes each', {
    'one_more' => <<'SQL' });
SELECT count(*) AS n FROM pg_inherits WHERE inhparent = 'crowd'::regclass \gset
SELECT snowid.create_partitions('crowd', '1 hour', date_trunc('hour', now()) + :n * interval '1 hour');
SQL

# To drop one takes a lock that waits for readers and writers. If it gives up, nothing is gone.
ask($writers[0], 'BEGIN; INSERT INTO events DEFAULT VALUES; DECLARE c CURSOR FOR SELECT FROM events; FETCH c');
start_asking($other, q(SELECT snowid.drop_partitions('events', now() - interval '1 hour')));
wait_until_waiting($node, $other, 'Lock');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($other->{backend})");
like(answer($other), qr/^ERROR (?:57014|55P03)$/, 'it is not dropped under a reader');
is(hours('events'), 'h11 h12 h13 h14 h15 h16 h17 h18 h19', 'all are there');
ask($writers[0], 'COMMIT');
# What is too young stays: the clock says 16:10.
like(ask($other, q(SELECT snowid.drop_partitions('events', now() - interval '2 hours'))), qr/^public.events_\S+_11\npublic.events_\S+_12\npublic.events_\S+_13$/,
    'dropped are those that ended two hours ago');
like(ask($other, q(SELECT snowid.detach_partitions('events', now() - interval '1 hour'))), qr/^events_\S+_14$/, 'detached the one after');
is(ask($other, q(SELECT snowid.drop_partitions('events', now() + interval '1 hour'))), 'ERROR 22023', 'of the future none is dropped');
is(hours('events'), 'h15 h16 h17 h18 h19', 'the others stay');
is(ask($other, qq(SELECT count(*) FROM events WHERE $key->{timestamp}(id) < date_trunc('hour', now()) - interval '1 hour')), '0', 'their rows are gone');

# The clock may be set back: what is there is gone on from, and what is missing before it is made.
set_clock($offset - $hour, $node);
is(ask($other, q(SELECT snowid.create_partitions('events', '1 hour', clock_timestamp() + interval '3 hours'))), '', 'nothing twice');
set_clock($offset - 4 * $hour, $node);
like(ask($other, q(SELECT snowid.create_partitions('events', '2 hours', clock_timestamp() + interval '1 hour'))),
    qr/^events_\d+_\d+_\d+_12$/, 'before the first one');
set_clock($offset, $node);

# Rows in the default partition are refused, also one that another session commits while the call waits for its lock; and so is
# a snapshot that would not show it. Nothing is made then.
$node->safe_psql('postgres', <<"SQL");
CREATE TABLE notes (id $key->{column} PRIMARY KEY DEFAULT $key->{next}, body text) PARTITION BY RANGE (id);
CREATE TABLE notes_default PARTITION OF notes DEFAULT;
INSERT INTO notes VALUES ($key->{first_at}(now() - interval '2 days'), 'old');
SQL
my $make_notes = q(SELECT snowid.create_partitions('notes', '1 hour', now() + interval '1 hour'));
my $late = qq(INSERT INTO notes VALUES ($key->{first_at}(date_trunc('hour', now()) + interval '7 minutes'), 'late'));
ask($writers[0], "BEGIN; $late");
start_asking($maker, $make_notes);
wait_until_waiting($node, $maker, 'Lock');
ask($writers[0], 'COMMIT');
is(answer($maker), 'ERROR 55000', 'a row that has come meanwhile');
like($maker->{err}, qr/Rows where id >= '$key->{key}' AND id < '$key->{key}': 1\..*DELETE FROM public\.notes_default/s, 'it is counted, and what moves it is said');
is($node->safe_psql('postgres', q(SELECT count(*) FROM pg_inherits WHERE inhparent = 'notes'::regclass)), '1', 'nothing is made');
is(ask($maker, $make_notes), 'ERROR 55000', 'a row that is there');
$node->safe_psql('postgres', q(DELETE FROM notes WHERE body = 'late'));
is(ask($maker, "BEGIN ISOLATION LEVEL REPEATABLE READ; $make_notes"), 'ERROR 25001', 'a snapshot that may be old');
ask($maker, 'ROLLBACK');
like(ask($maker, $make_notes), qr/^notes_\S+_16\nnotes_\S+_17$/, 'made where no row is theirs');

# A new partition is where the table is, and as durable.
$node->safe_psql('postgres', q(CREATE TABLESPACE aside LOCATION ''));
$node->safe_psql('postgres', "CREATE TABLE placed (id $key->{column} DEFAULT $key->{next}) PARTITION BY RANGE (id) TABLESPACE aside");
$node->safe_psql('postgres', q(SELECT snowid.create_partitions('placed', '1 day', now())));
is($node->safe_psql('postgres', q(SELECT count(*) FROM pg_class JOIN pg_tablespace t ON t.oid = reltablespace WHERE relname ~ '^placed_' AND spcname = 'aside')),
    '1', 'the tablespace is the same');
if ($node->pg_version < 18)
{
    $node->safe_psql('postgres', "CREATE UNLOGGED TABLE quick (id $key->{column} DEFAULT $key->{next}) PARTITION BY RANGE (id)");
    $node->safe_psql('postgres', q(SELECT snowid.create_partitions('quick', '1 day', now())));
    is($node->safe_psql('postgres', q(SELECT relpersistence FROM pg_class WHERE relname ~ '^quick_')), 'u', 'unlogged as the table is');
}

close_session(@writers, $maker, $other);
check_log($node);
$node->stop;
done_testing();
