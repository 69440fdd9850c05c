# Several writers, one reader: three servers with numbers of their own write at once, and a fourth that is
# subscribed to all of them gets every row without a conflict. By ID the rows are in order of time, within the
# clocks' error: where one is committed before another is begun by more than what the clocks differ by and
# max_lead together, its ID is the lesser. A standby that is promoted meanwhile goes on with its primary's
# number. From PostgreSQL 16 on two servers can write to each other, too.

use strict;
use warnings;

use List::Util qw(max min);
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

# By number, in seconds: how far their clocks are from the real one. The greatest difference and max_lead, and a
# millisecond, since an ID's time is cut off to one, and a hundredth of a second, which is the clock's that all
# of them have in common.
my %offset = (1 => -0.35, 2 => 0, 3 => 0.25);
my $bound = max(values %offset) - min(values %offset) + 1 + 0.001 + 0.01;

# Each row knows when it was begun, and when the one before it was committed: by the time since the machine was
# started, which nobody fakes.
my $time = q(split_part(pg_read_file('/proc/uptime'), ' ', 1)::float8);
my $table = 'CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(), session int, n int,'
  . ' begun float8, committed_before float8)';
my $write = <<"SQL" =~ s/\bTIME\b/$time/gr;
CREATE PROCEDURE write(session int, how_long interval) LANGUAGE plpgsql AS \$\$
DECLARE
  ends timestamptz = clock_timestamp() + how_long;
  begun float8;
  committed float8;
  n int = 0;
BEGIN
  WHILE clock_timestamp() < ends LOOP
    begun = TIME;
    INSERT INTO photos (session, n, begun, committed_before) VALUES (session, n, begun, committed);
    COMMIT;
    committed = TIME;
    n = n + 1;
    PERFORM pg_sleep(0.005);
  END LOOP;
END \$\$
SQL

my %node;
foreach my $number (sort keys %offset)
{
    my $node = $node{$number} = new_server("writer$number", allows_streaming => 'logical');
    # Either way a standby has it, too: the one by its copy of the file, the other by replication.
    $node->append_conf('postgresql.conf', "snowid.shard = $number\n") unless $number == 1;
    set_clock($offset{$number}, $node);
    start_server($node);
    $node->safe_psql('postgres', "CREATE EXTENSION snowid; $table; $write; CREATE PUBLICATION photos FOR TABLE photos");
    $node->safe_psql('postgres', 'ALTER DATABASE postgres SET snowid.shard = 1') if $number == 1;
}
my $reader = new_server('reader', allows_streaming => 'logical');
$reader->start;
$reader->safe_psql('postgres', "CREATE EXTENSION snowid; $table");

# Has a node get the rows of another from now on.
sub subscribe
{
    my ($subscriber, $publisher, $name, $options) = @_;
    my $connection = $publisher->connstr('postgres') =~ s{'}{''}gr;
    $subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION $name CONNECTION '$connection' PUBLICATION photos $options");
    return;
}
subscribe($reader, $node{$_}, "writer$_", '') foreach sort keys %node;
$reader->wait_for_subscription_sync;
my $standby = new_standby($node{1}, 'standby');
set_clock($offset{1} - 0.5, $standby);
start_server($standby);

# Two sessions on each; and one of them in a burst, so that its IDs lead.
my $sessions = 0;
sub start_writing
{
    my ($node, $how_long) = @_;
    my @writing = map { open_session($node) } 1, 2;
    start_asking($_, 'CALL write(' . $sessions++ . ", '$how_long')") foreach @writing;
    return @writing;
}
my @first = start_writing($node{1}, '1.5s');
my @others = map { start_writing($node{$_}, '5s') } 2, 3;
$node{3}->safe_psql('postgres', 'SELECT count(*) FROM snowid_next_batch(3, 800000)');

is(answer($_), '', 'a writer of number 1 has written') foreach @first;
close_session(@first);
# The reader has all of it, which another server will not send it again.
$node{1}->wait_for_catchup('writer1');
$node{1}->wait_for_catchup($standby);
my $greatest = $node{1}->safe_psql('postgres', 'SELECT max(id) FROM photos');
crash($node{1}, 'kill');
$standby->promote;
$reader->safe_psql('postgres',
    'ALTER SUBSCRIPTION writer1 DISABLE; ALTER SUBSCRIPTION writer1 SET (slot_name = NONE); DROP SUBSCRIPTION writer1');
subscribe($reader, $standby, 'promoted', 'WITH (copy_data = false)');
$bound += 0.5;
is($standby->safe_psql('postgres', 'SELECT snowid_default_shard()'), '1', "promoted: its primary's number");
my @promoted = start_writing($standby, '1.5s');
is(answer($_), '', 'a writer of the promoted one has written') foreach @promoted;
is(answer($_), '', 'another has') foreach @others;
close_session(@promoted, @others);

# Every row is there, and no other.
my %of = (1 => $standby, 2 => $node{2}, 3 => $node{3});
$of{$_}->wait_for_catchup($_ == 1 ? 'promoted' : "writer$_") foreach sort keys %of;
my $total = 0;
foreach my $number (sort keys %of)
{
    my $rows = "SELECT count(*), sum(id), min(snowid_shard(id)), max(snowid_shard(id)) FROM photos";
    my $written = $of{$number}->safe_psql('postgres', $rows);
    like($written, qr/^\d{2,}[|].*[|]$number[|]$number$/, "writer $number: rows of its number alone");
    is($reader->safe_psql('postgres', "$rows WHERE snowid_shard(id) = $number"), $written, 'the reader has just these');
    $total += (split /[|]/, $written)[0];
}
is($reader->safe_psql('postgres', 'SELECT count(*) FROM photos'), $total, 'and no others');
check_no_error($reader, 'reader');
my $later = "SELECT count(*) > 10, bool_and(id > $greatest) FROM photos WHERE session >= 6";
is($standby->safe_psql('postgres', $later), 't|t', 'the promoted one goes on above its primary');

sub check_no_error
{
    my ($subscriber, $name) = @_;
    # Of which there are more since PostgreSQL 19, where sequences are replicated, too.
    my $errors = q(SELECT sum(value::int) FROM pg_stat_subscription_stats AS s, jsonb_each_text(to_jsonb(s))
        WHERE key IN ('apply_error_count', 'sync_error_count', 'sync_table_error_count'));
    is($subscriber->safe_psql('postgres', $errors), '0', "$name: no conflict");
    return;
}

# Rows as [ID, when begun, when committed].
my @rows = map { [ split /[|]/ ] } split /\n/, $reader->safe_psql('postgres', <<'SQL');
SELECT id, begun, lead(committed_before) OVER (PARTITION BY session ORDER BY n) FROM photos
SQL

# How many rows there are that have a lesser ID than one which was committed before they were begun by more than
# so many seconds, and how many that such a one exists for.
sub count_misplaced
{
    my ($apart) = @_;
    my @ended = sort { $a->[2] <=> $b->[2] } grep { defined $_->[2] } @rows;
    my ($greatest, $misplaced, $later) = (0, 0, 0);
    foreach my $row (sort { $a->[1] <=> $b->[1] } @rows)
    {
        while (@ended && $ended[0][2] + $apart < $row->[1])
        {
            $greatest = max($greatest, (shift @ended)->[0]);
        }
        $later++ if $greatest;
        $misplaced++ if $row->[0] <= $greatest;
    }
    return ($misplaced, $later);
}
my ($misplaced, $later_rows) = count_misplaced($bound);
is($misplaced, 0, "by ID the rows are in order of time, within $bound s");
cmp_ok($later_rows, '>', 100, 'which is said of many');
cmp_ok((count_misplaced(0))[0], '>', 0, 'while the clocks do differ');

# From here on the two that are left write to each other.
if ($node{2}->pg_version >= 16)
{
    my @pair = @node{ 2, 3 };
    my @names = ('from_writer3', 'from_writer2');
    $_->safe_psql('postgres', 'TRUNCATE photos') foreach @pair;
    subscribe($pair[$_], $pair[ 1 - $_ ], $names[$_], 'WITH (origin = none, copy_data = false)') foreach 0, 1;
    my @writing = map { start_writing($_, '1s') } @pair;
    is(answer($_), '', 'a writer to the other has written') foreach @writing;
    close_session(@writing);
    # What either would send back comes before what it writes once it has all of the other.
    foreach my $one (0, 1, 0)
    {
        $pair[$one]->safe_psql('postgres', 'INSERT INTO photos (session) VALUES (-1)');
        $pair[$one]->wait_for_catchup($names[ 1 - $one ]);
    }
    my $all = 'SELECT count(*) > 100, count(*), sum(id), count(DISTINCT snowid_shard(id)) FROM photos';
    my @have = map { $_->safe_psql('postgres', $all) } @pair;
    like($have[0], qr/^t[|].*[|]2$/, 'both have written');
    is($have[1], $have[0], 'both have the same rows');
    check_no_error($pair[$_], $names[$_]) foreach 0, 1;
    $pair[$_]->safe_psql('postgres', "DROP SUBSCRIPTION $names[$_]") foreach 0, 1;
}
$_->stop foreach $reader, $standby, @node{ 2, 3 };
done_testing();
