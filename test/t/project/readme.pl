# Every SQL example of the README, of SUPPORT.md, and of the pages of docs/, runs as it stands there, in order, and gives the results
# that it is said to give: the lines after "-->".
#
# The examples of a page are one session, as a reader would have it. A comment on the first line, "on NAME",
# says on which of several servers one is run; here they are databases of one server. The tutorial works in any SQL client, for a
# role that may create in its database: none of its statements has a variable or an empty line, and every query shows a result.

use File::Basename;
use Snowid;

my $node = new_server('readme');
$node->append_conf('postgresql.conf', "timezone = 'UTC'");
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE reader LOGIN');
my ($host, $port) = ($node->host, $node->port);

# `first` is SQL that a reader has run before.
sub check_page
{
    my ($page, $database, $first) = @_;
    my @examples = slurp_file($page) =~ /^```sql\n(.*?)^```$/msg;
    cmp_ok(scalar(@examples), '>', 0, "$page has examples");
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
        my $role = $on eq 'tutorial' ? 'reader' : 'postgres';
        $node->safe_psql('postgres', "CREATE DATABASE $on OWNER $role") unless $known{$on}++;
        $script .= "\\c $on $role\n" if $on ne $current;
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
    check_printed($page, $database);
    return;
}

# What psql prints at its prompt, errors without their hints. An INSERT is run as it stands, and once more with the ID that the
# page shows as the default, so that all it prints can be compared.
sub check_printed
{
    my ($page, $database) = @_;
    foreach my $example (slurp_file($page) =~ /^```\n=> (.*?)^```$/msg)
    {
        my ($statement, $shown) = $example =~ /\A(.*?;)\n(.*)\z/s;
        if (my ($table) = $statement =~ /\AINSERT INTO (\w+)/)
        {
            $node->safe_psql($database, $statement);
            my ($id) = $shown =~ /^ *(\d+) /m;
            $node->safe_psql($database, "ALTER TABLE $table ALTER COLUMN id SET DEFAULT $id");
        }
        my ($status, $out, $err) = $node->psql($database, "\\pset format aligned\n\\pset tuples_only off\n$statement");
        my @printed = grep { !/^(?:HINT|LINE \d|\s*\^|\(\d+ rows?\)|INSERT)/ } map { split /\n/ } $out, $err;
        is(join("\n", map { s/^psql:<stdin>:\d+: //r =~ s/ +$//r } @printed), $shown =~ s/\n\z//r, "$page, what is printed: $statement");
    }
    return;
}

# What a reader has done before, where the page does not begin with it.
my %before = (
    'README.md'            => '',
    'docs/install.md'      => '',
    'docs/node-numbers.md' => '',
    'docs/tutorial.md'     => '',
    'docs/runbook.md'      => 'CREATE SCHEMA "Odd one"; CREATE EXTENSION snowid SCHEMA "Odd one"; SELECT snowid.release_shard(42);'
      . q( ALTER DATABASE runbook SET DateStyle = 'German'; ALTER DATABASE runbook SET TimeZone = 'Asia/Kolkata';)
      . ' CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT "Odd one".snowid_next());'
      . q( CREATE TABLE readings (id bigint PRIMARY KEY DEFAULT "Odd one".snowid_next(0, 'baidu'))),
);
# Pages without examples in SQL, or whose examples other tests run: tables/migrating_*.pl and own_times.pl under load, first_day.pl
# on two servers.
my %without = map { ("docs/$_.md" => 1) } qw(citus converting design first-day guarantees monitoring portable testing);
foreach my $page ('README.md', 'SUPPORT.md', glob 'docs/*.md')
{
    next if $without{$page};
    check_page($page, lc(basename($page, '.md')) =~ tr/-/_/r, $before{$page} // 'CREATE EXTENSION snowid');
}
my @statements = map { split /;\n/ } slurp_file('docs/tutorial.md') =~ /^```sql\n(.*?)^```$/msg;
is_deeply([ grep { s/'[^']*'|::\w+|^-->.*$//gmr =~ /\S\n\s*\n\s*\S|[:?\$\\]/ } @statements ], [], 'the tutorial: no variable or empty line, at which clients stop');
is_deeply([ grep { $statements[$_] =~ /^(?:SELECT|EXPLAIN)/m && ($statements[ $_ + 1 ] // '') !~ /\A-->/ } 0 .. $#statements ], [], 'and every query shows its result');
is(join(' ', grep { !/(?:converting|first-day)[.]md/ && slurp_file($_) =~ /^```sql/m } sort keys %without), '', 'no other page has examples');
end_test($node);
