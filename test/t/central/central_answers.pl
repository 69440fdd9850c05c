# What a central source answers is not taken on trust: what no sequence can answer is an error, not a loop nor a number.
# The encodings of the two databases do not matter. Nobody on the source can hold refills up by the advisory lock that they
# try for, nor have its role run anything. A source that is read-only is called so. Where it is, the log says, and no client
# is told.
#
# Runs in make test-all: it has a source that lies, and is slow, in all ways.

use strict;
use warnings;

use IO::Socket::UNIX;
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $source = new_server('source', allows_streaming => 1);
$source->append_conf('postgresql.conf', "log_statement = 'all'\n");
$source->start;
my $node = new_server('node');
$node->append_conf('postgresql.conf', "snowid.segment_adapt = off\n");
$node->start;
add_source($node, $source);
my $admin = open_session($node);
ask($admin, q(SET statement_timeout = '1min'));

# Makes a sequence there, with the options given, and says what attaches one here to it.
sub attach_to
{
    my ($sequence, $options) = @_;
    $source->safe_psql('postgres', "DROP SEQUENCE IF EXISTS $sequence; CREATE SEQUENCE $sequence $options");
    return "SELECT snowid_segment_attach('$sequence', 'central', '$sequence')";
}
sub batch { return ask($admin, "SELECT string_agg(n::text, ' ') FROM snowid_segment_batch('$_[0]', $_[1]) AS n") }

# 1. Anybody there can hold the lock that refills try for.
ask($admin, 'CREATE SEQUENCE locked');
ask($admin, attach_to('locked', 'INCREMENT 2'));
my $oid = $source->safe_psql('postgres', q(SELECT 'locked'::regclass::oid));
my $holder = open_session($source);
ask($holder, "SELECT pg_advisory_lock((1936617335::bigint << 32) | $oid)");
is(batch('locked', 6), '1 2 3 4 5 6', 'the lock is held by another');
# And they do hold it.
ask($holder, 'SELECT pg_advisory_unlock_all(); BEGIN; ALTER SEQUENCE locked INCREMENT 3');
ask($admin, q(SELECT setval('locked', last_value, is_called) FROM locked));
start_asking($admin, q(SELECT snowid_segment_next('locked')));
wait_for(sub {
    $source->safe_psql('postgres', "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = $oid AND granted") eq '1';
}, 'a refill to have the lock');
ask($holder, 'ROLLBACK');
unlike(answer($admin), qr/ERROR/, 'a refill has the lock');

# The options of the sequence there change while a refill waits for it.
ask($admin, 'CREATE SEQUENCE altered; SET snowid.segment_adapt = on');
ask($admin, attach_to('altered', 'INCREMENT 100'));
ask($holder, 'BEGIN; ALTER SEQUENCE altered INCREMENT 5');
start_asking($admin, q(SELECT string_agg(n::text, ' ') FROM snowid_segment_batch('altered', 12) AS n));
wait_for_waiting($source, 1, 'Lock', 'nextval');
ask($holder, 'COMMIT');
my %drawn = map { $_ => 1 } split / /, answer($admin);
is(scalar(keys %drawn), 12, 'it gets its numbers');
my @there = map { $source->safe_psql('postgres', q(SELECT nextval('altered'))) } 1 .. 5;
is(scalar(grep { $drawn{$_} } @there), 0, 'which the sequence there does not give again') or diag("@there");

# Operators that anybody may have made on the source, for all operands that a refill could have.
my @types = qw(numeric bigint integer oid regclass);
my ($made, $traps) = (0, '');
foreach my $name (qw(* - = | << / + <))
{
    foreach my $left (@types)
    {
        foreach my $right (@types)
        {
            my $result = $name =~ /[=<]$/ && $name ne '<<' ? 'boolean' : 'numeric';
            my $value = $result eq 'boolean' ? 'true' : '1::numeric';
            $traps .= <<"SQL";
CREATE FUNCTION trap_$made($left, $right) RETURNS $result LANGUAGE sql
  AS \$\$ INSERT INTO ran VALUES ('$name'); SELECT $value \$\$;
CREATE OPERATOR public.$name (FUNCTION = trap_$made, LEFTARG = $left, RIGHTARG = $right);
SQL
            $made++;
        }
    }
}
$source->safe_psql('postgres', "CREATE TABLE ran (operator text); $traps");
ask($admin, 'CREATE SEQUENCE trapped');
ask($admin, attach_to('trapped', 'INCREMENT 100'));
is(batch('trapped', 1), '1', 'a refill with operators of others in its way');
is($source->safe_psql('postgres', 'SELECT count(*) FROM ran'), '0', 'of which none was run');
is($source->safe_psql('postgres', 'SELECT count(*) FROM pg_operator WHERE oprnamespace = $$public$$::regnamespace'),
    $made, 'though they were all there');
close_session($holder);

# 2. What sources answer, real ones and a server that speaks the protocol and answers what it is told to, and what a
# caller gets. First such a server.
my $socket_dir = PostgreSQL::Test::Utils::tempdir_short();
sub message { return $_[0] . pack('N', 4 + length $_[1]) . $_[1] }
sub row
{
    my (@values) = @_;
    return message('D', pack('n', scalar @values)
          . join('', map { defined $_ ? pack('N', length $_) . $_ : pack('N', 0xFFFFFFFF) } @values));
}

# Those that run, which are not to outlive the test.
my %fakes;
END { kill 'KILL', keys %fakes }

# Serves one connection after another, each refill with these rows; or as a statement that gives none, where there
# is its tag instead.
sub fake
{
    my ($port, @rows) = @_;
    my $listener = IO::Socket::UNIX->new(Local => "$socket_dir/.s.PGSQL.$port", Listen => 10) // die $@;
    my $process = fork // die $!;
    if ($process)
    {
        $fakes{$process} = 1;
        return $process;
    }
    # Some releases have a test that is ended stop its servers, which are not this process's.
    $SIG{TERM} = 'DEFAULT';
    %fakes = ();
    my $tag = @rows && !ref $rows[0] ? shift @rows : undef;
    my $columns = @rows ? scalar @{ $rows[0] } : 7;
    my $description = message('T', pack('n', $columns)
          . join('', map { "c$_\0" . pack('NnNnNn', 0, 0, 25, 0xFFFF, 0xFFFFFFFF, 0) } 1 .. $columns));
    while (my $client = $listener->accept)
    {
        my $ready = message('Z', 'I');
        my $get = sub {
            my ($length) = @_;
            my $got = '';
            while (length $got < $length) { $client->sysread($got, $length - length $got, length $got) or return; }
            return $got;
        };
        my $size = $get->(4) // next;
        $get->(unpack('N', $size) - 4);
        $client->syswrite(message('R', pack('N', 0)) . message('S', "client_encoding\0UTF8\0")
              . message('S', "standard_conforming_strings\0on\0") . message('S', "server_version\0" . "15.0\0") . $ready);
        while (defined(my $type = $get->(1)))
        {
            my $query = $get->(unpack('N', $get->(4)) - 4);
            last if $type eq 'X';
            my $is_refill = $query =~ /nextval/ && !defined $tag;
            $client->syswrite($is_refill
                ? $description . join('', map { row(@$_) } @rows) . message('C', 'SELECT ' . @rows . "\0") . $ready
                : message('C', ($tag // 'SET') . "\0") . $ready);
        }
        close $client;
    }
    require POSIX;
    POSIX::_exit(0);
}
my $max = '9223372036854775807';
# The source, and where it is behind.
my @is = ('fake', undef);
my $good = [ @is, 1, 1, 10, $max, 'f' ];
# What no sequence can answer.
my $nonsense = [ 'ERROR 08P01', qr/invalid answer from server "central_\d+"\nDETAIL:  [CIT][a-z]+ .*\.$/m ];
my $wrong_columns = [ 'ERROR 08P01', qr/invalid answer from server "central_\d+"\nDETAIL:  / ];
my $falling = [ 'ERROR 55000', qr/sequence "s\d+" on server "central(?:_\d+)?" cycles or counts down/ ];
# The name of each; the rows that it answers, or what makes a thing called NAME on the real source; what a caller
# gets, and is told, and what the sequence here says then, if not 1.
my @cases = (
    [ 'no block', [ [ @is, 1, 0, 10, $max, 'f' ] ], @$nonsense ],
    [ 'fewer than no blocks', [ [ @is, 1, -1, 10, $max, 'f' ] ], @$nonsense ],
    [ 'more blocks than asked for', [ [ @is, 1, 2, 10, $max, 'f' ] ], @$nonsense ],
    [ 'very many blocks', [ [ @is, 1, $max, 1, $max, 'f' ] ], @$nonsense ],
    [ 'no increment', [ [ @is, 1, 1, 0, $max, 'f' ] ], @$nonsense ],
    [ 'above its end', [ [ @is, 101, 1, 10, 100, 'f' ] ], @$nonsense ],
    [ 'a number that is too large', [ [ @is, '9223372036854775808', 1, 10, $max, 'f' ] ], @$nonsense ],
    [ 'no number', [ [ @is, 'one', 1, 10, $max, 'f' ] ], @$nonsense ],
    [ 'an empty text', [ [ @is, 1, '', 10, $max, 'f' ] ], @$nonsense ],
    [ 'two rows', [ $good, [ @is, 11, 1, 10, $max, 'f' ] ], @$nonsense ],
    (map { my @row = @$good; $row[$_] = undef; [ "null in column $_", [ \@row ], @$nonsense ] } 0, 2 .. 6),
    [ 'an empty identity', [ [ '', undef, 1, 1, 10, $max, 'f' ] ], @$nonsense ],
    [ 'a very long identity', [ [ 'x' x 64, undef, 1, 1, 10, $max, 'f' ] ], @$nonsense ],
    [ 'the longest identity', [ [ 'x' x 63, undef, 1, 1, 10, $max, 'f' ] ], '1', undef, '11' ],
    [ 'behind nowhere', [ [ 'fake', 'x', 1, 1, 10, $max, 'f' ] ], @$nonsense ],
    [ 'behind, and above', [ [ 'fake', 1, 1, 1, 10, $max, 'f' ] ], @$nonsense ],
    [ 'behind', [ [ 'fake', 0, 1, 1, 10, $max, 'f' ] ], 'ERROR 55000', qr/behind sequence "s\d+"\nDETAIL:  Its next block begins at 0,/ ],
    [ 'below what was given', [ [ @is, 0, 1, 10, $max, 'f' ] ], 'ERROR 55000', qr/behind sequence "s\d+"\nDETAIL:  Its next block begins at 0,/ ],
    [ 'too few columns', [ [ 1, 1 ] ], @$wrong_columns ],
    [ 'too many columns', [ [ @$good, 1 ] ], @$wrong_columns ],
    [ 'no columns', ['LISTEN'], @$wrong_columns ],
    [ 'a good one', [$good], '1', undef, '11' ],
    [ 'at its end', [ [ @is, $max, 1, $max, $max, 'f' ] ], $max, undef, $max ],
    [ 'negative', [ [ @is, 1, 1, -10, $max, 'f' ] ], @$falling ],
    [ 'no row', [], 'ERROR 42809', qr/"s\d+" is not a sequence on server "central_\d+"/ ],
    [ 'nothing', '', 'ERROR 42P01', qr/relation "s\d+" does not exist/ ],
    [ 'a table', 'CREATE TABLE NAME ()', 'ERROR 42809', qr/"s\d+" is not a sequence on server "central"/ ],
    [ 'one that cycles', 'CREATE SEQUENCE NAME INCREMENT 10 CYCLE', @$falling ],
    [ 'one that counts down', 'CREATE SEQUENCE NAME INCREMENT -10', @$falling ]);
my $port = 1;
foreach my $case (@cases)
{
    my ($name, $answers, $expected, $message, $says) = @$case;
    my $sequence = 's' . ++$port;
    my $server = ref $answers ? "central_$port" : 'central';
    my $process = ref $answers ? fake($port, @$answers) : undef;
    if ($process)
    {
        ask($admin, "CREATE SERVER $server FOREIGN DATA WRAPPER dblink_fdw"
              . " OPTIONS (host '$socket_dir', port '$port', connect_timeout '2');"
              . " CREATE USER MAPPING FOR PUBLIC SERVER $server");
    }
    else
    {
        $source->safe_psql('postgres', $answers =~ s/NAME/$sequence/r);
    }
    # What is not seen when it is attached is seen at the first draw.
    ask($admin, "CREATE SEQUENCE $sequence");
    my $answer = ask($admin, "SELECT snowid_segment_attach('$sequence', '$server', '$sequence')");
    $answer = ask($admin, "SELECT snowid_segment_next('$sequence')") if $answer eq '';
    is($answer, $expected, "$name: $expected") or diag($admin->{err});
    like($admin->{err}, $message, "$name: says so") if defined $message;
    is(last_value($node, $sequence), $says // '1', "$name: what the sequence says then");
    if ($process)
    {
        kill 'TERM', $process;
        waitpid $process, 0;
        delete $fakes{$process};
        next;
    }
    check_no_connection($source, "$name: no connection is left");
}

# The source's end, and the end here.
ask($admin, 'CREATE SEQUENCE ending INCREMENT 1000; CREATE SEQUENCE short MAXVALUE 1005');
ask($admin, attach_to('ending', 'INCREMENT 10 MAXVALUE 35'));
sub check_end
{
    my ($name, $sequence, $end) = @_;
    foreach my $attempt (1 .. 2)
    {
        is(batch($sequence, 1), 'ERROR 2200H', "$name: then an error");
        like($admin->{err}, qr/reached maximum value of sequence "$sequence" \($end\)/, "$name: says so");
    }
    return;
}
is(batch('ending', 35), join(' ', 1 .. 35), 'MAXVALUE there: all numbers are handed out');
check_end('MAXVALUE there', 'ending', 35);
$source->safe_psql('postgres', 'ALTER SEQUENCE ending MAXVALUE 1000');
is(batch('ending', 1), '41', 'MAXVALUE there: raised');
ask($admin, attach_to('short', 'INCREMENT 10 START 991'));
is(batch('short', 15), join(' ', 991 .. 1005), 'MAXVALUE here: numbers up to it');
check_end('MAXVALUE here', 'short', 1005);
is(ask($admin, q(SELECT snowid_segment_detach('short'))), '', 'MAXVALUE here: detached');
is(batch('short', 1), 'ERROR 2200H', 'MAXVALUE here: there is nothing above it');

# What a restart would skip: an eighth of what is left, there or here, though more would be allocated ahead.
ask($admin, 'CREATE SEQUENCE ends_there; CREATE SEQUENCE ends_here MAXVALUE 1000; CREATE SEQUENCE endless');
ask($admin, $_) foreach attach_to('ends_there', 'MAXVALUE 1000'), attach_to('ends_here', ''), attach_to('endless', '');
foreach my $sequence (qw(ends_there ends_here endless))
{
    is(ask($admin, "SELECT max(snowid_segment_next('$sequence')) FROM generate_series(1, 600)"), '600', "$sequence: 600 numbers");
    my $allocated = last_value($source, $sequence);
    my $is_near = $allocated >= 600 && $allocated <= 600 + 400 / 8;
    ok($sequence eq 'endless' ? $allocated > 1000 : $is_near, "$sequence: up to $allocated are allocated there");
    next if $sequence eq 'endless';
    ask($admin, "SELECT setval('$sequence', last_value, is_called) FROM $sequence");
    my $next = ask($admin, "SELECT snowid_segment_next('$sequence')");
    is($next, $allocated + 1, "$sequence: goes on above that");
    is(ask($admin, "SELECT max(snowid_segment_next('$sequence')) FROM generate_series($next + 1, 1000)"), '1000', "$sequence: to the end");
    check_end($sequence, $sequence, 1000);
}
check_no_connection($source, 'no connection is left');

ask($admin, 'SET snowid.segment_adapt = off');

# 3. A source that is read-only, for the user or as a standby, and one of several hosts that is not.
ask($admin, 'CREATE SEQUENCE unread');
ask($admin, attach_to('unread', 'INCREMENT 10'));
sub check_read_only
{
    my ($name, $when) = @_;
    is(batch('unread', 1), 'ERROR 25006', "$name: refused");
    like($admin->{err}, qr/server "central" is read-only\nDETAIL:  cannot execute \w+\(\) $when\nHINT:  .*target_session_attrs 'read-write'/,
        "$name: and told so");
    return;
}
$source->safe_psql('postgres', 'ALTER ROLE postgres SET default_transaction_read_only = on');
check_read_only('a user', 'in a read-only transaction');
$source->safe_psql('postgres', 'SET default_transaction_read_only = off; ALTER ROLE postgres RESET default_transaction_read_only');
my $standby = new_standby($source, 'standby');
$standby->start;
$source->wait_for_catchup($standby);
point_at($node, $standby);
check_read_only('a standby', 'during recovery');
my @hosts = map { my $what = $_; join ',', map { $_->$what } $standby, $source } qw(host port);
ask($admin, "ALTER SERVER central OPTIONS (SET host '$hosts[0]', SET port '$hosts[1]', ADD target_session_attrs 'read-write')");
is(batch('unread', 1), '1', 'several hosts: the one that is not a standby gives numbers');
ask($admin, 'ALTER SERVER central OPTIONS (DROP target_session_attrs)');
point_at($node, $source);
$standby->stop;

# 4. Encodings that differ. Each database's sequence begins above the one before.
my @encodings = qw(SQL_ASCII UTF8 LATIN1);
my $create = q(CREATE DATABASE %1$s ENCODING '%1$s' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C');
my $start = 1;
foreach my $encoding (@encodings)
{
    $_->safe_psql('postgres', sprintf($create, $encoding)) foreach $node, $source;
    $source->safe_psql(lc $encoding, "CREATE SEQUENCE there INCREMENT 10 START $start");
    $start += 1000;
    add_source($node, $source, dbname => lc $encoding);
    $node->safe_psql(lc $encoding, q(CREATE SEQUENCE here));
}

foreach my $encoding (@encodings)
{
    my $session = open_session($node, dbname => lc $encoding);
    is(ask($session, 'SHOW server_encoding'), $encoding, "$encoding here");
    foreach my $there (@encodings)
    {
        ask($session, sprintf(q(ALTER SERVER central OPTIONS (SET dbname '%s')), lc $there));
        is(ask($session, q(SELECT snowid_segment_attach('here', 'central', 'there'))), '', "$encoding here, $there there: attached");
        like(ask($session, q(SELECT snowid_segment_next('here'))), qr/^\d+$/, "$encoding here, $there there: a number");
    }
    close_session($session);
}

# 5. What a client is told of a source that is down, and the log.
ask($admin, 'CREATE SEQUENCE quiet');
ask($admin, attach_to('quiet', 'INCREMENT 100'));
ask($admin, q(SELECT snowid_segment_batch('quiet', 2)));
$source->stop;
my $from = -s $node->logfile;
my ($answer, $told) = ('', '');
foreach my $level ('log', 'debug5')
{
    ask($admin, "SET client_min_messages = $level");
    wait_for(sub {
        $answer = ask($admin, q(SELECT snowid_segment_next('quiet')));
        $told .= $admin->{err};
        return $answer =~ /ERROR/ || slurp_file($node->logfile, $from) =~ /could not allocate numbers/;
    }, 'the source to be missed');
}
wait_for(sub {
    $answer = ask($admin, q(SELECT snowid_segment_next('quiet')));
    $told .= $admin->{err};
    return $answer eq 'ERROR 08006';
}, 'an error');
my $host = $source->host;
unlike($told, qr/\Q$host\E/, 'no client is told where it is');
like(slurp_file($node->logfile, $from), qr/LOG:  could not allocate numbers from server "central" for sequence "quiet"\n.*DETAIL:.*\Q$host\E/,
    'the log is');
close_session($admin);
check_log($node);
$node->stop;
done_testing();
