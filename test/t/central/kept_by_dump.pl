# A dump keeps what is attached, also of names that need quoting and in other schemas, but for sequences that are no more; rows of those go with the
# next that is detached. What is renamed stays attached, what is dropped and made anew is not.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my ($source, $node) = ready_source({ orders => 'START 1000001 INCREMENT 10' });
my $dir = PostgreSQL::Test::Utils::tempdir();
my $session = open_session($node);
ask($session, q(CREATE SCHEMA "Far Away"; CREATE SEQUENCE "Far Away"."My Seq"; CREATE ROLE alice; CREATE SEQUENCE dropped));
ask($session, "SELECT snowid_segment_attach('$_', 'central', 'orders')") foreach '"Far Away"."My Seq"', 'dropped';
attach($session, 'orders');
is(ask($session, q(SELECT snowid_segment_next('dropped'); DROP SEQUENCE dropped; CREATE SEQUENCE dropped; SELECT snowid_segment_next('dropped'))), "1000001\n1",
    'dropped and made anew: it is not attached');
my $last = ask($session, q(ALTER SEQUENCE "Far Away"."My Seq" RENAME TO "His Seq"; ALTER SEQUENCE orders SET SCHEMA "Far Away"; SELECT snowid_segment_next('"Far Away"."His Seq"')));
like($last, qr/^1\d{6}$/, 'renamed: it is');
# An owner that is not the one who attached it gets nothing in a restored database either.
ask($session, 'ALTER SEQUENCE "Far Away".orders OWNER TO alice');
my $rows = 'SELECT seq, server, remote_seq, owner, server_oid = (SELECT oid FROM pg_foreign_server WHERE srvname = server), owner_oid = owner::regrole'
  . ' FROM snowid_internal.segment_sources';
is(ask($session, "SELECT count(*) FROM ($rows) AS r"), 3, 'the row of the dropped sequence is there yet');
system_or_bail('pg_dump', '-d', $node->connstr('postgres'), '-f', "$dir/dump.sql");
$node->safe_psql('postgres', 'CREATE DATABASE restored');
command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', "$dir/dump.sql" ], 'restored');
is($node->safe_psql('restored', "$rows ORDER BY seq::text"), qq("Far Away"."His Seq"|central|orders|postgres|t|t\n"Far Away".orders|central|orders|postgres|t|t), 'with its sources');
cmp_ok(attempt($node, q(SELECT snowid_segment_next('"Far Away"."His Seq"')), dbname => 'restored'), '>', $last, 'which serve, above those of before');
is(attempt($node, q(SELECT snowid_segment_next('"Far Away".orders')), dbname => 'restored'), 'ERROR 42501', 'save one that did not before');
ask($session, q(SELECT snowid_segment_detach('"Far Away"."His Seq"')));
is(ask($session, 'SELECT seq FROM snowid_internal.segment_sources'), '"Far Away".orders', 'rows of dropped sequences go with the next that is detached');
is(ask($session, q(DROP SERVER central CASCADE; ALTER SEQUENCE "Far Away".orders OWNER TO postgres)), '', 'the server can be dropped');
is(ask($session, q(SELECT snowid_segment_next('"Far Away".orders'))), 'ERROR 42704', 'what was attached to it says so');
like(ask($session, q(SELECT snowid_segment_detach('"Far Away".orders'); SELECT snowid_segment_next('"Far Away".orders'))), qr/\d$/, 'and can be detached, to go on by itself');
end_test($node, $source);
