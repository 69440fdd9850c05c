# Tables of the extension that a superuser has altered. C code reads them; rows are stored by SQL, which heeds indexes,
# constraints, triggers and rules that were added. Whatever was altered, the server does not crash, and reads what the table
# says or raises an error. If what was added stores something else than a function has asked for, that fails: the shard
# would be open on two servers, or the sequence stay attached.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('altered_tables', sql => 'CREATE SEQUENCE central_seq INCREMENT 10; CREATE DATABASE app');
add_source($node, $node, name => 'registry', dbname => 'app');
my $admin = open_session($node, dbname => 'app');
ask($admin, q(SELECT snowid.release_shard(42, 'instagram', 'elsewhere'), snowid.release_shard(42, 'twitter', 'there');
  SELECT snowid.accept_shard(9, snowid_encode(clock_timestamp() + '5 ms', 9, 0));
  CREATE SEQUENCE ours_seq; CREATE SEQUENCE own_seq));
my ($released, $sources) = ('snowid_internal.moved_shards', 'snowid_internal.segment_sources');

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
my ($shard, $said) = (100);

# Alters a table, named %s, in a transaction that is rolled back. Checks what statements give then: for each of a list of
# [statement, answer]. Leaves the last one's message in $said. The sequence has no numbers left.
sub check_altered
{
    my ($table, $alteration, @statements) = @_;
    my $name = $alteration =~ s/%s/$table/gr;
    ask($admin, q(SELECT snowid_segment_attach('ours_seq', 'registry', 'central_seq')));
    is(ask($admin, "BEGIN; $name"), '', "altered: $name") or diag($admin->{err});
    foreach my $statement (@statements)
    {
        my ($sql, $answer) = @$statement;
        my $new = $shard++;
        is(ask($admin, 'SAVEPOINT s; ' . $sql =~ s/NEW/$new/gr), $answer, "$name: " . $sql =~ s/;.*//r) or diag($admin->{err});
        $said = $admin->{err};
        ask($admin, 'ROLLBACK TO s');
    }
    ask($admin, 'ROLLBACK');
    return;
}

# The same statements, which fail.
my $refused = 'ERROR 55000';
sub failing { return map { [ $_->[0], $refused ] } @_ }

# What SQL heeds.
ask($admin, q(CREATE FUNCTION say() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'));
foreach my $of ([ $released, 'shard, layout', 'id', 'moved_to' ], [ $sources, 'seq', 'server_oid', 'server' ])
{
    my ($table, $key, $number, $text) = @$of;
    my $drop = 'ALTER TABLE %s DROP CONSTRAINT ' . $table =~ s/.*\.//r . '_pkey';
    check_altered($table, $_, @{ $reads{$table} }, @{ $stores{$table} }) foreach (
        'SELECT WHERE false',
        "CREATE INDEX \"Odd\" ON %s (lower($text))",
        "CREATE INDEX half ON %s ($number) WHERE $text <> 'elsewhere'",
        "ALTER TABLE %s ADD CONSTRAINT again UNIQUE ($number) DEFERRABLE INITIALLY DEFERRED",
        "$drop; CREATE UNIQUE INDEX half ON %s ($key) WHERE $text = 'nowhere'",
        "$drop, ADD PRIMARY KEY ($key) DEFERRABLE",
        $table eq $released ? ("$drop, ADD PRIMARY KEY (id)", 'DROP TRIGGER check_move ON %s') : (),
        'CREATE TRIGGER "Odd" AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION say()',
        'CREATE RULE "Odd" AS ON INSERT TO %s DO ALSO NOTIFY x',
        'ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY',
        'CREATE TABLE child () INHERITS (%s)',
        "ALTER TABLE %s ALTER $number DROP NOT NULL",
        "ALTER TABLE %s ADD COLUMN more text DEFAULT 'x'; ALTER TABLE %s DROP COLUMN more, ADD COLUMN again int NOT NULL DEFAULT 5; ALTER TABLE %s DROP COLUMN again");
}
check_altered($released, "CREATE TABLE parted (LIKE %s) PARTITION BY LIST (shard); ALTER TABLE parted ATTACH PARTITION %s FOR VALUES IN (7, 9, 42)", @{ $stores{$released} });
check_altered($released, 'CREATE INDEX "Odd" ON %s (lower(moved_to)); SET LOCAL enable_seqscan = off',
    [ "SELECT snowid.release_shard(7, moved_to => 'Here') > 0; SELECT shard FROM $released WHERE lower(moved_to) = 'here'", "t\n7" ]);
check_altered($released, "ALTER TABLE %s ADD CHECK (shard <> 7), ADD CHECK (moved_to <> 'farther')",
    [ $stores{$released}[0][0], 'ERROR 23514' ], [ $stores{$released}[1][0], 'ERROR 23514' ]);

# What stores something else, or nothing.
my %body = (
    drop_it => 'RETURN NULL', keep_old => 'RETURN OLD',
    turn => 'NEW.is_open := NOT NEW.is_open; RETURN NEW',
    lower_id => 'NEW.id := NEW.id - 8388608; RETURN NEW',
    turn_later => "UPDATE $released SET is_open = NOT is_open WHERE shard = NEW.shard AND layout::text = 'instagram' AND pg_trigger_depth() = 1; RETURN NULL",
    other_later => "UPDATE $released SET is_open = true WHERE layout::text = 'twitter' AND pg_trigger_depth() = 1; RETURN NULL",
    delete_later => "DELETE FROM $released; RETURN NULL");
ask($admin, "CREATE FUNCTION $_() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN $body{$_}; END \$\$") foreach keys %body;
my ($row_of_7, undef, @changes) = @{ $stores{$released} };
foreach my $function (sort keys %body)
{
    my $when = $function =~ /later/ ? 'AFTER' : 'BEFORE';
    my $error = $when eq 'AFTER' ? 'ERROR 0A000' : $refused;
    check_altered($released, "CREATE TRIGGER z $when INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION $function()",
        (map { [ $_->[0], $error ] } $row_of_7, @changes), [ 'SELECT snowid_next(7) > 0', 't' ], @{ $reads{$released} });
}
ask($admin, "CREATE TABLE aside AS SELECT * FROM $released LIMIT 1");
check_altered($released, "CREATE RULE z AS ON INSERT TO %s DO INSTEAD $_", failing($row_of_7)) foreach 'NOTHING', 'INSERT INTO aside VALUES (NEW.*)';
check_altered($released, "CREATE RULE z AS ON UPDATE TO %s DO INSTEAD $_", failing(@changes)) foreach 'NOTHING', 'UPDATE aside SET is_open = NEW.is_open';
# Two rows of a shard: the one that was not stored is found first.
check_altered($released, "ALTER TABLE %s DROP CONSTRAINT moved_shards_pkey, DISABLE TRIGGER USER;"
      . " INSERT INTO %s SELECT shard, layout, id, true, NULL, moved_at FROM %s WHERE layout::text = 'instagram'", failing($stores{$released}[1]));
my ($attach, undef, $detach) = @{ $stores{$sources} };
check_altered($sources, 'CREATE RULE z AS ON DELETE TO %s DO INSTEAD NOTHING', failing($detach));
check_altered($sources, 'CREATE RULE z AS ON INSERT TO %s DO INSTEAD NOTHING', failing($attach));
check_altered($sources, 'CREATE TRIGGER z BEFORE INSERT OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION drop_it()', failing($attach, $detach));
like($said, qr/could not change table "$sources"\nDETAIL:  A rule, trigger, or policy .*\nHINT:  Drop the /, 'and says why');

# What cannot be read. Hints that are statements undo it.
my %not_null_of = ($released => [qw(id is_open moved_at)], $sources => [qw(server remote_seq source_identity owner server_oid owner_oid)]);
foreach my $table ($released, $sources)
{
    foreach my $column (@{ $not_null_of{$table} })
    {
        check_altered($table, "ALTER TABLE %s DISABLE TRIGGER USER; ALTER TABLE %s ALTER $column DROP NOT NULL; UPDATE %s SET $column = NULL", failing($reads{$table}[0]));
        like($said, qr/table "$table" was altered\nDETAIL:  A row has a null in column "$column"\.\nHINT:  Use UPDATE $table to/, 'says what to do');
    }
    foreach my $alteration ('ALTER TABLE %s SET UNLOGGED', 'ALTER TABLE %s ADD COLUMN "Odd" text')
    {
        check_altered($table, $alteration, failing(@{ $stores{$table} }, $reads{$table}[0]));
        my ($hint) = $said =~ /table "$table" was altered\nDETAIL:  .+\.\nHINT:  Use (.+)\.$/m;
        check_altered($table, "$alteration; " . ($hint // 'none'), @{ $reads{$table} }, @{ $stores{$table} });
    }
}
check_altered($sources, 'ALTER TABLE %s ALTER server_oid TYPE text', failing(@{ $stores{$sources} }, $reads{$sources}[0]));
check_altered($released, 'ALTER EXTENSION snowid DROP VIEW snowid.released_shards; ALTER TABLE %s DROP COLUMN moved_to CASCADE', failing(@{ $reads{$released} }[ 0, 2 ], $row_of_7));

check_altered($_, 'ALTER EXTENSION snowid DROP TABLE %s', failing(@{ $stores{$_} })) foreach $released, $sources;
end_test($node);
