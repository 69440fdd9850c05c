# Whatever SQL can call the library's functions with, the server survives, and an error says what is wrong
# with the call: none is an internal one. Each function is called with what lies at the edges of its
# types and beyond them, by a role without rights, by the owner of everything, and in parallel workers.
# Runs in make test-all: it calls each function in a thousand ways.

use Snowid;
use SnowidCalls;

my $node = ready_server('any_call', conf => "max_prepared_transactions = 5\n");
my $postmaster = slurp_file($node->data_dir . '/postmaster.pid');
my @functions = set_up_calls($node, 'postgres');
cmp_ok(scalar(@functions), '>', 70, 'functions that SQL can call');
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION take_back() RETURNS void SECURITY DEFINER LANGUAGE plpgsql AS $$
DECLARE
  released snowid.released_shards;
BEGIN
  FOR released IN TABLE snowid.released_shards LOOP
    BEGIN
      PERFORM snowid.accept_shard(released.shard, snowid_encode(snowid_timestamp(released.id, released.layout) + '1 s', released.shard, 0, released.layout), released.layout);
    EXCEPTION WHEN OTHERS THEN NULL;
    END;
  END LOOP;
END $$;
CREATE FUNCTION run(statement text) RETURNS void PARALLEL SAFE LANGUAGE plpgsql AS 'BEGIN EXECUTE statement; END';
SQL

my $parallel = $node->pg_version >= 16 ? 'debug_parallel_query' : 'force_parallel_mode';
my $calls = 0;
foreach my $setting ('', "SET $parallel = on;")
{
    foreach my $role (qw(nobody postgres))
    {
        my $session = open_session($node);
        ask($session, "SET ROLE $role; SET snowid.max_wait = 0; $setting");
        foreach (@functions)
        {
            my ($oid, $function) = @$_;
            # Each starts a worker.
            my $most = $setting ? 20 : 150;
            # A function that is new to a role is no reason to stop.
            my ($count, $wrong) = split /\|/, ask($session, "SELECT * FROM call_all('$oid', $most, NULL)"), 2;
            $calls += $count // 0;
            is($wrong, '', "$function by $role $setting");
            # The functions that follow are to have their shards.
            ask($session, 'SELECT take_back()') if $function =~ /snowid.release_shard/;
        }
        close_session($session);
    }
}
# Within a function that is wrongly marked PARALLEL SAFE, in a worker, and in a leader that has got no workers.
my $session = open_session($node);
foreach my $workers (8, 0)
{
    ask($session, "SET $parallel = on; SET snowid.max_wait = 0; SET max_parallel_workers = $workers");
    foreach (@functions)
    {
        my ($oid, $function) = @$_;
        my ($count, $wrong) = split /\|/, ask($session, "SELECT * FROM call_all('$oid', 5, '8191', true)"), 2;
        is($wrong, '', "$function, wrongly marked, $workers workers");
    }
    is(ask($session, q(SELECT run('SELECT FROM snowid.node_status'))), 'ERROR 25000', 'the view of the node');
    like($session->{err}, qr/cannot execute snowid[.]get_node_status\(\) during a parallel operation/, 'says so');
}
close_session($session);
cmp_ok($calls, '>', 5_000, 'so many calls');
is(slurp_file($node->data_dir . '/postmaster.pid') eq $postmaster && attempt($node, 'SELECT 1'), '1', 'the server is the same');
unlike(slurp_file($node->logfile), qr/terminated by signal|PANIC|TRAP|leak/, 'no process has crashed, and nothing leaked');

# Those that return a row or a set, wherever the parser lets them stand.
is(attempt($node, $_), 'ERROR 0A000', "refused: $_")
  foreach 'SELECT 1 WHERE snowid_next_batch(1, 2) > 0', 'INSERT INTO plain VALUES (1) RETURNING snowid_next_batch(1, 2)',
  'SELECT coalesce(snowid_segment_batch(\'open_seq\', 3), 1)', 'CREATE TABLE t (id bigint DEFAULT seq_x_to_y(1, 2))';
is(attempt($node, $_), '4', $_) foreach q(SELECT count(*) FROM (SELECT snowid_next_batch(1, 3), snowid_segment_batch('open_seq', 2), seq_x_to_y(1, 4)) s),
  'SELECT count(*) FROM ROWS FROM (snowid_next_batch(1, 3), seq_x_to_y(1, 4), snowid_decode(1)) WITH ORDINALITY',
  q(BEGIN; DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT snowid_next_batch(1, 3000), snowid_segment_batch('open_seq', 3000); MOVE 2 IN c; COMMIT; SELECT 4);

$node->stop;
done_testing();
