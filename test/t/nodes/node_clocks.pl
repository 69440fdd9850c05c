# A node's clock is compared with the registry's where it joins, checks or takes a number over: one that is more
# than 10 s off is refused, naming the difference. A copy is found out also where its clock is wrong. Who takes a
# number over goes by the registry's clock, and as far beyond as another one may have been ahead of it.
#
# Runs in make test-all: it starts and crashes servers often.

use strict;
use warnings;

use Snowid;
use SnowidNodes;
use Test::More;

my $registry = new_server('registry');
start_server($registry);
$registry->safe_psql('postgres', 'CREATE EXTENSION snowid');
my $node = new_server('node', allows_streaming => 1);
start_server($node);
foreach my $member ('early', 'late')
{
    $node->safe_psql('postgres', "CREATE DATABASE $member");
    add_source($node, $registry, name => 'registry', dbname => $member);
}
sub at { my ($member, $sql) = @_; return attempt($node, $sql, dbname => $member) }

# Fails, and says by how much the clock is off.
sub check_off
{
    my ($member, $sql, $how, $seconds, $name) = @_;
    is(at($member, $sql), 'ERROR 55000', "$name: $sql refused");
    my (undef, undef, $error) = $node->psql($member, $sql);
    like($error, qr/clock is \d+ ms $how that of server "registry"\nDETAIL:.*10000 ms/, "$name: says so");
    my ($ms) = $error =~ /clock is (\d+) ms/;
    ok($ms > ($seconds - 3) * 1000 && $ms < ($seconds + 3) * 1000, "$name: by how much") or diag($error);
    return;
}

my $join = q(SELECT snowid.join('registry'));
my $take_over = 'SELECT snowid.take_over_node()';
my %number = (early => 1, late => 2);
foreach my $offset (-20, 20)
{
    set_clock($offset, $node);
    check_off('early', $join, $offset < 0 ? 'behind' : 'ahead of', 20, "$offset s");
    is($registry->safe_psql('postgres', 'SELECT count(*) FROM snowid_internal.nodes'), '0', "$offset s: has not claimed");
}
foreach my $offset (-8, 8)
{
    set_clock($offset, $node);
    my $member = $offset < 0 ? 'early' : 'late';
    is(at($member, $join), $number{$member}, "$offset s: joins");
    is(at($member, 'SELECT snowid.check_node()'), $number{$member}, "$offset s: checks") for 1, 2;
}
set_clock(0, $node);
is(at('late', 'SELECT snowid.check_node()'), '2', 'clocks that agree');
my $token = q(SELECT token FROM snowid_internal.nodes WHERE node_number = 2);
foreach my $offset (-20, 20)
{
    set_clock($offset, $registry);
    my $how = $offset < 0 ? 'ahead of' : 'behind';
    check_off('late', 'SELECT snowid.check_node()', $how, 20, "the registry $offset s");
    my $before = $registry->safe_psql('postgres', $token);
    check_off('late', $take_over, $how, 20, "the registry $offset s");
    is($registry->safe_psql('postgres', $token), $before, "the registry $offset s: nothing is taken over");
    is(at('late', 'SELECT snowid_shard(snowid_next())'), '2', "the registry $offset s: the node goes on");
    set_clock(0, $registry);
    is(at('late', 'SELECT snowid.check_node()'), '2', "the registry $offset s, and right again");
}

# Taking over.
foreach my $offset (-8, 8)
{
    set_clock($offset, $registry);
    my $there = $registry->safe_psql('postgres', 'SELECT clock_timestamp()');
    my $session = open_session($node, dbname => 'late');
    start_asking($session, $take_over);
    wait_for(sub { is_answered($session) || $session->{err} =~ /NOTICE:.*waiting until/ }, 'the NOTICE');
    ok(!is_answered($session), "the registry $offset s: taking over waits");
    my ($until) = $session->{err} =~ /waiting until (.*)/;
    is($registry->safe_psql('postgres', "SELECT timestamptz '$until' - timestamptz '$there' BETWEEN interval '11 s' AND interval '18 s'"),
        't', "the registry $offset s: until its clock is as far as another one's may have been");
    set_clock(20, $node);
    set_clock(20 + $offset, $registry);
    is(answer($session), '2', "the registry $offset s: taken over");
    set_clock(-600, $node);
    is(at('late', "SET snowid.max_lead = '1d'; SELECT snowid_timestamp(snowid_next()) >= timestamptz '$there' + interval '11 s'"),
        't', "the registry $offset s: nothing below that, whatever the node's clock says");
    set_clock(20, $node);
    is(at('late', "SELECT snowid_timestamp(snowid_next()) >= timestamptz '$there' + interval '11 s'"), 't', "the registry $offset s: by its clock");
    is(at('late', "SELECT snowid_timestamp(snowid_next(77)) >= timestamptz '$there' + interval '11 s'"), 't', "the registry $offset s: other shards, too");
    close_session($session);
    set_clock(0, $registry);
    set_clock(0, $node);
    at('late', q(SET snowid.max_wait = '30s'; SELECT snowid_next()));
}

# The registry has done it, and the answer is lost: the next check will confirm the number.
stand_between($registry, "IF request = 'take over' THEN " . done_apart($registry) . " RAISE 'lost'; END IF;");
my $lost_at = $registry->safe_psql('postgres', 'SELECT clock_timestamp()');
is(at('late', $take_over), 'ERROR P0001', 'the answer is lost');
stand_aside($registry);
is(at('late', 'SELECT snowid.check_node()'), '2', 'and the node confirmed');
is(at('late', "SET snowid.max_lead = '1d'; SELECT snowid_timestamp(snowid_next()) >= timestamptz '$lost_at' + interval '11 s'"), 't', 'above what another one may have had');

# Nor is what is issued repeated until the registry has done it.
set_clock(20, $_) foreach $registry, $node;
at('late', q(SET snowid.max_wait = '1min'; SELECT snowid_next()));
my $holder = open_session($registry);
ask($holder, 'SELECT pg_advisory_lock(1)');
stand_between($registry, "IF request = 'take over' THEN PERFORM pg_advisory_xact_lock(1); END IF;");
my $delayed = open_session($node, dbname => 'late');
start_asking($delayed, $take_over);
wait_for_waiting($registry, 1, 'advisory', 'snowid.register');
set_clock(60, $_) foreach $registry, $node;
my $done_at = $registry->safe_psql('postgres', 'SELECT clock_timestamp()');
close_session($holder);
wait_for(sub { is_answered($delayed) || $delayed->{err} =~ /NOTICE:.*waiting until/ }, 'the NOTICE');
set_clock(80, $_) foreach $registry, $node;
is(answer($delayed), '2', 'done after a while');
close_session($delayed);
stand_aside($registry);
set_clock(60, $node);
is(at('late', "SET snowid.max_lead = '1d'; SELECT snowid_timestamp(snowid_next()) >= timestamptz '$done_at' + interval '11 s'"), 't', 'above what another one may have had then');
set_clock(80, $node);
at('late', q(SET snowid.max_wait = '1min'; SELECT snowid_next()));

# What the other server was allowed, and not this one.
set_clock(80, $_) foreach $registry, $node;
at('late', q(SET snowid.max_wait = '1min'; SELECT snowid_next()));
is(at('late', q(SET snowid.max_lead = '2min'; SELECT snowid.check_node())), '2', 'a node whose IDs may be two minutes ahead');
is(at('late', 'SELECT snowid.check_node()'), '2', 'and which is not allowed it any more');
# The first time is interrupted, and has told the registry of a lead of its own.
my $interrupted = open_session($node, dbname => 'late');
backend_of($interrupted);
start_asking($interrupted, $take_over);
wait_for(sub { is_answered($interrupted) || $interrupted->{err} =~ /NOTICE:.*waiting until/ }, 'the NOTICE');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($interrupted->{backend})");
is(answer($interrupted), 'ERROR 57014', 'who takes over is interrupted');
close_session($interrupted);
my $ahead = $registry->safe_psql('postgres', 'SELECT clock_timestamp()');
my $other = open_session($node, dbname => 'late');
start_asking($other, $take_over);
wait_for(sub { is_answered($other) || $other->{err} =~ /NOTICE:.*waiting until/ }, 'the NOTICE');
my ($beyond) = $other->{err} =~ /waiting until (.*)/;
is($registry->safe_psql('postgres', "SELECT timestamptz '$beyond' - timestamptz '$ahead' BETWEEN interval '60 s' AND interval '140 s'"),
    't', 'who takes over without that goes above these');
set_clock(220, $_) foreach $registry, $node;
is(answer($other), '2', 'taken over');
close_session($other);
# A copy whose clock is wrong.
$node->backup('copy');
my $copy = PostgreSQL::Test::Cluster->new('copy');
$copy->init_from_backup($node, 'copy');
set_clock(280, $copy);
start_server($copy);
is(at('late', 'SELECT snowid.check_node()'), '2', 'the original comes first');
like(($copy->psql('late', 'SELECT snowid.check_node()'))[2], qr/another server has replaced this one as node/, 'a copy is found, though its clock is wrong');
is(attempt($copy, $_, dbname => 'late'), 'ERROR 55000', "and refuses: $_") foreach 'SELECT snowid_next()', 'SELECT snowid_next(77)';
# And one that comes first has the number, whatever its clock: the other one is found.
is(attempt($copy, 'SELECT snowid.check_node()', dbname => 'early'), 'ERROR 55000', 'a copy that comes first, with a wrong clock');
is(attempt($copy, 'SELECT snowid_shard(snowid_next())', dbname => 'early'), '1', 'and is the node');
is(at('early', 'SELECT snowid.check_node()'), 'ERROR 55000', 'the original comes second');
is(at('early', 'SELECT snowid_next()'), 'ERROR 55000', 'and is found');
$copy->stop;
check_log($_) foreach $node, $registry;
$_->stop foreach $node, $registry;
done_testing();
