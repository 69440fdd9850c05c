# A server in a directory of its own, whose extensions a test can add to: new versions of snowid, say. The
# server finds its files by where its program lies, so copies of the programs and links to the rest do. What
# is installed is not touched.
package SnowidPrefix;

use strict;
use warnings;

use Exporter 'import';
use File::Basename;
use File::Path qw(make_path);
use File::Spec;
use PostgreSQL::Test::Utils;

our @EXPORT = qw(new_prefix current_version script_of add_version);

my $scratch = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir());
my $prefixes = 0;

# Makes one. Returns the path that PostgreSQL::Test::Cluster takes as install_path, and the directory of the
# extensions' scripts, with those of all that is installed.
sub new_prefix
{
    my ($bin, $lib, $share) = map { ask_pg_config($_) } qw(bindir pkglibdir sharedir);
    my $root = "$scratch/prefix" . $prefixes++;
    make_path("$root$bin", dirname("$root$lib"), "$root$share/extension");
    system_or_bail('cp', '-L', (grep { -e } map { "$bin/$_" } qw(initdb pg_config pg_ctl pg_dump postgres psql)), "$root$bin");
    link_to($lib, "$root$lib");
    link_to($_, "$root$share/" . basename($_)) foreach grep { basename($_) ne 'extension' } glob "$share/*";
    link_to($_, "$root$share/extension/" . basename($_)) foreach glob "$share/extension/*";
    return (dirname("$root$bin"), "$root$share/extension");
}

# The version of snowid that CREATE EXTENSION makes.
sub current_version
{
    my ($version) = slurp_file(ask_pg_config('sharedir') . '/extension/snowid.control') =~ /^default_version = '(.*)'/m;
    return $version;
}

# The script that makes it.
sub script_of { return slurp_file(ask_pg_config('sharedir') . "/extension/snowid--$_[0].sql") }

# Adds a version to such a directory: the script that makes it and, if given, the step from it to the current one.
sub add_version
{
    my ($scripts, $version, $script, $step) = @_;
    write_new("$scripts/snowid--$version.sql", $script);
    write_new("$scripts/snowid--$version--" . current_version() . '.sql', $step) if defined $step;
    return;
}

# In place of a link to what is installed, if there is one.
sub write_new
{
    my ($file, $text) = @_;
    unlink $file;
    append_to_file($file, $text);
    return;
}

sub ask_pg_config
{
    my ($what) = @_;
    my $pg_config = $ENV{PG_CONFIG} // 'pg_config';
    return `$pg_config --$what` =~ s/\n//r;
}

sub link_to
{
    my ($file, $link) = @_;
    symlink $file, $link or die "$link: $!";
    return;
}

1;
