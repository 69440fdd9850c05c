# The extension is trusted, so its script runs as superuser, in a schema that its creator or anybody else
# may have filled before. A name in it that others can overload is a way to become superuser: with a
# function that fits better than PostgreSQL's own, an operator, a domain, a cast. So for every word of the
# script there are look-alikes of all kinds here, and none is ever called; and what is there already
# under a name that the script makes is refused, not adopted.
#
# Runs in make test-all: it makes thousands of objects, twice.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('lookalikes');
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE mallory LOGIN');

# What the script makes, to tell a look-alike from the thing itself.
$node->safe_psql('postgres', 'CREATE DATABASE model');
$node->safe_psql('model', 'CREATE EXTENSION snowid');
my %made = map { $_ => 1 } split /\n/, $node->safe_psql('model', <<'SQL');
SELECT format('%s(%s)', proname, (SELECT string_agg(t::regtype::text, ',' ORDER BY n)
                                    FROM unnest(proargtypes) WITH ORDINALITY a (t, n)))
  FROM pg_proc JOIN pg_depend ON objid = pg_proc.oid AND classid = 'pg_proc'::regclass
 WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND pronamespace = 'public'::regnamespace
SQL
cmp_ok(scalar(keys %made), '>', 30, 'functions that users call');

# Its words, without comments. Those of strings count, too: some are names, or SQL.
my ($installed) = glob $node->safe_psql('model',
    q(SELECT setting || '/extension/snowid--*.sql' FROM pg_config WHERE name = 'SHAREDIR'));
my $script = slurp_file($installed);
$script =~ s/^\s*--.*$//mg;
$script =~ s/^\\.*$//mg;
my %words = map { $_ => 1 } map { lc } $script =~ /[A-Za-z_][A-Za-z_0-9]*/g;
# What casts and SQL bodies turn into.
$words{$_} = 1 foreach qw(int2 int4 int8 float8 bool timestamptz varchar _text _int8 regproc);
cmp_ok(scalar(keys %words), '>', 200, 'words of the script');

my %arguments = (
    '' => '', 'integer' => 'integer', 'bigint' => 'bigint', 'numeric' => 'numeric', 'text' => 'text', 'oid' => 'oid',
    'name' => 'name', 'regclass' => 'regclass', 'boolean' => 'boolean', 'cstring' => undef,
    'text,text' => 'text, text', 'regclass,text' => 'regclass, text', 'regclass,regclass' => 'regclass, regclass',
    'oid,text' => 'oid, text', 'name,name' => 'name, name', 'bigint,bigint' => 'bigint, bigint',
    'timestamp with time zone,timestamp with time zone' => 'timestamptz, timestamptz',
    'timestamp with time zone,timestamp with time zone,text' => 'timestamptz, timestamptz, text',
    'uuid' => 'uuid', 'anyelement' => 'anyelement', 'anyelement,anyelement' => 'anyelement, anyelement',
    'text[]' => 'VARIADIC text[]', 'anyarray' => 'VARIADIC anyarray', 'regclass,text[]' => 'regclass, VARIADIC text[]',
    'bigint,text' => q(bigint, text DEFAULT ''), 'real' => 'real DEFAULT 0', 'regclass,text,text' => q(regclass, text, text DEFAULT ''));

# SQL that puts look-alikes of a word into the schema public: functions; and a domain, or a view,
# since a relation has a type of its name. Whichever is called or looked into becomes known by a sequence,
# which no rollback sets back.
sub functions_like
{
    my ($word) = @_;
    return map {
        qq(CREATE FUNCTION public."$word"($arguments{$_}) RETURNS bigint LANGUAGE sql AS 'SELECT public.spied()';)
    } grep { defined $arguments{$_} && !$made{"$word($_)"} } sort keys %arguments;
}

sub types_like
{
    my ($word, $kind) = @_;
    return () if grep { $word eq $_ } qw(snowid snowid_layout objectid);
    return $kind eq 'views'
      ? qq(CREATE VIEW public."$word" AS SELECT public.spied() AS oid;)
      : qq(CREATE DOMAIN public."$word" AS text CHECK (public.spied() IS NULL););
}

my $operators = '';
foreach my $operator (qw(= <> < <= > >= || ~ %))
{
    foreach my $types ('bigint, bigint', 'integer, bigint', 'bigint, integer', 'oid, oid', 'text, text', 'name, text',
        'regclass, oid', 'oid, regclass', 'anyelement, anyelement', 'timestamptz, timestamptz', 'boolean, boolean', 'uuid, uuid')
    {
        my ($left, $right) = split /, /, $types;
        $operators .= "CREATE OPERATOR public.$operator (FUNCTION = public.spies, LEFTARG = $left, RIGHTARG = $right);\n";
    }
}
my $spies = join '', map {
    my $types = $_;
    "CREATE FUNCTION public.spies($types) RETURNS boolean LANGUAGE sql AS 'SELECT public.spied() IS NULL';\n"
} 'bigint, bigint', 'integer, bigint', 'bigint, integer', 'oid, oid', 'text, text', 'name, text',
  'regclass, oid', 'oid, regclass', 'anyelement, anyelement', 'timestamptz, timestamptz', 'boolean, boolean', 'uuid, uuid';

# Runs SQL in a database as mallory, who sets the traps; some of it fails, where a thing is there already.
sub set_in
{
    my ($dbname, @sql) = @_;
    my $file = PostgreSQL::Test::Utils::tempdir() . "/$dbname.sql";
    # What functions do is tried when they are called.
    append_to_file($file, join "\n", 'SET ROLE mallory;', 'SET search_path = pg_catalog;', 'SET check_function_bodies = off;', @sql);
    $node->psql($dbname, "\\i $file", on_error_stop => 0);
    return;
}

# What all databases have in common, of which there are thousands.
$node->safe_psql('postgres', 'CREATE DATABASE traps OWNER mallory');
$node->safe_psql('traps', 'GRANT ALL ON SCHEMA public TO mallory');
set_in('traps', <<'SQL', $spies, $operators, (map { functions_like($_) } sort keys %words), <<'SQL');
CREATE SEQUENCE public.spied_seq;
CREATE FUNCTION public.spied() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_catalog.nextval('public.spied_seq');
  BEGIN
    ALTER ROLE mallory SUPERUSER;
  EXCEPTION WHEN OTHERS THEN NULL;
  END;
  RETURN 1;
END $$;
SQL
CREATE TYPE public.trap AS (n bigint);
CREATE FUNCTION public.from_trap(public.trap) RETURNS bigint LANGUAGE sql AS 'SELECT public.spied()';
CREATE FUNCTION public.to_trap(bigint) RETURNS public.trap LANGUAGE sql AS 'SELECT ROW(public.spied())::public.trap';
CREATE CAST (public.trap AS bigint) WITH FUNCTION public.from_trap(public.trap) AS IMPLICIT;
CREATE CAST (bigint AS public.trap) WITH FUNCTION public.to_trap(bigint) AS ASSIGNMENT;
SQL

sub set_traps
{
    my ($dbname, $kind) = @_;
    $node->safe_psql('postgres', "CREATE DATABASE $dbname OWNER mallory TEMPLATE traps");
    set_in($dbname, map { types_like($_, $kind) } sort keys %words);
    return $node->safe_psql($dbname, <<'SQL');
SELECT (SELECT count(*) FROM pg_proc WHERE proowner = 'mallory'::regrole) > 1000,
       (SELECT count(*) FROM pg_type WHERE typowner = 'mallory'::regrole AND typtype IN ('c', 'd')) > 150,
       (SELECT count(*) FROM pg_operator WHERE oprowner = 'mallory'::regrole) > 80
SQL
}

sub is_untouched
{
    my ($name, $dbname) = @_;
    is($node->safe_psql($dbname, 'SELECT pg_catalog.count(*) FROM public.spied_seq WHERE is_called'), '0',
        "$name: no look-alike was called");
    is($node->safe_psql('postgres', q(SELECT rolsuper FROM pg_roles WHERE rolname = 'mallory')), 'f',
        "$name: nobody became superuser");
    return;
}

# 1. Among look-alikes of everything, by the owner of the database and by a superuser.
my %kinds = (mallory => 'domains', postgres => 'views');
foreach my $creator (sort keys %kinds)
{
    is(set_traps("traps_$creator", $kinds{$creator}), 't|t|t', "$creator: the traps are set");
    my ($status, $out, $err) =
      $node->psql("traps_$creator", 'CREATE EXTENSION snowid', extra_params => [ '-U', $creator ]);
    is($err, '', "$creator: created");
    is_untouched($creator, "traps_$creator");
    # What it has made calls none of them either, whatever its user has in search_path.
    foreach my $path ('public, pg_catalog', 'pg_catalog', "''")
    {
        is($node->safe_psql("traps_$creator", <<"SQL"), "t|t\n16", "$creator: used with search_path $path");
SET search_path = $path;
SELECT public.snowid_in_range(4035658414859230209::bigint, '2026-01-01Z'::pg_catalog.timestamptz,
  '2027-01-01Z'::pg_catalog.timestamptz, 'instagram'::public.snowid_layout),
  public.snowid_uuidv7_in_range('019c3f80-0000-7000-8000-000000000000'::pg_catalog.uuid, '2026-01-01Z'::pg_catalog.timestamptz,
  '2027-01-01Z'::pg_catalog.timestamptz);
SELECT pg_catalog.count(*) FROM snowid.layouts;
SQL
    }
    is_untouched("$creator, used", "traps_$creator");
    $node->command_ok([ 'pg_dump', '-f', '/dev/null', $node->connstr("traps_$creator") ], "$creator: dumped");
    is_untouched("$creator, dumped", "traps_$creator");
    # With PostgreSQL's own operators.
    is($node->safe_psql("traps_$creator", <<'SQL'), 't', "$creator: none of the look-alikes became its member");
SET search_path = pg_catalog;
SELECT count(*) > 30 AND count(*) FILTER (WHERE proowner = 'mallory'::regrole AND prosrc ~ 'spied') = 0
  FROM pg_depend JOIN pg_proc p ON p.oid = objid
 WHERE deptype = 'e' AND classid = 'pg_proc'::regclass
SQL
    $node->safe_psql('postgres', "DROP DATABASE traps_$creator");
}

# 2. What the script makes and is there already is refused, and stays whose it is.
$node->safe_psql('postgres', 'CREATE DATABASE taken OWNER mallory');
$node->safe_psql('taken', 'GRANT ALL ON SCHEMA public TO mallory');

sub is_refused
{
    my ($name, $sqlstate, $before, $after) = @_;
    $node->safe_psql('taken', "SET ROLE mallory; $before");
    foreach my $creator (qw(mallory postgres))
    {
        my ($status, $out, $err) = $node->psql('taken', "\\set VERBOSITY verbose\nCREATE EXTENSION snowid",
            extra_params => [ '-U', $creator ]);
        is(sqlstate_of($err), $sqlstate, "$name: refused to $creator");
    }
    is($node->safe_psql('taken', q(SELECT count(*) FROM pg_extension WHERE extname = 'snowid')), '0', "$name: not there");
    $node->safe_psql('taken', "SET ROLE mallory; $after");
    return;
}

my @plain = grep { !/snowid_layout|objectid[,)]/ } sort keys %made;
cmp_ok(scalar(@plain), '>', 20, 'functions of plain types');
is_refused($_, '42723', "CREATE FUNCTION public.$_ RETURNS text LANGUAGE sql AS 'SELECT NULL::text'",
    "DROP FUNCTION public.$_")
  foreach @plain;
foreach my $type (qw(snowid snowid_layout objectid))
{
    is_refused("shell type $type", '42710', "RESET ROLE; CREATE TYPE public.$type", "RESET ROLE; DROP TYPE public.$type");
    is_refused("domain $type", '42710', "CREATE DOMAIN public.$type AS text", "DROP DOMAIN public.$type");
    is_refused("table $type", '42710', "CREATE TABLE public.$type ()", "DROP TABLE public.$type");
}
is_refused("schema $_", '42P06', "CREATE SCHEMA $_", "DROP SCHEMA $_") foreach 'snowid', 'snowid_internal';
is_refused('what is in these schemas', '42P06', <<'SQL', 'DROP SCHEMA snowid, snowid_internal CASCADE');
CREATE SCHEMA snowid;
CREATE SCHEMA snowid_internal;
CREATE SEQUENCE snowid_internal.ceiling;
CREATE TABLE snowid_internal.segment_sources (seq regclass, server text, remote_seq text);
CREATE VIEW snowid.layouts AS SELECT 1 AS one;
CREATE FUNCTION snowid_internal.carry_ceiling_over() RETURNS void LANGUAGE sql AS 'ALTER ROLE mallory SUPERUSER';
SQL
is($node->safe_psql('postgres', q(SELECT rolsuper FROM pg_roles WHERE rolname = 'mallory')), 'f', 'nobody became superuser');
is(attempt($node, 'CREATE EXTENSION snowid', dbname => 'taken'), '', 'with nothing in its way it is created');

# 3. In a schema whose name needs quotes, too.
$node->safe_psql('postgres', 'CREATE DATABASE quoted');
is(attempt($node, 'CREATE SCHEMA "My Schema"; CREATE EXTENSION snowid SCHEMA "My Schema";'
          . ' SELECT "My Schema".snowid_shard("My Schema".snowid_next(3))', dbname => 'quoted'),
    '3', 'a schema whose name needs quotes');

$node->stop;
done_testing();
