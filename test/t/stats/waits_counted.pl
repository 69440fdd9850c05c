# snowid.stat_database counts each caller that waits for the clock once, and for how long while it waits; the greatest lead is what was seen.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('waits');
sub database { return $node->safe_psql('postgres', "SELECT $_[0] FROM snowid.stat_database") }
sub logged { return scalar(() = slurp_file($node->logfile) =~ /LOG:  a caller has waited for the clock/g) }

set_clock(7200, $node);
$node->safe_psql('postgres', 'SELECT snowid_next(5)');
# The clock goes on, or no timeout of the server would come.
set_clock(0, $node);
is(attempt($node, q(SET snowid.max_wait = '1d'; SET statement_timeout = '200ms'; SELECT snowid_next(5))), 'ERROR 57014', 'a wait that is canceled');
is(database('waits'), 1, 'is counted');
my @waiting = draw($node, 'snowid_next(5)', 1, setup => q(SET snowid.max_wait = '1d'));
wait_for(sub { database('waits, wait_time >= 1000') eq '2|t' }, 'a wait to be counted while it lasts');
wait_for(sub { logged() == 1 }, 'the log to tell of a wait of over a second');
push @waiting, draw($node, 'snowid_next(5)', 1, setup => q(SET snowid.max_wait = '1d'));
wait_for(sub { database('waits, wait_time >= 3000') eq '3|t' }, 'two to wait');
my $now = int time;
stop_clock($now + 7300, $node);
finish(@waiting);
is((check_round('the clock is right', 0, @waiting))[0], 2, 'both get an ID');
is(database('waits'), 3, 'each is counted once');
is(logged(), 1, 'the log is told once a minute');
like(slurp_file($node->logfile), qr/DETAIL:  The next ID of shard 5 of layout "instagram" is (?:\d+ ms|\d\d:\d\d:\d\d) ahead/, 'with figures');

stop_clock($now + 7280, $node);
is(attempt($node, q(SET snowid.max_lead = '1h'; SELECT count(*) FROM snowid_next_batch(5, 2000000))), '2000000', 'IDs ahead of the clock');
is(database('max_lead >= 20000, max_lead <= (SELECT lead FROM snowid.stat_shards WHERE shard = 5)'), 't|t', 'the greatest lead');
end_test($node);
