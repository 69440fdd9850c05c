# Two servers that go by one number would make the same IDs. Whatever copies a database, it is found out: by
# itself where it is another server or another database than the one that joined, and else by the exchange
# of tokens, whichever of the two comes second. From then on, durably, it refuses all IDs, those of shards that
# are named, too. A promoted standby is no copy: it goes on as its primary, but not while that one checks; nor
# does what was restored from an archive displace the server that it was taken from.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir();

# All clocks go on together by what they are set to.
my $clock = 0;
sub pass_time { my ($seconds) = @_; set_clock($clock += $seconds); return }
sub start { my ($node) = @_; set_clock($clock, $node); start_server($node); return $node }

my $registry = start(new_server('registry'));
$registry->safe_psql('postgres', 'CREATE EXTENSION snowid');
my $original = new_server('original', allows_streaming => 1, has_archiving => 1);
$original->append_conf('postgresql.conf', "wal_sender_timeout = 0\nwal_receiver_timeout = 0\n");
start($original);
add_source($original, $registry, name => 'registry');

sub number_of { my ($node, $dbname) = @_; return attempt($node, 'SELECT snowid_default_shard(), snowid_shard(snowid_next())', dbname => $dbname) }
sub check { my ($node, $dbname) = @_; return attempt($node, 'SELECT snowid_check()', dbname => $dbname) }
sub join_as { my ($node, $name, $dbname) = @_; return attempt($node, "SELECT snowid_join('registry', '$name')", dbname => $dbname) }
sub message_of { my ($node, $sql, $dbname) = @_; return ($node->psql($dbname // 'postgres', $sql))[2] }

# Who takes over waits until all that others may have drawn is past.
sub take_over
{
    my ($node, $dbname, $sql) = @_;
    my $session = open_session($node, dbname => $dbname // 'postgres');
    start_asking($session, $sql // 'SELECT snowid_check(take_over => true)');
    my $waits = sub { $session->{err} =~ /waiting until/ };
    wait_for(sub { is_answered($session) || $waits->() }, 'the take-over to wait');
    pass_time(12) if $waits->();
    my $answer = answer($session);
    close_session($session);
    return $answer;
}

# Has the registry do something before it is asked, or in place of that, for each request.
my $arguments = 'request text, node text, number bigint, secret text, known bigint, next bigint, database text,'
  . ' system_identifier bigint, database_oid bigint, timeline bigint, registry text';
sub stand_between
{
    my ($body) = @_;
    $registry->safe_psql('postgres', <<"SQL");
ALTER FUNCTION snowid.register RENAME TO away;
CREATE FUNCTION snowid.register($arguments, OUT verdict text, OUT held_number bigint, OUT held_node text, OUT token bigint, OUT identity text)
LANGUAGE plpgsql AS \$\$ BEGIN
  $body
  SELECT a.verdict, a.held_number, a.held_node, a.token, a.identity INTO verdict, held_number, held_node, token, identity
    FROM snowid.away(request, node, number, secret, known, next, database, system_identifier, database_oid, timeline, registry) AS a;
END \$\$
SQL
    return;
}
sub stand_aside { $registry->safe_psql('postgres', 'DROP FUNCTION snowid.register; ALTER FUNCTION snowid.away RENAME TO register'); return }

# Checks that a server has been found to be a copy, for good, and in all sessions.
my @drawn = ('EXECUTE draw', 'EXECUTE draw_named', 'SELECT snowid_next(7)', q(SELECT snowid_next(7, 'twitter')), 'SELECT snowid_next_batch(7, 2)',
    'SELECT snowid_next()');
my $others = 'SELECT snowid_uuidv7() IS NOT NULL, objectid_next() IS NOT NULL';
sub check_found
{
    my ($node, $session, $name) = @_;
    is(ask($session, 'SELECT snowid_shard(snowid_next())'), '1', "$name: draws until then");
    # Which looks at no catalog, and takes no lock, once it runs.
    my $busy = new_session($node);
    ask($busy, 'PREPARE draw AS SELECT snowid_shard(snowid_next()); PREPARE draw_named AS SELECT snowid_shard(snowid_next(7))');
    ask($busy, 'BEGIN');
    is(ask($busy, "EXECUTE $_->[0]"), $_->[1], "$name: and in a transaction") foreach ([ 'draw', 1 ], [ 'draw_named', 7 ]) x 8;
    is(check($node), 'ERROR 55000', "$name: found");
    ask($busy, 'SAVEPOINT before');
    foreach my $sql (@drawn, @drawn)
    {
        is(ask($busy, $sql), 'ERROR 55000', "$name: refuses in the middle of a transaction: $sql");
        ask($busy, 'ROLLBACK TO before');
    }
    is(ask($busy, $others), 't|t', "$name: but no UUIDs");
    close_session($busy);
    is(ask($session, $_), 'ERROR 55000', "$name: refuses: $_") foreach @drawn[ 2 .. 5 ];
    like($session->{err}, qr/\b(?:1|copy|state)\b/, "$name: says why");
    close_session($session);
    crash($node, 'kill');
    start($node);
    is(attempt($node, $others), 't|t', "$name: after a crash: UUIDs");
    is(attempt($node, $_), 'ERROR 55000', "$name: but refused: $_") foreach @drawn[ 2 .. 5 ];
    is(attempt($node, $others), 't|t', "$name: and UUIDs still");
    is(number_of($node), 'ERROR 55000', "$name: also after a crash");
    is(check($node), 'ERROR 55000', "$name: and does not ask again");
    return;
}

sub new_session
{
    my ($node) = @_;
    my $session = open_session($node);
    ask($session, 'SELECT snowid_next()');
    return $session;
}

# A copy of all files, not started. It has no part in the archive.
my $copies = 0;
sub new_copy
{
    my ($node, %options) = @_;
    my $name = 'copy' . $copies++;
    $node->backup($name);
    my $copy = PostgreSQL::Test::Cluster->new($name);
    $copy->init_from_backup($node, $name, %options);
    $copy->append_conf('postgresql.conf', "archive_mode = off\n");
    return $copy;
}

is(join_as($original, 'the node'), '1', 'joined');
is(check($original), '1', 'checked');
my $copy = start(new_copy($original));
is(number_of($copy), '1|1', 'a copy of all files: takes itself for the node');
is(check($original), '1', 'the original comes first');
check_found($copy, new_session($copy), 'the copy comes second');
is(check($original), '1', 'the original: goes on');
is(number_of($original), '1|1', 'and draws');

# The copy goes on as a node of its own, and again where that is copied.
is(join_as($copy, 'the node'), 'ERROR 42710', 'not by the same name');
is(attempt($copy, $_), 'ERROR 55000', "still a copy: $_") foreach 'SELECT snowid_next()', 'SELECT snowid_next(7)';
# What is rolled back has been nothing: not even where the shards of others were drawn from meanwhile.
is(attempt($copy, "BEGIN; $_->[0]; SELECT snowid_shard(snowid_next(7)); ROLLBACK"), $_->[1], "a copy rolls back: $_->[0]"),
  is(attempt($copy, 'SELECT snowid_next(7)'), 'ERROR 55000', 'and is still a copy'),
  is(attempt($copy, 'SELECT snowid_next()'), 'ERROR 55000', 'in all ways'),
  is(attempt($copy, 'SELECT problem FROM snowid.node_status'), 'another server uses number 1 of node "the node"', 'and says so')
  foreach [ 'SELECT snowid_leave()', "\n7" ], [ q(SELECT snowid_join('registry', 'the copy')), "2\n7" ];
is(join_as($copy, 'the copy'), '2', 'it joins as a node of its own');
is(number_of($copy), '2|2', 'and draws');
is(attempt($copy, 'SELECT snowid_shard(snowid_next(7))'), '7', 'from other shards, too');
is(check($_->[0]), $_->[1], "node $_->[1]: checked") foreach [ $original, 1 ], [ $copy, 2 ];
$copy->stop;

# The copy comes first: then it is the original that stops.
$copy = start(new_copy($original));
is(check($copy), '1', 'the copy comes first');
check_found($original, new_session($original), 'the original comes second');
is(check($copy), '1', 'the copy: goes on');
stand_between(q(IF request = 'take over' THEN RAISE 'away'; END IF;));
is(take_over($original), 'ERROR P0001', 'the original would take over');
is(attempt($original, $_), 'ERROR 55000', "and refuses as long as nobody has agreed: $_") foreach 'SELECT snowid_next()', 'SELECT snowid_next(7)';
stand_aside();
my $moment = $registry->safe_psql('postgres', 'SELECT clock_timestamp()');
# Until it is known that the copy is out of the way, in time, too, it has not the number.
my $taking = open_session($original);
backend_of($taking);
start_asking($taking, 'SELECT snowid_check(take_over => true)');
wait_for(sub { is_answered($taking); $taking->{err} =~ /NOTICE:.* waiting until .*\nDETAIL:.* 10 seconds ahead/ }, 'the NOTICE');
$original->safe_psql('postgres', "SELECT pg_cancel_backend($taking->{backend})");
is(answer($taking), 'ERROR 57014', 'the original takes over, and does not wait for the end of it');
like($original->safe_psql('postgres', 'SELECT problem FROM snowid.node_status'), qr/another server uses number 1/, 'it has not the number yet');
close_session($taking);
is(take_over($original), '1', 'the original takes over');
is(attempt($original, q(SET snowid.max_wait = '1min'; SELECT snowid_shard(snowid_next()), snowid_shard(snowid_next(7)))), '1|7', 'and draws');
is($original->safe_psql('postgres', "SELECT snowid_timestamp(snowid_next()) > '$moment'::timestamptz + interval '11 s'"),
    't', 'above what the copy can have made since');
check_found($copy, new_session($copy), 'the copy comes second');
is(attempt($copy, 'SELECT snowid_leave(); SELECT snowid_default_shard(), snowid_shard(snowid_next(7))'), "\n0|7", 'it can forget that it was a node');
is(check($original), '1', 'which takes nothing from the original');
$copy->stop;

# Of two that take over at once one gets the number. The other one's request, which comes late, counts for nothing.
stand_between(q(IF request = 'take over' THEN
    PERFORM snowid.away(request, node, number, secret, known, next + 1, database, system_identifier, database_oid, timeline, registry);
  END IF;));
$copy = start(new_copy($original));
is(take_over($copy), 'ERROR 55000', 'a take-over that comes after another: refused');
like(message_of($copy, 'SELECT snowid_check(take_over => true)'), qr/DETAIL:.* asked server "registry" at the same time/, 'and says so');
stand_aside();
is(number_of($copy), '1|1', 'who goes by the number goes on');
my $before = $registry->safe_psql('postgres', 'SELECT token FROM snowid_internal.nodes WHERE number = 1');
is($registry->safe_psql('postgres', <<'SQL'), "held\nstale\nheld\nt", 'a token that is not that of now is no leave to take over, but twice the same is');
SELECT r.verdict FROM snowid_internal.nodes AS n, snowid.register('take over', 'the node', 1, n.secret, n.token, n.token + 9, 'd', 1, 1, 1, '') AS r WHERE n.number = 1;
SELECT r.verdict FROM snowid_internal.nodes AS n, snowid.register('take over', 'the node', 1, n.secret, n.token - 9, n.token + 8, 'd', 1, 1, 1, '') AS r WHERE n.number = 1;
SELECT r.verdict FROM snowid_internal.nodes AS n, snowid.register('take over', 'the node', 1, n.secret, n.token - 9, n.token, 'd', 1, 1, 1, '') AS r WHERE n.number = 1;
SELECT previous_token = token - 9 FROM snowid_internal.nodes WHERE number = 1
SQL
is($registry->safe_psql('postgres', 'SELECT token FROM snowid_internal.nodes WHERE number = 1'), $before + 9, 'and changes nothing');
$copy->stop;
is(take_over($original), '1', 'the original takes over');
is(check($original), '1', 'and is who it is');

# What a node has exchanged itself stays its own where a take-over is broken off.
stand_between(q(IF request = 'take over' THEN RAISE 'away'; END IF;));
my $pending = open_session($registry);
ask($pending, 'BEGIN; SELECT FROM snowid_internal.nodes WHERE number = 1 FOR UPDATE');
my $cancelled = open_session($original);
backend_of($cancelled);
start_asking($cancelled, 'SELECT snowid_check()');
wait_for_waiting($registry, 1, 'Lock', 'snowid.register');
$original->safe_psql('postgres', "SELECT pg_terminate_backend($cancelled->{backend}, 60000)");
close_session($cancelled);
ask($pending, 'COMMIT');
close_session($pending);
wait_for(sub { $registry->safe_psql('postgres', q(SELECT count(*) FROM pg_stat_activity WHERE state <> 'idle' AND query ~ 'register' AND pid <> pg_backend_pid())) eq '0' },
    'the registry to be done');
is(take_over($original), 'ERROR P0001', 'a check whose answer is lost, and a take-over that does not get there');
stand_aside();
is(check($original), '1', 'the next check is right');

# Copied while an exchange is under way, or was broken off: then both know the token that comes next.
# The clock is asked first: so only the second connection is to fail.
$registry->safe_psql('postgres', 'ALTER FUNCTION snowid.register RENAME TO away');
is(check($original), 'ERROR 42883', 'a check that is broken off');
$copy = start(new_copy($original));
$registry->safe_psql('postgres', 'ALTER FUNCTION snowid.away RENAME TO register');
is(check($original), '1', 'copied while an exchange is under way: the original comes first');
check_found($copy, new_session($copy), 'copied while an exchange is under way');
is(check($original), '1', 'the original: goes on');
$copy->stop;

# Copied while a claim was under way.
$original->safe_psql('postgres', 'CREATE DATABASE late');
add_source($original, $registry, name => 'registry', dbname => 'late');
is(attempt($original, q(BEGIN; SELECT snowid_join('registry', 'late'); ROLLBACK), dbname => 'late'), '3', 'a claim that is rolled back');
$original->safe_psql('postgres', 'CREATE DATABASE later TEMPLATE late');
is(join_as($original, 'as it was', 'late'), '3', 'CREATE DATABASE meanwhile: who has claimed gets the number');
is(join_as($original, 'later', 'later'), '4', 'and the other one another');
is(check($original, $_->[0]), $_->[1], "both are right: $_->[0]") foreach [ 'late', 3 ], [ 'later', 4 ];
$original->safe_psql('postgres', 'CREATE DATABASE latest');
add_source($original, $registry, name => 'registry', dbname => 'latest');
is(attempt($original, q(BEGIN; SELECT snowid_join('registry', 'latest'); ROLLBACK), dbname => 'latest'), '5', 'another claim that is rolled back');
$copy = start(new_copy($original));
is(join_as($copy, 'latest', 'latest'), '5', 'a copy comes first, and joins');
is(join_as($original, 'the last', 'latest'), '6', 'the original gets another number');
is(check($copy, 'latest'), '5', 'the copy: goes on');
$copy->stop;

# Other databases, other servers: these know by themselves.
sub check_moved
{
    my ($node, $dbname, $name) = @_;
    is(number_of($node, $dbname), 'ERROR 55000', "$name: refuses");
    like(message_of($node, 'SELECT snowid_check()', $dbname),
        qr/this is not the database that has joined as node "the node".*HINT:.*take_over.*snowid_join/s, "$name: is told what to do");
    return;
}
$original->safe_psql('template1', 'CREATE DATABASE twin TEMPLATE postgres');
check_moved($original, 'twin', 'CREATE DATABASE');
is(join_as($original, 'twin', 'twin'), '7', 'CREATE DATABASE: a new node');
is(number_of($original, 'twin'), '7|7', 'CREATE DATABASE: draws');
$original->safe_psql('template1', 'CREATE DATABASE triplet TEMPLATE postgres');
is(attempt($original, 'SELECT snowid_leave(); SELECT snowid_default_shard()', dbname => 'triplet'), "\n0", 'CREATE DATABASE: no node');
is(check($original), '1', 'CREATE DATABASE: the node has not noticed');

# What a switch-over by logical replication runs over all sequences says nothing of a member.
my $all = q(SELECT count(setval(format('%I.%I', schemaname, sequencename), coalesce(last_value, 1) + 1000)) > 1 FROM pg_sequences);
is(attempt($original, $all), 't', 'all sequences are set');
is(number_of($original), '1|1', 'the node goes on');
is(check($original), '1', 'and is who it is') for 1, 2;

my $dump = "$dir/dump.sql";
command_ok([ 'pg_dump', '-d', $original->connstr('postgres'), '-f', $dump ], 'dumped');
my $restored = start(new_server('restored'));
command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $restored->connstr('postgres'), '-f', $dump ], 'restored');
check_moved($restored, 'postgres', 'dump and restore');
is(attempt($restored, $all), 't', 'all sequences are set');
check_moved($restored, 'postgres', 'all sequences are set');
is(take_over($restored, 'postgres', 'BEGIN; SELECT snowid_check(take_over => true)'), '1', 'taking over, and rolled back');
is(number_of($restored), 'ERROR 55000', 'refuses again');
is(take_over($restored), '1', 'taking over');
is(number_of($restored), '1|1', 'and draws');
check_found($original, new_session($original), 'the one that was dumped');
is(check($restored), '1', 'who has taken over goes on');
# Into the same database: what is restored there need not be true any more.
is(attempt($original, 'SELECT snowid_leave(); SELECT snowid_default_shard()'), "\n0", 'left');
is(join_as($original, 'once more'), '8', 'a new node');
my $row = $original->safe_psql('postgres', 'COPY snowid_internal.membership TO STDOUT');
attempt($original, 'SELECT snowid_leave()');
is(join_as($original, 'and again'), '9', 'another one');
attempt($original, 'SELECT snowid_leave()');
$original->safe_psql('postgres', "COPY snowid_internal.membership FROM STDIN;\n$row\n\\.\n");
is(number_of($original), 'ERROR 55000', 'the row of a number that was given back, restored: refuses');
is(take_over($original), 'ERROR 55000', 'what was given back is not taken over');
is(join_as($original, 'and again'), '10', 'a new node');

# A take-over that was rolled back is not taken for a claim: the number would be that of both.
$restored->safe_psql('postgres', 'CREATE DATABASE first');
add_source($restored, $registry, name => 'registry', dbname => 'first');
my $number = join_as($restored, 'first', 'first');
$restored->safe_psql('postgres', 'CREATE DATABASE second TEMPLATE first');
is(take_over($restored, 'second', 'BEGIN; SELECT snowid_check(take_over => true)'), $number, 'taking over, and rolled back');
cmp_ok(join_as($restored, 'second', 'second'), '>', $number, 'then joining: another number');
is(take_over($restored, 'first'), $number, 'the original can take its number back');
is(number_of($restored, 'first'), "$number|$number", 'and draws from it');

# Restored from the archive, which cannot be told from a promoted standby: refused while the server that it was
# taken from is there, and has checked within its last interval; or since.
sub restore_from_archive
{
    my $clone = new_copy($original, has_restoring => 1, standby => 0);
    $original->safe_psql('postgres', 'CREATE TABLE IF NOT EXISTS filler (n int); INSERT INTO filler VALUES (1)');
    my $file = $original->safe_psql('postgres', 'SELECT pg_walfile_name(pg_switch_wal())');
    wait_for(sub { $original->safe_psql('postgres', "SELECT last_archived_wal >= '$file' FROM pg_stat_archiver") eq 't' }, 'the archive');
    start($clone);
    wait_for(sub { $clone->safe_psql('postgres', 'SELECT pg_is_in_recovery()') eq 'f' }, 'the end of recovery');
    is($clone->safe_psql('postgres', 'SELECT left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)'), '00000002', 'restored from the archive');
    return $clone;
}
is(check($original), '10', 'the original: checked');
pass_time(100);
is(check($original), '10', 'and again, 100 s later');
my $clone = restore_from_archive();
is(check($clone), 'ERROR 55000', 'restored beside it: refused');
like(message_of($clone, 'SELECT snowid_check()'), qr/another server uses number 10 .*\nDETAIL:.* checked at server "registry" just now.*\nHINT:.*snowid_check\(\) on the other server/,
    'and is told what to do');
like(message_of($clone, q(SELECT snowid_join('registry', 'another'))), qr/has joined as node .*\nHINT:  If this is a copy of another server, use snowid_check\(\)/s,
    'and not to leave');
is(check($original), '10', 'the original: goes on');
is(check($clone), 'ERROR 55000', 'also where it has checked since');
is(check($original), '10', 'the original: goes on') for 1, 2;
is(check($clone), 'ERROR 55000', 'also where it has checked twice');
is(number_of($clone), 'ERROR 55000', 'then it is a copy');
is(number_of($original), '10|10', 'the original draws');
$clone->stop;

# A standby: alone it takes over without ado, be its last exchange that of its primary or the one before; but not
# before its primary's interval is over.
my $primary = $original;
sub promote
{
    my ($standby) = @_;
    $standby->promote;
    wait_for(sub { $standby->safe_psql('postgres', 'SELECT pg_is_in_recovery()') eq 'f' }, 'the promotion');
    return;
}
foreach my $lag (0, 1)
{
    my $standby = new_standby($primary, "standby$lag");
    $standby->append_conf('postgresql.conf', "archive_mode = off\n");
    start($standby);
    is(check($primary), '10', 'the primary: checked');
    # An hour counts where it is longer.
    my ($between, $little, $more) = $lag ? (200_000, 3000, 700) : (100, 50, 51);
    pass_time($between);
    is(check($primary), '10', "the primary: checked $between s later");
    $primary->wait_for_catchup($standby);
    is(attempt($standby, 'SELECT snowid_next()'), 'ERROR 25006', 'a standby draws nothing');
    is(check($standby), 'ERROR 25006', 'nor does it ask');
    if ($lag)
    {
        $standby->append_conf('postgresql.conf', "primary_conninfo = ''\n");
        $standby->reload;
        wait_for(sub { $primary->safe_psql('postgres', 'SELECT count(*) FROM pg_stat_replication') eq '0' }, 'the standby to be cut off');
        pass_time($between);
        is(check($primary), '10', 'the primary: checked again');
    }
    promote($standby);
    my $known = $registry->safe_psql('postgres', 'SELECT token, previous_token, timeline, last_seen FROM snowid_internal.nodes WHERE number = 10');
    is(attempt($standby, 'SELECT snowid_shard(snowid_next())'), '10', "promoted, lag $lag: draws");
    is(check($standby), 'ERROR 55000', "promoted, lag $lag: its primary checks") for 1, 2;
    is($registry->safe_psql('postgres', 'SELECT token, previous_token, timeline, last_seen FROM snowid_internal.nodes WHERE number = 10'), $known, "promoted, lag $lag: nothing has changed");
    is(number_of($standby), '10|10', "promoted, lag $lag: draws all the same");
    pass_time($little);
    is(check($standby), 'ERROR 55000', "promoted, lag $lag: a little later");
    pass_time($more);
    is(check($standby), '10', "promoted, lag $lag: is the node once its primary has missed a check");
    is(check($standby), '10', "promoted, lag $lag: and stays so");
    my $session = new_session($primary);
    is(check($primary), 'ERROR 55000', "promoted, lag $lag: the primary that lives on is found");
    is(ask($session, 'SELECT snowid_next()'), 'ERROR 55000', "promoted, lag $lag: and refuses");
    close_session($session);
    $primary->stop;
    $primary = $standby;
}

# A standby hears of it with its primary's WAL, which tells its sessions nothing.
my $standby = start(new_standby($primary, 'bystander'));
my $reader = open_session($standby);
is(ask($reader, 'SELECT snowid_default_shard()'), '10', 'a standby knows the number');
$registry->safe_psql('postgres', 'UPDATE snowid_internal.nodes SET token = token | 4294967295, previous_token = 1 WHERE number = 10');
is(check($primary), 'ERROR 55000', 'its primary is found');
$primary->wait_for_catchup($standby);
is(ask($reader, 'SELECT snowid_default_shard()'), 'ERROR 55000', 'the standby knows that, too');
close_session($reader);
promote($standby);
is(attempt($standby, $_), 'ERROR 55000', "promoted it is one, too: $_") foreach 'SELECT snowid_next()', 'SELECT snowid_next(7)';
$standby->stop;

check_log($_) foreach $registry, $restored;
$_->stop foreach $registry, $restored, $primary;
done_testing();
