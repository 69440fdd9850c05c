# What a caller has, by way of names, settings or connections, changes nothing of where a central
# source's numbers come from; the owner's user mapping counts, with its password; nothing is left open.
# A dump keeps what is attached.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $source = new_server('source');
$source->append_conf('postgresql.conf', "password_encryption = 'scram-sha-256'\n");
my $hba = $source->data_dir . '/pg_hba.conf';
my $trust = slurp_file($hba);
unlink $hba;
append_to_file($hba, "local all numbers scram-sha-256\nlocal all rejected reject\nlocal all peer peer\n$trust");
$source->start;
$source->safe_psql('postgres', <<'SQL');
CREATE ROLE numbers LOGIN PASSWORD 'secret';
CREATE SEQUENCE orders_seq START 1000000000001 INCREMENT 100;
CREATE SEQUENCE alices_seq START 5000000000001 INCREMENT 100;
GRANT USAGE, SELECT ON SEQUENCE alices_seq TO numbers;
CREATE SCHEMA other;
CREATE SEQUENCE other.orders_seq START 7000000000001 INCREMENT 100;
CREATE DATABASE fake;
SQL
$source->safe_psql('fake', 'CREATE SEQUENCE orders_seq START 6000000000001 INCREMENT 100');

my $node = new_server('node');
$node->start;
my ($host, $port) = ($source->host, $source->port);
my $fake = "host=$host port=$port dbname=fake";
my $next = q(SELECT snowid_segment_next('orders_seq'));

# Has the sequence be read from the source anew: what is in memory counts no more.
sub forget { return $node->safe_psql('postgres', q(SELECT setval('orders_seq', last_value, is_called) FROM orders_seq)) }

# Without dblink.
$node->safe_psql('postgres', <<"SQL");
CREATE EXTENSION snowid;
CREATE EXTENSION postgres_fdw;
CREATE SERVER early FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres', connect_timeout '2');
CREATE USER MAPPING FOR PUBLIC SERVER early;
CREATE SEQUENCE orders_seq;
SELECT snowid_segment_attach('orders_seq', 'early', 'orders_seq');
SQL
my $admin = open_session($node);
is(ask($admin, $next), 'ERROR 55000', 'no dblink: refused');
like($admin->{err}, qr/extension "dblink" is not installed.*HINT:  Use CREATE EXTENSION dblink/s, 'no dblink: says so');
ask($admin, 'CREATE SCHEMA "Links"; CREATE EXTENSION dblink SCHEMA "Links"');
is(ask($admin, $next), '1000000000001', q(a server of postgres_fdw, and dblink in a schema of its own));
ask($admin, 'DROP EXTENSION dblink; CREATE EXTENSION dblink');
add_source($node, $source);
ask($admin, q(SELECT snowid_segment_attach('orders_seq', 'central', 'orders_seq')));

# Who merely has the right to the sequence. What is in the way of a careless search_path runs as
# whoever is not careful.
ask($admin, <<'SQL');
CREATE ROLE bob LOGIN;
DROP USER MAPPING FOR PUBLIC SERVER central;
CREATE USER MAPPING FOR CURRENT_USER SERVER central;
GRANT USAGE ON SEQUENCE orders_seq TO bob;
CREATE SCHEMA bob AUTHORIZATION bob
SQL
my $bob = open_session($node);
ask($bob, 'SET ROLE bob');
ask($bob, <<'SQL');
CREATE FUNCTION bob.spy() RETURNS boolean LANGUAGE plpgsql AS
  $$BEGIN RAISE NOTICE 'spied as %', current_user; RETURN true; END$$;
GRANT USAGE ON SCHEMA bob TO PUBLIC;
CREATE DOMAIN bob.bool AS text CHECK (bob.spy());
CREATE DOMAIN bob.bigint AS text CHECK (bob.spy());
CREATE DOMAIN bob.int8 AS text CHECK (bob.spy());
CREATE DOMAIN bob.text AS pg_catalog.text CHECK (bob.spy());
CREATE FUNCTION bob.dblink_connect(pg_catalog.text, pg_catalog.text) RETURNS pg_catalog.text LANGUAGE sql AS
  $$SELECT pg_catalog.text 'OK' WHERE bob.spy()$$;
CREATE FUNCTION bob.dblink(pg_catalog.text, pg_catalog.text) RETURNS SETOF record LANGUAGE sql AS
  $$SELECT 1::pg_catalog.int8, 1::pg_catalog.int8, 1::pg_catalog.int8, 9::pg_catalog.int8, false WHERE bob.spy()$$;
CREATE FUNCTION bob.dblink_disconnect(pg_catalog.text) RETURNS pg_catalog.text LANGUAGE sql AS
  $$SELECT pg_catalog.text 'OK' WHERE bob.spy()$$;
CREATE FUNCTION bob.dblink_get_connections() RETURNS pg_catalog.text[] LANGUAGE sql AS
  $$SELECT '{}'::pg_catalog.text[] WHERE bob.spy()$$;
CREATE FUNCTION bob.equal(pg_catalog.text, pg_catalog.text) RETURNS boolean LANGUAGE sql AS 'SELECT bob.spy()';
CREATE OPERATOR bob.= (LEFTARG = pg_catalog.text, RIGHTARG = pg_catalog.text, FUNCTION = bob.equal);
CREATE DOMAIN pg_temp.bool AS pg_catalog.text CHECK (bob.spy());
CREATE TABLE bob.segment_sources (seq regclass, server pg_catalog.text, remote_seq pg_catalog.text)
SQL
is($bob->{err}, '', 'the traps are set');
forget();
foreach my $path ('bob, pg_catalog, public', 'bob, public, pg_catalog', 'public', '')
{
    ask($bob, "SET search_path = $path") if $path;
    ask($bob, q(SET search_path = '')) if !$path;
    my $number = ask($bob, q(SELECT public.snowid_segment_next('public.orders_seq')));
    like($number, qr/^1\d{12}$/, "search_path '$path': from the source");
    is($bob->{err}, '', "search_path '$path': nothing of the caller's has run");
    forget();
}
ask($bob, 'SET search_path = public');

# Its own connections.
$node->safe_psql('postgres', 'GRANT EXECUTE ON FUNCTION dblink_connect_u(text, text) TO bob');
ask($bob, "SELECT dblink_connect_u('central', '$fake')");
forget();
like(ask($bob, $next), qr/^1\d{12}$/, q(a connection of the server's name is not taken));
is(ask($bob, 'SELECT dblink_get_connections()'), '{central}', 'and stays');
ask($bob, q(SELECT dblink_disconnect('central')));
ask($bob, "SELECT dblink_connect_u('snowid segment ' || pg_backend_pid(), '$fake')");
forget();
my @answers = map { ask($bob, $next) } 1 .. 3;
is(scalar(grep { !/^(?:1\d{12}|ERROR 42710)$/ } @answers), 0, 'nor one of the name that is used') or diag("@answers");
like($answers[-1], qr/^1\d{12}$/, 'which does not last');
ask($bob, 'SELECT dblink_disconnect(unnest(dblink_get_connections()))');
is(ask($bob, 'SELECT dblink_get_connections() IS NULL'), 't', 'no connection is left in the session');
check_no_connection($source, 'nor on the source');

# After errors, a cancelled statement, and transactions that fail.
forget();
ask($bob, "BEGIN; $next");
ask($bob, 'SELECT 1 / 0');
ask($bob, 'ROLLBACK');
forget();
is(ask($bob, "DO 'BEGIN PERFORM snowid_segment_next(''orders_seq''); RAISE division_by_zero; "
          . "EXCEPTION WHEN division_by_zero THEN NULL; END'"), '', 'a subtransaction that fails');
ask($admin, q(SELECT snowid_segment_attach('orders_seq', 'central', 'missing_seq')));
is(ask($_, $next), 'ERROR 42P01', 'a missing sequence') foreach $bob, $admin;
is(ask($_, 'SELECT dblink_get_connections() IS NULL'), 't', 'no connection is left in the session') foreach $bob, $admin;
check_no_connection($source, 'nor on the source');

# 2. An owner who is no superuser has a user mapping with a password.
ask($admin, <<'SQL');
CREATE ROLE alice LOGIN;
GRANT CREATE ON SCHEMA public TO alice;
GRANT USAGE ON FOREIGN SERVER central TO alice;
CREATE USER MAPPING FOR alice SERVER central OPTIONS (user 'numbers', password 'wrong')
SQL
my $alice = open_session($node);
ask($alice, 'SET ROLE alice');
ask($alice, q(CREATE SEQUENCE alices_seq; GRANT USAGE ON SEQUENCE alices_seq TO bob));
is(ask($alice, q(SELECT snowid_segment_attach('alices_seq', 'central', 'alices_seq'))), '', 'attached by a user');
my $draw = q(SELECT snowid_segment_next('alices_seq'));
# What a session is told of a login that is refused: no word of the password, nor of where the server is.
sub check_refused
{
    my ($name, $session, $sql, $sqlstate) = @_;
    my $from = -s $node->logfile;
    is(ask($session, $sql), "ERROR $sqlstate", "$name: $sqlstate");
    like($session->{err}, qr/server "central" has refused the login\nHINT:  See to the user and the password/, "$name: says so");
    unlike($session->{err}, qr/wrong|\Q$host\E/, "$name: and no more");
    like(slurp_file($node->logfile, $from), qr/has refused the login\n.*DETAIL:  .*(?:FATAL|password)/, "$name: the log has more");
    return;
}
sub alter_mapping { return ask($alice, "ALTER USER MAPPING FOR alice SERVER central OPTIONS ($_[0])") }
check_refused('the wrong password', $alice, $draw, '28P01');
alter_mapping(q(SET password 'secret'));
like(ask($_, $draw), qr/^5\d{12}$/, 'the right one: all who may draw do') foreach $alice, $bob, $admin;
ask($alice, q(SELECT setval('alices_seq', 600000)));
foreach my $user ('postgres', 'nosuch', 'rejected', 'peer')
{
    alter_mapping("SET user '$user'");
    check_refused("as $user", $alice, $draw, '28000');
}
alter_mapping(q(SET user 'numbers', DROP password));
check_refused('no password', $alice, $draw, '28000');
alter_mapping(q(ADD password 'secret'));
like(ask($alice, $draw), qr/^5\d{12}$/, 'the role with the password');
# A superuser may have none, where the server asks for none.
ask($admin, q(ALTER USER MAPPING FOR CURRENT_USER SERVER central OPTIONS (ADD user 'numbers')));
ask($admin, q(SELECT snowid_segment_attach('orders_seq', 'central', 'orders_seq')));
check_refused('a superuser without a password', $admin, $next, '28P01');
ask($admin, 'ALTER USER MAPPING FOR CURRENT_USER SERVER central OPTIONS (DROP user)');
check_no_connection($source, 'no connection is left');
ask($admin, 'REVOKE USAGE ON FOREIGN SERVER central FROM alice');
ask($alice, q(SELECT setval('alices_seq', 700000)));
is(ask($bob, $draw), 'ERROR 42501', 'the owner has lost the right to the server');
ask($admin, 'GRANT USAGE ON FOREIGN SERVER central TO alice');

# 3. Sequences that are dropped, and a dump.
ask($admin, q(SELECT snowid_segment_attach('orders_seq', 'central', 'orders_seq')));
ask($admin, q(CREATE SEQUENCE dropped_seq; SELECT snowid_segment_attach('dropped_seq', 'central', 'orders_seq')));
ask($admin, q(SELECT snowid_segment_next('dropped_seq'); DROP SEQUENCE dropped_seq; CREATE SEQUENCE dropped_seq));
is(ask($admin, q(SELECT snowid_segment_next('dropped_seq'))), '1', 'made anew: it is not attached');
like(ask($admin, $next), qr/^1\d{12}$/, 'the others are');
ask($admin, 'ALTER SEQUENCE orders_seq RENAME TO "Other Orders"');
my $renamed = q(SELECT snowid_segment_next('"Other Orders"'));
like(ask($admin, $renamed), qr/^1\d{12}$/, 'renamed: it is');
system_or_bail('pg_dump', '-d', $node->connstr('postgres'), '-f', "$dir/dump.sql");
my $rows = ask($admin, 'SELECT count(*) FROM snowid.segment_sources');
is($rows, '3', 'the row of the dropped sequence is there yet');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', "$dir/dump.sql" ], 'restored');
my $sources = 'SELECT seq, server, remote_seq FROM snowid.segment_sources ORDER BY seq::text';
is($node->safe_psql('restored', $sources), qq("Other Orders"|central|orders_seq\nalices_seq|central|alices_seq),
    'and what is attached with it, but for sequences that are no more');
my $last = ask($admin, $renamed);
cmp_ok($node->safe_psql('restored', $renamed), '>', $last, 'it draws from the source, above those of before');
ask($admin, q(SELECT snowid_segment_detach('"Other Orders"')));
is(ask($admin, 'SELECT string_agg(seq::text, $$ $$) FROM snowid.segment_sources'), 'alices_seq',
    'rows of dropped sequences go with the next that is detached');
is(ask($admin, 'DROP SERVER central CASCADE'), '', 'the server can be dropped');
ask($alice, q(SELECT setval('alices_seq', 800000)));
is(ask($alice, $draw), 'ERROR 42704', 'what was attached to it says so');
is(ask($alice, q(SELECT snowid_segment_detach('alices_seq'))), '', 'and can be detached');
cmp_ok(ask($alice, $draw), '>', 800000, 'to go on by itself');

close_session($admin, $alice, $bob);
$_->stop foreach $node, $source;
done_testing();
