# Each family that no other stands on can be taken out, with its name in the Makefile's ROOMS and its lines in
# module.cpp: what is left builds, loads and makes the extension, and passes the tests that are not about the family.
# The fault: without counters the library did not load, and without nodes the script failed.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $pg_config = $ENV{PG_CONFIG} // 'pg_config';

# The rooms, in their order, and the tests, as the Makefile has them; those that all others stand on; and whom each room
# may include.
my $makefile = slurp_file('Makefile');
my @rooms = split ' ', ($makefile =~ /^ROOMS = (.*)/m)[0];
my @tests = split ' ', ($makefile =~ /^REGRESS = (.*)/m)[0];
my %is_base = map { ($_ => 1) } qw(base server shared decode ceiling database ids);
my %includes = slurp_file('scripts/check-includes') =~ /^  \[(\w+)\]="(.*)"/mg;
my @families = grep { !$is_base{$_} } @rooms;
cmp_ok(scalar(@families), '>=', 4, "families: @families");

# What the tests are about. Those of all families at once compare what the whole script makes.
my %about = (
    kinds => [qw(uuid uuid_ids objectid series text scatter)], central => [], counters => [qw(segments sections stat_counters)],
    nodes => [qw(node)], moves => [qw(moves)], tables => [qw(columns adopt adopt_looks backfill partitions)], stats => [qw(statistics)]);
push @{ $about{nodes} }, @{ $about{tables} } unless grep { $_ eq 'tables' } @rooms;
my %of_all = map { ($_ => 1) } qw(extension untyped families);
my %is_test = map { ($_ => 1) } @tests;
is(join(' ', grep { !$is_test{$_} } map { @{ $about{$_} } } sort keys %about), '', 'there are such tests');

# One build for all of them, from what was built already; and one server, where each has a name of its own.
my $copy = PostgreSQL::Test::Utils::tempdir();
my @precompiled = grep { -e } 'prelude.gch';
system_or_bail('cp', '-a', 'src', 'Makefile', 'snowid.control', @precompiled, $copy);
my $module = "$copy/src/pg/module.cpp";
my $whole = slurp_file($module);
my $control = slurp_file('snowid.control');
my ($install_path, $scripts) = new_prefix();
my $node = new_server('families', install_path => $install_path);
$node->append_conf('postgresql.conf', 'max_prepared_transactions = 10');
$node->start;

sub write_anew { my ($file, $text) = @_; unlink $file; append_to_file($file, $text); return }

# module.cpp without the lines of these.
sub module_without
{
    my $text = $whole;
    foreach my $family (@_)
    {
        next unless $text =~ s{^#include "(pg/$family/$family[.]hpp)"\n}{}m;
        $text =~ s/^\s*snowid::pg::$_\(\);\n//m foreach slurp_file("src/$1") =~ /^void (\w+_register)\(\);/mg;
    }
    return $text;
}

foreach my $family (@families)
{
    # Those that may include it go with it.
    my @out = ($family, grep { $_ ne $family && $includes{$_} =~ m{\b$family/} } @families);
    my %is_out = map { ($_ => 1) } @out;
    my @left = grep { !$is_out{$_} } @rooms;
    write_anew($module, module_without(@out));
    unlink "$copy/snowid.so", glob "$copy/snowid--*.sql";
    my $log = "$copy/$family.log";
    my $status = system("make -C $copy PG_CONFIG=$pg_config with_llvm=no ROOMS='@left' "
          . (@precompiled ? 'PRECOMPILED=1' : 'SNOWID_CXXFLAGS=-O0') . " >$log 2>&1");
    is($status, 0, "without @out: builds") or do { diag(slurp_file($log)); next };

    # A library of its own name, since sessions of the server may have that of the family before.
    rename "$copy/snowid.so", "$copy/without_$family.so" or die "$copy: $!";
    write_anew("$scripts/snowid--" . current_version() . '.sql', slurp_file((glob "$copy/snowid--*.sql")[0]));
    write_anew("$scripts/snowid.control", $control =~ s{^module_pathname = .*}{module_pathname = '$copy/without_$family'}mr);
    my @about = map { @{ $about{$_} // [] } } @out;
    my %is_about = map { ($_ => 1) } @about, keys %of_all;
    my @run = grep { !$is_about{$_} } @tests;
    my $results = "$copy/results_$family";
    mkdir $results or die "$results: $!";
    $status = system("$ENV{PG_REGRESS} --bindir=$install_path/bin --inputdir=. --outputdir=$results --host=" . $node->host
          . ' --port=' . $node->port . " --load-extension=snowid --dbname=without_$family @run >$log 2>&1");
    is($status, 0, "without @out: passes @run")
      or diag(slurp_file($log), -e "$results/regression.diffs" ? slurp_file("$results/regression.diffs") : '');
    is($node->safe_psql("without_$family", 'SELECT count(*) FROM pg_extension'), 2, "without @out: the extension is there");
}

$node->stop;
check_log($node);
done_testing();
