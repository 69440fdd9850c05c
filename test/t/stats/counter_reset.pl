# snowid.reset_stats() has what segments and sections of this database count begin anew, and keeps what they know: numbers left, keys,
# a source that is down. Beside sessions that draw no number is lost or counted twice.
# Runs in make test-all: sessions draw for long.

use Snowid;

my ($source, $node) = ready_source({ there => 'INCREMENT 100' }, node => { conf => "snowid.section_keys = 10\n", databases => ['other'] });
$node->safe_psql($_, 'CREATE SEQUENCE many INCREMENT 1000; CREATE SEQUENCE keys INCREMENT 1000') foreach qw(postgres other);
$node->safe_psql('postgres', q(CREATE SEQUENCE away; SELECT snowid_segment_attach('away', 'central', 'there')));

sub rows
{
    my ($columns, $dbname) = @_;
    $columns //= 'issued, refills, refill_time > 0, max_refill_time > 0, remaining, block_size, blocks, source_failures, last_failure, keys, evictions';
    return $node->safe_psql($dbname // 'postgres', "SELECT relation, $columns FROM snowid.stat_counters ORDER BY relation::text");
}

my $draws = q(SELECT count(snowid_segment_next('many')), count(snowid_section_next('keys', k)) FROM generate_series(1, 15) AS k);
$node->safe_psql($_, $draws) foreach qw(postgres other);
$source->stop;
is(attempt($node, q(SELECT snowid_segment_next('away'))), 'ERROR 08006', 'a source that is down');
is(rows(), "away|0|0|f|f|0|0|0|1|08006||\nkeys|15|1|t|t||1000|1|||10|5\nmany|15|1|t|t|985|1000|1|0|||", 'counted');
my $others = rows(undef, 'other');
$node->safe_psql('postgres', 'SELECT snowid.reset_stats()');
is(rows(), "away|0|0|f|f|0|0|0|0|||\nkeys|0|0|f|f||1000|1|||10|0\nmany|0|0|f|f|985|1000|1|0|||", 'reset');
is(rows(undef, 'other'), $others, 'another database has its counts');
is(attempt($node, q(SELECT snowid_segment_next('away'))), 'ERROR 08006', 'the source is known to be down');
$node->safe_psql('postgres', $draws);
is(rows('issued, refills, evictions'), "away|0|0|\nkeys|15|0|15\nmany|15|0|", 'counted from there');

# What is counted after the last of many resets is what was drawn since, but for what was drawn beside it.
my @drawing = map { draw($node, q(snowid_segment_next('many')), undef, pause_every => 100) } 1 .. 3;
wait_to_draw(10_000, @drawing);
my $next = q(SELECT snowid_segment_next('many'));
my $first = $node->safe_psql('postgres', $next);
my $session = open_session($node);
ask($session, 'SELECT snowid.reset_stats()') foreach 1 .. 200;
my $after = $node->safe_psql('postgres', $next);
stop_drawing([$node], @drawing);
my $last = $node->safe_psql('postgres', $next);
my $given = $node->safe_psql('postgres', q(SELECT issued FROM snowid.stat_counters WHERE relation = 'many'::regclass));
cmp_ok($given, '>', $last - $after, 'beside resets: no fewer than were drawn since');
cmp_ok($given, '<', $last - $first, 'beside resets: no more');
check_round('beside resets', 15, @drawing);

my $issued = q(SELECT issued FROM snowid.stat_counters WHERE relation = 'keys'::regclass);
$node->safe_psql('postgres', 'SELECT snowid.reset_stats()');
ask($session, q(BEGIN; SELECT count(snowid_section_next('keys', 1)) FROM generate_series(1, 7)));
is($node->safe_psql('postgres', $issued), 7, 'an open transaction counts at once');
ask($session, 'ROLLBACK');
is($node->safe_psql('postgres', $issued), 7, 'and what is rolled back, too');
end_test($node);
