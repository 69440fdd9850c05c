# What a session waits for that waits for one of snowid's locks: they have names, and pg_stat_activity shows that of a
# ceiling, whose lock is held while WAL is flushed.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $module = build_module('tranche');

my $node = new_powered_server('locks');
start_server($node);
$node->safe_psql('postgres', "CREATE EXTENSION snowid; CREATE FUNCTION tranche(int) RETURNS text AS '$module' LANGUAGE C");
$node->stop;
power_on($node);

# One session raises the ceiling, and flushes WAL for ever; the other needs it raised, too.
my $watching = open_session($node);
my @raising = map { open_session($node) } 1, 2;
ask($_, q(SET snowid.max_lead = '1min'; SELECT snowid_next(1))) foreach $watching, @raising;
my %names = map { $_ => 1 } map { ask($watching, "SELECT tranche($_)") } 0 .. 9;
is(join(' ', sort grep { /snowid/i } keys %names), 'SnowidCeiling SnowidSection SnowidShared', 'each kind of lock has a name');
hang_disk($node);
start_asking($_, q(SELECT snowid.advance_shard(snowid_encode(clock_timestamp() + interval '30 s', 1, 0)))) foreach @raising;
my $waits = q(SELECT count(*) FROM pg_stat_activity WHERE (wait_event_type, wait_event) = ('LWLock', 'SnowidCeiling'));
wait_for(sub { ask($watching, $waits) eq '1' }, 'a session to wait for SnowidCeiling');
pass('who waits for a ceiling shows it');

cut_power($node);
close_session(@raising, $watching);
done_testing();
