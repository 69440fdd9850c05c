# The data of an earlier day is restored into a database that is in use, and the server crashes before anybody has drawn: it starts
# with the ceiling that was raised, and not with what was restored. To others the sequence is one, of a row.

use Snowid;

my $node = new_server('restored_data');
$node->append_conf('postgresql.conf', "snowid.max_lead = '1d'\n");
set_clock(-86400, $node);
start_server($node);
my $dump = PostgreSQL::Test::Utils::tempdir() . '/data.sql';
sub sql { return $node->safe_psql('postgres', $_[0]) }

sql('CREATE EXTENSION snowid; SELECT snowid_next(1)');
command_ok([ 'pg_dump', '--data-only', '-f', $dump, '-d', $node->connstr('postgres') ], 'dumped');
set_clock(0);
my $greatest = 0;

sub draws_more
{
    my ($name) = @_;
    my $drawn = draw($node, 'snowid_next(1)', 1000);
    finish($drawn);
    (my $count, $greatest) = check_round($name, $greatest, $drawn);
    is($count, 1000, "$name: drawn");
    return;
}

foreach my $how ('at once', 'once more', 'after a checkpoint')
{
    draws_more("$how: before");
    my $covered = sql('SELECT snowid_ceiling()');
    my $says = "SELECT last_value < extract(epoch FROM '$covered'::timestamptz) * 1000 FROM snowid_internal.ceiling";
    command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $node->connstr('postgres') ], "$how: restored");
    is(sql($says), 't', "$how: the sequence is set back");
    is(sql('SELECT snowid_ceiling()'), $covered, "$how: the ceiling is not");
    sql('CHECKPOINT') if $how =~ /checkpoint/;
    crash_and_start($node, 'kill', -3600);
    is(sql('SELECT snowid_ceiling()'), $covered, "$how: nor after a crash");
    draws_more("$how: after");
    is(sql($says), 'f', "$how: and the sequence says so again");
    set_clock(0);
}
is(sql('SELECT count(*), count(DISTINCT ctid) FROM snowid_internal.ceiling'), '1|1', 'a sequence has one row');
sql('CREATE EXTENSION amcheck');
is(sql(q(SELECT count(*) FROM verify_heapam('snowid_internal.ceiling'))), '0', 'and sound pages');
end_test($node);
