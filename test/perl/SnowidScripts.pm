# The scripts behind the Makefile's goals, in a copy of the tree, and what they say. Not part of Snowid: the tests of the project use it.
package SnowidScripts;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(copy_of_scripts says make_with_version);

# Makes a copy of the scripts and the Makefile, and of what they read, and goes there. Returns where it is.
sub copy_of_scripts
{
    my $dir = PostgreSQL::Test::Utils::tempdir();
    system_or_bail(qw(cp -a scripts Makefile snowid.control META.json), $dir);
    chdir $dir or die "$dir: $!";
    return $dir;
}

# Runs a command of bash, and compares how it ends and what it says.
sub says
{
    my ($command, $is_done, $pattern, $what) = @_;
    my $said = '';
    my $done = IPC::Run::run([ 'bash', '-c', $command ], '<', \'', '>', \$said, '2>&1');
    is(!!$done, !!$is_done, "$what: " . ($is_done ? 'is done' : 'fails'));
    like($said, $pattern, "$what: says so");
    return;
}

# Checks that a goal fails on a server of a version, which is asked for nothing else: a stand-in of pg_config says which it is of.
# Returns what is said.
sub make_with_version
{
    my ($version, $goal, %variables) = @_;
    my $dir = PostgreSQL::Test::Utils::tempdir();
    append_to_file("$dir/pg_config", qq(#!/bin/sh\n[ "\$1" = --version ] || touch $dir/asked\necho "PostgreSQL $version (a stand-in)"\n));
    chmod 0755, "$dir/pg_config";
    # Of this test's own make, and of its variables, nothing is handed on.
    delete local @ENV{qw(MAKEFLAGS MAKEOVERRIDES ONLY CHART)};
    local $ENV{PG_CONFIG} = "$dir/pg_config";
    my $said = '';
    my $is_done = IPC::Run::run([ 'make', '-s', $goal, map { "$_=$variables{$_}" } sort keys %variables ], '<', \'', '>', \$said, '2>&1');
    ok(!$is_done && !-e "$dir/asked", "make $goal refuses PostgreSQL $version, and asks it for nothing else");
    return $said =~ s/\Q$dir\E/DIR/gr;
}

1;
