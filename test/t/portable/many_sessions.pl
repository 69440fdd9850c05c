# portable/snowid.sql: no ID comes twice and all are in order, whoever draws beside whom, and wherever in a draw a session
# is stopped or cancelled. What a draw locks it lets go of at once, not when its transaction ends.
#
# Runs in make test-all: sessions draw for long.

use strict;
use warnings;

use IPC::Run;
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('many_sessions');
$node->append_conf('postgresql.conf', 'max_connections = 60');
# With the real clock: what fakes one is not safe where a timeout's signal asks for the time.
$node->start;
my $owner = portable_owner();
create_portable($node, 'app', shards => [ 1 .. 3 ]);
$node->safe_psql('postgres', 'CREATE ROLE clerk LOGIN');

# Has a draw stop at a place in snowid.take, in sessions that say so, for as long as the lock 1 is held. The place is
# before a line of it.
sub stop_before
{
    my ($line) = @_;
    $node->safe_psql('app', <<"SQL");
DO \$do\$
DECLARE
  body text := pg_get_functiondef('snowid.take'::regproc);
  line text := \$line\$$line\$line\$;
BEGIN
  ASSERT length(replace(body, line, '')) = length(body) - length(line), 'once';
  EXECUTE replace(body, line, 'IF current_setting(''test.stop'', true) = ''on'' THEN'
    ' PERFORM pg_advisory_xact_lock(1); END IF; ' || line);
END \$do\$
SQL
    return;
}
my $whole = $node->safe_psql('app', q(SELECT pg_get_functiondef('snowid.take'::regproc)));

my ($stopped, $other, $holder) = map { open_session($node, dbname => 'app', user => $_) } 'clerk', 'clerk', $owner;
ask($stopped, 'SET test.stop = on');
backend_of($_) foreach $stopped, $other;
my $held = sub { $node->safe_psql('app', "SELECT count(*) FROM pg_locks WHERE relation::regclass::text ~ '_gate' AND pid = $_[0]{backend}") };

# Who has looked and not yet set the sequence keeps others from drawing: they would draw what he sets it to.
stop_before('last := setval(seq, tick + wanted - 1)');
ask($holder, 'SELECT pg_advisory_lock(1)');
start_asking($stopped, 'SELECT snowid_next(1)');
wait_until_waiting($node, $stopped, 'advisory');
start_asking($other, 'SELECT snowid_next(1)');
wait_until_waiting($node, $other, 'relation');
is($held->($stopped), '1', 'who sets a sequence holds its gate');
is(attempt($node, 'SELECT snowid_next(2) > 0', dbname => 'app'), 't', 'another shard is drawn from meanwhile');
ask($holder, 'SELECT pg_advisory_unlock(1)');
my ($first, $second) = (answer($stopped), answer($other));
cmp_ok($second, '>', $first, 'who has waited gets a later one');

# Cancelled there he lets go of it, within a transaction that goes on.
ask($holder, 'SELECT pg_advisory_lock(1)');
ask($stopped, 'BEGIN; SAVEPOINT here');
start_asking($stopped, 'SELECT snowid_next(1)');
wait_until_waiting($node, $stopped, 'advisory');
$node->safe_psql('app', "SELECT pg_cancel_backend($stopped->{backend})");
is(answer($stopped), 'ERROR 57014', 'cancelled while he holds the gate');
ask($stopped, 'ROLLBACK TO here');
is($held->($stopped), '0', 'he holds it no more');
my $third = ask($other, 'SELECT snowid_next(1)');
cmp_ok($third, '>', $second, 'others draw');
# By a timeout, too, which is caught where nobody had thought of the lock.
is(ask($stopped, <<'SQL'), '', 'ended by a timeout');
SET LOCAL statement_timeout = '50ms';
DO $$ BEGIN PERFORM snowid_next(1); EXCEPTION WHEN query_canceled THEN NULL; END $$
SQL
is($held->($stopped), '0', 'he holds nothing');
is(ask($other, 'SELECT snowid_next(1) > ' . $third), 't', 'others draw');
ask($holder, 'SELECT pg_advisory_unlock(1)');
ask($stopped, 'ROLLBACK');

# Who has looked, and then comes to the gate late, looks again: what others have drawn meanwhile is theirs.
$node->safe_psql('app', $whole);
stop_before(q(EXECUTE 'LOCK TABLE '));
ask($holder, 'SELECT pg_advisory_lock(1)');
start_asking($stopped, 'SELECT snowid_next(1)');
wait_until_waiting($node, $stopped, 'advisory');
my @drawn = map { ask($other, 'SELECT snowid_next(1)') } 1 .. 3;
ask($holder, 'SELECT pg_advisory_unlock(1)');
my $late = answer($stopped);
cmp_ok($late, '>', $drawn[-1], 'who comes late gets an ID above those that were drawn meanwhile');
cmp_ok(ask($other, 'SELECT snowid_next(1)'), '>', $late, 'and the next one is above that');
$node->safe_psql('app', $whole);

# An open transaction that has drawn keeps nobody from anything: neither from drawing nor from setting.
ask($stopped, 'BEGIN; SELECT snowid_next(1); SELECT count(*) FROM snowid_next_batch(1, 2000); SELECT snowid_reserve(1, 5)');
is($held->($stopped), '0', 'after draws of each kind nothing is held');
is(ask($other, q(SET lock_timeout = '10s'; SELECT count(*) FROM snowid_next_batch(1, 5000))), '5000', 'others draw');
my $before = ask($stopped, 'SELECT snowid_next(1)');
ask($stopped, 'ROLLBACK');
cmp_ok(ask($stopped, 'SELECT snowid_next(1)'), '>', $before, 'a rollback takes back nothing');
close_session($stopped, $other, $holder);

# A shard that two sessions make at once is there for both, whether the first one commits or not.
my @makers = map { open_session($node, dbname => 'app', user => $owner) } 1 .. 2;
backend_of($_) foreach @makers;
my $shard = 100;
foreach my $end ('COMMIT', 'ROLLBACK')
{
    foreach my $begin ('BEGIN', 'BEGIN ISOLATION LEVEL SERIALIZABLE')
    {
        $shard++;
        ask($_, $begin) foreach @makers;
        is(ask($makers[0], "SELECT snowid.create_shard($shard)"), '', "the first makes shard $shard");
        start_asking($makers[1], "SELECT snowid.create_shard($shard)");
        wait_until_waiting($node, $makers[1], 'transactionid');
        ask($makers[0], $end);
        is(answer($makers[1]), '', "$begin, $end: the second does so at once") or diag($makers[1]{err});
        is(ask($makers[1], "SELECT snowid_shard(snowid_next($shard))"), $shard, 'and draws from it');
        is(ask($makers[1], 'COMMIT'), '', 'and commits');
        is(attempt($node, "SELECT snowid_shard(snowid_next($shard))", dbname => 'app'), $shard, 'so does anybody');
    }
}
close_session(@makers);
# As many as they come.
foreach my $round (1 .. 3)
{
    my @rush = map { open_session($node, dbname => 'app', user => $owner) } 1 .. 12;
    start_asking($_, "SELECT snowid.create_shard(n) FROM generate_series($round * 200, $round * 200 + 9) AS n") foreach @rush;
    is(join('', map { answer($_) =~ s/\n//gr } @rush), '', 'twelve sessions make the same ten shards');
    close_session(@rush);
}

# Sessions whose statements each are a transaction; IDs of those that were cancelled are nobody's.
my $dir = PostgreSQL::Test::Utils::tempdir();
append_to_file("$dir/draws", "SELECT snowid_next(3);\n" x 150 . "SELECT snowid_next_batch(3, 20);\nSELECT snowid_reserve(3, 3) + 2;\n" x 3);
my ($count, $latest, $rounds) = (0, 0, 0);
my %errors;
# As often as it takes until enough were cancelled, which is a matter of chance.
until (($errors{57014} // 0) > 10 || $rounds++ == 20)
{
    my @sessions = map {
        my $file = "$dir/drawn$rounds.$_";
        # Some are ended by their own clock, most are cancelled.
        my @setup = $_ % 4 ? () : ('-c', q(SET statement_timeout = '4ms'));
        { file => $file, run => IPC::Run::start(
                [ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-U', 'clerk', '-d', $node->connstr('app'), @setup, '-f', "$dir/draws" ],
                '<', \undef, '>', $file, '2>', "$file.err") }
    } 1 .. 32;
    wait_for(
        sub {
            return $node->safe_psql('app', <<'SQL') eq '0';
SELECT count(*) FILTER (WHERE random() > 0.2 OR pg_cancel_backend(pid)) FROM pg_stat_activity WHERE usename = 'clerk'
SQL
        },
        'the sessions to end');
    finish(@sessions);
    (my $drawn, $latest) = check_round('32 sessions that are cancelled', $latest, @sessions);
    $count += $drawn;
    $errors{$_}++ foreach errors_of(@sessions) =~ /ERROR:  (\w{5}):/g;
}
cmp_ok($count, '>', 1000, 'they have drawn');
cmp_ok($errors{57014} // 0, '>', 10, 'statements were cancelled');
is(join(' ', sort keys %errors), '57014', 'and nothing else went wrong');
is($node->safe_psql('app', q(SELECT count(*) FROM pg_locks WHERE relation::regclass::text ~ '_gate')), '0', 'no gate is held');

# Without cancels, as fast as they can, and batches beside them.
my @fast = ((map { draw($node, 'snowid_next(2)', 1500, dbname => 'app') } 1 .. 16), map { draw($node, 'snowid_next_batch(2, 3000)', 1, dbname => 'app') } 1 .. 4);
finish(@fast);
is(errors_of(@fast), '', 'nobody was refused');
($count) = check_round('20 sessions', 0, @fast);
is($count, 16 * 1500 + 4 * 3000, 'all that they have asked for');

$node->stop;
check_log($node);
done_testing();
