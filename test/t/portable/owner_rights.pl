# Functions of portable/snowid.sql that draw run with their owner's rights: so nobody else can set a sequence back, close a shard,
# or keep others from drawing, neither by a lock, nor by a client that does not read.

use Snowid;

my $node = new_server('owner_rights');
$node->start;
my $owner = portable_owner();
# Also what the owner lets all have by default is not had of this.
$node->safe_psql('postgres', "CREATE ROLE mallory LOGIN; CREATE ROLE $owner LOGIN");
$node->safe_psql('postgres', "CREATE DATABASE app OWNER $owner");
$node->safe_psql('app', "ALTER DEFAULT PRIVILEGES FOR ROLE $owner GRANT ALL ON $_->[0] TO $_->[1]")
  foreach [ TABLES => 'PUBLIC' ], [ SEQUENCES => 'PUBLIC, mallory' ], [ FUNCTIONS => 'mallory' ], [ SCHEMAS => 'mallory' ];
system_or_bail('psql', '-Xq', '-o', '/dev/null', '-U', $owner, '-d', $node->connstr('app'), '-f', 'portable/snowid.sql');
my ($mallory, $clerk) = map { open_session($node, dbname => 'app', user => $_) } 'mallory', $owner;
ask($clerk, 'SELECT snowid.create_shard(5)');

is($node->safe_psql('app', <<'SQL'), "snowid.settings/PUBLIC/SELECT\nsnowid/PUBLIC/USAGE", 'what others may, of relations and schemas');
SELECT object || '/' || coalesce(nullif(grantee, 0)::regrole::text, 'PUBLIC') || '/' || privilege_type FROM (
  SELECT oid::regclass::text, relowner, relacl FROM pg_class WHERE relnamespace::regnamespace::text ~ '^snowid'
  UNION ALL SELECT nspname, nspowner, nspacl FROM pg_namespace WHERE nspname ~ '^snowid') AS o (object, owner, acl), aclexplode(acl)
 WHERE grantee <> owner
SQL
is($node->safe_psql('app', <<'SQL'), 'accept_shard create_place create_shard first_after make_private move_shard release_shard skip_row take wait', 'and not of functions');
SELECT string_agg(proname, ' ' ORDER BY proname) FROM pg_proc
 WHERE (pronamespace = 'snowid'::regnamespace OR proname ~ '^snowid_') AND NOT has_function_privilege('mallory', oid, 'EXECUTE')
SQL
foreach my $statement (
    q(SELECT nextval('snowid_shards.instagram_0')), q(SELECT setval('snowid_shards.instagram_5', 1)), 'SELECT last_value FROM snowid_shards.instagram_5',
    'ALTER SEQUENCE snowid_shards.instagram_0 RESTART', 'DROP SEQUENCE snowid_shards.instagram_0', 'UPDATE snowid.settings SET max_lead = 0',
    'INSERT INTO snowid.settings VALUES (false)', 'DELETE FROM snowid.settings', 'CREATE TABLE snowid.mine ()', 'CREATE TABLE snowid_shards.mine ()',
    'SELECT snowid.create_shard(6)', 'SELECT snowid.release_shard(0)', 'SELECT snowid.accept_shard(1, 1)', q(SELECT snowid.take('x', 0, 'instagram', 1, false)),
    q(SELECT snowid.create_place('snowid_shards.x', 'x')), q(SELECT snowid.wait(0, 0, 0, false, 0, 'instagram')),
    map { "BEGIN; LOCK TABLE $_ MODE" } 'snowid.settings IN ACCESS EXCLUSIVE', map { "snowid_shards.instagram_0_gate IN $_" } 'ROW EXCLUSIVE', 'SHARE UPDATE EXCLUSIVE', 'ACCESS EXCLUSIVE')
{
    is(ask($mallory, $statement), 'ERROR 42501', "refused: $statement") or diag($mallory->{err});
    ask($mallory, 'ROLLBACK') if $statement =~ /^BEGIN/;
}

# What keeps a lock of a gate that others need, in a transaction that goes on: nothing that anybody may run. Nor do locks that
# anybody may take. By name nobody else locks anything there. By its OID nextval does, of any relation, and keeps that also
# where it fails.
my ($gate, $sequence) = map { $node->safe_psql('app', "SELECT 'snowid_shards.instagram_0$_'::regclass::oid") } '_gate', '';
ask($mallory, 'SET check_function_bodies = off');
foreach my $statement (
    q(SELECT pg_advisory_lock(oid::int, n) FROM pg_class, generate_series(0, 2) n WHERE relname ~ 'instagram_'),
    q(SELECT pg_advisory_lock(oid::bigint) FROM pg_class WHERE relname ~ 'instagram_'), "SELECT nextval($gate\::regclass)",
    "SELECT pg_sequence_last_value($gate\::regclass)", "SELECT nextval($sequence\::regclass)", 'SELECT * FROM snowid_shards.instagram_0_gate',
    'CREATE FUNCTION pg_temp.f() RETURNS void BEGIN ATOMIC INSERT INTO snowid_shards.instagram_0_gate DEFAULT VALUES; END',
    'PREPARE change AS UPDATE snowid_shards.instagram_0_gate SET x = 1', 'PREPARE add AS INSERT INTO snowid_shards.instagram_0_gate DEFAULT VALUES',
    'PREPARE del AS DELETE FROM snowid_shards.instagram_0_gate', 'PREPARE look AS SELECT FROM snowid_shards.instagram_0_gate FOR UPDATE',
    'PREPARE move AS UPDATE snowid.settings SET max_lead = 1', 'COMMENT ON VIEW snowid_shards.instagram_0_gate IS NULL',
    'CREATE RULE r AS ON INSERT TO snowid_shards.instagram_0_gate DO INSTEAD NOTHING',
    'CREATE TRIGGER t INSTEAD OF INSERT ON snowid_shards.instagram_0_gate FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()')
{
    ask($mallory, 'BEGIN; SAVEPOINT here');
    ask($mallory, 'ROLLBACK TO here') if ask($mallory, $statement) =~ /^ERROR/;
    unlike(ask($clerk, q(SET lock_timeout = '20s'; SELECT snowid_next(0), count(*) FROM snowid_next_batch(0, 10))), qr/ERROR/, "others draw: $statement");
    ask($mallory, 'ROLLBACK');
}
# A session that sends to a client which does not read waits, and with it whatever it holds. So nothing is sent there.
my ($answer, $sent);
IPC::Run::run([ 'psql', '-XAtq', '-U', 'mallory', '-d', $node->connstr('app'), '-c',
        'SET client_min_messages = debug5; SET debug_print_plan = on; SELECT snowid_reserve(0, 5), snowid_next(0)' ], '>', \$answer, '2>', \$sent);
like($sent, qr/PLANNEDSTMT/, 'a client is told of what comes before a draw');
unlike($sent, qr/SubTransaction/, 'and of nothing while it holds the gate');
# Whoever may not call a function cannot draw by another one.
ask($clerk, 'REVOKE EXECUTE ON FUNCTION snowid_next(bigint, snowid_layout), snowid_next(bigint), snowid_next() FROM PUBLIC, mallory');
is(ask($mallory, "SELECT $_"), 'ERROR 42501', "revoked: $_") foreach 'snowid_next()', 'snowid_next(0)', q(snowid_next(0, 'instagram'));
end_test($node);
