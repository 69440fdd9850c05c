# Whoever may drop the extension, or dblink, has no code of his run with the rights of others: not where he drops it while they
# wait, and makes objects of his own under the names of its objects.

use Snowid;
use SnowidNodes;

my $node = ready_server('node', sql => 'CREATE ROLE mallory LOGIN');
$node->safe_psql('postgres', "CREATE DATABASE $_ OWNER mallory") foreach 'his', 'linked';
my ($mallory, $caller) = map { open_session($node, dbname => 'his', user => 'mallory') } 1 .. 2;
ask($mallory, <<'SQL');
CREATE SEQUENCE counter;
CREATE FUNCTION spy() RETURNS bigint LANGUAGE plpgsql AS $$
  BEGIN IF current_user <> 'mallory' THEN RAISE WARNING 'spied as %', current_user; END IF; RETURN 1; END $$;
CREATE FUNCTION spy_by_trigger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM public.spy(); RETURN NULL; END';
SQL
my $swap = <<'SQL';
BEGIN;
DROP EXTENSION snowid;
CREATE SCHEMA snowid_internal;
CREATE TABLE snowid_internal.segment_sources (seq regclass, server text, remote_seq text, source_identity text, owner text, server_oid oid, owner_oid oid);
CREATE TRIGGER spy BEFORE DELETE ON snowid_internal.segment_sources FOR EACH STATEMENT EXECUTE FUNCTION spy_by_trigger();
CREATE VIEW snowid_internal.nodes AS SELECT public.spy() AS node_number, gen_random_uuid() AS claim;
CREATE TABLE snowid_internal.registry_identities (identity text, max_node_number bigint);
CREATE FUNCTION snowid_internal.commit_durably() RETURNS bigint LANGUAGE sql AS 'SELECT public.spy()';
CREATE FUNCTION snowid_internal.registry_identity() RETURNS text LANGUAGE sql AS 'SELECT public.spy()::text';
GRANT USAGE ON SCHEMA snowid_internal TO PUBLIC;
GRANT ALL ON ALL TABLES IN SCHEMA snowid_internal TO PUBLIC
SQL
foreach my $call (q(SELECT snowid_segment_detach('counter')), 'SELECT snowid.recover_registry(1)', 'SELECT snowid.retire_node(1)',
    q(SELECT snowid.register('look', '', gen_random_uuid(), 0, 0, 0, 0, 'n', 'd', 0, 0, 0, 0)))
{
    is(ask($mallory, 'DROP SCHEMA IF EXISTS snowid_internal CASCADE; CREATE EXTENSION snowid'), '', 'he creates the extension');
    is(ask($mallory, $swap), '', 'he drops it, and makes others of its names');
    start_waiting($caller, $call);
    ask($mallory, 'COMMIT');
    is(answer($caller), 'ERROR 55000', "$call: fails, as it was dropped");
    unlike($caller->{err}, qr/spied/, 'and runs nothing of his');
}
close_session($mallory, $caller);

# dblink is called once after the other, while the other server thinks.
my $registry = ready_server('registry');
$node->safe_psql('linked', 'CREATE SCHEMA links AUTHORIZATION mallory; CREATE EXTENSION dblink SCHEMA links');
add_source($node, $registry, name => 'registry', dbname => 'linked');
is(join_as($node, 'linked', 'linked'), '1', 'joined');
$mallory = open_session($node, dbname => 'linked', user => 'mallory');
is(ask($mallory, 'BEGIN; DROP SCHEMA links CASCADE'), '', 'he is about to drop dblink');
is(check_node($node, 'linked'), 'ERROR 55000', 'for whom nobody waits');
ask($mallory, 'ROLLBACK');

($caller, my $holder) = (open_session($node, dbname => 'linked'), open_session($registry));
ask($holder, 'BEGIN; LOCK TABLE snowid_internal.nodes');
start_asking($caller, 'SELECT snowid.check_node()');
wait_for_waiting($registry, 1, 'Lock', 'snowid.register');
start_asking($mallory, <<'SQL');
BEGIN;
DROP SCHEMA links CASCADE;
CREATE SCHEMA links;
CREATE FUNCTION links.dblink_is_busy(text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'spied as %', current_user; RETURN 0; END $$;
COMMIT
SQL
wait_until_waiting($node, $mallory, 'Lock');
ask($holder, 'COMMIT');
is(answer($caller), '1', 'he waits for who uses it');
unlike($caller->{err}, qr/spied/, 'and who does runs nothing of his');
is(answer($mallory), '', 'then he drops it');
is(check_node($node, 'linked'), 'ERROR 42704', 'and the foreign server with it');
end_test($node, $registry);
