# A tag makes a release by .github/workflows/release.yml. Actions of all workflows are pinned by digest, a job of the release has
# the permissions that it needs and no others, and what its steps run is there: goals of make, and steps of the scripts. Images,
# their labels and the notes are made of what the tree has; without the secrets of a registry nothing goes there.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use SnowidScripts;

my @yaml = glob '.github/workflows/*.yml .github/actions/*/action.yml';
my %digest;
foreach my $file (@yaml)
{
    my $text = slurp_file($file);
    foreach ($text =~ /^ *(?:- )?uses: (.*)$/mg)
    {
        next if m{^[.]/};
        like($_, qr{^[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+[.]\d+[.]\d+$}, "$file pins $_");
        push @{ $digest{ (split /@/)[0] } }, $_;
    }
    like($text, qr/^permissions:/m, "$file states its permissions") if $file =~ /workflows/;
    # What comes from outside would be part of the command.
    is(join(' ', grep { /\$\{\{ (?!matrix[.]|inputs[.]version)/ } $text =~ /^ *(?:- )?run: (?:[|>]-?\n)?(.*(?:\n {10,}.*)*)/mg), '', "$file: steps get values by the environment");
}
cmp_ok(scalar keys %digest, '>', 3, 'there are actions');
foreach my $action (sort keys %digest) { is(join(' ', sort { $a cmp $b } keys %{ { map { $_ => 1 } @{ $digest{$action} } } }), $digest{$action}[0], "$action is the same everywhere") }

my $workflow = slurp_file('.github/workflows/release.yml');
like($workflow, qr/^permissions: \{\}$/m, 'nothing is allowed where a job does not state it');
my (undef, %job) = split /^  (\w+):\n/m, $workflow =~ s/\A.*^jobs:\n//msr;
my %permissions = map { $_ => join ', ', $job{$_} =~ /^    permissions:\n((?:      .*\n)+)/m ? split /\n/, $1 =~ s/ //gr : () } keys %job;
is_deeply(\%permissions, { check => 'contents:read', test => 'contents:read', archives => 'contents:read', debs => 'contents:read', rpms => 'contents:read',
        images => 'contents:read, packages:write', indexes => 'contents:read, packages:write, id-token:write, attestations:write',
        publish => 'contents:write, id-token:write, attestations:write', pgxn => 'contents:read' }, 'the permissions of each job');
# All that is built waits for the tests, and what is published for all that is built.
my %needs = map { $_ => join ' ', ($job{$_} =~ /^    needs: (.*)$/m ? $1 : '') =~ /\w+/g } keys %job;
is_deeply(\%needs, { check => '', test => 'check', (map { $_ => 'test' } qw(archives debs rpms images)), indexes => 'archives debs rpms images',
        publish => 'indexes', pgxn => 'publish' }, 'the order of the jobs');
like($workflow, qr/^concurrency:\n  group: .*github[.]ref /m, 'no release cancels another that waits');
my %path = map { $_ => [ $job{$_} =~ /^ +path: (.*)$/mg ]->[-1] } grep { $job{$_} =~ /upload-artifact/ } keys %job;
is_deeply(\%path, { archives => 'dist/*', debs => 'deb/*.deb', rpms => 'rpm/*.${{ matrix.architecture }}.rpm' }, 'no two jobs make a file of one name');

my %variable = slurp_file('Makefile') =~ /^([A-Z_]+) = (.*)$/mg;
my $goals = $variable{SETUP_GOALS};
1 while $goals =~ s/\$\((\w+)\)/$variable{$1}/;
my %goal = map { $_ => 1 } split ' ', $goals;
my $steps = 0;
foreach my $run ($workflow =~ /^ *run: (.*)$/mg)
{
    foreach ($run =~ /(?:^|[&] |\w )make ([a-z-]+)/g) { $steps++; ok($goal{$_}, "make $_ is a goal") }
    foreach my $call ($run =~ m{(scripts/\w+ \w+)}g)
    {
        my ($script, $step) = split / /, $call;
        $steps++;
        like(slurp_file($script), qr/^  (?:[\w-]+ [|] )*\Q$step\E(?: [|] [\w-]+)*\)/m, "$call is a step");
    }
}
cmp_ok($steps, '>', 8, 'there are steps');

my ($images) = run_command([qw(scripts/images list)]);
my $listed = join ', ', split /\n/, $images;
is(join(' ', grep { $_ ne $listed } $workflow =~ /^ +image: \[(.*)\]$/mg), '', 'the images of the workflow are those of scripts/images');
my %fact = map { my $name = $_; $name => `scripts/metadata $name` =~ s/\n//r } qw(version repository homepage);
my $dry = 'DRY_RUN=1 GITHUB_ACTOR=alice GITHUB_TOKEN=hidden GITHUB_REPOSITORY=Alice/Snowid';
my $pushed = qr{^docker buildx build --file \S+/packaging/Containerfile --build-arg PG_MAJOR=16 .*[.]version=\Q$fact{version}\E .*[.]source=\Q$fact{repository}\E};
says("$dry scripts/images push postgres-16", 1, qr{$pushed .* --push .*--tag ghcr[.]io/alice/snowid:\Q$fact{version}\E-postgres-16-\w+ \S+\n\z}, 'an image is pushed');
says("$dry DOCKERHUB_USERNAME=al DOCKERHUB_TOKEN=hidden scripts/images push extension-18", 1,
    qr{/packaging/Containerfile[.]extension --build-arg PG_MAJOR=18 .*--tag ghcr[.]io/alice/snowid:\S+ --tag docker[.]io/al/snowid:\S+ \S+\n\z}, 'an image is pushed to both registries');
foreach my $half ('', 'DOCKERHUB_TOKEN=hidden', 'DOCKERHUB_USERNAME=al', 'DOCKERHUB_USERNAME= DOCKERHUB_TOKEN=hidden')
{
    says("$dry $half scripts/images login", 1, qr{\Adocker login ghcr[.]io --username alice --password-stdin\n\z}, "without both secrets ($half) nobody logs in to Docker Hub");
    says("$dry $half scripts/images join extension-18", 1, qr{\A(?!.*docker[.]io)}s, "and no image goes there ($half)");
}
says("$dry scripts/images join extension-18", 1, qr{^repository=ghcr[.]io/alice/snowid$}m, 'images of all processors are joined');
says("export GITHUB_REPOSITORY=Alice/Snowid; docker() { [[ \$* != *inspect* ]]; }; export -f docker; scripts/images join extension-18 2>/dev/null", 0, qr/^$/, 'without a digest nothing is attested');
says("$dry scripts/images push extension-17", 0, qr/^There is no such image: extension-17[.]/, 'PostgreSQL 17 cannot load an extension image');
says('scripts/release pgxn a.zip', 1, qr/^Not sent to PGXN: this repository has no PGXN_USERNAME/, 'without its secrets nothing goes to PGXN');
says('DRY_RUN=1 PGXN_USERNAME=alice PGXN_PASSWORD=hidden scripts/release pgxn a.zip', 1, qr{^curl (?!.*hidden).*archive=\@a[.]zip .* https://manager[.]pgxn[.]org/upload$}m, 'the archive goes to PGXN');

# The notes are the page of the release, with links that work elsewhere.
my ($notes) = run_command([qw(scripts/release notes)]);
my $page = slurp_file("docs/releases/$fact{version}.md");
my $links = () = $page =~ /\]\([.]{2}\//g;
my $addresses = () = $notes =~ m{\]\(\Q$fact{repository}\E/blob/v\Q$fact{version}\E/(?:docs/testing|docs/guarantees|SUPPORT)[.]md[#)]}g;
ok($links > 0 && $addresses == $links && $notes !~ /\]\([.]/, 'links of the notes') or diag($notes);
is(($notes =~ s/\]\([^)]*\)//gr) =~ s/\s+\z//r, ($page =~ s/\]\([^)]*\)//gr) =~ s/\s+\z//r, 'and the rest of the page');

my $files = PostgreSQL::Test::Utils::tempdir();
append_to_file("$files/a.zip", 'a');
append_to_file("$files/b~deb12.deb", 'b');
says("scripts/release checksums $files && cd $files && sha256sum --check SHA256SUMS && LC_ALL=C ls", 1,
    qr/\Aa[.]zip: OK\nb[.]deb12[.]deb: OK\nSHA256SUMS\na[.]zip\nb[.]deb12[.]deb\n\z/, 'checksums have the names that files get on the page');
done_testing();
