# A clock that was beyond the end of a layout, and a ceiling that was set to its end by hand, are undone by stating the times. A released shard
# stays released.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use SnowidSkippedTimes;

my $node = start_skipping('end');
new_database('released');
$node->safe_psql('released', 'SELECT snowid.release_shard(8)');
set_clock(25 * 365 * 86_400);
$node->safe_psql('released', q(SELECT snowid_next(1, 'twitter')));
is(at('released', 'SELECT snowid_next(1)'), 'ERROR 2200H', 'beyond the end of a layout');
restart_at(0);
is(at('released', "SELECT snowid_next($_)"), $_ == 8 ? 'ERROR 55000' : 'ERROR 2200H', "shard $_, after a start") foreach 8, 1;
check_stated('released', '25 years', ahead(3600, 26 * 365 * 86_400));
check_by_clock('released', 'where the layout was exhausted');
is(at('released', 'SELECT snowid_next(8)'), 'ERROR 55000', 'a released shard stays so');
crash_and_start($node, 'kill');
is(at('released', 'SELECT snowid_next(8)'), 'ERROR 55000', 'also after a crash');

new_database('setval');
$node->safe_psql('setval', q(SELECT setval('snowid_internal.ceiling', 253402300799999)));
restart_at(0);
like(at('setval', 'SELECT snowid_next(1)'), qr/^ERROR (SN001|2200H)$/, 'setval: no more IDs');
check_stated('setval', 'undone', "'{[9000-01-01,)}'");
check_by_clock('setval', 'undone');
end_test($node);
