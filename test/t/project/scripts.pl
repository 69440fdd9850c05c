# The Makefile and the scripts behind its targets. make demo and demo-stop wait for each other and stop only their own
# server. If a machine does not fit, the error says what is missing and what to do. Package archives come from apt's
# configuration.

use strict;
use warnings;

use Fcntl qw(:flock);
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir();
my @with_hosts = map { split /\n/ } run_command([ qw(grep -rnE), '://[a-z0-9.-]+[.][a-z]|^FROM [^ ]*/', qw(Makefile scripts packaging .ci .github) ]);
system_or_bail('cp', '-a', 'scripts', 'Makefile', $dir);
chdir $dir or die "$dir: $!";

# Runs a command of bash, and compares how it ends and what it says.
sub says
{
    my ($command, $is_done, $pattern, $what) = @_;
    my $said = '';
    my $done = IPC::Run::run([ 'bash', '-c', $command ], '<', \'', '>', \$said, '2>&1');
    is(!!$done, !!$is_done, "$what: " . ($is_done ? 'is done' : 'fails'));
    like($said, $pattern, "$what: says so");
    return;
}

# 1. The demo's state.
says('scripts/demo demo-stop', 1, qr/^No demo is running[.]$/, 'no demo');

sub write_state
{
    my ($user) = @_;
    mkdir "$dir/demo" or die "$dir/demo: $!" unless -d "$dir/demo";
    unlink '.demo';
    append_to_file('.demo', "$dir/demo\n/nowhere/bin\n$user\n");
    return;
}
my $user = getpwuid $<;
write_state($user);
says('CDPATH=/tmp:. scripts/demo demo-stop', 1, qr/^The demo is stopped and removed[.]$/, 'a demo whose server was killed');
ok(!-e '.demo' && !-e 'demo', 'and nothing is left of it');

if ($< != 0)
{
    write_state('root');
    says("scripts/demo $_", 0, qr/^The demo of this checkout runs as root[.] Whoever started it, or root, can end it/,
        "$_: another user's demo")
      foreach 'demo', 'demo-stop';
    ok(-e '.demo' && -d 'demo', 'and it stays as it is');
    unlink '.demo';
}

# Two at once: the second waits for the lock, says so, and goes on.
{
    open my $lock, '<', $dir or die "$dir: $!";
    flock $lock, LOCK_EX or die "flock: $!";
    my $said = '';
    my $second = IPC::Run::start([ 'scripts/demo', 'demo-stop' ], '<', \'', '>', \$said, '2>&1', IPC::Run::timeout(180));
    $second->pump until $said =~ /\n/;
    like($said, qr/^Another make demo or demo-stop is at work here[.] This one waits for it[.]\n\z/, 'the second waits');
    close $lock;
    ok($second->finish, 'and goes on');
    like($said, qr/\nNo demo is running[.]\n\z/, 'when the first one is done');
}

# 2. Machines that do not fit.
my $common = '. scripts/common.sh';
mkdir 'bin';
symlink '/usr/bin/id', 'bin/id' or die "bin/id: $!";
says("$common; PATH=bin as_root true", $< == 0, $< == 0 ? qr/^$/ : qr/^This needs root, or sudo: true[.] Have an administrator/,
    'neither root nor sudo');
says("umask 077; $common; umask", 1, qr/^0022$/, 'umask 077');
mkdir 'with space';
says("$common; TMPDIR='$dir/with space' make_work", 0, qr/^make cannot work in a directory whose name has spaces.*Set TMPDIR to another/,
    'TMPDIR with spaces');
says("$common; TMPDIR=/proc make_work", 0, qr{^Programs cannot be made and run in /proc[.] Set TMPDIR to}, 'no place for programs');
says("$common; SUPPORTED_MAJORS=99 LISTS_UPDATED=1 PG_CONFIG= choose_postgres", 0,
    qr{^No supported PostgreSQL \(99\) can be installed from this machine's package sources[.] .*https://wiki.postgresql.org/wiki/Apt}s,
    'a release that is too old')
  if -x '/usr/bin/apt-get';

# make, without PostgreSQL's headers or a server.
append_to_file('pg_config', "#!/bin/sh\necho /nowhere/\$1\n");
chmod 0755, 'pg_config';
foreach (
    [ 'PG_CONFIG=bin/pg_config', 'bin/pg_config cannot be run' ],
    [ 'PG_CONFIG=./pg_config', '/nowhere/--pgxs does not exist' ])
{
    my ($argument, $what) = @$_;
    says("make $argument $_", 0, qr/^Makefile:\d+: [*]{3} PostgreSQL's server headers are not installed: \Q$what\E[.] .*postgresql-server-dev-all.*PG_CONFIG/m,
        "make $argument $_")
      foreach '', 'install';
}
my $pg_config = $ENV{PG_CONFIG} // 'pg_config';
says("PGHOST=$dir make PG_CONFIG=$pg_config installcheck", 0, qr/connection to server.*`make installcheck` connects to a running server as a superuser[.].*PGUSER.*createuser --superuser $user/s,
    'installcheck without a server');
# That a server's name is in pg_regress' options is taken for enough. There is no program to connect with.
says("make PG_CONFIG=$pg_config REGRESS_OPTS=--host=$dir -n installcheck | grep -c rolsuper", 0, qr/^0$/, 'installcheck, with the server in REGRESS_OPTS');

# make help has a line for each target, and names no other.
my ($makefile) = slurp_file('Makefile');
my %variable = $makefile =~ /^([A-Z_]+) = (.*)$/mg;
my $goals = $variable{SETUP_GOALS} // '';
1 while $goals =~ s/\$\((\w+)\)/$variable{$1}/;
my ($help) = run_command([ 'make', 'help' ]);
is(join(' ', sort $help =~ /^  make ([a-z-]+) /mg), join(' ', sort(split(' ', $goals), 'install', 'installcheck', 'clean')),
    'make help has all targets');
is(join("\n", grep { length > 120 } split /\n/, $help), '', 'make help fits on a terminal');

# Package archives: as apt is configured, or as a variable names them; else it says what is missing.
is("@{[ grep { !m{https://wiki[.]postgresql[.]org/} } @with_hosts ]}", '', 'no script names a host');
if (-x '/usr/bin/apt-get')
{
    # apt's configuration, with lists as apt-get update leaves them.
    my ($architecture) = run_command([ 'dpkg', '--print-architecture' ]);
    mkdir $_ foreach 'lists', 'parts';
    append_to_file('sources', <<'SOURCES');
deb http://mirror.invalid/debian bookworm main
deb http://mirror.invalid/debian bookworm-updates main
deb http://mirror.invalid/debian bookworm-backports main
deb http://other.invalid/security stable-security main
deb http://tools.invalid/debian bookworm main
SOURCES
    foreach (
        [ 'mirror.invalid_debian_dists_bookworm', 'Debian', 'bookworm' ],
        [ 'mirror.invalid_debian_dists_bookworm-updates', 'Debian', 'bookworm-updates' ],
        [ 'mirror.invalid_debian_dists_bookworm-backports', 'Debian Backports', 'bookworm-backports' ],
        [ 'other.invalid_security_dists_stable-security', 'Debian', 'bookworm-security' ],
        [ 'tools.invalid_debian_dists_bookworm', 'Tools', 'bookworm' ])
    {
        my ($file, $origin, $codename) = @$_;
        append_to_file("lists/${file}_Release", "Origin: $origin\nSuite: stable\nCodename: $codename\nComponents: main\n");
        append_to_file("lists/${file}_main_binary-${architecture}_Packages", '');
    }
    append_to_file('apt.conf', <<"CONF");
Dir::Etc::sourcelist "$dir/sources";
Dir::Etc::sourceparts "$dir/parts";
Dir::State::lists "$dir/lists";
CONF
    my $of = "export APT_CONFIG=$dir/apt.conf; $common; LISTS_UPDATED=1 sources_of";
    says("$of Debian trixie", 1, qr{\A\Qdeb http://mirror.invalid/debian/ trixie main
deb http://mirror.invalid/debian/ trixie-updates main
deb http://other.invalid/security/ trixie-security main\E\n\z}, 'archives of another release');
    says("$of Debian sid", 1, qr{\Adeb http://mirror[.]invalid/debian/ sid main\n\z}, 'archives of sid');
    says("$of Ubuntu noble", 0, qr/\Aapt's configuration has no archive of Ubuntu[.] Set UBUNTU_MIRROR to the address of one[.]\n\z/,
        'no archive of Ubuntu');
    says("export UBUNTU_MIRROR=http://ubuntu.invalid; $of Ubuntu noble", 1,
        qr{\A\Qdeb http://ubuntu.invalid noble main universe\E\n\Qdeb http://ubuntu.invalid noble-updates main universe\E\n\z},
        'an archive named by a variable');
}

# What keeps a server's package from making a cluster goes, also when the terminal is lost.
foreach my $how ('exit 0', 'exit 1', 'kill -HUP $BASHPID; sleep 60', 'kill -TERM $BASHPID; sleep 60')
{
    says("$common; as_root() { echo as root: \"\$1\"; }; (without_cluster eval '$how') || true", 1,
        qr/^as root: mkdir\nas root: sh\nas root: rm\n\z/, "without_cluster, $how");
}

# 3. Orphans of what the tests run come to the script, which reaps them, whatever the first process does.
append_to_file('adopts', <<'EOS');
#!/bin/bash
. scripts/stages.sh
sh -c 'sh -c "while [ -d /proc/\$1 ]; do :; done; cut -d\" \" -f 4 /proc/\$\$/stat >parent; echo \$\$ >pid" orphan $$ &'
until [ -s pid ]; do :; done
[ "$(cat parent)" = "$$" ] && echo adopted
while [ -d "/proc/$(cat pid)" ]; do :; done
echo reaped
EOS
chmod 0755, 'adopts';
says('ADOPTS_ORPHANS= timeout 60 ./adopts', 1, qr/^adopted\nreaped\n\z/, 'an orphan');
done_testing();
