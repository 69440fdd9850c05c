# A central source: whose rights count, and which. What a caller has, by way of rights, names, settings or connections,
# changes nothing of where numbers come from: the owner's user mapping counts, with its password, and who owns a
# sequence attaches it. Nothing of the connection is left open, and nothing is locked that is another's. The role that
# draws needs USAGE on the sequence there, and nothing else. A dump keeps what is attached.

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
CREATE ROLE clerks LOGIN;
CREATE SEQUENCE orders_seq START 1000000000001 INCREMENT 100;
CREATE SEQUENCE alices_seq START 5000000000001 INCREMENT 100;
CREATE SEQUENCE others_seq INCREMENT 100;
GRANT USAGE, SELECT ON SEQUENCE alices_seq TO numbers;
CREATE SCHEMA other;
CREATE SEQUENCE other.orders_seq START 7000000000001 INCREMENT 100;
CREATE DATABASE fake;
CREATE DATABASE strict;
SQL
$source->safe_psql('fake', 'CREATE SEQUENCE orders_seq START 6000000000001 INCREMENT 100');

my $node = new_server('node');
$node->start;
$node->safe_psql('postgres', $_) foreach 'CREATE ROLE alice LOGIN', 'CREATE ROLE bob LOGIN',
  'CREATE DATABASE others', 'CREATE DATABASE clerks';
my ($host, $port) = ($source->host, $source->port);
my $fake = "host=$host port=$port dbname=fake";

# Has a session run a statement that fails, and checks its SQLSTATE and its message.
sub check_error
{
    my ($name, $session, $sql, $sqlstate, $message) = @_;
    is(ask($session, $sql), "ERROR $sqlstate", "$name: $sqlstate");
    like($session->{err}, $message, "$name: says so");
    return;
}

# 1. Who may attach what to which server.
add_source($node, $source, dbname => 'others');
my ($admin, $alice, $bob) = map { open_session($node, dbname => 'others') } 1 .. 3;
ask($alice, 'SET ROLE alice');
ask($bob, 'SET ROLE bob');
ask($admin, <<"SQL");
GRANT CREATE ON SCHEMA public TO alice;
CREATE SERVER slow FOREIGN DATA WRAPPER dblink_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
CREATE USER MAPPING FOR PUBLIC SERVER slow;
CREATE SEQUENCE orders_seq;
CREATE SEQUENCE others_seq;
GRANT USAGE ON SEQUENCE orders_seq TO bob;
CREATE TABLE no_seq (n int)
SQL
check_error('not the owner', $bob, q(SELECT snowid_segment_attach('orders_seq', 'central', 'orders_seq')),
    '42501', qr/must be owner of sequence orders_seq/);
check_error('not the owner, detach', $bob, q(SELECT snowid_segment_detach('orders_seq')),
    '42501', qr/must be owner of sequence orders_seq/);
ask($alice, 'CREATE SEQUENCE alice_seq');
check_error('no right to the server', $alice, q(SELECT snowid_segment_attach('alice_seq', 'central', 'orders_seq')),
    '42501', qr/permission denied for foreign server central/);
check_error('no server', $admin, q(SELECT snowid_segment_attach('orders_seq', 'nowhere', 'orders_seq')),
    '42704', qr/server "nowhere" does not exist/);
check_error('connection options', $admin, q(SELECT snowid_segment_attach('orders_seq', 'dbname=postgres', 'orders_seq')),
    '42704', qr/server "dbname=postgres" does not exist/);
check_error('not a sequence', $admin, q(SELECT snowid_segment_attach('no_seq', 'central', 'orders_seq')),
    '42809', qr/"no_seq" is not a sequence/);
ask($admin, 'BEGIN READ ONLY');
check_error('read-only', $admin, q(SELECT snowid_segment_attach('orders_seq', 'central', 'orders_seq')),
    '25006', qr/snowid_segment_attach/);
ask($admin, 'ROLLBACK');
my $slow = q(SELECT snowid_segment_attach('orders_seq', 'slow', 'orders_seq'));
check_error('no time-out', $admin, $slow, '55000',
    qr/server "slow" has no "connect_timeout".*HINT:  Use ALTER SERVER slow OPTIONS \(ADD connect_timeout '2'\)/s);
ask($admin, q(ALTER SERVER slow OPTIONS (ADD connect_timeout '0')));
check_error('a time-out of 0, which is none', $admin, $slow, '55000',
    qr/server "slow" has no "connect_timeout".*HINT:  Use ALTER SERVER slow OPTIONS \(SET connect_timeout '2'\)/s);
ask($admin, q(ALTER SERVER slow OPTIONS (SET connect_timeout '2')));
is(ask($admin, "BEGIN; $slow"), '', 'a time-out');
ask($admin, 'ROLLBACK');
is(ask($admin, 'SELECT count(*) FROM snowid_internal.segment_sources'), '0', 'nothing is attached');

# Whose own it is not, he may not even lock.
ask($admin, "SELECT snowid_segment_attach('$_', 'central', 'others_seq')") foreach 'orders_seq', 'others_seq';
ask($admin, 'BEGIN');
ask($admin, 'INSERT INTO no_seq VALUES (1)');
is(ask($bob, q(SELECT snowid_segment_attach('no_seq', 'central', 'orders_seq'))), 'ERROR 42809', 'a table');
ask($admin, q(SELECT snowid_segment_next('others_seq')));
is(ask($bob, q(SELECT snowid_segment_attach('others_seq', 'central', 'orders_seq'))),
    'ERROR 42501', 'a sequence of another, drawn from at the time: refused without waiting');
ask($admin, 'COMMIT');

# Nor may he, though he owns the extension or restores a dump, give it a source.
ask($admin, 'GRANT USAGE ON SCHEMA snowid_internal TO bob; GRANT SELECT, INSERT ON snowid_internal.segment_sources TO bob');
is(ask($bob, q(INSERT INTO snowid_internal.segment_sources VALUES ('no_seq', 'central', 'x'))), 'ERROR 42809', 'no sequence');
ask($admin, 'CREATE SEQUENCE admins_seq; CREATE SEQUENCE bobs_seq; ALTER SEQUENCE bobs_seq OWNER TO bob');
is(ask($bob, q(INSERT INTO snowid_internal.segment_sources VALUES ('admins_seq', 'central', 'x', 'y'))),
    'ERROR 42501', 'nor a source of a sequence of another');
is(ask($bob, q(INSERT INTO snowid_internal.segment_sources VALUES ('bobs_seq', 'central', 'x', 'y'))), '', 'but of his own');

# A caller who cancels all the time never gets the connection.
my $victim = backend_of($bob);
my $canceller = open_session($node, dbname => 'others');
my $next = q(SELECT snowid_segment_next('orders_seq'));
start_asking($canceller, <<"SQL");
DO \$\$ BEGIN FOR i IN 1 .. 1500 LOOP PERFORM pg_cancel_backend($victim), pg_sleep(0.0005); END LOOP; END \$\$
SQL
my $left_open = 0;
foreach my $round (1 .. 30)
{
    ask($admin, q(SELECT setval('orders_seq', 1)));
    ask($bob, $next);
    my $open = ask($bob, 'SELECT coalesce(array_length(dblink_get_connections(), 1), 0)');
    $left_open++ if $open =~ /^\d+$/ && $open > 0;
}
answer($canceller);
is($left_open, 0, 'no connection of the owner is left to one who cancels');
ask($bob, 'SELECT 1');
like(ask($bob, $next), qr/^\d+$/, 'who is served when he lets it be');
close_session($admin, $alice, $bob, $canceller);
check_no_connection($source, 'no connection is left');

# Has the sequence be read from the source anew: what is in memory counts no more.
sub forget { return $node->safe_psql('postgres', q(SELECT setval('orders_seq', last_value, is_called) FROM orders_seq)) }

# 2. What a caller has of his own. First without dblink.
$node->safe_psql('postgres', <<"SQL");
CREATE EXTENSION snowid;
CREATE EXTENSION postgres_fdw;
CREATE SERVER early FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres', connect_timeout '2');
CREATE USER MAPPING FOR PUBLIC SERVER early;
CREATE SEQUENCE orders_seq;
SQL
$admin = open_session($node);
my $early = q(SELECT snowid_segment_attach('orders_seq', 'early', 'orders_seq'));
is(ask($admin, $early), 'ERROR 55000', 'no dblink: refused');
like($admin->{err}, qr/extension "dblink" is not installed.*HINT:  Use CREATE EXTENSION dblink/s, 'no dblink: says so');
ask($admin, 'CREATE SCHEMA "Links"; CREATE EXTENSION dblink SCHEMA "Links"');
is(ask($admin, $early), '', 'with dblink: attached');
is(ask($admin, $next), '1000000000001', q(a server of postgres_fdw, and dblink in a schema of its own));
ask($admin, 'DROP EXTENSION dblink; CREATE EXTENSION dblink');
add_source($node, $source);
ask($admin, q(SELECT snowid_segment_attach('orders_seq', 'central', 'orders_seq')));

# Who merely has the right to the sequence. What is in the way of a careless search_path runs as
# whoever is not careful.
ask($admin, <<'SQL');
DROP USER MAPPING FOR PUBLIC SERVER central;
CREATE USER MAPPING FOR CURRENT_USER SERVER central;
GRANT USAGE ON SEQUENCE orders_seq TO bob;
CREATE SCHEMA bob AUTHORIZATION bob
SQL
$bob = open_session($node);
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
is(ask($admin, q(SELECT snowid_segment_attach('orders_seq', 'central', 'missing_seq'))), 'ERROR 42P01', 'a missing sequence is not attached');
ask($admin, q(UPDATE snowid_internal.segment_sources SET remote_seq = 'missing_seq'));
forget();
is(ask($_, $next), 'ERROR 42P01', 'a missing sequence') foreach $bob, $admin;
is(ask($_, 'SELECT dblink_get_connections() IS NULL'), 't', 'no connection is left in the session') foreach $bob, $admin;
check_no_connection($source, 'nor on the source');

# 3. An owner who is not a superuser has a user mapping with a password.
ask($admin, <<'SQL');
GRANT CREATE ON SCHEMA public TO alice;
GRANT USAGE ON FOREIGN SERVER central TO alice;
CREATE USER MAPPING FOR alice SERVER central OPTIONS (user 'numbers', password 'secret')
SQL
$alice = open_session($node);
ask($alice, 'SET ROLE alice');
ask($alice, q(CREATE SEQUENCE alices_seq; GRANT USAGE ON SEQUENCE alices_seq TO bob));
my $attach = q(SELECT snowid_segment_attach('alices_seq', 'central', 'alices_seq'));
is(ask($alice, $attach), '', 'attached by a user');
is(ask($admin, $attach), '', 'or by a superuser, with the rights of the owner');
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
alter_mapping(q(SET password 'wrong'));
check_refused('the wrong password', $alice, $draw, '28P01');
check_refused('the wrong password, attaching', $alice, $attach, '28P01');
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
check_refused('a superuser without a password', $admin, q(SELECT snowid_segment_attach('orders_seq', 'central', 'orders_seq')), '28P01');
ask($admin, 'ALTER USER MAPPING FOR CURRENT_USER SERVER central OPTIONS (DROP user)');
check_no_connection($source, 'no connection is left');
ask($admin, 'REVOKE USAGE ON FOREIGN SERVER central FROM alice');
ask($alice, q(SELECT setval('alices_seq', 700000)));
is(ask($bob, $draw), 'ERROR 42501', 'the owner has lost the right to the server');
ask($admin, 'GRANT USAGE ON FOREIGN SERVER central TO alice');

# 4. Sequences that are dropped, and a dump.
ask($admin, q(SELECT snowid_segment_attach('orders_seq', 'central', 'orders_seq')));
ask($admin, q(CREATE SEQUENCE dropped_seq; SELECT snowid_segment_attach('dropped_seq', 'central', 'orders_seq')));
ask($admin, q(SELECT snowid_segment_next('dropped_seq'); DROP SEQUENCE dropped_seq; CREATE SEQUENCE dropped_seq));
is(ask($admin, q(SELECT snowid_segment_next('dropped_seq'))), '1', 'made anew: it is not attached');
like(ask($admin, $next), qr/^1\d{12}$/, 'the others are');
ask($admin, 'ALTER SEQUENCE orders_seq RENAME TO "Other Orders"');
my $renamed = q(SELECT snowid_segment_next('"Other Orders"'));
like(ask($admin, $renamed), qr/^1\d{12}$/, 'renamed: it is');
system_or_bail('pg_dump', '-d', $node->connstr('postgres'), '-f', "$dir/dump.sql");
my $rows = ask($admin, 'SELECT count(*) FROM snowid_internal.segment_sources');
is($rows, '3', 'the row of the dropped sequence is there yet');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', "$dir/dump.sql" ], 'restored');
my $sources = 'SELECT seq, server, remote_seq FROM snowid_internal.segment_sources ORDER BY seq::text';
is($node->safe_psql('restored', $sources), qq("Other Orders"|central|orders_seq\nalices_seq|central|alices_seq),
    'and what is attached with it, but for sequences that are no more');
my $last = ask($admin, $renamed);
cmp_ok($node->safe_psql('restored', $renamed), '>', $last, 'it draws from the source, above those of before');
ask($admin, q(SELECT snowid_segment_detach('"Other Orders"')));
is(ask($admin, 'SELECT string_agg(seq::text, $$ $$) FROM snowid_internal.segment_sources'), 'alices_seq',
    'rows of dropped sequences go with the next that is detached');
is(ask($admin, 'DROP SERVER central CASCADE'), '', 'the server can be dropped');
ask($alice, q(SELECT setval('alices_seq', 800000)));
is(ask($alice, $draw), 'ERROR 42704', 'what was attached to it says so');
is(ask($alice, q(SELECT snowid_segment_detach('alices_seq'))), '', 'and can be detached');
cmp_ok(ask($alice, $draw), '>', 800000, 'to go on by itself');

close_session($admin, $alice, $bob);

# 5. What the role that draws needs there, where nobody has a right that he was not given: USAGE on the sequence, and
# nothing else. What sessions here say when it lacks that, or the schema's: 42501, and numbers as soon as it has it.
$source->safe_psql('strict', <<'SQL');
REVOKE ALL ON DATABASE strict FROM PUBLIC;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT CONNECT ON DATABASE strict TO clerks;
CREATE SCHEMA hub;
CREATE SEQUENCE hub.ship INCREMENT 10;
GRANT USAGE ON SCHEMA hub TO clerks;
GRANT USAGE ON SEQUENCE hub.ship TO clerks;
SQL
add_source($node, $source, dbname => 'clerks');
$node->safe_psql('clerks', <<'SQL');
LOAD 'snowid';
ALTER DATABASE clerks SET snowid.segment_adapt = off;
ALTER SERVER central OPTIONS (SET dbname 'strict');
ALTER USER MAPPING FOR PUBLIC SERVER central OPTIONS (ADD user 'clerks');
CREATE ROLE clerk LOGIN;
CREATE SEQUENCE ship;
GRANT USAGE ON SEQUENCE ship TO clerk;
SELECT snowid_segment_attach('ship', 'central', 'hub.ship');
SQL
is($source->safe_psql('strict', <<'SQL'), '1|f', 'attached, and nothing was taken');
REVOKE USAGE ON SCHEMA hub FROM clerks;
REVOKE USAGE ON SEQUENCE hub.ship FROM clerks;
SELECT last_value, is_called FROM hub.ship
SQL
my $clerk = open_session($node, dbname => 'clerks', user => 'clerk');
my $ship = q(SELECT snowid_segment_next('ship'));

# What is refused, until all that is granted there is: the schema's USAGE, and the sequence's.
sub check_lacking
{
    my ($name, $message) = @_;
    is(ask($clerk, $ship), 'ERROR 42501', "$name: refused");
    like($clerk->{err}, $message, "$name: and told what is lacking");
    return;
}
check_lacking('no right to the schema', qr/permission denied for schema hub/);
$source->safe_psql('strict', 'GRANT USAGE ON SCHEMA hub TO clerks');
check_lacking('no right to the sequence', qr/permission denied for sequence ship/);
$source->safe_psql('strict', 'GRANT SELECT ON SEQUENCE hub.ship TO clerks');
check_lacking('SELECT alone', qr/permission denied for sequence ship/);
is($source->safe_psql('strict', 'SELECT last_value FROM hub.ship'), '1', 'nothing was taken');

# USAGE alone. Several blocks, so that all that is asked for at a refill is asked for more than once;
# and those that are allocated ahead, of which no session would be told that they fail.
$source->safe_psql('strict', 'REVOKE SELECT ON SEQUENCE hub.ship FROM clerks; GRANT USAGE ON SEQUENCE hub.ship TO clerks');
is($source->safe_psql('strict', <<'SQL'), 't|f|f', 'USAGE alone');
SELECT has_sequence_privilege('clerks', 'hub.ship', 'USAGE'), has_sequence_privilege('clerks', 'hub.ship', 'SELECT'),
  has_sequence_privilege('clerks', 'hub.ship', 'UPDATE')
SQL
my $from = -s $node->logfile;
is(join(' ', map { ask($clerk, $ship) } 1 .. 35), join(' ', 1 .. 35), 'USAGE alone: numbers');
unlike(slurp_file($node->logfile, $from), qr/numbers from server/, 'USAGE alone: no refill has failed');
# Many at once, for ten minutes ahead.
ask($clerk, 'SET snowid.segment_adapt = on');
is(ask($clerk, q(SELECT count(DISTINCT n) FROM snowid_segment_batch('ship', 5000) AS n)), '5000', 'USAGE alone: many');

# Taken away it is not missed before the numbers are used up, and then it is.
$source->safe_psql('strict', 'REVOKE USAGE ON SEQUENCE hub.ship FROM clerks');
like(ask($clerk, $ship), qr/^\d+$/, 'no right any more: numbers that are there');
$node->safe_psql('clerks', q(SELECT setval('ship', last_value, is_called) FROM ship));
check_lacking('no right any more', qr/permission denied for sequence ship/);
$source->safe_psql('strict', 'GRANT USAGE ON SEQUENCE hub.ship TO clerks');
like(ask($clerk, $ship), qr/^\d+$/, 'given back: at once');

# Refused the login, who has numbers goes on, and the log says why there are no more.
# After a restart the recent rate is not known, so that a block is allocated, of ten.
close_session($clerk);
$node->restart;
$clerk = open_session($node, dbname => 'clerks', user => 'clerk');
like(ask($clerk, $ship), qr/^\d+$/, 'the first of a block');
$node->safe_psql('clerks', q(ALTER USER MAPPING FOR PUBLIC SERVER central OPTIONS (SET user 'nosuch')));
$from = -s $node->logfile;
is(scalar(grep { !/^\d+$/ } map { ask($clerk, $ship) } 2 .. 10), 0, 'refused the login: the rest of the block');
like(slurp_file($node->logfile, $from), qr/LOG:  could not allocate numbers from server "central".*\n.*DETAIL:  .*role "nosuch" does not exist/,
    'refused the login: the log says why');
is(ask($clerk, $ship), 'ERROR 28000', 'refused the login: then an error');
like($clerk->{err}, qr/server "central" has refused the login/, 'refused the login: that says so');

close_session($clerk);
check_log($node);
$_->stop foreach $node, $source;
done_testing();
