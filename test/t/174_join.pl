# Joining: every database that joins a registry gets a number that no other has, keeps it whatever is rolled
# back, and needs the registry no more. Nobody sees or takes another's number, and who may join is who may
# execute one function there. The databases of one server are nodes of their own.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $node = new_server('node', allows_streaming => 'logical');
$node->append_conf('postgresql.conf', "max_connections = 250\nmax_prepared_transactions = 5\n"
      . "max_worker_processes = 20\nmax_logical_replication_workers = 10\n");
start_server($node);

sub new_member
{
    my ($name) = @_;
    $node->safe_psql('postgres', "CREATE DATABASE $name");
    add_source($node, $node, name => 'registry', dbname => $name);
    return $name;
}

sub at { my ($member, $sql) = @_; return attempt($node, $sql, dbname => $member) }
sub number_of { my ($member) = @_; return at($member, 'SELECT snowid_default_shard(), snowid_shard(snowid_next())') }

$node->safe_psql('postgres', 'CREATE EXTENSION snowid');
new_member($_) foreach qw(east west north);

# One number each, and the same one again.
is(number_of('east'), '0|0', 'before it joins: 0');
my $drawing = open_session($node, dbname => 'east');
is(ask($drawing, 'SELECT snowid_shard(snowid_next())'), '0', 'a session that has drawn');
is(at('east', q(SELECT snowid_join('registry'))), '1', 'the first gets 1');
is(ask($drawing, 'SELECT snowid_shard(snowid_next())'), '1', 'which others draw from at once');
is(at('west', q(SELECT snowid_join('registry', 'the west'))), '2', 'the next gets 2');
is(at('east', q(SELECT snowid_join('registry'))), '1', 'once more: the same');
is(at('west', q(SELECT snowid_join('registry', 'the west'))), '2', 'by its name, too');
is(at('west', q(SELECT snowid_join('registry'))), '2', 'or without');
is(number_of($_->[0]), $_->[1], "$_->[0] draws from its number") foreach [ 'east', '1|1' ], [ 'west', '2|2' ];
like($node->safe_psql('postgres', 'SELECT node, database FROM snowid.nodes ORDER BY number'),
    qr{^[^\n]+:\d+/east\|east\nthe west\|west$}, 'the registry knows them');
is(at('west', q(SELECT snowid_join('registry', 'other'))), 'ERROR 55000', 'no other name');
is(at('west', q(SELECT snowid_join('central', 'the west'))), 'ERROR 55000', 'no other registry');
is(at('north', q(SELECT snowid_join('registry', 'the west'))), 'ERROR 42710', 'no name of another');
my (undef, undef, $refusal) = $node->psql('north', q(DO 'BEGIN PERFORM snowid_join(''registry'', ''the west''); END'));
like($refusal, qr/CONTEXT:.*PL\/pgSQL function/s, 'the error says where it was called');
unlike($refusal, qr/dblink/, 'and not how the registry was asked');
is(at('north', q(SELECT snowid_join('registry', ''))), 'ERROR 22023', 'no name without a letter');
is(at('north', q(SELECT snowid_join('registry', repeat('n', 256)))), 'ERROR 22023', 'none that is too long');
is(at('north', q(SELECT snowid_join('nowhere'))), 'ERROR 42704', 'no such server');
is(at('north', q(SELECT snowid_join(NULL))), '', 'null for none');
is(at('north', $_), 'ERROR 55000', "not joined: $_") foreach 'SELECT snowid_check()', 'SELECT snowid_leave()';
is(at('east', "BEGIN READ ONLY; $_"), 'ERROR 25006', "read-only: $_")
  foreach q(SELECT snowid_join('registry')), 'SELECT snowid_check()', 'SELECT snowid_leave()';
is($node->safe_psql('postgres', 'SELECT count(*) FROM snowid.nodes'), '2', 'nobody got more by all that');

# A check renews what the registry knows, and no session notices.
my $seen = q(SELECT last_seen, token, previous_token FROM snowid.nodes WHERE number = 1);
my $before = $node->safe_psql('postgres', $seen);
is(at('east', 'SELECT snowid_check()'), '1', 'a check gives the number');
isnt($node->safe_psql('postgres', $seen), $before, 'a check is noted');
is(at('east', "BEGIN; SELECT snowid_check(); ROLLBACK"), '1', 'a check that is rolled back') for 1 .. 3;
is(at('east', "SELECT snowid_check() FROM generate_series(1, 3)"), "1\n1\n1", 'several in one transaction');
is(at('east', 'SELECT snowid_check()'), '1', 'after which the next is right');

# Rolled back: a claim is kept for the next try, of whatever name.
is(at('north', q(BEGIN; SELECT snowid_join('registry'), snowid_shard(snowid_next()); ROLLBACK)), '3|3', 'joined and drawn from');
is(number_of('north'), '0|0', 'rolled back: not joined');
is(at('north', q(SELECT snowid_join('registry', 'the north'))), '3', 'joined again: the number of before');
is($node->safe_psql('postgres', 'SELECT node FROM snowid.nodes WHERE number = 3'), 'the north', 'by its new name');

# Rolled back: what was given back is not to be drawn from.
is(at('north', 'BEGIN; SELECT snowid_leave(); ROLLBACK'), '', 'left and rolled back');
is(at('north', $_), 'ERROR 55000', "after that: refused: $_")
  foreach 'SELECT snowid_next()', 'SELECT snowid_check()', q(SELECT snowid_join('registry'));
like(at('north', 'SELECT snowid_next(5) > 0'), qr/^t$/, 'but not a shard that is named');
is(at('north', 'SELECT snowid_leave(); SELECT snowid_default_shard()'), "\n0", 'left again: done');
is(at('north', q(SELECT snowid_join('registry', 'the north'))), '4', 'its old name, and another number');
is(at('north', q(BEGIN; SELECT snowid_leave(); SELECT snowid_join('registry', 'anew'); ROLLBACK)), "\n5", 'left, joined and rolled back');
is(at('north', 'SELECT snowid_next()'), 'ERROR 55000', 'after that: refused');
is(at('north', q(SELECT snowid_join('registry', 'anew again'))), '5', 'joined: the number that it had claimed');

# Sessions in the middle of a transaction: who leaves waits for them, and the number is not free before
# all of their IDs are in the past.
my $leaving = open_session($node, dbname => 'north');
backend_of($leaving);
my $late = open_session($node, dbname => 'north');
ask($late, 'BEGIN');
my $id = ask($late, 'SELECT snowid_next()');
start_asking($leaving, 'SELECT snowid_leave()');
wait_until_waiting($node, $leaving, 'Lock');
is(at('north', 'SELECT snowid_next()'), 'ERROR 55000', 'leaving: nobody begins to draw');
my $checking = open_session($node, dbname => 'north');
is(ask($checking, 'SELECT snowid_check()'), 'ERROR 55000', 'nor waits for who leaves');
is($node->safe_psql('postgres', 'SELECT node FROM snowid.nodes WHERE number = 5'), 'anew again', 'not given back yet');
is(is_answered($leaving), '', 'who leaves waits for who has drawn');
ask($late, 'COMMIT');
is(answer($leaving), '', 'and goes on when that has come to its end');
is($node->safe_psql('postgres', "SELECT free_from >= snowid_timestamp($id) + interval '1 min' AND free_from >= now() + interval '50 s',"
      . ' left_node, node FROM snowid.nodes WHERE number = 5'), 't|anew again|', 'the number is free a minute later');
close_session($leaving, $late, $checking);
is(at('north', q(SELECT snowid_join('registry'))), '6', 'before that nobody gets it');
at('north', 'SELECT snowid_leave()');
set_clock(70);
is(at('north', q(SELECT snowid_join('registry'))), '3', 'after that somebody does: the least');
is($node->safe_psql('postgres', 'SELECT node IS NOT NULL, left_node, free_from FROM snowid.nodes WHERE number = 3'), 't||', 'and has it');

# Many at once: 200 that claim, and a dozen that join.
$node->safe_psql('postgres', 'CREATE TABLE got (number bigint)');
my $claim = "$dir/claim.sql";
append_to_file($claim, <<'SQL');
INSERT INTO got SELECT held_number FROM snowid.register('claim', 'claimer ' || :client_id, 0, 'a secret of mine',
  (1::bigint << 40) + :client_id, (1::bigint << 40) + :client_id, 'claimer', 1, :client_id, 1, 0)
SQL
my @dozen = map { new_member("member_$_") } 1 .. 12;
my @joining = map { open_session($node, dbname => $_) } @dozen;
start_asking($_, q(SELECT snowid_join('registry'))) foreach @joining;
command_ok([ 'pgbench', '-n', '-c', 200, '-j', 2, '-t', 1, '-f', $claim, '-d', $node->connstr('postgres') ], '200 at once');
my %numbers = map { answer($_) => 1 } @joining;
is(scalar(grep { /^\d+$/ } keys %numbers), 12, 'a dozen join at once: numbers of their own');
is($node->safe_psql('postgres', 'SELECT count(DISTINCT number) FROM got'), '200', '200 claim at once: so do they');
is($node->safe_psql('postgres', 'SELECT count(*) FROM got JOIN snowid.nodes n USING (number) WHERE n.node LIKE \'claimer %\''),
    '200', 'which nobody else has');
close_session(@joining);
$node->safe_psql('postgres', 'DROP TABLE got');

# Rights. Whoever lacks the one function is refused; whoever has it sees and changes nothing of others.
$node->safe_psql('postgres', 'CREATE ROLE mallory LOGIN');
my $register = 'snowid.register(text, text, bigint, text, bigint, bigint, text, bigint, bigint, bigint, bigint)';
my $mallory = open_session($node, user => 'mallory');
is(ask($mallory, $_), 'ERROR 42501', "not for everybody: $_")
  foreach 'SELECT * FROM snowid.nodes', 'SELECT * FROM snowid.membership', 'SELECT snowid_check()', 'SELECT snowid_leave()',
  q(SELECT snowid_join('registry')), q(SELECT snowid.register('claim', 'm', 0, 's', 17, 17, 'd', 1, 1, 1, 0)),
  'SELECT last_value FROM snowid.membership_mark', 'SELECT last_value FROM snowid.membership_token';
$node->safe_psql('postgres', "GRANT EXECUTE ON FUNCTION $register TO mallory");
# One whose token does not count, since a dump has brought it.
$node->safe_psql('postgres', <<'SQL');
INSERT INTO snowid.nodes (number, node, database, system_identifier, database_oid, timeline, claimed, last_seen, last_id_time,
  secret, token, previous_token) VALUES (8000, 'restored', 'd', 1, 1, 1, now(), now(), now(), 'not yours', 170, 0)
SQL
my $all = q(SELECT md5(string_agg(n::text, ',' ORDER BY number)) FROM snowid.nodes n WHERE node <> 'mallory' OR node IS NULL);
my $untouched = $node->safe_psql('postgres', $all);
sub request
{
    my ($what, $name, $number) = @_;
    return ask($mallory, "SELECT verdict, held_number, reported FROM snowid.register('$what', '$name', $number, 'guess', 17, 18, 'd', 1, 1, 99, 0)");
}
is(request('claim', 'the west', 0), 'ERROR 42710', 'a name of another: refused');
is(request($_, 'the west', 2), 'lost|2|0', "another's number: $_") foreach 'check', 'release', 'take over';
is(request($_, 'mallory', 2), 'lost|2|0', "another's number, by a name of his: $_") foreach 'check', 'release', 'take over';
is(request($_, 'restored', 8000), $_ eq 'release' ? 'lost|8000|0' : 'ERROR 55000', "a restored node's number: $_")
  foreach 'check', 'release', 'take over';
is(request($_, 'the west', 8001), 'ERROR 55000', "no node's number, another's name: $_") foreach 'check', 'take over';
is(request($_, 'mallory', 4), 'lost|4|0', "what is not free yet: $_") foreach 'check', 'take over';
is(request('grant', 'mallory', 2), 'ERROR 22023', 'no such request');
my $in_days = $node->safe_psql('postgres', q(SELECT (extract(epoch FROM now() + interval '2 days') * 1000)::bigint));
is(ask($mallory, "SELECT snowid.register('claim', 'mallory', 0, 's', 17, 18, 'd', 1, 1, 99, $in_days)"), 'ERROR 22023',
    'no ceiling that would keep the number for as long as he likes');
like(request('claim', 'mallory', 2), qr/^held\|\d+\|/, 'a claim of his own');
isnt(request('claim', 'mallory', 2), 'held|2|0', 'is of no number that he names');
is(ask($mallory, 'SELECT * FROM snowid.nodes'), 'ERROR 42501', 'the table is none of his');
is($node->safe_psql('postgres', $all), $untouched, 'nobody else has noticed');
is(at($_->[0], 'SELECT snowid_check()'), $_->[1], "$_->[0] is who it is") foreach [ 'east', 1 ], [ 'west', 2 ];
close_session($mallory);
# Here: who may join, but not use the server.
$node->safe_psql('member_1', 'GRANT EXECUTE ON FUNCTION snowid_check(boolean) TO mallory');
my $checker = open_session($node, dbname => 'member_1', user => 'mallory');
is(ask($checker, 'SELECT snowid_check()'), 'ERROR 42501', 'no right to the server');
$node->safe_psql('member_1', 'GRANT USAGE ON FOREIGN SERVER registry TO mallory');
is(ask($checker, 'SELECT snowid_check()'), 'ERROR 2F003', 'nor a password of his own');
close_session($checker);
# Nor does a superuser go where somebody else has him.
$node->safe_psql('member_1', 'GRANT USAGE ON FOREIGN DATA WRAPPER dblink_fdw TO mallory; ALTER SERVER registry OWNER TO mallory');
is(at('member_1', $_), 'ERROR 42501', "a superuser, and a server of mallory's: $_") foreach 'SELECT snowid_check()', 'SELECT snowid_leave()';
$node->safe_psql('member_1', 'ALTER SERVER registry OWNER TO CURRENT_USER');
like(at('member_1', 'SELECT snowid_check()'), qr/^\d+$/, 'his own: asks');

# While one joins, others go by what was before, and keep none of it when that is committed.
new_member('slow');
my $joining = open_session($node, dbname => 'slow');
my $joins = q(SELECT snowid_join('registry', 'slow'));
ask($joining, 'BEGIN');
my $number = ask($joining, $joins);
is(number_of('slow'), '0|0', 'not committed: others draw from 0');
is(ask($joining, 'SELECT snowid_default_shard()'), $number, 'who joins does not');
is(ask($joining, q(PREPARE TRANSACTION 'joining')), 'ERROR 0A000', 'it cannot be prepared');
is(number_of('slow'), '0|0', 'nor counts then');
ask($joining, 'BEGIN');
is(ask($joining, $joins), $number, 'once more');
is(number_of('slow'), '0|0', 'not committed: others draw from 0');
ask($joining, 'COMMIT');
is(number_of('slow'), "$number|$number", 'committed: all draw from the number');
close_session($joining);

# Replication of all tables brings no other node's row, and no other registry's.
$node->safe_psql('postgres', 'CREATE DATABASE copied');
$node->safe_psql($_, 'CREATE TABLE rows (n int PRIMARY KEY)') foreach 'postgres', 'east', 'west', 'copied';
$node->safe_psql('copied', 'CREATE EXTENSION snowid');
my @pairs = ([ 'east', 'west' ], [ 'postgres', 'copied' ]);
foreach my $pair (@pairs)
{
    my ($from, $to) = @$pair;
    my $connection = $node->connstr($from) =~ s{'}{''}gr;
    $node->safe_psql($from, 'CREATE PUBLICATION everything FOR ALL TABLES');
    $node->safe_psql($from, "SELECT pg_create_logical_replication_slot('to_$to', 'pgoutput')");
    $node->safe_psql($to, "CREATE SUBSCRIPTION sub_$to CONNECTION '$connection' PUBLICATION everything"
          . " WITH (create_slot = false, slot_name = 'to_$to')");
}
at('east', 'SELECT snowid_check()');
$node->safe_psql($_->[0], 'INSERT INTO rows VALUES (1)') foreach @pairs;
foreach my $pair (@pairs)
{
    my ($from, $to) = @$pair;
    wait_for(sub { $node->safe_psql($to, 'SELECT count(*) FROM rows') eq '1' }, "what $from has done to reach $to");
    $node->safe_psql($to, "DROP SUBSCRIPTION sub_$to");
}
is($node->safe_psql('west', 'SELECT number FROM snowid.membership'), '2', "replication: no other node's row");
is($node->safe_psql('copied', 'SELECT count(*) FROM snowid.nodes'), '0', "replication: no other registry's nodes");
is(number_of('west'), '2|2', 'replication: the number is its own');

# All taken.
$node->safe_psql('postgres', <<'SQL');
INSERT INTO snowid.nodes (number, node, database, system_identifier, database_oid, timeline, claimed, last_seen, last_id_time,
  secret, token, previous_token)
SELECT n, 'taken ' || n, 'd', 1, n, 1, now(), now(), now(), 'not yours', n, 0 FROM generate_series(1, 8191) AS n
ON CONFLICT DO NOTHING
SQL
my $last = new_member('last');
is(at($last, q(SELECT snowid_join('registry'))), 'ERROR 53400', 'all taken: refused');
like(($node->psql($last, q(SELECT snowid_join('registry'))))[2], qr/HINT:.* snowid_leave\(node\) here/, 'all taken: what to do');
is(at('east', 'SELECT snowid_check()'), '1', 'all taken: who has one keeps it');
$node->safe_psql('postgres', q(UPDATE snowid.nodes SET left_node = node, node = NULL, free_from = now() + interval '1 h' WHERE number = 8191));
my (undef, undef, $message) = $node->psql($last, q(SELECT snowid_join('registry')));
like($message, qr/all 8191 numbers of the registry are taken\nDETAIL:  One that was given back is free from /, 'one is free later');
$node->safe_psql('postgres', q(UPDATE snowid.nodes SET free_from = now() WHERE number = 8191));
is(at($last, q(SELECT snowid_join('registry'))), '8191', 'the last one');
is(number_of($last), '8191|8191', 'is a shard of the layout');

# What a DBA may not do to them by accident.
is(attempt($node, "TRUNCATE snowid.$_"), 'ERROR 0A000', "TRUNCATE of $_") foreach qw(nodes membership);
close_session($drawing);
check_log($node);
$node->stop;
done_testing();
