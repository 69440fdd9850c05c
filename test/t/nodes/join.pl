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
# Hundreds of sessions at once, each of which pins some buffers.
$node->append_conf('postgresql.conf', "shared_buffers = '64MB'\nmax_connections = 250\nmax_prepared_transactions = 5\n"
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
like($node->safe_psql('postgres', 'SELECT node, database FROM snowid_internal.nodes ORDER BY number'),
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
is($node->safe_psql('postgres', 'SELECT count(*) FROM snowid_internal.nodes'), '2', 'nobody got more by all that');

# A check renews what the registry knows, and no session notices.
my $seen = q(SELECT last_seen, token, previous_token FROM snowid_internal.nodes WHERE number = 1);
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
is($node->safe_psql('postgres', 'SELECT node FROM snowid_internal.nodes WHERE number = 3'), 'the north', 'by its new name');

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

# A number is given once. Who is drawing from it when it is retired does no harm, and nobody waits for him.
my $late = open_session($node, dbname => 'north');
ask($late, 'BEGIN');
is(ask($late, 'SELECT snowid_shard(snowid_next())'), '5', 'in the middle of a transaction');
is(at('north', 'SELECT snowid_leave()'), '', 'left, and nobody waited');
ask($late, 'COMMIT');
is(ask($late, 'SELECT snowid_shard(snowid_next())'), '0', 'left: 0 from then on');
close_session($late);
is($node->safe_psql('postgres', 'SELECT left_node, node, retired BETWEEN now() - interval \'1 min\' AND now(), is_free FROM snowid_internal.nodes WHERE number = 5'),
    'anew again||t|f', 'the number is retired');
is(at('north', q(SELECT snowid_join('registry'))), '6', 'joined: the least that was never given');
at('north', 'SELECT snowid_leave()');
set_clock(86500);
is(at('north', q(SELECT snowid_join('registry'))), '7', 'also a day later');
# Unless somebody says that it may be given again.
is(attempt($node, "SELECT snowid.free_number($_->[0])"), $_->[1], "made free: $_->[2]")
  foreach [ 1, 'ERROR 55000', 'one that is in use' ], [ 4711, 'ERROR 55000', 'one that was never given' ], [ 5, '', 'a retired one, a day later' ],
  [ 'NULL', '', 'null' ];
is(attempt($node, q(SELECT snowid.free_number(6, '1 week'))), 'ERROR 55000', 'not where units are longer');
like(($node->psql('postgres', q(SELECT snowid.free_number(6, '1 week'))))[2], qr/a unit of time that is not over\nDETAIL:.* can be free at /, 'and says when');
is(attempt($node, q(SELECT snowid.free_number(6, '-1 week'))), 'ERROR 22023', 'no unit below 0');
is(attempt($node, q(SELECT snowid.free_number(6, '100 years 1 day'))), 'ERROR 22023', 'none beyond a century');
my ($east_two) = new_member('second_east');
is(at($east_two, q(SELECT snowid_join('registry'))), '5', 'who joins gets it');
is($node->safe_psql('postgres', 'SELECT node IS NOT NULL, left_node, retired, is_free FROM snowid_internal.nodes WHERE number = 5'), 't|||f', 'and has it');
is(at($east_two, 'SELECT snowid_leave()'), '', 'left');
is(attempt($node, q(SELECT snowid.free_number(5, '0'))), 'ERROR 55000', 'a minute has to be past in any case');
is(at($east_two, q(SELECT snowid_join('registry'))), '8', 'the next');
set_clock(0);

# Many at once: 200 that claim, and a dozen that join. Who finds too many others at it is told to try again.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE got (number bigint);
CREATE FUNCTION claim(client bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  LOOP
    BEGIN
      RETURN (SELECT held_number FROM snowid.register('claim', 'claimer ' || client, 0, 'a secret of mine',
        0, (1::bigint << 32) + client, 'claimer', 1, client, 1, ''));
    EXCEPTION WHEN lock_not_available THEN NULL;
    END;
  END LOOP;
END $$;
SQL
my $claim = "$dir/claim.sql";
append_to_file($claim, 'INSERT INTO got SELECT claim(:client_id)');
my @dozen = map { new_member("member_$_") } 1 .. 12;
my @joining = map { open_session($node, dbname => $_) } @dozen;
my $join = q(SELECT snowid_join('registry'));
start_asking($_, $join) foreach @joining;
command_ok([ 'pgbench', '-n', '-c', 200, '-j', 2, '-t', 1, '-f', $claim, '-d', $node->connstr('postgres') ], '200 at once');
my %numbers;
foreach my $session (@joining)
{
    my $number = answer($session);
    $number = ask($session, $join) while $number =~ /55P03/;
    $numbers{$number} = 1;
}
is(scalar(grep { /^\d+$/ } keys %numbers), 12, 'a dozen join at once: numbers of their own');
is($node->safe_psql('postgres', 'SELECT count(DISTINCT number) FROM got'), '200', '200 claim at once: so do they');
is($node->safe_psql('postgres', 'SELECT count(*) FROM got JOIN snowid_internal.nodes n USING (number) WHERE n.node LIKE \'claimer %\''),
    '200', 'which nobody else has');
close_session(@joining);
$node->safe_psql('postgres', 'DROP TABLE got; DROP FUNCTION claim');

# Rights. Whoever lacks the one function is refused; whoever has it sees and changes nothing of others.
$node->safe_psql('postgres', 'CREATE ROLE mallory LOGIN');
my $register = 'snowid.register(text, text, bigint, text, bigint, bigint, text, bigint, bigint, bigint, text)';
my $mallory = open_session($node, user => 'mallory');
is(ask($mallory, $_), 'ERROR 42501', "not for everybody: $_")
  foreach 'SELECT * FROM snowid_internal.nodes', 'SELECT * FROM snowid_internal.membership', 'SELECT snowid_check()', 'SELECT snowid_leave()',
  q(SELECT snowid_join('registry')), q(SELECT snowid.register('claim', 'm', 0, 's', 0, 17, 'd', 1, 1, 1, '')),
  'SELECT last_value FROM snowid_internal.membership_words', 'SELECT * FROM snowid.member', 'SELECT * FROM snowid.registered_nodes',
  q(SELECT snowid.free_number(5)), 'SELECT snowid.settle_registry(8000)', 'SELECT snowid_internal.registry_identity()',
  q(SELECT snowid.retire_node('the west')), 'SELECT snowid_internal.commit_durably()', q(SELECT snowid_internal.require_few_claims('mallory'));
$node->safe_psql('postgres', "GRANT EXECUTE ON FUNCTION $register TO mallory");
my $all = q(SELECT md5(string_agg(n::text, ',' ORDER BY number)) FROM snowid_internal.nodes n WHERE node <> 'mallory' OR node IS NULL);
my $untouched = $node->safe_psql('postgres', $all);
sub request
{
    my ($what, $name, $number) = @_;
    return ask($mallory, "SELECT verdict, held_number, token FROM snowid.register('$what', '$name', $number, 'guess', 17,"
          . ($what eq 'look' ? 0 : (1 << 40) + 17) . ", 'd', 1, 1, 99, '')");
}
is(request('claim', 'the west', 0), 'ERROR 42710', 'a name of another: refused');
my @requests = ('check', 'look', 'leave', 'take over');
is(request($_, 'the west', 2), 'lost|2|0', "another's number: $_") foreach @requests;
is(request($_, 'mallory', 2), 'lost|2|0', "another's number, by a name of his: $_") foreach @requests;
is(request($_, 'mallory', 4), 'lost|4|0', "a retired number: $_") foreach @requests;
is(request($_, 'the west', 8001), 'ERROR 42710', "no node's number, another's name: $_") foreach 'check', 'take over';
is(request('resume', 'the west', 0), 'lost|0|0', 'nothing to resume');
is(request('grant', 'mallory', 2), 'ERROR 22023', 'no such request');
is(ask($mallory, "SELECT snowid.register($_)"), 'ERROR 22023', "no such request: $_")
  foreach q('claim', 'mallory', 2, 's', 0, 17, 'd', 1, 1, 99, ''), q('check', 'mallory', 0, 's', 0, 17, 'd', 1, 1, 99, ''),
  q('check', 'mallory', 8192, 's', 0, 17, 'd', 1, 1, 99, ''), q('check', 'mallory', 2, '', 0, 17, 'd', 1, 1, 99, ''),
  q('check', '', 2, 's', 0, 17, 'd', 1, 1, 99, ''), q('check', 'mallory', 2, 's', 0, 0, 'd', 1, 1, 99, ''),
  q('check', 'mallory', 2, 's', -1, 17, 'd', 1, 1, 99, ''), q('look', 'mallory', 2, 's', 0, 17, 'd', 1, 1, 99, '');
like(request('claim', 'mallory', 0), qr/^held\|\d+\|/, 'a claim of his own');
is(ask($mallory, 'SELECT * FROM snowid_internal.nodes'), 'ERROR 42501', 'the table is none of his');
is($node->safe_psql('postgres', $all), $untouched, 'nobody else has noticed');
is(at($_->[0], 'SELECT snowid_check()'), $_->[1], "$_->[0] is who it is") foreach [ 'east', 1 ], [ 'west', 2 ];
close_session($mallory);
# Here: who may join, but not use the server.
$node->safe_psql('member_1', 'GRANT EXECUTE ON FUNCTION snowid_check(boolean, boolean) TO mallory');
my $checker = open_session($node, dbname => 'member_1', user => 'mallory');
is(ask($checker, 'SELECT snowid_check()'), 'ERROR 42501', 'no right to the server');
$node->safe_psql('member_1', 'GRANT USAGE ON FOREIGN SERVER registry TO mallory');
is(ask($checker, 'SELECT snowid_check()'), 'ERROR 28000', 'nor a password of his own');
close_session($checker);
# Nor does a superuser connect over a foreign server that somebody else owns.
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
    # On one server a first copy that begins its slot waits for the transaction that drops the subscription, and that for the slot.
    $node->wait_for_subscription_sync(undef, undef, $to);
    $node->safe_psql($to, "DROP SUBSCRIPTION sub_$to");
}
is($node->safe_psql('west', 'SELECT number FROM snowid_internal.membership'), '2', "replication: no other node's row");
is($node->safe_psql('copied', 'SELECT count(*) FROM snowid_internal.nodes'), '0', "replication: no other registry's nodes");
is(number_of('west'), '2|2', 'replication: the number is its own');

# A transaction gets one number: so nobody keeps others waiting for many.
my $claims = q(SELECT verdict FROM snowid.register('%s', '%s', %s, 'mine', 0, 17, 'd', 1, 1, 99, ''));
my $held = $node->safe_psql('postgres', 'SELECT count(*) FROM snowid_internal.nodes');
foreach my $again ([ 'claim', 'two', 0 ], [ 'check', 'two', 8000 ])
{
    $mallory = open_session($node, user => 'mallory');
    is(ask($mallory, 'BEGIN; SAVEPOINT one; ' . sprintf($claims, 'claim', 'one', 0)), 'held', 'one number');
    is(ask($mallory, 'RELEASE one; SAVEPOINT two; ' . sprintf($claims, @$again)), 'ERROR 53400', "no second one by a $again->[0]");
    is(ask($mallory, 'ROLLBACK; BEGIN; ' . sprintf($claims, 'claim', 'one', 0)), 'held', 'in another transaction');
    ask($mallory, 'ROLLBACK');
    close_session($mallory);
}
# Nor does he keep one by a transaction that has no session.
$mallory = open_session($node, user => 'mallory');
is(ask($mallory, 'BEGIN; ' . sprintf($claims, 'claim', 'one', 0)), 'held', 'one number, to be prepared');
is(ask($mallory, q(PREPARE TRANSACTION 'claimed')), 'ERROR 0A000', 'what has asked a registry cannot be prepared');
close_session($mallory);
is($node->safe_psql('postgres', 'SELECT count(*) FROM snowid_internal.nodes'), $held, 'nothing is left of it');

# One role gets so many numbers a day.
$node->safe_psql('postgres', <<'SQL');
INSERT INTO snowid_internal.nodes (number, node, claimed, claimed_by, secret, token, written_by)
SELECT n, 'many ' || n, now(), 'mallory', 'not yours', n, snowid_internal.registry_identity() FROM generate_series(2001, 2499) AS n
SQL
$mallory = open_session($node, user => 'mallory');
is(ask($mallory, "SELECT verdict FROM snowid.register('$_->[0]', 'one more', $_->[1], 'mine', 0, 17, 'd', 1, 1, 99, '')"), 'ERROR 53400',
    "500 within a day: refused to $_->[0]")
  foreach [ 'claim', 0 ], [ 'check', 8000 ], [ 'take over', 8000 ];
is(at('east', 'SELECT snowid_check()'), '1', '500 within a day: others are not');
$node->safe_psql('postgres', q(UPDATE snowid_internal.nodes SET claimed = now() - interval '25 hours' WHERE number = 2001));
is(ask($mallory, "SELECT verdict FROM snowid.register('claim', 'one more', 0, 'mine', 0, 17, 'd', 1, 1, 99, '')"), 'held', 'a day later one more');
close_session($mallory);

# All given.
$node->safe_psql('postgres', <<'SQL');
INSERT INTO snowid_internal.nodes (number, node, secret, token, written_by)
SELECT n, 'taken ' || n, 'not yours', n, snowid_internal.registry_identity() FROM generate_series(1, 8191) AS n ON CONFLICT DO NOTHING
SQL
my $last = new_member('last');
my (undef, undef, $full) = $node->psql($last, q(SELECT snowid_join('registry')));
is(at($last, q(SELECT snowid_join('registry'))), 'ERROR 53400', 'all given: refused');
like($full, qr/all 8191 numbers of the registry were given\nHINT:.* snowid\.retire_node\(\) .* snowid\.free_number\(\)/, 'all given: what to do');
is(at('east', 'SELECT snowid_check()'), '1', 'all given: who has one keeps it');
is(attempt($node, q(SELECT snowid.retire_node('taken 8191'))), '', 'one is retired');
$node->safe_psql('postgres', q(UPDATE snowid_internal.nodes SET retired = now() - interval '2 days' WHERE number = 8191));
is(attempt($node, 'SELECT snowid.free_number(8191)'), '', 'and made free');
is(at($last, q(SELECT snowid_join('registry'))), '8191', 'the last one');
is(number_of($last), '8191|8191', 'is a shard of the layout');

# What a DBA may not do to them by accident.
is(attempt($node, "TRUNCATE snowid_internal.$_"), 'ERROR 0A000', "TRUNCATE of $_") foreach qw(nodes membership);
close_session($drawing);
check_log($node);
$node->stop;
done_testing();
