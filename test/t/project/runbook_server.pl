# The runbook, docs/runbook.md, where a server lacks something: the library, in a call, at the start of sessions, and at its own; and
# room on disk or in /dev/shm. What it prints is on the page, with a way in.
# Runs in make test-all: it starts servers again and again.

use File::Basename;
use Snowid;

my $page = 'docs/runbook.md';
my ($install_path) = new_prefix();
my $dir = PostgreSQL::Test::Utils::tempdir();
my $node = new_server('runbook_server', install_path => $install_path, extra => ['--wal-segsize=1']);
$node->append_conf('postgresql.conf', "log_error_verbosity = verbose\nmin_wal_size = 2MB\nmax_wal_size = 2MB\n");
system_or_bail('gcc', '-shared', '-fPIC', '-O1', '-o', "$dir/full.so", 'test/modules/full/full.c', '-ldl');

sub start_with_disk
{
    my ($full_of) = @_;
    local %ENV = (%ENV, LD_PRELOAD => "$dir/full.so", SNOWID_FULL => "$dir/full", SNOWID_FULL_OF => $full_of // $node->data_dir);
    start_server($node);
    return;
}
start_with_disk();
$node->safe_psql('postgres', 'CREATE EXTENSION snowid');

# The library is gone: in place of the link to where it is, a directory that has all but it.
my $gone = 'The library is missing';
my $lib = `'$install_path/bin/pg_config' --pkglibdir` =~ s/\n//r;
mkdir "$lib.without" or die "$lib.without: $!";
symlink $_, "$lib.without/" . basename($_) or die "$_: $!" foreach grep { basename($_) ne 'snowid.so' } glob "$lib/*";
my $before = open_session($node);
like(ask($before, 'SELECT snowid_next(0)'), qr/^\d+$/, 'a session has loaded it');
rename $lib, "$lib.with" and rename "$lib.without", $lib or die "$lib: $!";
leads_to($page, $gone, printed_by($node, 'postgres', 'SELECT snowid_next(0)'));
like(ask($before, 'SELECT snowid_next(0)'), qr/^\d+$/, 'that session draws on');
close_session($before);

$node->append_conf('postgresql.conf', "session_preload_libraries = 'snowid'\n");
$node->reload;
wait_for(sub { ($node->psql('postgres', 'SELECT 1'))[2] ne '' }, 'sessions to be refused');
# Before a session begins, psql has no SQLSTATE to print.
leads_to($page, $gone, ($node->psql('postgres', 'SELECT 1'))[2] =~ s/FATAL:  /FATAL:  58P01: /r);
my ($way_in) = said_in($page, $gone, q(PGOPTIONS='-c session_preload_libraries=')) =~ /'(.*)'/;
{
    local $ENV{PGOPTIONS} = $way_in;
    is($node->safe_psql('postgres', 'SELECT 1'), '1', 'but that of a superuser, as the page has it');
}
$node->append_conf('postgresql.conf', "session_preload_libraries = ''\nshared_preload_libraries = 'snowid'\n");
$node->stop;
my $from = -s $node->logfile;
is($node->start(fail_ok => 1), 0, 'preloaded, the server does not start');
my $log = slurp_file($node->logfile, $from);
leads_to($page, $gone, $log =~ /^(.*FATAL:  58P01: .*)$/m ? $1 : '');
rename $lib, "$lib.without" and rename "$lib.with", $lib or die "$lib: $!";
start_with_disk();
like($node->safe_psql('postgres', 'SELECT snowid_next(0)'), qr/^\d+$/, 'installed again');

# The disk is full, so that no segment of WAL can be made. The server ends, and does not restart in tests. No checkpoint writes
# a file before that.
$node->append_conf('postgresql.conf', "max_wal_size = 1GB\ncheckpoint_timeout = 1h\n");
$node->reload;
wait_for(sub { $node->safe_psql('postgres', 'SHOW max_wal_size') eq '1GB' }, 'the setting');
$from = -s $node->logfile;
append_to_file("$dir/full", '');
$node->psql('postgres', q(SELECT pg_logical_emit_message(false, '', repeat('x', 100000)) FROM generate_series(1, 1000)));
wait_for(sub { !-e $node->data_dir . '/postmaster.pid' }, 'the server to end');
unlink "$dir/full";
$log = slurp_file($node->logfile, $from);
said_in($page, 'Disk full', 'PANIC: could not write to file "pg_wal/…": No space left on device');
like($log, qr/PANIC:  53100: could not write to file "pg_wal\/.+": No space left on device$/m, 'Disk full');
$node->{_pid} = undef;
start_server($node);
like($node->safe_psql('postgres', 'SELECT snowid_next(0)'), qr/^\d+$/, 'there is room: it starts');
$node->stop;

# Shared memory is full, as in a container: the first ID since the start fails until there is room, in the same session, too. After
# that only new shards need room.
start_with_disk('/dev/shm/PostgreSQL.');
my $waits = open_session($node);
append_to_file("$dir/full", '');
my $full = printed_by($node, 'postgres', 'SELECT snowid_next(0)');
my ($row) = grep { $full =~ /ERROR:  $_->{codes}[0]: \Q$_->{text}\E/ } messages_of($page);
ok($row, 'shared memory is full: a row') or diag($full);
is(ask($waits, 'SELECT snowid_next(0)'), 'ERROR 53100', 'an open session');
unlink "$dir/full";
like(ask($waits, 'SELECT snowid_next(0)'), qr/^\d+$/, 'there is room: it goes on');
append_to_file("$dir/full", '');
like(printed_by($node, 'postgres', 'SELECT count(snowid_next(shard)) FROM generate_series(0, 8191) AS shard'), qr/ERROR:  53100: /, 'thousands of new shards');
like($_, qr/^\d+$/, 'shards in use go on') foreach ask($waits, 'SELECT snowid_next(0)'), $node->safe_psql('postgres', 'SELECT snowid_next(0)');
close_session($waits);
unlink "$dir/full";
is($node->safe_psql('postgres', 'SELECT count(snowid_next(shard)) FROM generate_series(0, 8191) AS shard'), '8192', 'and new ones when there is room');
$node->stop;
done_testing();
