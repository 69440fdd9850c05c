# snowid_stat_reset() has the counts of segments and sections begin anew: of this database alone, beside
# sessions that draw, and without a number lost or given twice. What is, and not counted, stays.
#
# Runs in make test-all: sessions draw for long.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $source = new_server('source');
$source->start;
$source->safe_psql('postgres', 'CREATE SEQUENCE there INCREMENT 100');
my $node = new_server('node');
$node->append_conf('postgresql.conf', "snowid.section_keys = 10\n");
$node->start;
add_source($node, $source);
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql($_, 'CREATE EXTENSION IF NOT EXISTS snowid; CREATE SEQUENCE many INCREMENT 1000; CREATE SEQUENCE keys INCREMENT 1000')
  foreach qw(postgres other);
$node->safe_psql('postgres', q(CREATE SEQUENCE away; SELECT snowid_segment_attach('away', 'central', 'there')));

my $columns = q(given, refills, refill_time > 0, max_refill_time > 0, remaining, block_size, blocks, source_failures,
  last_failure, last_failure_at IS NULL, keys, evictions);

sub rows
{
    my ($columns, %options) = @_;
    return $node->safe_psql($options{dbname} // 'postgres',
        "SELECT relation, $columns FROM snowid.stat_counters ORDER BY relation::text");
}

my $draws = q(SELECT count(snowid_segment_next('many')), count(snowid_section_next('keys', k)) FROM generate_series(1, 15) AS k);
$node->safe_psql($_, $draws) foreach qw(postgres other);
$source->stop;
is(attempt($node, q(SELECT snowid_segment_next('away'))), 'ERROR 08006', 'a source that fails');
is(rows($columns), <<'ROWS' =~ s/\n$//r, 'counts');
away|0|0|f|f|0|0|0|1|08006|f||
keys|15|1|t|t||1000|1|||t|10|5
many|15|1|t|t|985|1000|1|0||t||
ROWS
my $others = rows($columns, dbname => 'other');
$node->safe_psql('postgres', 'SELECT snowid_stat_reset()');
is(rows($columns), <<'ROWS' =~ s/\n$//r, 'are zero, and the rest is as it was');
away|0|0|f|f|0|0|0|0||t||
keys|0|0|f|f||1000|1|||t|10|0
many|0|0|f|f|985|1000|1|0||t||
ROWS
is(rows($columns, dbname => 'other'), $others, 'those of another database are not');
is(attempt($node, q(SELECT snowid_segment_next('away'))), 'ERROR 08006', 'the source is not forgotten to be down');
$node->safe_psql('postgres', $draws);
is(rows('given, refills, evictions'), "away|0|0|\nkeys|15|0|15\nmany|15|0|", 'counted on from there');

# Beside sessions that draw: what was given before and after the last of many resets is what all have drawn.
my @drawing = map { draw($node, q(snowid_segment_next('many')), undef, pause_every => 100) } 1 .. 3;
wait_to_draw(10_000, @drawing);
my $first = $node->safe_psql('postgres', q(SELECT snowid_segment_next('many')));
my $session = open_session($node);
ask($session, 'SELECT snowid_stat_reset()') foreach 1 .. 200;
my $after = $node->safe_psql('postgres', q(SELECT snowid_segment_next('many')));
stop_drawing([$node], @drawing);
my $last = $node->safe_psql('postgres', q(SELECT snowid_segment_next('many')));
my $given = $node->safe_psql('postgres', q(SELECT given FROM snowid.stat_counters WHERE relation = 'many'::regclass));
cmp_ok($given, '>', $last - $after, 'no fewer than were drawn since');
cmp_ok($given, '<', $last - $first, 'and no more');
check_round('beside resets', 15, @drawing);

# In an open transaction what a session has drawn from a section counts for after the reset.
ask($session, q(BEGIN; SELECT count(snowid_section_next('keys', 1)) FROM generate_series(1, 7)));
$node->safe_psql('postgres', 'SELECT snowid_stat_reset()');
ask($session, 'COMMIT');
is($node->safe_psql('postgres', q(SELECT given FROM snowid.stat_counters WHERE relation = 'keys'::regclass)), 7, 'an open transaction');
close_session($session);
check_log($node);
$node->stop;
done_testing();
