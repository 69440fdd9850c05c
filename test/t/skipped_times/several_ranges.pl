# Times of a clock that jumps twice and falls back in two steps, of one that passes times that are known, and of up to 32 ranges are each kept
# apart and stepped over; a range that is past by a day goes at the next call.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use SnowidSkippedTimes;

my $node = start_skipping('ranges');
my $count = 'SELECT count(*) FROM snowid.skipped_times';

# With a start in between, and shards that begin below a ceiling that is ahead already: all of it is in the rows.
new_database('steps');
foreach my $at (7200, 86_400, 3600)
{
    set_clock($at);
    at('steps', "SET synchronous_commit = on; SET snowid.max_lead = '1d'; INSERT INTO ids SELECT snowid_next($at / 100)");
}
crash_and_start($node, 'kill', 0);
my $steps = $node->safe_psql('steps', q(SELECT string_agg(id::text, E'\n') FROM ids));
check_stated('steps', 'two jumps, two steps back');
check_by_clock('steps', 'by the clock');
is($node->safe_psql('steps', $count), 3, 'steps: each is a range of its own');
foreach my $at (3600, 3500, 7200, 43_200, 86_400)
{
    set_clock($at);
    check_apart("steps: at $at s", $steps, at('steps', 'SELECT snowid_next(s) FROM unnest(ARRAY[36, 72, 864, 1]) AS s'));
    check_by_clock('steps', "at $at s: by the clock") if $at == 43_200;
}

# A wrong clock passes a known range, which does not end with a millisecond.
restart_at(0);
new_database('passed');
check_stated('passed', 'stated', ahead(3600, 7200.0005));
set_clock(36_000);
at('passed', 'INSERT INTO ids SELECT snowid_next(1)');
set_clock(0);
check_stated('passed', 'what came after');
check_by_clock('passed', 'by the clock');
is($node->safe_psql('passed', $count), 2, 'passed: both are known');

# While a range is stepped over, another is refused that begins where IDs may have come to.
restart_at(0);
new_database('second');
check_stated('second', 'stated', ahead(60, 660));
set_clock(300);
at('second', 'SELECT snowid_next(1)');
is(answer_to('second', ahead(550, 560)), 'ERROR 22023', 'second: refused');
check_stated('second', 'one beyond', ahead(5000, 5010));
set_clock(4100);
is(answer_to('second', "(SELECT tstzmultirange(tstzrange(lower(skipped) + interval '1 s', now() + interval '1 year')) FROM snowid.skipped_times LIMIT 1)"),
    'ERROR 22023', 'second: a range that begins in a known one, and holds the present');
is(answer_to('second', '(SELECT range_agg(skipped) FROM snowid.skipped_times) + ' . ahead(1000, 2000)), 'stated', 'second: what is known may be stated again');

restart_at(0);
new_database('many');
sub days { return join ' + ', map { ahead($_ * 86_400 - 3600, $_ * 86_400) } @_ }
is(answer_to('many', days(1 .. 33)), 'ERROR 22023', 'many: more than there is room for');
check_stated('many', 'as many as there is room for', days(1 .. 32));
is(answer_to('many', days(40)), 'ERROR 22023', 'many: not one more');
set_clock(3.5 * 86_400);
check_stated('many', 'when some are past', days(30 .. 31));
is($node->safe_psql('many', "$count WHERE upper(skipped) < now(); $count"), "1\n32", 'many: what is past by less than a day stays');
check_by_clock('many', 'by the clock');
set_clock(4 * 86_400 - 3601);
is(at('many', q(SELECT snowid_timestamp(snowid_next(1)) > now() + interval '1 min')), 't', 'many: the next one is stepped over');
end_test($node);
