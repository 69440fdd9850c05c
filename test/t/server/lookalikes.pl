# The extension is trusted, so its script runs as superuser, in a schema that its creator or anybody else
# may have filled before. A name in it that others can overload is a way to become superuser: with a
# function that fits better than PostgreSQL's own, an operator, a domain, a cast. So for every word of the
# script there are look-alikes of all kinds here, and none is ever called.
# Runs in make test-all: it makes thousands of objects, twice.

use Snowid;

my $node = ready_server('lookalikes', sql => 'CREATE ROLE mallory LOGIN');

# What the script makes, to tell a look-alike from the thing itself.
my %made = map { $_ => 1 } split /\n/, $node->safe_psql('postgres', <<'SQL');
SELECT format('%s(%s)', proname, replace(oidvectortypes(proargtypes), ', ', ','))
  FROM pg_proc JOIN pg_depend ON objid = pg_proc.oid AND classid = 'pg_proc'::regclass
 WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND pronamespace = 'public'::regnamespace
SQL
cmp_ok(scalar(keys %made), '>', 30, 'functions that users call');

# Its words, without comments. Those of strings count, too: some are names, or SQL.
my $script = script_of(current_version()) =~ s/^\s*--.*$|^\\.*$//mgr;
my %words = map { $_ => 1 } map { lc } $script =~ /[A-Za-z_][A-Za-z_0-9]*/g;
# What casts and SQL bodies turn into.
$words{$_} = 1 foreach qw(int2 int4 int8 float8 bool timestamptz varchar _text _int8 regproc);
cmp_ok(scalar(keys %words), '>', 200, 'words of the script');

# What they are called with, by how the catalogs say it where that is another form.
my %arguments = map { s/, /,/gr => $_ } '', 'integer', 'bigint', 'numeric', 'text', 'oid', 'name', 'regclass', 'boolean', 'text, text', 'regclass, text',
  'regclass, regclass', 'oid, text', 'name, name', 'bigint, bigint', 'uuid', 'anyelement', 'anyelement, anyelement';
my $moment = 'timestamp with time zone';
%arguments = (%arguments, "$moment,$moment" => "$moment, $moment", "$moment,$moment,text" => "$moment, $moment, text", 'text[]' => 'VARIADIC text[]',
    'anyarray' => 'VARIADIC anyarray', 'regclass,text[]' => 'regclass, VARIADIC text[]', 'bigint,text' => q(bigint, text DEFAULT ''), 'real' => 'real DEFAULT 0',
    'regclass,text,text' => q(regclass, text, text DEFAULT ''));

# SQL that puts look-alikes of a word into the schema public: functions; and a domain, or a view,
# since a relation has a type of its name. Whichever is called or looked into becomes known by a sequence,
# which no rollback sets back.
sub functions_like
{
    my ($word) = @_;
    return map {
        qq(CREATE FUNCTION public."$word"($arguments{$_}) RETURNS bigint LANGUAGE sql AS 'SELECT public.spied()';)
    } grep { !$made{"$word($_)"} } sort keys %arguments;
}

sub types_like
{
    my ($word, $kind) = @_;
    return () if grep { $word eq $_ } qw(snowid snowid_layout objectid);
    return $kind eq 'views'
      ? qq(CREATE VIEW public."$word" AS SELECT public.spied() AS oid;)
      : qq(CREATE DOMAIN public."$word" AS text CHECK (public.spied() IS NULL););
}

my ($spies, $operators) = ('', '');
foreach my $types ('bigint, bigint', 'integer, bigint', 'bigint, integer', 'oid, oid', 'text, text', 'name, text',
    'regclass, oid', 'oid, regclass', 'anyelement, anyelement', 'timestamptz, timestamptz', 'boolean, boolean', 'uuid, uuid')
{
    my ($left, $right) = split /, /, $types;
    $spies .= "CREATE FUNCTION public.spies($types) RETURNS boolean LANGUAGE sql AS 'SELECT public.spied() IS NULL';\n";
    $operators .= "CREATE OPERATOR public.$_ (FUNCTION = public.spies, LEFTARG = $left, RIGHTARG = $right);\n" foreach qw(= <> < <= > >= || ~ %);
}

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

# By the owner of the database and by a superuser.
my %kinds = (mallory => 'domains', postgres => 'views');
foreach my $creator (sort keys %kinds)
{
    $node->safe_psql('postgres', "CREATE DATABASE traps_$creator OWNER mallory TEMPLATE traps");
    set_in("traps_$creator", map { types_like($_, $kinds{$creator}) } sort keys %words);
    is($node->safe_psql("traps_$creator", <<'SQL'), 't|t|t', "$creator: the traps are set");
SELECT (SELECT count(*) FROM pg_proc WHERE proowner = 'mallory'::regrole) > 1000,
       (SELECT count(*) FROM pg_type WHERE typowner = 'mallory'::regrole AND typtype IN ('c', 'd')) > 150,
       (SELECT count(*) FROM pg_operator WHERE oprowner = 'mallory'::regrole) > 80
SQL
    my (undef, undef, $err) = $node->psql("traps_$creator", 'CREATE EXTENSION snowid', extra_params => [ '-U', $creator ]);
    is($err, '', "$creator: created");
    # What it has made calls none of them either, whatever its user has in search_path.
    foreach my $path ('public, pg_catalog', 'pg_catalog', "''")
    {
        is($node->safe_psql("traps_$creator", <<"SQL"), "t|t\n16", "$creator: used with search_path $path");
SET search_path = $path;
SELECT public.snowid_in_range(4035658414859230209::bigint, at, till, 'instagram'::public.snowid_layout),
    public.snowid_uuidv7_in_range('019c3f80-0000-7000-8000-000000000000'::pg_catalog.uuid, at, till)
  FROM (VALUES ('2026-01-01Z'::pg_catalog.timestamptz, '2027-01-01Z'::pg_catalog.timestamptz)) AS v (at, till);
SELECT pg_catalog.count(*) FROM snowid.layouts;
SQL
    }
    $node->command_ok([ 'pg_dump', '-f', '/dev/null', $node->connstr("traps_$creator") ], "$creator: dumped");
    is($node->safe_psql("traps_$creator", q(SELECT is_called, rolsuper FROM public.spied_seq, pg_catalog.pg_roles WHERE rolname OPERATOR(pg_catalog.=) 'mallory'::pg_catalog.name)),
        'f|f', "$creator: no look-alike was called, and nobody became superuser");
    # With PostgreSQL's own operators.
    is($node->safe_psql("traps_$creator", <<'SQL'), 't', "$creator: none of the look-alikes became its member");
SET search_path = pg_catalog;
SELECT count(*) > 30 AND count(*) FILTER (WHERE proowner = 'mallory'::regrole AND prosrc ~ 'spied') = 0
  FROM pg_depend JOIN pg_proc p ON p.oid = objid
 WHERE deptype = 'e' AND classid = 'pg_proc'::regclass
SQL
    $node->safe_psql('postgres', "DROP DATABASE traps_$creator");
}
end_test($node);
