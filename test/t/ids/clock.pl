# A clock that is set back or forward under a running server: a little goes unnoticed, seconds are waited for, more is refused
# at once; IDs increase through all of it. A shard that has issued nothing goes by the clock. Before the layout's epoch there
# are no IDs.

use Snowid;
use Time::Local qw(timegm);

my $node = ready_server('clock', databases => ['early']);

# Whoever would have to wait is refused; whoever waits before he is refused is cancelled.
my $no_wait = 'SET snowid.max_wait = 0';
my $at_once = q(SET statement_timeout = '1min'; SET snowid.max_wait = '10min');

my $last = 0;
foreach (
    # What happens; how far the clock is from the right one, in seconds; settings; the SQLSTATE, where it is refused.
    [ 'a first ID', 0, $no_wait ],
    [ '200 ms back: nobody waits', -0.2, $no_wait ],
    [ '200 ms more: nobody waits', -0.4, $no_wait ],
    [ 'right again', 0, $no_wait ],
    [ '3 s back: callers wait', -3, '' ],
    [ 'right again', 0, '' ],
    [ '1 h back: refused at once', -3600, $at_once, 'SN001' ],
    [ 'right again', 0, $no_wait ],
    [ '2 s forward', 2, $no_wait ],
    [ 'and back: callers wait', 0, '' ],
    [ '1 h forward', 3600, $no_wait ],
    [ 'and back: there is a wait', 0, $no_wait, 'SN001' ],
    [ 'and back: refused at once', 0, $at_once, 'SN001' ],
    [ 'a superuser may let it run ahead', 0, "SET snowid.max_lead = '2h'; $no_wait" ])
{
    my ($name, $offset, $settings, $state) = @$_;
    set_clock($offset);
    my $answer = attempt($node, "$settings; SELECT snowid_next(1)");
    if ($state) { is($answer, "ERROR $state", $name); next }
    like($answer, qr/^\d+$/, $name) or next;
    cmp_ok($answer, '>', $last, "$name: above those of before");
    $last = $answer;
}

is(attempt($node, "$at_once; SELECT $_"), 'ERROR SN001', "refused at once: $_") foreach 'snowid_next_batch(1, 10)', 'snowid_reserve(1, 10)';
is(attempt($node, "$no_wait; SELECT snowid_next(2) > 0"), 't', 'a shard that has issued nothing goes by the clock');

set_clock(timegm(0, 0, 0, 1, 0, 2010) - time);
is(attempt($node, 'SELECT snowid_next(0)', dbname => 'early'), 'ERROR SN001', 'before the epoch');
set_clock(0);
is(attempt($node, 'SELECT snowid_next(0) > 0', dbname => 'early'), 't', 'and after it');
end_test($node);
