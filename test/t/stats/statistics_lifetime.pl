# How long statistics last: a shard's go with the shard, when a full database clears what nobody uses, and begin
# anew when it comes back; a standby has none until it is promoted. Counting stands in nobody's way: a
# parallel query is refused with the same error as others. And the log is told again when its time has come.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

# A database has 200 shards of other layouts, each of them room for 1,023 users; the log hears of everything.
my %low = (max_shards_of_database => 200, log_every => 0);
my $other = q('time:41 shard:13 seq:10 unit:1ms epoch:2012-01-01T00:00:00Z');
my $node = new_server('lifetime', allows_streaming => 1);
start_server($node);
$node->safe_psql('postgres', 'CREATE EXTENSION snowid');
$node->safe_psql('postgres', objects_for_workers());
lower_bounds($node, 'postgres', %low);
# With nothing in memory of what the other library has made.
$node->stop;
start_server($node);

sub shard
{
    my ($column, $shard) = @_;
    return $node->safe_psql('postgres', "SELECT $column FROM snowid.stat_shards WHERE shard = $shard");
}
sub logged { return scalar(() = slurp_file($node->logfile) =~ /LOG:  $_[0]/g) }

# 1. Refused, in a parallel query too.
set_clock(3600);
is(attempt($node, 'SELECT snowid_next(0) > 0'), 't', 'an ID');
set_clock(0);
my $parallel = open_session($node);
make_parallel($parallel);
my $make = 'CREATE TABLE made AS SELECT snowid_next(0) AS id FROM rows';
is(ask($parallel, $make), 'ERROR SN001', 'a parallel query is refused');
is(attempt($node, 'SELECT snowid_next(0)'), 'ERROR SN001', 'a session is refused') for 1 .. 2;
is($node->safe_psql('postgres', 'SELECT refusals FROM snowid.stat_database'), 3, 'which counts');
close_session($parallel);
cmp_ok(logged('a caller was refused'), '>=', 3, 'the log is told of each once its time has come');
like(slurp_file($node->logfile), qr/Refused in this database so far: 2[.]/, 'and of how many');

# 2. A shard that a transaction moves often is used once more, and no IDs are.
my $mover = open_session($node);
ask($mover, 'SELECT snowid_next(50); BEGIN');
is(ask($mover, q(DO $$ BEGIN FOR i IN 1 .. 1500 LOOP BEGIN PERFORM snowid.release_shard(50); RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN NULL; END; END LOOP; END $$)),
    '', 'moved');
is(shard('issued', 50), 1, 'often: no ID');
ask($mover, 'COMMIT');
is(shard('issued', 50), 1, 'often, and for good: no ID');
close_session($mover);

# 3. A full database clears it, when its IDs are of the past.
set_clock(7200);
my $session = open_session($node);
is(ask($session, "SELECT count(snowid_next(s, $other)) FROM generate_series(2000, 2199) s"), '200', 'a full database');
is(shard('issued', 2000), 1, 'has the shard');
close_session($session);
$session = open_session($node);
set_clock(7300);
ask($session, "SELECT snowid_next(2001, $other)");
wait_for(sub { ask($session, "SELECT count(snowid_next(s, $other)) FROM generate_series(3000, 3099) s") eq '100' },
    'shards to be cleared');
is(shard('count(*)', 2000), 0, 'the shard is gone');
is(attempt($node, "SELECT snowid_next(2000, $other) > 0"), 't', 'and comes back');
is(shard('issued', 2000), '1', 'with nothing counted but that');
is(shard('issued', 0), 1, 'one of the default layout is never cleared');
close_session($session);

# 4. A standby.
my $standby = new_standby($node, 'standby');
start_server($standby);
$node->wait_for_catchup($standby);
is($standby->safe_psql('postgres', 'SELECT count(*) FROM snowid.stat_shards'), 0, 'a standby has no shards');
is($standby->safe_psql('postgres', 'SELECT ceiling IS NOT NULL, ceiling_raises FROM snowid.stat_database'), 't|0',
    'and knows the ceiling');
is(attempt($standby, 'SELECT snowid_next(0)'), 'ERROR 25006', 'it issues nothing');
$node->stop;
$standby->promote;
set_clock(7400);
is(attempt($standby, 'SELECT snowid_next(0) > 0'), 't', 'promoted');
is($standby->safe_psql('postgres', 'SELECT shard, issued FROM snowid.stat_shards'), '0|1', 'it counts');
check_log($_) foreach $node, $standby;
$standby->stop;
done_testing();
