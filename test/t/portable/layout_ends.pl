# portable/snowid.sql: a layout's IDs are issued up to its last unit, and from then on it is an error, as it is before the epoch.
# Runs in make test-all: it waits for many draws.

use Snowid;
use Time::HiRes qw(time);
use Time::Local qw(timegm);

my $node = new_server('ends');
start_server($node);
create_portable($node, $_) foreach 'late', 'early';
my $end = timegm(49, 0, 17, 27, 5, 2046) + 0.497;
sub late { my ($sql) = @_; return attempt($node, $sql, dbname => 'late') }
set_clock(timegm(0, 0, 0, 1, 0, 2010) - time, $node);
is(attempt($node, 'SELECT snowid_next(0)', dbname => 'early'), 'ERROR SN001', 'before the epoch');
set_clock(0, $node);
is(attempt($node, 'SELECT snowid_next(0) > 0', dbname => 'early'), 't', 'and after it');

set_clock($end - 1800 - time, $node);
is(late(q(UPDATE snowid.settings SET max_lead = 3600000; SELECT snowid.accept_shard(0, snowid_encode('2046-06-27 17:00:49.400Z', 0, 0)))), '', 'a tenth of a second is left');
is(late('SELECT count(*) FROM snowid_next_batch(0, 50000)'), '50000', 'service to the end');
my $rest = draw($node, 'snowid_next(0)', undef, dbname => 'late');
finish($rest);
is(sqlstate_of(errors_of($rest)), '2200H', 'the time is used up');
my ($drawn, $greatest) = check_round('the last IDs', 0, $rest);
is($greatest, 9223372036854775807 - (8191 << 10), 'the last ID is the greatest of its shard');
set_clock($end + 3600 - time, $node);
is(late("SELECT $_"), 'ERROR 2200H', "past the end: $_") foreach 'snowid_next(0)', 'snowid_next_batch(0, 10)', 'snowid_reserve(0, 10)';
end_test($node);
