# The owner of a schema may have it renamed, and another one in its place, while a superuser's script puts the extension into it. An
# extension of which a part is in the other one, or goes by what is there, does not come to be; nor does one of which a part is not the
# first superuser's.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('node', sql => 'CREATE ROLE mallory LOGIN; CREATE DATABASE his OWNER mallory');
my ($creator, @mallory) = map { open_session($node, dbname => 'his', user => 'mallory') } 1 .. 3;
my ($first, $second) = ('snowid_to_base62(bigint)', 'snowid_from_base62(text)');
sub make { my ($signature) = @_; return "CREATE FUNCTION $signature RETURNS int LANGUAGE sql AS 'SELECT 1'" }

# Whoever makes a function of the same name and arguments has to be waited for.
is(ask($mallory[0], 'CREATE SCHEMA s; BEGIN; ' . make("s.$first")), '', 'the first place where the script waits');
start_waiting($creator, 'CREATE EXTENSION snowid SCHEMA s');
# From some minor versions on, the server does not let a schema be renamed while something is put into it.
my $is_renamed = ask($mallory[1], "SET lock_timeout = '3s'; ALTER SCHEMA s RENAME TO aside; RESET lock_timeout");
if ($is_renamed eq '')
{
    is(ask($mallory[1], 'CREATE SCHEMA s; ' . make("s.$first") . '; BEGIN; ' . make("s.$second")), '', 'there is another schema, and a second place');
    ask($mallory[0], 'ROLLBACK');
    wait_for(sub { ask($mallory[0], "SELECT pg_blocking_pids($creator->{backend})") eq "{$mallory[1]{backend}}" }, 'the script to wait there');
    is(ask($mallory[0], 'ALTER SCHEMA s RENAME TO other; ALTER SCHEMA aside RENAME TO s; ' . make("s.$second")), '', 'the first schema is back');
    ask($mallory[1], 'ROLLBACK');
    is(answer($creator), 'ERROR 55000', 'the extension is not created');
    like($creator->{err}, qr/schema of extension "snowid" was replaced.*HINT:  Try again/s, 'and says why');
    is(ask($creator, "DROP FUNCTION s.$second; CREATE EXTENSION snowid SCHEMA s"), '', 'it is when nobody does so');
}
else
{
    is($is_renamed, 'ERROR 55P03', 'the server keeps the schema');
    ask($mallory[0], 'ROLLBACK');
    is(answer($creator), '', 'the extension is created');
}
close_session($creator, @mallory);

# What another superuser creates gets the first one as its owner, by its name. What has not got him, since something else was of that
# name at the moment, is noticed. A trigger gives it back here.
$node->safe_psql('postgres', 'CREATE ROLE other SUPERUSER LOGIN; CREATE DATABASE others');
$node->safe_psql('others', <<'SQL');
CREATE FUNCTION give_back() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE
  altered regprocedure := (SELECT c.objid FROM pg_event_trigger_ddl_commands() AS c WHERE c.object_identity ~ 'snowid_to_base62');
BEGIN
  IF (SELECT proowner = 10 FROM pg_proc WHERE oid = altered) THEN EXECUTE format('ALTER FUNCTION %s OWNER TO other', altered); END IF;
END $$;
CREATE EVENT TRIGGER give_back ON ddl_command_end WHEN TAG IN ('ALTER FUNCTION') EXECUTE FUNCTION give_back();
SQL
my $other = open_session($node, dbname => 'others', user => 'other');
is(ask($other, 'CREATE EXTENSION snowid'), 'ERROR 55000', 'a function that is not the first superuser\'s');
is(ask($other, 'DROP EVENT TRIGGER give_back; CREATE EXTENSION snowid'), '', 'all of them are');
end_test($node);
