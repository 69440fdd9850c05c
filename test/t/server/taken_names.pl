# What CREATE EXTENSION makes and is there already under its name, in schemas that its creator or anybody else may have filled, is
# refused, not adopted, and stays whose it is. The extension's script runs as superuser.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('taken', sql => 'CREATE ROLE mallory LOGIN; CREATE DATABASE taken OWNER mallory; CREATE DATABASE quoted');
$node->safe_psql('taken', 'GRANT ALL ON SCHEMA public TO mallory');
my @plain = split /\n/, $node->safe_psql('postgres', <<'SQL');
SELECT format('%s(%s)', proname, oidvectortypes(proargtypes)) AS name
  FROM pg_proc JOIN pg_depend ON objid = pg_proc.oid AND classid = 'pg_proc'::regclass
 WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND pronamespace = 'public'::regnamespace
   AND oidvectortypes(proargtypes) !~ 'snowid_layout|objectid|snowid$' ORDER BY 1
SQL
cmp_ok(scalar(@plain), '>', 20, 'functions of plain types');

my @cases = map { [ $_, '42723', "SET ROLE mallory; CREATE FUNCTION public.$_ RETURNS text LANGUAGE sql AS 'SELECT NULL::text'", "DROP FUNCTION public.$_" ] } @plain;
foreach my $type (qw(snowid snowid_layout objectid))
{
    push @cases, [ "shell type $type", '42710', "CREATE TYPE public.$type", "DROP TYPE public.$type" ],
      [ "domain $type", '42710', "SET ROLE mallory; CREATE DOMAIN public.$type AS text", "DROP DOMAIN public.$type" ],
      [ "table $type", '42710', "SET ROLE mallory; CREATE TABLE public.$type ()", "DROP TABLE public.$type" ];
}
push @cases, (map { [ "schema $_", '42P06', "SET ROLE mallory; CREATE SCHEMA $_", "DROP SCHEMA $_" ] } 'snowid', 'snowid_internal'),
  [ 'what is in these schemas', '42P06', <<'SQL', 'DROP SCHEMA snowid, snowid_internal CASCADE' ];
SET ROLE mallory;
CREATE SCHEMA snowid;
CREATE SCHEMA snowid_internal;
CREATE SEQUENCE snowid_internal.ceiling;
CREATE TABLE snowid_internal.segment_sources (seq regclass, server text, remote_seq text);
CREATE VIEW snowid.layouts AS SELECT 1 AS one;
CREATE FUNCTION snowid_internal.carry_ceiling_over() RETURNS void LANGUAGE sql AS 'ALTER ROLE mallory SUPERUSER';
SQL
foreach my $case (@cases)
{
    my ($name, $sqlstate, $make, $drop) = @$case;
    $node->safe_psql('taken', $make);
    my @states = map {
        my (undef, undef, $err) = $node->psql('taken', "\\set VERBOSITY verbose\nCREATE EXTENSION snowid", extra_params => [ '-U', $_ ]);
        sqlstate_of($err)
    } qw(mallory postgres);
    is("@states", "$sqlstate $sqlstate", "$name: refused to its owner and to a superuser");
    # It is there, so dropping it does not fail, and is no member.
    $node->safe_psql('taken', $drop);
}
is($node->safe_psql('postgres', q(SELECT rolsuper FROM pg_roles WHERE rolname = 'mallory')), 'f', 'nobody became superuser');
is(attempt($node, 'CREATE EXTENSION snowid', dbname => 'taken'), '', 'with nothing in its way it is created');
is(attempt($node, 'CREATE SCHEMA "My Schema"; CREATE EXTENSION snowid SCHEMA "My Schema"; SELECT "My Schema".snowid_shard("My Schema".snowid_next(3))',
        dbname => 'quoted'), '3', 'in a schema whose name needs quotes, too');
end_test($node);
