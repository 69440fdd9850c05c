# snowid.stat_counters counts exactly the numbers that sessions drew, also of those that are canceled or terminated; keys, and those that
# left for want of room; in each database, and until a crash.
# Runs in make test-all: it starts many sessions.

use Snowid;

my $node = ready_server('numbers', conf => "snowid.section_keys = 10\n", sql => join ' ', map { "CREATE SEQUENCE $_ INCREMENT 1000;" } qw(many keys few));
sub counted { my ($sequence, $columns) = @_; return $node->safe_psql('postgres', "SELECT $columns FROM snowid.stat_counters WHERE relation = '$sequence'::regclass") }

# Numbers of a segment are dense, and so are those of a key that stays: they say themselves how many there were.
my $both = q(snowid_segment_next('many'), snowid_section_next('keys', generate_series % 5));
my $of_keys = q(SELECT sum(snowid_section_current('keys', k)) FROM generate_series(0, 4) AS k);
my @drawing = map { draw($node, $both, 2_000) } 1 .. 6;
my @rolling = map { open_session($node) } 1 .. 2;
start_asking($_, <<"SQL") foreach @rolling;
BEGIN; SELECT count(*) FROM (SELECT $both FROM generate_series(1, 300)) AS t;
SAVEPOINT s; SELECT count(*) FROM (SELECT $both FROM generate_series(1, 300)) AS t; ROLLBACK TO s;
SELECT count(*) FROM (SELECT $both FROM generate_series(1, 300)) AS t; ROLLBACK
SQL
answer($_) foreach @rolling;
finish(@drawing);
is($node->safe_psql('postgres', $of_keys), 13_800, 'a section: all were drawn');
is(counted('keys', 'issued, keys, evictions'), '13800|5|0', 'a section: as many are counted');
is(counted('many', 'issued, refills > 0, remaining = (SELECT last_value FROM many) + 999 - issued'), '13800|t|t', 'a segment: numbers drawn, and left');

foreach my $how ('cancel', 'terminate')
{
    my @ended = map { draw($node, $both, undef) } 1 .. 4;
    wait_to_draw(50_000, @ended);
    $node->safe_psql('postgres', "SELECT pg_${how}_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY (%'");
    finish(@ended);
    wait_for(sub { $node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'COPY (%'}) eq '0' }, 'the sessions to end');
    my $sum = $node->safe_psql('postgres', $of_keys);
    cmp_ok($sum, '>', 13_800, "$how: some were drawn");
    is(counted('many', 'issued'), $node->safe_psql('postgres', q(SELECT snowid_segment_next('many'))) - 1, "$how: a segment's numbers");
    is(counted('keys', 'issued'), $sum, "$how: a section's numbers");
}
is(ask($rolling[0], q(BEGIN; SELECT count(snowid_section_next('few', 1)) FROM generate_series(1, 3))), 3, 'an open transaction');
is(ask($rolling[0], q(SELECT issued FROM snowid.stat_counters WHERE relation = 'few'::regclass)), 3, 'sees its own');
ask($rolling[0], 'ROLLBACK');
is(counted('few', 'issued'), 3, 'others when it ends, also rolled back');

is(ask($rolling[0], q(SELECT count(snowid_section_next('few', k)) FROM generate_series(1, 25) AS k)), 25, 'more keys than there is room for');
is(counted('few', 'keys, evictions'), '10|15', 'some leave');
reload_with($node, 'snowid.section_keys', 4, @rolling);
ask($rolling[0], q(SELECT snowid_section_next('few', 26)));
is(counted('few', 'keys <= 4, keys + evictions, issued'), 't|26|29', 'more leave where there is less room');
close_session(@rolling);

my $rows = $node->safe_psql('postgres', 'SELECT count(*) FROM snowid.stat_counters');
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', q(CREATE EXTENSION snowid; CREATE SEQUENCE many; SELECT snowid_segment_next('many')));
is($node->safe_psql('other', 'SELECT kind, relation, issued FROM snowid.stat_counters'), 'segment|many|1', 'another database has its own');
is($node->safe_psql('postgres', 'SELECT count(*) FROM snowid.stat_counters'), $rows, 'and this one no more');

crash_and_start($node, 'kill');
is($node->safe_psql('postgres', 'SELECT count(*) FROM snowid.stat_counters'), 0, 'a crash: nothing');
$node->safe_psql('postgres', q(SELECT snowid_segment_next('many')));
is(counted('many', 'issued, refills'), '1|1', 'a crash: counted from there');
end_test($node);
