# What no sequence can answer is an error, not a loop nor a number: from a server that speaks the protocol and answers what it is told to, and
# from things on a real one that are no sequence to draw from. No connection is left.
# Runs in make test-all: it has a server for each answer.

use Snowid;
use SnowidFakes;

my ($source, $node) = ready_source({}, node => { conf => "snowid.segment_adapt = off\n" });
my $session = open_session($node);
ask($session, q(SET statement_timeout = '1min'));
sub message { return $_[0] . pack('N', 4 + length $_[1]) . $_[1] }

sub row
{
    my (@values) = @_;
    return message('D', pack('n', scalar @values) . join('', map { defined $_ ? pack('N', length $_) . $_ : pack('N', 0xFFFFFFFF) } @values));
}

# What answers each refill of a client with these rows; or as a statement that gives none, where there is its tag instead.
sub answering
{
    my (@rows) = @_;
    my $tag = @rows && !ref $rows[0] ? shift @rows : undef;
    my $columns = @rows ? scalar @{ $rows[0] } : 7;
    my $ready = message('Z', 'I');
    my $refill = message('T', pack('n', $columns) . join('', map { "c$_\0" . pack('NnNnNn', 0, 0, 25, 0xFFFF, 0xFFFFFFFF, 0) } 1 .. $columns))
      . join('', map { row(@$_) } @rows) . message('C', 'SELECT ' . @rows . "\0") . $ready;
    return sub {
        my ($client) = @_;
        my $get = sub {
            my ($length) = @_;
            my $got = '';
            while (length $got < $length) { $client->sysread($got, $length - length $got, length $got) or return; }
            return $got;
        };
        my $size = $get->(4) // return;
        $get->(unpack('N', $size) - 4);
        $client->syswrite(join '', message('R', pack('N', 0)), (map { message('S', "$_\0") } "client_encoding\0UTF8", "standard_conforming_strings\0on", "server_version\0" . '15.0'), $ready);
        while (defined(my $type = $get->(1)))
        {
            my $query = $get->(unpack('N', $get->(4)) - 4);
            last if $type eq 'X';
            $client->syswrite($query =~ /nextval/ && !defined $tag ? $refill : message('C', ($tag // 'SET') . "\0") . $ready);
        }
        close $client;
    };
}
my $max = '9223372036854775807';
# Identity, where it is behind, first number, blocks, increment, end, whether it was not called.
my @good = ('fake', undef, 1, 1, 10, $max, 'f');
sub good_but { my (%other) = @_; my @row = @good; $row[$_] = $other{$_} foreach keys %other; return \@row }
my $nonsense = [ 'ERROR 08P01', qr/invalid answer from server "central_\d+"\nDETAIL:  [CIT][a-z]+ .*\.$/m ];
my $wrong_columns = [ 'ERROR 08P01', qr/invalid answer from server "central_\d+"\nDETAIL:  / ];
my $falling = [ 'ERROR 55000', qr/sequence "s\d+" on server "central(?:_\d+)?" cycles or counts down/ ];
my $behind = [ 'ERROR 55000', qr/behind sequence "s\d+"\nDETAIL:  Its next block begins at 0,/ ];
# The name of each; the rows that it answers, or what makes a thing called NAME on the real source; what a caller gets, and is told, and what the
# sequence here says then, if not 1.
my @cases = (
    [ 'no block', [ good_but(3 => 0) ], @$nonsense ],
    [ 'fewer than no blocks', [ good_but(3 => -1) ], @$nonsense ],
    [ 'more blocks than asked for', [ good_but(3 => 2) ], @$nonsense ],
    [ 'very many blocks', [ good_but(3 => $max, 4 => 1) ], @$nonsense ],
    [ 'no increment', [ good_but(4 => 0) ], @$nonsense ],
    [ 'above its end', [ good_but(2 => 101, 5 => 100) ], @$nonsense ],
    [ 'a number that is too large', [ good_but(2 => '9223372036854775808') ], @$nonsense ],
    [ 'no number', [ good_but(2 => 'one') ], @$nonsense ],
    [ 'an empty text', [ good_but(3 => '') ], @$nonsense ],
    [ 'two rows', [ \@good, good_but(2 => 11) ], @$nonsense ],
    (map { [ "null in column $_", [ good_but($_ => undef) ], @$nonsense ] } 0, 2 .. 6),
    [ 'an empty identity', [ good_but(0 => '') ], @$nonsense ],
    [ 'a very long identity', [ good_but(0 => 'x' x 64) ], @$nonsense ],
    [ 'the longest identity', [ good_but(0 => 'x' x 63) ], '1', undef, '11' ],
    [ 'behind nowhere', [ good_but(1 => 'x') ], @$nonsense ],
    [ 'behind, and above', [ good_but(1 => 1) ], @$nonsense ],
    [ 'behind', [ good_but(1 => 0) ], @$behind ],
    [ 'below what was given', [ good_but(2 => 0) ], @$behind ],
    [ 'too few columns', [ [ 1, 1 ] ], @$wrong_columns ],
    [ 'too many columns', [ [ @good, 1 ] ], @$wrong_columns ],
    [ 'no columns', ['LISTEN'], @$wrong_columns ],
    [ 'a good one', [ \@good ], '1', undef, '11' ],
    [ 'at its end', [ good_but(2 => $max, 4 => $max) ], $max, undef, $max ],
    [ 'negative', [ good_but(4 => -10) ], @$falling ],
    [ 'no row', [], 'ERROR 42809', qr/"s\d+" is not a sequence on server "central_\d+"/ ],
    [ 'nothing', '', 'ERROR 42P01', qr/relation "s\d+" does not exist/ ],
    [ 'a table', 'CREATE TABLE NAME ()', 'ERROR 42809', qr/"s\d+" is not a sequence on server "central"/ ],
    [ 'one that cycles', 'CREATE SEQUENCE NAME INCREMENT 10 CYCLE', @$falling ],
    [ 'one that counts down', 'CREATE SEQUENCE NAME INCREMENT -10', @$falling ]);
my $count = 0;
foreach my $case (@cases)
{
    my ($name, $answers, $expected, $message, $says) = @$case;
    my $sequence = 's' . ++$count;
    my ($server, $fake) = ref $answers ? ("central_$count", start_fake(answering(@$answers))) : 'central';
    if ($fake)
    {
        my ($host, $port) = ($fake->host, $fake->port);
        ask($session, "CREATE SERVER $server FOREIGN DATA WRAPPER dblink_fdw OPTIONS (host '$host', port '$port', connect_timeout '2'); CREATE USER MAPPING FOR PUBLIC SERVER $server");
    }
    else { $source->safe_psql('postgres', $answers =~ s/NAME/$sequence/r) }
    # What is not seen when it is attached is seen at the first draw.
    my $answer = ask($session, "CREATE SEQUENCE $sequence; SELECT snowid_segment_attach('$sequence', '$server', '$sequence')");
    $answer = ask($session, "SELECT snowid_segment_next('$sequence')") if $answer eq '';
    is($answer, $expected, "$name: $expected") or diag($session->{err});
    like($session->{err}, $message, "$name: says so") if defined $message;
    is(last_value($node, $sequence), $says // '1', "$name: what the sequence says then");
    end_fake($fake) if $fake;
}
check_no_connection($source, 'no connection is left');
end_test($node, $source);
