# Tables go to another server, whose clock is 3 s behind, by logical replication while sessions write: first one shard of many, then
# all that is left, as docs/moving-shards.md has it. No key comes twice, no row is lost, and who writes other shards notices
# nothing. Replication brings no released shards.
# Runs in make test-all: it has two servers, by the steps of the page.

use Snowid;
use Time::HiRes qw(time);

my ($old, $new) = map {
    ready_server($_, allows_streaming => 'logical', sql => join ';', map { "CREATE TABLE photos$_ (id bigint PRIMARY KEY DEFAULT snowid_next($_), writer int)" } 1 .. 3)
} 'old', 'new';
set_clock(-3, $new);

# A session that inserts rows into a shard's table, one a transaction, as many as replication can follow, until it is refused.
my $writers = 0;

sub start_writer
{
    my ($node, $shard) = @_;
    my $session = open_session($node);
    $writers++;
    start_asking($session, <<"SQL");
SET snowid.max_wait = '20s';
DO \$\$ BEGIN LOOP INSERT INTO photos$shard (writer) VALUES ($writers); COMMIT; PERFORM pg_sleep(0.002); END LOOP; END \$\$
SQL
    return $session;
}
sub rows { my ($node, $shard, $what) = @_; return $node->safe_psql('postgres', "SELECT $what FROM photos$shard") }
sub wait_for_rows { my ($node, $shard, $count) = @_; return wait_for(sub { rows($node, $shard, 'count(*)') > $count }, "rows of shard $shard") }

sub subscribe
{
    my ($publication) = @_;
    my $connection = $old->connstr('postgres') =~ s{'}{''}gr;
    $new->safe_psql('postgres', "CREATE SUBSCRIPTION $publication CONNECTION '$connection' PUBLICATION $publication");
    return $new->wait_for_subscription_sync;
}

# Waits until the new server has all that the old one has committed, and puts its clock 3 s behind a moment.
sub catch_up
{
    my ($slot, $moment) = @_;
    my $lsn = $old->safe_psql('postgres', 'SELECT pg_current_wal_flush_lsn()');
    wait_for(sub { $old->safe_psql('postgres', "SELECT confirmed_flush_lsn >= '$lsn' FROM pg_replication_slots WHERE slot_name = '$slot'") eq 't' }, 'the new server to catch up');
    return set_clock($old->safe_psql('postgres', "SELECT extract(epoch FROM $moment)") - 3 - time, $new);
}

# Checks that writers of a shard on the new server go on, above all that is there.
sub check_goes_on
{
    my ($shard, $least) = @_;
    my $before = $writers;
    my $count = rows($new, $shard, 'count(*)');
    my @writing = map { start_writer($new, $shard) } 1, 2;
    wait_for(sub { grep { is_answered($_) } @writing or rows($new, $shard, "count(*) > $count + 300") eq 't' }, 'rows on the new server');
    ok(!is_answered($_), "shard $shard: a writer goes on") or diag($_->{err}) foreach @writing;
    is(rows($new, $shard, "count(*) FILTER (WHERE writer > $before AND id <= $least)"), '0', "shard $shard: above all");
    return @writing;
}
my $digest = q(count(*), md5(string_agg(id::text, ',' ORDER BY id)));

# One shard.
my @writing = map { start_writer($old, 1) } 1 .. 3;
my $other = start_writer($old, 2);
wait_for_rows($old, 1, 500);
$old->safe_psql('postgres', 'CREATE PUBLICATION one FOR TABLE photos1');
subscribe('one');
wait_for_rows($old, 1, rows($old, 1, 'count(*)') + 500);
# The lock waits for those who are writing.
my $id = $old->safe_psql('postgres', q(BEGIN; LOCK TABLE photos1 IN EXCLUSIVE MODE; SELECT snowid.release_shard(1, moved_to => 'the new server'); COMMIT));
foreach my $writer (@writing)
{
    is(answer($writer), 'ERROR 55000', 'a writer is refused');
    like($writer->{err}, qr/It has moved to: the new server/, 'and told where to go');
}
catch_up('one', "snowid_timestamp($id)");
$new->safe_psql('postgres', "SELECT snowid.accept_shard(1, $id)");
$new->safe_psql('postgres', 'DROP SUBSCRIPTION one');
is(rows($new, 1, $digest), rows($old, 1, $digest), 'every row is there');
cmp_ok(rows($old, 1, 'max(id)'), '<', $id, 'none has an ID as great as that returned');
push @writing, check_goes_on(1, $id);
ok(!is_answered($other), 'a writer of another shard notices nothing');

# All that is left. The old server's list of released shards is about itself, as FOR ALL TABLES would bring it, too.
push @writing, $other, map { start_writer($old, $_) } 2, 3;
$old->safe_psql('postgres', 'CREATE PUBLICATION rest FOR TABLE photos2, photos3, snowid_internal.moved_shards');
$old->safe_psql('postgres', q(SELECT snowid.release_shard(4); SELECT snowid.release_shard(1, moved_to => 'still the new server')));
subscribe('rest');
wait_for_rows($old, 3, 500);
# No more writing: those who do are ended, and none may come back.
my $end = q(SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE query LIKE 'DO %' AND pid <> pg_backend_pid());
$old->safe_psql('postgres', 'ALTER SYSTEM SET default_transaction_read_only = on; SELECT pg_reload_conf()');
$old->safe_psql('postgres', $end);
# Handed over as an ID: the text of a moment would be another one, or none, where DateStyle differs.
my $handed_over = $old->safe_psql('postgres', q(SET datestyle = 'SQL, DMY'; SELECT snowid_last_at(snowid_ceiling())));
# By its own clock the new server would go on below what was issued. Its own writers, whom a clock that goes back refuses, wait.
my $keeper = open_session($new);
ask($keeper, 'BEGIN; LOCK TABLE photos1');
catch_up('rest', "snowid_timestamp($handed_over)");
is(rows($new, $_, $digest), rows($old, $_, $digest), "every row of shard $_ is there") foreach 2, 3;
$new->safe_psql('postgres', "SET datestyle = 'SQL, MDY'; SELECT snowid.advance_past($handed_over)");
set_clock(-60, $new);
is(attempt($new, "SET snowid.max_lead = '5min'; SELECT snowid_timestamp(snowid_next(77)) > snowid_timestamp($handed_over)"), 't', 'above all, whatever its clock says');
set_clock(-3, $new);
close_session($keeper);
$new->safe_psql('postgres', 'DROP SUBSCRIPTION rest');
push @writing, check_goes_on($_, rows($new, $_, 'max(id)')) foreach 2, 3;
is($new->safe_psql('postgres', 'SELECT shard, is_open FROM snowid_internal.moved_shards'), '1|t', 'nothing is released there: replication brings no row');
$new->safe_psql('postgres', $end);
end_test($old, $new);
