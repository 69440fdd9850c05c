# A backend is killed, and the postmaster starts all anew, with the clock set back meanwhile: no ID comes again, whether or not the
# library is preloaded. Nor with wal_level = minimal, where what a transaction does to a relation that it has made is not
# WAL-logged.

use Snowid;

my $node = new_server('killed');
$node->append_conf('postgresql.conf', "wal_level = minimal\nmax_wal_senders = 0\nsnowid.max_lead = '1d'\nrestart_after_crash = on\n");
start_server($node);
my $insert = 'INSERT INTO photos SELECT FROM generate_series(1, 10000)';
my $last = $node->safe_psql('postgres', "BEGIN; CREATE EXTENSION snowid; CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(7));"
      . " $insert; COMMIT; SELECT max(id) FROM photos");
foreach my $preloaded ('', 'snowid')
{
    my $name = $preloaded ? 'preloaded' : 'not preloaded';
    $node->append_conf('postgresql.conf', "shared_preload_libraries = '$preloaded'\n");
    crash_and_start($node, $preloaded ? 'immediate' : 'kill', $preloaded ? -7200 : -3600);
    is(attempt($node, 'SHOW snowid.ceiling_step'), $preloaded ? '1s' : 'ERROR 42704', $name);
    is($node->safe_psql('postgres', 'SELECT count(*), max(id) FROM photos'), "10000|$last", 'what was committed is there') unless $preloaded;
    is(attempt($node, "WITH new AS ($insert RETURNING id) SELECT count(*), min(id) > $last FROM new"), '10000|t', "$name, after a crash: above");

    my @drawing = map { draw($node, 'snowid_next(7)', undef, pause_every => 32) } 1 .. 3;
    wait_to_draw(10_000, @drawing);
    kill 'KILL', $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE query ~ '^COPY' AND state = 'active' LIMIT 1");
    # By the clock the postmaster knows how long it has waited for its children to end.
    finish(@drawing);
    set_clock($preloaded ? -9000 : -5400);
    wait_for(sub { attempt($node, 'SELECT 1') eq '1' }, 'the server to be back');
    (undef, $last) = check_round("$name, backend killed", $last, @drawing);
    @drawing = map { draw($node, 'snowid_next(7)', 5_000) } 1 .. 3;
    finish(@drawing);
    (my $count, $last) = check_round("$name, drawn after that", $last, @drawing);
    is($count, 15_000, "$name: all are served");
}
end_test($node);
