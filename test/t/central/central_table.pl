# Attaching a sequence to a central source, and detaching it: what other sessions notice, and where numbers go on. None
# that was given here comes again: they are skipped, or the source is refused as behind. The table of sources says whose
# rights a refill is made with, and where: its trigger function, put on any other table or in any other way, must be
# refused, and not read what is not there; a server, or an owner, that has taken another's place since a sequence was
# attached gets nothing by that, also by way of a dump.

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
CREATE SEQUENCE ours_seq START 100001 INCREMENT 100;
CREATE SEQUENCE others_seq START 7000001 INCREMENT 100;
CREATE DATABASE fake;
SQL
$source->safe_psql('fake', 'CREATE SEQUENCE orders_seq START 6000001 INCREMENT 10');
my $node = new_server('node');
$node->start;
add_source($node, $source);
my $admin = open_session($node);

# 1. Sessions that have numbers left notice at once that it is attached, and detached.
$node->safe_psql('postgres', 'CREATE ROLE bob LOGIN; CREATE SEQUENCE ours_seq; GRANT USAGE ON SEQUENCE ours_seq TO bob');
my $ours = q(SELECT snowid_segment_next('ours_seq'));
my $bob = open_session($node);
ask($bob, 'SET ROLE bob');
my @sessions = map { open_session($node) } 1 .. 3;
sub drawn { return map { ask($_, $ours) } @sessions }
is(join(' ', drawn()), '1 2 3', 'its own numbers');
ask($admin, q(BEGIN; SELECT snowid_segment_attach('ours_seq', 'central', 'ours_seq')));
is(ask($admin, $ours), '100001', 'attached: who has done it draws from the source');
ask($admin, 'ROLLBACK');
is(scalar(grep { $_ > 3 && $_ < 100000 } drawn()), 3, 'rolled back: its own numbers go on');
is(ask($admin, 'SELECT count(*) FROM snowid_internal.segment_sources'), '0', 'rolled back: nothing is attached');
ask($admin, 'ALTER SEQUENCE ours_seq INCREMENT 50');
my @own = drawn();
is($own[2] - $own[0], 2, 'a block of its own');
ask($admin, q(SELECT snowid_segment_attach('ours_seq', 'central', 'ours_seq')));
# What is attached goes on without a time-out.
ask($admin, 'ALTER SERVER central OPTIONS (DROP connect_timeout)');
my @allocated = drawn();
ask($admin, q(ALTER SERVER central OPTIONS (ADD connect_timeout '2')));
cmp_ok($allocated[0], '>', 100001, 'attached: sessions draw from the source at once');
is("$allocated[1] $allocated[2]", join(' ', $allocated[0] + 1, $allocated[0] + 2), 'attached: all of them');
is(ask($bob, $ours), $allocated[2] + 1, 'so does who has the right to the sequence, and none to the server');
ask($admin, q(SELECT snowid_segment_attach('ours_seq', 'central', 'others_seq')));
is(join(' ', drawn()), '7000001 7000002 7000003', 'attached to another: all draw from that');
foreach my $how ('ROLLBACK', 'COMMIT')
{
    ask($admin, q(BEGIN; SELECT snowid_segment_detach('ours_seq')));
    ask($admin, $how);
    my @after = drawn();
    my $top = $source->safe_psql('postgres', 'SELECT last_value + 99 FROM others_seq');
    is(scalar(grep { $how eq 'COMMIT' ? $_ > $top : $_ <= $top } @after), 3, "detached, $how: all notice")
      or diag("@after");
}
is(ask($admin, 'SELECT count(*) FROM snowid_internal.segment_sources'), '0', 'detached: the table says so');

# Numbers of its own go on above those allocated, whatever the two increments are, and after a crash.
foreach my $increment (1, 100, 1000)
{
    ask($admin, "DROP SEQUENCE IF EXISTS detached_seq; CREATE SEQUENCE detached_seq INCREMENT $increment");
    ask($admin, q(SELECT snowid_segment_attach('detached_seq', 'central', 'ours_seq')));
    my ($last) = ask($admin, q(SELECT snowid_segment_batch('detached_seq', 20))) =~ /(\d+)\z/;
    ask($admin, q(SELECT snowid_segment_detach('detached_seq')));
    my $top = $source->safe_psql('postgres', 'SELECT last_value + 99 FROM ours_seq');
    cmp_ok(ask($admin, q(SELECT snowid_segment_next('detached_seq'))), '>', $top,
        "detached: above all that was allocated, INCREMENT $increment");
}
$node->append_conf('postgresql.conf', "wal_writer_delay = '10s'\n");
$node->reload;
ask($admin, 'DROP SEQUENCE detached_seq; CREATE SEQUENCE detached_seq; CHECKPOINT');
ask($admin, q(SELECT snowid_segment_attach('detached_seq', 'central', 'ours_seq')));
my $last = ask($admin, q(SELECT snowid_segment_next('detached_seq')));
crash($node, 'kill');
close_session($admin, $bob, @sessions);
$node->start;
$admin = open_session($node);
unlike(ask($admin, q(SELECT snowid_segment_detach('detached_seq'))), qr/ERROR/, 'detached after a crash');
my $next = ask($admin, q(SELECT snowid_segment_next('detached_seq')));
like("$last $next", qr/^\d+ \d+$/, 'numbers before it, and after');
cmp_ok($next, '>', $last, 'above what was drawn');

# Another source than the one that is down.
my $other = q(SELECT snowid_segment_next('other_seq'));
my ($host, $port) = ($source->host, $source->port);
ask($admin, "CREATE SERVER dead FOREIGN DATA WRAPPER dblink_fdw OPTIONS (host '$host', port '$port', dbname 'postgres', connect_timeout '2')");
ask($admin, q(CREATE USER MAPPING FOR postgres SERVER dead; CREATE SEQUENCE other_seq));
ask($admin, q(SELECT snowid_segment_attach('other_seq', 'dead', 'ours_seq'); ALTER SERVER dead OPTIONS (SET host '/nowhere')));
is(ask($admin, $other), 'ERROR 08006', 'a source that is down');
ask($admin, q(SELECT snowid_segment_attach('other_seq', 'central', 'ours_seq')));
like(ask($admin, $other), qr/^\d+$/, 'is not the one that is attached then');
ask($admin, q(SELECT snowid_segment_detach('other_seq'); DROP SEQUENCE ours_seq, detached_seq, other_seq));

# 2. Numbers that were given here before do not come again, wherever the source is.
$node->safe_psql('postgres', 'CREATE DATABASE given');
add_source($node, $source, dbname => 'given');
$node->safe_psql('given', q(LOAD 'snowid'; ALTER DATABASE given SET snowid.segment_adapt = off));
my $caller = open_session($node, dbname => 'given');
ask($caller, q(SET statement_timeout = '1min'));

# Makes a sequence there, with the options given, and says what attaches one here to it.
sub attach_to
{
    my ($sequence, $options) = @_;
    $source->safe_psql('postgres', "DROP SEQUENCE IF EXISTS $sequence; CREATE SEQUENCE $sequence $options");
    return "SELECT snowid_segment_attach('$sequence', 'central', '$sequence')";
}
sub batch { return ask($caller, "SELECT string_agg(n::text, ' ') FROM snowid_segment_batch('$_[0]', $_[1]) AS n") }

# A draw that is refused, since the source is behind; of which nothing is taken.
sub check_behind
{
    my ($name, $sequence, $given) = @_;
    my $there = last_value($source, $sequence);
    foreach my $attempt (1 .. 3)
    {
        is(batch($sequence, 1), 'ERROR 55000', "$name: refused");
        like($caller->{err},
            qr/sequence "$sequence" on server "central" is behind sequence "$sequence"\nDETAIL:  Its next block begins at \d+, and numbers up to $given count as allocated to sequence "$sequence"\.\nHINT:  On server "central" use setval\(\) to set the sequence to $given, or/,
            "$name: and told how far to set it");
    }
    is(last_value($source, $sequence), $there, "$name: nothing is taken");
    return;
}

# Attaching what is behind, until the source is set as told. One that is new is at its start.
sub check_attached
{
    my ($name, $sequence, $options, $given) = @_;
    my $attach = attach_to($sequence, $options);
    is(ask($caller, $attach), 'ERROR 55000', "$name: a new source is not attached");
    like($caller->{err}, qr/HINT:  On server "central" use setval\(\) to set the sequence to $given, or/, "$name: and it is told how far to set it");
    $source->safe_psql('postgres', "SELECT setval('$sequence', $given - (SELECT seqincrement FROM pg_sequence WHERE seqrelid = '$sequence'::regclass))");
    is(ask($caller, $attach), 'ERROR 55000', "$name: nor one that is set too low");
    $source->safe_psql('postgres', "SELECT setval('$sequence', $given)");
    is(ask($caller, $attach), '', "$name: set as told it is");
    return;
}

ask($caller, 'CREATE SEQUENCE ship');
is(batch('ship', 5), '1 2 3 4 5', 'its own numbers');
check_attached('own numbers', 'ship', '', 5);
is(batch('ship', 1), '6', 'own numbers: it goes on above');
ask($caller, 'CREATE SEQUENCE boat INCREMENT 1000000000');
is(batch('boat', 3), '1 2 3', 'its own numbers');
check_attached('a large INCREMENT', 'boat', 'INCREMENT 5', 1000000000);
is(batch('boat', 1), '1000000005', 'a large INCREMENT: it goes on above');

# Set back afterwards.
$source->safe_psql('postgres', q(SELECT setval('boat', 1)));
ask($caller, q(SELECT setval('boat', 50000000)));
check_behind('set back', 'boat', 1049999999);
# Without being called it does not say where it is, before the first number.
$source->safe_psql('postgres', q(SELECT setval('boat', 2, false)));
check_behind('set back, and not called', 'boat', 1049999999);
$source->safe_psql('postgres', q(SELECT setval('boat', 1050000000, false)));
is(batch('boat', 1), '1050000000', 'set right, and not called: it serves at once');
# As soon as the numbers given here are less.
$source->safe_psql('postgres', q(SELECT setval('boat', 1)));
ask($caller, q(SELECT setval('boat', 1, false)));
is(batch('boat', 1), '6', 'set back: unless the sequence here is, too');

# The sequence here is set above what the source has come to.
ask($caller, 'CREATE SEQUENCE part');
ask($caller, attach_to('part', 'INCREMENT 10'));
ask($caller, q(SET snowid.segment_adapt = on));
is(batch('part', 20), join(' ', 1 .. 20), 'allocated at a rate');
my $there = last_value($source, 'part');
ask($caller, "SELECT setval('part', $there + 24)");
check_behind('set above', 'part', $there + 24);
ask($caller, q(SET snowid.segment_adapt = off));

# The sequence here is at its end, which is no fault of the source's, nor has that to give more.
ask($caller, 'CREATE SEQUENCE ending INCREMENT 100 MAXVALUE 30');
ask($caller, attach_to('ending', 'INCREMENT 10'));
is(batch('ending', 30), join(' ', 1 .. 30), 'up to the end');
$there = last_value($source, 'ending');
is(ask($caller, q(SELECT snowid_segment_next('ending'))), 'ERROR 2200H', 'at its end') foreach 1 .. 3;
is(last_value($source, 'ending'), $there, 'and asks for no more');

# Detached, going on by itself, and attached anew.
ask($caller, 'CREATE SEQUENCE back INCREMENT 25');
ask($caller, attach_to('back', 'INCREMENT 10 START 1001'));
my %seen;
$seen{$_}++ foreach split / /, batch('back', 90);
ask($caller, q(SELECT snowid_segment_detach('back')));
$seen{$_}++ foreach split / /, batch('back', 300);
is(ask($caller, q(SELECT snowid_segment_attach('back', 'central', 'back'))), 'ERROR 55000', 'attached anew: it is behind');
my ($given) = $caller->{err} =~ /to set the sequence to (\d+)/;
$source->safe_psql('postgres', "SELECT setval('back', $given)");
is(ask($caller, q(SELECT snowid_segment_attach('back', 'central', 'back'))), '', 'set as told: it is attached');
$seen{ batch('back', 1) }++ foreach 1 .. 100;
is(scalar(keys %seen), 490, 'detached and attached anew: all are numbers');
is(scalar(grep { $seen{$_} > 1 } keys %seen), 0, 'detached and attached anew: none twice');

# Lowered before it is attached: what was handed out counts, whatever INCREMENT is.
ask($caller, 'CREATE SEQUENCE low INCREMENT 1000');
is(batch('low', 3), '1 2 3', 'a large INCREMENT');
ask($caller, 'ALTER SEQUENCE low INCREMENT 1');
is(ask($caller, attach_to('low', 'START 2')), '', 'lowered and attached, by what the sequence says');
check_behind('lowered and attached', 'low', 3);
$source->safe_psql('postgres', q(SELECT setval('low', 3)));
is(batch('low', 1), '4', 'lowered and attached: none again');

# Its own INCREMENT is larger than that there. After a restart only the sequence knows what was given.
ask($caller, 'CREATE SEQUENCE wide INCREMENT 1000');
ask($caller, attach_to('wide', 'INCREMENT 10'));
is(batch('wide', 30), join(' ', 1 .. 30), 'a larger INCREMENT here');
close_session($admin, $caller);
$node->restart;
$admin = open_session($node);
$caller = open_session($node, dbname => 'given');
my $reached = last_value($source, 'wide');
is(batch('wide', 3), join(' ', $reached + 10, $reached + 11, $reached + 12), 'goes on after a restart');
close_session($caller);

# 3. The trigger function.
my $function = 'EXECUTE FUNCTION snowid_internal.check_source()';
ask($admin, 'CREATE ROLE mallory; GRANT CREATE ON SCHEMA public TO mallory; SET ROLE mallory');
ask($admin, 'CREATE TEMP TABLE own (a oid)');
is(ask($admin, "CREATE TRIGGER x BEFORE TRUNCATE ON own $function"), 'ERROR 42501', 'not for everyone');
is(ask($admin, 'SELECT snowid_internal.check_source()'), 'ERROR 42501', 'nor to call');
ask($admin, 'RESET ROLE');
is(ask($admin, 'SELECT snowid_internal.check_source()'), 'ERROR 39P01', 'not without a trigger');
my @tables = ('()', '(a oid)', '(a text)', '(a oid, b text)', '(a oid, b text, c text)',
    '(a snowid_internal.sequence_name, server text, remote_seq text, source_identity text, owner text, server_oid oid, owner_oid oid)');
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
is(ask($admin, 'TRUNCATE snowid_internal.segment_sources'), 'ERROR 0A000', 'TRUNCATE, which replication would repeat elsewhere');
foreach my $event ('INSERT', 'UPDATE', 'DELETE')
{
    ask($admin, "DROP TABLE t; CREATE TABLE t (d int); DROP VIEW IF EXISTS v; CREATE VIEW v AS SELECT 1 AS d");
    is(ask($admin, "CREATE TRIGGER x INSTEAD OF $event ON v FOR EACH ROW $function"), '', "instead of $event");
    is(ask($admin, $do{$event} =~ s/\bt\b/v/r), 'ERROR 39P01', "instead of $event");
}
foreach my $event ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE')
{
    ask($admin, 'BEGIN; INSERT INTO snowid_internal.segment_sources (seq, server, remote_seq, source_identity, owner) VALUES (0::regclass, 0, 0, 0, 0)') if $event ne 'INSERT';
    ask($admin, 'BEGIN') if $event eq 'INSERT';
    ask($admin, 'ALTER TABLE snowid_internal.segment_sources DISABLE TRIGGER refuse_truncate');
    ask($admin, 'CREATE TRIGGER x AFTER ' . "$event ON snowid_internal.segment_sources $function");
    is(ask($admin, { INSERT => 'INSERT INTO snowid_internal.segment_sources (seq, server, remote_seq, source_identity, owner) VALUES (1::regclass, 0, 0, 0, 0)',
        UPDATE => 'UPDATE snowid_internal.segment_sources SET server = 1', DELETE => 'DELETE FROM snowid_internal.segment_sources',
        TRUNCATE => 'TRUNCATE snowid_internal.segment_sources' }->{$event}), 'ERROR 39P01', "after $event of the table itself");
    ask($admin, 'ROLLBACK');
}

# 4. What the columns hold.
sub row { return ask($admin, "SELECT seq, server, remote_seq, owner, server_oid = (SELECT oid FROM pg_foreign_server
  WHERE srvname = server), owner_oid = owner::regrole FROM snowid_internal.segment_sources ORDER BY seq::text") }
my $next = q(SELECT snowid_segment_next('orders_seq'));
sub forget { return ask($admin, q(SELECT setval('orders_seq', last_value, is_called) FROM orders_seq)) }
ask($admin, q(CREATE SEQUENCE orders_seq; SELECT snowid_segment_attach('orders_seq', 'central', 'orders_seq')));
is(row(), 'orders_seq|central|orders_seq|postgres|t|t', 'attached: who owns it, and which server it is');
is(ask($admin, $next), '1000001', 'numbers');
ask($admin, 'CREATE ROLE alice');
ask($admin, q(UPDATE snowid_internal.segment_sources SET server_oid = 1, owner_oid = 1));
is(row(), 'orders_seq|central|orders_seq|postgres|t|t', 'oids are those of the names');
ask($admin, q(BEGIN; UPDATE snowid_internal.segment_sources SET server = 'none', owner = 'nobody'));
is(ask($admin, q(SELECT server_oid, owner_oid FROM snowid_internal.segment_sources)), '0|0', 'and 0 where there are none');
ask($admin, 'ROLLBACK');
ask($admin, 'BEGIN; CREATE SEQUENCE alices; ALTER SEQUENCE alices OWNER TO alice');
ask($admin, 'GRANT USAGE ON SCHEMA snowid_internal TO alice; GRANT SELECT, INSERT, UPDATE ON snowid_internal.segment_sources TO alice; SET ROLE alice');
is(ask($admin, q(INSERT INTO snowid_internal.segment_sources VALUES ('alices', 'central', 'x', 'y', 'postgres', 1, 10))), '', 'one who is not a superuser');
is(ask($admin, q(SELECT owner, owner_oid = owner::regrole FROM snowid_internal.segment_sources WHERE owner = 'alice')), 'alice|t',
    'is the owner himself, whatever he says');
is(ask($admin, q(UPDATE snowid_internal.segment_sources SET owner = 'postgres' WHERE seq = 'alices'::regclass
  RETURNING owner)), 'alice', 'and stays it');
ask($admin, 'ROLLBACK');

# 5. Renamed, all is as it was.
ask($admin, 'ALTER SERVER central RENAME TO hub');
forget();
like(ask($admin, $next), qr/^1\d{6}$/, 'a server that is renamed is the same');
ask($admin, 'ALTER SERVER hub RENAME TO central');

# Another in its place.
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
ask($admin, 'GRANT USAGE ON FOREIGN SERVER central TO alice');
ask($admin, q(RESET ROLE; INSERT INTO snowid_internal.segment_sources (seq, server, remote_seq, source_identity, owner)
  SELECT 'reassigned'::regclass, server, remote_seq, source_identity, 'alice' FROM snowid_internal.segment_sources WHERE seq = 'orders_seq'::regclass));
is($admin->{err}, '', 'attached by a user');
ask($admin, 'RESET ROLE; REASSIGN OWNED BY alice TO postgres; SET ROLE mallory');
$there = last_value($source, 'orders_seq');
is(ask($admin, q(SELECT snowid_segment_next('reassigned'))), 'ERROR 42501', 'reassigned to a superuser');
is(last_value($source, 'orders_seq'), $there, 'whose rights are not used');
ask($admin, 'RESET ROLE');

# 6. A dump keeps all that, also of names that need quoting, and in other schemas.
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

# 7. The extension goes while others refill.
is(ask($admin, 'CREATE SEQUENCE plain; SELECT snowid_segment_next($$plain$$)'), '1', 'a sequence of its own');
my $refiller = open_session($node, dbname => 'restored');
backend_of($refiller);
ask($refiller, q(SELECT snowid_segment_next('plain')));
foreach my $drop ('DROP EXTENSION snowid CASCADE', 'ALTER EXTENSION snowid DROP TABLE snowid_internal.segment_sources')
{
    ask($admin, "BEGIN; LOCK TABLE snowid_internal.segment_sources; $drop");
    start_asking($refiller, q(SELECT snowid_segment_next('plain') FROM generate_series(1, 1000)));
    wait_until_waiting($node, $refiller, 'Lock');
    ask($admin, $drop =~ /TABLE/ ? 'COMMIT' : 'COMMIT; CREATE EXTENSION snowid');
    is(answer($refiller), 'ERROR 55000', "$drop: a refill beside it");
}

# 8. Something else in the place of the table is no table.
$node->safe_psql('postgres', 'CREATE DATABASE replaced');
foreach my $thing ('VIEW', 'TABLE')
{
    my $columns = 'seq oid, server text, remote_seq text, source_identity text, owner text, server_oid oid, owner_oid oid';
    my $make = $thing eq 'VIEW'
      ? "CREATE VIEW snowid_internal.segment_sources AS SELECT 1::oid AS seq, ''::text AS server, ''::text AS remote_seq,"
      . " ''::text AS source_identity, ''::text AS owner, 1::oid AS server_oid, 1::oid AS owner_oid"
      : "CREATE TABLE snowid_internal.segment_sources ($columns) PARTITION BY LIST (seq)";
    is(attempt($node, 'CREATE EXTENSION snowid; CREATE SEQUENCE IF NOT EXISTS s INCREMENT 10;'
              . ' ALTER EXTENSION snowid DROP TABLE snowid_internal.segment_sources; ALTER EXTENSION snowid DROP VIEW snowid.stat_counters;'
              . ' ALTER EXTENSION snowid DROP VIEW snowid.segment_sources;'
              . ' DROP TABLE snowid_internal.segment_sources CASCADE;'
              . " $make; ALTER EXTENSION snowid ADD $thing snowid_internal.segment_sources; SELECT snowid_segment_next('s')",
            dbname => 'replaced'), 'ERROR 55000', "a $thing in its place");
    $node->safe_psql('replaced', 'DROP EXTENSION snowid');
}
close_session($admin, $refiller);
check_log($node);
$_->stop foreach $node, $source;
done_testing();
