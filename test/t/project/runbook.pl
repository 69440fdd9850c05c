# The runbook, docs/operations.md, followed word by word: servers print the messages of its entries, numbers and times aside, and what
# it says to do helps. Here the entries on clocks, layouts, shards and sequences; runbook_nodes.pl has those on nodes.
#
# Runs in make test-all: it takes each step of the page.

use Snowid;

my $page = 'docs/operations.md';
my $node = ready_server('runbook', conf => "timezone = 'UTC'\nlog_timezone = 'UTC'\nlog_error_verbosity = verbose\n");
foreach my $dbname (qw(late other copied))
{
    $node->safe_psql('postgres', "CREATE DATABASE $dbname");
    $node->safe_psql($dbname, 'CREATE EXTENSION snowid');
}
sub try_in { my ($dbname, $sql) = @_; return attempt($node, $sql, dbname => $dbname) }

my $error = 'ERROR|DETAIL|HINT';
is(printed_by($node, 'postgres', 'SELECT snowid_next(0)'), '', 'all is well');
set_clock(-50);
has_lines($page, 'The clock went back', $error, printed_by($node, 'postgres', 'SELECT snowid_next(0)'));
set_clock(0);
my $used_up = 'A layout is used up';
has_lines($page, $used_up, $error, printed_by($node, 'postgres', q(SELECT snowid_next(0, 'baidu'))));
my $from = -s $node->logfile;
set_clock($node->safe_psql('late', q(SELECT floor(extract(epoch FROM expires_at - now())) - 100 * 86400 FROM snowid.layouts WHERE name = 'instagram')));
is(printed_by($node, 'late', 'SELECT snowid_next(0)'), '', 'a hundred days before the end');
set_clock(0);
has_lines($page, $used_up, 'LOG', slurp_file($node->logfile, $from) =~ s/00000: //gr);

# A closed shard, also of another layout.
$node->safe_psql('postgres', q(SELECT snowid.release_shard(42, moved_to => 'cairo')));
has_lines($page, 'A closed shard', $error, printed_by($node, 'postgres', 'SELECT snowid_next(42)'));
my ($accept) = grep { /^SELECT snowid.accept_shard/ } blocks_of($page, 'A closed shard');
my $layout = 'time:41 shard:16 seq:7 unit:1ms epoch:2026-01-01T00:00:00Z';
$node->safe_psql('other', "SELECT snowid.release_shard(42, '$layout')");
is(try_in('other', $accept), '', 'a shard of another layout is accepted');
is(try_in('other', "SELECT snowid_shard(snowid_next(42, '$layout'), '$layout')"), '42', 'and is open');

# Long units of time: with patience it waits; or IDs may run ahead.
my $long = 'Long units of time';
my $far = q(SELECT snowid.advance_past(clock_timestamp() + interval '12 s'));
has_lines($page, $long, 'ERROR', printed_by($node, 'postgres', $far));
my $waiting = open_session($node);
backend_of($waiting);
ask($waiting, said_in($page, $long, q(SET snowid.max_wait = '1min')));
start_asking($waiting, $far);
wait_until_waiting($node, $waiting, 'Extension');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($waiting->{backend})");
is(answer($waiting), 'ERROR 57014', 'with patience it waits');
close_session($waiting);
follow($node, '', grep { /snowid.max_lead/ } blocks_of($page, $long));
wait_for(sub { $node->safe_psql('postgres', q(LOAD 'snowid'; SHOW snowid.max_lead)) eq '70min' }, 'the setting');
$node->safe_psql('postgres', $_) foreach said_in($page, $long, 'ALTER SYSTEM RESET snowid.max_lead'), 'SELECT pg_reload_conf()';
wait_for(sub { $node->safe_psql('postgres', q(LOAD 'snowid'; SHOW snowid.max_lead)) eq '1s' }, 'the setting');

# A sequence that is used up.
my $enlarge = said_in('docs/monitoring.md', 'SnowidSequenceRunsOut', 'ALTER SEQUENCE orders_seq AS bigint NO MAXVALUE;');
$node->safe_psql('other', q(CREATE SEQUENCE orders_seq AS integer; SELECT setval('orders_seq', 2147483647)));
like(printed_by($node, 'other', q(SELECT snowid_segment_next('orders_seq'))), qr/ERROR:  2200H: reached maximum value of sequence/, 'used up');
is(try_in('other', "$enlarge SELECT snowid_segment_next('orders_seq')"), '2147483648', 'and enlarged');

# Ranges of wild times: those that are yet to come can be given to another database.
my $wild = 'The clock jumped forward';
my $ranges = said_in($page, $wild, q(SELECT range_agg(skipped) FROM snowid.skipped_times WHERE lower(skipped) > clock_timestamp() + interval '10 s'));
my ($state) = grep { /tstzrange/ } blocks_of($page, $wild);
$state =~ s/'2026[^']*', '[^']*'/now() + interval '20 d', now() + interval '21 d'/;
$node->safe_psql('other', 'CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(7))');
# It is further ahead just after it was raised, and would be a range of its own.
wait_for(sub { $node->safe_psql('other', q(SELECT snowid_ceiling() < clock_timestamp() + interval '1900 ms')) eq 't' }, 'the ceiling to be near');
is(try_in('other', $state), '', 'what the wrong clock showed is stated');
my $given = try_in('other', $ranges);
like($given, qr/^\{\[.+\}$/, 'ranges that are yet to come');
my $return = "SELECT snowid.return_to_clock('$given')";
is(try_in('copied', $return), '', 'are given to another database');
set_clock(20.5 * 86400);
is(try_in('other', $ranges), '', 'but not one that has begun');
is(try_in('postgres', $return), 'ERROR 22023', 'which is refused');
set_clock(0);
my $other = open_session($node, dbname => 'copied');
ask($other, 'SELECT 1');
like(printed_by($node, 'copied', $return), qr/ERROR:  55006: database "copied" is being accessed by others/, 'somebody is connected');
close_session($other);
$node->stop;
done_testing();
