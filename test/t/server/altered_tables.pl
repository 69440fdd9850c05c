# C code reads and stores rows of tables that a superuser can alter. But for the membership, it evaluates no index expression and no index
# condition, fires no trigger, and has no use for a null. Whatever was altered, the server neither crashes nor stores what
# the table would refuse: functions that store rows raise an error whose hint undoes the change, and functions that read go
# on or raise the same error. Columns that were added and dropped again are no change. The membership is written by SQL,
# and no column of it is read: it works however it was altered.

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
ask($admin, q(SELECT snowid.release_shard(42, 'instagram', 'elsewhere'); CREATE SEQUENCE ours_seq; CREATE SEQUENCE own_seq;
  SELECT snowid_segment_attach('ours_seq', 'registry', 'central_seq'); CREATE TABLE refers_to (shard bigint PRIMARY KEY);
  CREATE TABLE refers_to_oid (owner oid PRIMARY KEY)));
my $released = ask($admin, q(SELECT 'snowid_internal.moved_shards'::regclass));
my $membership = ask($admin, q(SELECT 'snowid_internal.membership'::regclass));
my $sources = ask($admin, q(SELECT 'snowid_internal.segment_sources'::regclass));

# For each table what stores rows in it, each rolled back; and what reads it. A new session has nothing in memory.
my %stores = (
    $released => [
        'SELECT snowid.release_shard(7) > 0', q(SELECT snowid.release_shard(42, 'instagram', 'farther') > 0),
        q(SELECT snowid.accept_shard(42, snowid_encode(clock_timestamp() + '5 ms', 42, 0))),
        "INSERT INTO $released (shard, layout, id, is_open, moved_at) SELECT 43, 'instagram', snowid_next(43), false, now()"
    ],
    $sources => [
        q(SELECT snowid_segment_attach('own_seq', 'registry', 'central_seq')), q(SELECT snowid_segment_detach('ours_seq'))
    ]);
my %reads = (
    $released => [
        'SELECT snowid_next(42)', 'SELECT snowid_next(44) > 0', 'SELECT snowid.advance_shard(snowid_next(45))',
        "SELECT shard FROM $released WHERE shard = 42", 'SELECT snowid_shard(snowid_next())'
    ],
    $sources => [ q(SELECT snowid_segment_next('ours_seq') > 0), q(SELECT snowid_segment_batch('own_seq', 1) > 0) ]);
sub in_new_session { my ($sql) = @_; return attempt($node, $sql, dbname => 'app') }
sub rolled_back { my ($sql) = @_; return in_new_session("BEGIN; $sql; ROLLBACK") }

# What each gives where nothing was altered.
my %expected;
foreach my $table (keys %reads)
{
    $expected{$_} = in_new_session($_) foreach @{ $reads{$table} };
    $expected{$_} = rolled_back($_) foreach @{ $stores{$table} };
}
is($expected{'SELECT snowid_next(42)'}, 'ERROR 55000', 'a shard is released');
is($expected{'SELECT snowid_shard(snowid_next())'}, '1', 'the node draws from its number');
is(scalar(grep { $expected{$_} =~ /ERROR/ && $_ ne 'SELECT snowid_next(42)' } keys %expected), 0, 'all else works')
  or diag(explain(\%expected));

# Follows hints until a statement works.
sub follow_hints
{
    my ($name, $sql) = @_;
    foreach my $round (1 .. 3)
    {
        ask($admin, "BEGIN; $sql; ROLLBACK");
        return if $admin->{err} !~ /ERROR/;
        my ($hint) = $admin->{err} =~ /^HINT:  Use (.+)\.$/m;
        is(ask($admin, $hint // 'none'), '', "$name: " . ($hint // 'a hint that can be followed')) or diag($admin->{err});
    }
    return;
}

# Alters a table, which is named %s. All that stores rows must raise an error, but for statements that match `allows`. What
# reads gives what it gives otherwise or, with `stops`, raises an error. Then hints are followed; `undo` comes first.
sub try_alteration
{
    my ($table, $alteration, %must) = @_;
    my $name = $alteration =~ s/%s/$table/gr;
    is(ask($admin, $name), '', "altered: $name") or diag($admin->{err});
    foreach my $sql (grep { !$must{allows} || !/$must{allows}/ } @{ $stores{$table} })
    {
        is(ask($admin, "BEGIN; $sql"), 'ERROR 55000', "$name: $sql");
        like($admin->{err}, qr/was altered\nDETAIL:  .+\.\nHINT:  (?:Use|Undo) /, 'says what to do');
        ask($admin, 'ROLLBACK');
    }
    foreach my $sql (@{ $reads{$table} })
    {
        my $answer = in_new_session($sql);
        my $says_so = $answer eq 'ERROR 55000' || $answer =~ /[|]joined[|]+table ".*" was altered$/;
        ok($answer eq $expected{$sql} || ($must{stops} && $says_so), "$name: $sql") or diag($answer);
    }
    ask($admin, $must{undo}) if $must{undo};
    follow_hints($name, $stores{$table}[0]);
    is(rolled_back($_), $expected{$_}, "undone: $_") foreach @{ $stores{$table} };
    is(in_new_session($_), $expected{$_}, "undone: $_") foreach @{ $reads{$table} };
    return;
}

my %not_null = ($released => 'id', $sources => 'server');
my %key = ($released => 'shard, layout', $sources => 'seq');
my %own_trigger = ($released => 'check_move', $sources => 'check_source');
# A column that an index can be on, and a foreign key.
my %number = ($released => 'shard', $sources => 'owner_oid');
my %text = ($released => 'moved_to', $sources => 'server');
ask($admin, 'CREATE TABLE parent AS SELECT * FROM ' . $released . ' WITH NO DATA; CREATE SCHEMA "Odd Place"');
ask($admin, q(CREATE FUNCTION say() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'));
foreach my $table ($released, $sources)
{
    my $short = $table =~ s/.*\.//r;
    my ($own_trigger, $number, $text) = map { $_->{$table} } \%own_trigger, \%number, \%text;
    try_alteration($table, $_) foreach (
        "CREATE INDEX \"Odd\" ON %s (lower($text))",
        "CREATE INDEX half ON %s ($number) WHERE $text <> 'elsewhere'",
        "CREATE INDEX plain ON %s ($number)",
        "ALTER TABLE %s ADD CONSTRAINT again UNIQUE ($number) DEFERRABLE INITIALLY DEFERRED",
        "ALTER TABLE %s ADD CONSTRAINT apart EXCLUDE ($number WITH =)",
        "ALTER TABLE %s DROP CONSTRAINT ${short}_pkey",
        "ALTER TABLE %s DROP CONSTRAINT ${short}_pkey, ADD PRIMARY KEY ($key{$table}) DEFERRABLE",
        "ALTER TABLE %s DROP CONSTRAINT ${short}_pkey, ADD PRIMARY KEY ($key{$table}) INCLUDE ($number)",
        "ALTER TABLE %s DROP CONSTRAINT ${short}_pkey, ADD PRIMARY KEY ($not_null{$table})",
        'CREATE TRIGGER "Odd" AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION say()',
        "ALTER TABLE %s ENABLE TRIGGER $own_trigger",
        'DROP TRIGGER refuse_truncate ON %s',
        'CREATE RULE "Odd" AS ON INSERT TO %s DO ALSO NOTIFY x',
        'ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY',
        'CREATE TABLE "Odd Place"."Child" () INHERITS (%s)',
        $table eq $released ? 'CREATE TABLE refers (n bigint, l snowid_layout, FOREIGN KEY (n, l) REFERENCES %s)'
        : "CREATE TABLE refers (n REFERENCES %s) " =~ s/n/n snowid_internal.sequence_name/r,
        "ALTER TABLE %s ADD CONSTRAINT refers FOREIGN KEY ($number) REFERENCES refers_to" . ($table eq $sources ? '_oid' : '') . ' NOT VALID',
        "ALTER TABLE %s ALTER $not_null{$table} DROP NOT NULL");
    # The statement INSERT is the trigger's.
    try_alteration($table, $_, allows => qr/^INSERT/) foreach "ALTER TABLE %s DISABLE TRIGGER $own_trigger", "DROP TRIGGER $own_trigger ON %s";
    # What hints leave.
    ask($admin, "DROP TABLE IF EXISTS refers; DROP TABLE \"Odd Place\".\"Child\"; ALTER TABLE $table NO FORCE ROW LEVEL SECURITY");
    try_alteration($table, 'ALTER TABLE %s ADD CONSTRAINT odd CHECK (true)', undo => "ALTER TABLE $table DROP CONSTRAINT odd");
    # These stop readers, too.
    try_alteration($table, 'ALTER TABLE %s SET UNLOGGED', stops => 1);
    try_alteration($table, 'ALTER TABLE %s ADD COLUMN "Odd" text', stops => 1);
    # The hint leaves the value to the user.
    my $value = ask($admin, "SELECT $not_null{$table} FROM $table");
    try_alteration($table, "ALTER TABLE %s DISABLE TRIGGER USER, ALTER $not_null{$table} DROP NOT NULL; UPDATE %s SET $not_null{$table} = NULL",
        stops => 1, allows => qr/^INSERT/, undo => "UPDATE $table SET $not_null{$table} = '$value'");
}
# The type of most columns cannot be changed, since views have them.
try_alteration($released, 'ALTER TABLE %s ALTER moved_to SET NOT NULL');
ask($admin, "CREATE TABLE parted (LIKE $released) PARTITION BY LIST (shard)");
try_alteration($released, 'ALTER TABLE parted ATTACH PARTITION %s FOR VALUES IN (7, 42)');

# Every column of a source that may not be null.
foreach my $column (qw(remote_seq owner server_oid owner_oid))
{
    my $value = ask($admin, "SELECT $column FROM $sources");
    try_alteration($sources, "ALTER TABLE %s DISABLE TRIGGER USER; ALTER TABLE %s ALTER $column DROP NOT NULL; UPDATE %s SET $column = NULL",
        stops => 1, undo => "UPDATE $sources SET $column = '$value'");
}

# Columns that were added and dropped again: rows before and after have their values.
foreach my $table ($released, $sources)
{
    is(ask($admin, "ALTER TABLE $table ADD COLUMN more text DEFAULT 'x'; ALTER TABLE $table DROP COLUMN more, ADD COLUMN again int NOT NULL DEFAULT 5;"
              . " ALTER TABLE $table DROP COLUMN again"), '', "a column comes and goes: $table");
}

# The membership.
my $says = q(SELECT source, node_name, problem IS NULL FROM snowid.node_status);
my @works = ([ $says, 'joined|app|t' ], [ 'SELECT snowid_shard(snowid_next())', '1' ], [ 'SELECT snowid.check_node()', '1' ], [ q(SELECT snowid.join('registry', 'app')), '1' ]);
foreach my $alteration (
    'CREATE INDEX "Odd" ON %s (lower(node_name))',
    'CREATE TRIGGER "Odd" AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION say()',
    'ALTER TABLE %s DISABLE TRIGGER USER, ALTER node_name DROP NOT NULL; UPDATE %s SET node_name = NULL',
    'ALTER TABLE %s ALTER node_number TYPE numeric',
    'ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY',
    'ALTER TABLE %s ADD COLUMN "Odd" text',
    'CREATE TABLE "Odd Place"."Child" () INHERITS (%s)')
{
    my $name = $alteration =~ s/%s/$membership/gr;
    is(ask($admin, $name), '', "altered: $name") or diag($admin->{err});
    is(in_new_session($_->[0]), $_->[1], "$name: $_->[0]") foreach @works;
}
ask($admin, "ALTER TABLE $membership DISABLE ROW LEVEL SECURITY, ENABLE ALWAYS TRIGGER keep_own_rows; DROP TABLE \"Odd Place\".\"Child\"; DROP INDEX snowid_internal.\"Odd\"");
my $row = ask($admin, "SELECT * FROM $membership");
is(ask($admin, 'SELECT snowid.check_node()'), '1', 'a check of the node');
is(ask($admin, "SELECT * FROM $membership"), $row, 'changes no row');
is(ask($admin, q(SELECT snowid.release_shard(8, 'twitter', 'there') > 0)), 't', 'a shard is released');
is(ask($admin, "SELECT shard, layout, moved_to, moved_at <= now() FROM $released WHERE shard = 8"), '8|twitter|there|t', 'its row');
is(in_new_session($_), $expected{$_}, "a column came and went: $_") foreach map { @$_ } values %reads;
is(ask($admin, q(SELECT snowid.accept_shard(8, snowid_encode(clock_timestamp() + '5 ms', 8, 0, 'twitter'), 'twitter'))), '', 'it is accepted');
is(ask($admin, q(SELECT snowid_shard(snowid_next(8, 'twitter'), 'twitter'))), '8', 'and drawn from');
is(ask($admin, 'SELECT snowid.leave()'), '', 'the node leaves');
is(ask($admin, q(SELECT snowid.join('registry', 'app again'))), '2', 'and joins again');
is(in_new_session('SELECT snowid_shard(snowid_next())'), '2', 'with its new number');

# REINDEX CONCURRENTLY has a second index like the primary key's meanwhile, and leaves it where it fails.
foreach my $table ($released, $membership)
{
    my $holder = open_session($node, dbname => 'app');
    backend_of($admin);
    ask($holder, "BEGIN; SELECT FROM $table");
    start_asking($admin, "REINDEX TABLE CONCURRENTLY $table");
    wait_until_waiting($node, $admin, 'Lock');
    is(rolled_back('SELECT snowid.release_shard(7) > 0'), 't', 'a release during REINDEX CONCURRENTLY');
    $node->safe_psql('app', "SELECT pg_cancel_backend($admin->{backend})");
    is(answer($admin), 'ERROR 57014', 'cancelled');
    close_session($holder);
    is(ask($admin, "SELECT count(*) FROM pg_index WHERE indrelid = '$table'::regclass"), '2', 'which leaves an index');
    is(rolled_back('SELECT snowid.release_shard(7) > 0'), 't', 'a release after that');
    is(rolled_back('SELECT snowid.check_node()'), '2', 'a check after that');
}

# What is no such table at all.
foreach my $table ($released, $sources)
{
    ask($admin, "BEGIN; ALTER EXTENSION snowid DROP TABLE $table");
    foreach my $sql (grep { !/^INSERT/ } @{ $stores{$table} })
    {
        is(ask($admin, "SAVEPOINT s; $sql"), 'ERROR 55000', "without $table: $sql");
        ask($admin, 'ROLLBACK TO s');
    }
    ask($admin, 'ROLLBACK');
}
ask($admin, "BEGIN; ALTER EXTENSION snowid DROP TABLE $membership");
is(ask($admin, q(SAVEPOINT s; SELECT snowid.join('registry', 'app again'))), 'ERROR 55000', 'without the membership a node does not join');
ask($admin, 'ROLLBACK');
close_session($admin);
is(slurp_file($node->data_dir . '/postmaster.pid'), $postmaster, 'the server has not crashed');
$node->stop;
check_log($node);
done_testing();
