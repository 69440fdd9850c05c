# Hour after hour goes by, and each partition is made in the hour before it, while sessions insert all the time: they meet no error,
# and each row is in the partition of its time. A table without partitions begins with the period that it is now. By IDs, and by
# UUIDs of version 7.

use Snowid;
use SnowidPartitions;

my $node = ready_server('partitions', conf => "timezone = 'UTC'\n", sql => 'CREATE TABLE ending (who text)');
my $hour = 3600;
foreach my $by ('bigint', 'uuid')
{
    my $key = partition_key($by);
    # Fifty minutes before noon.
    my $offset = (int(time / 86_400) + 1) * 86_400 + 12 * $hour - 50 * 60 - time;
    set_clock($offset);
    my $table = "events_by_$by";
    $node->safe_psql('postgres', "CREATE TABLE $table (id $key->{column} PRIMARY KEY DEFAULT $key->{next}, who int) PARTITION BY RANGE (id)");
    like($node->safe_psql('postgres', "SELECT snowid.create_partitions('$table', '1 hour', now())"), qr/^${table}_\d+_\d+_\d+_11$/,
        "$by: the first partition is the current one");

    # A row in a transaction of its own, or ten in one. (PostgreSQL tells a transaction that has the table open already of new
    # partitions when it pleases.)
    my @writers = map { open_session($node) } 0 .. 2;
    start_asking($writers[$_], <<"SQL") foreach 0 .. 2;
DO \$\$ BEGIN
  LOOP
    INSERT INTO $table (who) SELECT $_ FROM generate_series(1, CASE $_ WHEN 2 THEN 10 ELSE 1 END);
    COMMIT;
    EXIT WHEN EXISTS (SELECT FROM ending WHERE who = '$by');
    PERFORM pg_sleep(0.001);
  END LOOP;
END \$\$
SQL
    my $of_hour = "SELECT count(DISTINCT who) = 3 FROM $table WHERE $key->{timestamp}(id) >= date_trunc('hour', clock_timestamp())";
    my $come = sub { wait_for(sub { $node->safe_psql('postgres', $of_hour) eq 't' }, 'rows of that hour') };
    $come->();
    foreach my $now (12 .. 16)
    {
        my $made = $node->safe_psql('postgres', "SELECT snowid.create_partitions('$table', '1 hour', clock_timestamp() + interval '1 hour')");
        like($made, qr/^${table}_\d+_\d+_\d+_$now$/, "$by: the partition of $now:00 is made in time");
        set_clock($offset += $hour);
        $come->();
    }
    $node->safe_psql('postgres', "INSERT INTO ending VALUES ('$by')");
    is(answer($_), '', "$by: a session that inserted has met no error") foreach @writers;
    is($node->safe_psql('postgres', <<"SQL"), '6|t', "$by: there are rows in each partition, and each row is in that of its time");
SELECT count(DISTINCT tableoid), bool_and(tableoid::regclass::text = to_char($key->{timestamp}(id), '"${table}_"YYYY_MM_DD_HH24')) FROM $table
SQL
    close_session(@writers);
}
end_test($node);
