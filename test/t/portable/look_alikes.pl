# portable/snowid.sql is read by the owner of a database, who is not a superuser, where others may have been before: what they have
# under a name that it makes is not taken for its own, and what is called like PostgreSQL's own is not called, neither then
# nor by functions that run with the owner's rights.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = new_server('look_alikes');
$node->start;
my $owner = portable_owner();
$node->safe_psql('postgres', "CREATE ROLE mallory LOGIN; CREATE ROLE $owner LOGIN; ALTER ROLE $owner SET search_path = evil, public, pg_catalog");

# Reads the file as the owner; whether it succeeded, and its errors.
sub read_file
{
    my ($database) = @_;
    my ($out, $err);
    my $succeeded = IPC::Run::run([ 'psql', '-Xq', '-U', $owner, '-d', $node->connstr($database), '-f', 'portable/snowid.sql' ], '>', \$out, '2>', \$err);
    return ($succeeded, $err);
}
my $left = "SELECT count(*) FROM pg_proc WHERE proname ~ '^snowid_' AND pg_get_userbyid(proowner) = '$owner'";
my $n = 0;
foreach my $thing (
    'CREATE SCHEMA snowid', 'CREATE SCHEMA snowid_shards', q(CREATE TYPE public.snowid_layout AS ENUM ('mine')),
    q(CREATE FUNCTION public.snowid_next() RETURNS bigint LANGUAGE sql AS 'SELECT 1'), 'CREATE EXTENSION snowid')
{
    my $database = 'taken' . $n++;
    $node->safe_psql('postgres', "CREATE DATABASE $database OWNER $owner");
    $node->safe_psql($database, ($thing =~ /EXTENSION/ ? '' : "GRANT CREATE ON DATABASE $database TO mallory; GRANT ALL ON SCHEMA public TO PUBLIC;"
          . 'SET SESSION AUTHORIZATION mallory;') . $thing);
    my ($succeeded, $err) = read_file($database);
    ok(!$succeeded && $err =~ /already exists/, "refused: $thing") or diag($err);
    is($node->safe_psql($database, $left), '0', "nothing is made: $thing");
}

# In schemas that are first in everybody's path: whichever is called tells of it by a sequence, which no rollback sets back.
$node->safe_psql('postgres', "CREATE DATABASE app OWNER $owner");
$node->safe_psql('app', <<'SQL');
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
         'isfinite', 'pg_is_in_recovery', 'octet_length', 'strpos', 'has_any_column_privilege', 'current_database', 'pg_get_expr', 'upper',
         'cardinality', 'div', 'ceil', 'extract', 'int8', 'int4', 'text', 'numeric', 'int8out', 'textin'])
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
my $looks = 'SELECT is_called FROM evil.spy';
my ($succeeded, $err) = read_file('app');
ok($succeeded, 'read among look-alikes') or diag($err);
is($node->safe_psql('app', $looks), 'f', 'none of them was called then');
my ($mallory, $clerk) = map { open_session($node, dbname => 'app', user => $_) } 'mallory', $owner;
ask($clerk, 'SELECT snowid.create_shard(5)');
ask($mallory, 'CREATE TEMP TABLE settings AS SELECT true AS singleton, 7::bigint AS shard, 1 AS max_lead, 1 AS max_wait; CREATE TEMP SEQUENCE instagram_0');
ask($mallory, 'SET search_path = pg_temp, evil, public, pg_catalog');
foreach my $call (
    'snowid_next()', 'snowid_next(0)', q(snowid_next(0, 'instagram')), 'count(*) FROM snowid_next_batch(0, 10)', 'snowid_reserve(0, 10)',
    'snowid_default_shard()', 'snowid_decode(11637205501278089)', q(snowid_encode('2020-01-01Z', 1, 1)), q(snowid_first_at('2020-01-01Z')),
    q(snowid_last_at('2020-01-01Z')), q(snowid_in_range(5, '2010-01-01Z', '2020-01-01Z')), 'snowid_to_base62(5)',
    q(snowid_from_base62('B0CRIXKjCuH')), 'snowid_to_uuid(5)', 'snowid_from_uuid(snowid_to_uuid(5))',
    q(snowid_uuid_timestamp('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')), q(snowid_to_uuid(5, 'taobao')), q(snowid_watermark('pg_catalog.pg_am')))
{
    unlike(ask($mallory, "SELECT $call"), qr/ERROR|^$/, "works among look-alikes: $call") or diag($mallory->{err});
}
like(ask($mallory, "SELECT $_"), qr/ERROR (?:22|55)/, "fails as it should: $_")
  foreach 'snowid_next(-1)', 'snowid_to_uuid(-1)', q(snowid_first_at('1900-01-01Z')), q(snowid_from_base62('x')), 'snowid_next(6)';
is($node->safe_psql('app', $looks), 'f', 'no look-alike was ever called');

# No draw, nor what closes a shard, calls what is in a schema of somebody else's, who may put there what he likes.
$node->safe_psql('app', 'ALTER SCHEMA public OWNER TO mallory');
ask($mallory, 'DROP FUNCTION public.snowid_shard(bigint, public.snowid_layout)');
ask($mallory, q(CREATE FUNCTION public.snowid_shard(bigint, public.snowid_layout) RETURNS bigint LANGUAGE sql AS 'SELECT evil.spied()'));
is(ask($clerk, 'SELECT snowid.accept_shard(5, snowid_next(5))'), '', 'accepted');
is($node->safe_psql('app', $looks), 'f', 'no look-alike was called by snowid.accept_shard');
end_test($node);
