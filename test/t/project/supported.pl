# Which PostgreSQL is supported is said in several places, which must not differ; and the scripts refuse any other, also one that
# PG_CONFIG names, before they install or build anything. The compiler refuses what the library does not support.
#
# Runs in make test-all: make test has the main tests of its module.

use File::Basename;
use Snowid;
use SnowidScripts;

my @majors = reverse split ' ', (slurp_file('scripts/common.sh') =~ /^SUPPORTED_MAJORS="(.*)"/m)[0];
my ($oldest, $newest) = @majors[ 0, -1 ];
my $next = $newest + 1;
my $list = join ', ', @majors;
is("@majors", join(' ', $oldest .. $newest), "scripts: $oldest to $newest");
foreach (
    [ 'src/pg/compat.hpp', qr/^#if PG_VERSION_NUM < ${oldest}0000 [|][|] PG_VERSION_NUM >= ${next}0000$/m ],
    [ 'src/pg/compat.hpp', qr/^#error "snowid supports PostgreSQL $oldest to $newest"$/m ],
    [ 'README.md', qr/PostgreSQL $oldest to $newest\b/ ],
    [ 'docs/install.md', qr/PostgreSQL $oldest to $newest\b/ ],
    [ 'CHANGELOG.md', qr/PostgreSQL $oldest to $newest\b/ ],
    [ 'META.json', qr/"PostgreSQL": "$oldest\.0\.0"/ ],
    [ 'debian/pgversions', qr/\A$oldest\+\n\z/ ],
    map { [ ".github/workflows/$_.yml", qr/^ +postgres: \[$list\]$/m ] } 'ci', 'nightly', 'release')
{
    like(slurp_file($_->[0]), $_->[1], $_->[0]);
}
my @told = map { split /, / } slurp_file('docs/install.md') =~ /^[|](\d\d(?:, \d\d)*)[|]/mg;
is("@told", "@majors", 'the table of versions');

foreach my $version ($oldest - 1 . '.5', "${next}devel", "${next}beta1", '9.6.24')
{
    like(make_with_version($version, $_), qr{^snowid supports PostgreSQL .*DIR/pg_config is of PostgreSQL \Q$version\E}m, 'and says so')
      foreach 'test-server', 'test', 'demo';
}

# The server's headers, but for one line of pg_config.h: a directory of links, where the others find it first.
chomp(my $headers = `$ENV{PG_CONFIG} --includedir-server`);

sub compile_with
{
    my ($name, $value, $source) = @_;
    my $theirs = PostgreSQL::Test::Utils::tempdir();
    foreach my $file (grep { !m{/pg_config[.]h$} } glob "$headers/*") { symlink $file, "$theirs/" . basename($file) or die "$file: $!" }
    my $config = slurp_file("$headers/pg_config.h");
    $config =~ s/^#define $name .*$/#define $name $value/m or die "$name is not in pg_config.h";
    # Which of C's types has 64 bits, for PostgreSQL.
    $config =~ s{^#define HAVE_LONG_INT_64 1$}{#define HAVE_LONG_LONG_INT_64 1}m if $name eq 'PG_INT64_TYPE';
    append_to_file("$theirs/pg_config.h", $config);
    return scalar `g++ -std=c++20 -w -fsyntax-only -fno-canonical-system-headers -Isrc -isystem $theirs -DSNOWID_VERSION='""' $source 2>&1`;
}
my $module = 'src/pg/module.cpp';
is(compile_with('BLCKSZ', 4096, $module), '', 'blocks of 4 kB are supported');
like(compile_with('BLCKSZ', 2048, $module), qr/snowid supports block sizes from 4 kB/, 'smaller ones are refused');
like(compile_with('PG_VERSION_NUM', "${next}0000", $module), qr/snowid supports PostgreSQL $oldest to $newest/, "PostgreSQL $next is, too");

# On macOS, before version 18, PostgreSQL's int64 is another type than C's int64_t.
my $is_long = slurp_file("$headers/pg_config.h") =~ /^#define PG_INT64_TYPE long int$/m;
foreach my $source ($is_long ? qw(ceiling/ceiling.cpp counters/keyed_counter.cpp counters/sequence_cache.cpp ids/issue.cpp) : ())
{
    is(compile_with('PG_INT64_TYPE', 'long long int', "src/pg/$source"), '', "$source with another int64");
}
done_testing();
