# A refill from a central source that takes long keeps nobody waiting who has numbers; those who have
# none wait, and can be cancelled. Enough is allocated ahead for ten minutes without the source.
# The server that draws crashes; the source fails over to its standby.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $source = new_server('source', allows_streaming => 1);
$source->append_conf('postgresql.conf', "synchronous_commit = off\n");
$source->start;
$source->safe_psql('postgres', <<'SQL');
CREATE SEQUENCE orders_seq INCREMENT 1000;
CREATE SEQUENCE slow_seq INCREMENT 1000;
CREATE SEQUENCE late_seq INCREMENT 1000;
CREATE SEQUENCE rate_seq INCREMENT 1000;
SQL
my $node = new_server('node');
start_server($node);
add_source($node, $source);
$node->safe_psql('postgres', "CREATE SEQUENCE $_; SELECT snowid_segment_attach('$_', 'central', '$_')")
  foreach qw(orders_seq slow_seq late_seq rate_seq);

# 1. The source takes long: a refill waits there for a synchronous standby.
my $slow = q(SELECT snowid_segment_next('slow_seq'));
my @sessions = map { open_session($node) } 1 .. 3;
my @numbers = map { ask($sessions[0], $slow) } 1 .. 50;
my $held = hold_commits($source);
my $refiller = draw($node, q(snowid_segment_next('slow_seq')), 100);
wait_for_waiting($source, 1, 'SyncRep', 'nextval');
# That one draws no more; a thousand were allocated. Many at a time, for the source is waited for no longer than some
# seconds.
my $some = q(SELECT string_agg(snowid_segment_next('slow_seq')::text, ' ') FROM generate_series(1, 50));
my @more = map { split / (?=\d)/, ask($sessions[ $_ % 3 ], $some) } 1 .. 10;
is(scalar(grep { !/^\d+$/ } @more), 0, 'others draw on while one refills');
push @numbers, @more;
is($source->safe_psql('postgres', q(SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query ~ 'nextval')),
    '1', 'which waits yet');
my $rest = 0;
ask($sessions[0], q(SET statement_timeout = '2s'));
my $answer;
while (($answer = ask($sessions[0], $some)) =~ /^\d/)
{
    push @numbers, split / /, $answer;
    last if ++$rest > 400;
}
is($answer, 'ERROR 57014', 'who finds none left waits, and can be timed out');
my $waiter = open_session($node);
backend_of($waiter);
start_asking($waiter, $slow);
wait_until_waiting($node, $waiter, 'Extension');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($waiter->{backend})");
is(answer($waiter), 'ERROR 57014', 'or cancelled');
release_commits($source, $held);
finish($refiller);
is(scalar(@{ ids($refiller) }), 100, 'who refilled goes on when the source does');
my %seen;
$seen{$_}++ foreach @numbers, @{ ids($refiller) };
is(scalar(keys %seen), @numbers + 100, 'none comes twice');
like(ask($sessions[0], $slow), qr/^\d+$/, 'and all are served again');

# Where it waits for a lock there, the source counts as down after a while, or all would wait for it.
my $holder = open_session($source);
ask($holder, 'BEGIN; ALTER SEQUENCE slow_seq MINVALUE -1');
ask($sessions[0], q(RESET statement_timeout; SELECT setval('slow_seq', last_value, is_called) FROM slow_seq));
is(ask($_, $slow), 'ERROR 08006', 'a source that is locked counts as down') foreach @sessions;
ask($holder, 'ROLLBACK');
wait_for(sub { ask($sessions[0], $slow) =~ /^\d+$/ }, 'all to be served again');
# The source itself gives a refill up: for those who have numbers that is no more than an outage.
my $late = q(SELECT snowid_segment_next('late_seq'));
is(scalar(grep { /^\d+$/ } map { ask($sessions[1], $late) } 1 .. 50), 50, 'a source that is there');
ask($holder, 'BEGIN; ALTER SEQUENCE late_seq MINVALUE -1');
$node->safe_psql('postgres', q(ALTER SERVER central OPTIONS (ADD options '-c statement_timeout=200ms')));
is(scalar(grep { /^\d+$/ } map { ask($sessions[1], $late) } 1 .. 950), 950, 'it gives up, and numbers go on while they last');
is(ask($sessions[1], $late), 'ERROR 08006', 'then there is an error');
like($sessions[1]->{err}, qr/server "central"/, 'that names the server');
$node->safe_psql('postgres', q(ALTER SERVER central OPTIONS (DROP options)));
ask($holder, 'ROLLBACK');
wait_for(sub { ask($sessions[1], $late) =~ /^\d+$/ }, 'service to come back');
close_session(@sessions, $waiter, $holder);

# 2. Ten minutes ahead. Time passes in steps of five seconds, in each of which as many are drawn.
my $session = open_session($node);
my $clock = 0;
foreach my $rate (100, 400)
{
    my @short;
    foreach my $step (1 .. 60)
    {
        my $drawn = ask($session, "SELECT max(n) FROM snowid_segment_batch('rate_seq', 5 * $rate) AS n");
        my $ahead = $source->safe_psql('postgres', "SELECT last_value + 999 - $drawn FROM rate_seq");
        # For the first minutes there is no rate to go by yet.
        push @short, $step * 5 if $ahead < 600 * $rate;
        set_clock($clock += 5, $node);
    }
    note("$rate/s: less than ten minutes ahead after @short s") if @short;
    cmp_ok(@short ? $short[-1] : 0, '<=', 150, "$rate numbers a second: within two and a half minutes ten minutes are allocated ahead");
}
close_session($session);

# 3. The server that draws crashes under load.
sub load { return map { draw($node, q(snowid_segment_next('orders_seq')), undef, pause_every => 10) } 1 .. $_[0] }
my $floor = 0;
foreach my $how ('kill', 'immediate')
{
    my @drawing = load(4);
    wait_to_draw(10_000, @drawing);
    crash($node, $how);
    finish(@drawing);
    (undef, $floor) = check_round("$how here", $floor, @drawing);
    start_server($node);
}

# 4. The source dies under load, and its standby, for which refills wait as commits do, takes over.
my $standby = new_standby($source, 'standby');
$standby->start;
wait_until_synchronous($source, $standby);
$standby->stop;
my $fresh = draw($node, q(snowid_segment_next('slow_seq')), 1, setup => q(SELECT setval('slow_seq', last_value, is_called) FROM slow_seq));
wait_for_waiting($source, 1, 'SyncRep', 'nextval');
is(scalar(grep { /^\d+$/ } @{ ids($fresh) }[1 .. $#{ ids($fresh) }]), 0, 'no number before the standby has the refill');
$standby->start;
finish($fresh);
is(scalar(@{ ids($fresh) }), 2, 'then there is one');
my @drawing = load(4);
wait_to_draw(10_000, @drawing);
crash($source, 'kill');
$standby->promote;
point_at($node, $standby);
wait_to_go_on(@drawing);
# Allocated from the standby, which knows of all that was allocated before.
my $high = $standby->safe_psql('postgres', 'SELECT last_value + 999 FROM orders_seq');
stop_drawing([$node], @drawing);
(undef, $floor) = check_round('before and after the fail-over', $floor, @drawing);
cmp_ok($high, '>=', $floor, 'the standby knows of all numbers');
$node->safe_psql('postgres', q(SELECT setval('orders_seq', last_value, is_called) FROM orders_seq));
@drawing = load(2);
wait_to_draw(10_000, @drawing);
stop_drawing([$node], @drawing);
my ($count, $greatest) = check_round('from the standby', $high, @drawing);
cmp_ok($greatest, '<=', $standby->safe_psql('postgres', 'SELECT last_value + 999 FROM orders_seq'), 'they are allocated from it');

$_->stop foreach $node, $standby;
done_testing();
