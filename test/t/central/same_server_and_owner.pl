# A server, or an owner, that has taken another's place since a sequence was attached gets nothing by that; what was renamed is the same. Whoever
# may insert rows does it with his own rights.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my ($source, $node) = ready_source({ orders => 'START 1000001 INCREMENT 10' }, node => { sql => 'CREATE ROLE alice; CREATE ROLE mallory' });
$source->safe_psql('postgres', 'CREATE DATABASE fake');
$source->safe_psql('fake', 'CREATE SEQUENCE orders START 6000001 INCREMENT 10');
my $session = open_session($node);
my ($next, $ours) = (q(SELECT snowid_segment_next('orders')), qr/^1\d{6}$/);
sub row { return ask($session, 'SELECT seq, server, remote_seq, owner, server_oid = (SELECT oid FROM pg_foreign_server WHERE srvname = server),'
    . ' owner_oid = owner::regrole FROM snowid_internal.segment_sources') }
is(attach($session, 'orders'), '', 'attached');
is(row(), 'orders|central|orders|postgres|t|t', 'who owns it, and which server it is');
ask($session, q(UPDATE snowid_internal.segment_sources SET server_oid = 1, owner_oid = 1));
is(row(), 'orders|central|orders|postgres|t|t', 'OIDs are those of the names');
is(ask($session, q(BEGIN; UPDATE snowid_internal.segment_sources SET server = 'none', owner = 'nobody' RETURNING server_oid, owner_oid)), '0|0', 'and 0 where there are none');
ask($session, q(ROLLBACK; BEGIN; CREATE SEQUENCE alices; ALTER SEQUENCE alices OWNER TO alice;
  GRANT USAGE ON SCHEMA snowid_internal TO alice; GRANT SELECT, INSERT, UPDATE ON snowid_internal.segment_sources TO alice; SET ROLE alice));
is(ask($session, q(INSERT INTO snowid_internal.segment_sources VALUES ('alices', 'central', 'x', 'y', 'postgres', 1, 10) RETURNING owner, owner_oid = owner::regrole)), 'alice|t',
    'one who is not a superuser is the owner himself, whatever he says');
is(ask($session, q(UPDATE snowid_internal.segment_sources SET owner = 'postgres' WHERE seq = 'alices'::regclass RETURNING owner)), 'alice', 'and stays it');
ask($session, 'ROLLBACK');

# Of each: what happens, what the next number is then, and what a caller is told.
my ($host, $port) = ($source->host, $source->port);
my $other = "CREATE SERVER central FOREIGN DATA WRAPPER dblink_fdw OPTIONS (host '$host', port '$port', dbname 'fake', connect_timeout '2');"
  . ' CREATE USER MAPPING FOR PUBLIC SERVER central';
foreach my $case (
    [ 'the server is renamed', 'ALTER SERVER central RENAME TO hub', $ours ],
    [ 'renamed again', 'ALTER SERVER hub RENAME TO central', $ours ],
    [ 'another server of its name', "ALTER SERVER central RENAME TO old; $other", 'ERROR 55000', qr/server "central" is not the one to which sequence "orders" was attached.*HINT:.*snowid_segment_attach/s ],
    [ 'the old one has another name', 'DROP SERVER central CASCADE', $ours ],
    [ 'dropped, and another made', "DROP SERVER old CASCADE; $other", 'ERROR 55000' ],
    [ 'dropped', 'DROP SERVER central CASCADE', 'ERROR 42704' ],
    [ 'made anew', $other =~ s/fake/postgres/r, 'ERROR 55000' ],
    [ 'attached again', q(SELECT snowid_segment_attach('orders', 'central', 'orders')), $ours ],
    [ 'another owner', 'ALTER SEQUENCE orders OWNER TO alice', 'ERROR 42501', qr/"orders" has another owner than when it was attached to server "central".*HINT/s ],
    [ 'the one who attached it', 'ALTER SEQUENCE orders OWNER TO postgres', $ours ],
    [ 'attached to what is missing', q(SELECT snowid_segment_attach('orders', 'central', 'missing')), $ours ])
{
    my ($name, $sql, $expected, $message) = @$case;
    ask($session, $sql);
    give_up($session, 'orders');
    my $answer = ask($session, $next);
    ref $expected ? like($answer, $expected, $name) : is($answer, $expected, $name);
    like($session->{err}, $message, "$name: says so") if $message;
}

# Reassigned to a superuser, whose rights are not used.
ask($session, q(CREATE SEQUENCE reassigned; ALTER SEQUENCE reassigned OWNER TO alice; GRANT ALL ON SEQUENCE reassigned TO mallory; GRANT USAGE ON FOREIGN SERVER central TO alice;
  INSERT INTO snowid_internal.segment_sources (seq, server, remote_seq, source_identity, owner)
  SELECT 'reassigned'::regclass, server, remote_seq, source_identity, 'alice' FROM snowid_internal.segment_sources WHERE seq = 'orders'::regclass));
is($session->{err}, '', 'attached by a user');
my $there = last_value($source, 'orders');
is(ask($session, q(REASSIGN OWNED BY alice TO postgres; SET ROLE mallory; SELECT snowid_segment_next('reassigned'))), 'ERROR 42501', 'reassigned to a superuser');
is(last_value($source, 'orders'), $there, 'of which nothing is taken');
end_test($node, $source);
