# Variants of the library, built with macros of their own, and databases that use them in place of the
# installed one. Most tests need but the one for tests, whose bounds can be lowered.
package SnowidLibrary;

use strict;
use warnings;

use Exporter 'import';
use Fcntl qw(:flock);
use File::Find;
use File::Spec;
use PostgreSQL::Test::Utils;
use SnowidServers;
use Test::More;

our @EXPORT = qw(build_library use_library lower_bounds make_bounded installed_library replaceable_library build_module);

# Where variants are kept: all tests of a run share them, where SNOWID_LIBRARIES names a directory.
my $libraries = File::Spec->rel2abs($ENV{SNOWID_LIBRARIES} // PostgreSQL::Test::Utils::tempdir());

# Builds a variant, or takes the one that another test has built, and returns its path.
sub build_library
{
    my ($name, $macros) = @_;
    my $dir = "$libraries/" . $macros =~ s/[^\w=]+/_/gr;
    # Who finds it locked waits until the other has built it.
    open my $lock, '>', "$dir.lock" or die "$dir.lock: $!";
    flock $lock, LOCK_EX or die "$dir.lock: $!";
    build_in($dir, $macros) unless -e "$dir/snowid.so";
    note("the library called $name is $dir/snowid.so");
    close $lock;
    return "$dir/snowid.so";
}

sub build_in
{
    my ($dir, $macros) = @_;
    # What a failed test may have left.
    system_or_bail('rm', '-rf', $dir);
    mkdir $dir or die "$dir: $!";
    # With their times, so that what was built for the installed library serves this one, too.
    system_or_bail('cp', '-a', 'src', 'Makefile', 'snowid.control', $dir);
    unlink objects_of("$dir/src", $macros =~ /-D(\w+)/g);
    my $pg_config = $ENV{PG_CONFIG} // 'pg_config';
    # Others may wait for it.
    system_or_bail('make', '-s', '-j2', '-C', $dir, 'snowid.so', "PG_CONFIG=$pg_config",
        'with_llvm=no', "SNOWID_CPPFLAGS=$macros", 'SNOWID_CXXFLAGS=-O0');
    return;
}

# The objects of the sources under a directory that use one of these macros, or whose headers do. To give it a value
# where it has none is no use of it, nor is a comment.
sub objects_of
{
    my ($src, @macros) = @_;
    my $named = join '|', @macros;
    my @sources;
    find(sub { push @sources, $File::Find::name if /[.]cpp$/ }, "$src/pg");
    my $use = qr{^(?!\#ifndef |\#define (?:$named) )(?:(?!//).)*\b(?:$named)\b}m;
    my @objects = map { s/[.]cpp$/.o/r } grep { names($src, $_, $use, {}) } @sources;
    die "nothing names @macros" unless @objects;
    return @objects;
}

# Whether a file, or one that it includes, directly or not, has something that matches. `seen` is what
# was looked at already.
sub names
{
    my ($src, $file, $pattern, $seen) = @_;
    return 0 if $seen->{$file}++;
    my $text = slurp_file($file);
    return 1 if $text =~ $pattern;
    return scalar grep { names($src, "$src/$_", $pattern, $seen) } $text =~ m{^#include "((?:pg|core)/[^"]+)"}mg;
}

# Has the functions of a database's extension be those of another library; without one, of the
# installed library again.
sub use_library
{
    my ($node, $dbname, $library) = @_;
    $library //= '$libdir/snowid';
    $node->safe_psql($dbname,
        "UPDATE pg_proc SET probin = '$library' WHERE probin ~ '/snowid([.]so)?\$'");
    return;
}

# Builds test/modules/NAME as a library of C functions, and returns its path.
sub build_module
{
    my ($name) = @_;
    my $library = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir()) . "/$name.so";
    chomp(my $include = `$ENV{PG_CONFIG} --includedir-server`);
    system_or_bail('gcc', '-shared', '-fPIC', '-O1', "-I$include", '-o', $library, "test/modules/$name/$name.c");
    return $library;
}

# The library that is installed.
sub installed_library
{
    my $pg_config = $ENV{PG_CONFIG} // 'pg_config';
    return `$pg_config --pkglibdir` =~ s/\n//r . '/snowid.so';
}

# Has the functions of a database's extension, which is created unless it is there, be those of a copy of a library. Returns what puts another in
# its place, as a package does it: a new file takes the name; whoever has opened the old one keeps it.
sub replaceable_library
{
    my ($node, $library, $dbname) = @_;
    my $installed = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir()) . '/snowid.so';
    my $install = sub {
        system_or_bail('cp', $_[0], "$installed.new");
        rename "$installed.new", $installed or die "$installed: $!";
        return $installed;
    };
    $install->($library);
    $node->safe_psql($dbname // 'postgres', 'CREATE EXTENSION IF NOT EXISTS snowid');
    use_library($node, $dbname // 'postgres', $installed);
    return $install;
}

# Has new sessions of a database use the library for tests, with some of its bounds (SNOWID_BOUND in src/pg) lowered;
# without any, the installed library again.
sub lower_bounds
{
    my ($node, $dbname, %bounds) = @_;
    use_library($node, $dbname, %bounds ? build_library('tests', '-DSNOWID_DEBUG') : undef);
    my @changes = %bounds ? map { "SET snowid.debug_$_ = $bounds{$_}" } sort keys %bounds : 'RESET ALL';
    $node->safe_psql($dbname, join '; ', map { "ALTER DATABASE $dbname $_" } @changes);
    return;
}

# Makes databases with the extension and lowered bounds, and restarts the server with nothing in memory.
sub make_bounded
{
    my ($node, $databases, %bounds) = @_;
    foreach my $dbname (@$databases)
    {
        $node->safe_psql('postgres', "CREATE DATABASE $dbname");
        $node->safe_psql($dbname, 'CREATE EXTENSION snowid');
        lower_bounds($node, $dbname, %bounds);
    }
    $node->stop;
    start_server($node);
    return;
}

1;
