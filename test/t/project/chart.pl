# make bench draws the chart of what an ID costs only when it is asked to, and where it can: else it says why, before it builds
# anything. The chart in docs says what it shows: of which server, in what unit, with which settings. The picture of an ID can
# be read on a phone.

use Snowid;
use SnowidScripts;

my $drawn = PostgreSQL::Test::Utils::tempdir() . '/chart.svg';
like(make_with_version('17.5', 'bench', CHART => $drawn), qr/^The chart shows uuidv7\(\), which PostgreSQL 17 does not have: set PG_CONFIG /m, 'and says why');
like(make_with_version('18.1', 'bench', CHART => $drawn, ONLY => 'peers,call'), qr/^The chart takes the race "long insert", too/m, 'and says which race');
ok(!-e $drawn, 'no chart');
unlike(slurp_file('scripts/bench'), qr{^[^#]*docs/bench}m, 'no command of make bench names the tracked chart');

# The texts of the tracked chart, each of which may be of several pieces.
my @texts = map { s/<[^>]+>//gr =~ s/\s+/ /gr } slurp_file('docs/bench.svg') =~ m{<text[^>]*>(.*?)</text>}gs;
like(join("\n", @texts), $_, "the chart has $_") foreach
  map({ qr/^ ?\Q$_\E ?$/m } 'snowid_next()', 'snowid_uuidv7()', 'bigserial, nextval', 'uuidv7()', 'gen_random_uuid()'),
  qr/Nanoseconds: less is better/, qr/PostgreSQL (?:1[89]|[2-9]\d)\b.*\d processors/, qr/shared_buffers=.*synchronous_commit=/s,
  qr/Not drawn, to keep the scale: Instagram\S* PL\/pgSQL, [\d,]+ ns a call and [\d,]+ ns a row/;
is(scalar(grep { /^ ?\d+ ?$/ } @texts), scalar(grep { /\(\) ?$|nextval/ } @texts), 'a number beside each bar');

# A window of 390 pixels leaves 342 to a picture. Below 10 pixels letters cannot be read.
my $bits = slurp_file('docs/id-bits.svg');
my ($width) = $bits =~ /viewBox="0 0 (\d+) \d+"/;
my ($smallest) = sort { $a <=> $b } $bits =~ /font-size: (\d+)px/g;
cmp_ok($smallest * 342 / $width, '>=', 10, 'the letters of id-bits.svg in a window of 390 pixels');
done_testing();
