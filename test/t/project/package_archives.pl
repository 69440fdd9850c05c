# Package archives are those of apt's configuration, or as a variable names them; else the scripts say what is missing. No script
# names a host, except PostgreSQL's and PGXN's, and snowid's own.
#
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use SnowidScripts;

my ($with_hosts) = run_command([ qw(grep -rnE), '://[a-z0-9.-]+[.][a-z]|^FROM [^ ]*/', qw(Makefile scripts packaging .ci .github) ]);
chomp(my $homepage = `scripts/metadata homepage`);
my @unknown = grep { !m{https://(?:\w+[.]postgresql[.]org/|manager[.]pgxn[.]org/upload$)|\Q$homepage\E$} } split /\n/, $with_hosts;
is(join("\n", @unknown), '', 'no script names a host');
if (-x '/usr/bin/apt-get')
{
    # Lists as apt-get update leaves them.
    my $dir = copy_of_scripts();
    my ($architecture) = run_command([ 'dpkg', '--print-architecture' ]);
    mkdir $_ foreach 'lists', 'parts';
    foreach (
        [ 'mirror.invalid/debian', 'bookworm', 'Debian', 'bookworm' ],
        [ 'mirror.invalid/debian', 'bookworm-updates', 'Debian', 'bookworm-updates' ],
        [ 'mirror.invalid/debian', 'bookworm-backports', 'Debian Backports', 'bookworm-backports' ],
        [ 'other.invalid/security', 'stable-security', 'Debian', 'bookworm-security' ],
        [ 'tools.invalid/debian', 'bookworm', 'Tools', 'bookworm' ])
    {
        my ($address, $suite, $origin, $codename) = @$_;
        append_to_file('sources', "deb http://$address $suite main\n");
        my $file = 'lists/' . ($address =~ tr{/}{_}r) . "_dists_$suite";
        append_to_file("${file}_Release", "Origin: $origin\nSuite: stable\nCodename: $codename\nComponents: main\n");
        append_to_file("${file}_main_binary-${architecture}_Packages", '');
    }
    append_to_file('apt.conf', qq(Dir::Etc::sourcelist "$dir/sources";\nDir::Etc::sourceparts "$dir/parts";\nDir::State::lists "$dir/lists";\n));
    my $of = "export APT_CONFIG=$dir/apt.conf; . scripts/common.sh; LISTS_UPDATED=1 sources_of";
    says("$of Debian trixie", 1, qr{\A\Qdeb http://mirror.invalid/debian/ trixie main
deb http://mirror.invalid/debian/ trixie-updates main
deb http://other.invalid/security/ trixie-security main\E\n\z}, 'archives of another release');
    says("$of Debian sid", 1, qr{\Adeb http://mirror[.]invalid/debian/ sid main\n\z}, 'archives of sid');
    says("$of Ubuntu noble", 0, qr/\Aapt's configuration has no archive of Ubuntu[.] Set UBUNTU_MIRROR to the address of one[.]\n\z/, 'no archive of Ubuntu');
    says("export UBUNTU_MIRROR=http://ubuntu.invalid; $of Ubuntu noble", 1,
        qr{\A\Qdeb http://ubuntu.invalid noble main universe\E\n\Qdeb http://ubuntu.invalid noble-updates main universe\E\n\z}, 'an archive named by a variable');
}
done_testing();
