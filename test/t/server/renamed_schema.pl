# The owner of a database can rename the schema that the extension was created in, and create another one of the old name. No
# function of the extension looks into that one, whoever calls it: a body that named the schema would run what stands there,
# with the rights of the caller. And each function does its work as before.
#
# The fault: through the function that is snowid.future_times() now, a database's owner became superuser; and without anything
# in the way columns could not be adopted any more.
# Runs in make test-all: it renames every object.

use Snowid;
use SnowidCalls;

my $node = ready_server('renamed_schema', conf => "max_prepared_transactions = 5\ntimezone = 'UTC'\nsnowid.max_lead = '2h'\n",
    sql => 'CREATE ROLE mallory LOGIN; CREATE DATABASE app OWNER mallory');
sub in_app { my ($sql, $role) = @_; return $node->safe_psql('app', $sql, extra_params => [ '-U', $role // 'postgres' ]) }
in_app(<<'SQL', 'mallory');
CREATE SCHEMA first_home;
CREATE EXTENSION snowid SCHEMA first_home;
ALTER SCHEMA first_home RENAME TO elsewhere;
ALTER DATABASE app SET search_path = elsewhere, public;
SQL

# No body names it; nor does a setting of a function.
my $members = "pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'";
is(in_app("SELECT count(*) > 150 FROM $members"), 't', 'functions of the extension');
is(in_app("SELECT p.oid::regprocedure FROM $members WHERE concat(p.prosrc, p.proconfig) ~ 'first_home'"), '', 'none names the schema that it was');

# Look-alikes of all that was there: functions, operators and types. A sequence, which no rollback sets back, tells if one ran.
in_app(<<'SQL', 'mallory');
CREATE SCHEMA first_home;
CREATE SEQUENCE first_home.spied_seq;
CREATE FUNCTION first_home.spied() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  PERFORM nextval('first_home.spied_seq');
  BEGIN
    ALTER ROLE mallory SUPERUSER;
  EXCEPTION WHEN OTHERS THEN NULL;
  END;
  RETURN 1;
END $$;
CREATE DOMAIN first_home.snowid_layout AS text CHECK (first_home.spied() IS NULL);
CREATE DOMAIN first_home.snowid AS text CHECK (first_home.spied() IS NULL);
CREATE DOMAIN first_home.objectid AS text CHECK (first_home.spied() IS NULL);
DO $$
DECLARE
  one record;
  arguments text;
BEGIN
  FOR one IN
    SELECT format('CREATE FUNCTION first_home.%I(%s) RETURNS %s LANGUAGE plpgsql AS '
          '$x$ BEGIN PERFORM first_home.spied(); RETURN%s; END $x$', p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid),
          CASE WHEN NOT p.proretset AND p.proargmodes IS NULL AND p.prorettype <> 'void'::regtype THEN ' NULL' END) AS statement,
        p.proargtypes::oid[] && ARRAY['elsewhere.snowid_layout', 'elsewhere.objectid']::regtype[]::oid[] AS has_type
      FROM pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
     WHERE p.pronamespace = 'elsewhere'::regnamespace AND p.prokind IN ('f', 'w')
  LOOP
    EXECUTE one.statement;
    CONTINUE WHEN NOT one.has_type;
    EXECUTE regexp_replace(one.statement, '\m(snowid_layout|objectid)\M', 'first_home.\1', 'g');
  END LOOP;
  FOR one IN SELECT o.oprname, o.oprleft::regtype, o.oprright::regtype FROM pg_operator AS o WHERE o.oprnamespace = 'elsewhere'::regnamespace LOOP
    arguments := concat_ws(', ', one.oprleft, one.oprright);
    EXECUTE format('CREATE OR REPLACE FUNCTION first_home.spies(%s) RETURNS boolean LANGUAGE sql AS ''SELECT first_home.spied() IS NULL''', arguments);
    EXECUTE format('CREATE OPERATOR first_home.%s (FUNCTION = first_home.spies, LEFTARG = %s, RIGHTARG = %s)', one.oprname, one.oprleft, one.oprright);
  END LOOP;
END $$;
SQL
is(in_app(<<'SQL'), 't|12', 'the look-alikes are there');
SELECT count(*) > 60, (SELECT count(*) FROM pg_operator WHERE oprnamespace = 'first_home'::regnamespace)
  FROM pg_proc WHERE pronamespace = 'first_home'::regnamespace
SQL
# They work: in a copy of the database.
$node->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE app');
$node->safe_psql('copy', 'SELECT first_home.snowid_timestamp(1::bigint, NULL::elsewhere.snowid_layout)');
is($node->safe_psql('copy', q(SELECT is_called, rolsuper FROM first_home.spied_seq, pg_roles WHERE rolname = 'mallory')), 't|t', 'and work');
$node->safe_psql('postgres', 'DROP DATABASE copy; ALTER ROLE mallory NOSUPERUSER');

sub is_untouched
{
    my ($name) = @_;
    is(in_app(q(SELECT is_called, rolsuper FROM first_home.spied_seq, pg_roles WHERE rolname = 'mallory')), 'f|f', "$name: no look-alike ran");
    return;
}

# What administers tables does its work, for a superuser as for the owner; with a key that a shard has to be moved above.
foreach my $role ('postgres', 'mallory')
{
    in_app(<<"SQL", $role);
CREATE SCHEMA $role;
CREATE TABLE $role.photos (id bigserial PRIMARY KEY, title text);
INSERT INTO $role.photos (title) VALUES ('old');
CREATE TABLE $role.ahead (id bigint PRIMARY KEY DEFAULT 0, title text CHECK (title <> ''));
INSERT INTO $role.ahead VALUES (snowid_encode(now() + interval '1 h', 5, 7, 'twitter'));
CREATE TABLE $role.narrow (id serial PRIMARY KEY);
CREATE TABLE $role.events (id bigint DEFAULT snowid_next(3, 'twitter') PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE $role.events_0 PARTITION OF $role.events FOR VALUES FROM (0) TO (snowid_first_at('2016-01-01Z', 'twitter'));
CREATE TABLE $role.events_rest PARTITION OF $role.events DEFAULT;
CREATE TABLE $role.unsaid (id bigint) PARTITION BY RANGE (id);
CREATE TABLE $role.unsaid_0 PARTITION OF $role.unsaid FOR VALUES FROM (0) TO (snowid_first_at('2016-01-01Z'));
CREATE TABLE $role.orders (id uuid DEFAULT snowid_uuidv7() CHECK (snowid_is_uuidv7(id))) PARTITION BY RANGE (id);
CREATE TABLE $role.orders_0 PARTITION OF $role.orders FOR VALUES FROM (MINVALUE) TO (snowid_uuidv7_first_at('2016-01-01Z'));
SQL
    foreach my $step (
        # The second time it is found adopted.
        (map { [ "snowid.adopt('$role.photos', 'id')", 'elsewhere.snowid_next()' ] } 1, 2),
        [ "snowid.adopt('$role.ahead', 'id', 5, 'twitter')", q(elsewhere.snowid_next((5)::bigint, 'twitter'::elsewhere.snowid_layout)) ],
        [ "snowid.adopt('$role.narrow', 'id')", 'ERROR 42804' ],
        [ "count(*) FROM snowid.create_partitions('$role.events', '1 month', '2016-02-15Z')", '2' ],
        [ "count(*) > 100 FROM snowid.create_partitions('$role.unsaid', '1 month', now() + interval '1 month', 'instagram')", 't' ],
        [ "snowid.drop_partitions('$role.events', '2016-01-01Z')", "$role.events_0" ],
        [ "snowid.detach_partitions('$role.unsaid', '2016-01-01Z', 'instagram')", "$role.unsaid_0" ],
        [ "count(*) FROM snowid.create_partitions('$role.orders', '1 month', '2016-02-15Z')", '2' ],
        [ "snowid.drop_partitions('$role.orders', '2016-01-01Z')", "$role.orders_0" ],
        [ "range_start = '2016-01-01Z', range_end = '2016-02-01Z' FROM snowid.partitions WHERE partition = '$role.events_2016_01'::regclass", 't|t' ])
    {
        is(attempt($node, "SET ROLE $role; SELECT $step->[0]", dbname => 'app'), $step->[1], "$role: $step->[0]");
    }
    is(in_app("INSERT INTO $role.ahead (title) VALUES ('new') RETURNING id > (SELECT min(id) FROM $role.ahead)", $role), 't', "$role: an ID above a key");
    is_untouched("tables, $role");
}
in_app("CREATE TABLE wild (id bigint); INSERT INTO wild VALUES (snowid_encode('2040-01-01Z', 1, 1))");
is(in_app("SELECT '2040-01-01Z'::timestamptz <@ snowid.future_times('wild', 'id')"), 't', 'future times of a column');
is_untouched('future times');

# All functions, with arguments of all kinds.
my @functions = set_up_calls($node, 'app');
my $session = open_session($node, dbname => 'app');
ask($session, 'SET snowid.max_wait = 0');
foreach (@functions)
{
    my ($oid, $function) = @$_;
    my ($count, $wrong) = split /\|/, ask($session, "SELECT * FROM call_all('$oid', 40, '8191')"), 2;
    is($wrong, '', "$function is called");
}
close_session($session);
is_untouched('all functions');
end_test($node);
