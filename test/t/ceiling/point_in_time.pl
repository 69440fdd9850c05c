# Promise 1 through recovery to a point in time, as far as it can hold: the restored server knows of nothing that
# was issued after the point. With the clock right no ID comes again all the same; where the clock is behind,
# snowid_advance_all says from when on IDs may be, durably. Its ceiling is that of the point, and IDs up to it do
# not come again, whatever the clock. Segments go on where somebody sets them.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $original = new_server('original', has_archiving => 1, allows_streaming => 1);
start_server($original);
$original->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE SEQUENCE invoices INCREMENT 1000;'
      . ' CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(1))');
$original->backup('base');
my $insert = 'INSERT INTO photos SELECT FROM generate_series(1, 1000)';
my $draw = q(SELECT max(n) FROM (SELECT snowid_segment_next('invoices') AS n FROM generate_series(1, 5000)) AS drawn);
$original->safe_psql('postgres', $insert);
$original->safe_psql('postgres', $draw);
my $before = $original->safe_psql('postgres', 'SELECT max(id) FROM photos');
$original->safe_psql('postgres', q(SELECT pg_create_restore_point('the point')));
# Three seconds later by its clock, so that the ceiling of the point does not cover what comes.
set_clock(30, $original);
$original->safe_psql('postgres', $insert);
my ($lost, $invoice) = map { $original->safe_psql('postgres', $_) } 'SELECT max(id) FROM photos', $draw;
my $stopped = $original->safe_psql('postgres', 'SELECT snowid_ceiling()');
cmp_ok($lost, '>', $before, 'there is something to be lost');
$original->safe_psql('postgres', 'SELECT pg_switch_wal()');
$original->stop;

# A server that is restored to the point, with its clock so many seconds from the right one.
sub restore
{
    my ($name, $clock) = @_;
    my $node = PostgreSQL::Test::Cluster->new($name);
    $node->init_from_backup($original, 'base', has_restoring => 1, standby => 0);
    $node->append_conf('postgresql.conf', "recovery_target_name = 'the point'\nrecovery_target_action = 'promote'\n");
    set_clock($clock, $node);
    start_server($node);
    wait_for(sub { $node->safe_psql('postgres', 'SELECT pg_is_in_recovery()') eq 'f' }, 'the server to be promoted');
    is($node->safe_psql('postgres', 'SELECT count(*), max(id) FROM photos'), "1000|$before", "$name: rows as of the point");
    return $node;
}

# Its clock is a minute on: restoring takes longer than what was lost.
my $node = restore('clock_right', 90);
cmp_ok($node->safe_psql('postgres', 'SELECT snowid_next(1)'), '>', $lost, 'clock right: above what was lost');
is(attempt($node, $insert), '', 'clock right: served');
$node->stop;

# As far behind as to be before the point: what the server knows is above that.
$node = restore('clock_behind', -600);
is(attempt($node, 'SELECT snowid_next(1)'), 'ERROR SN001', 'clock behind: refused');
my $far = "SET snowid.max_lead = '1d'";
my $next = attempt($node, "$far; SELECT snowid_next(1)");
cmp_ok($next, '>', $before, 'clock behind: above all of the point');
# It cannot know what it has not got, until it is told.
is(attempt($node, "$far; SELECT snowid_advance_all('$stopped')"), '', 'told of what was lost');
cmp_ok(attempt($node, "$far; SELECT snowid_next(1)"), '>', $lost, 'told: above what was lost');
cmp_ok(attempt($node, "$far; SELECT snowid_next(7) & ~8388607"), '>', $lost & ~8388607, 'told: other shards, too');
crash($node, 'kill');
start_server($node);
cmp_ok(attempt($node, "$far; SELECT snowid_next(1)"), '>', $lost, 'told, after a crash: above what was lost');

is(attempt($node, "SELECT setval('invoices', $invoice + 100000)"), $invoice + 100000, 'a segment is set forward');
cmp_ok(attempt($node, q(SELECT snowid_segment_next('invoices'))), '>', $invoice, 'a segment: above what was lost');
$node->stop;
done_testing();
