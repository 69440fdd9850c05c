# Recovery to a point in time: the server knows of nothing that was issued after the point. With the clock right no ID comes again
# all the same; where the clock is behind, snowid.advance_past says from when on IDs may be, durably, for all shards. Its ceiling
# is that of the point, and IDs up to it do not come again, whatever the clock. Segments go on where somebody sets them.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

# A new page is replayed only where its own record has all of it.
my $primary = ready_server('primary', has_archiving => 1, allows_streaming => 1, conf => "full_page_writes = off\n",
    sql => 'CREATE SEQUENCE invoices INCREMENT 1000; CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(1))');
$primary->backup('base');
my $insert = 'INSERT INTO photos SELECT FROM generate_series(1, 1000)';
my $draw = q(SELECT max(n) FROM (SELECT snowid_segment_next('invoices') AS n FROM generate_series(1, 5000)) AS drawn);
sub sql { return $primary->safe_psql('postgres', $_[0]) }

sql("$insert; $draw");
my $before = sql('SELECT max(id) FROM photos');
sql(q(SELECT pg_create_restore_point('the point')));
# Later by its clock, so that the ceiling of the point does not cover what comes.
set_clock(30, $primary);
sql($insert);
my ($lost, $invoice, $stopped) = map { sql($_) } 'SELECT max(id) FROM photos', $draw, 'SELECT snowid_ceiling()';
cmp_ok($lost, '>', $before, 'there is something to be lost');
# Whose name is that of the last segment that a restore needs.
my $segment = sql('SELECT pg_walfile_name(pg_switch_wal())');
wait_for(sub { sql("SELECT last_archived_wal >= '$segment' FROM pg_stat_archiver") eq 't' }, 'the segment to be archived');
$primary->stop;

# A server that is restored to the point, with its clock so many seconds from the right one.
sub restore
{
    my ($name, $clock) = @_;
    my $node = PostgreSQL::Test::Cluster->new($name);
    $node->init_from_backup($primary, 'base', has_restoring => 1, standby => 0);
    $node->append_conf('postgresql.conf', "recovery_target_name = 'the point'\nrecovery_target_action = 'promote'\n");
    set_clock($clock, $node);
    start_server($node);
    wait_for(sub { $node->safe_psql('postgres', 'SELECT pg_is_in_recovery()') eq 'f' }, 'the server to be promoted');
    is($node->safe_psql('postgres', 'SELECT count(*), max(id) FROM photos'), "1000|$before", "$name: rows as of the point");
    return $node;
}

# Its clock is a minute on: restoring takes longer than what was lost.
my $right = restore('clock_right', 90);
cmp_ok($right->safe_psql('postgres', 'SELECT snowid_next(1)'), '>', $lost, 'clock right: above what was lost');
is(attempt($right, $insert), '', 'clock right: served');

# As far behind as to be before the point: what the server knows is above that.
my $behind = restore('clock_behind', -600);
my $far = "SET snowid.max_lead = '1d';";
is(attempt($behind, 'SELECT snowid_next(1)'), 'ERROR SN001', 'clock behind: refused');
cmp_ok(attempt($behind, "$far SELECT snowid_next(1)"), '>', $before, 'clock behind: above all of the point');
is(attempt($behind, "$far SELECT snowid.advance_past(timestamptz '$stopped')"), '', 'told of what was lost');
foreach my $time ('told', 'told, after a crash')
{
    cmp_ok(attempt($behind, "$far SELECT snowid_next(1)"), '>', $lost, "$time: above what was lost");
    cmp_ok(attempt($behind, "$far SELECT snowid_next(7) & ~8388607"), '>', $lost & ~8388607, "$time: other shards, too");
    next if $time ne 'told';
    crash_and_start($behind, 'kill');
}
is(attempt($behind, "SELECT setval('invoices', $invoice + 100000)"), $invoice + 100000, 'a segment is set forward');
cmp_ok(attempt($behind, q(SELECT snowid_segment_next('invoices'))), '>', $invoice, 'a segment: above what was lost');
end_test($right, $behind);
