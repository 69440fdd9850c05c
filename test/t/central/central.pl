# A central source: several servers draw dense numbers from one sequence on another server. No number
# comes twice, on whichever of them; none is lost. A refill that takes long keeps nobody waiting who has numbers; those
# who have none wait, and can be cancelled. Enough is allocated ahead for ten minutes without the source, which is killed
# under load: service goes on while allocated blocks last, whether connections are refused or never answered; then there
# is an error at once; and it comes back by itself. A server that draws crashes, and the source fails over to its standby.
# What logical replication brings of the table of sources counts for nothing.
#
# Runs in make test-all: it has four servers, which crash again and again.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

# Nothing becomes durable there but what is made so.
my $source = new_server('source', allows_streaming => 1);
$source->append_conf('postgresql.conf', "synchronous_commit = off\nwal_writer_delay = '10s'\n");
$source->start;
$source->safe_psql('postgres', <<'SQL');
CREATE SEQUENCE orders_seq INCREMENT 1000;
CREATE SEQUENCE few_seq INCREMENT 100 MAXVALUE 10050;
CREATE SEQUENCE fresh_seq INCREMENT 10;
CREATE SEQUENCE left_seq INCREMENT 10;
CREATE SEQUENCE kill_seq INCREMENT 10;
CREATE SEQUENCE immediate_seq INCREMENT 10;
CREATE SEQUENCE crash_seq INCREMENT 1000;
CREATE SEQUENCE slow_seq INCREMENT 1000;
CREATE SEQUENCE late_seq INCREMENT 1000;
CREATE SEQUENCE rate_seq INCREMENT 1000;
CREATE SEQUENCE ours_seq START 1000001 INCREMENT 10;
CREATE SEQUENCE theirs_seq START 5001 INCREMENT 10;
SQL
my @sequences = qw(orders_seq few_seq fresh_seq left_seq kill_seq immediate_seq);

my @nodes;
# How far the clock of the first is set on.
my $clock = 0;

# One more server that draws from the source.
sub add_node
{
    my $node = new_server('node' . @nodes, allows_streaming => 'logical');
    $node->append_conf('postgresql.conf', "max_connections = 20\n");
    start_server($node);
    add_source($node, $source);
    $node->safe_psql('postgres',
        "CREATE SEQUENCE $_; SELECT snowid_segment_attach('$_', 'central', '$_')")
      foreach @sequences;
    push @nodes, $node;
    return;
}

# Sessions that draw, three on each server.
sub load
{
    my ($sequence, $rows, %options) = @_;
    return map {
        my $node = $_;
        map { draw($node, "snowid_segment_next('$sequence')", $rows, %options) } 1 .. 3
    } @nodes;
}

# Has sessions of one server draw in turn.
sub check_turns
{
    my ($name, $node) = @_;
    my @sessions = map { open_session($node) } 1 .. 3;
    my @numbers = map { ask($sessions[ $_ % 3 ], q(SELECT snowid_segment_next('orders_seq'))) } 1 .. 60;
    is(scalar(grep { $numbers[$_] <= $numbers[ $_ - 1 ] } 1 .. $#numbers),
        0, "$name: numbers increase from session to session");
    close_session(@sessions);
    return @numbers;
}

# 1. Two servers, then three.
add_node foreach 1 .. 2;
my @drawn;
foreach my $round (1 .. 2)
{
    add_node if $round == 2;
    my @drawing = load('orders_seq', 2_000);
    finish(@drawing);
    my ($count) = check_round(scalar(@nodes) . ' servers', 0, @drawing);
    is($count, 6_000 * @nodes, 'all that were asked for');
    push @drawn, @drawing;
}
my %in_turn;
$in_turn{$_}++ foreach map { check_turns($_->name, $_) } @nodes;
is(scalar(keys %in_turn), 180, 'in turn: none twice');
check_round('all rounds', 0, @drawn);
is(scalar(grep { $in_turn{$_} } map { @{ ids($_) } } @drawn), 0, 'in turn: others than before');

# Down to the last number, which ends a block early: nothing is lost between the servers.
my @last = load('few_seq', 20_000);
finish(@last);
my ($count, $greatest) = check_round('to the last', 0, @last);
is("$count $greatest", '10050 10050', 'to the last: all numbers there are');
is(scalar(grep { errors_of($_) =~ /ERROR:  2200H: .*reached maximum value of sequence "few_seq"/ } @last),
    9, 'to the last: then all sessions are told');

# 2. FOR ALL TABLES publishes the table of sources. Rows that logical replication brings are about another
# server's sequences and must count for nothing at the subscriber, where there may be no such sequence, or
# one with a source of its own; and they must not stop the replication of anything else. Each of the first two
# servers is the other's publisher and subscriber in turn.
foreach my $node (@nodes[ 0, 1 ])
{
    $node->safe_psql('postgres', 'CREATE DATABASE replicated');
    add_source($node, $source, dbname => 'replicated');
    $node->safe_psql('replicated', 'CREATE TABLE rows (n int PRIMARY KEY); CREATE SEQUENCE shared_seq');
}

sub sources
{
    my ($node) = @_;
    return $node->safe_psql('replicated', 'SELECT seq, remote_seq FROM snowid_internal.segment_sources ORDER BY seq::text');
}

# Waits until a subscriber has all that was done at its publisher.
my $mark = 0;
sub check_goes_on
{
    my ($publisher, $subscriber, $name) = @_;
    $mark++;
    $publisher->safe_psql('replicated', "INSERT INTO rows VALUES ($mark)");
    wait_for(sub { $subscriber->safe_psql('replicated', "SELECT count(*) FROM rows WHERE n = $mark") eq '1' },
        "replication to go on: $name");
    pass("$name: replication goes on");
    return;
}

foreach my $binary ('false', 'true')
{
    foreach my $direction (0, 1)
    {
        my ($publisher, $subscriber) = @nodes[ $direction, 1 - $direction ];
        my $to = $subscriber->name . ", binary = $binary";
        # What the initial copy has: a sequence that the subscriber has not, one with no source there, and
        # one with another.
        $_->safe_psql('replicated', 'TRUNCATE rows; CREATE SEQUENCE common_seq') foreach @nodes[ 0, 1 ];
        $publisher->safe_psql('replicated', <<'SQL');
CREATE SCHEMA here;
CREATE SEQUENCE here."Only Here";
SELECT snowid_segment_attach('here."Only Here"', 'central', 'ours_seq');
SELECT snowid_segment_attach('common_seq', 'central', 'ours_seq');
SELECT snowid_segment_attach('shared_seq', 'central', 'ours_seq');
CREATE PUBLICATION everything FOR ALL TABLES;
SQL
        $subscriber->safe_psql('replicated', q(SELECT snowid_segment_attach('shared_seq', 'central', 'theirs_seq')));
        my $own = 'shared_seq|theirs_seq';
        my $connection = $publisher->connstr('replicated') =~ s{'}{''}gr;
        $subscriber->safe_psql('replicated', "CREATE SUBSCRIPTION all_of_it CONNECTION '$connection' PUBLICATION everything"
              . " WITH (binary = $binary)");
        $subscriber->wait_for_subscription_sync(undef, undef, 'replicated');
        is(sources($subscriber), $own, "$to: nothing of the initial copy is there");

        check_goes_on($publisher, $subscriber, "$to, copied");
        $publisher->safe_psql('replicated', <<'SQL');
CREATE SEQUENCE new_seq;
SELECT snowid_segment_attach('new_seq', 'central', 'ours_seq');
UPDATE snowid_internal.segment_sources SET remote_seq = 'elsewhere';
UPDATE snowid_internal.segment_sources SET seq = 'new_seq'::regclass, server = 'nowhere' WHERE seq = 'shared_seq'::regclass
  AND false;
SQL
        check_goes_on($publisher, $subscriber, "$to, attached and changed");
        is(sources($subscriber), $own, "$to: its sources are its own");
        $publisher->safe_psql('replicated', "SELECT snowid_segment_detach('$_')") foreach qw(new_seq shared_seq common_seq);
        check_goes_on($publisher, $subscriber, "$to, detached");
        is(sources($subscriber), $own, "$to: and stay so");
        my $number = $subscriber->safe_psql('replicated', q(SELECT snowid_segment_next('shared_seq')));
        like($number, qr{^5\d\d\d\z}, "$to: numbers are from its source");
        is($subscriber->safe_psql('replicated', q(SELECT snowid_segment_next('common_seq'))), '1', "$to: or its own");

        $subscriber->safe_psql('replicated', 'DROP SUBSCRIPTION all_of_it');
        $publisher->safe_psql('replicated', 'DROP PUBLICATION everything; DROP SCHEMA here CASCADE; DROP SEQUENCE new_seq');
        $_->safe_psql('replicated', q(DROP SEQUENCE common_seq; SELECT snowid_segment_detach('shared_seq')))
          foreach @nodes[ 0, 1 ];
        is(sources($_), '', 'nothing is attached') foreach @nodes[ 0, 1 ];
    }
}

# 3. The source takes long: a refill waits there for a synchronous standby, for up to ten seconds more than it may take
# to connect.
$nodes[0]->safe_psql('postgres', q(ALTER SERVER central OPTIONS (SET connect_timeout '590')));
$nodes[0]->safe_psql('postgres', "CREATE SEQUENCE $_; SELECT snowid_segment_attach('$_', 'central', '$_')")
  foreach qw(crash_seq slow_seq late_seq rate_seq);
my $slow = q(SELECT snowid_segment_next('slow_seq'));
my @sessions = map { open_session($nodes[0]) } 1 .. 3;
my @numbers = map { ask($sessions[0], $slow) } 1 .. 50;
my $held = hold_commits($source);
my $refiller = draw($nodes[0], q(snowid_segment_next('slow_seq')), 100);
wait_for_waiting($source, 1, 'SyncRep', 'nextval');
# That one draws no more; a thousand were allocated.
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
my $waiter = open_session($nodes[0]);
backend_of($waiter);
start_asking($waiter, $slow);
wait_until_waiting($nodes[0], $waiter, 'Extension');
$nodes[0]->safe_psql('postgres', "SELECT pg_cancel_backend($waiter->{backend})");
is(answer($waiter), 'ERROR 57014', 'or cancelled');
release_commits($source, $held);
finish($refiller);
is(scalar(@{ ids($refiller) }), 100, 'who refilled goes on when the source does');
my %seen;
$seen{$_}++ foreach @numbers, @{ ids($refiller) };
is(scalar(keys %seen), @numbers + 100, 'none comes twice');
like(ask($sessions[0], $slow), qr/^\d+$/, 'and all are served again');

$nodes[0]->safe_psql('postgres', q(ALTER SERVER central OPTIONS (SET connect_timeout '2')));

# Where it waits for a lock there, the source counts as down after a while, or all would wait for it.
my $holder = open_session($source);
ask($holder, 'BEGIN; ALTER SEQUENCE slow_seq MINVALUE -1');
ask($sessions[0], q(RESET statement_timeout; SELECT setval('slow_seq', last_value, is_called) FROM slow_seq));
is(ask($_, $slow), 'ERROR 08006', 'a source that is locked counts as down') foreach @sessions;
ask($holder, 'ROLLBACK');
# It is tried after twice as long as it has failed for, by the clock.
set_clock($clock += 60, $nodes[0]);
wait_for(sub { ask($sessions[0], $slow) =~ /^\d+$/ }, 'all to be served again');
# The source itself gives a refill up: for those who have numbers that is no more than an outage.
my $late = q(SELECT snowid_segment_next('late_seq'));
is(scalar(grep { /^\d+$/ } map { ask($sessions[1], $late) } 1 .. 50), 50, 'a source that is there');
ask($holder, 'BEGIN; ALTER SEQUENCE late_seq MINVALUE -1');
$nodes[0]->safe_psql('postgres', q(ALTER SERVER central OPTIONS (ADD options '-c statement_timeout=200ms')));
is(scalar(grep { /^\d+$/ } map { ask($sessions[1], $late) } 1 .. 950), 950, 'it gives up, and numbers go on while they last');
is(ask($sessions[1], $late), 'ERROR 08006', 'then there is an error');
like($sessions[1]->{err}, qr/server "central"/, 'that names the server');
$nodes[0]->safe_psql('postgres', q(ALTER SERVER central OPTIONS (DROP options)));
ask($holder, 'ROLLBACK');
set_clock($clock += 60, $nodes[0]);
wait_for(sub { ask($sessions[1], $late) =~ /^\d+$/ }, 'service to come back');
close_session(@sessions, $waiter, $holder);

# 4. Ten minutes ahead. Time passes in steps of five seconds, in each of which as many are drawn.
my $session = open_session($nodes[0]);
my $looking = open_session($source);
foreach my $rate (100, 400)
{
    my @short;
    foreach my $step (1 .. 60)
    {
        my $drawn = ask($session, "SELECT max(n) FROM snowid_segment_batch('rate_seq', 5 * $rate) AS n");
        my $ahead = ask($looking, "SELECT last_value + 999 - $drawn FROM rate_seq");
        # For the first minutes there is no rate to go by yet.
        push @short, $step * 5 if $ahead < 600 * $rate;
        set_clock($clock += 5, $nodes[0]);
    }
    note("$rate/s: less than ten minutes ahead after @short s") if @short;
    cmp_ok(@short ? $short[-1] : 0, '<=', 150, "$rate numbers a second: within two and a half minutes ten minutes are allocated ahead");
}
close_session($session, $looking);
# The right clock again.
set_clock(0, $nodes[0]);

# 5. A refill is durable when its first number is handed out, whatever the source's settings are.
my $before = 0;
foreach my $node (@nodes)
{
    $source->safe_psql('postgres', 'CHECKPOINT');
    my $fresh = $node->safe_psql('postgres', q(SELECT snowid_segment_next('fresh_seq')));
    cmp_ok($fresh, '>', $before, "killed after each refill: $fresh was not handed out before");
    $before = $fresh;
    crash($source, 'kill');
    $source->start;
}

# 6. The source goes down under load. A session draws no more than a number a millisecond, so what each server
# has by then lasts for the longest time that anything here is waited for.
$nodes[$_]->safe_psql('postgres', q(SELECT snowid_segment_next('left_seq'))) foreach 0 .. 2;
my @drawing = load('orders_seq', undef, pause_every => 1);
foreach my $node (@nodes)
{
    my $enough = 'SELECT last_value > 500000 + snowid_segment_next($$orders_seq$$) FROM orders_seq';
    wait_for(sub { $node->safe_psql('postgres', $enough) eq 't' }, 'enough to go on without the source');
}
foreach my $how ('kill', 'immediate')
{
    wait_to_go_on(@drawing);
    $before = $source->safe_psql('postgres', 'SELECT last_value FROM orders_seq');
    crash($source, $how);
    my $hole = $how eq 'kill' ? undef : black_hole($source);
    my $name = $hole ? 'no answer' : 'refused';
    # Each has numbers left of this one, and none of the other.
    foreach my $node ($hole ? $nodes[0] : @nodes)
    {
        my $session = open_session($node);
        my ($left, $answer) = (0, '');
        foreach my $attempt (1 .. 5000)
        {
            $answer = ask($session, q(SELECT snowid_segment_next('left_seq')));
            last if $answer =~ /ERROR/;
            $left++;
        }
        cmp_ok($left, '>', 0, "$name: numbers go on while they last") if !$hole;
        is($answer, 'ERROR 08006', "$name: then there is an error");
        like($session->{err}, qr/could not allocate numbers from server "central"/, "$name: that names the server");
        unlike($session->{err}, qr/\Q@{[ $source->host ]}/, "$name: and does not say where it is");
        close_session($session);
    }
    wait_to_go_on(@drawing);
    attempts_at($hole) if $hole;
    my @callers = map { open_session($nodes[0]) } 1 .. 6;
    my $told = 0;
    foreach my $caller (1 .. 60)
    {
        my $session = $callers[ $caller % @callers ];
        $told++ if ask($session, qq(SELECT snowid_segment_next('${how}_seq'))) eq 'ERROR 08006'
          && $session->{err} =~ /server "central"/;
    }
    is($told, 60, "$name: every caller is told so");
    # Those of the load may have tried as well.
    cmp_ok(attempts_at($hole), '<', 30, "$name: and few have tried themselves") if $hole;
    wait_to_go_on(@drawing);
    is(errors_of(@drawing), '', "$name: those that have blocks have drawn on all the time");

    undef $hole;
    $source->start;
    foreach my $caller (@callers)
    {
        wait_for(sub { ask($caller, qq(SELECT snowid_segment_next('${how}_seq'))) =~ /^\d/ },
            'service to come back');
    }
    pass("$name: service comes back by itself");
    close_session(@callers);
    cmp_ok($source->safe_psql('postgres', 'SELECT last_value FROM orders_seq'),
        '>=', $before, "$name: nothing that was allocated is forgotten");
    wait_to_go_on(@drawing);
}
stop_drawing(\@nodes, @drawing);
check_round('before, in and after the outages', 0, @drawn, @drawing);
is(scalar(grep { $in_turn{$_} } map { @{ ids($_) } } @drawing), 0, 'in and after the outages: none of before');

# 7. The server that draws crashes under load.
my $crashing = q(snowid_segment_next('crash_seq'));
sub load_first { return map { draw($nodes[0], $crashing, undef, pause_every => 10) } 1 .. $_[0] }
my $floor = 0;
foreach my $how ('kill', 'immediate')
{
    @drawing = load_first(4);
    wait_to_draw(10_000, @drawing);
    crash($nodes[0], $how);
    finish(@drawing);
    (undef, $floor) = check_round("$how here", $floor, @drawing);
    start_server($nodes[0]);
}

# 8. The source dies under load, and its standby, for which refills wait as commits do, takes over.
my $standby = new_standby($source, 'standby');
$standby->start;
wait_until_synchronous($source, $standby);
$standby->stop;
my $fresh = draw($nodes[0], q(snowid_segment_next('slow_seq')), 1,
    setup => q(SELECT setval('slow_seq', last_value, is_called) FROM slow_seq));
wait_for_waiting($source, 1, 'SyncRep', 'nextval');
is(scalar(grep { /^\d+$/ } @{ ids($fresh) }[1 .. $#{ ids($fresh) }]), 0, 'no number before the standby has the refill');
$standby->start;
finish($fresh);
is(scalar(@{ ids($fresh) }), 2, 'then there is one');
@drawing = load_first(4);
wait_to_draw(10_000, @drawing);
crash($source, 'kill');
$standby->promote;
point_at($nodes[0], $standby);
stop_drawing([ $nodes[0] ], @drawing);
(undef, $floor) = check_round('before and after the fail-over', $floor, @drawing);
# It is another source until somebody says that it knows of all that was allocated before.
my $high = $standby->safe_psql('postgres', 'SELECT last_value + 999 FROM crash_seq');
cmp_ok($high, '>=', $floor, 'the standby knows of all numbers');
$nodes[0]->safe_psql('postgres', q(SELECT setval('crash_seq', last_value, is_called) FROM crash_seq));
is(attempt($nodes[0], q(SELECT snowid_segment_next('crash_seq'))), 'ERROR 55000', 'another source');
is($standby->safe_psql('postgres', 'SELECT last_value + 999 FROM crash_seq'), $high, 'of which nothing is taken');
$nodes[0]->safe_psql('postgres', q(SELECT snowid_segment_attach('crash_seq', 'central', 'crash_seq')));
@drawing = load_first(2);
wait_to_draw(10_000, @drawing);
stop_drawing([ $nodes[0] ], @drawing);
($count, $greatest) = check_round('from the standby', $high, @drawing);
cmp_ok($greatest, '<=', $standby->safe_psql('postgres', 'SELECT last_value + 999 FROM crash_seq'), 'they are allocated from it');

$_->stop foreach @nodes, $standby;
done_testing();
