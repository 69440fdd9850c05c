# What there is to call, set and name in a database, as its catalogs say: nothing of the extension is listed here, so
# a function that is added is called by the next run.
package CallsCatalog;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(functions_of settings_of relations_of views_of canonical_layouts extension_schema);

# The extension's functions, a hash for each: schema and name, quoted; plain, the name as it is; signature, which
# does not depend on the schema; kind, as pg_proc.prokind; set, whether it returns one; volatile; returns, the type's
# name; defaults, how many of the last arguments have one; args, a hash for each: name; type, quoted; plain; form, as
# pg_type.typtype; of, the function's name; element, the same of an array's elements.
sub functions_of
{
    my ($dbh) = @_;
    my $rows = $dbh->selectall_arrayref(<<'SQL', { Slice => {} }) or return;
SELECT p.oid, pg_catalog.quote_ident(s.nspname) AS schema, pg_catalog.quote_ident(p.proname) AS name,
    p.proname AS plain, p.prokind AS kind, p.proretset::int AS set, (p.provolatile = 'v')::int AS volatile,
    p.pronargdefaults AS defaults, p.pronargs AS count, r.typname AS returns
  FROM pg_catalog.pg_extension AS e
  JOIN pg_catalog.pg_depend AS d ON d.refclassid = 'pg_catalog.pg_extension'::regclass AND d.refobjid = e.oid
    AND d.classid = 'pg_catalog.pg_proc'::regclass AND d.deptype = 'e'
  JOIN pg_catalog.pg_proc AS p ON p.oid = d.objid
  JOIN pg_catalog.pg_namespace AS s ON s.oid = p.pronamespace
  JOIN pg_catalog.pg_type AS r ON r.oid = p.prorettype
 WHERE e.extname = 'snowid'
 ORDER BY s.nspname = 'snowid', p.proname, p.pronargs, p.oid
SQL
    my $args = $dbh->selectall_arrayref(<<'SQL', { Slice => {} }) or return;
SELECT p.oid, COALESCE(p.proargnames[a.n], '') AS name, t.typname AS plain, t.typtype AS form,
    pg_catalog.quote_ident(s.nspname) || '.' || pg_catalog.quote_ident(t.typname) AS type,
    et.typname AS element_plain, et.typtype AS element_form,
    pg_catalog.quote_ident(es.nspname) || '.' || pg_catalog.quote_ident(et.typname) AS element_type
  FROM pg_catalog.pg_extension AS e
  JOIN pg_catalog.pg_depend AS d ON d.refclassid = 'pg_catalog.pg_extension'::regclass AND d.refobjid = e.oid
    AND d.classid = 'pg_catalog.pg_proc'::regclass AND d.deptype = 'e'
  JOIN pg_catalog.pg_proc AS p ON p.oid = d.objid
  CROSS JOIN LATERAL unnest(COALESCE(p.proallargtypes, p.proargtypes::oid[])) WITH ORDINALITY AS a(type, n)
  JOIN pg_catalog.pg_type AS t ON t.oid = a.type
  JOIN pg_catalog.pg_namespace AS s ON s.oid = t.typnamespace
  LEFT JOIN pg_catalog.pg_type AS et ON et.oid = t.typelem AND t.typlen = -1
  LEFT JOIN pg_catalog.pg_namespace AS es ON es.oid = et.typnamespace
 WHERE e.extname = 'snowid' AND COALESCE(p.proargmodes[a.n], 'i') IN ('i', 'b', 'v')
 ORDER BY p.oid, a.n
SQL
    my %args;
    foreach my $arg (@$args)
    {
        $arg->{element} = { name => $arg->{name}, of => '', map { $_ => $arg->{"element_$_"} } qw(plain form type) }
          if defined $arg->{element_plain};
        push @{ $args{ $arg->{oid} } }, $arg;
    }
    foreach my $function (@$rows)
    {
        $function->{args} = $args{ $function->{oid} } // [];
        $_->{of} = $function->{plain} foreach @{ $function->{args} };
        my $room = $function->{schema} eq 'snowid' ? 'snowid.' : '';
        $function->{signature} =
          "$room$function->{plain}(" . join(', ', map { $_->{plain} } @{ $function->{args} }) . ')';
    }
    # Those that were dropped between the two queries have lost their arguments.
    return [ grep { @{ $_->{args} } == $_->{count} } @$rows ];
}

# The extension's settings, a hash for each: name, vartype, min_val, max_val, context. Needs the library.
sub settings_of
{
    my ($dbh) = @_;
    return $dbh->selectall_arrayref(<<'SQL', { Slice => {} });
SELECT name, vartype, min_val, max_val, context FROM pg_catalog.pg_settings WHERE name LIKE 'snowid.%' ORDER BY name
SQL
}

# Relations that arguments may name, a hash for each: name, quoted; kind, as pg_class.relkind, S for sequences. All but
# PostgreSQL's own, and a few of those.
sub relations_of
{
    my ($dbh) = @_;
    return $dbh->selectall_arrayref(<<'SQL', { Slice => {} });
SELECT c.oid, pg_catalog.quote_ident(s.nspname) || '.' || pg_catalog.quote_ident(c.relname) AS name, c.relkind AS kind
  FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS s ON s.oid = c.relnamespace
 WHERE s.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
    OR c.relname IN ('pg_class', 'pg_authid', 'pg_proc_oid_index', 'pg_stats', 'pg_toast_2619', 'tables')
 ORDER BY c.oid
SQL
}

# The views and tables of the extension.
sub views_of
{
    my ($dbh) = @_;
    return $dbh->selectcol_arrayref(<<'SQL');
SELECT d.objid::regclass::text
  FROM pg_catalog.pg_extension AS e
  JOIN pg_catalog.pg_depend AS d ON d.refclassid = 'pg_catalog.pg_extension'::regclass AND d.refobjid = e.oid
    AND d.classid = 'pg_catalog.pg_class'::regclass AND d.deptype = 'e'
  JOIN pg_catalog.pg_class AS c ON c.oid = d.objid AND c.relkind IN ('v', 'r', 'S')
 WHERE e.extname = 'snowid' ORDER BY 1
SQL
}

# The schema, quoted, that CREATE EXTENSION was told; undef where there is no extension.
sub extension_schema
{
    my ($dbh) = @_;
    my ($schema) = $dbh->selectrow_array(<<'SQL');
SELECT pg_catalog.quote_ident(s.nspname) FROM pg_catalog.pg_extension AS e
  JOIN pg_catalog.pg_namespace AS s ON s.oid = e.extnamespace WHERE e.extname = 'snowid'
SQL
    return $schema;
}

# By each of these texts of a layout, the one that stands for all that mean the same; those that are none are left out.
sub canonical_layouts
{
    my ($dbh, @texts) = @_;
    my %canonical;
    my $schema = extension_schema($dbh) // return {};
    foreach my $text (@texts)
    {
        my ($is) = $dbh->selectrow_array('SELECT ' . $dbh->quote($text) . "::$schema.snowid_layout::text");
        $canonical{$text} = $is if defined $is;
    }
    return \%canonical;
}

1;
