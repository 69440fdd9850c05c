# The runbook, docs/runbook.md, followed word by word: servers print the messages of its entries, numbers and times aside, and what
# it says to do helps. Here the entries on clocks, layouts, shards and sequences; runbook_nodes.pl has those on nodes. Its statements
# are pasted into databases that have the extension in another schema, and other settings of DateStyle and TimeZone.
# Runs in make test-all: it takes each step of the page.

use POSIX 'strftime';
use Snowid;

my $page = 'docs/runbook.md';
my $node = ready_server('runbook', conf => "timezone = 'UTC'\nlog_timezone = 'UTC'\nlog_error_verbosity = verbose\n");
foreach my $dbname (qw(late other copied))
{
    $node->safe_psql('postgres', "CREATE DATABASE $dbname");
    next if $dbname eq 'late';
    $node->safe_psql($dbname, 'CREATE SCHEMA "Odd one"; CREATE EXTENSION snowid SCHEMA "Odd one"');
    $node->safe_psql('postgres', "ALTER DATABASE $dbname SET $_") foreach "DateStyle = 'German'", "TimeZone = 'Asia/Kolkata'";
}
$node->safe_psql('late', 'CREATE EXTENSION snowid');
$node->safe_psql('postgres', q(ALTER DATABASE copied SET search_path = ''));
sub try_in { my ($dbname, $sql) = @_; return attempt($node, $sql, dbname => $dbname) }

# What the page has each session begin with, and then the statements.
my ($begin, $check) = blocks_of($page, 'Before you paste');
sub paste_into { my ($dbname, $sql) = @_; return try_in($dbname, "$begin$sql") =~ s/\At\n?//r }

is(printed_by($node, 'postgres', 'SELECT snowid_next(0)'), '', 'all is well');
is(paste_into($_, $check), 't|0|', "$_: all is well") foreach 'postgres', 'other', 'copied';
set_clock(-50);
is(paste_into('postgres', $check), 'f|0|', 'the ceiling is not near');
leads_to($page, 'The clock went back', printed_by($node, 'postgres', 'SELECT snowid_next(0)'));
set_clock(0);
my $used_up = 'A layout is exhausted';
leads_to($page, $used_up, printed_by($node, 'postgres', q(SELECT snowid_next(0, 'baidu'))));
my $from = -s $node->logfile;
set_clock($node->safe_psql('late', q(SELECT floor(extract(epoch FROM expires_at - now())) - 100 * 86400 FROM snowid.layouts WHERE name = 'instagram')));
is(printed_by($node, 'late', 'SELECT snowid_next(0)'), '', 'a hundred days before the end');
set_clock(0);
my ($expires) = map { s/ … /.*/r } section_of($page, $used_up) =~ /`(ID layout … [^`]*)`/;
like(slurp_file($node->logfile, $from), qr/LOG:  00000: $expires$/m, 'the log warns');

$node->safe_psql('postgres', q(SELECT snowid.release_shard(42, moved_to => 'cairo')));
my $released = printed_by($node, 'postgres', 'SELECT snowid_next(42)');
leads_to($page, 'A closed shard', $released);
like($released, qr/^DETAIL:  .* since \d{4}-.*cairo$/m, 'the time, and the server it moved to');
my ($accept) = grep { /^SELECT snowid.accept_shard/ } blocks_of($page, 'A closed shard');
my $layout = 'time:41 shard:16 seq:7 unit:1ms epoch:2026-01-01T00:00:00Z';
paste_into('other', "SELECT snowid.release_shard(42, '$layout')");
is(paste_into('other', $accept), '', 'a shard of another layout is accepted');
is(paste_into('other', "SELECT snowid_shard(snowid_next(42, '$layout'), '$layout')"), '42', 'and is open');

# Long units of time: with patience it waits; or IDs may run ahead.
my ($replication, $long) = ('docs/replication.md', 'Long units of time');
my $far = q(SELECT snowid.advance_past(clock_timestamp() + interval '12 s'));
has_lines($replication, $long, 'ERROR', printed_by($node, 'postgres', $far));
my $waiting = open_session($node);
my ($patience) = (blocks_of($replication, $long))[0] =~ /^(SET .*);$/m;
ask($waiting, $patience);
start_waiting($waiting, $far, 'Extension');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($waiting->{backend})");
is(answer($waiting), 'ERROR 57014', 'with patience it waits');
close_session($waiting);
follow($node, '', grep { /snowid.max_lead/ } blocks_of($replication, $long));
wait_for(sub { $node->safe_psql('postgres', q(LOAD 'snowid'; SHOW snowid.max_lead)) eq '70min' }, 'the setting');
$node->safe_psql('postgres', $_) foreach said_in($replication, $long, 'ALTER SYSTEM RESET snowid.max_lead'), 'SELECT pg_reload_conf()';
wait_for(sub { $node->safe_psql('postgres', q(LOAD 'snowid'; SHOW snowid.max_lead)) eq '1s' }, 'the setting');

my $enlarge = said_in('docs/monitoring.md', 'SnowidSequenceRunsOut', 'ALTER SEQUENCE orders_seq AS bigint NO MAXVALUE;');
$node->safe_psql('other', q(CREATE SEQUENCE orders_seq AS integer; SELECT setval('orders_seq', 2147483647)));
like(printed_by($node, 'other', q(SELECT "Odd one".snowid_segment_next('orders_seq'))), qr/ERROR:  2200H: reached maximum value of sequence/, 'used up');
is(paste_into('other', "$enlarge SELECT snowid_segment_next('orders_seq')"), '2147483648', 'and enlarged');

# Times of a fast clock are stated with nobody connected; those that are yet to come can be given to another database. The limit of
# connections is as before, also if the call fails.
my $jumped = 'The clock jumped forward';
my ($list, $state, $ranges) = blocks_of($page, $jumped);
my ($since, $until) = map { strftime('%Y-%m-%d %H:%MZ', gmtime time + $_ * 86400) } 20, 21;
is(scalar($state =~ s/'FROM', 'TO'/'$since', '$until'/), 1, 'the first and last time of the fast clock');
like(section_of($page, $jumped), qr/such as\s+`\d{4}-\d\d-\d\d \d\d:\d\dZ`/, 'are written so');
$node->safe_psql('other', q(CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT "Odd one".snowid_next(7));
    CREATE TABLE readings (id bigint PRIMARY KEY DEFAULT "Odd one".snowid_next(0, 'baidu'))));
is(paste_into('other', $list), join("\n", $list =~ /^--> (.*)$/mg), 'the columns with IDs');
# It is further ahead just after it was raised, and would be a range of its own.
wait_for(sub { paste_into('other', q(SELECT snowid_ceiling() < clock_timestamp() + interval '1900 ms')) eq 't' }, 'the ceiling to be near');
my $connected = open_session($node, dbname => 'other');
ask($connected, 'SELECT 1');
$node->safe_psql('postgres', "ALTER DATABASE $_ CONNECTION LIMIT 17") foreach 'late', 'other';
my ($status, $out, $err) = $node->psql('late', "\\set VERBOSITY verbose\n$begin" . $state =~ s/snowid\.future_times.*?\+ (?=tstzm)//sr, on_error_stop => 0);
like($err, qr/ERROR:  22023: /, 'the ceiling is in no range');
is(paste_into('other', $state), "t\n", 'what the fast clock showed is stated, after the session was ended');
is($node->safe_psql('postgres', "SELECT datconnlimit FROM pg_database WHERE datname = '$_'"), '17', "$_: the limit is restored") foreach 'late', 'other';
close_session($connected);
my $verify = said_in($page, $jumped, 'SELECT * FROM snowid.skipped_times');
my $shown = sprintf('["%s","%s"]', $since, $until) =~ s/Z/:00+00/gr;
is(paste_into('other', $verify), $shown, 'the range is shown');
my $given = paste_into('other', $ranges);
like($given, qr/^\{\[.+\}$/, 'ranges that are yet to come');
my $return = "SELECT snowid.return_to_clock('$given')";
is(try_in('copied', $return), '', 'are given to another database, whatever its DateStyle');
is(paste_into('copied', $verify), paste_into('other', $verify), 'and are the same there');
set_clock(20.5 * 86400);
is(paste_into('other', $ranges), '', 'but not one that has begun');
is(try_in('postgres', $return), 'ERROR 22023', 'which is refused');
set_clock(0);
my $other = open_session($node, dbname => 'copied');
ask($other, 'SELECT 1');
like(printed_by($node, 'copied', $return), qr/ERROR:  55006: database "copied" is being accessed by other sessions/, 'somebody is connected');
end_test($node);
