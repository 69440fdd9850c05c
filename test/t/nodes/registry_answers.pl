# A registry that is down or silent, that answers nonsense, or whose answer is lost: the node has an error in
# time and goes on with its number, and nothing that was lost makes it look like a copy of itself: not a lost
# answer, not a crash of the node or the registry at any step.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $registry = new_server('registry', allows_streaming => 1);
$registry->start;
my $node = new_server('node');
# Nobody but who has to flushes anything.
$node->append_conf('postgresql.conf', "wal_writer_delay = '10s'\nsynchronous_commit = off\n");
$node->start;
$registry->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE EXTENSION dblink');
add_source($node, $registry, name => 'registry');

sub at { my ($sql) = @_; return attempt($node, $sql) }
sub numbers { return $registry->safe_psql('postgres', q(SELECT string_agg(number || ' ' || node, ',' ORDER BY number) FROM snowid_internal.nodes)) }

# A database at the registry that is a registry as far as this function goes: $body is its answer.
$registry->safe_psql('postgres', 'CREATE DATABASE between');
$registry->safe_psql('between', 'CREATE EXTENSION dblink; CREATE SCHEMA snowid');

sub answer_with
{
    my ($body) = @_;
    $registry->safe_psql('between', <<"SQL");
CREATE OR REPLACE FUNCTION snowid.register(request text, node text, number bigint, secret text, known bigint, next bigint,
  database text, system_identifier bigint, database_oid bigint, timeline bigint, registry text,
  OUT verdict text, OUT held_number text, OUT held_node text, OUT token text, OUT identity text) RETURNS SETOF record LANGUAGE plpgsql AS \$\$
BEGIN $body END \$\$
SQL
    return;
}
sub ask_between { $node->safe_psql('postgres', "ALTER SERVER registry OPTIONS (SET dbname 'between')"); return }
sub ask_directly { $node->safe_psql('postgres', "ALTER SERVER registry OPTIONS (SET dbname 'postgres')"); return }

# The registry answers, and its answer is lost: with an error, and with nonsense.
my $conninfo = $registry->connstr('postgres') =~ s{'}{''}gr;
my $real = <<"SQL";
SELECT d.* INTO verdict, held_number, held_node, token, identity FROM dblink('$conninfo', format(
  'SELECT * FROM snowid.register(%L, %L, %s, %L, %s, %s, %L, %s, %s, %s, %L)', request, node, number, secret, known, next,
  database, system_identifier, database_oid, timeline, registry)) AS d(verdict text, held_number text, held_node text, token text, identity text);
SQL
my %lost = (error => [ "$real RAISE EXCEPTION 'lost';", 'ERROR P0001' ], nonsense => [ $real, 'ERROR 08P01' ]);

# What a lying registry says to somebody who joins.
ask_between();
my %lies = (
    'the number 0' => q('held', '0', node, '1', 'r'), 'one that is too great' => q('held', '8192', node, '1', 'r'),
    'no number' => q('held', '7x', node, '1', 'r'), 'none at all' => q('held', NULL, node, '1', 'r'),
    "another's number" => q('held', '7', 'somebody', '1', 'r'), 'an unknown verdict' => q('grand', '7', node, '1', 'r'),
    'a token below all' => q('held', '7', node, '-1', 'r'), 'one beyond all' => q('held', '7', node, '9223372036854775808', 'r'),
    'no identity' => q('held', '7', node, '1', NULL), 'a long one' => q('held', '7', node, '1', repeat('r', 256)));
foreach my $lie (sort keys %lies)
{
    answer_with("RETURN QUERY VALUES ($lies{$lie});");
    is(at(q(SELECT snowid_join('registry', 'liar'))), 'ERROR 08P01', "told $lie: refused");
}
answer_with('RETURN;');
is(at(q(SELECT snowid_join('registry', 'liar'))), 'ERROR 08P01', 'told nothing: refused');
answer_with(q(RETURN QUERY VALUES ('held', '7', node, '1', 'r'), ('held', '7', node, '1', 'r');));
is(at(q(SELECT snowid_join('registry', 'liar'))), 'ERROR 08P01', 'told twice: refused');
is(at('SELECT snowid_default_shard()'), '0', 'and has not joined');
$registry->safe_psql('between', 'DROP FUNCTION snowid.register');
is(at(q(SELECT snowid_join('registry', 'liar'))), 'ERROR 42883', 'no registry at all');

# A claim whose answer is lost is the same claim when it is made again, by whatever name; also after a crash.
answer_with("IF request = 'resume' THEN $real RETURN NEXT; RETURN; END IF; $lost{error}[0]");
is(at(q(SELECT snowid_join('registry', 'first name'))), $lost{error}[1], 'a claim: the answer is lost');
is(numbers(), '1 first name', 'which the registry has granted');
crash($node, 'kill');
$node->start;
answer_with($lost{nonsense}[0]);
is(at(q(SELECT snowid_join('registry', 'first name'))), $lost{nonsense}[1], 'again after a crash: lost again');
is(numbers(), '1 first name', 'granted again');
ask_directly();
is(at(q(SELECT snowid_join('registry', 'a name'))), '1', 'again, and heard: the same number');
is(numbers(), '1 a name', 'and no other is taken');

# So it is with checks: with several in a row, and with a crash while the registry has answered and the node
# has not heard, or while the registry has not even been asked.
foreach my $round (1, 2)
{
    ask_between();
    foreach my $how (sort keys %lost)
    {
        answer_with($lost{$how}[0]);
        is(at('SELECT snowid_check()'), $lost{$how}[1], "a check: the answer is lost ($how)") for 1, 2;
    }
    answer_with(q(RAISE EXCEPTION 'not asked';));
    is(at('SELECT snowid_check()'), 'ERROR P0001', 'a check that does not get there');
    ask_directly();
    is(at('SELECT snowid_check()'), '1', 'the next one is right');
    is(at('SELECT snowid_shard(snowid_next())'), '1', 'and the number its own');
}
# Every so manieth answer is lost, whatever it is to.
$registry->safe_psql('between', 'CREATE SEQUENCE asked');
foreach my $nth (2, 3)
{
    ask_between();
    answer_with("$real IF nextval('public.asked') % $nth = 0 THEN RAISE 'lost'; END IF; RETURN NEXT;");
    my @answers = map { at('SELECT snowid_check()') } 1 .. 8;
    is(join(' ', sort keys %{ { map { $_ => 1 } @answers } }), '1 ERROR P0001', "every answer number $nth is lost: no check is wrong");
    ask_directly();
    is(at('SELECT snowid_check()'), '1', 'nor the next');
}
foreach my $step ([ $real, 'has answered' ], [ '', 'has not been asked' ])
{
    # Held there by a lock that nobody gives up.
    my $holder = open_session($registry, dbname => 'between');
    ask($holder, 'SELECT pg_advisory_lock(1)');
    ask_between();
    answer_with("$step->[0] PERFORM pg_advisory_lock(1); PERFORM pg_advisory_unlock(1); $real RETURN NEXT;");
    my $checking = open_session($node);
    start_asking($checking, 'SELECT snowid_check()');
    wait_for_waiting($registry, 1, 'Lock', 'snowid.register');
    crash($node, 'kill');
    close_session($checking);
    $registry->safe_psql('postgres', q(SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ~ 'snowid.register' AND pid <> pg_backend_pid()));
    close_session($holder);
    $node->start;
    ask_directly();
    is(at('SELECT snowid_check()'), '1', "a crash while the registry $step->[1]: the next check is right");
}

# The registry crashes after it has answered, whatever its settings say of commits.
$registry->append_conf('postgresql.conf', "synchronous_commit = off\nwal_writer_delay = '10s'\n");
$registry->reload;
wait_for(sub { $registry->safe_psql('postgres', 'SHOW synchronous_commit') eq 'off' }, 'the setting');
my $held = hold_commits($registry);
my $patient = open_session($node);
start_asking($patient, 'SELECT snowid_check()');
wait_for_waiting($registry, 1, 'SyncRep', 'register');
# Nor does it help to set that after one has asked.
my $careless = open_session($registry);
ask($careless, 'BEGIN');
is(ask($careless, "SELECT verdict FROM snowid.register('claim', 'careless', 0, 'mine', 0, 17, 'd', 1, 1, 1, '')"), 'held', 'asked in a block');
ask($careless, 'SET LOCAL synchronous_commit = off');
start_asking($careless, 'COMMIT');
wait_for_waiting($registry, 1, 'SyncRep', '^COMMIT');
release_commits($registry, $held);
is(answer($careless), '', 'its commit has waited, too');
close_session($careless);
is(answer($patient), '1', 'the answer has waited for the synchronous standby');
close_session($patient);
# A request that was held up, and arrives when a later one was granted.
my $held_up = "SELECT verdict FROM snowid_internal.nodes AS n, snowid.register('take over', n.node, n.number, n.secret, n.token - 2, n.token - 1, "
  . "n.database, n.system_identifier, n.database_oid, n.timeline, '') WHERE n.number = 1";
is($registry->safe_psql('postgres', $held_up), 'stale', 'taking over with a token of before');
is(at('SELECT snowid_check()'), '1', 'unseats nobody');
# Nobody keeps others from the registry, however long his transaction takes: he locks his own number, and no other.
$registry->safe_psql('postgres', 'CREATE ROLE mallory LOGIN; GRANT EXECUTE ON FUNCTION snowid.register TO mallory');
my @mine = map { open_session($registry, user => 'mallory') } 1 .. 3;
ask($_, 'BEGIN') foreach @mine;
like(ask($mine[$_], "SELECT verdict FROM snowid.register('claim', 'mine $_', 0, 'mine', 0, 17, 'd', 1, 1, 1, '')"), qr/^held$/, "a claim in a block, $_")
  foreach 0 .. 2;
is(at('SELECT snowid_check()'), '1', 'others check meanwhile') for 1, 2;
$node->safe_psql('postgres', 'CREATE DATABASE meanwhile');
add_source($node, $registry, name => 'registry', dbname => 'meanwhile');
like(attempt($node, q(SELECT snowid_join('registry')), dbname => 'meanwhile'), qr/^\d+$/, 'and join');
is(attempt($registry, 'SELECT snowid.settle_registry(8191)'), 'ERROR 55P03', 'who waits for all of them gives up in time');
ask($_, 'ROLLBACK') foreach @mine;
close_session(@mine);
is(at('SELECT snowid_check()'), '1', 'the registry has answered') for 1, 2;
crash($registry, 'kill');
is(at('SELECT snowid_shard(snowid_next())'), '1', 'the registry is down: the node goes on');
is(at('SELECT snowid_shard(snowid_next())'), '1', 'with a session of its own each');
is(at(q(SELECT snowid_join('registry'))), '1', 'it has joined');
is(at("$_"), 'ERROR 08006', "the registry is down: $_") foreach 'SELECT snowid_check()', 'SELECT snowid_leave()';
is(at('SELECT snowid_shard(snowid_next())'), '1', 'and goes on');
crash($node, 'kill');
$node->start;
is(at('SELECT snowid_shard(snowid_next())'), '1', 'also after a crash');
$node->safe_psql('postgres', 'CREATE DATABASE second');
add_source($node, $registry, name => 'registry', dbname => 'second');
is(attempt($node, q(SELECT snowid_join('registry')), dbname => 'second'), 'ERROR 08006', 'nobody joins meanwhile');
{
    my $hole = black_hole($registry);
    is(at('SELECT snowid_check()'), 'ERROR 08006', 'the registry is silent: an error in time');
    my (undef, undef, $message) = $node->psql('postgres', 'SELECT snowid_check()');
    like($message, qr/could not reach the registry over server "registry"/, 'that says so');
    is(attempt($node, q(SELECT snowid_join('registry')), dbname => 'second'), 'ERROR 08006', 'nobody joins');
}
$registry->start;
is(at('SELECT snowid_check()'), '1', 'the registry is back: the node is who it is');
like(attempt($node, q(SELECT snowid_join('registry')), dbname => 'second'), qr/^\d+$/, 'and others join');

# A lie about a node that has joined is an error, and no more; but the verdict counts.
ask_between();
answer_with("RETURN QUERY VALUES ('held', '2', node, '1', 'r');");
is(at('SELECT snowid_check()'), 'ERROR 08P01', "told another's number");
answer_with("RETURN QUERY VALUES ('lost', '2', node, '1', 'r');");
is(at('SELECT snowid_check()'), 'ERROR 08P01', "told that another's number is lost");
answer_with("IF request <> 'look' THEN RAISE 'not asked'; END IF; RETURN QUERY VALUES ('held', number::text, node, '9223372036854775807', 'r');");
is(at('SELECT snowid_check(take_over => true)'), 'ERROR P0001', 'told that no more exchanges can be counted');
ask_directly();
is(at('SELECT snowid_check()'), '1', 'lies are forgotten') for 1, 2;

# Leaving: where the registry has not heard of it nothing has happened; where its answer is lost the number is retired,
# and the next try finds that.
ask_between();
answer_with(qq(IF request = 'leave' THEN RAISE 'not asked'; ELSE $real RETURN NEXT; END IF;));
is(at('SELECT snowid_leave()'), 'ERROR P0001', 'leaving: the registry does not hear of it');
is(at('SELECT snowid_shard(snowid_next())'), '1', 'the node goes on');
answer_with(qq(IF request = 'leave' THEN $lost{error}[0] ELSE $real RETURN NEXT; END IF;));
is(at('SELECT snowid_leave()'), 'ERROR P0001', 'leaving: the answer is lost');
crash($node, 'kill');
$node->start;
ask_directly();
is(at('SELECT snowid_leave()'), 'ERROR 55000', 'again: the number is not its own any more');
is(at('SELECT snowid_next()'), 'ERROR 55000', 'and not drawn from');
is(at('SELECT snowid_leave(); SELECT snowid_default_shard()'), "\n0", 'once more: forgotten');
is($registry->safe_psql('postgres', 'SELECT left_node FROM snowid_internal.nodes WHERE number = 1 AND node IS NULL'), 'a name', 'the number is retired');
my $number = at(q(SELECT snowid_join('registry', 'a name')));
cmp_ok($number, '>', 1, 'joined anew');
crash($node, 'kill');
$node->start;
# The row may be lost where commits are asynchronous, and the claim is not.
is(at(q(SELECT snowid_join('registry', 'a name'))), $number, 'a crash after that: the same number');
check_no_connection($registry, 'nobody stays at the registry');
check_log($_) foreach $node, $registry;
$_->stop foreach $node, $registry;
done_testing();
