# A build in a directory of its own (VPATH): it makes and installs what a build in the tree does, and leaves the tree as
# it was.
# Runs in make test-all: it builds the library.

use Snowid;

# The sources alone, without what was built of them.
my $dir = PostgreSQL::Test::Utils::tempdir();
mkdir "$dir/$_" or die "$dir/$_: $!" foreach 'snowid', 'build', 'installed';
system_or_bail('cp', '-a', 'src', 'Makefile', 'snowid.control', "$dir/snowid");
system_or_bail('find', "$dir/snowid", '-name', '*.[od]', '-delete');
sub files { my ($below) = @_; return [ sort split /\n/, `find $dir/$below -type f` ] }
my $before = files('snowid');

# What is in this directory and in one below it is compiled.
my @make = ('make', '-s', '-C', "$dir/build", '-f', '../snowid/Makefile', "PG_CONFIG=$ENV{PG_CONFIG}", 'with_llvm=no',
    'SOURCES=src/pg/module.cpp src/pg/types/layout.cpp', 'SNOWID_CXXFLAGS=-O0');
system_or_bail(@make);
system_or_bail(@make, 'install', "DESTDIR=$dir/installed");
is_deeply(files('snowid'), $before, 'nothing is made in the tree');
my %installed = map { m{([^/]*)$} ? ($1 => $_) : () } @{ files('installed') };
is(join(' ', sort keys %installed), 'snowid--0.1.0.sql snowid.control snowid.so', 'what is installed');
is(slurp_file($installed{'snowid--0.1.0.sql'}), slurp_file((glob 'snowid--*.sql')[0]), 'the script is that of a build in the tree');
done_testing();
