# Rows in the default partition stay there: where some are a new partition's, it is refused, also if one comes while the call waits
# for its lock, and so is a snapshot that would not show it. A new partition is where the table is, and as durable.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('partitions_default', conf => "timezone = 'UTC'\nallow_in_place_tablespaces = on\n", sql => <<'SQL');
CREATE TABLE notes (id bigint PRIMARY KEY DEFAULT snowid_next(), body text) PARTITION BY RANGE (id);
CREATE TABLE notes_default PARTITION OF notes DEFAULT;
INSERT INTO notes VALUES (snowid_first_at(now() - interval '2 days'), 'old');
CREATE TABLESPACE aside LOCATION '';
CREATE TABLE placed (id bigint DEFAULT snowid_next()) PARTITION BY RANGE (id) TABLESPACE aside;
SELECT snowid.create_partitions('placed', '1 day', now());
SQL
my ($maker, $writer) = map { open_session($node) } 1 .. 2;
my $make = q(SELECT snowid.create_partitions('notes', '1 day', now() + interval '1 day'));
ask($writer, q(BEGIN; INSERT INTO notes VALUES (snowid_first_at(date_trunc('day', now()) + interval '7 minutes'), 'late')));
start_waiting($maker, $make);
ask($writer, 'COMMIT');
is(answer($maker), 'ERROR 55000', 'a row that has come meanwhile');
like($maker->{err}, qr/Rows where id >= '\d+' AND id < '\d+': 1\..*DELETE FROM public\.notes_default/s, 'it is counted, and what moves it is said');
is(ask($maker, q(SELECT count(*) FROM pg_inherits WHERE inhparent = 'notes'::regclass)), '1', 'nothing is made');
is(ask($maker, $make), 'ERROR 55000', 'a row that is there');
ask($writer, q(DELETE FROM notes WHERE body = 'late'));
is(ask($maker, "BEGIN ISOLATION LEVEL REPEATABLE READ; $make"), 'ERROR 25001', 'a snapshot that may be old');
like(ask($maker, "ROLLBACK; $make"), qr/^notes_\S+\nnotes_\S+$/, 'made where no row is theirs');

is(ask($maker, q(SELECT count(*) FROM pg_class JOIN pg_tablespace t ON t.oid = reltablespace WHERE relname ~ '^placed_' AND spcname = 'aside')), '1',
    'the tablespace is the same');
if ($node->pg_version < 18)
{
    ask($maker, 'CREATE UNLOGGED TABLE quick (id bigint DEFAULT snowid_next()) PARTITION BY RANGE (id)');
    is(ask($maker, q(SELECT snowid.create_partitions('quick', '1 day', now()) \g /dev/null
SELECT relpersistence FROM pg_class WHERE relname ~ '^quick_')), 'u', 'unlogged as the table is');
}
end_test($node);
