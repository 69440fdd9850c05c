# snowid.rewind() at its edges: times near the present are neither taken for the right clock's nor left out, whatever
# lead a session allows itself; a clock that goes back a little at a wild time has callers wait, not refused; a range
# that holds the present is refused, also where it begins in one that is known; a clock that has passed a known range
# can be told of.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use SnowidRewinding;
use Test::More;

my $node = start_rewinding('edges');
sub ahead { my @at = map { "clock_timestamp() + interval '$_ s'" } @_; return "tstzmultirange(tstzrange($at[0], $at[1]))" }

# 1. IDs of the wrong clock that are nine seconds ahead, then an hour; a crash, so that no slot tells of them.
make('near');
set_clock(100 + 9);
my $near = at('near', 'INSERT INTO ids SELECT snowid_next(1) FROM generate_series(1, 2000) RETURNING id');
set_clock(3600);
at('near', 'INSERT INTO ids SELECT snowid_next(1)');
crash($node, 'kill');
set_clock(100);
start_server($node);
is(say_wild('near'), 'ERROR 22023', 'near: what begins within ten seconds cannot be told');
is(at('near', 'SELECT snowid_next(1)'), 'ERROR SN001', 'near: nothing has happened');
set_clock(115);
told('near', 'told when the clock has passed it');
foreach my $lead ('0', '1s', '20d')
{
    set_clock(109) if $lead eq '20d';
    check_apart("near, lead $lead", $near, at('near', "SET snowid.max_lead = '$lead'; SELECT snowid_next(1) FROM generate_series(1, 2000)"));
}

# 2. A clock that goes back a little where slots have been lifted.
set_clock(0);
$node->stop;
start_server($node);
make('back');
told('back', 'told', ahead(100, 4000));
set_clock(91);
is(at('back', "SELECT snowid_timestamp(snowid_next(1)) > clock_timestamp() + interval '1 h'"), 't', 'back: lifted');
set_clock(89.5);
is(at('back', "SELECT snowid_timestamp(snowid_next(1)) > clock_timestamp() + interval '1 h'"), 't', 'back: not refused');

# 3. A range that holds the present.
set_clock(4100);
is(say_wild('back', "(SELECT tstzmultirange(tstzrange(lower(wild) + interval '1 s', now() + interval '1 year')) FROM snowid.rewinds)"),
    'ERROR 22023', 'back: a range that begins in a known one, and holds now');
is(say_wild('back', '(SELECT range_agg(wild) FROM snowid.rewinds) + ' . ahead(1000, 2000)), 'told', 'back: what is known may be told again');
goes_on('back', 'by the clock');

# 4. A wrong clock passes a known range, which does not end with a millisecond.
set_clock(0);
$node->stop;
start_server($node);
make('passed');
told('passed', 'told', ahead(3600, 7200.0005));
set_clock(36_000);
at('passed', 'INSERT INTO ids SELECT snowid_next(1)');
set_clock(0);
told('passed', 'told of what came after');
goes_on('passed', 'by the clock');
is($node->safe_psql('passed', 'SELECT count(*) FROM snowid.rewinds'), 2, 'passed: both are known');

# 5. A ceiling that is beyond a range already does not let the quick path into it.
set_clock(0);
make('beyond');
told('beyond', 'told', ahead(60, 120));
$node->safe_psql('beyond', "SELECT snowid_next(1); SET snowid.max_lead = '1h'; SELECT snowid_advance(snowid_encode(now() + interval '200 s', 9, 0))");
my $from = $node->safe_psql('beyond', 'SELECT extract(epoch FROM lower(wild)) FROM snowid.rewinds');
stop_clock($from + 1, $node);
at('beyond', 'INSERT INTO ids SELECT snowid_next(1)');
is($node->safe_psql('beyond', 'SELECT count(*) FROM ids, snowid.rewinds WHERE wild @> snowid_timestamp(id)'), 0, 'beyond: no ID in it');

# 6. A lead that reaches a range before the clock does: no unit of time is issued that has a part in it, and the last one
# before it is no reason to try without end. The clock stands.
my $sparse = 'time:41 shard:18 seq:4 unit:1ms epoch:2020-01-01T00:00:00Z';
set_clock(0);
$node->stop;
start_server($node);
make('lead');
$node->safe_psql('lead', 'CREATE TABLE drawn (id bigint PRIMARY KEY)');
told('lead', 'told', ahead(3600.0003, 3700));
$from = $node->safe_psql('lead', 'SELECT extract(epoch FROM lower(wild)) FROM snowid.rewinds');
stop_clock($from - 10.3, $node);
my $far = "SET snowid.max_lead = '1h'; SET snowid.max_wait = 0; INSERT INTO drawn SELECT";
at('lead', "$far snowid_reserve(1, 16, '$sparse') FROM generate_series(1, 10290)");
foreach (1 .. 30)
{
    last if at('lead', "$far snowid_next_batch(1, 24, '$sparse')") =~ /^ERROR/;
}
is(at('lead', "$far snowid_next(1, '$sparse')"), 'ERROR SN001', 'lead: refused at the range');
is($node->safe_psql('lead', "SELECT count(*) FROM drawn, snowid.rewinds WHERE wild && tstzrange(snowid_timestamp(id, '$sparse'), snowid_timestamp(id, '$sparse') + interval '1 ms')"),
    0, 'lead: no unit that has a part in it');

# 7. While a range is stepped over, another one is refused that begins where IDs may have come to.
set_clock(0);
$node->stop;
start_server($node);
make('second');
told('second', 'told', ahead(60, 660));
set_clock(300);
at('second', 'SELECT snowid_next(1)');
is(say_wild('second', ahead(550, 560)), 'ERROR 22023', 'second: refused');
told('second', 'told of one beyond', ahead(5000, 5010));
check_log($node);
$node->stop;
done_testing();
