# Every SQL example of the README, and of the pages of docs/, runs as it stands there, in order, and gives the results
# that it is said to give: the lines after "-->". What the page on operations quotes of errors is what the sources say.
#
# The examples of a page are one session, as a reader would have it. A comment on the first line, "on NAME",
# says on which of several servers one is run; here they are databases of one server.

use strict;
use warnings;

use File::Basename;
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('readme');
$node->append_conf('postgresql.conf', "timezone = 'UTC'");
$node->start;
my ($host, $port) = ($node->host, $node->port);

# `first` is SQL that a reader has run before.
sub check_page
{
    my ($page, $database, $first) = @_;
    my @examples = slurp_file($page) =~ /^```sql\n(.*?)^```$/msg;
    cmp_ok(scalar(@examples), '>', 4, "$page has examples");
    my ($script, $current, %known, @expected) = ('', '');
    if ($first)
    {
        $node->safe_psql('postgres', "CREATE DATABASE $database");
        $node->safe_psql($database, $first);
        $known{$database} = 1;
    }
    foreach my $example (@examples)
    {
        my $on = $example =~ /\A-- on (\w+)\n/ ? $1 : $database;
        $node->safe_psql('postgres', "CREATE DATABASE $on") unless $known{$on}++;
        $script .= "\\c $on\n" if $on ne $current;
        $current = $on;
        # Servers that a reader would have elsewhere are here.
        my $here = $example =~ s/host '\w+\.example'/host '$host', port '$port'/gr;
        $here =~ s/user '\w+', password '\w+'/user 'postgres'/g;
        # psql, unlike a reader, needs to be told where an example ends.
        $script .= "$here\\echo ==\n";
        push @expected, [ $example =~ /^--> (.*)$/mg ];
    }
    my ($status, $out, $err) = $node->psql('postgres', $script);
    is($status, 0, "$page: the examples run") or diag($err);
    is($err, '', "$page: without a warning");
    my @results = map { [ split /\n/ ] } split /^==\n?/m, $out, -1;
    foreach my $n (0 .. $#examples)
    {
        my ($title) = $examples[$n] =~ /^(.*)$/m;
        # An example that shows no result may have one all the same.
        is_deeply($results[$n], $expected[$n], "$page, results of: $title")
          if @{ $expected[$n] };
    }
    return;
}

# What the sources say: the text of each message, detail and hint, as a pattern, with the SQLSTATEs of the messages.
sub messages_of_sources
{
    my %sqlstate = (LOG_SERVER_ONLY => '');
    open my $codes, '<', `$ENV{PG_CONFIG} --sharedir` =~ s/\n//r . '/errcodes.txt' or die "errcodes.txt: $!";
    while (<$codes>) { $sqlstate{$2} = $1 if /^(\w{5})\s+\w\s+(ERRCODE_\w+)/ }
    close $codes;
    my (%messages, @others);
    foreach my $file (glob 'src/pg/*/*.cpp')
    {
        # An INT64_FORMAT stands between two literals; a file's own names of SQLSTATEs and texts are in it or its room.
        my $text = slurp_file($file) =~ s/"\s*U?INT64_FORMAT\s*"?/%d/gr =~ s/"\s*\n\s*"//gr;
        foreach my $report (split /\bereport\(/, $text)
        {
            my ($code) = $report =~ /\berrcode\((\w+)\)/;
            # All of them, lest a text be sought between two.
            my @texts = map { pattern_of($_) } grep { length > 8 } $report =~ /"((?:[^"\\]|\\.)*)"/g;
            $messages{$_} = $code // 'LOG_SERVER_ONLY' foreach @texts;
            push @others, @texts;
        }
    }
    foreach my $file (glob 'src/pg/*/*.sql')
    {
        my $text = slurp_file($file);
        while ($text =~ /RAISE\s+'((?:[^']|'')*)'[^;]*?ERRCODE = '(\w+)'/g)
        {
            my ($message, $condition) = ($1, $2);
            $messages{ join '.+', map { quotemeta } split /%/, $message =~ s/''/'/gr, -1 } = 'ERRCODE_' . uc $condition;
        }
    }
    return (\%messages, \@others, \%sqlstate);
}

# Of a literal of C, what it prints.
sub pattern_of
{
    my ($literal) = @_;
    my $text = $literal =~ s/\\"/"/gr;
    return join '.+', map { quotemeta } split /%[a-z]+/, $text, -1;
}

sub check_messages
{
    my ($page) = @_;
    my ($messages, $others, $sqlstate) = messages_of_sources();
    $sqlstate->{kClockBehind} = 'SN001';
    my $quoted = 0;
    foreach my $line (slurp_file($page) =~ /^((?:ERROR|LOG|DETAIL|HINT):  .*)$/mg)
    {
        $quoted++;
        my ($severity, $code, $text) = $line =~ /^(\w+):  (?:(\w{5}): )?(.*)$/;
        # Where a message ends in what another function says, %s is at the end: so the whole line has to match.
        my @found = $severity =~ /ERROR|LOG/ ? (grep { $text =~ /^$_$/ } keys %$messages) : (grep { $text =~ /^$_$/ } @$others);
        my @codes = $severity eq 'ERROR' ? (map { $sqlstate->{ $messages->{$_} } // $messages->{$_} } @found) : ();
        ok(@found && ($severity ne 'ERROR' || grep { $_ eq $code } @codes), "$page: $line") or diag("of the sources: @found @codes");
    }
    cmp_ok($quoted, '>', 15, "$page quotes messages");
    return;
}

# What a reader has done before, where the page does not begin with it.
my %before = (
    'README.md'            => '',
    'docs/install.md'      => '',
    'docs/many-servers.md' => '',
    'docs/operations.md'   => 'CREATE EXTENSION snowid; SELECT snowid_release(42)',
);
# Pages without examples in SQL. Those of migrating.md are run under load, by 192.
my %without = map { ("docs/$_.md" => 1) } qw(design guarantees migrating monitoring portable proof);
foreach my $page ('README.md', glob 'docs/*.md')
{
    next if $without{$page};
    check_page($page, lc(basename($page, '.md')) =~ tr/-/_/r, $before{$page} // 'CREATE EXTENSION snowid');
}
is(join(' ', grep { $_ ne 'docs/migrating.md' && slurp_file($_) =~ /^```sql/m } sort keys %without), '', 'no other page has examples');
check_messages('docs/operations.md');
$node->stop;
done_testing();
