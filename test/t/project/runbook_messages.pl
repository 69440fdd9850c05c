# The runbook, docs/runbook.md, is searched for what somebody has read in a client or a log: so each message on it is one that a
# server prints, with its SQLSTATE. Of snowid's the sources are asked; PostgreSQL's own are had of servers.

use Snowid;

my $page = 'docs/runbook.md';

# What the sources say: the text of each message, with "…" for what is filled in, and its SQLSTATEs; and the details and hints.
my (%messages, @others);
my %sqlstate = (LOG_SERVER_ONLY => 'LOG', errcodes());
foreach my $file (glob 'src/pg/{,*/}*.[ch]pp')
{
    # An INT64_FORMAT stands between two literals; a file's own names of SQLSTATEs and texts are in it or its room.
    my $text = slurp_file($file) =~ s/"\s*U?INT64_FORMAT\s*"?/%d/gr =~ s/"\s*\n\s*"//gr;
    foreach my $report (split /\bereport\(/, $text)
    {
        my ($code) = $report =~ /\berrcode\((\w+)\)/;
        # All of them, lest a text be sought between two. A detail may be another message, as a sentence.
        my @texts = map { s/\\"/"/gr =~ s/%[a-z]+/…/gr } grep { length > 8 } $report =~ /"((?:[^"\\]|\\.)*)"/g;
        push @{ $messages{$_} }, $sqlstate{ $code // 'LOG_SERVER_ONLY' } // $code foreach @texts;
        push @others, @texts, map { ucfirst "$_." } @texts;
    }
}
foreach my $text (map { slurp_file($_) } glob 'src/pg/{,*/}*.sql')
{
    my @raised = $text =~ /RAISE\s+'((?:[^']|'')*)'[^;]*?ERRCODE = '(\w+)'/g;
    while (my ($message, $condition) = splice @raised, 0, 2)
    {
        push @{ $messages{ $message =~ s/''/'/gr =~ s/%/…/gr } }, $sqlstate{ 'ERRCODE_' . uc $condition };
    }
    push @others, map { s/''/'/gr =~ s/%s?/…/gr } $text =~ /\b(?:DETAIL|HINT) = (?:format\()?'((?:[^']|'')*)'/g;
}

# What is filled in of a text may be anything.
sub pattern_of { return join '.+', map { quotemeta } split /…/, $_[0], -1 }

# What servers print: severity, SQLSTATE and message. Those of a library that is gone, and of a full disk or /dev/shm,
# runbook_server.pl has servers print.
my @printed;
sub note_printed { push @printed, [ $1, $2 // '', $3 ] while $_[0] =~ /(ERROR|FATAL|PANIC|LOG|WARNING):  (?:(\w{5}): )?(.*)/g; return }
note_printed($_) foreach map({ qq(ERROR:  58P01: could not access file "$_": No such file or directory) } '$libdir/snowid', 'snowid'),
  'PANIC:  53100: could not write to file "pg_wal/…": No space left on device',
  'ERROR:  53100: could not resize shared memory segment "/PostgreSQL.1": No space left on device';

my $node = ready_server('messages', allows_streaming => 1, sql => 'CREATE DATABASE bare; CREATE ROLE app;'
      . ' CREATE ROLE reader LOGIN SUPERUSER; ALTER ROLE reader SET default_transaction_read_only = on');
add_source($node, $node, name => 'registry');
$node->safe_psql('postgres', q(SELECT snowid.join('registry', 'berlin')));
my $standby = new_standby($node, 'standby');
$standby->start;
note_printed(printed_by($standby, 'postgres', 'SELECT snowid_next()'));
$standby->stop;
note_printed(printed_by($node, @$_)) foreach [ 'postgres', q(CREATE SEQUENCE s; SELECT snowid_segment_attach('s', 'registry', 'public.nosuch')) ], [ 'bare', 'SELECT snowid_next()' ], [ 'postgres', 'SET ROLE app; SELECT snowid.advance_past(now())' ],
  [ 'postgres', q(UPDATE snowid_internal.registry_identities SET identity = 'before'; UPDATE snowid_internal.nodes SET token = 1, exchange = 0; SELECT snowid.check_node()) ],
  [ 'postgres', 'ALTER SERVER registry OWNER TO app; SELECT snowid.check_node()' ],
  [ 'postgres', 'ALTER SERVER registry OWNER TO CURRENT_USER; DROP USER MAPPING FOR PUBLIC SERVER registry; SELECT snowid.check_node()' ],
  map({ [ 'postgres', "DROP USER MAPPING IF EXISTS FOR PUBLIC SERVER registry; CREATE USER MAPPING FOR PUBLIC SERVER registry OPTIONS (user '$_'); SELECT snowid.check_node()" ] } 'nosuch', 'reader');
$node->stop;

# The messages in blocks of code. Where one ends in what another function says, it is at the end: so the whole line has to match.
my @quoted = slurp_file($page) =~ /^((?:ERROR|WARNING|LOG|DETAIL|HINT):  .*)$/mg;
foreach my $line (@quoted)
{
    my ($severity, $code, $text) = $line =~ /^(\w+):  (?:(\w{5}): )?(.*)$/;
    next if $severity eq 'ERROR' && grep { $_->[1] eq $code && $_->[2] eq $text } @printed;
    my @found = grep { $text =~ /^@{[ pattern_of($_) ]}$/ } $severity =~ /DETAIL|HINT/ ? @others : keys %messages;
    my @codes = map { @{ $messages{$_} // [] } } @found;
    ok(@found && ($severity ne 'ERROR' || grep { $_ eq $code } @codes), $line) or diag("of the sources: @found @codes");
}
cmp_ok(scalar(@quoted), '>', 2, 'messages are quoted');

# Those in the table by which an entry is found: the beginning of one, after its SQLSTATEs or its severity.
my $named = 0;
foreach my $entry (messages_of($page))
{
    my $text = $entry->{text};
    my %code = map { $_ => 1 } @{ $entry->{codes} };
    $named++;
    my $pattern = pattern_of($text);
    my @found = grep { $_->[2] =~ /^(?:.*: )?$pattern/ } @printed;
    foreach my $message (grep { /^$pattern/ || $text =~ /^@{[ pattern_of($_) ]}$/ } keys %messages)
    {
        push @found, map { [ '', $_, $message ] } @{ $messages{$message} };
    }
    ok((grep { $code{ $_->[0] } || $code{ $_->[1] } } @found), "where to look: @{ $entry->{codes} }, $text") or diag(join "\n", map { "@$_" } @found);
}
cmp_ok($named, '>', 15, 'messages are named');
done_testing();
