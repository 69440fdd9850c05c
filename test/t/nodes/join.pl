# Joining: every database that joins a registry gets a number that no other has, keeps it whatever is rolled
# back, and needs the registry no more. Who may join is who may execute one function there; he speaks for his own
# claim, and nothing that he says changes what others get. The databases of one server are nodes of their own.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use SnowidNodes;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $node = new_server('node', allows_streaming => 'logical');
# Hundreds of sessions at once, each of which pins some buffers.
$node->append_conf('postgresql.conf', "shared_buffers = '64MB'\nmax_connections = 300\nmax_prepared_transactions = 5\n"
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
sub on_registry { my ($sql) = @_; return attempt($node, $sql) }
sub number_of { my ($member) = @_; return at($member, 'SELECT snowid_default_shard(), snowid_shard(snowid_next())') }
sub message_of { my ($member, $sql) = @_; return ($node->psql($member, $sql))[2] }

$node->safe_psql('postgres', 'CREATE EXTENSION snowid');
new_member($_) foreach qw(east west north);

# One number each, and the same one again.
is(number_of('east'), '0|0', 'before it joins: 0');
my $drawing = open_session($node, dbname => 'east');
is(ask($drawing, 'SELECT snowid_shard(snowid_next())'), '0', 'a session that has drawn');
is(at('east', q(SELECT snowid.join('registry'))), '1', 'the first gets 1');
is(ask($drawing, 'SELECT snowid_shard(snowid_next())'), '1', 'which others draw from at once');
is(at('west', q(SELECT snowid.join('registry', 'the west'))), '2', 'the next gets 2');
is(at('east', q(SELECT snowid.join('registry'))), '1', 'once more: the same');
is(at('west', q(SELECT snowid.join('registry', 'the west'))), '2', 'by its name, too');
is(number_of($_->[0]), $_->[1], "$_->[0] draws from its number") foreach [ 'east', '1|1' ], [ 'west', '2|2' ];
is(at('west', 'SELECT node_number, source, node_name, registry, checked > now() - interval \'1 h\', problem FROM snowid.node_status'),
    '2|joined|the west|registry|t|', 'the node shows it');
like(on_registry('SELECT node_name, database, claimed <= last_seen, promoted_seen, retired FROM snowid.registry ORDER BY node_number'),
    qr{^[^\n]+:\d+/east\|east\|t\|\|\nthe west\|west\|t\|\|$}, 'and the registry');
is(at('west', q(SELECT snowid.join('registry', 'other'))), 'ERROR 55000', 'no other name');
is(at('west', q(SELECT snowid.join('central', 'the west'))), 'ERROR 55000', 'no other registry');
my $refusal = message_of('north', q(DO 'BEGIN PERFORM snowid.join(''registry'', repeat(''n'', 256)); END'));
like($refusal, qr/CONTEXT:.*PL\/pgSQL function/s, 'the error says where it was called');
is(at('north', q(SELECT snowid.join('registry', ''))), 'ERROR 22023', 'no name without a letter');
is(at('north', q(SELECT snowid.join('registry', repeat('n', 256)))), 'ERROR 22023', 'none that is too long');
is(at('north', q(SELECT snowid.join('nowhere'))), 'ERROR 42704', 'no such server');
is(at('north', q(SELECT snowid.join(NULL))), '', 'null for none');
is(at('north', "SELECT snowid.$_()"), 'ERROR 55000', "not joined: $_") foreach qw(check_node take_over_node accept_registry leave);
is(at('east', "BEGIN READ ONLY; SELECT snowid.$_"), 'ERROR 25006', "read-only: $_")
  foreach q(join('registry')), 'check_node()', 'take_over_node()', 'accept_registry()', 'leave()';
is(on_registry('SELECT count(*) FROM snowid_internal.nodes'), '2', 'nobody got more by all that');
is(at('north', q(SELECT snowid.join('registry', 'the west'))), '3', 'a name is a label, which others may have');

# A check exchanges a token, and no session notices.
my $seen = 'SELECT last_seen, token, exchange FROM snowid_internal.nodes WHERE node_number = 1';
my $before = on_registry($seen);
is(at('east', 'SELECT snowid.check_node()'), '1', 'a check gives the number');
isnt(on_registry($seen), $before, 'and is noted');
is(at('east', 'BEGIN; SELECT snowid.check_node(); ROLLBACK'), '1', 'a check that is rolled back') for 1 .. 3;
is(at('east', 'SELECT snowid.check_node() FROM generate_series(1, 3)'), "1\n1\n1", 'several in one transaction');
is(at('east', 'SELECT snowid.check_node()'), '1', 'after which the next is right');

# Whatever is rolled back: the number is the node's.
new_member('south');
is(at('south', q(BEGIN; SELECT snowid.join('registry'), snowid_shard(snowid_next()); ROLLBACK)), '4|4', 'joined and drawn from');
is(number_of('south'), '4|4', 'rolled back: joined all the same');
is(at('south', 'SELECT count(*) FROM snowid_internal.membership'), '0', 'but its dumps do not know');
is(at('south', 'SELECT snowid.check_node(), (SELECT count(*) FROM snowid_internal.membership)'), '4|0', 'it checks');
is(at('south', 'SELECT count(*) FROM snowid_internal.membership'), '1', 'and they do');
is(at('south', q(SELECT snowid.join('registry'))), '4', 'joined again: the number of before');
is(at('south', 'SELECT node_number FROM snowid_internal.membership'), '4', 'and its dumps have it');
my $preparing = open_session($node, dbname => 'south');
is(ask($preparing, q(BEGIN; SELECT snowid.check_node())), '4', 'asked in a transaction');
is(ask($preparing, q(PREPARE TRANSACTION 'checked')), 'ERROR 0A000', 'which cannot be prepared');
close_session($preparing);

# Many at once: 200 that claim, and a dozen that join. Who finds too many others at it, or a registry too busy to answer in
# time, is told to try again.
my $claim = request('claim');
$claim =~ s/'\Q${\claim_of(1)}\E'/gen_random_uuid()/;
$node->safe_psql('postgres', <<"SQL");
CREATE TABLE got (number bigint);
CREATE FUNCTION claim() RETURNS bigint LANGUAGE plpgsql AS \$\$
BEGIN
  LOOP
    BEGIN
      RETURN (SELECT c.held_number FROM ($claim) AS c);
    EXCEPTION WHEN lock_not_available THEN NULL;
    END;
  END LOOP;
END \$\$;
SQL
append_to_file("$dir/claim.sql", 'INSERT INTO got SELECT claim()');
my $join = q(SELECT snowid.join('registry'));
my @joining = map { open_session($node, dbname => new_member("member_$_")) } 1 .. 12;
start_asking($_, $join) foreach @joining;
command_ok([ 'pgbench', '-n', '-c', 200, '-j', 2, '-t', 1, '-f', "$dir/claim.sql", '-d', $node->connstr('postgres') ], '200 at once');
my %numbers;
foreach my $session (@joining)
{
    my $number = answer($session);
    $number = ask($session, $join) while $number =~ /^ERROR (55P03|08006)$/;
    $numbers{$number} = 1;
}
is(join(' ', grep { !/^\d+$/ } keys %numbers), '', 'a dozen join at once: all get numbers');
is(scalar(keys %numbers), 12, 'each its own');
is(on_registry('SELECT count(DISTINCT number) FROM got'), '200', '200 claim at once: so do they');
is(on_registry('SELECT count(*), max(node_number) FROM snowid_internal.nodes'), '216|216', 'and none is left out');
close_session(@joining);
$node->safe_psql('postgres', 'DROP TABLE got; DROP FUNCTION claim');

# Rights. Whoever lacks the one function is refused.
$node->safe_psql('postgres', 'CREATE ROLE mallory LOGIN');
my $mallory = open_session($node, user => 'mallory');
is(ask($mallory, $_), 'ERROR 42501', "not for everybody: $_")
  foreach 'TABLE snowid_internal.nodes', 'TABLE snowid_internal.membership', 'TABLE snowid_internal.registry_identities', 'TABLE snowid.registry',
  'SELECT last_value FROM snowid_internal.membership_page', 'SELECT snowid.check_node()', 'SELECT snowid.take_over_node()',
  'SELECT snowid.accept_registry()', 'SELECT snowid.leave()', q(SELECT snowid.join('registry')), request('claim', registry_identity => 'r'),
  'SELECT snowid.recover_registry(8000)', 'SELECT snowid_internal.registry_identity()', 'SELECT snowid.retire_node(2)',
  'SELECT snowid_internal.commit_durably()';

# Whoever has it speaks for his own claim: there is nothing that he can say of a number, or of how often he has asked.
$node->safe_psql('postgres', 'GRANT EXECUTE ON FUNCTION snowid.register TO mallory');
my $others = q(SELECT md5(string_agg(n::text, ',' ORDER BY node_number)) FROM snowid_internal.nodes AS n WHERE n.database NOT IN ('d', 'member_1'));
my $untouched = on_registry($others);
sub mallory { return ask($mallory, request(@_)) }
foreach my $number (2, 8000)
{
    my %greedy = (node_number => $number, exchange => 1 << 40, token => 1, timeline => 99);
    is(mallory($_, %greedy), 'unknown|0', "no claim, and number $number: $_") foreach 'exchange', 'take over', 'leave', 'look';
    is(mallory('accept', %greedy), 'ERROR 55000', "no claim, and number $number: accept");
}
is(mallory('claim', node_number => 8000, exchange => 1 << 40), 'held|217', 'a claim: the least number');
is(mallory('claim'), 'held|217', 'once more: the same');
my %his = (node_number => 217);
is(mallory('exchange', %his, exchange => 1 << 40, next => 1 << 40), 'behind|217', 'an exchange that counts too far');
is(mallory('accept', %his, exchange => 1 << 40, next => 1 << 40), 'held|217', 'which he can state');
is(mallory('exchange', %his, token => 5, next => 6), 'copy|217', 'and is no one else\'s then');
is(mallory('accept', node_number => 2, token => 1 << 40), 'ERROR 55000', 'but not of another number');
is(mallory('accept', %his, exchange => (1 << 40) + 1, token => 1 << 40), 'held|217', 'of his own only');
is(mallory('exchange', registry_identity => 'another'), 'moved|0', 'another registry');
is(mallory('grant'), 'ERROR 22023', 'no such request');
is(mallory('exchange', @$_), 'ERROR 22023', "no such request: @$_")
  foreach [ node_number => 8192 ], [ node_number => -1 ], [ next => 0 ], [ next => -1 ], [ token => -1 ], [ exchange => -1 ], [ max_lead => -1 ],
  [ node_name => '' ], [ node_name => 'n' x 256 ], [ database => 'd' x 256 ];
is(mallory('claim', next => 5), 'ERROR 22023', 'no claim with a token');
# He locks nothing but his own row, nor keeps others from joining, or an administrator from his work.
ask($mallory, 'BEGIN');
is(mallory($_, claim => claim_of(2), node_number => 2), 'unknown|0', "in a transaction: $_") foreach 'look', 'exchange', 'leave';
is(mallory('exchange', %his, exchange => (1 << 40) + 2, token => 17, next => 18), 'held|217', 'in a transaction: his own');
is(mallory('claim', claim => claim_of(3)), 'held|218', 'in a transaction: one number');
is(at('member_1', 'SELECT snowid.check_node() BETWEEN 5 AND 216'), 't', 'others check meanwhile');
is(at(new_member('meanwhile'), $join), '219', 'and join');
is(on_registry('SET lock_timeout = 1; SELECT snowid.recover_registry(219)'), '', 'and the registry is recovered');
ask($mallory, 'ROLLBACK');
is(at(new_member('afterwards'), $join), '220', 'what others may have been given below that is given to nobody');
is(on_registry("$others AND n.node_number < 217"), $untouched, 'nobody else has noticed');
# A transaction gets one number, whatever it does before.
foreach my $sql (q(SELECT age('3'::xid) > 0), 'SAVEPOINT before', 'SELECT 1')
{
    ask($mallory, 'BEGIN');
    ask($mallory, $sql);
    is(mallory('claim', claim => claim_of(4)), 'held|221', "one number after: $sql");
    is(mallory('claim', claim => claim_of(4)), 'held|221', 'the same claim: the same');
    is(mallory('claim', claim => claim_of(5)), 'ERROR 53400', 'no second one');
    ask($mallory, 'ROLLBACK');
}
my $all = 'SELECT count(*) FROM generate_series(1, 499) AS g, LATERAL (' . request('claim', registry_identity => on_registry('SELECT snowid_internal.registry_identity()'));
is(ask($mallory, $all =~ s/'\Q${\claim_of(1)}\E'/md5(g::text)::uuid/r . ') AS c'), 'ERROR 53400', 'nor in one statement');
is(mallory('claim', claim => claim_of(6)), 'held|221', 'one more, in a transaction of its own');
# One role gets so many numbers a day.
$node->safe_psql('postgres', <<'SQL');
INSERT INTO snowid_internal.nodes
SELECT g, gen_random_uuid(), 'many ' || g, 'd', 0, 0, 1, 1, 1, 0, now(), 'mallory', '3', now() FROM generate_series(2002, 2499) AS g
SQL
is(mallory('claim', claim => claim_of(7)), 'ERROR 53400', '500 within a day: refused');
is(mallory('exchange', %his, exchange => (1 << 40) + 2, token => 17, next => 18), 'held|217', 'who has a number checks');
is(at('east', 'SELECT snowid.check_node()'), '1', 'and others are not concerned');
$node->safe_psql('postgres', q(UPDATE snowid_internal.nodes SET claimed = now() - interval '25 hours' WHERE node_number = 2002));
is(mallory('claim', claim => claim_of(7)), 'held|222', 'a day later one more');
# One transaction holds one number that the registry may have lost, too.
$node->safe_psql('postgres', 'SELECT snowid.recover_registry(2600)');
ask($mallory, 'BEGIN');
is(mallory('accept', claim => claim_of(8), node_number => 2501), 'held|2501', 'a number that was lost');
is(mallory('accept', claim => claim_of(9), node_number => 2502), 'ERROR 53400', 'no second one');
ask($mallory, 'ROLLBACK');
is(mallory('accept', claim => claim_of($_), node_number => $_), "held|$_", "one in each, and no more than there are: $_") foreach 2501 .. 2503;
is(on_registry('SELECT count(*) FROM snowid.registry WHERE claimed IS NULL'), 3, 'when they were claimed is not known');
# Whoever waits for another one is told so.
ask($mallory, 'BEGIN');
is(mallory('accept', claim => claim_of(8), node_number => 2504), 'held|2504', 'a number that was lost, and a transaction that goes on');
my $waiting = open_session($node);
is(ask($waiting, request('accept', claim => claim_of(9), node_number => 2504)), 'ERROR 55P03', 'another one: told so after a while');
close_session($waiting);
ask($mallory, 'ROLLBACK');
close_session($mallory);
# On the node: who may execute the function, but not use the server.
$node->safe_psql('member_1', 'GRANT EXECUTE ON FUNCTION snowid.check_node() TO mallory');
my $checker = open_session($node, dbname => 'member_1', user => 'mallory');
is(ask($checker, 'SELECT snowid.check_node()'), 'ERROR 42501', 'no right to the server');
$node->safe_psql('member_1', 'GRANT USAGE ON FOREIGN SERVER registry TO mallory');
is(ask($checker, 'SELECT snowid.check_node()'), 'ERROR 28000', 'nor a password of his own');
close_session($checker);
# Nor does a superuser connect over a foreign server that somebody else owns.
$node->safe_psql('member_1', 'GRANT USAGE ON FOREIGN DATA WRAPPER dblink_fdw TO mallory; ALTER SERVER registry OWNER TO mallory');
is(at('member_1', 'SELECT snowid.check_node()'), 'ERROR 42501', "a superuser, and a server of mallory's");
$node->safe_psql('member_1', 'ALTER SERVER registry OWNER TO CURRENT_USER');
like(at('member_1', 'SELECT snowid.check_node()'), qr/^\d+$/, 'his own: asks');

# Replication of all tables brings no other node's row, and no other registry's.
$node->safe_psql('postgres', 'CREATE DATABASE copied');
$node->safe_psql($_, 'CREATE TABLE rows (n int PRIMARY KEY)') foreach 'postgres', 'east', 'west', 'copied';
$node->safe_psql('copied', 'CREATE EXTENSION snowid');
my $identities = 'SELECT * FROM snowid_internal.registry_identities';
my $of_copied = $node->safe_psql('copied', $identities);
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
at('east', q(SELECT snowid.join('registry')));
$node->safe_psql($_->[0], 'INSERT INTO rows VALUES (1)') foreach @pairs;
foreach my $pair (@pairs)
{
    my ($from, $to) = @$pair;
    wait_for(sub { $node->safe_psql($to, 'SELECT count(*) FROM rows') eq '1' }, "what $from has done to reach $to");
    # On one server a first copy that begins its slot waits for the transaction that drops the subscription, and that for the slot.
    $node->wait_for_subscription_sync(undef, undef, $to);
    $node->safe_psql($to, "DROP SUBSCRIPTION sub_$to");
}
is($node->safe_psql('west', 'SELECT node_number FROM snowid_internal.membership'), '2', "replication: no other node's row");
is($node->safe_psql('copied', 'SELECT count(*) FROM snowid_internal.nodes'), '0', "replication: no other registry's nodes");
is($node->safe_psql('copied', $identities), $of_copied, 'replication: nor its identity');
is(number_of('west'), '2|2', 'replication: the number is its own');

# All given.
$node->safe_psql('postgres', <<'SQL');
INSERT INTO snowid_internal.nodes SELECT g, gen_random_uuid(), 'taken', 'd', 0, 0, 1, 1, 1, 0, now(), 'x', NULL, now()
FROM generate_series(1, 8190) AS g ON CONFLICT DO NOTHING
SQL
is(at(new_member('last'), $join), '8191', 'the last one');
is(number_of('last'), '8191|8191', 'is a shard of the layout');
new_member('too_late');
is(at('too_late', $join), 'ERROR 53400', 'all given: refused');
like(message_of('too_late', $join), qr/all numbers of the registry have been given\nDETAIL:.*\nHINT:.*second registry/, 'all given: what to do');
is(on_registry('SELECT snowid.retire_node(8190)'), '', 'one is retired');
is(at('too_late', $join), 'ERROR 53400', 'and given to nobody');
is(at('east', 'SELECT snowid.check_node()'), '1', 'all given: who has one keeps it');

# What a DBA may not do to them by accident.
is(attempt($node, "TRUNCATE snowid_internal.$_"), 'ERROR 0A000', "TRUNCATE of $_") foreach qw(nodes registry_identities membership);
close_session($drawing);
check_log($node);
$node->stop;
done_testing();
