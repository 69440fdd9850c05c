# snowid.stat_database counts steps of the clock back, each once and whoever sees it, and errors of callers; the lead of a shard is how far
# its next ID is ahead. The log, and no client, is told once a minute.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('steps', databases => ['lasting']);
my $lasting = open_session($node, dbname => 'lasting');
my $now = int(time);
my ($refused, $steps) = (0, 0);
sub at { return stop_clock($now + $_[0], $node) }
sub of_shard { return $node->safe_psql('postgres', "SELECT $_[0] FROM snowid.stat_shards WHERE shard = $_[1]") }
sub logged { return scalar(() = slurp_file($node->logfile) =~ /LOG:  $_[0]/g) }

# A call at a time of the clock: what it is answered, and how many more steps and errors are counted.
sub check
{
    my ($name, $time, $call, $answer, %more) = @_;
    at($time);
    is(attempt($node, "SELECT $call"), $answer, "$name: $answer");
    $steps += $more{steps} // 0;
    $refused += $more{refused} // 0;
    is($node->safe_psql('postgres', 'SELECT backward_clock_steps, errors FROM snowid.stat_database'), "$steps|$refused", "$name: steps back, errors");
    return;
}

my $next = 'snowid_next(5) > 0';
check('a clock that stands still', 100, $next, 't');
check('2 ms back is noise', 99.998, $next, 't');
check('250 ms back', 99.75, $next, 't', steps => 1);
check('250 ms back, again', 99.75, $next, 't');
is(of_shard('lead', 5), 250, 'the lead');
check('250 ms more', 99.5, $next, 't', steps => 1);
is(logged('the clock moved backward by 250 ms or more'), 1, 'the log tells by how much, once a minute');
ask($lasting, 'SELECT snowid_next(5)');
at(99.25);
ask($lasting, 'SELECT snowid_next(5)');
is(ask($lasting, 'SELECT backward_clock_steps FROM snowid.stat_database'), 1, 'seen by a session that has drawn before');
close_session($lasting);
check('forward', 200, $next, 't');
is(of_shard('lead, last_time = clock_timestamp()', 5), '0|t', 'no lead');
check('an hour back', -3600, $next, 'ERROR SN001', steps => 1, refused => 1);
check('an hour back, again', -3600, $next, 'ERROR SN001', refused => 1);
is(of_shard('issued, lead', 5), '6|3800000', 'an error is no ID');
is(logged('a caller got an error instead of an ID of shard 5 of layout "instagram"'), 1, 'the log is told of the first');
like(slurp_file($node->logfile), qr/DETAIL:  The clock is 01:03:20 behind the next ID. Errors in this database so far: 1[.]/, 'with figures');
check('what has no shard', -7200, 'snowid_uuidv7()', 'ERROR SN001', steps => 1, refused => 1);
my (undef, undef, $heard) = $node->psql('postgres', 'SET client_min_messages = log; SELECT snowid_next(5)');
$refused++;
unlike($heard, qr/LOG:  (?!statement)/, 'no client is told');
check('releasing', -7200, 'snowid.release_shard(6) > 0', 't');
check('a released shard', -7200, 'snowid_next(6)', 'ERROR 55000', refused => 1);
is(of_shard('issued, last_id IS NULL, lead', 6), '0|t|0', 'a released shard has no last ID');
check('an exhausted layout', -7200, q(snowid_next(0, 'baidu')), 'ERROR 2200H', refused => 1);
is(of_shard('issued', 0), 0, 'an exhausted layout has issued nothing');
end_test($node);
