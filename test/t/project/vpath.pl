# A build in a directory of its own (VPATH): it makes and installs what a build in the tree does, and leaves the tree as
# it was.
#
# Runs in make test-all: it builds the library.

use File::Find;
use Snowid;

my $pg_config = $ENV{PG_CONFIG} // 'pg_config';
my $dir = PostgreSQL::Test::Utils::tempdir();

# The sources alone, without what was built of them.
mkdir "$dir/snowid" or die "$dir/snowid: $!";
system_or_bail('cp', '-a', 'src', 'Makefile', 'snowid.control', "$dir/snowid");
system_or_bail('find', "$dir/snowid", '-name', '*.[od]', '-delete');
my $before = all_files("$dir/snowid");
mkdir "$dir/$_" or die "$dir/$_: $!" foreach 'build', 'installed';

my @make = ('make', '-s', '-C', "$dir/build", '-f', '../snowid/Makefile', "PG_CONFIG=$pg_config", 'with_llvm=no');
# All that there is would be compiled; what is in this directory and in one below it is.
my @sources;
find(sub { push @sources, $File::Find::name if /[.]cpp$/ }, 'src/pg');
my ($commands) = run_command([ @make, '-n' ]);
is(join(' ', sort $commands =~ m{-o (\S+)[.]o\b}g), join(' ', sort map { s/[.]cpp$//r } @sources), 'what is compiled');
push @make, 'SOURCES=src/pg/module.cpp src/pg/types/layout.cpp';
system_or_bail(@make, 'SNOWID_CXXFLAGS=-O0');
system_or_bail(@make, 'install', "DESTDIR=$dir/installed");
is(all_files("$dir/snowid"), $before, 'nothing is made in the tree');

my @installed = map { s{.*/}{}r } split /\n/, all_files("$dir/installed");
is("@installed", join(' ', sort 'snowid--0.1.0.sql', 'snowid.control', 'snowid.so'), 'what is installed');
my ($script) = split /\n/, all_files("$dir/installed", qr/[.]sql$/);
is(slurp_file($script), slurp_file((glob 'snowid--*.sql')[0]), 'the script is that of a build in the tree');

# The files below a directory, a line for each, sorted by name.
sub all_files
{
    my ($below, $which) = @_;
    my @files;
    find({ no_chdir => 1, wanted => sub { push @files, $_ if -f && (!$which || $_ =~ $which) } }, $below);
    return join "\n", sort { ($a =~ m{([^/]*)$})[0] cmp ($b =~ m{([^/]*)$})[0] || $a cmp $b } @files;
}
done_testing();
