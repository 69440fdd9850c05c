# Which PostgreSQL is supported is said in several places, which must not differ; and the scripts refuse any other, also
# one that PG_CONFIG names, before they install or build anything.

use strict;
use warnings;

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
done_testing();
