# Statements about the calls: settings, DISCARD, what is done to the tables and sequences that they name, DROP and CREATE
# EXTENSION. Each returns SQL, or several pieces of SQL that are run one by one.
package CallsDisturbing;

use strict;
use warnings;

use CallsValues;
use Exporter 'import';

our @EXPORT = qw(disturbing_statement drop_extension create_extension dependent_statements);

# A statement for the role. Of the world: role; settings and views, see CallsCatalog; upheaval, whether the extension may
# go; wild, whether IDs may be made to run far ahead.
sub disturbing_statement
{
    my ($world) = @_;
    my @makers = ((\&set_own) x 6, (\&set_servers) x 6, (\&discard) x 2, \&look, \&look, \&look, \&own_objects);
    push @makers, (\&alter_tables) x 5, (\&alter_sequences) x 3 if $world->{role} ne 'connect';
    push @makers, \&grants, \&own_rows if $world->{role} =~ /owner|superuser/;
    push @makers, \&alter_system, \&by_hand if $world->{role} eq 'superuser';
    return one_of(@makers)->($world);
}

# A setting of the extension's.
sub set_own
{
    my ($world) = @_;
    return 'RESET ALL' if chance(10);
    my $setting = one_of(@{ $world->{settings} });
    return "SELECT $world->{schema}.snowid_timestamp(0)" if !$setting;
    return one_of('SET', 'SET', 'SET LOCAL') . " $setting->{name} = " . value_of($world, $setting);
}

sub value_of
{
    my ($world, $setting) = @_;
    return one_of('on', 'off', "'nope'") if $setting->{vartype} eq 'bool';
    return one_of('DEFAULT', map { "'$_'" } -1, -1, 0, 1, 2, 3, 8191, 8192, 99999999999999999999, 'x', '')
      if $setting->{vartype} eq 'string';
    my ($least, $most) = @{$setting}{qw(min_val max_val)};
    # How far IDs may be ahead is what others wait for.
    $most = 3000 if $setting->{name} =~ /max_lead/ && !$world->{wild};
    return one_of('DEFAULT', "'nope'", $least, $least, $most, $least - 1, $most + 1, map { $least + int rand($_) } 20,
        1000, $most - $least);
}

# Settings of the server's that bear on what the extension does.
sub set_servers
{
    my ($world) = @_;
    return one_of(
        'SET force_parallel_mode = ' . one_of(qw(on regress off)),
        'SET debug_parallel_query = ' . one_of(qw(on regress off)),
'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2',
        'SET synchronous_commit = ' . one_of(qw(off local remote_write on)),
        'SET statement_timeout = ' . one_of(1, 5, 20, 100, 500),
        'SET lock_timeout = ' . one_of(1, 10, 100),
        'RESET statement_timeout',
        'RESET lock_timeout',
        'RESET statement_timeout',
        'RESET lock_timeout',
        'SET search_path = ' . one_of("''", 'public', 't, public', 'pg_temp, public, pg_catalog', 'snowid, public'),
        'SET client_min_messages = ' . one_of(qw(error debug1 warning)),
        'SET plan_cache_mode = ' . one_of(qw(force_generic_plan force_custom_plan auto)),
        'SET default_transaction_read_only = ' . one_of(qw(on off off off)),
        'SET default_transaction_isolation = ' . one_of("'read committed'", 'serializable', "'repeatable read'"),
        'SET TimeZone = ' . one_of("'UTC'", "'Asia/Kathmandu'", "'Nowhere'"),
        'SET DateStyle = ' . one_of("'SQL, DMY'", 'ISO'),
        'SET work_mem = ' . one_of("'64kB'", 'DEFAULT'),
        'SET row_security = ' . one_of(qw(on off)),
        'SET debug_discard_caches = ' . ($world->{role} eq 'superuser' && chance(30) ? 1 : 0));
}

sub discard
{
    return one_of(
        'DISCARD ALL',
        'DISCARD ALL',
        'DISCARD PLANS',
        'DISCARD SEQUENCES',
        'DISCARD TEMP',
        'RESET ALL',
        'DEALLOCATE ALL',
        'CLOSE ALL',
        'UNLISTEN *');
}

sub look
{
    my ($world) = @_;
    my $view = one_of(@{ $world->{views} }) // return "LOAD 'snowid'";
    return "SELECT * FROM $view LIMIT 100";
}

# Objects that any role may make: temporary ones, which share names with others' permanent ones.
sub own_objects
{
    my ($world) = @_;
    my $schema = $world->{schema};
    return one_of(
        'CREATE TEMPORARY SEQUENCE counts INCREMENT 10',
        'CREATE TEMPORARY TABLE keys (id bigserial PRIMARY KEY, n int)',
        "CREATE TEMPORARY TABLE late (id bigint PRIMARY KEY DEFAULT $schema.snowid_next()) PARTITION BY RANGE (id)",
        "CREATE TEMPORARY TABLE rows AS SELECT $schema.snowid_next() AS id FROM generate_series(1, 20)",
        'DROP TABLE pg_temp.keys',
        'DROP SEQUENCE pg_temp.counts',
        "INSERT INTO t.layouts VALUES ("
          . literal(one_of(@LAYOUTS))
          . ", $schema.objectid_next()) ON CONFLICT (l) DO UPDATE SET o = EXCLUDED.o",
        'DELETE FROM t.layouts');
}

my @tables =
  qw(t.serials t.identities t.always t.narrow t.keys t.referring t.parent t.child t.with_default t.the_default t.refers t.days t.tweets
  t.hostile t.drawn t.empty_parts);

sub alter_tables
{
    my ($world) = @_;
    my $table = one_of(@tables);
    my $schema = $world->{schema};
    my $partition = one_of(grep { /^t\./ && /_\d/ } map { $_->{name} } @{ $world->{relations} }) // 't.the_default';
    return one_of(
        "ANALYZE $table",
        "LOCK TABLE $table",
        "INSERT INTO $table (id) VALUES ($schema.snowid_next())",
        "INSERT INTO $table (n) VALUES (1)",
        "DELETE FROM $table WHERE n = 1",
        "ALTER TABLE $table ALTER COLUMN id TYPE bigint",
        "ALTER TABLE $table ALTER COLUMN id SET DEFAULT $schema.snowid_next(" . one_of('', 1, "1, 'twitter'") . ')',
        "DROP TABLE $partition",
        "ALTER TABLE $table DETACH PARTITION $partition",
        "ALTER TABLE $table ALTER COLUMN id DROP DEFAULT",
        "REINDEX TABLE $table",
        "VACUUM $table",
        "CREATE TABLE t.part_"
          . int(rand 20)
          . " PARTITION OF $table FOR VALUES FROM ($schema.snowid_first_at(now() + interval '"
          . int(rand 30)
          . " days')) TO ($schema.snowid_first_at(now() + interval '31 days'))") if !chance(3);
    # What others' calls then miss, or meet in another shape, for the rest of the round.
    return one_of(
        "ALTER TABLE $table ALTER COLUMN id TYPE int",
        "ALTER TABLE $table ALTER COLUMN n TYPE " . one_of(qw(text int bigint)),
        "TRUNCATE $table CASCADE",
        "TRUNCATE $table RESTART IDENTITY CASCADE",
        "ALTER TABLE $table RENAME COLUMN id TO renamed",
        "ALTER TABLE $table RENAME COLUMN renamed TO id",
        "ALTER TABLE $table DROP COLUMN n",
        "ALTER TABLE $table ADD COLUMN n int",
        "CREATE INDEX ON $table ((id % 7))",
        "ALTER TABLE $table ADD CHECK (id < 9000000000000000000)",
        "ALTER TABLE $table SET SCHEMA public",
        "ALTER TABLE public." . ($table =~ s/^t\.//r) . ' SET SCHEMA t');
}

sub alter_sequences
{
    my ($world) = @_;
    my $sequence = one_of(qw(t.plain t.wide t.bounded t.small t.full_up t.negative aside.plain t.serials_id_seq));
    return one_of(
        "ALTER SEQUENCE $sequence RESTART",
        "ALTER SEQUENCE $sequence INCREMENT " . one_of(1, 10, 1000, -1),
        "SELECT nextval('$sequence')",
        "SELECT setval('$sequence', " . one_of(1, 100, 10000) . one_of('', ', false') . ')',
        "ALTER SEQUENCE $sequence " . one_of('CYCLE', 'NO CYCLE'),
        "ALTER SEQUENCE $sequence " . one_of('NO MAXVALUE', 'MAXVALUE 30000'),
        "LOCK TABLE $sequence",
        "DROP SEQUENCE t.fleeting",
        "CREATE SEQUENCE t.fleeting INCREMENT 10");
}

sub grants
{
    my ($world) = @_;
    my $what = one_of(
        "EXECUTE ON ALL FUNCTIONS IN SCHEMA $world->{schema}",
        'USAGE ON ALL SEQUENCES IN SCHEMA aside',
        'SELECT ON ALL TABLES IN SCHEMA aside');
    return one_of("GRANT $what TO fuzz_tables", "REVOKE $what FROM fuzz_tables");
}

# The extension's own tables, by hand, which it refuses or takes.
sub own_rows
{
    my ($world) = @_;
    my $table = one_of(@{ $world->{views} }) // return 'SELECT 1';
    return one_of(
        "DELETE FROM $table",
        "TRUNCATE $table",
        "INSERT INTO $table SELECT * FROM $table LIMIT 1",
        "LOCK TABLE $table IN ACCESS SHARE MODE",
        "VACUUM FREEZE $table",
        "COMMENT ON EXTENSION snowid IS 'x'",
        'ALTER EXTENSION snowid UPDATE',
        "ALTER EXTENSION snowid SET SCHEMA aside",
        "DELETE FROM snowid_internal.membership");
}

sub by_hand
{
    my ($world) = @_;
    return one_of(
        "SELECT setval('snowid_internal.ceiling', last_value + 100) FROM snowid_internal.ceiling",
        'CHECKPOINT',
        'SELECT pg_switch_wal()',
        'VACUUM',
        "CREATE EVENT TRIGGER elsewhere ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION t.move_away()",
        'DROP EVENT TRIGGER IF EXISTS elsewhere',
        'DROP EVENT TRIGGER IF EXISTS elsewhere',
        'ALTER DATABASE ' . $world->{database} . ' SET snowid.max_wait = ' . one_of(100, 500),
        'REINDEX SCHEMA snowid');
}

sub alter_system
{
    my ($world) = @_;
    my @settings = grep { $_->{context} eq 'sighup' } @{ $world->{settings} };
    my $setting = one_of(@settings) // return 'SELECT pg_reload_conf()';
    return ("ALTER SYSTEM SET $setting->{name} = " . value_of($world, $setting), 'SELECT pg_reload_conf()');
}

sub drop_extension { return 'DROP EXTENSION IF EXISTS snowid' . (chance(80) ? ' CASCADE' : '') }

sub create_extension
{
    return 'CREATE EXTENSION IF NOT EXISTS snowid' . one_of('', '', ' SCHEMA aside', ' SCHEMA public');
}

# The statements of dependents.sql, for the extension's schema.
sub dependent_statements
{
    my ($file, $schema) = @_;
    open my $in, '<', $file or die "$file: $!";
    my $text = join '', grep { !/^--/ } <$in>;
    close $in;
    $text =~ s/:ext\b/$schema/g;
    return grep { /\S/ } split /;\n/, $text;
}

1;
