# Which PostgreSQL is supported is said in several places, which must not differ; and the scripts refuse any other, also
# one that PG_CONFIG names, before they install or build anything. The compiler refuses what the library does not support.

use strict;
use warnings;

use File::Basename;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my @majors = reverse split ' ', (slurp_file('scripts/common.sh') =~ /^SUPPORTED_MAJORS="(.*)"/m)[0];
my ($oldest, $newest) = @majors[ 0, -1 ];
is("@majors", join(' ', $oldest .. $newest), "scripts: $oldest to $newest");

my $compat = slurp_file('src/pg/compat.hpp');
my $next = $newest + 1;
like($compat, qr/^#if PG_VERSION_NUM < ${oldest}0000 [|][|] PG_VERSION_NUM >= ${next}0000$/m, 'the library');
like($compat, qr/^#error "snowid supports PostgreSQL $oldest to $newest"$/m, 'what its compiler says');
like(slurp_file($_), qr/PostgreSQL $oldest to $newest\b/, $_) foreach 'README.md', 'CHANGELOG.md';
like(slurp_file('META.json'), qr/"PostgreSQL": "$oldest\.0\.0"/, 'META.json');
is(slurp_file('debian/pgversions'), "$oldest+\n", 'debian/pgversions');
my $list = join ', ', @majors;
like(slurp_file(".github/workflows/$_.yml"), qr/^ +postgres: \[$list\]$/m, "the workflow $_") foreach 'ci', 'nightly';
my @told = map { split /, / } slurp_file('README.md') =~ /^[|] (\d\d(?:, \d\d)*) [|]/mg;
is("@told", "@majors", "the README's table");

# A stand-in of pg_config says which version it is of, and that it was asked for anything else.
my $dir = PostgreSQL::Test::Utils::tempdir();
foreach my $version ($oldest - 1 . '.5', "${next}devel", "${next}beta1", '9.6.24')
{
    unlink "$dir/pg_config", "$dir/asked";
    append_to_file("$dir/pg_config", qq(#!/bin/sh\n[ "\$1" = --version ] || touch $dir/asked\necho "PostgreSQL $version (a stand-in)"\n));
    chmod 0755, "$dir/pg_config";
    local $ENV{PG_CONFIG} = "$dir/pg_config";
    foreach my $goal ('test-server', 'test', 'demo')
    {
        my $said = '';
        my $is_done = IPC::Run::run([ 'make', '-s', $goal ], '<', \'', '>', \$said, '2>&1');
        ok(!$is_done, "make $goal refuses PostgreSQL $version");
        like($said, qr{^snowid supports PostgreSQL .*\Q$dir/pg_config is of PostgreSQL $version\E}m, "make $goal: and says so");
    }
    ok(!-e "$dir/asked", "$version: nothing else was asked of it");
}

# The server's headers, but for one line of pg_config.h: a directory of links, where the others find it first.
my $pg_config = $ENV{PG_CONFIG} // 'pg_config';
chomp(my $headers = `$pg_config --includedir-server`);
sub compile_with
{
    my ($name, $value) = @_;
    my $theirs = PostgreSQL::Test::Utils::tempdir();
    foreach my $file (glob "$headers/*")
    {
        symlink $file, "$theirs/" . basename($file) or die "$file: $!" unless $file =~ m{/pg_config[.]h$};
    }
    my $config = slurp_file("$headers/pg_config.h");
    $config =~ s/^#define $name \d+$/#define $name $value/m or die "$name is not in pg_config.h";
    append_to_file("$theirs/pg_config.h", $config);
    return scalar `g++ -std=c++20 -w -fsyntax-only -fno-canonical-system-headers -Isrc -isystem $theirs -DSNOWID_VERSION='""' src/pg/module.cpp 2>&1`;
}
is(compile_with('BLCKSZ', 4096), '', 'blocks of 4 kB are supported');
like(compile_with('BLCKSZ', 2048), qr/snowid supports block sizes from 4 kB/, 'smaller ones are refused');
like(compile_with('PG_VERSION_NUM', "${next}0000"), qr/snowid supports PostgreSQL $oldest to $newest/, "PostgreSQL $next is, too");
done_testing();
