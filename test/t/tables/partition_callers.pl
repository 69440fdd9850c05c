# Two callers at once make or remove partitions, both held where they wait for their locks: what each of them has seen before is
# stale for the one who is second. Together they make, or remove, each partition once, and neither meets an error.
# Runs in make test-all: it goes through many pairs.

use Snowid;

my $node = ready_server('partition_callers', conf => "timezone = 'UTC'\n");
my ($reader, @callers) = map { open_session($node) } 0 .. 2;
foreach my $caller (@callers)
{
    # One turn is all, so that a deadlock is an error here.
    ask($caller, q(SET deadlock_timeout = '2min'; SET lock_timeout = '1min'));
}
sub create { my ($until) = @_; return "create_partitions('held.busy', '1 month', '$until')" }
my $before_march = q(drop_partitions('held.busy', '2016-03-01Z'));
my @pairs = (
    # What is called, what both do together, what is there afterwards.
    [ create('2016-05-15Z'), create('2016-07-15Z'), '2016_04 2016_05 2016_06 2016_07', '0 2016_01 2016_02 2016_03 2016_04 2016_05 2016_06 2016_07' ],
    [ create('2016-05-15Z'), $before_march, '0 2016_01 2016_02 2016_04 2016_05', '2016_03 2016_04 2016_05' ],
    [ q(drop_partitions('held.busy', '2016-02-01Z')), $before_march, '0 2016_01 2016_02', '2016_03' ],
    [ map({ "${_}_partitions('held.busy', '2016-03-01Z', max_partitions => 2)" } 'detach', 'drop'), '0 2016_01 2016_02', '2016_03' ]);
# What the third session holds: the table, where nothing refers to it; or a table that it refers to, where something does. Behind
# the first the second caller waits before it has looked; behind the other it has looked, and that is stale.
my %holds = ('held.busy' => '', 'held.users' => 'CREATE TABLE held.answers (busy_id bigint REFERENCES held.busy)');
foreach my $held (sort keys %holds)
{
    foreach my $pair (map { my ($one, $other, @rest) = @$_; ([ $one, $other, @rest ], [ $other, $one, @rest ]) } @pairs)
    {
        my (@calls, $done, $there);
        (@calls[ 0, 1 ], $done, $there) = @$pair;
        my $name = join(', ', @calls) . " behind $held";
        $node->safe_psql('postgres', <<"SQL");
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS held CASCADE;
CREATE SCHEMA held;
CREATE TABLE held.users (id int PRIMARY KEY);
CREATE TABLE held.busy (id bigint PRIMARY KEY DEFAULT snowid_next(), user_id int REFERENCES held.users) PARTITION BY RANGE (id);
CREATE TABLE held.busy_0 PARTITION OF held.busy FOR VALUES FROM (MINVALUE) TO (snowid_first_at('2016-01-01Z'));
CREATE TABLE held.busy_rest PARTITION OF held.busy DEFAULT;
SELECT snowid.create_partitions('held.busy', '1 month', '2016-03-15Z');
INSERT INTO held.busy SELECT snowid_first_at(day) FROM unnest('{2016-03-05Z, 2016-03-06Z, 2020-01-01Z}'::timestamptz[]) AS day;
$holds{$held}
SQL
        ask($reader, "BEGIN; LOCK TABLE $held IN ROW EXCLUSIVE MODE");
        foreach (0, 1)
        {
            start_waiting($callers[$_], "SELECT snowid.$calls[$_]");
        }
        ask($reader, 'COMMIT');
        is(join(' ', sort map { s/^held\.busy_//r } map { split /\n/, answer($_) } @callers), $done, "$name: each once");
        is($node->safe_psql('postgres', q(SELECT string_agg(substr(relname, 6), ' ' ORDER BY relname) FROM pg_inherits
              JOIN pg_class ON oid = inhrelid WHERE inhparent = 'held.busy'::regclass AND relname <> 'busy_rest')), $there, "$name: what is there");
        is($node->safe_psql('postgres', 'SELECT count(*) FROM held.busy'), '3', "$name: no row is lost");
    }
}
end_test($node);
