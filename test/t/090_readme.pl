# Every SQL example of the README runs as it stands there, in order, and gives the results that it is
# said to give: the lines after "-->".

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('readme');
$node->append_conf('postgresql.conf', "timezone = 'UTC'");
$node->start;

my $readme = slurp_file('README.md');
my @examples = $readme =~ /^```sql\n(.*?)^```$/msg;
cmp_ok(scalar(@examples), '>', 9, 'the README has examples');

# They are one session, as a reader would have it.
my ($script, @expected) = ('');
foreach my $example (@examples)
{
    # psql, unlike a reader, needs to be told where an example ends.
    $script .= "$example\\echo ==\n";
    push @expected, [ $example =~ /^--> (.*)$/mg ];
}
my ($status, $out, $err) = $node->psql('postgres', $script);
is($status, 0, 'the examples run') or diag($err);
is($err, '', 'without a warning');
my @results = map { [ split /\n/ ] } split /^==\n?/m, $out, -1;
foreach my $n (0 .. $#examples)
{
    my ($title) = $examples[$n] =~ /^(.*)$/m;
    # An example that shows no result may have one all the same.
    is_deeply($results[$n], $expected[$n], "results of: $title")
      if @{ $expected[$n] };
}
$node->stop;
done_testing();
