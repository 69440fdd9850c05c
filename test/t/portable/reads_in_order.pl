# portable/snowid.sql: beside writers of many shards, who commit late, a reader who goes by watermarks reads each row once, and in
# order; one who goes by the last ID misses some.
# Runs in make test-all: writers and readers go on for long.

use IPC::Run;
use Snowid;

my $node = new_server('reads_in_order');
$node->start;
create_portable($node, 'app', shards => [ 1 .. 8 ]);
$node->safe_psql('app', 'CREATE TABLE events (id bigint PRIMARY KEY DEFAULT snowid_next())');
my $dir = PostgreSQL::Test::Utils::tempdir();
append_to_file("$dir/writes", <<'SQL' x 60 . "\\echo done\n");
INSERT INTO events (id) VALUES (snowid_next((random() * 8)::int));
BEGIN;
INSERT INTO events DEFAULT VALUES;
SELECT FROM pg_sleep(random() * 0.05);
COMMIT;
SQL
my @writers = map { { file => "$dir/out$_", run => IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('app'), '-f', "$dir/writes" ],
      '<', \undef, '>', "$dir/out$_", '2>', "$dir/out$_.err") } } 1 .. 6;
my ($reader, $naive_reader, $writer) = map { open_session($node, dbname => 'app') } 1 .. 3;
# One that commits late for certain.
my $late = ask($writer, 'BEGIN; INSERT INTO events DEFAULT VALUES RETURNING id');
my $next = $node->safe_psql('app', 'INSERT INTO events DEFAULT VALUES RETURNING id');
my ($after, $polls, @read, @naive) = (0, 0);
sub poll_naively { return push @naive, split /\n/, ask($naive_reader, "SELECT id FROM events WHERE id > @{[ $naive[-1] // 0 ]} ORDER BY id") }

sub poll
{
    poll_naively();
    my $to = ask($reader, q(SELECT snowid_watermark('events')));
    push @read, split /\n/, ask($reader, "SELECT id FROM events WHERE id > $after AND id <= $to ORDER BY id");
    $after = $to;
    return $polls++;
}
poll_naively();
is(ask($reader, q(SET lock_timeout = '50ms'; SELECT snowid_watermark('events'))), 'ERROR 55P03', 'it waits for the late one');
ask($writer, 'COMMIT');
ask($reader, 'RESET lock_timeout');
do { poll() } while (grep { slurp_file($_->{file}) !~ /done/ } @writers);
finish(@writers);
poll() for 1, 2;
is(errors_of(@writers), '', 'no writer met an error');
my @there = split /\n/, $node->safe_psql('app', 'SELECT id FROM events ORDER BY id');
is(join(' ', @read), join(' ', @there), sprintf 'in %d polls %d rows are read once, and in order', $polls, scalar(@there));
my %naive = map { $_ => 1 } @naive;
ok(!$naive{$late} && $naive{$next}, 'by the last ID ' . grep({ !$naive{$_} } @there) . ' are missed');
end_test($node);
