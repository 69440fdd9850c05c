# A central source: several servers draw dense numbers from one sequence on another server. No number
# comes twice, on whichever of them; none is lost. The source is killed under load: service goes on
# while allocated blocks last, whether connections are refused or never answered; then there is an error
# at once; and it comes back by itself.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

# Nothing becomes durable there but what is made so.
my $source = new_server('source');
$source->append_conf('postgresql.conf', "synchronous_commit = off\nwal_writer_delay = '10s'\n");
$source->start;
$source->safe_psql('postgres', <<'SQL');
CREATE SEQUENCE orders_seq INCREMENT 1000;
CREATE SEQUENCE few_seq INCREMENT 100 MAXVALUE 10050;
CREATE SEQUENCE fresh_seq INCREMENT 10;
CREATE SEQUENCE left_seq INCREMENT 10;
CREATE SEQUENCE kill_seq INCREMENT 10;
CREATE SEQUENCE immediate_seq INCREMENT 10;
SQL
my @sequences = qw(orders_seq few_seq fresh_seq left_seq kill_seq immediate_seq);

my @nodes;

# One more server that draws from the source.
sub add_node
{
    my $node = new_server('node' . @nodes);
    $node->start;
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

# 2. A refill is durable when its first number is handed out, whatever the source's settings are.
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

# The source goes down under load. A session draws no more than a number a millisecond, so what each server
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
$_->stop foreach @nodes, $source;
done_testing();
