# PostgreSQL's own checks of types, casts and operators (type_sanity, opr_sanity) find nothing wrong with those of the extension, which
# leaves PostgreSQL's operator families of integers as they were, and nothing behind.
# Runs in make test-all: the regression test id_type has most of it.

use Snowid;

my $node = new_server('sanity');
$node->start;
sub sql { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

my $integer = <<'SQL';
SELECT md5(string_agg(t::text, ' ' ORDER BY t::text)), count(*) FROM (
  SELECT a::text, amopfamily FROM pg_amop AS a UNION ALL SELECT a::text, amprocfamily FROM pg_amproc AS a
  UNION ALL SELECT o::text, opcfamily FROM pg_opclass AS o) AS x (t, family) JOIN pg_opfamily AS f ON f.oid = family
 WHERE opfname ~ '^integer_'
SQL
my $before = sql($integer);
sql('CREATE EXTENSION snowid');
is(sql($integer), $before, 'the families of integers are as they were');

# Each query finds what is wrong.
my $members = "(SELECT d.objid FROM pg_depend AS d JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid"
  . " WHERE d.deptype = 'e' AND extname = 'snowid')";
my %sanity = (
    'types are complete' => <<"SQL",
SELECT t.oid::regtype FROM pg_type AS t JOIN pg_type AS a ON a.oid = t.typarray WHERE t.oid IN $members AND (NOT t.typisdefined
  OR a.typelem <> t.oid OR a.typalign <> CASE t.typalign WHEN 'd' THEN 'd' ELSE 'i' END OR a.typinput <> 'array_in'::regproc OR a.typsubscript <> 'array_subscript_handler'::regproc
  OR t.typbyval AND NOT (t.typlen IN (1, 2, 4, 8) AND t.typalign = CASE t.typlen WHEN 8 THEN 'd' WHEN 4 THEN 'i' WHEN 2 THEN 's' ELSE 'c' END)
  OR t.typcategory !~ '[A-Z]' OR t.typstorage <> 'p' AND t.typlen <> -1)
SQL
    'types have an array' => "SELECT oid::regtype FROM pg_type WHERE oid IN $members AND typtype = 'b' AND typelem = 0 AND typarray = 0",
    'functions of types have their arguments and results' => <<"SQL",
SELECT t.oid::regtype FROM pg_type AS t JOIN pg_proc AS i ON i.oid = t.typinput JOIN pg_proc AS o ON o.oid = t.typoutput
  JOIN pg_proc AS r ON r.oid = t.typreceive JOIN pg_proc AS s ON s.oid = t.typsend
 WHERE t.oid IN $members AND t.typtype = 'b' AND t.typelem = 0 AND (
  i.proargtypes <> ARRAY['cstring'::regtype]::oidvector OR i.prorettype <> t.oid OR o.proargtypes <> ARRAY[t.oid]::oidvector
  OR o.prorettype <> 'cstring'::regtype OR r.proargtypes <> ARRAY['internal'::regtype]::oidvector OR r.prorettype <> t.oid
  OR s.proargtypes <> ARRAY[t.oid]::oidvector OR s.prorettype <> 'bytea'::regtype
  OR 'v' IN (i.provolatile, o.provolatile, r.provolatile, s.provolatile)
  OR NOT (i.proisstrict AND o.proisstrict AND r.proisstrict AND s.proisstrict))
SQL
    'functions say of themselves what the built-in ones do' => <<"SQL",
SELECT p.oid::regprocedure FROM pg_proc AS p WHERE p.oid IN $members AND p.prolang = (SELECT oid FROM pg_language WHERE lanname = 'internal')
  AND NOT EXISTS (SELECT FROM pg_proc AS b WHERE b.oid < 10000 AND b.prosrc = p.prosrc AND b.prolang = p.prolang
    AND (b.prokind, b.prosecdef, b.proleakproof, b.proisstrict, b.proretset, b.provolatile, b.proparallel, b.pronargs, b.procost, b.probin IS NULL)
      = (p.prokind, p.prosecdef, p.proleakproof, p.proisstrict, p.proretset, p.provolatile, p.proparallel, p.pronargs, p.procost, p.probin IS NULL))
SQL
    'binary casts lead both ways, between types that are stored alike' => <<"SQL",
SELECT castsource::regtype, casttarget::regtype FROM pg_cast AS c JOIN pg_type AS s ON s.oid = castsource JOIN pg_type AS t ON t.oid = casttarget
 WHERE c.oid IN $members AND castmethod = 'b' AND ((s.typlen, s.typbyval, s.typalign, s.typstorage) <> (t.typlen, t.typbyval, t.typalign, t.typstorage)
  OR castsource = casttarget OR 'snowid'::regtype IN (castsource, casttarget)
  AND NOT EXISTS (SELECT FROM pg_cast AS k WHERE k.castmethod = 'b' AND k.castsource = c.casttarget AND k.casttarget = c.castsource))
SQL
    'functions of casts have their arguments and results' => <<"SQL",
SELECT c.castsource::regtype, c.casttarget::regtype FROM pg_cast AS c JOIN pg_proc AS p ON p.oid = c.castfunc WHERE c.oid IN $members
  AND (p.pronargs <> 1 OR p.prorettype <> c.casttarget OR p.proargtypes[0] <> c.castsource OR p.provolatile <> 'i')
SQL
    'operator classes are complete' => 'SELECT oid::text FROM pg_opclass WHERE NOT amvalidate(oid)',
    'no operator takes the type' => "SELECT oid::regoperator FROM pg_operator WHERE 'snowid'::regtype IN (oprleft, oprright, oprresult)",
    'no operator class is for the type' => "SELECT oid FROM pg_opclass WHERE 'snowid'::regtype IN (opcintype, opckeytype)");
is(sql($sanity{$_}), '', $_) foreach sort keys %sanity;

is(sql('DROP EXTENSION snowid; SELECT count(*) FROM pg_cast WHERE oid >= 16384'), '0', 'nothing is left');
is(sql($integer), $before, 'the families of integers are as they were');
end_test($node);
