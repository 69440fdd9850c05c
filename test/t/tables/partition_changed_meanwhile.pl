# Who waits to make or remove partitions goes by what is there when he has the lock: which partitions there are, what they are from
# and to, the layout that the default names, or that UUIDs are of version 7; the table itself, and not another one that has got its
# name. While he waits, another session changes that: no row of today is lost, and nothing goes that was to be kept.
# Runs in make test-all: it starts many sessions.

use Snowid;
use SnowidPartitions;

my $node = ready_server('partition_changed', conf => "timezone = 'UTC'\n", sql => <<'SQL');
CREATE ROLE owner;
GRANT CREATE ON SCHEMA public TO owner;
CREATE FUNCTION add_day(days int, layout snowid_layout) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  day CONSTANT timestamptz := date_trunc('day', now()) + days * interval '1 day';
BEGIN
  EXECUTE format('CREATE TABLE changed_%s PARTITION OF changed FOR VALUES FROM (%s) TO (%s)', days, snowid_first_at(day, layout),
    CASE WHEN days = 2 THEN 'MAXVALUE' ELSE snowid_first_at(day + interval '1 day', layout)::text END);
END $$;
SQL
my ($reader, $maker) = map { open_session($node) } 1 .. 2;
my $change_layout = q(ALTER TABLE changed ALTER id SET DEFAULT snowid_next(0, 'twitter'); DROP TABLE changed_old, changed_kept, changed_rest);

# Has a call wait behind the other session, which has locked its table.
sub start_call
{
    my ($key, $call) = @_;
    $node->safe_psql('postgres', <<"SQL");
SET client_min_messages = warning;
DROP TABLE IF EXISTS changed, changed_old, changed_kept;
CREATE TABLE changed (id $key->{column} DEFAULT $key->{next}) PARTITION BY RANGE (id);
CREATE TABLE changed_old PARTITION OF changed FOR VALUES FROM (MINVALUE) TO ($key->{first_at}('2016-01-01Z'));
CREATE TABLE changed_kept PARTITION OF changed FOR VALUES FROM ($key->{first_at}('2016-01-01Z')) TO ($key->{first_at}('2016-02-01Z'));
CREATE TABLE changed_rest PARTITION OF changed FOR VALUES FROM ($key->{first_at}('2040-01-01Z')) TO (MAXVALUE);
SQL
    ask($reader, 'BEGIN; LOCK TABLE changed IN SHARE MODE');
    start_waiting($maker, $call);
    return;
}

foreach my $by ('bigint', 'uuid')
{
    my $key = partition_key($by);
    # What the other session does, with a row of today; and what who has waited is answered.
    my %changes = (
        # An old partition is moved to today, and one is detached that is to be kept.
        bounds => [ <<"SQL", '' ],
ALTER TABLE changed DETACH PARTITION changed_old;
TRUNCATE changed_old;
ALTER TABLE changed DETACH PARTITION changed_kept;
SELECT format('ALTER TABLE changed ATTACH PARTITION changed_old FOR VALUES FROM (%L) TO (%L)', $key->{first_at}(date_trunc('day', now())),
  $key->{first_at}('2040-01-01Z')) \\gexec
INSERT INTO changed DEFAULT VALUES
SQL
        $by eq 'bigint'
        ? (layout => [ "$change_layout; SELECT FROM generate_series(0, 2) AS days, add_day(days, 'twitter'); INSERT INTO changed DEFAULT VALUES", '' ])
        : (version => [ q(ALTER TABLE changed DROP CONSTRAINT is_version_7; INSERT INTO changed VALUES ('00c5d4a8-7a1e-4b2f-9c3d-5e6f708192a3')), 'ERROR 42P17' ]));
    foreach my $change (sort keys %changes)
    {
        foreach my $verb ('drop', 'detach')
        {
            my $name = "$verb by $by, $change changed meanwhile";
            start_call($key, "SELECT snowid.${verb}_partitions('changed', now() - interval '1 year')");
            is(ask($reader, "$changes{$change}[0]; COMMIT"), '', "$name: with a row of today");
            is(answer($maker), $changes{$change}[1], "$name: nothing goes any more");
            is(ask($reader, 'SELECT count(*) FROM changed'), '1', "$name: no row of today is lost");
            is(ask($reader, 'SELECT count(*) FROM changed_kept'), '0', "$name: what was to be kept is there") if $change eq 'bounds';
        }
    }
}

my $key = partition_key('bigint');
start_call($key, q(SELECT snowid.create_partitions('changed', '1 month', now())));
is(ask($reader, "$change_layout; COMMIT"), '', 'create, layout changed meanwhile');
like(answer($maker), qr/^changed_\d+_\d+$/, 'create, layout changed meanwhile: made');
is(ask($reader, q(SELECT layout, range_start = date_trunc('month', now()), range_end = date_trunc('month', now()) + interval '1 month'
  FROM snowid.partitions WHERE parent = 'changed'::regclass)), 'twitter|t|t', 'create, layout changed meanwhile: by the new one');

start_call($key, q(BEGIN; SELECT snowid.drop_partitions('changed', '2016-01-01Z')));
is(ask($reader, 'ALTER TABLE changed RENAME TO renamed; CREATE TABLE changed (id bigint); COMMIT'), '', 'another table gets the name');
is(answer($maker), 'public.changed_old', 'it goes all the same');
is(ask($reader, qq(SELECT string_agg(relation::regclass::text, ' ') FROM pg_locks WHERE pid = $maker->{backend}
  AND relation IN ('changed'::regclass, 'renamed'::regclass) AND mode = 'AccessExclusiveLock')), 'renamed', 'and the other table is not locked');
ask($maker, 'COMMIT');
$node->safe_psql('postgres', 'DROP TABLE changed, renamed');

# What its owner may not lock, such as a partition that is read-only for him, too, is locked by the statement that removes it, which
# has its name. Where another one gets the name meanwhile, nothing goes.
foreach my $referred ('', 'CREATE TABLE renamed_answers (id bigint REFERENCES renamed)')
{
    foreach my $verb ('drop', 'detach')
    {
        my $name = "$verb, names exchanged meanwhile" . ($referred && ', referred to');
        $node->safe_psql('postgres', <<"SQL");
SET client_min_messages = warning;
DROP TABLE IF EXISTS renamed, renamed_answers, renamed_old, renamed_today;
SET ROLE owner;
CREATE TABLE renamed (id bigint PRIMARY KEY DEFAULT snowid_next()) PARTITION BY RANGE (id);
CREATE TABLE renamed_old PARTITION OF renamed FOR VALUES FROM (MINVALUE) TO (snowid_first_at('2016-01-01Z'));
CREATE TABLE renamed_today PARTITION OF renamed FOR VALUES FROM (snowid_first_at('2016-01-01Z')) TO (snowid_first_at('2040-01-01Z'));
CREATE TABLE renamed_rest PARTITION OF renamed FOR VALUES FROM (snowid_first_at('2040-01-01Z')) TO (MAXVALUE);
REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON renamed_old FROM owner;
INSERT INTO renamed DEFAULT VALUES;
$referred
SQL
        ask($maker, 'SET ROLE owner; SET lock_timeout = 0');
        ask($reader, 'BEGIN; ALTER TABLE renamed_old RENAME TO renamed_aside; ALTER TABLE renamed_today RENAME TO renamed_old');
        start_waiting($maker, "SELECT snowid.${verb}_partitions('renamed', '2016-01-01Z')");
        ask($reader, 'ALTER TABLE renamed_aside RENAME TO renamed_today; COMMIT');
        is(answer($maker), 'ERROR 55000', "$name: refused");
        is($node->safe_psql('postgres', 'SELECT count(*) FROM renamed'), '1', "$name: the row of today is there");
    }
}
end_test($node);
