# Where the extension, or its table of sources, goes while a session refills, or something else stands in the place of the table, there is an error.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('dropped', sql => 'CREATE SEQUENCE plain');
my ($admin, $refiller) = map { open_session($node) } 1 .. 2;
ask($refiller, q(SELECT snowid_segment_next('plain')));
foreach my $drop ('DROP EXTENSION snowid CASCADE', 'ALTER EXTENSION snowid DROP TABLE snowid_internal.segment_sources')
{
    ask($admin, "BEGIN; LOCK TABLE snowid_internal.segment_sources; $drop");
    start_waiting($refiller, q(SELECT snowid_segment_next('plain') FROM generate_series(1, 1000)));
    ask($admin, $drop =~ /TABLE/ ? 'COMMIT' : 'COMMIT; CREATE EXTENSION snowid');
    is(answer($refiller), 'ERROR 55000', "$drop: a refill beside it");
}
close_session($admin, $refiller);
$node->safe_psql('postgres', 'CREATE DATABASE replaced');
my $view = join ', ', map { /oid$|^seq$/ ? "1::oid AS $_" : "''::text AS $_" } qw(seq server remote_seq source_identity owner server_oid owner_oid);
foreach my $make ("CREATE VIEW snowid_internal.segment_sources AS SELECT $view",
    'CREATE TABLE snowid_internal.segment_sources (seq oid, server text, remote_seq text, source_identity text, owner text, server_oid oid, owner_oid oid) PARTITION BY LIST (seq)')
{
    my ($thing) = $make =~ /^CREATE (\w+)/;
    is(attempt($node, 'CREATE EXTENSION snowid; CREATE SEQUENCE IF NOT EXISTS s INCREMENT 10; ALTER EXTENSION snowid DROP TABLE snowid_internal.segment_sources;'
              . ' ALTER EXTENSION snowid DROP VIEW snowid.stat_counters; ALTER EXTENSION snowid DROP VIEW snowid.segment_sources; DROP TABLE snowid_internal.segment_sources CASCADE;'
              . " $make; ALTER EXTENSION snowid ADD $thing snowid_internal.segment_sources; SELECT snowid_segment_next('s')",
            dbname => 'replaced'), 'ERROR 55000', "a $thing in its place");
    $node->safe_psql('replaced', 'DROP EXTENSION snowid');
}
end_test($node);
