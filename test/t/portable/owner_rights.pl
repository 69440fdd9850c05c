# portable/snowid.sql is read by the owner of a database, who is not a superuser, in a database where others may have been
# before; and functions that draw run with his rights. So nobody else can have it call what is not PostgreSQL's, set a
# sequence back, or keep others from drawing.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('owner_rights');
$node->start;
my $owner = portable_owner();
$node->safe_psql('postgres', "CREATE ROLE mallory LOGIN; CREATE ROLE $owner LOGIN; ALTER ROLE $owner SET search_path = evil, public, pg_catalog");

# What anybody could have put there before, in schemas that are first in everybody's path: whichever is called tells of
# it by a sequence, which no rollback sets back.
my $evil = <<'SQL';
CREATE SCHEMA evil AUTHORIZATION mallory;
GRANT ALL ON SCHEMA evil, public TO PUBLIC;
SET SESSION AUTHORIZATION mallory;
CREATE SEQUENCE evil.spy;
GRANT ALL ON SEQUENCE evil.spy TO PUBLIC;
CREATE FUNCTION evil.spied() RETURNS bigint LANGUAGE sql AS $$ SELECT pg_catalog.nextval('evil.spy') $$;
DO $do$
DECLARE
  f record;
  o record;
BEGIN
  -- Each function that the file names, of its own arguments.
  FOR f IN SELECT p.oid, p.proname, pg_catalog.pg_get_function_identity_arguments(p.oid) AS arguments, p.prorettype::regtype AS result
      FROM pg_catalog.pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND NOT p.proretset
       AND p.proname = ANY (ARRAY['nextval', 'setval', 'pg_sequence_last_value', 'to_regclass', 'clock_timestamp', 'date_part', 'floor',
         'timezone', 'make_interval', 'current_setting', 'format', 'pg_sleep', 'substr', 'lpad', 'to_hex', 'encode', 'uuid_send',
         'isfinite', 'pg_is_in_recovery', 'octet_length', 'strpos', 'has_any_column_privilege', 'current_database', 'pg_get_expr', 'upper', 'cardinality', 'div', 'ceil', 'extract', 'int8', 'int4', 'text', 'numeric', 'int8out', 'textin'])
       AND p.prorettype NOT IN ('internal'::regtype, 'cstring'::regtype, 'anyelement'::regtype)
       AND NOT 'internal'::regtype = ANY (p.proargtypes) AND NOT 'cstring'::regtype = ANY (p.proargtypes) AND p.provariadic = 0
  LOOP
    EXECUTE format('CREATE FUNCTION evil.%I(%s) RETURNS %s LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.spied(); RETURN%s; END $$',
      f.proname, f.arguments, f.result, CASE f.result WHEN 'void'::regtype THEN '' ELSE ' NULL' END);
  END LOOP;
  FOR o IN SELECT oprname, oprleft::regtype AS l, oprright::regtype AS r, oprresult::regtype AS result, row_number() OVER () AS n
      FROM pg_catalog.pg_operator WHERE oprname = ANY (ARRAY['+', '-', '*', '/', '%', '<<', '>>', '&', '|', '#', '=', '<>', '<', '>', '<=',
        '>=', '||', '~', '!~']) AND oprkind = 'b' AND oprleft = ANY (ARRAY['int4', 'int8', 'numeric', 'text', 'float8', 'timestamp',
        'timestamptz', 'uuid', 'anyenum', 'anynonarray']::regtype[]::oid[])
  LOOP
    EXECUTE format('CREATE FUNCTION evil.op%s(%s, %s) RETURNS %s LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.spied(); RETURN NULL; END $$',
      o.n, o.l, o.r, o.result);
    EXECUTE format('CREATE OPERATOR evil.%s (FUNCTION = evil.op%s, LEFTARG = %s, RIGHTARG = %s)', o.oprname, o.n, o.l, o.r);
  END LOOP;
END $do$;
CREATE TABLE evil.settings (singleton boolean, shard bigint, max_lead int, max_wait int);
SQL
my $looks = q(SELECT is_called FROM evil.spy);

# A file of this name is read with a role; its errors.
sub read_file
{
    my ($database) = @_;
    my ($out, $err);
    my $succeeded = IPC::Run::run([ 'psql', '-Xq', '-U', $owner, '-d', $node->connstr($database), '-f', 'portable/snowid.sql' ],
        '>', \$out, '2>', \$err);
    return ($succeeded, $err);
}

# What somebody else has under a name that the file makes is not taken for its own: nothing is made.
my $left = q(SELECT count(*) FROM pg_proc WHERE proname ~ '^snowid_' AND pg_get_userbyid(proowner) = 'portable_owner');
foreach my $thing (
    'CREATE SCHEMA snowid', 'CREATE SCHEMA snowid_shards', 'CREATE TYPE public.snowid_layout AS ENUM (\'mine\')',
    'CREATE FUNCTION public.snowid_next() RETURNS bigint LANGUAGE sql AS \'SELECT 1\'', 'CREATE EXTENSION snowid')
{
    my $database = 'taken' . (my $n = () = $thing =~ /./g);
    $node->safe_psql('postgres', "CREATE DATABASE $database OWNER $owner");
    $node->safe_psql($database, ($thing =~ /EXTENSION/ ? '' : "GRANT CREATE ON DATABASE $database TO mallory; GRANT ALL ON SCHEMA public TO PUBLIC;"
          . 'SET SESSION AUTHORIZATION mallory;') . $thing);
    my ($succeeded, $err) = read_file($database);
    ok(!$succeeded && $err =~ /already exists/, "refused: $thing") or diag($err);
    is($node->safe_psql($database, $left), '0', "nothing is made: $thing");
}

# And what is called like PostgreSQL's own is not called.
$node->safe_psql('postgres', "CREATE DATABASE app OWNER $owner");
$node->safe_psql('app', $evil);
# Also what the owner lets all have by default is not had of this.
$node->safe_psql('app', "ALTER DEFAULT PRIVILEGES FOR ROLE $owner GRANT ALL ON $_->[0] TO $_->[1]")
  foreach [ TABLES => 'PUBLIC' ], [ SEQUENCES => 'PUBLIC, mallory' ], [ FUNCTIONS => 'mallory' ], [ SCHEMAS => 'mallory' ];
my ($succeeded, $err) = read_file('app');
ok($succeeded, 'read among look-alikes') or diag($err);
is($node->safe_psql('app', $looks), 'f', 'none of them was called then');
my $mallory = open_session($node, dbname => 'app', user => 'mallory');
my $clerk = open_session($node, dbname => 'app', user => $owner);
backend_of($_) foreach $mallory, $clerk;
ask($clerk, 'SELECT snowid.create_shard(5)');
ask($mallory, 'CREATE TEMP TABLE settings AS SELECT true AS singleton, 7::bigint AS shard, 1 AS max_lead, 1 AS max_wait');
ask($mallory, 'CREATE TEMP SEQUENCE instagram_0');
ask($mallory, 'SET search_path = pg_temp, evil, public, pg_catalog');
foreach my $call (
    'snowid_next()', 'snowid_next(0)', q(snowid_next(0, 'instagram')), 'count(*) FROM snowid_next_batch(0, 10)', 'snowid_reserve(0, 10)',
    'snowid_default_shard()', q(snowid_decode(11637205501278089)), q(snowid_encode('2020-01-01Z', 1, 1)), q(snowid_first_at('2020-01-01Z')),
    q(snowid_last_at('2020-01-01Z')), q(snowid_in_range(5, '2010-01-01Z', '2020-01-01Z')), 'snowid_to_base62(5)',
    q(snowid_from_base62('B0CRIXKjCuH')), 'snowid_to_uuid(5)', 'snowid_from_uuid(snowid_to_uuid(5))',
    q(snowid_uuid_timestamp('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')), q(snowid_to_uuid(5, 'taobao')), q(snowid_watermark('pg_catalog.pg_am')))
{
    unlike(ask($mallory, "SELECT $call"), qr/ERROR|^$/, "works among look-alikes: $call") or diag($mallory->{err});
}
foreach my $call ('snowid_next(-1)', 'snowid_to_uuid(-1)', q(snowid_first_at('1900-01-01Z')), q(snowid_from_base62('x')), 'snowid_next(6)')
{
    like(ask($mallory, "SELECT $call"), qr/ERROR (?:22|55)/, "fails as it should: $call") or diag($mallory->{err});
}
is($node->safe_psql('app', $looks), 'f', 'no look-alike was ever called');

# What is not for everyone.
is($node->safe_psql('app', <<'SQL'), 'snowid.settings/PUBLIC/SELECT', 'what others may, of all relations');
SELECT c.oid::regclass || '/' || coalesce(nullif(grantee, 0)::regrole::text, 'PUBLIC') || '/' || privilege_type
  FROM pg_class AS c, aclexplode(relacl) WHERE relnamespace::regnamespace::text ~ '^snowid' AND grantee <> relowner
SQL
is($node->safe_psql('app', <<'SQL'), 'snowid/PUBLIC/USAGE', 'of schemas');
SELECT nspname || '/' || coalesce(nullif(grantee, 0)::regrole::text, 'PUBLIC') || '/' || privilege_type
  FROM pg_namespace, aclexplode(nspacl) WHERE nspname ~ '^snowid' AND grantee <> nspowner
SQL
is($node->safe_psql('app', <<'SQL'), 'accept_shard create_place create_shard first_after make_private move_shard release_shard skip_row take wait', 'and not of functions');
SELECT string_agg(proname, ' ' ORDER BY proname) FROM pg_proc
 WHERE (pronamespace = 'snowid'::regnamespace OR proname ~ '^snowid_') AND NOT has_function_privilege('mallory', oid, 'EXECUTE')
SQL
foreach my $statement (
    'SELECT pg_catalog.nextval(\'snowid_shards.instagram_0\')', 'SELECT pg_catalog.setval(\'snowid_shards.instagram_0\', 1)', 'SELECT pg_catalog.setval(\'snowid_shards.instagram_5\', 1)',
    'SELECT last_value FROM snowid_shards.instagram_5', 'ALTER SEQUENCE snowid_shards.instagram_0 RESTART', 'DROP SEQUENCE snowid_shards.instagram_0',
    'UPDATE snowid.settings SET max_lead = 0', 'INSERT INTO snowid.settings VALUES (false)', 'DELETE FROM snowid.settings', 'BEGIN; LOCK TABLE snowid.settings IN ACCESS EXCLUSIVE MODE',
    'CREATE TABLE snowid.mine ()', 'CREATE TABLE snowid_shards.mine ()', 'SELECT pg_catalog.setval(\'snowid_shards.instagram_5\', 1, false)', 'SELECT snowid.create_shard(6)', 'SELECT snowid.release_shard(0)', 'SELECT snowid.accept_shard(1, 1)',
    'SELECT snowid.take(\'x\', 0, \'instagram\', 1, false)', 'SELECT snowid.create_place(\'snowid_shards.x\', \'x\')', 'SELECT snowid.wait(0, 0, 0, false, 0, \'instagram\')',
    (map { "BEGIN; LOCK TABLE snowid_shards.instagram_0_gate IN $_ MODE" } 'ROW EXCLUSIVE', 'SHARE UPDATE EXCLUSIVE', 'ACCESS EXCLUSIVE'))
{
    is(ask($mallory, $statement), 'ERROR 42501', "refused: $statement") or diag($mallory->{err});
    ask($mallory, 'ROLLBACK') if $statement =~ /^BEGIN/;
}

# What keeps a lock of a gate that others need, in a transaction that goes on: nothing that anybody may run. Nor do locks
# that anybody may take. By name nobody else locks anything there. By its OID nextval does, of any relation, and keeps
# that also where it fails.
my $gate = $node->safe_psql('app', q(SELECT 'snowid_shards.instagram_0_gate'::regclass::oid));
my $sequence = $node->safe_psql('app', q(SELECT 'snowid_shards.instagram_0'::regclass::oid));
ask($mallory, 'SET check_function_bodies = off');
foreach my $statement (
    'SELECT pg_catalog.pg_advisory_lock(oid::int, n) FROM pg_class, generate_series(0, 2) n WHERE relname ~ \'instagram_\'',
    'SELECT pg_catalog.pg_advisory_lock(oid::bigint) FROM pg_class WHERE relname ~ \'instagram_\'',
    "SELECT pg_catalog.nextval($gate\::regclass)", "SELECT pg_catalog.pg_sequence_last_value($gate\::regclass)", "SELECT pg_catalog.nextval($sequence\::regclass)",
    'CREATE FUNCTION pg_temp.f() RETURNS void BEGIN ATOMIC INSERT INTO snowid_shards.instagram_0_gate DEFAULT VALUES; END',
    'CREATE RULE r AS ON INSERT TO settings DO ALSO INSERT INTO snowid_shards.instagram_0_gate DEFAULT VALUES',
    'PREPARE change AS UPDATE snowid_shards.instagram_0_gate SET x = 1', 'PREPARE add AS INSERT INTO snowid_shards.instagram_0_gate DEFAULT VALUES',
    'PREPARE del AS DELETE FROM snowid_shards.instagram_0_gate', 'PREPARE look AS SELECT FROM snowid_shards.instagram_0_gate FOR UPDATE',
    'PREPARE move AS UPDATE snowid.settings SET max_lead = 1', 'COMMENT ON VIEW snowid_shards.instagram_0_gate IS NULL',
    'CREATE RULE r AS ON INSERT TO snowid_shards.instagram_0_gate DO INSTEAD NOTHING', 'SELECT * FROM snowid_shards.instagram_0_gate',
    'CREATE TRIGGER t INSTEAD OF INSERT ON snowid_shards.instagram_0_gate FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()')
{
    ask($mallory, "BEGIN; SAVEPOINT here");
    my $answer = ask($mallory, $statement);
    ask($mallory, 'ROLLBACK TO here') if $answer =~ /^ERROR/;
    unlike(ask($clerk, q(SET lock_timeout = '20s'; SELECT snowid_next(0), count(*) FROM snowid_next_batch(0, 10))), qr/ERROR/,
        "others draw: $statement");
    ask($mallory, 'ROLLBACK');
}
# A session that sends to a client which does not read waits, and with it whatever it holds. So nothing is sent there.
my ($answer, $sent);
IPC::Run::run([ 'psql', '-XAtq', '-U', 'mallory', '-d', $node->connstr('app'), '-c',
        'SET client_min_messages = debug5; SET debug_print_plan = on; SELECT snowid_reserve(0, 5), snowid_next(0)' ], '>', \$answer, '2>', \$sent);
like($sent, qr/PLANNEDSTMT/, 'a client is told of what comes before a draw');
unlike($sent, qr/SubTransaction/, 'and of nothing while it holds the gate');
# No draw, nor what closes a shard, calls what is in a schema of somebody else's, who may put there what he likes.
$node->safe_psql('app', 'ALTER SCHEMA public OWNER TO mallory');
ask($mallory, 'DROP FUNCTION public.snowid_shard(bigint, public.snowid_layout)');
ask($mallory, q(CREATE FUNCTION public.snowid_shard(bigint, public.snowid_layout) RETURNS bigint LANGUAGE sql AS 'SELECT evil.spied()'));
ask($clerk, 'SELECT snowid.accept_shard(5, snowid_next(5))');
is($node->safe_psql('app', $looks), 'f', 'no look-alike was called by snowid.accept_shard');
# Whoever may not call a function cannot draw by another one.
ask($clerk, 'REVOKE EXECUTE ON FUNCTION snowid_next(bigint, snowid_layout), snowid_next(bigint), snowid_next() FROM PUBLIC, mallory');
is(ask($mallory, "SELECT $_"), 'ERROR 42501', "revoked: $_") foreach 'snowid_next()', 'snowid_next(0)', q(snowid_next(0, 'instagram'));
close_session($mallory, $clerk);
$node->stop;
done_testing();
