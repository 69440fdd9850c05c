# A page with a later version of its form is refused by the library that does not know it, and nothing is lost.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('page');
my $old = installed_library();
my $install = replaceable_library($node, $old);
my $least = $node->safe_psql('postgres', 'SELECT snowid_next(2)');
my $new = build_library('page', '-DSNOWID_CEILING_PAGE=2');
$node->stop;
$install->($new);
start_server($node);
my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSELECT snowid_next(2)");
like($err, qr/ERROR:  0A000: .* version 1 of its form.* version 2\nHINT:  Install the version of extension "snowid"/, 'another version of the page is refused');
$node->stop;
$install->($old);
start_server($node);
cmp_ok($node->safe_psql('postgres', 'SELECT snowid_next(2)'), '>', $least, 'and read by the library that has written it');
end_test($node);
