# The real thing: tables go to another server by logical replication while sessions write. First one shard
# of many, with the schema that is its own; then a whole server, to one whose clock is 3 s behind. No key
# comes twice, and no row is lost.
#
# Runs in make test-all: it has two servers, by the steps of the page.

use strict;
use warnings;

use Snowid;
use Test::More;
use Time::HiRes qw(time);

my ($old, $new) = map { new_server($_, allows_streaming => 'logical') } 'old', 'new';
start_server($_) foreach $old, $new;
set_clock(-3, $new);
foreach my $node ($old, $new)
{
    $node->safe_psql('postgres', 'CREATE EXTENSION snowid');
    foreach my $shard (1 .. 3)
    {
        $node->safe_psql('postgres', <<"SQL");
CREATE SCHEMA shard$shard;
CREATE TABLE shard$shard.photos (id bigint PRIMARY KEY DEFAULT snowid_next($shard), writer int);
SQL
    }
}
my $connection = $old->connstr('postgres') =~ s{'}{''}gr;

# A session that inserts rows into a shard's table, one a transaction, until it is refused.
my $writers = 0;
sub start_writer
{
    my ($node, $shard) = @_;
    my $session = open_session($node);
    my $writer = ++$writers;
    ask($session, q(SET snowid.max_wait = '20s'));
    start_asking($session, <<"SQL");
DO \$\$ BEGIN
  LOOP
    INSERT INTO shard$shard.photos (writer) VALUES ($writer);
    COMMIT;
    -- As much as replication can follow.
    PERFORM pg_sleep(0.002);
  END LOOP;
END \$\$
SQL
    return $session;
}

sub rows
{
    my ($node, $shard, $what) = @_;
    return $node->safe_psql('postgres', "SELECT $what FROM shard$shard.photos");
}

# Waits until the new server has all that the old one has committed.
sub wait_until_caught_up
{
    my ($slot) = @_;
    my $lsn = $old->safe_psql('postgres', 'SELECT pg_current_wal_flush_lsn()');
    wait_for(sub { $old->safe_psql('postgres', "SELECT confirmed_flush_lsn >= '$lsn' FROM pg_replication_slots WHERE slot_name = '$slot'") eq 't' },
        'the new server to catch up');
    return;
}

sub subscribe
{
    my ($name, $publication) = @_;
    $new->safe_psql('postgres', "CREATE SUBSCRIPTION $name CONNECTION '$connection' PUBLICATION $publication");
    $new->wait_for_subscription_sync;
    return;
}

# Sets the new server's clock to 3 s before a moment.
sub set_clock_behind
{
    my ($moment) = @_;
    set_clock($old->safe_psql('postgres', "SELECT extract(epoch FROM '$moment'::timestamptz)") - 3 - time, $new);
    return;
}

# 1. One shard moves. Its writers are refused on the old server and come to the new one; those of another
# shard notice nothing.
my @writers = map { start_writer($old, 1) } 1 .. 3;
my $other = start_writer($old, 2);
wait_for(sub { rows($old, 1, 'count(*) > 500') eq 't' }, 'rows');
$old->safe_psql('postgres', 'CREATE PUBLICATION one FOR TABLE shard1.photos');
subscribe('one', 'one');
my $before = rows($old, 1, 'count(*)');
wait_for(sub { rows($old, 1, "count(*) > $before + 500") eq 't' }, 'more rows');
my $id = $old->safe_psql('postgres', <<'SQL');
BEGIN;
-- Waits for those who are writing.
LOCK TABLE shard1.photos IN EXCLUSIVE MODE;
SELECT snowid.release_shard(1, moved_to => 'the new server');
COMMIT;
SQL
foreach my $writer (@writers)
{
    is(answer($writer), 'ERROR 55000', 'a writer is refused');
    like($writer->{err}, qr/It has moved to: the new server/, 'and told where to go');
}
wait_until_caught_up('one');
# However long replication has taken, the new server's clock is behind the ID.
set_clock_behind($old->safe_psql('postgres', "SELECT snowid_timestamp($id)"));
$new->safe_psql('postgres', "SELECT snowid.accept_shard(1, $id)");
$new->safe_psql('postgres', 'DROP SUBSCRIPTION one');
my $digest = q(count(*), md5(string_agg(id::text, ',' ORDER BY id)), max(id));
my $moved = rows($old, 1, $digest);
is(rows($new, 1, $digest), $moved, 'every row is there');
my ($count, undef, $greatest) = split /\|/, $moved;
cmp_ok($greatest, '<', $id, "none of the $count has an ID as great as that returned");
my $first_writers = $writers;
push @writers, my @moved = map { start_writer($new, 1) } 1 .. 3;
wait_for(sub { rows($new, 1, "count(*) > $count + 500") eq 't' }, 'rows on the new server');
is(rows($new, 1, "count(*) FILTER (WHERE writer > $first_writers AND id <= $id)"), '0', 'the new rows are above');
ok(!is_answered($_), 'a writer on the new server goes on') foreach @moved, $other;

# 2. All that is left moves at once. Without snowid.advance_past() the new server would go on where its clock
# is, below what the old one has issued.
$other = [ $other, map { start_writer($old, $_) } 2, 3 ];
# The old server's list of released shards is about itself, as FOR ALL TABLES would bring it, too.
$old->safe_psql('postgres', 'CREATE PUBLICATION rest FOR TABLE shard2.photos, shard3.photos, snowid_internal.moved_shards');
$old->safe_psql('postgres', q(SELECT snowid.release_shard(4); SELECT snowid.release_shard(1, moved_to => 'still the new server')));
subscribe('rest', 'rest');
wait_for(sub { rows($old, 3, 'count(*) > 500') eq 't' }, 'rows');
# No more writing: those who do are ended, and none may come back.
$old->safe_psql('postgres', 'ALTER SYSTEM SET default_transaction_read_only = on; SELECT pg_reload_conf()');
$old->safe_psql('postgres', q(SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE query LIKE 'DO %' AND pid <> pg_backend_pid()));
# Handed over as an ID: the text of a moment would be another one, or none, where DateStyle differs.
my $handed_over = $old->safe_psql('postgres', q(SET datestyle = 'SQL, DMY'; SELECT snowid_last_at(snowid_ceiling())));
my $ceiling = $old->safe_psql('postgres', "SELECT snowid_timestamp($handed_over)");
wait_until_caught_up('rest');
is(rows($new, $_, $digest), rows($old, $_, $digest), "every row of shard $_ is there") foreach 2, 3;
# Not by the clocks of those who write there: they are refused, rightly, if they draw just then.
my $keeper = open_session($new);
ask($keeper, 'BEGIN; LOCK TABLE shard1.photos');
set_clock(-60, $new);
is($new->safe_psql('postgres', "SELECT snowid_next(3, 'twitter') < snowid_first_at(snowid_timestamp(max(id)), 'twitter') FROM shard3.photos"),
    't', 'by its own clock the new server is behind what was issued');
set_clock_behind($ceiling);
ask($keeper, 'COMMIT');
close_session($keeper);
$new->safe_psql('postgres', "SET datestyle = 'SQL, MDY'; SELECT snowid.advance_past($handed_over)");
$new->safe_psql('postgres', 'DROP SUBSCRIPTION rest');
foreach my $shard (2, 3)
{
    my $least = rows($new, $shard, 'max(id)');
    my $writer = start_writer($new, $shard);
    my $had = rows($new, $shard, 'count(*)');
    wait_for(sub { is_answered($writer) || rows($new, $shard, "count(*) > $had + 300") eq 't' }, 'rows on the new server');
    ok(!is_answered($writer), "shard $shard: the writer goes on") or diag($writer->{err});
    is(rows($new, $shard, "count(*) FILTER (WHERE writer = $writers AND id <= $least)"), '0', "shard $shard: above all");
    push @moved, $writer;
}
ok(!is_answered($_), 'all of them do') foreach @moved;
is($new->safe_psql('postgres', 'SELECT shard, is_open FROM snowid_internal.moved_shards'), '1|t', 'nothing is released there: replication brings no row');
$new->safe_psql('postgres', q(SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE query LIKE 'DO %' AND pid <> pg_backend_pid()));
close_session(@writers, @$other, @moved);
check_log($_) foreach $old, $new;
$_->stop foreach $old, $new;
done_testing();
