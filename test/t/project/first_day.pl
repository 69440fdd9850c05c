# docs/first-day.md, step by step, between two servers, with the programs of PostgreSQL that its commands name.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use SnowidPages;

my ($node, $other) = map { my $server = new_server($_); $server->start; $server } 'node', 'other';
my $page = slurp_file('docs/first-day.md');
my $dump = PostgreSQL::Test::Utils::tempdir() . '/app.dump';
my %environment = (PGHOST => $node->host, PGPORT => $node->port, PGUSER => 'postgres', PGOPTIONS => '');
my ($commands, $results) = (0, 0);
while ($page =~ /^```(sql)?\n(.*?)^```$/msg)
{
    my ($is_sql, $block) = ($1, $2);
    if ($is_sql)
    {
        my $on = $block =~ /\A-- on copy$/m ? $other : $node;
        my ($status, $out, $err) = $on->psql('app', $block);
        is("$err$status", '0', "runs: $block");
        is($out, join("\n", $block =~ /^--> (.*)$/mg), 'and prints what it says');
        $results++;
        next;
    }
    foreach my $command (split /\n/, $block)
    {
        my @words = map { s/'//gr } $command =~ /('[^']*'|\S+)/g;
        my @where = map { s/^other[.]example$/$other->host/er } map { s/^app[.]dump$/$dump/r } @words;
        local %ENV = (%ENV, %environment, $command =~ /other[.]example/ ? (PGPORT => $other->port) : ());
        my $log = '';
        my $is_done = IPC::Run::run(\@where, '>&', \$log);
        ok($is_done, "runs: $command") or diag($log);
        $commands++;
    }
}
is("$commands commands, $results results", '5 commands, 4 results', 'all of the page');
end_test($node, $other);
