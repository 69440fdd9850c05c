# The right to refill, which one session has at a time. It is no lock that pg_locks shows, since readers of
# it, and detectors of deadlocks, would take it for DDL. Whatever becomes of the session that has it, or
# of a part of its transaction, others go on; and where each number has to be allocated, none comes twice.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $source = new_server('source');
$source->start;
$source->safe_psql('postgres', 'CREATE SEQUENCE there INCREMENT 10');
my $node = new_server('node', allows_streaming => 1);
$node->append_conf('postgresql.conf', "snowid.segment_adapt = off\n");
$node->start;
add_source($node, $source);
$node->safe_psql('postgres', <<'SQL');
CREATE SEQUENCE single;
CREATE SEQUENCE limits;
CREATE SEQUENCE held;
CREATE SEQUENCE held_limit;
CREATE SEQUENCE short INCREMENT 10 MAXVALUE 10;
CREATE SEQUENCE refilled;
SELECT snowid_segment_attach('refilled', 'central', 'there');
SQL

# 1. Each number is allocated.
my @drawing = map { draw($node, q(snowid_segment_next('single')), 500) } 1 .. 8;
finish(@drawing);
my ($count, $greatest) = check_round('INCREMENT 1', 0, @drawing);
is("$count $greatest", '4000 4000', 'INCREMENT 1: all, and no gap');
@drawing = map { draw($node, q(1, snowid_section_next('limits', 1)), 500) } 1 .. 8;
finish(@drawing);
($count) = check_keys('INCREMENT 1, section', 0, @drawing);
is($count, 4000, 'INCREMENT 1, section: all');

# 2. What others see of it while it is held up.
my ($refiller, $waiter, $third) = map { open_session($node) } 1 .. 3;
backend_of($_) foreach $refiller, $waiter, $third;
foreach my $draw (q(SELECT snowid_segment_next('held')), q(SELECT snowid_section_next('held_limit', 1)))
{
    my $commits = hold_commits($node);
    start_asking($refiller, $draw);
    wait_until_waiting($node, $refiller, 'SyncRep');
    start_asking($waiter, $draw);
    wait_until_waiting($node, $waiter, 'Extension');
    is(ask($third, <<"SQL"), 'relation|RowExclusiveLock|t', "$draw: no lock but nextval's in pg_locks");
SELECT DISTINCT locktype, mode, granted FROM pg_locks WHERE locktype <> 'virtualxid'
  AND pid IN ($refiller->{backend}, $waiter->{backend})
SQL
    is(ask($third, "SELECT pg_blocking_pids($waiter->{backend})"), '{}', "$draw: nobody blocks who waits");
    release_commits($node, $commits);
    # Who has waited may be the quicker one.
    is(join(' ', sort(answer($refiller), answer($waiter))), '1 2', "$draw: then both are served");
}

# 3. Sessions that fail while they have it.
my $draw_refilled = q(SELECT snowid_segment_next('refilled'));
my $last = ask($waiter, $draw_refilled);
sub check_goes_on
{
    my ($name) = @_;
    ask($_, q(SET statement_timeout = '1min')) foreach $waiter, $third;
    my $until = $last + 20;
    while ($last < $until)
    {
        my $next = ask($last % 2 ? $waiter : $third, $draw_refilled);
        if ($next !~ /^\d+$/ || $next <= $last)
        {
            is($next, 'a number above', "$name: others go on");
            return;
        }
        $last = $next;
    }
    pass("$name: others go on");
    return;
}

my $locker = open_session($source);
foreach my $end ('pg_cancel_backend', 'pg_terminate_backend')
{
    my $victim = open_session($node);
    backend_of($victim);
    ask($locker, 'BEGIN; ALTER SEQUENCE there MINVALUE -1');
    # What is in memory counts no more.
    ask($third, q(SELECT setval('refilled', last_value, is_called) FROM refilled));
    start_asking($victim, $draw_refilled);
    # The source's sequence is locked.
    wait_for_waiting($source, 1, 'Lock', 'nextval');
    start_asking($waiter, $draw_refilled);
    wait_until_waiting($node, $waiter, 'Extension');
    ask($third, "SELECT $end($victim->{backend})");
    eval { answer($victim) };
    ask($locker, 'ROLLBACK');
    like(answer($waiter), qr/^\d+$|ERROR 08006/, "$end: who waits comes to its turn");
    wait_for(sub { ask($third, $draw_refilled) =~ /^\d+$/ }, 'the source to be tried again');
    $last = ask($third, $draw_refilled);
    check_goes_on($end);
    close_session($victim);
}

# Errors of a refill, in a subtransaction of a transaction that goes on.
my $too_long = q(SELECT snowid_segment_next('refilled', 5000));
my $exhausted = q(SELECT snowid_segment_next('short') FROM generate_series(1, 11));
is(ask($refiller, 'BEGIN; SAVEPOINT a; SAVEPOINT b'), '', 'a subtransaction');
is(ask($refiller, $too_long), 'ERROR 22023', 'fails to refill');
check_goes_on('failed subtransaction');
is(ask($refiller, 'ROLLBACK TO a'), '', 'and is rolled back');
like(ask($refiller, $draw_refilled), qr/^\d+$/, 'after which its transaction can draw');
is(ask($refiller, $exhausted), 'ERROR 2200H', 'and fail again');
is(ask($third, q(SELECT snowid_segment_next('short'))), 'ERROR 2200H', 'so do others');
ask($refiller, 'ROLLBACK TO a');
is(ask($refiller, <<'SQL'), '', 'errors that a function catches');
DO $$ BEGIN
  FOR i IN 1 .. 3 LOOP
    BEGIN
      PERFORM snowid_segment_next('refilled', 5000);
    EXCEPTION WHEN invalid_parameter_value THEN
      PERFORM snowid_segment_next('refilled');
    END;
  END LOOP;
END $$
SQL
$last = ask($third, $draw_refilled);
check_goes_on('caught');
ask($refiller, 'COMMIT');
is(ask($third, $exhausted), 'ERROR 2200H', 'fails in no subtransaction');
is(ask($waiter, q(SET statement_timeout = '1min'; SELECT snowid_segment_next('short'))), 'ERROR 2200H', 'others are told, too');

close_session($refiller, $waiter, $third, $locker);
check_log($node);
$_->stop foreach $node, $source;
done_testing();
