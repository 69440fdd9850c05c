# Tables of the extension that a superuser has altered. C code reads them; rows are stored by SQL, which heeds indexes,
# constraints, triggers and rules that were added. Whatever was altered, the server does not crash, and reads what the table
# says or raises an error. If what was added stores something else than a function has asked for, that fails: the shard
# would be open on two servers, or the sequence stay attached.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('altered_tables');
$node->start;
my $postmaster = slurp_file($node->data_dir . '/postmaster.pid');
$node->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE SEQUENCE central_seq INCREMENT 10; CREATE DATABASE app');
add_source($node, $node, name => 'registry', dbname => 'app');
my $admin = open_session($node, dbname => 'app');
is(ask($admin, q(SELECT snowid.join('registry', 'app'))), '1', 'joined');
ask($admin, q(SELECT snowid.release_shard(42, 'instagram', 'elsewhere'), snowid.release_shard(42, 'twitter', 'there');
  SELECT snowid.accept_shard(9, snowid_encode(clock_timestamp() + '5 ms', 9, 0)); CREATE SEQUENCE ours_seq; CREATE SEQUENCE own_seq; SELECT snowid_segment_attach('ours_seq', 'registry', 'central_seq');
  CREATE SCHEMA "Odd Place"));
my $released = ask($admin, q(SELECT 'snowid_internal.moved_shards'::regclass));
my $membership = ask($admin, q(SELECT 'snowid_internal.membership'::regclass));
my $sources = ask($admin, q(SELECT 'snowid_internal.segment_sources'::regclass));

# For each table what stores rows in it, with what it says then; and what reads it. A number in place of NEW is that of a
# shard that is not in memory.
my $accept = q(SELECT snowid.accept_shard(42, snowid_encode(clock_timestamp() + '5 ms', 42, 0)));
my $rows = "SELECT string_agg(concat_ws('-', shard, layout, is_open, moved_to), ' ' ORDER BY shard, moved_to) FROM $released WHERE shard <> 9";
my $attached = 'SELECT string_agg(seq::text, $$ $$ ORDER BY seq::text) FROM snowid.segment_sources';
my %stores = (
    $released => [
        [ "SELECT snowid.release_shard(7) > 0; $rows", "t\n7-instagram-f 42-instagram-f-elsewhere 42-twitter-f-there" ],
        [ "SELECT snowid.release_shard(42, 'instagram', 'farther') > 0; $rows", "t\n42-instagram-f-farther 42-twitter-f-there" ],
        [ "$accept; $rows", "\n42-twitter-f-there 42-instagram-t" ],
        [ "SELECT snowid.release_shard(9) > 0; SELECT is_open FROM $released WHERE shard = 9", "t\nf" ]
    ],
    $sources => [
        [ "SELECT snowid_segment_attach('own_seq', 'registry', 'central_seq'); $attached", "\nours_seq own_seq" ],
        [ "SELECT snowid_segment_attach('ours_seq', 'registry', 'central_seq'); $attached", "\nours_seq" ],
        [ "SELECT snowid_segment_detach('ours_seq'); $attached", "\n" ]
    ]);
my %reads = (
    $released => [
        [ 'SELECT snowid_next(42)', 'ERROR 55000' ], [ "SELECT snowid_next(42, 'twitter')", 'ERROR 55000' ],
        [ 'SELECT snowid_next(NEW) > 0', 't' ], [ 'SELECT snowid.advance_shard(snowid_next(NEW))', '' ]
    ],
    $sources => [ [ q(SELECT min(n) > 0 FROM snowid_segment_batch('ours_seq', 30) AS n), 't' ], [ q(SELECT snowid_segment_next('own_seq') > 0), 't' ] ]);
my $shard = 100;

# What each statement gives in an altered table: for each of a list of [statement, answer].
sub check_statements
{
    my ($name, @statements) = @_;
    foreach my $statement (@statements)
    {
        my ($sql, $answer) = @$statement;
        my $new = $shard++;
        is(ask($admin, 'SAVEPOINT s; ' . $sql =~ s/NEW/$new/gr), $answer, "$name: " . $sql =~ s/;.*//r) or diag($admin->{err});
        ask($admin, 'ROLLBACK TO s');
    }
    return;
}

# Begins a transaction in which a table, named %s, is altered. Returns the statement. The sequence has no numbers left.
sub alter
{
    my ($table, $alteration) = @_;
    ask($admin, q(SELECT snowid_segment_attach('ours_seq', 'registry', 'central_seq')));
    my $name = $alteration =~ s/%s/$table/gr;
    is(ask($admin, "BEGIN; $name"), '', "altered: $name") or diag($admin->{err});
    return $name;
}
sub undo { return ask($admin, 'ROLLBACK') }

# 1. What SQL heeds.
my %key = ($released => 'shard, layout', $sources => 'seq');
my %own_trigger = ($released => 'check_move', $sources => 'check_source');
my %not_null = ($released => 'id', $sources => 'remote_seq');
my %number = ($released => 'id', $sources => 'server_oid');
my %text = ($released => 'moved_to', $sources => 'server');
ask($admin, q(CREATE FUNCTION say() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'));
foreach my $table ($released, $sources)
{
    my $short = $table =~ s/.*\.//r;
    my ($own_trigger, $number, $text) = map { $_->{$table} } \%own_trigger, \%number, \%text;
    foreach my $alteration (
        'SELECT WHERE false',
        "CREATE INDEX \"Odd\" ON %s (lower($text))",
        "CREATE INDEX half ON %s ($number) WHERE $text <> 'elsewhere'",
        "ALTER TABLE %s ADD CONSTRAINT again UNIQUE ($number) DEFERRABLE INITIALLY DEFERRED",
        "ALTER TABLE %s DROP CONSTRAINT ${short}_pkey",
        "ALTER TABLE %s DROP CONSTRAINT ${short}_pkey; CREATE UNIQUE INDEX half ON %s ($key{$table}) WHERE $text = 'nowhere'",
        "ALTER TABLE %s DROP CONSTRAINT ${short}_pkey, ADD PRIMARY KEY ($key{$table}) DEFERRABLE",
        "ALTER TABLE %s DROP CONSTRAINT ${short}_pkey, ADD PRIMARY KEY ($key{$table}) INCLUDE ($number)",
        $table eq $released ? "ALTER TABLE %s DROP CONSTRAINT ${short}_pkey, ADD PRIMARY KEY (id, shard)" : (),
        'CREATE TRIGGER "Odd" AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION say()',
        "ALTER TABLE %s DISABLE TRIGGER refuse_truncate",
        $table eq $released ? 'DROP TRIGGER check_move ON %s' : (),
        'CREATE RULE "Odd" AS ON INSERT TO %s DO ALSO NOTIFY x',
        'ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY',
        'CREATE TABLE "Odd Place"."Child" () INHERITS (%s)',
        "ALTER TABLE %s ALTER $not_null{$table} DROP NOT NULL",
        "ALTER TABLE %s ADD COLUMN more text DEFAULT 'x'; ALTER TABLE %s DROP COLUMN more, ADD COLUMN again int NOT NULL DEFAULT 5; ALTER TABLE %s DROP COLUMN again")
    {
        my $name = alter($table, $alteration);
        check_statements($name, @{ $reads{$table} }, @{ $stores{$table} });
        undo();
    }
}
my $name = alter($released, 'CREATE INDEX "Odd" ON %s (lower(moved_to))');
is(ask($admin, "SELECT snowid.release_shard(7, moved_to => 'Here') > 0; SET LOCAL enable_seqscan = off; SELECT shard FROM $released WHERE lower(moved_to) = 'here'"),
    "t\n7", 'an index that was added has the row');
undo();
$name = alter($released, "ALTER TABLE %s ADD CHECK (shard <> 7), ADD CHECK (moved_to <> 'farther')");
check_statements($name, [ 'SELECT snowid.release_shard(7)', 'ERROR 23514' ], [ "SELECT snowid.release_shard(42, 'instagram', 'farther')", 'ERROR 23514' ]);
undo();
$name = alter($released, "CREATE TABLE parted (LIKE $released) PARTITION BY LIST (shard); ALTER TABLE parted ATTACH PARTITION %s FOR VALUES IN (7, 9, 42)");
check_statements($name, @{ $stores{$released} });
undo();

# 2. What stores something else, or nothing.
ask($admin, <<"SQL");
CREATE TABLE aside AS SELECT * FROM $released LIMIT 1;
CREATE FUNCTION drop_it() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE FUNCTION keep_old() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END';
CREATE FUNCTION turn() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.is_open := NOT NEW.is_open; RETURN NEW; END';
CREATE FUNCTION lower_id() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.id := NEW.id - 8388608; RETURN NEW; END';
CREATE FUNCTION turn_later() RETURNS trigger LANGUAGE plpgsql
  AS 'BEGIN UPDATE $released SET is_open = NOT is_open WHERE shard = NEW.shard AND layout::text = ''instagram'' AND pg_trigger_depth() = 1; RETURN NULL; END';
CREATE FUNCTION delete_later() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN DELETE FROM $released; RETURN NULL; END';
CREATE FUNCTION other_later() RETURNS trigger LANGUAGE plpgsql
  AS 'BEGIN UPDATE $released SET is_open = true WHERE layout::text = ''twitter'' AND pg_trigger_depth() = 1; RETURN NULL; END';
SQL
my $refused = 'ERROR 55000';
my %of_trigger = (drop_it => $refused, keep_old => $refused, turn => $refused, lower_id => $refused, turn_later => $refused, delete_later => 'ERROR 0A000', other_later => 'ERROR 0A000');
foreach my $function (sort keys %of_trigger)
{
    my $when = $function =~ /later/ ? 'AFTER' : 'BEFORE';
    $name = alter($released, "CREATE TRIGGER z $when INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION $function()");
    check_statements($name, map { [ $_->[0], $of_trigger{$function} ] } @{ $stores{$released} }[ 0, 2, 3 ]);
    check_statements($name, [ 'SELECT snowid_next(7) > 0', 't' ], @{ $reads{$released} });
    undo();
}
foreach my $event ('INSERT', 'UPDATE')
{
    foreach my $instead ('NOTHING', $event eq 'INSERT' ? 'INSERT INTO aside VALUES (NEW.*)' : 'UPDATE aside SET is_open = NEW.is_open')
    {
        $name = alter($released, "CREATE RULE z AS ON $event TO %s DO INSTEAD $instead");
        my @of_event = $stores{$released}->@[ $event eq 'INSERT' ? 0 : (2, 3) ];
        check_statements($name, (map { [ $_->[0], $refused ] } @of_event), @{ $reads{$released} });
        undo();
    }
}
foreach my $what ('TRIGGER z BEFORE INSERT OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION drop_it()', 'RULE z AS ON DELETE TO %s DO INSTEAD NOTHING')
{
    $name = alter($sources, "CREATE $what");
    check_statements($name, [ $stores{$sources}->[2][0], $refused ], @{ $reads{$sources} });
    undo();
}
foreach my $what ('TRIGGER z BEFORE INSERT OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION drop_it()', 'RULE z AS ON INSERT TO %s DO INSTEAD NOTHING')
{
    $name = alter($sources, "CREATE $what");
    check_statements($name, [ $stores{$sources}->[0][0], $refused ]);
    is(ask($admin, $stores{$sources}->[0][0]), $refused, 'once more');
    like($admin->{err}, qr/could not change table "snowid_internal.segment_sources"\nDETAIL:  A rule, a trigger, or a policy .*\nHINT:  Drop that /, 'and says why');
    undo();
}
# Two rows of a shard: the one that was not stored is found first.
$name = alter($released, 'ALTER TABLE %s DROP CONSTRAINT moved_shards_pkey, DISABLE TRIGGER USER;'
      . " INSERT INTO %s SELECT shard, layout, id, true, NULL, moved_at FROM %s WHERE layout::text = 'instagram'");
check_statements($name, [ "SELECT snowid.release_shard(42, 'instagram', 'farther')", $refused ]);
undo();

# 3. What cannot be read. The hint undoes it.
my %not_null_of = ($released => [qw(layout id is_open moved_at)], $sources => [qw(server remote_seq source_identity owner server_oid owner_oid)]);
foreach my $table ($released, $sources)
{
    my $short = $table =~ s/.*\.//r;
    foreach my $column (@{ $not_null_of{$table} })
    {
        $name = alter($table, 'ALTER TABLE %s DISABLE TRIGGER USER' . ($column eq 'layout' ? ", DROP CONSTRAINT ${short}_pkey" : '')
              . "; ALTER TABLE %s ALTER $column DROP NOT NULL; UPDATE %s SET $column = NULL");
        is(ask($admin, $reads{$table}->[0][0]), $refused, $name);
        like($admin->{err}, qr/table "$table" was altered\nDETAIL:  A row has a null in column "$column"\.\nHINT:  Use UPDATE $table to/, 'says what to do');
        undo();
    }
    foreach my $alteration ('ALTER TABLE %s SET UNLOGGED', 'ALTER TABLE %s ADD COLUMN "Odd" text')
    {
        $name = alter($table, $alteration);
        check_statements($name, map { [ $_->[0], $refused ] } @{ $stores{$table} }, $reads{$table}->[0]);
        ask($admin, 'SAVEPOINT s');
        ask($admin, $reads{$table}->[0][0]);
        my ($hint) = $admin->{err} =~ /was altered\nDETAIL:  .+\.\nHINT:  Use (.+)\.$/m;
        is(ask($admin, 'ROLLBACK TO s; ' . ($hint // 'none')), '', "$name: " . ($hint // 'a hint that can be followed'));
        check_statements($name, @{ $reads{$table} }, @{ $stores{$table} });
        undo();
    }
}

# 4. The membership, of which no column is read.
my @works = (
    [ 'SELECT source, node_name, problem IS NULL FROM snowid.node_status', 'joined|app|t' ], [ 'SELECT snowid_shard(snowid_next())', '1' ],
    [ 'SELECT snowid.check_node()', '1' ], [ q(SELECT snowid.join('registry', 'app')), '1' ]);
foreach my $alteration (
    'CREATE INDEX "Odd" ON %s (lower(node_name))',
    'CREATE TRIGGER "Odd" AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION say()',
    'ALTER TABLE %s DISABLE TRIGGER USER, ALTER node_name DROP NOT NULL; UPDATE %s SET node_name = NULL',
    'ALTER TABLE %s ALTER node_number TYPE numeric',
    'ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY',
    'ALTER TABLE %s ADD COLUMN "Odd" text')
{
    $name = $alteration =~ s/%s/$membership/gr;
    is(ask($admin, $name), '', "altered: $name") or diag($admin->{err});
    is(attempt($node, $_->[0], dbname => 'app'), $_->[1], "$name: $_->[0]") foreach @works;
}
my $row = ask($admin, "SELECT * FROM $membership");
is(ask($admin, 'SELECT snowid.check_node()'), '1', 'a check of the node');
is(ask($admin, "SELECT * FROM $membership"), $row, 'changes no row');
is(ask($admin, 'SELECT snowid.leave()'), '', 'the node leaves');
is(ask($admin, q(SELECT snowid.join('registry', 'app again'))), '2', 'and joins again');

# 5. What is no such table at all.
foreach my $table ($released, $sources)
{
    alter($table, 'ALTER EXTENSION snowid DROP TABLE %s');
    check_statements("without $table", map { [ $_->[0], $refused ] } @{ $stores{$table} });
    undo();
}
alter($membership, 'ALTER EXTENSION snowid DROP TABLE %s');
check_statements("without $membership", [ q(SELECT snowid.join('registry', 'app again')), $refused ]);
undo();
close_session($admin);
is(slurp_file($node->data_dir . '/postmaster.pid'), $postmaster, 'the server has not crashed');
$node->stop;
check_log($node);
done_testing();
