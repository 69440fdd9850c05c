# Between a node and its registry a request, an answer, or either server may be lost, and what is asked for again is found
# done: a claim is the same claim when it is made again, and no check is wrong.
# Runs in make test-all: it starts and crashes servers often.

use Snowid;
use SnowidNodes;

my $registry = ready_server('registry');
# Nobody but who has to flushes anything.
my $node = ready_server('node', conf => "wal_writer_delay = '10s'\nsynchronous_commit = off\n");
add_source($node, $registry, name => 'registry');
sub given { return $registry->safe_psql('postgres', 'SELECT count(*) FROM snowid_internal.nodes') }

stand_between($registry, '', "RAISE 'lost';");
is(join_as($node, 'a name'), 'ERROR P0001', 'nothing is claimed before the registry has said who it is');
foreach my $request ('claim', 'exchange')
{
    stand_between($registry, '', "IF request = '$request' THEN RAISE 'lost'; END IF;");
    is(join_as($node, 'a name'), 'ERROR P0001', "$request: the answer is lost");
    crash_and_start($node, 'kill');
    is(join_as($node, 'a name'), 'ERROR P0001', "$request: lost again, after a crash");
}
stand_aside($registry);
is(join_as($node, 'a name'), '1', 'heard: joined');
is(given(), '1', 'and no other number is taken');
is(number_of($node), '1|1', 'which it draws from');

# Checks: several in a row.
foreach my $round (1, 2)
{
    stand_between($registry, '', "RAISE 'lost';");
    is(check_node($node), 'ERROR P0001', 'a check: the answer is lost') for 1, 2;
    stand_between($registry, "RAISE 'not asked';");
    is(check_node($node), 'ERROR P0001', 'a check that does not get there');
    stand_aside($registry);
    is(check_node($node), '1', 'the next one is right');
}
# Done, in a transaction of its own, and every so manieth answer is lost.
$registry->safe_psql('postgres', 'CREATE SEQUENCE asked');
my $done = done_apart($registry);
foreach my $nth (2, 3)
{
    stand_between($registry, "IF nextval('public.asked') % $nth = 0 THEN $done RAISE 'lost'; END IF;");
    is(join(' ', sort keys %{ { map { check_node($node) => 1 } 1 .. 8 } }), '1 ERROR P0001', "every answer number $nth is lost: no check is wrong");
    stand_aside($registry);
    is(check_node($node), '1', 'nor the next');
}
# A crash while the registry has answered and the node has not heard, or while the registry has not even been asked.
foreach my $step ([ $done, 'has answered' ], [ '', 'has not been asked' ])
{
    my ($holder, $checking) = (open_session($registry), open_session($node));
    ask($holder, 'SELECT pg_advisory_lock(1)');
    stand_between($registry, "$step->[0] PERFORM pg_advisory_lock(1); PERFORM pg_advisory_unlock(1);");
    start_asking($checking, 'SELECT snowid.check_node()');
    wait_for_waiting($registry, 1, 'Lock', 'snowid.register');
    crash_and_start($node, 'kill');
    close_session($checking);
    # What is on its way arrives when the node has long asked for other things.
    stand_aside($registry) if !$step->[0];
    close_session($holder);
    wait_for(sub { $registry->safe_psql('postgres', q(SELECT count(*) FROM pg_stat_activity WHERE state <> 'idle' AND query ~ 'register' AND pid <> pg_backend_pid())) eq '0' },
        'the registry to be done');
    stand_aside($registry);
    is(check_node($node), '1', "a crash while the registry $step->[1]: the next check is right") for 1, 2;
}
check_no_connection($registry, 'nobody stays at the registry');
end_test($node, $registry);
