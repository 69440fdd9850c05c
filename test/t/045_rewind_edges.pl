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
$node->stop;
done_testing();
