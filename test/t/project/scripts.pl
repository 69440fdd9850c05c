# The scripts behind make's goals: make demo and demo-stop wait for one another and end nobody else's server; and where
# a machine does not fit they say why, and what to do.

use strict;
use warnings;

use Fcntl qw(:flock);
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir();
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
