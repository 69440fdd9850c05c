# A shard that was released while the clock was ahead: the ID that the release returned is of no use, since no server
# accepts it before that time. Once the clock is right and the database has returned to it, snowid.release_shard()
# returns another one, by the clock and above all else that was issued here. The fault: the shard could not be opened
# before the right clock had come to the ID, in ten years.
#
# Runs in make test-all: it starts many sessions.

use strict;
use warnings;

use Snowid;
use Test::More;

my $ahead = 30 * 86_400;
my $node = new_server('released');
start_server($node);
my @layouts = ('instagram', 'sonyflake', 'time:35 shard:10 seq:18 unit:1s epoch:2020-01-01T00:00:00Z');

# What a session of its own is answered. Each layout has a database of its own, whose clock begins anew.
my $dbname;
sub asked { my ($sql) = @_; return attempt($node, "SET snowid.max_wait = '20s'; $sql", dbname => $dbname) }

# Draws of a shard in a layout; the table refuses what comes twice. They go by the clock, nearly.
sub drawn
{
    my ($name, $shard, $layout) = @_;
    my $lead = asked("WITH new AS (INSERT INTO ids SELECT snowid_next($shard, '$layout') FROM generate_series(1, 20) RETURNING *)"
          . " SELECT extract(epoch FROM snowid_timestamp(max(id), '$layout') - clock_timestamp()) FROM new");
    cmp_ok($lead =~ /^-?\d/ ? $lead : 1e9, '<', 10, "$name: shard $shard of $layout goes by the clock") or diag($lead);
    return;
}

foreach my $layout (@layouts)
{
    set_clock(0);
    $dbname = 'of_' . substr $layout, 0, 4;
    $node->safe_psql('postgres', "CREATE DATABASE $dbname");
    $node->safe_psql($dbname, 'CREATE EXTENSION snowid; CREATE TABLE ids (id bigint PRIMARY KEY)');
    drawn('before', 1, $layout);
    my $early = asked("SELECT snowid.release_shard(2, '$layout')");
    set_clock($ahead);
    drawn('ahead', 1, $layout);
    my $far = asked("SELECT snowid.release_shard(1, '$layout')");
    set_clock(60);
    is(asked("SELECT snowid.release_shard(1, '$layout')"), $far, "$layout: the same ID before the return") if $layout eq 'instagram';
    is(asked(q(SELECT 'done' FROM snowid.return_to_clock(tstzmultirange(tstzrange(now() + interval '1 day', now() + interval '60 days'))))), 'done', 'returned');
    is(asked("SELECT snowid_next(1, '$layout')"), 'ERROR 55000', 'the shard is still closed');
    like(asked("SET snowid.max_wait = 0; SELECT snowid.accept_shard(1, $far, '$layout')"), qr/SN001/, 'its ID is of no use');
    is(asked("SELECT snowid.release_shard(2, '$layout')"), $early, 'that of before is');
    my $id = asked("SELECT snowid.release_shard(1, '$layout')");
    cmp_ok($id, '<', $far, 'released again: by the clock');
    is(asked("SELECT $id > max(id) FROM ids WHERE snowid_timestamp(id, '$layout') < now() + interval '1 h'"), 't', 'above all but the skipped times');
    is(asked("SELECT snowid.release_shard(1, '$layout')"), $id, 'and once more the same');
    is(asked("SELECT snowid.accept_shard(1, $id, '$layout')"), 'ERROR 55000', 'which is its own');
    my $later = asked("SELECT snowid_encode(snowid_timestamp($id, '$layout') + interval '1 s', 1, 0, '$layout')");
    is(asked("SELECT snowid.accept_shard(1, $later, '$layout')"), '', 'accepted with a later one');
    drawn('accepted', 1, $layout);
    crash($node, 'kill');
    start_server($node);
    drawn('after a crash', 1, $layout);
    # When the clock comes to the skipped times, IDs step over them.
    set_clock($ahead);
    like(asked("INSERT INTO ids SELECT snowid_next(1, '$layout') FROM generate_series(1, 20) RETURNING 1"), qr/^1\n/, 'the skipped time again: nothing repeats');
}
$node->stop;
check_log($node);
done_testing();
