# Who owns a sequence and may use a server attaches the one to the other, and detaches it; a server needs a time-out. Others get an error, and
# lock nothing; nor do they give a sequence of another a source by the table, even with the right to insert there.

use Snowid;

my ($source, $node) = ready_source({ orders => 'INCREMENT 100' });
my ($host, $port) = ($source->host, $source->port);
$node->safe_psql('postgres', <<"SQL");
CREATE ROLE alice; CREATE ROLE bob; GRANT CREATE ON SCHEMA public TO alice;
CREATE SERVER slow FOREIGN DATA WRAPPER dblink_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
CREATE USER MAPPING FOR PUBLIC SERVER slow;
CREATE SEQUENCE orders; CREATE SEQUENCE others; CREATE TABLE no_seq (n int);
CREATE SEQUENCE bobs; ALTER SEQUENCE bobs OWNER TO bob; CREATE SEQUENCE alices; ALTER SEQUENCE alices OWNER TO alice;
GRANT USAGE ON SCHEMA snowid_internal TO bob; GRANT SELECT, INSERT ON snowid_internal.segment_sources TO bob;
SQL
my $session = open_session($node);
my $slow = q(SELECT snowid_segment_attach('orders', 'slow', 'orders'));
foreach my $case (
    [ 'bob', q(SELECT snowid_segment_attach('orders', 'central', 'orders')), '42501', qr/must be owner of sequence orders/ ],
    [ 'bob', q(SELECT snowid_segment_detach('orders')), '42501', qr/must be owner of sequence orders/ ],
    [ 'alice', q(SELECT snowid_segment_attach('alices', 'central', 'orders')), '42501', qr/permission denied for foreign server central/ ],
    [ 'alice', q(SELECT snowid_segment_attach('alices', 'slow', 'orders')), '42501', qr/permission denied for foreign server slow/ ],
    [ 'postgres', q(SELECT snowid_segment_attach('orders', 'nowhere', 'orders')), '42704', qr/server "nowhere" does not exist/ ],
    [ 'postgres', q(SELECT snowid_segment_attach('orders', 'dbname=postgres', 'orders')), '42704', qr/server "dbname=postgres" does not exist/ ],
    [ 'postgres', q(SELECT snowid_segment_attach('no_seq', 'central', 'orders')), '42809', qr/"no_seq" is not a sequence/ ],
    [ 'postgres', q(SET TRANSACTION READ ONLY; SELECT snowid_segment_attach('orders', 'central', 'orders')), '25006', qr/snowid_segment_attach/ ],
    [ 'postgres', q(SELECT snowid_segment_attach('orders', 'central', 'missing')), '42P01', qr/relation "missing" does not exist/ ],
    [ 'postgres', $slow, '55000', qr/server "slow" has no "connect_timeout".*HINT:  Use ALTER SERVER slow OPTIONS \(ADD connect_timeout '2'\)/s ],
    [ 'postgres', "ALTER SERVER slow OPTIONS (ADD connect_timeout '0'); $slow", '55000', qr/HINT:  Use ALTER SERVER slow OPTIONS \(SET connect_timeout '2'\)/ ],
    [ 'bob', q(INSERT INTO snowid_internal.segment_sources VALUES ('no_seq', 'central', 'x', 'y')), '42501', qr/no_seq/ ],
    [ 'bob', q(INSERT INTO snowid_internal.segment_sources VALUES ('orders', 'central', 'x', 'y')), '42501', qr/orders/ ])
{
    my ($role, $sql, $sqlstate, $message) = @$case;
    is(ask($session, "BEGIN; SET LOCAL ROLE $role; $sql"), "ERROR $sqlstate", "$role: $sql");
    like($session->{err}, $message, 'says so');
    ask($session, 'ROLLBACK');
}
is(ask($session, "BEGIN; ALTER SERVER slow OPTIONS (ADD connect_timeout '2'); $slow"), '', 'a time-out');
is(ask($session, q(ROLLBACK; BEGIN; SET LOCAL ROLE bob; INSERT INTO snowid_internal.segment_sources VALUES ('bobs', 'central', 'x', 'y'))), '', 'a row of his own sequence');
# A role that the transaction's snapshot does not show is no superuser.
ask($session, 'ROLLBACK; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
$node->safe_psql('postgres', 'CREATE ROLE newer; GRANT bob TO newer');
is(ask($session, q(SET LOCAL ROLE newer; INSERT INTO snowid_internal.segment_sources VALUES ('orders', 'central', 'x', 'y', 'postgres'))), 'ERROR 42501', 'a newer role: not of the sequence of another');
ask($session, 'ROLLBACK; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
$node->safe_psql('postgres', <<"SQL");
CREATE SERVER newer FOREIGN DATA WRAPPER dblink_fdw OPTIONS (host '$host', port '$port', dbname 'postgres', connect_timeout '2');
CREATE USER MAPPING FOR PUBLIC SERVER newer;
SQL
is(ask($session, q(SELECT snowid_segment_attach('orders', 'newer', 'orders'))), 'ERROR 40001', 'nor to a newer server');
is(ask($session, 'ROLLBACK; SELECT count(*) FROM snowid_internal.segment_sources'), '0', 'nothing is attached');

# Whose own it is not, he may not even lock.
ask($session, q(SELECT snowid_segment_attach('others', 'central', 'orders'); BEGIN; INSERT INTO no_seq VALUES (1); SELECT snowid_segment_next('others')));
is(attempt($node, "SET statement_timeout = '1min'; SET ROLE bob; SELECT snowid_segment_attach('$_->[0]', 'central', 'orders')"), "ERROR $_->[1]", "$_->[0], in use: refused without waiting")
  foreach [ 'no_seq', '42809' ], [ 'others', '42501' ];
close_session($session);

# dblink may come later, and to a schema of its own, and the server be one of postgres_fdw.
$node->safe_psql('postgres', 'CREATE DATABASE late');
$node->safe_psql('late', <<"SQL");
CREATE EXTENSION snowid;
CREATE EXTENSION postgres_fdw;
CREATE SERVER early FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres', connect_timeout '2');
CREATE USER MAPPING FOR PUBLIC SERVER early;
CREATE SEQUENCE orders;
SQL
$session = open_session($node, dbname => 'late');
my $early = q(SELECT snowid_segment_attach('orders', 'early', 'orders'));
is(ask($session, $early), 'ERROR 55000', 'no dblink');
like($session->{err}, qr/extension "dblink" is not installed.*HINT:  Use CREATE EXTENSION dblink/s, 'no dblink: says so');
is(ask($session, qq(CREATE SCHEMA "Links"; CREATE EXTENSION dblink SCHEMA "Links"; $early)), '', 'with dblink');
like(ask($session, q(SELECT snowid_segment_next('orders'))), qr/^\d+$/, 'a number');
end_test($node, $source);
