# Whatever becomes of the session that refills a segment, or of a part of its transaction, others go on.

use Snowid;

my ($source, $node) = ready_source({ there => 'INCREMENT 10' }, node => { conf => "snowid.segment_adapt = off\n" });
$node->safe_psql('postgres', q(CREATE SEQUENCE short INCREMENT 10 MAXVALUE 10; CREATE SEQUENCE refilled; SELECT snowid_segment_attach('refilled', 'central', 'there')));
my ($refiller, $waiter, $third) = my @sessions = map { open_session($node) } 1 .. 3;
ask($_, q(SET statement_timeout = '1min')) foreach @sessions;
my $next = q(SELECT snowid_segment_next('refilled'));
my $last = ask($waiter, $next);

sub check_goes_on
{
    my ($name) = @_;
    my @numbers = map { ask($_, $next) } ($waiter, $third) x 10;
    my @above = grep { /^\d+$/ && $_ > $last && ($last = $_) } @numbers;
    is(scalar(@above), 20, "$name: others go on") or diag("@numbers");
    return;
}

my $locker = open_session($source);
foreach my $end ('pg_cancel_backend', 'pg_terminate_backend')
{
    my $victim = open_session($node);
    ask($locker, 'BEGIN; ALTER SEQUENCE there MINVALUE -1');
    # What is in memory counts no more.
    ask($third, q(SELECT setval('refilled', last_value, is_called) FROM refilled));
    start_asking($victim, $next);
    wait_for_waiting($source, 1, 'Lock', 'nextval');
    start_waiting($waiter, $next, 'Extension');
    ask($third, "SELECT $end($victim->{backend})");
    eval { answer($victim) };
    ask($locker, 'ROLLBACK');
    like(answer($waiter), qr/^\d+$|ERROR 08006/, "$end: who waits comes to its turn");
    wait_for(sub { ($last = ask($third, $next)) =~ /^\d+$/ }, 'the source to be tried again');
    check_goes_on($end);
    close_session($victim);
}

# Errors of a refill, in a subtransaction of a transaction that goes on.
my $too_long = q(SELECT snowid_segment_next('refilled', 5000));
my $exhausted = q(SELECT snowid_segment_next('short') FROM generate_series(1, 11));
is(ask($refiller, "BEGIN; SAVEPOINT a; SAVEPOINT b; $too_long"), 'ERROR 22023', 'a subtransaction fails');
check_goes_on('a subtransaction fails');
like($last = ask($refiller, "ROLLBACK TO a; $next"), qr/^\d+$/, 'after which its transaction can draw');
is(ask($refiller, $exhausted), 'ERROR 2200H', 'and fail again');
is(ask($third, q(SELECT snowid_segment_next('short'))), 'ERROR 2200H', 'so do others');
is(ask($refiller, <<'SQL'), '', 'errors that a function catches');
ROLLBACK TO a;
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
$last = ask($third, $next);
check_goes_on('errors that are caught');
ask($refiller, 'COMMIT');
is(ask($_, $exhausted), 'ERROR 2200H', 'outside of a subtransaction each is told') foreach $third, $waiter;

close_session(@sessions, $locker);
$node->stop;
check_log($node);
end_test($source);
