# portable/snowid.sql: wherever in a draw a session is stopped, no ID comes twice and all are in order. What a draw locks it lets go
# of at once, not when its transaction ends; also where it is cancelled. A shard that two sessions make at once is there for
# both.

use Snowid;

my $node = new_server('gates');
# With the real clock: what fakes one is not safe where a timeout's signal asks for the time.
$node->start;
my $owner = portable_owner();
create_portable($node, 'app', shards => [ 1, 2 ]);
$node->safe_psql('postgres', 'CREATE ROLE clerk LOGIN');
my $whole = $node->safe_psql('app', q(SELECT pg_get_functiondef('snowid.take'::regproc)));

# Has a draw stop before a line of snowid.take, in sessions that say so, for as long as the lock 1 is held.
sub stop_before
{
    my ($line) = @_;
    $node->safe_psql('app', <<"SQL");
$whole;
DO \$do\$
DECLARE
  body text := pg_get_functiondef('snowid.take'::regproc);
  line text := \$line\$$line\$line\$;
BEGIN
  ASSERT length(replace(body, line, '')) = length(body) - length(line), 'once';
  EXECUTE replace(body, line, 'IF current_setting(''test.stop'', true) = ''on'' THEN PERFORM pg_advisory_xact_lock(1); END IF; ' || line);
END \$do\$
SQL
    return;
}
my ($stopped, $other, $holder) = map { open_session($node, dbname => 'app', user => $_) } 'clerk', 'clerk', $owner;
ask($stopped, 'SET test.stop = on');
sub held { return $node->safe_psql('app', "SELECT count(*) FROM pg_locks WHERE relation::regclass::text ~ '_gate' AND pid = $stopped->{backend}") }
my $draw = 'SELECT snowid_next(1)';

sub start_stopped
{
    ask($holder, 'SELECT pg_advisory_lock(1)');
    start_asking($stopped, $draw);
    return wait_until_waiting($node, $stopped, 'advisory');
}

# Who has looked and not yet set the sequence keeps others from drawing: they would draw what he sets it to.
stop_before('last := setval(seq, tick + wanted - 1)');
start_stopped();
start_waiting($other, $draw, 'relation');
is(held(), '1', 'who sets a sequence holds its gate');
is(attempt($node, 'SELECT snowid_next(2) > 0', dbname => 'app'), 't', 'another shard is drawn from meanwhile');
ask($holder, 'SELECT pg_advisory_unlock(1)');
my ($first, $second) = (answer($stopped), answer($other));
cmp_ok($second, '>', $first, 'who has waited gets a later one');

# Cancelled there he lets go of it, within a transaction that goes on; by a timeout that is caught, too.
ask($stopped, 'BEGIN; SAVEPOINT here');
start_stopped();
$node->safe_psql('app', "SELECT pg_cancel_backend($stopped->{backend})");
is(answer($stopped), 'ERROR 57014', 'cancelled while he holds the gate');
ask($stopped, 'ROLLBACK TO here');
is(held(), '0', 'he holds it no more');
cmp_ok(my $third = ask($other, $draw), '>', $second, 'others draw');
is(ask($stopped, <<'SQL'), '', 'ended by a timeout');
SET LOCAL statement_timeout = '50ms';
DO $$ BEGIN PERFORM snowid_next(1); EXCEPTION WHEN query_canceled THEN NULL; END $$
SQL
is(held(), '0', 'he holds nothing');
cmp_ok(ask($other, $draw), '>', $third, 'others draw');
ask($holder, 'SELECT pg_advisory_unlock(1)');
ask($stopped, 'ROLLBACK');

# Who has looked, and then comes to the gate late, looks again: what others have drawn meanwhile is theirs.
stop_before(q(EXECUTE 'LOCK TABLE '));
start_stopped();
my @drawn = map { ask($other, $draw) } 1 .. 3;
ask($holder, 'SELECT pg_advisory_unlock(1)');
cmp_ok(my $late = answer($stopped), '>', $drawn[-1], 'who comes late gets an ID above those that were drawn meanwhile');
cmp_ok(ask($other, $draw), '>', $late, 'and the next one is above that');
$node->safe_psql('app', $whole);

# An open transaction that has drawn keeps nobody from anything: neither from drawing nor from setting.
ask($stopped, 'BEGIN; SELECT snowid_next(1); SELECT count(*) FROM snowid_next_batch(1, 2000); SELECT snowid_reserve(1, 5)');
is(held(), '0', 'after draws of each kind nothing is held');
is(ask($other, q(SET lock_timeout = '10s'; SELECT count(*) FROM snowid_next_batch(1, 5000))), '5000', 'others draw');
my $before = ask($stopped, $draw);
ask($stopped, 'ROLLBACK');
cmp_ok(ask($stopped, $draw), '>', $before, 'a rollback takes back nothing');
close_session($stopped, $other, $holder);

# Two make a shard, of whom the first commits, or does not.
my @makers = map { open_session($node, dbname => 'app', user => $owner) } 1, 2;
my $shard = 100;
foreach my $case (map { my $end = $_; map { [ $_, $end ] } 'BEGIN', 'BEGIN ISOLATION LEVEL SERIALIZABLE' } 'COMMIT', 'ROLLBACK')
{
    my ($begin, $end) = @$case;
    $shard++;
    ask($_, $begin) foreach @makers;
    is(ask($makers[0], "SELECT snowid.create_shard($shard)"), '', "the first makes shard $shard");
    start_waiting($makers[1], "SELECT snowid.create_shard($shard)", 'transactionid');
    ask($makers[0], $end);
    is(answer($makers[1]), '', "$begin, $end: the second does so at once") or diag($makers[1]{err});
    is(ask($makers[1], "SELECT snowid_shard(snowid_next($shard)); COMMIT"), $shard, 'and draws from it');
    is(attempt($node, "SELECT snowid_shard(snowid_next($shard))", dbname => 'app'), $shard, 'so does anybody');
}
end_test($node);
