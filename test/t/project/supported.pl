# Which PostgreSQL is supported is said in several places, which must not differ; and the scripts refuse any other, also one that
# PG_CONFIG names, before they install or build anything.
# Runs in make test-all: make test has the main tests of its module.

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
done_testing();
