# Between a node and its registry anything may be lost: a request, an answer, either server. What is asked for again is
# found done; a claim that is held up is the same claim when it is made again; nobody who leaves goes on. Who can change
# the registry can answer anything, and that costs a node no more than an error.
#
# Runs in make test-all: it starts and crashes servers often.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use SnowidNodes;
use Test::More;

my $registry = new_server('registry', allows_streaming => 1);
start_server($registry);
my $node = new_server('node');
# Nobody but who has to flushes anything.
$node->append_conf('postgresql.conf', "wal_writer_delay = '10s'\nsynchronous_commit = off\n");
start_server($node);
$registry->safe_psql('postgres', 'CREATE EXTENSION snowid');
add_source($node, $registry, name => 'registry');

sub at { my ($sql) = @_; return attempt($node, $sql) }
sub between { stand_between($registry, @_); return }
sub aside { stand_aside($registry); return }
sub given { return $registry->safe_psql('postgres', q(SELECT string_agg(node_number || ' ' || node_name, ',' ORDER BY node_number) FROM snowid_internal.nodes)) }
sub restart_node { crash($node, 'kill'); start_server($node); return }

my $join = q(SELECT snowid.join('registry', 'a name'));
my $check = 'SELECT snowid.check_node()';
my $leave = 'SELECT snowid.leave()';

# What a lying registry says to somebody who joins.
my $nonsense = q(08P01);
my %lies = (
    'the number 0' => q(held_number := '0'), 'one that is too great' => q(held_number := '8192'), 'no number' => q(held_number := '7x'),
    'none at all' => 'held_number := NULL', 'of another claim' => 'held_claim := gen_random_uuid()', 'an unknown verdict' => q(verdict := 'grand'),
    'a token below all' => q(held_token := '-1'), 'one beyond all' => q(held_token := '9223372036854775808'), 'no identity' => 'identity := NULL',
    'an empty one' => q(identity := ''), 'a long one' => q(identity := repeat('r', 64)), 'a lead below 0' => q(held_max_lead := '-1'));
foreach my $lie (sort keys %lies)
{
    between('', "$lies{$lie};");
    is(at($join), "ERROR $nonsense", "told $lie: refused");
}
is(at('SELECT snowid_default_shard()'), '0', 'and has not joined');

# A claim whose answer is lost is the same claim when it is made again, also after a crash; so is one to which more was asked.
between('', "RAISE 'lost';");
is(at($join), 'ERROR P0001', 'nothing is claimed before the registry has said who it is');
my $claimed = given();
foreach my $request ('claim', 'exchange')
{
    between('', "IF request = '$request' THEN RAISE 'lost'; END IF;");
    is(at($join), 'ERROR P0001', "$request: the answer is lost");
    restart_node();
    is(at($join), 'ERROR P0001', "$request: lost again");
}
aside();
my $number = at($join);
like($number, qr/^\d+$/, 'heard: joined');
is(given(), $claimed, 'and no other number is taken');
is(at('SELECT snowid_default_shard(), snowid_shard(snowid_next())'), "$number|$number", 'which it draws from');

# So it is with checks: with several in a row, and with a crash while the registry has answered and the node
# has not heard, or while the registry has not even been asked.
foreach my $round (1, 2)
{
    between('', "RAISE 'lost';");
    is(at($check), 'ERROR P0001', 'a check: the answer is lost') for 1, 2;
    between("RAISE 'not asked';");
    is(at($check), 'ERROR P0001', 'a check that does not get there');
    aside();
    is(at($check), $number, 'the next one is right');
}
$registry->safe_psql('postgres', 'CREATE SEQUENCE asked');
# Done, in a transaction of its own, and every so manieth answer is lost.
my $done = done_apart($registry);
foreach my $nth (2, 3)
{
    between("IF nextval('public.asked') % $nth = 0 THEN $done RAISE 'lost'; END IF;");
    my @answers = map { at($check) } 1 .. 8;
    is(join(' ', sort keys %{ { map { $_ => 1 } @answers } }), "$number ERROR P0001", "every answer number $nth is lost: no check is wrong");
    aside();
    is(at($check), $number, 'nor the next');
}
foreach my $step ([ $done, 'has answered' ], [ '', 'has not been asked' ])
{
    my $holder = open_session($registry);
    ask($holder, 'SELECT pg_advisory_lock(1)');
    between("$step->[0] PERFORM pg_advisory_lock(1); PERFORM pg_advisory_unlock(1);");
    my $checking = open_session($node);
    start_asking($checking, $check);
    wait_for_waiting($registry, 1, 'Lock', 'snowid.register');
    crash($node, 'kill');
    close_session($checking);
    # What is on its way arrives when the node has long asked for other things.
    start_server($node);
    aside() if !$step->[0];
    close_session($holder);
    wait_for(sub { $registry->safe_psql('postgres', q(SELECT count(*) FROM pg_stat_activity WHERE state <> 'idle' AND query ~ 'register' AND pid <> pg_backend_pid())) eq '0' },
        'the registry to be done');
    aside();
    is(at($check), $number, "a crash while the registry $step->[1]: the next check is right") for 1, 2;
}

# A registry that is busy says so itself.
between(q(RAISE 'busy' USING ERRCODE = 'lock_not_available', HINT = 'Try again.';));
is(at($check), 'ERROR 55P03', 'a busy registry');
like(($node->psql('postgres', $check))[2], qr/ERROR:  busy\nHINT:  Try again/, 'what it says is shown');
aside();
is(at($check), $number, 'the next check is right');

# The registry's answer waits for its synchronous standby, whatever the settings; who gives up meanwhile asks again.
my $held = hold_commits($registry);
my $patient = open_session($node);
start_asking($patient, $check);
wait_for_waiting($registry, 1, 'SyncRep', 'register');
$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query = '$check'");
like(answer($patient), qr/^ERROR (?:57014|08006)$/, 'the answer waits, or is given up');
close_session($patient);
# A claim that is held up there, and made again and again, gets one number.
$node->safe_psql('postgres', 'CREATE DATABASE second');
add_source($node, $registry, name => 'registry', dbname => 'second');
foreach my $try (1, 2)
{
    my $claiming = open_session($node, dbname => 'second');
    backend_of($claiming);
    start_asking($claiming, q(SELECT snowid.join('registry', 'second')));
    wait_for(sub { is_answered($claiming) || $registry->safe_psql('postgres', q(SELECT count(*) FROM pg_stat_activity WHERE query ~ $$'claim'$$ AND wait_event = 'SyncRep')) > 0 },
        'the claim to be held up');
    $node->safe_psql('postgres', "SELECT pg_cancel_backend($claiming->{backend})");
    like(answer($claiming), qr/^ERROR (?:57014|55P03)$/, "a claim that is held up, try $try");
    close_session($claiming);
}
release_commits($registry, $held);
is($registry->safe_psql('postgres', q(SELECT count(*) FROM snowid_internal.nodes WHERE node_name = 'second')), '1', 'one number was given');
my $second = attempt($node, q(SELECT snowid.join('registry', 'second')), dbname => 'second');
is($registry->safe_psql('postgres', q(SELECT node_number FROM snowid_internal.nodes WHERE node_name = 'second')), $second, 'and it gets that');
is(at($check), $number, 'a check after that is right');

# The registry is gone, or silent.
crash($registry, 'kill');
is(at('SELECT snowid_shard(snowid_next())'), $number, 'the registry is down: the node goes on');
is(at($join), $number, 'it has joined');
is(at($check), 'ERROR 08006', 'and cannot check');
restart_node();
is(at('SELECT snowid_shard(snowid_next())'), $number, 'also after a crash');
{
    my $hole = black_hole($registry);
    is(at($check), 'ERROR 08006', 'the registry is silent: an error in time');
    like(($node->psql('postgres', $check))[2], qr/could not reach the registry over server "registry"/, 'that says so');
}
start_server($registry);
is(at($check), $number, 'the registry is back: the node is who it is');

# A lie about a node that has joined is an error, and no more.
foreach my $lie (q(held_number := '2000'), q(held_claim := gen_random_uuid()), q(identity := ''), q(held_exchange := '9223372036854775807'), q(held_exchange := '1'))
{
    between('', "$lie;");
    is(at($check), 'ERROR 08P01', "told: $lie");
}
aside();
is(at($check), $number, 'lies are forgotten') for 1, 2;

# Who leaves stops, whatever the registry hears, and for good.
between("IF request = 'leave' THEN $done RAISE 'lost'; END IF;");
is(at($leave), '', 'leaving: the answer is lost');
is(at($_), 'ERROR 55000', "it has stopped: $_") foreach 'SELECT snowid_next()', $check, 'SELECT snowid.take_over_node()', 'SELECT snowid.accept_registry()';
restart_node();
is(at('SELECT snowid_next()'), 'ERROR 55000', 'also after a crash');
is(at('SELECT snowid_shard(snowid_next(77))'), '77', 'but for shards that are named');
like($registry->safe_psql('postgres', "SELECT retired FROM snowid.registry WHERE node_number = $number"), qr/^2/, 'the number is retired');
aside();
is(($node->psql('postgres', $leave))[2], '', 'left again: done, without a warning');
is(attempt($registry, "UPDATE snowid_internal.nodes SET retired = retired - interval '10 years' WHERE node_number = $number"), '', 'years later');
my $next = at(q(SELECT snowid.join('registry', 'a name')));
cmp_ok($next, '>', $number, 'joined anew: another number');
crash($registry, 'kill');
my (undef, undef, $warning) = $node->psql('postgres', 'BEGIN; SELECT snowid.leave(); ROLLBACK');
like($warning, qr/WARNING:  registry was not told that node "a name" has left\nDETAIL:.*\nHINT:.*snowid\.retire_node\($next\)/, 'left while the registry is down: a warning');
is(at('SELECT snowid_next()'), 'ERROR 55000', 'stopped all the same, and rolled back nothing');
start_server($registry);
is($registry->safe_psql('postgres', "SELECT retired FROM snowid.registry WHERE node_number = $next"), '', 'the registry has not heard of it');
is(at($leave), '', 'told again');
isnt($registry->safe_psql('postgres', "SELECT retired FROM snowid.registry WHERE node_number = $next"), '', 'it has');
check_no_connection($registry, 'nobody stays at the registry');
is(join('', grep { /(?:WARNING|PANIC):|TRAP/ && !/was not told/ } split /^/, slurp_file($node->logfile)), '', 'no other warning in the log');
check_log($registry);
$_->stop foreach $node, $registry;
done_testing();
