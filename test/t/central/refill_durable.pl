# A refill is durable at the source, and at its synchronous standby, when its first number is issued, whatever the source's settings: no number
# comes twice where the source or the server that draws is killed, or the source fails over.
# Runs in make test-all: it crashes under load.

use Snowid;

# Nothing becomes durable there but what is made so.
my ($source, $node) = ready_source({ fresh => 'INCREMENT 10', many => 'INCREMENT 1000', slow => 'INCREMENT 1000' },
    source => { allows_streaming => 1, conf => "synchronous_commit = off\nwal_writer_delay = '10s'\n" });
$node->safe_psql('postgres', "CREATE SEQUENCE $_; SELECT snowid_segment_attach('$_', 'central', '$_')") foreach qw(fresh many slow);
my $before = 0;
foreach (1 .. 3)
{
    $source->safe_psql('postgres', 'CHECKPOINT');
    $node->safe_psql('postgres', q(SELECT setval('fresh', last_value, is_called) FROM fresh));
    my $fresh = $node->safe_psql('postgres', q(SELECT snowid_segment_next('fresh')));
    cmp_ok($fresh, '>', $before, "the source is killed after each refill: $fresh was not issued before");
    $before = $fresh;
    crash($source, 'kill');
    $source->start;
}

my @drawing;
my $floor = 0;
sub load { @drawing = map { draw($node, q(snowid_segment_next('many')), undef, pause_every => 10) } 1 .. 4; wait_to_draw(10_000, @drawing); return }
foreach my $how ('kill', 'immediate')
{
    load();
    crash($node, $how);
    finish(@drawing);
    (undef, $floor) = check_round("the server that draws, $how", $floor, @drawing);
    start_server($node);
}

my $standby = new_standby($source, 'standby');
$standby->start;
wait_until_synchronous($source, $standby);
$standby->stop;
$node->safe_psql('postgres', q(ALTER SERVER central OPTIONS (SET connect_timeout '590')));
my $fresh = draw($node, q(snowid_segment_next('slow')), 1);
wait_for_waiting($source, 1, 'SyncRep', 'nextval');
is(scalar(@{ ids($fresh) }), 0, 'no number before the standby has the refill');
$standby->start;
finish($fresh);
is(scalar(@{ ids($fresh) }), 1, 'then there is one');
load();
crash($source, 'kill');
$standby->promote;
point_at($node, $standby);
stop_drawing([$node], @drawing);
(undef, $floor) = check_round('before and after the fail-over', $floor, @drawing);
# It is another source until somebody says that it knows of all that was allocated before.
my $high = last_value($standby, 'many') + 999;
cmp_ok($high, '>=', $floor, 'the standby knows of all numbers');
$node->safe_psql('postgres', q(SELECT setval('many', last_value, is_called) FROM many));
is(attempt($node, q(SELECT snowid_segment_next('many'))), 'ERROR 55000', 'another source');
is(last_value($standby, 'many') + 999, $high, 'of which nothing is taken');
$node->safe_psql('postgres', q(SELECT snowid_segment_attach('many', 'central', 'many')));
load();
stop_drawing([$node], @drawing);
my (undef, $greatest) = check_round('from the standby', $high, @drawing);
cmp_ok($greatest, '<=', last_value($standby, 'many') + 999, 'they are allocated from it');
end_test($node, $standby);
