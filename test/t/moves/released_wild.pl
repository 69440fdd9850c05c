# A shard that was released while the clock was wild can be accepted again once the clock is right and the database
# has been rewound, and repeats nothing. The fault: it could not before the right clock had come to the time of
# the ID that snowid.release_shard() had returned, in ten years.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $ahead = 30 * 86_400;
my $node = new_server('released');
start_server($node);
$node->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE TABLE ids (id bigint, layout text, PRIMARY KEY (id, layout));'
      . 'CREATE TABLE released (shard int, layout text, id bigint)');
my @layouts = ('instagram', 'sonyflake', 'time:35 shard:10 seq:18 unit:1s epoch:2020-01-01T00:00:00Z');

# What a session of its own is answered.
sub asked { my ($sql) = @_; return attempt($node, "SET snowid.max_wait = '4s'; $sql") }

# Draws of a shard in each layout; the tables refuse what comes twice. Returns by how many seconds the last one is
# ahead of the clock.
sub drawn
{
    my ($name, $shard) = @_;
    foreach my $layout (@layouts)
    {
        my $lead = asked("WITH new AS (INSERT INTO ids SELECT snowid_next($shard, '$layout'), '$layout'"
              . ' FROM generate_series(1, 20) RETURNING *)'
              . "SELECT extract(epoch FROM snowid_timestamp(max(id), '$layout') - clock_timestamp()) FROM new");
        cmp_ok($lead =~ /^-?\d/ ? $lead : 1e9, '<', 10, "$name: shard $shard of $layout goes by the clock") or diag($lead);
    }
    return;
}

# Calls a function with the ID that the release of a shard returned, in each layout.
sub accepted
{
    my ($name, $shard, $answer) = @_;
    is(asked("SELECT count(snowid.accept_shard(shard, id, layout::snowid_layout)) FROM released WHERE shard = $shard"), $answer, "$name: shard $shard");
    return;
}

sub release
{
    my ($shard) = @_;
    is(asked("INSERT INTO released SELECT $shard, layout, snowid.release_shard($shard, layout::snowid_layout)"
              . " FROM unnest(ARRAY['" . join("', '", @layouts) . "']) layout RETURNING 1"), "1\n1\n1", "shard $shard is released");
    return;
}

# 1. Before, wild, and right again.
set_clock(0);
drawn('before', $_) foreach 1 .. 3;
release(3);
set_clock($ahead);
drawn('wild', $_) foreach 1, 2;
release($_) foreach 1, 2, 4;
set_clock(60);
like(asked('SELECT snowid.accept_shard(shard, id, layout::snowid_layout) FROM released WHERE shard = 1'), qr/SN001/, 'not before it is rewound');
is(asked(q(SELECT 'done' FROM snowid.return_to_clock(tstzmultirange(tstzrange(now() + interval '1 day', now() + interval '60 days'))))), 'done', 'rewound');

# 2. Accepted, with the ID that the release returned, and with one that somebody else has issued.
foreach my $shard (1, 2, 4)
{
    is(asked("SELECT snowid_next($shard)"), 'ERROR 55000', "rewound: shard $shard is still closed");
}
is(asked(q(BEGIN; SELECT FROM snowid.accept_shard(1, (SELECT id FROM released WHERE shard = 1 AND layout = 'instagram')); ROLLBACK;
      SELECT snowid_next(1))), 'ERROR 55000', 'nor does it open where that is rolled back');
is(asked(q(SELECT snowid.accept_shard(1, id + (1 << 23)) FROM released WHERE shard = 1 AND layout = 'instagram')), 'ERROR SN001',
    'with an ID above that of the release');
accepted('with what the release returned', 1, 3);
# It goes on above all that others have, and what they were told to.
stop_clock(time + 60, $node);
my $soon = asked("SET snowid.max_lead = '5s'; SELECT now() + interval '4 s' AS soon \\gset\nSELECT snowid.advance_past(timestamptz :'soon') \\gset\nSELECT :'soon'");
accepted('while the clock stands', 4, 3);
is(asked("SET snowid.max_lead = '5s'; SELECT snowid_timestamp(snowid_next(4)) > '$soon'"), 't', "shard 4 goes on above $soon");
set_clock(60);
accepted('with what the release returned under the right clock', 3, 3);
is(asked(q(SELECT snowid.accept_shard(1, (SELECT max(id) + 1 FROM ids WHERE layout = 'instagram' AND snowid_shard(id) = 1)))), 'ERROR SN001',
    'a wild ID of a shard that is open counts as any other');
drawn('accepted', $_) foreach 1, 3, 4;

# 3. A crash forgets nothing of it.
crash($node, 'kill');
start_server($node);
drawn('after a crash', $_) foreach 1, 3, 4;
is(asked('SELECT snowid_next(2)'), 'ERROR 55000', 'after a crash: what was not accepted is closed');
my $later = q(SELECT snowid.accept_shard(2, id) FROM ids WHERE layout = 'instagram' AND snowid_shard(id) = 2 ORDER BY id LIMIT 1);
isnt(asked($later), 'ERROR SN001', 'accepted with an ID of before');
is(asked('SELECT snowid_next(2) > 0'), 't', 'which opens it');

# 4. When the clock comes to the wild times all step over them; who comes back then goes on above them.
set_clock($ahead);
foreach my $layout (@layouts)
{
    like(asked("SET snowid.max_wait = '20s'; INSERT INTO ids SELECT snowid_next($_, '$layout'), '$layout' FROM generate_series(1, 20) RETURNING 1"),
        qr/^1\n/, "the wild time again: shard $_ of $layout repeats nothing") foreach 1, 3, 4;
}
set_clock($ahead + 120);
like(asked("SELECT snowid.accept_shard(shard, id, layout::snowid_layout) FROM released WHERE shard = 2 AND layout <> 'instagram'"), qr/^\n?$/, 'what was left closed is accepted');
like(asked("INSERT INTO ids SELECT snowid_next(2, '$_'), '$_' FROM generate_series(1, 20) RETURNING 1"), qr/^1\n/, "and repeats nothing in $_")
  foreach @layouts;

$node->stop;
check_log($node);
done_testing();
