# snowid_rewind() itself: who may call it and when; what others see of it while its transaction is open, rolled
# back, prepared; that nobody can issue with a clock that he has read before; and where its row goes: to
# standbys and into dumps, but not by replication. Rows that are restored set nothing back.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('rewinding', allows_streaming => 'logical');
$node->append_conf('postgresql.conf', "max_prepared_transactions = 5\nsynchronous_commit = off");
start_server($node);

# Not at all where the clock is far behind. What was written ahead before it ran ahead is waited for, as after a start.
my $no_wait = "SET snowid.max_wait = '4s';";
my $next = "$no_wait SELECT snowid_next(1)";
my $rewind = q(SELECT 'rewound' FROM snowid_rewind(now() + interval '30 minutes'));
my $in_rewind = q(SELECT 'rewound' FROM snowid_rewind(clock_timestamp() + interval '30 minutes'));

# A database whose clock was an hour ahead when shard 1, and nobody else, drew an ID.
sub run_wild
{
    my ($name, $at) = @_;
    $node->safe_psql('postgres', "CREATE DATABASE $name");
    $node->safe_psql($name, 'CREATE EXTENSION snowid; SELECT snowid_next(2)');
    set_clock(3600);
    my $wild = $node->safe_psql($name, 'SELECT snowid_next(1)');
    set_clock(0);
    return $wild;
}

# 1. Who, and when.
my $wild = run_wild('who');
$node->safe_psql('who', 'CREATE ROLE owner; CREATE ROLE monitor IN ROLE pg_monitor;'
      . 'GRANT ALL ON DATABASE who TO owner; ALTER DATABASE who OWNER TO owner; GRANT ALL ON SCHEMA public TO owner');
foreach my $role ('owner', 'monitor')
{
    is(attempt($node, "SET ROLE $role; $rewind", dbname => 'who'), 'ERROR 42501', "not for $role");
}
foreach my $moment ("'infinity'", "'-infinity'", 'now()', "now() - interval '1 year'", "now() + interval '5 s'",
    "now() + interval '61 minutes'")
{
    is(attempt($node, "SELECT snowid_rewind($moment)", dbname => 'who'), 'ERROR 22023', "not to $moment");
}
is(attempt($node, 'SELECT snowid_rewind(null) IS NULL', dbname => 'who'), 't', 'null for null');
is(attempt($node, "SET default_transaction_read_only = on; $rewind", dbname => 'who'),
    'ERROR 25006', 'not in a read-only transaction');
is(attempt($node, $next, dbname => 'who'), 'ERROR SN001', 'nothing of that has rewound');
is( attempt($node, "BEGIN; DROP EXTENSION snowid; CREATE EXTENSION snowid; $rewind", dbname => 'who'),
    'ERROR 55000', 'not in a transaction that has made the ceiling anew');
foreach my $change ('DELETE FROM snowid.rewinds', 'TRUNCATE snowid.rewinds',
    q(UPDATE snowid.rewinds SET wild_until = wild_from))
{
    is( attempt($node, "BEGIN; $rewind; $change", dbname => 'who'),
        'ERROR 0A000', "what is wild stays so: $change");
}
is( attempt($node,
        q(INSERT INTO snowid.rewinds SELECT now() + i, now() + j, now() FROM (VALUES (interval '1 h', interval '0 h')) AS t(i, j)),
        dbname => 'who'),
    'ERROR 23514', 'no row that makes no sense');

# 2. While the transaction is open nobody issues more than the clock allows, whatever he has drawn before; it
# draws itself as little. Where it is rolled back, in part or as a whole, it counts for nothing.
$wild = run_wild('open');
my ($rewinder, $other) = map { open_session($node, dbname => 'open') } 1, 2;
like(ask($other, 'SELECT snowid_next(2)'), qr/^\d+$/, 'open: another session, another shard');
ask($rewinder, 'BEGIN; SAVEPOINT s');
is(ask($rewinder, $in_rewind), 'rewound', 'open: rewound');
is(ask($rewinder, 'SELECT count(snowid_next(3)) FROM generate_series(1, 2000000)'),
    'ERROR 55000', 'open: it issues no IDs itself');
ask($rewinder, 'ROLLBACK TO s');
is(ask($rewinder, $next), 'ERROR SN001', 'rolled back to a savepoint: nothing has happened');
ask($rewinder, 'ROLLBACK; BEGIN');
is(ask($rewinder, $in_rewind), 'rewound', 'open: once more');
backend_of($other);
start_asking($other, 'SELECT count(snowid_next(4)) FROM generate_series(1, 2000000)');
wait_until_waiting($node, $other, 'Lock');
ok(!is_answered($other), 'open: who needs more than the clock allows waits');
ask($rewinder, 'ROLLBACK');
is(answer($other), 'ERROR SN001', 'rolled back: up to the old ceiling nothing more is issued');
is(attempt($node, $next, dbname => 'open'), 'ERROR SN001', 'rolled back: by nobody');
is($node->safe_psql('open', 'SELECT count(*) FROM snowid.rewinds'), 0, 'rolled back: no row');
crash($node, 'kill');
start_server($node);
is(attempt($node, $next, dbname => 'open'), 'ERROR SN001', 'rolled back: nor after a crash');

# 3. Prepared: it counts once it commits, with a crash in between.
($rewinder, $other) = map { open_session($node, dbname => 'open') } 1, 2;
ask($rewinder, 'BEGIN');
is(ask($rewinder, $in_rewind), 'rewound', 'prepared: rewound');
ask($rewinder, q(PREPARE TRANSACTION 'rewinding'));
crash($node, 'kill');
start_server($node);
is(attempt($node, "SET lock_timeout = '10ms'; $next", dbname => 'open'), 'ERROR 55P03', 'prepared: others wait');
$node->safe_psql('open', q(COMMIT PREPARED 'rewinding'));
like(attempt($node, $next, dbname => 'open'), qr/^\d+$/, 'prepared: IDs go on when it has committed');
is(attempt($node, "$next < $wild", dbname => 'open'), 't', 'prepared: by the right clock');

# 4. Nobody goes on with a clock, or a ceiling, that he has read before: a process that does not answer is
# waited for. A cancelled wait has rewound nothing.
$wild = run_wild('stale');
($rewinder, $other) = map { open_session($node, dbname => 'stale') } 1, 2;
ask($other, 'SELECT snowid_next(2)');
my $stopped = backend_of($other);
backend_of($rewinder);
kill('STOP', $stopped) or die "cannot stop $stopped: $!";
start_asking($rewinder, $rewind);
wait_until_waiting($node, $rewinder, 'ProcSignalBarrier');
ok(!is_answered($rewinder), 'a stopped process is waited for');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($rewinder->{backend})");
is(answer($rewinder), 'ERROR 57014', 'cancelled');
is(attempt($node, $next, dbname => 'stale'), 'ERROR SN001', 'cancelled: nothing is rewound');
start_asking($rewinder, $rewind);
wait_until_waiting($node, $rewinder, 'ProcSignalBarrier');
kill('CONT', $stopped) or die "cannot continue $stopped: $!";
is(answer($rewinder), 'rewound', 'until it goes on');
is(ask($other, "$no_wait SELECT snowid_next(1) < $wild"), 't', 'then it goes by the right clock');

# 5. A crash right after the commit, before anybody has drawn: to a standby, too.
$wild = run_wild('standby');
$node->safe_psql('standby', $rewind);
my $standby = new_standby($node, 'replica');
start_server($standby);
$node->wait_for_catchup($standby);
crash($node, 'kill');
$standby->promote;
my $promoted = attempt($standby, $next, dbname => 'standby');
like($promoted, qr/^\d+$/, 'promoted: IDs go on');
cmp_ok($promoted, '<', $wild, 'promoted: by the right clock');
$standby->stop;
start_server($node);
my $crashed = attempt($node, $next, dbname => 'standby');
like($crashed, qr/^\d+$/, 'crashed: IDs go on');
cmp_ok($crashed, '<', $wild, 'crashed: by the right clock');
# The ceiling's pages say so now, and need no row any more to say it.
cmp_ok($node->safe_psql('standby', 'SELECT last_value / 1000 - extract(epoch FROM now()) FROM snowid.ceiling'),
    '<', 60, 'crashed: the sequence has come back to the clock');

# A moment in what is wild by $rewind, for some minutes to come.
my $within = 3000;

# 6. A dump that was made when the clock was wild, restored over the database: it sets nothing ahead. One that
# was made since, restored into another: there, too, IDs step over what its rows have.
my $dumped = $node->safe_psql('standby', 'SELECT setval(\'snowid.ceiling\', (extract(epoch FROM wild_until) * 1000)::bigint) FROM snowid.rewinds');
is(attempt($node, "$next < $wild", dbname => 'standby'), 't', 'an older dump sets nothing ahead');
crash($node, 'kill');
start_server($node);
$node->safe_psql('standby', 'SELECT setval(\'snowid.ceiling\', (extract(epoch FROM wild_until) * 1000)::bigint) FROM snowid.rewinds');
is(attempt($node, "$next < $wild", dbname => 'standby'), 't', 'nor where the server has started since');
my $file = PostgreSQL::Test::Utils::tempdir() . '/dump';
$node->command_ok([ 'pg_dump', '-d', $node->connstr('standby'), '-f', $file ], 'dumped');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('copy'), '-f', $file ], 'restored');
my $last = attempt($node, $next, dbname => 'copy');
cmp_ok($last, '>', $crashed, 'restored: IDs go on above those of the dump');
cmp_ok($last, '<', $wild, 'restored: by the clock');
set_clock($within);
my $beyond = q(SELECT snowid_timestamp(snowid_next(1)) > max(wild_until) FROM snowid.rewinds);
is($node->safe_psql('copy', $beyond), 't', 'restored: the wild times are stepped over');
set_clock(0);

# Into one that has come to those times without having known of them: it sets nothing back.
my $rows = $node->safe_psql('standby', 'COPY snowid.rewinds TO STDOUT');
$node->safe_psql('postgres', 'CREATE DATABASE unaware');
set_clock($within);
$node->safe_psql('unaware', 'CREATE EXTENSION snowid');
my $legal = $node->safe_psql('unaware', 'SELECT snowid_next(1)');
$node->safe_psql('unaware', "SET synchronous_commit = on;\nCOPY snowid.rewinds FROM STDIN;\n$rows\n\\.\n");
crash($node, 'kill');
set_clock(0);
start_server($node);
is($node->safe_psql('unaware', 'SELECT count(*) FROM snowid.rewinds'), 1, 'rows that come later');
is(attempt($node, $next, dbname => 'unaware'), 'ERROR SN001', 'rows that come later set nothing back');
set_clock($within);
cmp_ok($node->safe_psql('unaware', 'SELECT snowid_next(1)'), '>', $legal, 'rows that come later: nor there');
set_clock(0);

# Into one that is in use, and has yet to come to them: it steps over them from then on.
$node->safe_psql('postgres', 'CREATE DATABASE aware');
my $user = open_session($node, dbname => 'aware');
ask($user, 'CREATE EXTENSION snowid');
ask($user, 'SELECT snowid_next(1)');
$node->safe_psql('aware', "COPY snowid.rewinds FROM STDIN;\n$rows\n\\.\n");
set_clock($within);
is(ask($user, $beyond), 't', 'rows that come in time: the wild times are stepped over');
is( ask($user, "BEGIN; INSERT INTO snowid.rewinds SELECT now() + interval '1 d', now() + interval '2 d', now(); PREPARE TRANSACTION 'rows'"),
    'ERROR 0A000', 'rows are not prepared');
close_session($user);
set_clock(0);

# Where it is among them already, too, from the next ID on.
$node->safe_psql('postgres', 'CREATE DATABASE among');
$node->safe_psql('among', q(CREATE EXTENSION snowid; SELECT snowid_next(1);
INSERT INTO snowid.rewinds VALUES (now() - interval '1 h', now() + interval '1 min', now() - interval '2 h')));
is($node->safe_psql('among', $beyond), 't', 'rows that come late: the wild times are stepped over at once');

# 7. The extension dropped and made again knows what was wild.
is( $node->safe_psql('standby', q(
SELECT snowid_next(1);
CREATE TABLE was AS TABLE snowid.rewinds;
DROP EXTENSION snowid;
CREATE EXTENSION snowid;
SELECT count(*) FROM snowid.rewinds JOIN was USING (wild_from, wild_until))) =~ s/^.*\n//r,
    1, 'made again: it is known what was wild');

# 8. A shard that was released stays so, also where the clock was beyond its layout's end.
$node->safe_psql('postgres', 'CREATE DATABASE released');
$node->safe_psql('released', 'CREATE EXTENSION snowid; SELECT snowid_next(1), snowid_release(8)');
set_clock(25 * 365 * 86_400);
$node->safe_psql('released', q(SELECT snowid_next(1, 'twitter')));
is(attempt($node, $next, dbname => 'released'), 'ERROR 2200H', 'beyond the end of a layout');
$node->stop;
set_clock(0);
start_server($node);
is(attempt($node, $next, dbname => 'released'), 'ERROR 2200H', 'beyond the end of a layout: still after a start');
is(attempt($node, 'SELECT snowid_next(8)', dbname => 'released'), 'ERROR 55000', 'nothing of a released shard');
is(attempt($node, "SELECT 'rewound' FROM snowid_rewind(now() + interval '20 years')", dbname => 'released'),
    'rewound', 'beyond the end of a layout: rewound');
like(attempt($node, $next, dbname => 'released'), qr/^\d+$/, 'IDs go on where the layout was used up');
is(attempt($node, 'SELECT snowid_next(8)', dbname => 'released'), 'ERROR 55000', 'a released shard stays so');
crash($node, 'kill');
start_server($node);
is(attempt($node, 'SELECT snowid_next(8)', dbname => 'released'), 'ERROR 55000', 'also after a crash');

# Nobody's lock on the table keeps it from that, and who closes a shard waits for it without holding anything.
$node->safe_psql('postgres', 'CREATE DATABASE moved');
$node->safe_psql('moved', 'CREATE EXTENSION snowid; SELECT snowid_next(1), snowid_release(8)');
set_clock(600);
my $moment = $node->safe_psql('moved', 'SELECT snowid_timestamp(snowid_next(1))');
set_clock(0);
my $holder = open_session($node, dbname => 'moved');
ask($holder, 'BEGIN; LOCK TABLE snowid.released_shards IN ACCESS EXCLUSIVE MODE');
$rewinder = open_session($node, dbname => 'moved');
ask($rewinder, "SET lock_timeout = '10s'; BEGIN");
is(ask($rewinder, "SELECT 'rewound' FROM snowid_rewind('$moment')"), 'rewound', 'beside who has locked released shards');
ask($holder, 'ROLLBACK');
backend_of($holder);
start_asking($holder, "INSERT INTO snowid.released_shards SELECT 9, 'instagram', snowid_encode(now(), 9, 0), null, now()");
wait_until_waiting($node, $holder, 'Lock');
is( $node->safe_psql('moved', "SELECT count(*) FROM pg_locks WHERE pid = $holder->{backend} AND locktype = 'object' AND granted"),
    0, 'who closes a shard waits for it without having locked that');
ask($rewinder, 'COMMIT');
is(answer($holder), '', 'and goes on');
close_session($rewinder, $holder);
foreach my $at (0, 300, 700)
{
    set_clock($at);
    is(attempt($node, "SELECT snowid_next($_)", dbname => 'moved'), 'ERROR 55000', "released $_ at $at s") foreach 8, 9;
}
set_clock(0);
# A shard that is accepted back is closed until that commits, also where the wild clock has used its layout up.
$node->safe_psql('postgres', 'CREATE DATABASE accepted');
my $back = $node->safe_psql('accepted', 'CREATE EXTENSION snowid; SELECT snowid_release(8)');
set_clock(25 * 365 * 86_400);
attempt($node, $_, dbname => 'accepted') foreach $next, q(SELECT snowid_next(1, 'twitter'));
# A server cannot be expected to work on while its clock goes back by decades: its checkpointer does not.
$node->stop;
set_clock(0);
start_server($node);
is( attempt($node, "BEGIN; SELECT snowid_accept($back); SELECT snowid_rewind(now() + interval '20 years'); ROLLBACK", dbname => 'accepted') =~ s/\n.*//sr,
    '', 'accepted, rewound and rolled back');
is(attempt($node, 'SELECT snowid_next(8)', dbname => 'accepted'), 'ERROR 55000', 'accepted, rolled back: stays released');
is(attempt($node, $next, dbname => 'accepted'), 'ERROR 2200H', 'accepted, rolled back: the layout is used up');
is(attempt($node, "SELECT 'rewound' FROM snowid_rewind(now() + interval '20 years')", dbname => 'accepted'), 'rewound', 'rewound after that');
like(attempt($node, $next, dbname => 'accepted'), qr/^\d+$/, 'rewound after that: IDs go on');
is(attempt($node, 'SELECT snowid_next(8)', dbname => 'accepted'), 'ERROR 55000', 'rewound after that: stays released');

# 9. Many times.
$wild = run_wild('often');
$node->safe_psql('often', $rewind);
foreach my $hours (2 .. 8)
{
    set_clock($hours * 7200);
    like(attempt($node, $next, dbname => 'often'), qr/^\d+$/, "rewound $hours times: IDs go on");
    set_clock($hours * 7200 + 3600);
    $wild = attempt($node, $next, dbname => 'often');
    set_clock($hours * 7200);
    is(attempt($node, $rewind, dbname => 'often'), 'rewound', "rewound $hours times");
    is(attempt($node, "$next < $wild", dbname => 'often'), 't', "rewound $hours times: by the clock");
    is($node->safe_psql('often', 'SELECT count(*) FROM snowid.rewinds'), $hours, "rewound $hours times: it is known of each");
}
# And several that are all to come.
foreach my $days (9, 2, 7, 3, 6, 4)
{
    set_clock($days * 86_400);
    $wild = attempt($node, 'SELECT snowid_next(5)', dbname => 'often');
    set_clock(70_000);
    is(attempt($node, "SELECT 'rewound' FROM snowid_rewind(snowid_timestamp($wild))", dbname => 'often'),
        'rewound', "$days days ahead: rewound");
    is(attempt($node, "$no_wait SELECT snowid_next(5) < $wild", dbname => 'often'), 't', "$days days ahead: by the clock");
}
$node->safe_psql('often', 'CREATE TABLE ids (id bigint)');
foreach my $days (2, 3, 4, 6, 7, 9)
{
    set_clock($days * 86_400);
    $node->safe_psql('often', 'INSERT INTO ids SELECT snowid_next(s) FROM generate_series(5, 7) AS s');
}
is( $node->safe_psql('often',
        'SELECT count(*) FROM ids, snowid.rewinds WHERE snowid_between(id, wild_from, wild_until)'),
    0, 'several to come: all of them are stepped over');

my $first;

# 10. A clock that was wild for ten minutes: when the right one comes there nobody waits for as long, and there
# are IDs through all of it. The ObjectIDs, too, go on by the clock, and differ from those of the wild clock.
set_clock(0);
run_wild('long');
my $oid = 'substr(objectid_next()::text, 9, 10)';
my $then = $node->safe_psql('long', "$rewind; SELECT $oid") =~ s/.*\n//r;
set_clock(86_400);
$first = $node->safe_psql('long', 'SELECT snowid_next(1)');
is($node->safe_psql('long', "SELECT $oid"), $then, 'ten minutes: one random number in all ObjectIDs');
set_clock(87_000);
$node->safe_psql('long', 'SELECT snowid_next(1), objectid_next()');
set_clock(0);
is(attempt($node, "$no_wait SELECT objectid_next()", dbname => 'long'), 'ERROR SN001', 'ten minutes: no ObjectID');
is(attempt($node, "SELECT 'rewound' FROM snowid_rewind(snowid_timestamp($first))", dbname => 'long'),
    'rewound', 'ten minutes: rewound');
isnt(attempt($node, "$no_wait SELECT $oid", dbname => 'long'), $then, 'ten minutes: ObjectIDs have another random number');
# Most of what may be ahead of the clock each time, in a layout that has 16 IDs a millisecond.
my $sparse = 'time:41 shard:18 seq:4 unit:1ms epoch:2020-01-01T00:00:00Z';
foreach my $at (0, 10, 300, 310, 590, 600, 610, 1100, 1190)
{
    set_clock(86_400 + $at);
    is( attempt($node, "$no_wait SELECT count(DISTINCT snowid_next(1, '$sparse')) FROM generate_series(1, 14000)", dbname => 'long'),
        14_000, "ten minutes: $at s after their beginning there are IDs");
}
set_clock(86_400 + 1300);
is( attempt($node, "$no_wait SELECT snowid_timestamp(snowid_next(1)) < now() + interval '10 s'", dbname => 'long'),
    't', 'ten minutes: after as long again IDs are by the clock');

$node->stop;
done_testing();
