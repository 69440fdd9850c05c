# The trigger function of tables that describe this server, put on any other table or in any other way, gets an error and reads nothing that is not there.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('trigger', sql => 'CREATE ROLE mallory; GRANT CREATE ON SCHEMA public TO mallory');
my $session = open_session($node);
my $function = 'EXECUTE FUNCTION snowid_internal.keep_own_rows()';
is(ask($session, "SET ROLE mallory; CREATE TEMP TABLE own (a oid); CREATE TRIGGER x BEFORE TRUNCATE ON own $function"), 'ERROR 42501', 'not for everyone');
is(ask($session, 'SELECT snowid_internal.keep_own_rows()'), 'ERROR 42501', 'nor to call');
is(ask($session, 'RESET ROLE; SELECT snowid_internal.keep_own_rows()'), 'ERROR 39P01', 'not without a trigger');
my %do = (INSERT => 'INSERT INTO t DEFAULT VALUES', UPDATE => 'UPDATE t SET d = 1', DELETE => 'DELETE FROM t', TRUNCATE => 'TRUNCATE t');
my @wrong;
foreach my $columns ('()', '(a oid)', '(a text)', '(a oid, b text)', '(a oid, b text, c text)',
    '(a snowid_internal.sequence_name, server text, remote_seq text, source_identity text, owner text, server_oid oid, owner_oid oid)')
{
    foreach my $case (map { my $event = $_; map { [ $event, split / / ] } 'BEFORE ROW', 'AFTER ROW', 'BEFORE STATEMENT', 'AFTER STATEMENT', 'AFTER CONSTRAINT' } sort keys %do)
    {
        my ($event, $when, $level) = @$case;
        next if $event eq 'TRUNCATE' && $level ne 'STATEMENT';
        my ($constraint, $row) = $level eq 'CONSTRAINT' ? ('CONSTRAINT', 'ROW') : ('', $level);
        ask($session, "DROP TABLE IF EXISTS t; CREATE TABLE t $columns; ALTER TABLE t ADD d int; INSERT INTO t DEFAULT VALUES");
        ask($session, 'ALTER TABLE t DROP a') if $columns =~ /b text\)/;
        my $answer = ask($session, "CREATE $constraint TRIGGER x $when $event ON t FOR EACH $row $function") . ask($session, $do{$event});
        push @wrong, "@$case on $columns: $answer" if $answer ne 'ERROR 39P01';
    }
}
is("@wrong", '', 'a trigger of any other kind, on any other table');
is(ask($session, 'TRUNCATE snowid_internal.segment_sources'), 'ERROR 0A000', 'TRUNCATE, which replication would repeat elsewhere');
foreach my $event (grep { $_ ne 'TRUNCATE' } sort keys %do)
{
    ask($session, 'DROP VIEW IF EXISTS v; CREATE VIEW v AS SELECT 1 AS d');
    is(ask($session, "CREATE TRIGGER x INSTEAD OF $event ON v FOR EACH ROW $function") . ask($session, $do{$event} =~ s/\bt\b/v/r), 'ERROR 39P01', "instead of $event");
}
my $insert = 'INSERT INTO snowid_internal.segment_sources (seq, server, remote_seq, source_identity, owner) VALUES (0::regclass, 0, 0, 0, 0)';
foreach my $event (sort keys %do)
{
    ask($session, 'BEGIN; ' . ($event eq 'INSERT' ? '' : "$insert; ") . 'ALTER TABLE snowid_internal.segment_sources DISABLE TRIGGER refuse_truncate');
    ask($session, "CREATE TRIGGER x AFTER $event ON snowid_internal.segment_sources $function");
    is(ask($session, $event eq 'INSERT' ? $insert : $do{$event} =~ s/\bt\b/snowid_internal.segment_sources/r =~ s/\bd = /server = /r), 'ERROR 39P01', "after $event of the table itself");
    ask($session, 'ROLLBACK');
}
end_test($node);
