# What a caller has of his own, objects in his search_path, connections, and cancels, changes nothing of where numbers come from: nothing of his
# runs with the rights of the owner, and no connection of the owner's is left to him.
# Runs in make test-all: it cancels again and again.

use Snowid;

my ($source, $node) = ready_source({ orders => 'START 1000000000001 INCREMENT 100' });
$source->safe_psql('postgres', 'CREATE DATABASE fake');
$source->safe_psql('fake', 'CREATE SEQUENCE orders START 6000000000001 INCREMENT 100');
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE bob;
CREATE SEQUENCE orders;
GRANT USAGE ON SEQUENCE orders TO bob;
SELECT snowid_segment_attach('orders', 'central', 'orders');
DROP USER MAPPING FOR PUBLIC SERVER central;
CREATE USER MAPPING FOR CURRENT_USER SERVER central;
CREATE SCHEMA bob AUTHORIZATION bob;
GRANT EXECUTE ON FUNCTION dblink_connect_u(text, text) TO bob;
SQL
my ($admin, $bob) = map { open_session($node) } 1 .. 2;
ask($bob, 'SET ROLE bob');
my $next = q(SELECT public.snowid_segment_next('public.orders'));
my ($ours, $left) = (qr/^1\d{12}$/, 'SELECT coalesce(array_length(dblink_get_connections(), 1), 0)');

# What is in the way of a careless search_path runs as whoever is not careful.
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
foreach my $path ('bob, pg_catalog, public', 'bob, public, pg_catalog', 'public', q(''))
{
    give_up($admin, 'orders');
    like(ask($bob, "SET search_path = $path; $next"), $ours, "search_path $path: from the source");
    is($bob->{err}, '', "search_path $path: nothing of the caller's has run");
}
ask($bob, 'SET search_path = public');

# Connections of the name of the server, and of the name that is used.
my $fake = 'host=' . $source->host . ' port=' . $source->port . ' dbname=fake';
ask($bob, "SELECT dblink_connect_u('central', '$fake')");
give_up($admin, 'orders');
like(ask($bob, $next), $ours, q(a connection of the server's name is not taken));
is(ask($bob, 'SELECT dblink_get_connections()'), '{central}', 'and stays');
ask($bob, "SELECT dblink_disconnect('central'), dblink_connect_u('snowid segment ' || pg_backend_pid(), '$fake')");
give_up($admin, 'orders');
my @answers = map { ask($bob, $next) } 1 .. 3;
is(scalar(grep { !/^(?:1\d{12}|ERROR 42710)$/ } @answers), 0, 'nor one of the name that is used') or diag("@answers");
like($answers[-1], $ours, 'which does not last');
ask($bob, 'SELECT dblink_disconnect(unnest(dblink_get_connections()))');

# Transactions and statements that fail.
give_up($admin, 'orders');
ask($bob, "BEGIN; $next");
ask($bob, 'SELECT 1 / 0');
ask($bob, 'ROLLBACK');
give_up($admin, 'orders');
is(ask($bob, "DO 'BEGIN PERFORM snowid_segment_next(''orders''); RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN NULL; END'"), '', 'a subtransaction that fails');
ask($admin, q(UPDATE snowid_internal.segment_sources SET remote_seq = 'missing'));
give_up($admin, 'orders');
foreach my $session ($bob, $admin)
{
    is(ask($session, $next), 'ERROR 42P01', 'a sequence that is missing');
    is(ask($session, $left), '0', 'no connection is left in the session');
}
check_no_connection($source, 'nor on the source');

# A caller who is canceled all the time.
ask($admin, q(UPDATE snowid_internal.segment_sources SET remote_seq = 'orders'));
my $victim = $bob->{backend};
my $canceler = open_session($node);
start_asking($canceler, "DO \$\$ BEGIN FOR i IN 1 .. 1500 LOOP PERFORM pg_cancel_backend($victim), pg_sleep(0.0005); END LOOP; END \$\$");
my $kept = 0;
foreach my $round (1 .. 30)
{
    give_up($admin, 'orders');
    ask($bob, $next);
    my $open = ask($bob, $left);
    $kept++ if $open =~ /^\d+$/ && $open > 0;
}
answer($canceler);
is($kept, 0, 'no connection is left to one who cancels');
ask($bob, 'SELECT 1');
like(ask($bob, $next), $ours, 'who is served when he lets it be');
close_session($admin, $bob, $canceler);
check_no_connection($source, 'no connection is left');
end_test($node, $source);
