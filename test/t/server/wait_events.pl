# What a session waits for that waits for one of snowid's locks: pg_stat_activity tells the lock of a ceiling, which is
# held while WAL is flushed, from that of a section.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_powered_server('locks');
start_server($node);
$node->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE SEQUENCE keyed INCREMENT 100');
$node->stop;
power_on($node);

# Sessions take numbers of one key until one is seen to wait for another.
my $watching = open_session($node);
my @taking = map { open_session($node) } 1 .. 4;
start_asking($_, q(SELECT count(snowid_section_next('keyed', 7)) FROM (SELECT generate_series(1, 1000000000)) AS g)) foreach @taking;
my $waits = q(SELECT 'SnowidSection' IN (SELECT wait_event FROM pg_stat_activity WHERE wait_event_type = 'LWLock'));
wait_for(sub { ask($watching, $waits) eq 't' }, 'a session to wait for SnowidSection');
pass('who waits for a section shows it');
ask($watching, 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ~ $$^DO$$');
wait_for(sub { ask($watching, q(SELECT count(*) FROM pg_stat_activity WHERE query ~ '^DO')) eq '0' },
    'them to end');

# One session raises the ceiling, and flushes WAL for ever; the other needs it raised, too.
my @raising = map { open_session($node) } 1, 2;
foreach my $session (@raising)
{
    ask($session, q(SET snowid.max_lead = '1min'; SELECT snowid_next(1)));
    backend_of($session);
}
my $raise = q(SELECT snowid.advance_shard(snowid_encode(clock_timestamp() + interval '30 s', 1, 0)));
hang_disk($node);
start_asking($_, $raise) foreach @raising;
$waits = q(SELECT count(*) FROM pg_stat_activity WHERE (wait_event_type, wait_event) = ('LWLock', 'SnowidCeiling'));
wait_for(sub { ask($watching, $waits) eq '1' }, 'a session to wait for SnowidCeiling');
pass('who waits for a ceiling shows it');

cut_power($node);
close_session(@raising, @taking, $watching);
done_testing();
