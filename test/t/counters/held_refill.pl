# While one session waits for what it has allocated to become durable, the others draw what is left. Where nothing is left they
# wait, and can be cancelled, even while the one that refills is stopped; then all are served.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('held', allows_streaming => 1, conf => "snowid.segment_adapt = off\n",
    sql => 'CREATE SEQUENCE numbers INCREMENT 100; CREATE SEQUENCE keyed INCREMENT 100');
my ($refiller, $other, $third) = my @sessions = map { open_session($node) } 1 .. 3;
ask($_, q(SET statement_timeout = '1min')) foreach @sessions;

# Has the other two wait for a number, in vain. They wait again when this returns.
sub check_waits
{
    my ($draw) = @_;
    foreach my $state ('waits', 'is stopped')
    {
        kill 'STOP', $refiller->{backend} if $state eq 'is stopped';
        start_waiting($other, $draw, 'Extension');
        $node->safe_psql('postgres', "SELECT pg_cancel_backend($other->{backend})");
        is(answer($other), 'ERROR 57014', "$draw: while the other $state, one waits, and can be cancelled");
        is(ask($third, "SET statement_timeout = '100ms'; $draw"), 'ERROR 57014', "$draw: or run out of time");
        ask($third, q(SET statement_timeout = '1min'));
    }
    kill 'CONT', $refiller->{backend};
    start_asking($_, $draw) foreach $other, $third;
    wait_until_waiting($node, $_, 'Extension') foreach $other, $third;
    is($refiller->{out}, '', "$draw: nothing is seen before it is durable");
    return;
}

my $next = q(SELECT snowid_segment_next('numbers'));
is(ask($refiller, q(SELECT max(n) FROM snowid_segment_batch('numbers', 9) n)), 9, 'segment: less than a tenth is used');
my $held = hold_commits($node);
start_waiting($refiller, $next, 'SyncRep');
is(ask($other, q(SELECT min(n), max(n) FROM snowid_segment_batch('numbers', 85) n)), '11|95', 'segment: others draw what is left');
is(join(',', map { ask($_, $next) } $other, $third, $other, $third, $other), '96,97,98,99,100', 'segment: to the last number');
check_waits($next);
release_commits($node, $held);
is(answer($refiller), 10, 'segment: who refills has its number');
is(join(' ', sort map { answer($_) } $other, $third), '101 102', 'segment: those who waited have the next');

$next = q(SELECT snowid_section_next('keyed', 1));
is(ask($refiller, $next), $_, "section: $_") foreach 1 .. 10;
is(last_value($node, 'keyed'), 100, 'section: the limit is one increment');
$held = hold_commits($node);
# Whichever number it is at which the limit is raised, its session alone waits.
start_waiting($refiller, q(SELECT max(snowid_section_next('keyed', 2)) FROM generate_series(1, 100)), 'SyncRep');
is(ask($other, q(SELECT string_agg(snowid_section_next('keyed', 1)::text, ' ') FROM generate_series(11, 100))), join(' ', 11 .. 100),
    'section: others draw up to the limit');
is(ask($third, q(SELECT snowid_section_next('keyed', 3), snowid_section_current('keyed', 1))), '1|100', 'section: of other keys, too');
check_waits($next);
release_commits($node, $held);
is(answer($refiller), 100, 'section: who raises the limit has its number');
is(join(' ', sort map { answer($_) } $other, $third), '101 102', 'section: those who waited have the next');
end_test($node);
