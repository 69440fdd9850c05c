# What statistics say is so: each ID that was issued is counted once, whatever became of its transaction and
# whoever drew it; so are callers that wait or are refused, and clocks that are set back. The server's log
# hears of these once a minute, with figures. Other databases' counts are their own, a reset is a reset, and
# nobody sees any of it who may not.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;
use Time::HiRes qw(sleep);

my $node = new_server('statistics', allows_streaming => 1);
$node->append_conf('postgresql.conf', "max_prepared_transactions = 5\n");
start_server($node);
$node->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE DATABASE other');
$node->safe_psql('other', 'CREATE EXTENSION snowid');
$node->safe_psql('postgres', objects_for_workers());

# A column of a shard's row.
sub shard
{
    my ($column, $shard, $layout) = @_;
    $layout //= 'instagram';
    return $node->safe_psql('postgres',
        "SELECT $column FROM snowid.stat_shards WHERE shard = $shard AND layout = '$layout'");
}

sub issued { return shard('issued', @_) }

sub database
{
    my ($column) = @_;
    return $node->safe_psql('postgres', "SELECT $column FROM snowid.stat_database");
}

# How many lines of the log say something.
sub logged
{
    my ($pattern) = @_;
    return scalar(() = slurp_file($node->logfile) =~ /LOG:  $pattern/g);
}

# 1. Every ID counts, once.
is(database('ceiling_raises'), '0', 'nothing has happened yet');
my @sessions = map { draw($node, 'snowid_next(1)', 5_000) } 1 .. 4;
finish(@sessions);
my ($drawn, $last) = check_round('sessions', 0, @sessions);
is($drawn, 20_000, 'sessions draw');
is(issued(1), 20_000, 'IDs of concurrent sessions');
is(shard('last_id', 1), $last, 'the last ID');
is(shard('last_time = snowid_timestamp(last_id)', 1), 't', 'and its time');
is(shard('layout_end', 1) =~ /^2046-06-27/ ? 1 : 0, 1, 'when the layout ends');
cmp_ok(database('ceiling_raises'), '>', 0, 'the ceiling was raised');
cmp_ok(database('wal_flushes'), '>', 0, 'and somebody has waited for that');
is(database('wal_flush_time > 0'), 't', 'for some time');
is($node->safe_psql('postgres',
        q(SELECT date_trunc('milliseconds', d.ceiling) = 'epoch'::timestamptz + c.last_value * interval '1 ms'
            FROM snowid.stat_database d, snowid_internal.ceiling c)), 't', 'the ceiling');
is(database('database'), 'postgres', 'the database');

my $session = open_session($node);
ask($session, 'BEGIN; SELECT count(snowid_next(2)) FROM generate_series(1, 600); ROLLBACK');
is(issued(2), 600, 'IDs of a transaction that was rolled back');
ask($session, 'BEGIN; SAVEPOINT s; SELECT count(snowid_next(2)) FROM generate_series(1, 50);'
      . ' ROLLBACK TO s; SELECT snowid_next(2); COMMIT');
is(issued(2), 651, 'of a savepoint');
is(ask($session, q(BEGIN; SELECT snowid_next(2) \g /dev/null
    SELECT issued FROM snowid.stat_shards WHERE shard = 2)), '652', 'a session sees its own at once');
ask($session, q(PREPARE TRANSACTION 'p'));
is(issued(2), 652, 'of a prepared one');
ask($session, q(ROLLBACK PREPARED 'p'));
is(ask($session, 'BEGIN; SELECT count(snowid_next(2)) FROM generate_series(1, 10)'), '10', 'one that is open');
$node->safe_psql('postgres', 'SELECT pg_terminate_backend(' . backend_of($session) . ')');
wait_for(sub { $node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE pid = $session->{backend}") eq '0' },
    'the session to end');
is(issued(2), 662, 'of a session that was terminated');
close_session($session);

like(attempt($node, 'SELECT snowid_uuidv7()'), qr/-/, 'what has no shard');
is(attempt($node, 'SELECT count(*) FROM snowid_next_batch(3, 3000)'), '3000', 'a batch');
is(issued(3), 3000, 'counts');
is(attempt($node, 'SELECT snowid_reserve(3, 50) > 0'), 't', 'a reservation');
is(issued(3), 3050, 'counts');
is(attempt($node, 'SELECT snowid.advance_shard(snowid_next(3))'), '', 'what is passed over');
is(issued(3), 3051, 'does not');
my $wide = 'time:31 shard:22 seq:10 unit:1s epoch:2020-01-01T00:00:00Z';
is(attempt($node, "SELECT count(snowid_next(4000000, '$wide')) FROM generate_series(1, 300)"), '300', 'a shard above a million');
is(issued(4000000, $wide), 300, 'counts');
is(attempt($node, "SELECT count(snowid_next(s, 'twitter')) FROM generate_series(0, 999) s"), '1000', 'many shards');
is($node->safe_psql('postgres', q(SELECT count(*), sum(issued) FROM snowid.stat_shards WHERE layout = 'twitter')),
    '1000|1000', 'count, each its own');
# Room for more shards is made while there are IDs to be counted of the first: they are, and those of later transactions.
my $growing = open_session($node);
ask($growing, 'BEGIN; SELECT snowid_next(60); SELECT snowid_next(8000); SELECT snowid_next(60); COMMIT');
is(issued(60), 2, 'IDs of a transaction that goes on to shards far above');
ask($growing, 'SELECT snowid_next(60)') foreach 1 .. 3;
is(issued(60), 5, 'and those of the session\'s next transactions');
close_session($growing);
cmp_ok(database('ids_memory'), '>=', 1000 * 64, 'and take memory');
is(database('counters_memory'), '0', 'which others do not');
is(database(q(total_memory IS NULL OR total_memory >= ids_memory)), 't', 'out of what there is in all');

# 2. The clock stands still, where it is told to.
my $now = int(time);
my $at = sub { stop_clock($now + $_[0], $node) };
$node->safe_psql('postgres', 'CREATE DATABASE lasting');
$node->safe_psql('lasting', 'CREATE EXTENSION snowid');
my $lasting = open_session($node, dbname => 'lasting');
my $steps = sub { database('clock_steps_back') };
my $draws = sub { is(attempt($node, 'SELECT snowid_next(5) > 0'), 't', $_[0]) };
$at->(100);
$draws->('a clock that stands still');
is($steps->(), 0, 'was not set back');
$at->(99.998);
$draws->('2 ms back');
is($steps->(), 0, 'is noise');
$at->(99.75);
$draws->('250 ms back') for 1 .. 3;
is($steps->(), 1, 'is seen once, by those who need not wait');
is(logged('the clock was set back by 250 ms or more'), 1, 'the log tells by how much');
is(shard('lead', 5), 250, 'the lead now');
$at->(99.5);
$draws->('250 ms more');
is($steps->(), 2, 'counts');
is(logged('the clock was set back'), 1, 'but the log is told once a minute');
# A session that draws in one transaction after another looks at the clock in each.
ask($lasting, 'SELECT snowid_next(5)');
$at->(99.25);
ask($lasting, 'SELECT snowid_next(5)');
is(ask($lasting, 'SELECT clock_steps_back FROM snowid.stat_database'), 1, 'and is seen by a session that has drawn before');
close_session($lasting);
$at->(200);
$draws->('on again');
is(shard('lead', 5), 0, 'no lead');
is(shard('last_time = clock_timestamp()', 5), 't', 'which is of now');

# Refused, and what the log says of it.
$at->(-3600);
is(attempt($node, 'SELECT snowid_next(5)'), 'ERROR SN001', 'an hour back: refused') for 1 .. 3;
is(database('refusals'), 3, 'refusals');
is(shard('issued', 5), 7, 'are no IDs');
is($steps->(), 3, 'the step is seen by who is refused, too');
is(shard('lead', 5), 3_800_000, 'the lead');
is(logged('a caller was refused an ID of shard 5 of layout "instagram"'), 1, 'the log is told once');
like(slurp_file($node->logfile), qr/DETAIL:  The clock is 01:03:20 behind the next ID. Refused in this database so far: 1[.]/, 'with figures');
$at->(-7200);
is(attempt($node, 'SELECT snowid_uuidv7()'), 'ERROR SN001', 'what has no shard is the first to see another step back');
is($steps->(), 4, 'and counts it');
is(database('refusals'), 4, 'and its refusal');
my (undef, undef, $heard) = $node->psql('postgres', 'SET client_min_messages = log; SELECT snowid_next(5)');
unlike($heard, qr/LOG:  (?!statement)/, 'which are for the log alone');
is(attempt($node, 'SELECT snowid.release_shard(6) > 0'), 't', 'a shard that is closed');
is(attempt($node, 'SELECT snowid_next(6)'), 'ERROR 55000', 'issues nothing');
is(database('refusals'), 6, 'a refusal');
is(shard(q(coalesce(last_id::text, 'none') || lead), 6), 'none0', 'and has no last ID');
is(attempt($node, q(SELECT snowid_next(0, 'baidu'))), 'ERROR 2200H', 'a layout that is used up');
is(database('refusals'), 7, 'a refusal');
is(shard('issued', 0, 'baidu'), 0, 'nothing issued');

# Waiting. The clock goes on, or no timeout of the server would come.
set_clock(-7200, $node);
my $waits = database('waits');
is(attempt($node, q(SET snowid.max_wait = '1d'; SET statement_timeout = '200ms'; SELECT snowid_next(5))),
    'ERROR 57014', 'who does not wait to the end') for 1 .. 2;
is(database('waits') - $waits, 2, 'has waited');
my $waiting = draw($node, 'snowid_next(5)', 1, setup => "SET snowid.max_wait = '1d'");
my $event = $node->pg_version >= 17 ? 'SnowidClock' : 'Extension';
wait_for_waiting($node, 1, $event, 'snowid_next');
wait_for(sub { database('waits') - $waits == 3 && database('wait_time >= 1000') eq 't' }, 'the wait to be counted while it lasts');
wait_for(sub { logged('a caller has waited for the clock') == 1 }, 'the log to tell of a wait of over a second');
my $longer = draw($node, 'snowid_next(5)', 1, setup => "SET snowid.max_wait = '1d'");
wait_for(sub { database('waits') - $waits == 4 && database('wait_time >= 3000') eq 't' }, 'two to wait');
$at->(300);
finish($waiting, $longer);
is((check_round('the clock is right', 0, $waiting, $longer))[0], 2, 'both are served');
is(database('waits') - $waits, 4, 'waits');
is(logged('a caller has waited for the clock'), 1, 'the log is told once a minute');
like(slurp_file($node->logfile), qr/DETAIL:  The next ID of shard 5 of layout "instagram" is (?:\d+ ms|\d\d:\d\d:\d\d) ahead/, 'with figures');

# The greatest lead: of who may run ahead of the clock.
$at->(290);
is(attempt($node, q(SET snowid.max_lead = '1h'; SELECT snowid_next(5) > 0)), 't', 'ten seconds ahead');
$at->(280);
is(attempt($node, q(SET snowid.max_lead = '1h'; SELECT count(*) FROM snowid_next_batch(5, 2000000))), '2000000', 'a burst');
cmp_ok(database('max_lead'), '>=', 20_000, 'the greatest lead');
cmp_ok(database('max_lead'), '<=', shard('lead', 5), 'is what was seen of it');

# 3. A ceiling that is hard to raise.
set_clock(3600, $node);
my $held = hold_commits($node);
my $raises = database('ceiling_raises');
my $raising = open_session($node);
backend_of($raising);
start_asking($raising, 'SELECT snowid_next(5) > 0');
wait_until_waiting($node, $raising, 'SyncRep');
sleep 1.1;
is(logged('raising the ceiling of IDs took'), 0, 'while it lasts the log does not know');
release_commits($node, $held);
is(answer($raising), 't', 'a standby that does not answer');
is(logged('raising the ceiling of IDs took \d{4,} ms'), 1, 'is told to the log');
is(database('wal_flush_time > 1000'), 't', 'and counted');
cmp_ok(database('ceiling_raises'), '>', $raises, 'as is the raise');
close_session($raising);

# 4. A reset is of this database's counts alone, and of all of them.
is($node->safe_psql('other', 'SELECT snowid_next(5) > 0'), 't', 'another database');
is($node->safe_psql('other', 'SELECT sum(issued) FROM snowid.stat_shards'), 1, 'has counts of its own');
is(database(q(coalesce(stats_reset::text, 'never'))), 'never', 'never reset');
is($node->safe_psql('postgres', 'SELECT snowid_stat_reset()'), '', 'reset');
is($node->safe_psql('postgres', 'SELECT sum(issued), count(last_id) FROM snowid.stat_shards'), '0|0', 'nothing is left');
is(database('ceiling_raises, wal_flushes, wal_flush_time, waits, wait_time, refusals, clock_steps_back, max_lead'),
    '0|0|0|0|0|0|0|0', 'nor of the database');
is(database('stats_reset <= clock_timestamp()'), 't', 'when');
is($node->safe_psql('other', 'SELECT sum(issued) FROM snowid.stat_shards'), 1, 'the other database has its counts');
$draws->('after the reset');
is(issued(5), 1, 'it counts from there');

# 5. Rights.
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE plain LOGIN; CREATE ROLE monitor LOGIN IN ROLE pg_monitor; CREATE ROLE owner LOGIN;
CREATE DATABASE owned OWNER owner;
SQL
my %sees = (
    'SELECT count(*) >= 0 FROM snowid.stat_shards' => 1,
    'SELECT count(*) FROM snowid.stat_database' => 1,
    'SELECT count(*) >= 0 FROM snowid.shard_statistics()' => 1,
    'SELECT count(*) FROM snowid.database_statistics()' => 1,
    'SELECT count(*) >= 0 FROM snowid.registry_usage' => 1,
    'SELECT count(*) >= 0 FROM snowid.registry' => 1,
    'SELECT snowid_stat_reset()' => 0);
my $as = sub { my ($role, $dbname, $sql) = @_;
    my $asked = open_session($node, user => $role, dbname => $dbname);
    my $answer = ask($asked, $sql);
    close_session($asked);
    return $answer; };
$as->('owner', 'owned', 'CREATE EXTENSION snowid; SELECT snowid_next(1)');
foreach my $sql (sort keys %sees)
{
    is($as->('plain', 'owned', $sql), 'ERROR 42501', "plain role: $sql");
    like($as->('monitor', 'owned', $sql), $sees{$sql} ? qr/^[t1]$/ : qr/^ERROR 42501$/, "pg_monitor: $sql");
    like($as->('owner', 'owned', $sql), qr/^[t1]?$/, "the extension's owner: $sql");
}
$as->('owner', 'owned', 'GRANT EXECUTE ON FUNCTION snowid_stat_reset() TO plain');
is($as->('plain', 'owned', 'SELECT snowid_stat_reset()'), '', 'he may let others reset');
foreach my $of ([ 'shards', 'shard' ], [ 'database', 'database' ], [ 'counters', 'counter' ])
{
    my ($view, $function) = @$of;
    $as->('owner', 'owned', "GRANT SELECT ON snowid.stat_$view TO plain; GRANT EXECUTE ON FUNCTION snowid.${function}_statistics() TO plain");
    is($as->('plain', 'owned', "SELECT count(*) >= 0 FROM snowid.stat_$view"), 't', "and read snowid.stat_$view");
}

# 6. A crash: counts begin anew.
crash($node, 'kill');
start_server($node);
is($node->safe_psql('postgres', 'SELECT count(*) FROM snowid.stat_shards'), 0, 'after a crash there is nothing');
is(database(q(ceiling_raises || coalesce(stats_reset::text, 'never'))), '0never', 'of the database neither');
$draws->('after the crash');
is(issued(5), 1, 'counts begin anew');
check_log($node);
$node->stop;
done_testing();
