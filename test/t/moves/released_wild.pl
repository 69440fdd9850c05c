# A shard that was released while the clock was ahead: no server accepts the ID that was returned before that time. Once the clock
# is right and the database has returned to it, snowid.release_shard() returns another one, by the clock and above all else that
# was issued here. The fault: the shard could not be opened before the right clock had come to the ID, in ten years.
# Runs in make test-all: it starts many sessions.

use Snowid;

my $ahead = 30 * 86_400;
my $node = ready_server('released');
# Each layout has a database of its own, whose clock begins anew.
my $dbname;
sub asked { my ($sql) = @_; return attempt($node, "SET snowid.max_wait = '20s'; $sql", dbname => $dbname) }

# Draws of a shard in a layout; the table refuses what comes twice. They go by the clock, nearly.
sub drawn
{
    my ($name, $layout) = @_;
    is(asked("WITH new AS (INSERT INTO ids SELECT snowid_next(1, '$layout') FROM generate_series(1, 20) RETURNING *)"
              . " SELECT max(snowid_timestamp(id, '$layout')) < clock_timestamp() + interval '10 s' FROM new"), 't', "$name: $layout goes by the clock");
    return;
}

foreach my $layout ('instagram', 'sonyflake', 'time:35 shard:10 seq:18 unit:1s epoch:2020-01-01T00:00:00Z')
{
    set_clock(0);
    $dbname = 'of_' . substr $layout, 0, 4;
    $node->safe_psql('postgres', "CREATE DATABASE $dbname");
    $node->safe_psql($dbname, 'CREATE EXTENSION snowid; CREATE TABLE ids (id bigint PRIMARY KEY)');
    drawn('before', $layout);
    my $early = asked("SELECT snowid.release_shard(2, '$layout')");
    set_clock($ahead);
    drawn('ahead', $layout);
    my $release = "SELECT snowid.release_shard(1, '$layout')";
    my $far = asked($release);
    set_clock(60);
    is(asked($release), $far, "$layout: the same ID before the return");
    is(asked(q(SELECT 'done' FROM snowid.return_to_clock(tstzmultirange(tstzrange(now() + interval '1 day', now() + interval '60 days'))))), 'done', 'returned');
    is(asked("SELECT snowid_next(1, '$layout')"), 'ERROR 55000', 'the shard is still closed');
    is(asked("SET snowid.max_wait = 0; SELECT snowid.accept_shard(1, $far, '$layout')"), 'ERROR SN001', 'its ID is of no use');
    is(asked("SELECT snowid.release_shard(2, '$layout')"), $early, 'that of before is');
    my $id = asked($release);
    cmp_ok($id, '<', $far, 'released again: by the clock');
    is(asked("SELECT $id > max(id) FROM ids WHERE snowid_timestamp(id, '$layout') < now() + interval '1 h'"), 't', 'above all but the skipped times');
    is(asked($release), $id, 'and once more the same');
    is(asked("SELECT snowid.accept_shard(1, $id, '$layout')"), 'ERROR 55000', 'which is its own');
    is(asked("SELECT snowid.accept_shard(1, snowid_encode(snowid_timestamp($id, '$layout') + interval '1 s', 1, 0, '$layout'), '$layout')"), '', 'accepted with a later one');
    drawn('accepted', $layout);
    crash_and_start($node, 'kill');
    drawn('after a crash', $layout);
    # When the clock comes to the skipped times, IDs step over them.
    set_clock($ahead);
    like(asked("INSERT INTO ids SELECT snowid_next(1, '$layout') FROM generate_series(1, 20) RETURNING 1"), qr/^1\n/, 'the skipped time again: nothing repeats');
}
end_test($node);
