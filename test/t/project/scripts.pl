# If a machine does not fit, the scripts behind the Makefile's goals say what is missing and what to do. make help has all goals.
# What keeps a server's package from making a cluster goes, also when the terminal is lost. Orphans of what the tests run come to
# the script, which reaps them. Of two demos one waits; make demo-stop ends its own alone. No script names a host, except
# PostgreSQL's and PGXN's, and snowid's own; and none needs procps, which bare machines lack: the shell has a kill of its own.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use SnowidScripts;

my ($with_hosts) = run_command([ qw(grep -rnE), '://[a-z0-9.-]+[.][a-z]|^FROM [^ ]*/', qw(Makefile scripts packaging .ci .github) ]);
chomp(my $homepage = `scripts/metadata homepage`);
my @unknown = grep { !m{https://(?:\w+[.]postgresql[.]org/|manager[.]pgxn[.]org/upload$)|\Q$homepage\E$} } split /\n/, $with_hosts;
is(join("\n", @unknown), '', 'no script names a host');

my ($with_procps) = run_command([ qw(grep -nE), '(as_server_user|as_root|in_root [^ ]+|env|exec|xargs) kill |(^|[(|;&] *|as_server_user )(ps|pgrep|pkill|pidof|free|top|uptime) ', glob 'scripts/*' ]);
is($with_procps, '', 'no script needs procps');

my $dir = copy_of_scripts();
my $common = '. scripts/common.sh';
mkdir $_ foreach 'bin', 'with space';
symlink '/usr/bin/id', 'bin/id' or die "bin/id: $!";
append_to_file('pg_config', "#!/bin/sh\necho /nowhere/\$1\n");
append_to_file('adopts', <<'EOS');
#!/bin/bash
. scripts/stages.sh
sh -c 'sh -c "while [ -d /proc/\$1 ]; do :; done; cut -d\" \" -f 4 /proc/\$\$/stat >parent; echo \$\$ >pid" orphan $$ &'
until [ -s pid ]; do :; done
[ "$(cat parent)" = "$$" ] && echo adopted
while [ -d "/proc/$(cat pid)" ]; do :; done
echo reaped
EOS
chmod 0755, 'pg_config', 'adopts';
my $pg_config = $ENV{PG_CONFIG} // 'pg_config';
my $user = getpwuid $<;
my $no_headers = qr/^Makefile:\d+: [*]{3} PostgreSQL's server headers are not installed: .*postgresql-server-dev-all.*PG_CONFIG/m;

# Has it look as if a user had begun a demo.
sub begun_by { my ($who) = @_; return "mkdir -p demo; printf '%s\\n' '$dir/demo' /nowhere/bin $who >.demo; " }

foreach (
    # What is tried, whether it works, what it says, and the command.
    [ 'neither root nor sudo', $< == 0, $< == 0 ? qr/^$/ : qr/^This needs root, or sudo: true[.] Have an administrator/, "$common; PATH=bin as_root true" ],
    [ 'umask 077', 1, qr/^0022$/, "umask 077; $common; umask" ],
    [ 'TMPDIR with spaces', 0, qr/^make cannot work in a directory whose name has spaces.*Set TMPDIR to another/, "$common; TMPDIR='$dir/with space' make_work" ],
    [ 'no place for programs', 0, qr{^Programs cannot be made and run in /proc[.] Set TMPDIR to}, "$common; TMPDIR=/proc make_work" ],
    -x '/usr/bin/apt-get'
    ? [ 'a release that is too old', 0, qr{^No supported PostgreSQL \(99\) can be installed from this machine's package sources[.] .*https://wiki.postgresql.org/wiki/Apt}s,
        "$common; SUPPORTED_MAJORS=99 LISTS_UPDATED=1 PG_CONFIG= choose_postgres" ]
    : (),
    map({ ([ 'no pg_config', 0, $no_headers, "make PG_CONFIG=bin/pg_config $_" ], [ 'no headers', 0, $no_headers, "make PG_CONFIG=./pg_config $_" ]) } '', 'install'),
    [ 'installcheck without a server', 0,
        qr/connection to server.*`make installcheck` connects to a running server as a superuser[.].*PGUSER.*createuser --superuser $user/s,
        "PGHOST=$dir make PG_CONFIG=$pg_config installcheck" ],
    # That a server's name is in pg_regress' options is taken for enough. There is no program to connect with.
    [ 'installcheck, with the server in REGRESS_OPTS', 0, qr/^0$/, "make PG_CONFIG=$pg_config REGRESS_OPTS=--host=$dir -n installcheck | grep -c rolsuper" ],
    map({ [ "without_cluster, $_", 1, qr/^as root: mkdir\nas root: sh\nas root: rm\n\z/,
              "$common; as_root() { echo as root: \"\$1\"; }; (without_cluster eval '$_') || true" ] }
        'exit 0', 'exit 1', 'kill -HUP $BASHPID; sleep 60', 'kill -TERM $BASHPID; sleep 60'),
    # As PostgreSQL::Test::Utils writes it: what a test died of is followed by the stops of its servers.
    [ 'a test that died', 1, qr/\A== log\/regress_log_run\n[^\n]* ok 1 - a check\nconnection lost\n(?:### Stopping\n){40}== log\/server[.]log\ncrashed\n\z/s,
        "mkdir log; (echo '[08:40:13.219](0.000s) ok 1 - a check'; echo connection lost; for i in {1..40}; do echo '### Stopping'; done) "
          . ">log/regress_log_run; echo crashed >log/server.log; $common; ADOPTS_ORPHANS=1; . scripts/stages.sh; show_logs log" ],
    [ 'an orphan', 1, qr/^adopted\nreaped\n\z/, 'ADOPTS_ORPHANS= timeout 60 ./adopts' ],
    [ 'two demos at once', 1, qr/\AAnother make demo or demo-stop is at work here.*\nNo demo is running[.]\n\z/,
        'exec 9<.; flock 9; scripts/demo demo-stop >said 9<&- & until [ -s said ]; do :; done; flock -u 9; wait $!; cat said' ],
    [ 'a demo whose server was killed', 1, qr/^The demo is stopped and removed[.]$/,
        begun_by($user) . 'CDPATH=/tmp:. scripts/demo demo-stop && ! [ -e .demo -o -e demo ]' ],
    $< != 0 ? [ q(another user's demo), 0, qr/^The demo of this checkout runs as root[.] .*\n\.demo\n\z/,
        begun_by('root') . 'scripts/demo demo-stop; ls .demo; rm -r .demo demo; false' ] : ())
{
    my ($what, $is_done, $pattern, $command) = @$_;
    says($command, $is_done, $pattern, $what);
}

# make help has a line for each target, and names no other.
my %variable = slurp_file('Makefile') =~ /^([A-Z_]+) = (.*)$/mg;
my $goals = $variable{SETUP_GOALS};
1 while $goals =~ s/\$\((\w+)\)/$variable{$1}/;
my ($help) = run_command([ 'make', 'help' ]);
is(join(' ', sort $help =~ /^  make ([a-z-]+) /mg), join(' ', sort(split(' ', $goals), 'install', 'installcheck', 'clean')), 'make help has all targets');
is(join("\n", grep { length > 120 } split /\n/, $help), '', 'make help fits on a terminal');
done_testing();
