# Which source a server's sequence was attached to it knows through rollbacks, crashes, dumps and copies of its database; a source that is down or a
# standby is not attached, one that others draw from meanwhile is.
# Runs in make test-all: sessions draw for long.

use Snowid;

my ($source, $node) = ready_source({ ship => 'INCREMENT 1000', busy => 'INCREMENT 10' }, source => { allows_streaming => 1 });
my $dir = PostgreSQL::Test::Utils::tempdir();
my $attach = q(SELECT snowid_segment_attach('busy', 'central', 'busy'));
$node->safe_psql('postgres', "CREATE SEQUENCE ship; CREATE SEQUENCE busy; SELECT snowid_segment_attach('ship', 'central', 'ship'); $attach");
sub rows { return $node->safe_psql($_[0] // 'postgres', 'SELECT * FROM snowid.segment_sources ORDER BY seq::text') }
my $known = rows();
$node->safe_psql('postgres', q(BEGIN; SELECT snowid_segment_detach('ship'); ROLLBACK));
is(rows(), $known, 'rolled back');
crash_and_start($node, 'kill');
is(rows(), $known, 'after a crash');
system_or_bail('pg_dump', '-d', $node->connstr('postgres'), '-f', "$dir/node.sql");
$node->safe_psql('postgres', 'CREATE DATABASE dumped TEMPLATE template0; CREATE DATABASE copied TEMPLATE postgres');
system_or_bail('psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-o', "$dir/out", '-d', $node->connstr('dumped'), '-f', "$dir/node.sql");
$source->safe_psql('postgres', 'DROP SEQUENCE ship; CREATE SEQUENCE ship INCREMENT 1000 START 90000001');
foreach my $dbname ('dumped', 'copied')
{
    is(rows($dbname), $known, "$dbname: as before");
    is(attempt($node, q(SELECT snowid_segment_next('ship')), dbname => $dbname), 'ERROR 55000', "$dbname: no number of another source");
}

$node->safe_psql('postgres', 'CREATE TABLE drawn (no bigint PRIMARY KEY)');
my @drawing = map { open_session($node) } 1 .. 2;
start_asking($_, q(DO $$ BEGIN FOR i IN 1 .. 3000 LOOP INSERT INTO drawn SELECT snowid_segment_next('busy'); COMMIT; END LOOP; END $$)) foreach @drawing;
my ($times, %answers) = (0);
until (is_answered($drawing[0]) && is_answered($drawing[1]))
{
    $answers{ attempt($node, $attach) } = 1;
    $times++;
}
is(join(' ', keys %answers), '', "attached again $times times while others draw");
is(answer($_), '', 'who draw without an error') foreach @drawing;
is($node->safe_psql('postgres', 'SELECT count(*) FROM drawn'), '6000', 'and get a number each time');
close_session(@drawing);

$known = rows();
my $standby = new_standby($source, 'standby');
$standby->start;
point_at($node, $standby);
is(attempt($node, $attach), 'ERROR 25006', 'a standby is not attached');
$standby->stop;
is(attempt($node, $attach), 'ERROR 08006', 'nor a server that is down');
is(rows(), $known, 'nothing has changed');
end_test($node, $source);
