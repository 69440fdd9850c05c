# Layouts that differ in whatever it be are several: a shard of one that runs ahead of the clock leaves those of others alone.
# Two names of one layout do not.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('layouts_apart');
my @alike = (
    'twitter', 'discord',
    'time:41 shard:10 seq:12 unit:1ms epoch:2010-11-04T01:42:54.656Z',
    'time:41 seq:12 shard:10 unit:1ms epoch:2010-11-04T01:42:54.657Z',
    'shard:10 time:41 seq:12 unit:1ms epoch:2010-11-04T01:42:54.657Z',
    'time:40 shard:10 seq:12 unit:1ms epoch:2010-11-04T01:42:54.657Z',
    'time:41 shard:11 seq:11 unit:1ms epoch:2010-11-04T01:42:54.657Z',
    'time:41 shard:11 seq:12 unit:1ms epoch:2010-11-04T01:42:54.657Z',
    'time:41 shard:10 seq:13 unit:1ms epoch:2010-11-04T01:42:54.657Z',
    'time:41 shard:10 seq:12 unit:2ms epoch:2010-11-04T01:42:54.657Z');
my $session = open_session($node);
sub time_of { return "snowid_timestamp(snowid_next(5, '$_[0]'), '$_[0]') - clock_timestamp()" }

foreach my $number (reverse 0 .. $#alike)
{
    my $layout = $alike[$number];
    ask($session, "SET snowid.max_lead = '1d'");
    is(ask($session, "SELECT snowid.advance_shard(snowid_encode(clock_timestamp() + interval '1 hour', 5, 0, '$layout'), '$layout')"), '', "$layout: run ahead");
    is(ask($session, "SELECT @{[ time_of($layout) ]} > interval '59 minutes'"), 't', "$layout: stays ahead");
    ask($session, 'RESET snowid.max_lead');
    is(ask($session, 'SELECT ' . join(' AND ', 'true', map { time_of($_) . " <= interval '1 s'" } @alike[ 0 .. $number - 1 ])), 't',
        "$layout: leaves others alone");
}
is(ask($session, q(SET snowid.max_wait = 0; SELECT snowid_next(5, 'leaf'))), 'ERROR SN001', 'leaf is another name of twitter');
end_test($node);
