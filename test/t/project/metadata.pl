# A release takes a tag of its version, a date, and addresses that are the repository's, in all files that name them (make
# check-style has these agree). The form for bugs asks for what SUPPORT.md has a reporter run.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use SnowidScripts;

my @files = qw(META.json snowid.control CHANGELOG.md SECURITY.md CODE_OF_CONDUCT.md debian/control debian/control.in debian/changelog debian/copyright
  packaging/snowid.spec portable/pg_tle.sql monitoring/alerts.yaml docs/install.md docs/monitoring.md .github/CODEOWNERS);
my ($form, $support) = map { slurp_file($_) } '.github/ISSUE_TEMPLATE/bug.yml', 'SUPPORT.md';
my @asked = $form =~ /`(SELECT [^`]*)`/g;
cmp_ok(scalar @asked, '>', 3, 'the form asks for results');
ok(index($support, "$_;") >= 0, "SUPPORT.md has $_") foreach @asked;

chomp(my $tree = `pwd`);
my $dir = copy_of_scripts();
system_or_bail('env', '-C', $tree, 'cp', '--parents', '-t', $dir, @files);
my %fact = map { my $name = $_; $name => `scripts/metadata $name` =~ s/\n//r } qw(version maintainer email homepage repository);

my $of_release = "export GITHUB_SERVER_URL=https://forge.invalid GITHUB_REPOSITORY=snow/id; scripts/metadata release v$fact{version}";
says($of_release, 0, qr/the repository is \Q$fact{repository}\E instead of https:\/\/forge[.]invalid\/snow\/id$/m, 'a release of another repository');
foreach my $file (@files)
{
    write_over($file, slurp_file($file) =~ s/\Q$fact{repository}\E/https:\/\/forge.invalid\/snow\/id/gr =~ s/\Q$fact{homepage}\E/https:\/\/snow.invalid/gr
          =~ s/\Q$fact{email}\E/snow\@id.invalid/gr);
}
says($of_release, 0, qr{^not ok: there is no docs/releases/\Q$fact{version}\E[.]md\nnot ok: there is no src/upgrade/released/}m, 'a release without notes, and not frozen');
system_or_bail(qw(mkdir -p docs/releases src/upgrade/released));
append_to_file($_, 'x') foreach "docs/releases/$fact{version}.md", "src/upgrade/released/snowid--$fact{version}.sql";
says($of_release, 1, qr/ passed, 0 failed$/, 'a release');
says("$of_release.1", 0, qr/^not ok: the tag is v\Q$fact{version}\E[.]1, and the version \Q$fact{version}\E$/m, 'a release with another tag');
write_over('CHANGELOG.md', slurp_file('CHANGELOG.md') =~ s/^(## \[.*\]) - .*$/$1 - unreleased/mr);
says($of_release, 0, qr/^not ok: CHANGELOG[.]md has no date for \Q$fact{version}\E$/m, 'a release without a date');

sub write_over { my ($file, $text) = @_; unlink $file; append_to_file($file, $text); return }
done_testing();
