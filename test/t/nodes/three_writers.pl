# Several writers, one reader: three servers with numbers of their own write at once, and a fourth that is subscribed to all of them
# gets every row without a conflict. By ID the rows are in order of time, within the clocks' error: where one is committed before
# another is begun by more than what the clocks differ by and max_lead together, its ID is the lesser.

use List::Util qw(max min);
use Snowid;

# By number, in seconds: how far their clocks are from the real one. The greatest difference and max_lead, and a millisecond, since an
# ID's time is cut off to one, and a hundredth of a second, which is the clock's that all of them have in common.
my %offset = (1 => -0.85, 2 => 0, 3 => 0.25);
my $bound = max(values %offset) - min(values %offset) + 1 + 0.001 + 0.01;

# Each row knows when it was begun, and when the one before it was committed: by the time since the machine was started, which
# nobody fakes.
my $time = q(split_part(pg_read_file('/proc/uptime'), ' ', 1)::float8);
my $table = 'CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(), session int, n int, begun float8, committed_before float8)';
my $write = <<"SQL";
CREATE PROCEDURE write(session int, how_long interval) LANGUAGE plpgsql AS \$\$
DECLARE
  ends timestamptz = clock_timestamp() + how_long;
  begun float8;
  committed float8;
  n int = 0;
BEGIN
  WHILE clock_timestamp() < ends LOOP
    begun = $time;
    INSERT INTO photos (session, n, begun, committed_before) VALUES (session, n, begun, committed);
    COMMIT;
    committed = $time;
    n = n + 1;
    PERFORM pg_sleep(0.005);
  END LOOP;
END \$\$
SQL
# Each subscription takes a worker, and one more while its table is copied.
my $reader = ready_server('reader', allows_streaming => 'logical', sql => $table, conf => "max_worker_processes = 20\nmax_logical_replication_workers = 10\n");

my %node;
foreach my $number (sort keys %offset)
{
    my $node = $node{$number} = ready_server("writer$number", allows_streaming => 'logical', sql => "$table; $write; CREATE PUBLICATION photos FOR TABLE photos");
    set_clock($offset{$number}, $node);
    $node->safe_psql('postgres', "ALTER DATABASE postgres SET snowid.default_shard = $number");
    my ($name, $connection) = ($node->name, $node->connstr('postgres') =~ s{'}{''}gr);
    $reader->safe_psql('postgres', "CREATE SUBSCRIPTION $name CONNECTION '$connection' PUBLICATION photos");
}
$reader->wait_for_subscription_sync;

# Two sessions on each; and one of them in a burst, so that its IDs lead.
my $sessions = 0;
my @writing = map { open_session($node{$_}) } 1 .. 3, 1 .. 3;
start_asking($_, 'CALL write(' . $sessions++ . ", '3s')") foreach @writing;
$node{3}->safe_psql('postgres', 'SELECT count(*) FROM snowid_next_batch(3, 800000)');
is(answer($_), '', 'a writer has written') foreach @writing;
close_session(@writing);

# Every row is there, and no other, without a conflict. (Statistics have more kinds of errors since PostgreSQL 19.)
my $total = 0;
foreach my $number (sort keys %node)
{
    $node{$number}->wait_for_catchup($node{$number}->name);
    my $rows = 'SELECT count(*), sum(id), min(snowid_shard(id)), max(snowid_shard(id)) FROM photos';
    my $written = $node{$number}->safe_psql('postgres', $rows);
    like($written, qr/^\d{2,}[|].*[|]$number[|]$number$/, "writer $number: rows of its number alone");
    is($reader->safe_psql('postgres', "$rows WHERE snowid_shard(id) = $number"), $written, 'the reader has just these');
    $total += (split /[|]/, $written)[0];
}
is($reader->safe_psql('postgres', 'SELECT count(*) FROM photos'), $total, 'and no others');
is($reader->safe_psql('postgres', <<'SQL'), '0', 'no conflict');
SELECT sum(value::int) FROM pg_stat_subscription_stats AS s, jsonb_each_text(to_jsonb(s))
 WHERE key IN ('apply_error_count', 'sync_error_count', 'sync_table_error_count')
SQL

# How many rows have a lesser ID than one that was committed before they were begun by more than so many seconds, and how many such
# a one exists for.
sub count_misplaced
{
    my ($apart) = @_;
    return $reader->safe_psql('postgres', <<"SQL");
WITH rows AS (SELECT id, begun, lead(committed_before) OVER (PARTITION BY session ORDER BY n) AS ended FROM photos),
 times AS (SELECT begun AS at, id AS later, NULL::bigint AS earlier FROM rows UNION ALL SELECT ended + $apart, NULL, id FROM rows WHERE ended IS NOT NULL),
 seen AS (SELECT later, max(earlier) OVER (ORDER BY at) AS greatest FROM times)
SELECT count(*) FILTER (WHERE later <= greatest), count(*) FROM seen WHERE later IS NOT NULL AND greatest IS NOT NULL
SQL
}
my ($misplaced, $later_rows) = split /[|]/, count_misplaced($bound);
is($misplaced, 0, "by ID the rows are in order of time, within $bound s");
cmp_ok($later_rows, '>', 100, 'which is said of many');
cmp_ok((split /[|]/, count_misplaced(0))[0], '>', 0, 'while the clocks do differ');
end_test($reader, values %node);
