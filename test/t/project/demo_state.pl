# make demo and demo-stop wait for each other, stop only their own server, and leave nothing of it.
#
# Runs in make test-all: make test has the main tests of its module.

use Fcntl qw(:flock);
use IPC::Run;
use Snowid;
use SnowidScripts;

my $dir = copy_of_scripts();

# A demo that a user has begun, whose server was killed.
sub begun_by
{
    my ($user) = @_;
    mkdir 'demo' unless -d 'demo';
    unlink '.demo';
    append_to_file('.demo', "$dir/demo\n/nowhere/bin\n$user\n");
    return;
}

says('scripts/demo demo-stop', 1, qr/^No demo is running[.]$/, 'no demo');
begun_by(scalar getpwuid $<);
says('CDPATH=/tmp:. scripts/demo demo-stop', 1, qr/^The demo is stopped and removed[.]$/, 'a demo whose server was killed');
ok(!-e '.demo' && !-e 'demo', 'and nothing is left of it');
if ($< != 0)
{
    begun_by('root');
    says("scripts/demo $_", 0, qr/^The demo of this checkout runs as root[.] Whoever started it, or root, can end it/, "$_: another user's demo")
      foreach 'demo', 'demo-stop';
    ok(-e '.demo' && -d 'demo', 'and it stays as it is');
    unlink '.demo';
}

# Two at once: the second waits for the lock, says so, and goes on.
open my $lock, '<', $dir or die "$dir: $!";
flock $lock, LOCK_EX or die "flock: $!";
my $said = '';
my $second = IPC::Run::start([ 'scripts/demo', 'demo-stop' ], '<', \'', '>', \$said, '2>&1', IPC::Run::timeout(180));
$second->pump until $said =~ /\n/;
like($said, qr/^Another make demo or demo-stop is at work here[.] This one waits for it[.]\n\z/, 'the second waits');
close $lock;
ok($second->finish, 'and goes on');
like($said, qr/\nNo demo is running[.]\n\z/, 'when the first one is done');

# A bar shows how far a command is, on a terminal only; what it prints is shown if it fails.
my $compile = q(. scripts/common.sh; FILES=4; COMPILED=0; compile() { printf "g++ -c a%s.cpp\\n" 1 2 3; [ -z "${1:-}" ]; }; quietly_with_progress make_step compile);
append_to_file('compile.sh', "$compile \"\$@\"; say built");
says('bash compile.sh', 1, qr/\Abuilt\n\z/, 'no terminal: no bar');
says(q(script -qec 'bash compile.sh' /dev/null </dev/null), 1, qr/Compiling +\[#{20} {20}\] +50%.*built/s, 'a terminal: a bar');
says('bash compile.sh fails', 0, qr/g[+][+] -c a3[.]cpp\n.*This failed: compile fails\n\z/s, 'a failure is shown');
says(q(script -qec 'bash compile.sh fails' /dev/null </dev/null), 0, qr/50%.*g[+][+] -c a3[.]cpp.*This failed: compile fails/s, 'on a terminal, too');
done_testing();
