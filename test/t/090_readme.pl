# Every SQL example of the README, and of the page on many servers, runs as it stands there, in order, and
# gives the results that it is said to give: the lines after "-->".
#
# The examples of a page are one session, as a reader would have it. A comment on the first line, "on NAME",
# says on which of several servers one is run; here they are databases of one server.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('readme');
$node->append_conf('postgresql.conf', "timezone = 'UTC'");
$node->start;
my ($host, $port) = ($node->host, $node->port);

sub check_page
{
    my ($page, $database) = @_;
    my @examples = slurp_file($page) =~ /^```sql\n(.*?)^```$/msg;
    cmp_ok(scalar(@examples), '>', 9, "$page has examples");
    my ($script, $current, %known, @expected) = ('', '');
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

check_page('README.md', 'readme');
check_page('docs/many-servers.md', 'many');
$node->stop;
done_testing();
