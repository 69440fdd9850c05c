# The tutorial works in any SQL client, for a role that may create in the database: each statement is sent alone, as
# pgAdmin and DBeaver send it, and gives the results shown below it.

use IPC::Run;
use Snowid;

my $page = 'docs/tutorial.md';
my $node = new_server('tutorial');
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE reader LOGIN; CREATE DATABASE tutorial OWNER reader');

# Statements with the lines that follow them: what a client runs, and what it shows.
my (@statements, @results);
foreach my $example (slurp_file($page) =~ /^```sql\n(.*?)^```$/msg)
{
    foreach my $part (split /;\n/, $example)
    {
        my ($shown, $statement) = $part =~ /\A((?:--> \N*\n)*)(.*)\z/s;
        $results[-1] = join '', $shown =~ /^--> (.*\n)/mg if $shown;
        next if $statement !~ /\S/;
        push @statements, $statement;
        push @results, undef;
    }
}
cmp_ok(scalar(@statements), '>', 20, 'there are statements');
my @outside = map { s/'[^']*'//gr =~ s/::\w+//gr } @statements;
is_deeply([ grep { /\n\s*\n|[:?\$\\]/ } @outside ], [], 'none has a variable or an empty line, at which clients stop');

# With -c psql sends a text as it is. All are one session.
my ($output, $errors) = ('', '');
my @command = ('psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-h', $node->host, '-p', $node->port, '-U', 'reader', 'tutorial');
my @calls = map { ('-c', $_, '-c', '\echo ==') } @statements;
ok(IPC::Run::run([ @command, @calls ], '>', \$output, '2>', \$errors), 'every statement runs');
is($errors, '', 'without a warning');
my @printed = split /^==\n/m, $output, -1;
foreach my $n (grep { defined $results[$_] } 0 .. $#statements)
{
    is($printed[$n], $results[$n], 'the result of: ' . (split /\n/, $statements[$n])[0]);
}
is_deeply([ grep { !defined $results[$_] && $statements[$_] =~ /\A(?:SELECT|EXPLAIN)/ } 0 .. $#statements ], [], 'every query shows one');
$node->stop;
done_testing();
