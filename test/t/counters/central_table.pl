# The table of sources says whose rights a refill is made with, and where. Its trigger function, put on
# any other table or in any other way, must be refused, and not read what is not there. A server, or an
# owner, that has taken another's place since a sequence was attached gets nothing by that, also by way of
# a dump.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $source = new_server('source');
$source->start;
$source->safe_psql('postgres', <<'SQL');
CREATE SEQUENCE orders_seq START 1000001 INCREMENT 10;
CREATE DATABASE fake;
SQL
$source->safe_psql('fake', 'CREATE SEQUENCE orders_seq START 6000001 INCREMENT 10');
my $node = new_server('node');
$node->start;
add_source($node, $source);
my $admin = open_session($node);

# 1. The trigger function.
my $function = 'EXECUTE FUNCTION snowid.check_source()';
ask($admin, 'CREATE ROLE mallory; GRANT CREATE ON SCHEMA public TO mallory; SET ROLE mallory');
ask($admin, 'CREATE TEMP TABLE own (a oid)');
is(ask($admin, "CREATE TRIGGER x BEFORE TRUNCATE ON own $function"), 'ERROR 42501', 'not for everyone');
is(ask($admin, 'SELECT snowid.check_source()'), 'ERROR 42501', 'nor to call');
ask($admin, 'RESET ROLE');
is(ask($admin, 'SELECT snowid.check_source()'), 'ERROR 39P01', 'not without a trigger');
my @tables = ('()', '(a oid)', '(a text)', '(a oid, b text)', '(a oid, b text, c text)',
    '(a snowid.sequence_name, server text, remote_seq text, owner text, server_oid oid, owner_oid oid)');
my %do = (INSERT => 'INSERT INTO t DEFAULT VALUES', UPDATE => 'UPDATE t SET d = 1', DELETE => 'DELETE FROM t',
    TRUNCATE => 'TRUNCATE t');
my @wrong;
foreach my $columns (@tables)
{
    foreach my $event (sort keys %do)
    {
        foreach my $kind ('BEFORE ROW', 'AFTER ROW', 'BEFORE STATEMENT', 'AFTER STATEMENT', 'AFTER CONSTRAINT')
        {
            my ($when, $level) = split / /, $kind;
            next if $event eq 'TRUNCATE' && $level ne 'STATEMENT';
            my $constraint = $level eq 'CONSTRAINT' ? 'CONSTRAINT' : '';
            my $row = $level eq 'STATEMENT' ? 'STATEMENT' : 'ROW';
            ask($admin, "DROP TABLE IF EXISTS t; CREATE TABLE t $columns");
            ask($admin, 'ALTER TABLE t ADD d int; INSERT INTO t DEFAULT VALUES');
            ask($admin, 'ALTER TABLE t DROP a') if $columns =~ /b text\)/;
            my $made = ask($admin, "CREATE $constraint TRIGGER x $when $event ON t FOR EACH $row $function");
            my $answer = ask($admin, $do{$event});
            push @wrong, "$kind $event on $columns: $made $answer" if "$made$answer" ne 'ERROR 39P01';
        }
    }
}
is("@wrong", '', 'a trigger of any other kind, on any other table');
is(ask($admin, 'TRUNCATE snowid.segment_sources'), 'ERROR 0A000', 'TRUNCATE, which replication would repeat elsewhere');
foreach my $event ('INSERT', 'UPDATE', 'DELETE')
{
    ask($admin, "DROP TABLE t; CREATE TABLE t (d int); DROP VIEW IF EXISTS v; CREATE VIEW v AS SELECT 1 AS d");
    is(ask($admin, "CREATE TRIGGER x INSTEAD OF $event ON v FOR EACH ROW $function"), '', "instead of $event");
    is(ask($admin, $do{$event} =~ s/\bt\b/v/r), 'ERROR 39P01', "instead of $event");
}
foreach my $event ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE')
{
    ask($admin, 'BEGIN; INSERT INTO snowid.segment_sources (seq, server, remote_seq, owner) VALUES (0::regclass, 0, 0, 0)') if $event ne 'INSERT';
    ask($admin, 'BEGIN') if $event eq 'INSERT';
    ask($admin, 'ALTER TABLE snowid.segment_sources DISABLE TRIGGER refuse_truncate');
    ask($admin, 'CREATE TRIGGER x AFTER ' . "$event ON snowid.segment_sources $function");
    is(ask($admin, { INSERT => 'INSERT INTO snowid.segment_sources (seq, server, remote_seq, owner) VALUES (1::regclass, 0, 0, 0)',
        UPDATE => 'UPDATE snowid.segment_sources SET server = 1', DELETE => 'DELETE FROM snowid.segment_sources',
        TRUNCATE => 'TRUNCATE snowid.segment_sources' }->{$event}), 'ERROR 39P01', "after $event of the table itself");
    ask($admin, 'ROLLBACK');
}

# 2. What the columns hold.
sub row { return ask($admin, "SELECT seq, server, remote_seq, owner, server_oid = (SELECT oid FROM pg_foreign_server
  WHERE srvname = server), owner_oid = owner::regrole FROM snowid.segment_sources ORDER BY seq::text") }
my $next = q(SELECT snowid_segment_next('orders_seq'));
sub forget { return ask($admin, q(SELECT setval('orders_seq', last_value, is_called) FROM orders_seq)) }
ask($admin, q(CREATE SEQUENCE orders_seq; SELECT snowid_segment_attach('orders_seq', 'central', 'orders_seq')));
is(row(), 'orders_seq|central|orders_seq|postgres|t|t', 'attached: who owns it, and which server it is');
is(ask($admin, $next), '1000001', 'numbers');
ask($admin, 'CREATE ROLE alice');
ask($admin, q(UPDATE snowid.segment_sources SET server_oid = 1, owner_oid = 1));
is(row(), 'orders_seq|central|orders_seq|postgres|t|t', 'oids are those of the names');
ask($admin, q(BEGIN; UPDATE snowid.segment_sources SET server = 'none', owner = 'nobody'));
is(ask($admin, q(SELECT server_oid, owner_oid FROM snowid.segment_sources)), '0|0', 'and 0 where there are none');
ask($admin, 'ROLLBACK');
ask($admin, 'BEGIN; CREATE SEQUENCE alices; ALTER SEQUENCE alices OWNER TO alice');
ask($admin, 'GRANT SELECT, INSERT, UPDATE ON snowid.segment_sources TO alice; SET ROLE alice');
is(ask($admin, q(INSERT INTO snowid.segment_sources VALUES ('alices', 'central', 'x', 'postgres', 1, 10))), '', 'one who is no superuser');
is(ask($admin, q(SELECT owner, owner_oid = owner::regrole FROM snowid.segment_sources WHERE owner = 'alice')), 'alice|t',
    'is the owner himself, whatever he says');
is(ask($admin, q(UPDATE snowid.segment_sources SET owner = 'postgres' WHERE seq = 'alices'::regclass
  RETURNING owner)), 'alice', 'and stays it');
ask($admin, 'ROLLBACK');

# 3. Renamed, all is as it was.
ask($admin, 'ALTER SERVER central RENAME TO hub');
forget();
like(ask($admin, $next), qr/^1\d{6}$/, 'a server that is renamed is the same');
ask($admin, 'ALTER SERVER hub RENAME TO central');

# Another in its place.
my ($host, $port) = ($source->host, $source->port);
my $options = "FOREIGN DATA WRAPPER dblink_fdw OPTIONS (host '$host', port '$port', dbname 'fake', connect_timeout '2')";
ask($admin, 'ALTER SERVER central RENAME TO old');
ask($admin, "CREATE SERVER central $options; CREATE USER MAPPING FOR PUBLIC SERVER central");
forget();
is(ask($admin, $next), 'ERROR 55000', 'another server of its name');
like($admin->{err}, qr/server "central" is not the one that sequence "orders_seq" was attached to.*HINT:.*snowid_segment_attach/s,
    'says so');
ask($admin, 'DROP SERVER central CASCADE');
like(ask($admin, $next), qr/^1\d{6}$/, 'the old one has another name');
ask($admin, "DROP SERVER old CASCADE; CREATE SERVER central $options; CREATE USER MAPPING FOR PUBLIC SERVER central");
forget();
is(ask($admin, $next), 'ERROR 55000', 'a server that was dropped and made anew');
ask($admin, 'DROP SERVER central CASCADE');
is(ask($admin, $next), 'ERROR 42704', 'a server that was dropped');
add_source($node, $source);
is(ask($admin, $next), 'ERROR 55000', 'made anew once more');
ask($admin, q(SELECT snowid_segment_attach('orders_seq', 'central', 'orders_seq')));
like(ask($admin, $next), qr/^1\d{6}$/, 'until it is attached anew');

# Another owner.
ask($admin, 'ALTER SEQUENCE orders_seq OWNER TO alice');
forget();
is(ask($admin, $next), 'ERROR 42501', 'another owner');
like($admin->{err}, qr/"orders_seq" has another owner than when it was attached to server "central".*HINT/s, 'says so');
ask($admin, 'ALTER SEQUENCE orders_seq OWNER TO postgres');
forget();
like(ask($admin, $next), qr/^1\d{6}$/, 'the one who attached it');
ask($admin, 'CREATE SEQUENCE reassigned; ALTER SEQUENCE reassigned OWNER TO alice; GRANT ALL ON SEQUENCE reassigned TO mallory');
ask($admin, 'GRANT USAGE ON FOREIGN SERVER central TO alice; SET ROLE alice');
is(ask($admin, q(SELECT snowid_segment_attach('reassigned', 'central', 'orders_seq'))), '', 'attached by a user');
ask($admin, 'RESET ROLE; REASSIGN OWNED BY alice TO postgres; SET ROLE mallory');
my $there = last_value($source, 'orders_seq');
is(ask($admin, q(SELECT snowid_segment_next('reassigned'))), 'ERROR 42501', 'reassigned to a superuser');
is(last_value($source, 'orders_seq'), $there, 'whose rights are not used');
ask($admin, 'RESET ROLE');

# 4. A dump keeps all that, also of names that need quoting, and in other schemas.
ask($admin, 'CREATE SCHEMA "Far Away"; CREATE SEQUENCE "Far Away"."My Seq"');
ask($admin, q(SELECT snowid_segment_attach('"Far Away"."My Seq"', 'central', 'orders_seq')));
ask($admin, 'ALTER SEQUENCE "Far Away"."My Seq" RENAME TO "His Seq"; ALTER SEQUENCE orders_seq SET SCHEMA "Far Away"');
is(row(), <<'TEXT' =~ s/\n\z//r, 'psql shows names');
"Far Away"."His Seq"|central|orders_seq|postgres|t|t
"Far Away".orders_seq|central|orders_seq|postgres|t|t
reassigned|central|orders_seq|alice|t|t
TEXT
my $rows = row();
system_or_bail('pg_dump', '-d', $node->connstr('postgres'), '-f', "$dir/dump.sql");
$node->safe_psql('postgres', 'CREATE DATABASE restored');
command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', "$dir/dump.sql" ], 'restored');
$admin = open_session($node, dbname => 'restored');
is(row(), $rows, 'with all its sources');
like(ask($admin, q(SELECT snowid_segment_next('"Far Away"."His Seq"'))), qr/^1\d{6}$/, 'which serve');
is(ask($admin, q(SELECT snowid_segment_next('reassigned'))), 'ERROR 42501', 'save one that did not before');

# 5. The extension goes while others refill.
is(ask($admin, 'CREATE SEQUENCE plain; SELECT snowid_segment_next($$plain$$)'), '1', 'a sequence of its own');
my $refiller = open_session($node, dbname => 'restored');
backend_of($refiller);
ask($refiller, q(SELECT snowid_segment_next('plain')));
foreach my $drop ('DROP EXTENSION snowid CASCADE', 'ALTER EXTENSION snowid DROP TABLE snowid.segment_sources')
{
    ask($admin, "BEGIN; LOCK TABLE snowid.segment_sources; $drop");
    start_asking($refiller, q(SELECT snowid_segment_next('plain') FROM generate_series(1, 1000)));
    wait_until_waiting($node, $refiller, 'Lock');
    ask($admin, $drop =~ /TABLE/ ? 'COMMIT' : 'COMMIT; CREATE EXTENSION snowid');
    is(answer($refiller), 'ERROR 55000', "$drop: a refill beside it");
}

# 6. Something else in the place of the table is no table.
$node->safe_psql('postgres', 'CREATE DATABASE replaced');
foreach my $thing ('VIEW', 'TABLE')
{
    my $columns = 'seq oid, server text, remote_seq text, owner text, server_oid oid, owner_oid oid';
    my $make = $thing eq 'VIEW'
      ? "CREATE VIEW snowid.segment_sources AS SELECT 1::oid AS seq, ''::text AS server, ''::text AS remote_seq,"
      . " ''::text AS owner, 1::oid AS server_oid, 1::oid AS owner_oid"
      : "CREATE TABLE snowid.segment_sources ($columns) PARTITION BY LIST (seq)";
    is(attempt($node, 'CREATE EXTENSION snowid; CREATE SEQUENCE IF NOT EXISTS s INCREMENT 10;'
              . ' ALTER EXTENSION snowid DROP TABLE snowid.segment_sources; ALTER EXTENSION snowid DROP VIEW snowid.stat_counters;'
              . ' DROP TABLE snowid.segment_sources CASCADE;'
              . " $make; ALTER EXTENSION snowid ADD $thing snowid.segment_sources; SELECT snowid_segment_next('s')",
            dbname => 'replaced'), 'ERROR 55000', "a $thing in its place");
    $node->safe_psql('replaced', 'DROP EXTENSION snowid');
}
close_session($admin, $refiller);
check_log($node);
$_->stop foreach $node, $source;
done_testing();
