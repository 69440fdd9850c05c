# What a central source answers is not taken on trust: numbers that were given here before are skipped, or
# the source is refused as behind; and what no sequence can answer is an error, not a loop nor a number.
# Nobody on the source can hold refills up by the advisory lock that they try for. A source that is read-only is
# called so. Where the source is, the log says, and no client is told.

use strict;
use warnings;

use IO::Socket::UNIX;
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $source = new_server('source', allows_streaming => 1);
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

# 1. Numbers that were given here before.
ask($admin, 'CREATE SEQUENCE ship');
is(batch('ship', 5), '1 2 3 4 5', 'its own numbers');
ask($admin, attach_to('ship', ''));
my $next = q(SELECT snowid_segment_next('ship'));
my $answer;
wait_for(sub { ($answer = ask($admin, $next)) ne 'ERROR 55000' }, 'the source to get there');
cmp_ok($answer, '>', 5, 'attached to a source that is behind: none of them again');

ask($admin, 'CREATE SEQUENCE boat INCREMENT 1000000000');
is(batch('boat', 3), '1 2 3', 'its own numbers');
ask($admin, attach_to('boat', 'INCREMENT 5'));
my $boat = q(SELECT snowid_segment_next('boat'));
is(ask($admin, $boat), 'ERROR 55000', 'a source that is far behind');
like($admin->{err}, qr/sequence "boat" on server "central" is behind sequence "boat"\n/, 'says so');
like($admin->{err}, qr/DETAIL:  It gave \d+, and here the numbers up to 1000000000 count as given\.\nHINT:  Use setval\(\) there to set it above 1000000000\./,
    'and by how much');
my $there = last_value($source, 'boat');
my @callers = map { open_session($node) } 1 .. 3;
my $began = time;
is(ask($callers[ $_ % 3 ], $boat), 'ERROR 55000', "caller $_ is told") foreach 1 .. 12;
# One in a second may try, for at most twice as many as the one before.
cmp_ok(last_value($source, 'boat'), '<=', $there + 5 * 2**(time - $began + 3), 'and few have tried');
$source->safe_psql('postgres', q(SELECT setval('boat', 1000000000)));
wait_for(sub { ($answer = ask($admin, $boat)) ne 'ERROR 55000' }, 'the source to be tried again');
is($answer, '1000000005', 'set right it serves');
# As soon as the numbers given here are less.
$source->safe_psql('postgres', q(SELECT setval('boat', 1)));
ask($admin, q(SELECT setval('boat', 50000000)));
is(ask($admin, $boat), 'ERROR 55000', 'set back it is behind');
ask($admin, q(SELECT setval('boat', 1, false)));
like(ask($admin, $boat), qr/^\d+$/, 'unless the sequence here is, too');

# Some of a refill are above.
ask($admin, 'CREATE SEQUENCE part');
ask($admin, attach_to('part', 'INCREMENT 10'));
ask($admin, q(SET snowid.segment_adapt = on));
is(batch('part', 20), join(' ', 1 .. 20), 'allocated at a rate');
$there = last_value($source, 'part');
ask($admin, "SELECT setval('part', $there + 24)");
is(ask($admin, q(SELECT snowid_segment_next('part'))), $there + 30, 'blocks that begin at what was given are skipped');
ask($admin, q(SET snowid.segment_adapt = off));

# The sequence here is at its end, which is no fault of the source's, nor has that to give more.
ask($admin, 'CREATE SEQUENCE ending INCREMENT 100 MAXVALUE 30');
ask($admin, attach_to('ending', 'INCREMENT 10'));
is(batch('ending', 30), join(' ', 1 .. 30), 'up to the end');
$there = last_value($source, 'ending');
is(ask($admin, q(SELECT snowid_segment_next('ending'))), 'ERROR 2200H', 'at its end') foreach 1 .. 3;
is(last_value($source, 'ending'), $there, 'and asks for no more');

# Detached, going on by itself, and attached anew.
ask($admin, 'CREATE SEQUENCE back INCREMENT 25');
ask($admin, attach_to('back', 'INCREMENT 10 START 1001'));
my %seen;
$seen{$_}++ foreach split / /, batch('back', 90);
ask($admin, q(SELECT snowid_segment_detach('back')));
$seen{$_}++ foreach split / /, batch('back', 300);
ask($admin, q(SELECT snowid_segment_attach('back', 'central', 'back')));
foreach my $draw (1 .. 100)
{
    $answer = batch('back', 1);
    $seen{$answer}++ if $answer ne 'ERROR 55000';
}
is(scalar(grep { $seen{$_} > 1 } keys %seen), 0, 'detached and attached anew: none twice');

# Lowered before it is attached: what was handed out counts, whatever INCREMENT is.
ask($admin, 'CREATE SEQUENCE low INCREMENT 1000');
is(batch('low', 3), '1 2 3', 'a large INCREMENT');
ask($admin, 'ALTER SEQUENCE low INCREMENT 1');
ask($admin, attach_to('low', 'START 2'));
wait_for(sub { ($answer = batch('low', 1)) ne 'ERROR 55000' }, 'the source to get there');
cmp_ok($answer, '>', 3, 'lowered and attached: none again');

# Its own INCREMENT is larger than that there. After a restart only the sequence knows what was given.
ask($admin, 'CREATE SEQUENCE wide INCREMENT 1000');
ask($admin, attach_to('wide', 'INCREMENT 10'));
is(batch('wide', 30), join(' ', 1 .. 30), 'a larger INCREMENT here');
close_session($admin, @callers);
$node->restart;
$admin = open_session($node);
my $reached = last_value($source, 'wide');
is(batch('wide', 3), join(' ', $reached + 10, $reached + 11, $reached + 12), 'goes on after a restart');

# 2. Anybody there can hold the lock that refills try for.
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

# 3. A server that speaks the protocol, and answers what it is told to.
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
    my $columns = @rows ? scalar @{ $rows[0] } : 5;
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
my @answers = (
    [ 'no block', [ 1, 0, 10, $max, 'f' ] ],
    [ 'fewer than no blocks', [ 1, -1, 10, $max, 'f' ] ],
    [ 'more blocks than asked for', [ 1, 2, 10, $max, 'f' ] ],
    [ 'very many blocks', [ 1, $max, 1, $max, 'f' ] ],
    [ 'no increment', [ 1, 1, 0, $max, 'f' ] ],
    [ 'above its end', [ 101, 1, 10, 100, 'f' ] ],
    [ 'a number that is too large', [ '9223372036854775808', 1, 10, $max, 'f' ] ],
    [ 'no number', [ 'one', 1, 10, $max, 'f' ] ],
    [ 'an empty text', [ 1, '', 10, $max, 'f' ] ],
    [ 'two rows', [ 1, 1, 10, $max, 'f' ], [ 11, 1, 10, $max, 'f' ] ]);
push @answers, map { my $row = [ 1, 1, 10, $max, 'f' ]; $row->[$_] = undef; [ "null in column $_", $row ] } 0 .. 4;
my $port = 1;
foreach my $case (@answers, [ 'a good one', [ 1, 1, 10, $max, 'f' ] ], [ 'negative', [ 1, 1, -10, $max, 'f' ] ],
    [ 'no row' ], [ 'at its end', [ $max, 1, $max, $max, 'f' ] ], [ 'too few columns', [ 1, 1 ] ],
    [ 'too many columns', [ 1, 1, 10, $max, 'f', 1 ] ], [ 'no columns', 'LISTEN' ])
{
    my ($name, @rows) = @$case;
    my $process = fake(++$port, @rows);
    ask($admin, "CREATE SERVER fake$port FOREIGN DATA WRAPPER dblink_fdw OPTIONS (host '$socket_dir', port '$port', connect_timeout '2')");
    ask($admin, "CREATE USER MAPPING FOR PUBLIC SERVER fake$port; CREATE SEQUENCE s$port; SELECT snowid_segment_attach('s$port', 'fake$port', 's')");
    my $got = ask($admin, "SELECT snowid_segment_next('s$port')");
    my $expected = { 'a good one' => '1', 'negative' => 'ERROR 55000', 'no row' => 'ERROR 42809',
        'at its end' => $max }->{$name} // 'ERROR 08P01';
    is($got, $expected, "$name: $expected") or diag($admin->{err});
    my $what = $name =~ /columns/ ? 'with the columns asked for' : 'as a server with sequence "s" does';
    like($admin->{err}, qr/server "fake$port" has not answered $what/, "$name: says so") if $expected eq 'ERROR 08P01';
    is(last_value($node, "s$port"), { 'a good one' => '11', 'at its end' => $max }->{$name} // '1', "$name: what the sequence says then");
    kill 'TERM', $process;
    waitpid $process, 0;
    delete $fakes{$process};
}

# 4. A source that is read-only, for the user or as a standby, and one of several hosts that is not.
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

# 5. What a client is told of a source that is down, and the log.
ask($admin, 'CREATE SEQUENCE quiet');
ask($admin, attach_to('quiet', 'INCREMENT 100'));
ask($admin, q(SELECT snowid_segment_batch('quiet', 2)));
$source->stop;
my $from = -s $node->logfile;
my $told = '';
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
close_session($admin, $holder);
check_log($node);
$node->stop;
done_testing();
