# The files that name the version, the maintainer and the addresses agree, and scripts/metadata sees each of them that does
# not. A release takes a tag of that version, a date, and addresses that are the repository's. The form for bugs asks for what
# SUPPORT.md has a reporter run.

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
says('scripts/metadata', 1, qr/\A[1-9]\d+ passed, 0 failed\n\z/, 'the files agree');
my %fact = map { my $name = $_; $name => `scripts/metadata $name` =~ s/\n//r } qw(version maintainer email homepage repository);

# Of each file, the first place of each fact in it is changed.
foreach my $file (@files)
{
    my $text = slurp_file($file);
    my $altered = $text;
    my @others;
    foreach my $name (grep { $_ ne 'email' || $file =~ /^[.S]|CODE_OF/ } sort keys %fact)
    {
        my $other = $name eq 'version' ? '9.9.9' : "x$fact{$name}x";
        push @others, $other if $altered =~ s/(?<![\w.])\Q$fact{$name}\E(?![\w.])/$other/;
    }
    write_over($file, $altered);
    my ($said) = run_command(['scripts/metadata']);
    # What differs in a source of facts is seen in the other files.
    cmp_ok(scalar @others, '>', 0, "$file has facts");
    like($said, qr/^not ok: .*\Q$_\E/m, "$file with $_") foreach @others;
    write_over($file, $text);
}

my $of_release = "export GITHUB_SERVER_URL=https://forge.invalid GITHUB_REPOSITORY=snow/id; scripts/metadata release v$fact{version}";
says($of_release, 0, qr/the repository is \Q$fact{repository}\E instead of https:\/\/forge[.]invalid\/snow\/id$/m, 'a release of another repository');
foreach my $file (@files)
{
    write_over($file, slurp_file($file) =~ s/\Q$fact{repository}\E/https:\/\/forge.invalid\/snow\/id/gr =~ s/\Q$fact{homepage}\E/https:\/\/snow.invalid/gr
          =~ s/\Q$fact{email}\E/snow\@id.invalid/gr);
}
says($of_release, 1, qr/ passed, 0 failed$/, 'a release');
says("$of_release.1", 0, qr/^not ok: the tag is v\Q$fact{version}\E[.]1, and the version \Q$fact{version}\E$/m, 'a release with another tag');
write_over('CHANGELOG.md', slurp_file('CHANGELOG.md') =~ s/^(## \[.*\]) - .*$/$1 - unreleased/mr);
says($of_release, 0, qr/^not ok: CHANGELOG[.]md has no date for \Q$fact{version}\E$/m, 'a release without a date');

sub write_over { my ($file, $text) = @_; unlink $file; append_to_file($file, $text); return }
done_testing();
