# A partition is made once, whoever makes it at the same time and whatever becomes of that; where nothing is to do, no lock is waited
# for. Those whose time has passed go, the others stay, also where the clock is set back; and none goes under a reader.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('partitions_once', conf => "timezone = 'UTC'\nmax_connections = 30\n", sql => <<'SQL');
CREATE TABLE events (id bigint PRIMARY KEY DEFAULT snowid_next()) PARTITION BY RANGE (id);
CREATE TABLE crowd (id bigint DEFAULT snowid_next()) PARTITION BY RANGE (id);
SQL
# Ten past eleven.
my $hour = 3600;
my $offset = (int(time / 86_400) + 1) * 86_400 + 11 * $hour + 10 * 60 - time;
set_clock($offset);
my ($maker, $other, $reader) = map { open_session($node) } 1 .. 3;
sub create { my ($hours) = @_; return "SELECT snowid.create_partitions('events', '1 hour', clock_timestamp() + interval '$hours hours')" }
sub gone { my ($verb, $hours) = @_; return "SELECT snowid.${verb}_partitions('events', now() - interval '$hours hours')" }

# The hours from which partitions are, in what a session was answered; of the table, where nothing is given.
sub hours
{
    my ($names) = @_;
    $names //= $node->safe_psql('postgres', q(SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'events'::regclass ORDER BY 1));
    return join ' ', map { s/^.*events_\d+_\d+_\d+_//r } split /\n/, $names;
}

is(hours(ask($maker, create(0))), '11', 'made');
# The second makes what the first has rolled back, or finds what the first has made.
foreach ([ 1, 'ROLLBACK', '12' ], [ 2, 'COMMIT', '' ])
{
    my ($hours, $end, $made) = @$_;
    ask($maker, 'BEGIN');
    is(hours(ask($maker, create($hours))), 11 + $hours, "$end: made, and not committed");
    start_waiting($other, create($hours));
    ask($maker, $end);
    is(hours(answer($other)), $made, "$end: what the second makes");
}
ask($maker, 'BEGIN; INSERT INTO events DEFAULT VALUES');
is(ask($other, $_), '', "nothing to do beside a writer: $_") foreach create(0), gone('drop', 9);
ask($maker, 'COMMIT');
# Each a new session, which has to read what partitions there are while others make some.
$node->pgbench('-n -C -c 6 -j 6 -t 30', 0, [qr{actually processed: 180/180}], [qr/^(?!.*ERROR)/s], 'of six at once one makes each', { 'one_more' => <<'SQL' });
SELECT count(*) AS n FROM pg_inherits WHERE inhparent = 'crowd'::regclass \gset
SELECT snowid.create_partitions('crowd', '1 hour', date_trunc('hour', now()) + :n * interval '1 hour');
SQL

is(hours(ask($maker, create(8))), '14 15 16 17 18 19', 'more of them');
set_clock($offset += 5 * $hour);
ask($reader, 'BEGIN; INSERT INTO events DEFAULT VALUES; DECLARE c CURSOR FOR SELECT FROM events; FETCH c');
start_waiting($other, gone('drop', 1));
ask($maker, "SELECT pg_cancel_backend($other->{backend})");
like(answer($other), qr/^ERROR (?:57014|55P03)$/, 'it is not dropped under a reader');
is(hours(), '11 12 13 14 15 16 17 18 19', 'all are there');
ask($reader, 'COMMIT');
# The clock says 16:10.
is(hours(ask($other, gone('drop', 2))), '11 12 13', 'dropped are those that ended two hours ago');
is(hours(ask($other, gone('detach', 1))), '14', 'detached the one after');
is(ask($other, gone('drop', -1)), 'ERROR 22023', 'of the future none is dropped');
is(hours(), '15 16 17 18 19', 'the others stay');

# The clock is set back: what is there is gone on from, and what is missing before it is made.
set_clock($offset - $hour);
is(ask($other, create(3)), '', 'nothing twice');
set_clock($offset - 4 * $hour);
is(hours(ask($other, create(1) =~ s/'1 hour'/'2 hours'/r)), '12', 'before the first one');
end_test($node);
