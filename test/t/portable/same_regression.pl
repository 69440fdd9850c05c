# portable/snowid.sql does what the extension does: regression tests of the extension give what they give there, run by the owner of
# a database, who is not a superuser. And its functions are those of the extension, by their names, arguments, marks and comments,
# but for what docs/portable.md says. No function goes by its caller's search_path.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my @tests = qw(setup next decode named uuid_ids text);
my $node = ready_server('same_regression', conf => "max_locks_per_transaction = 256\n");
create_portable($node, 'portable', shards => [ 1 .. 999, 8191 ]);
$node->safe_psql('portable', 'SELECT snowid.create_shard(3, layout) FROM unnest(enum_range(NULL::snowid_layout)) AS layout', extra_params => [ '-U', portable_owner() ]);
my $out = "$ENV{TESTDATADIR}/regression";
my $succeeded = run_log(
    [
        $ENV{PG_REGRESS}, '--use-existing', '--dbname=portable', '--user=' . portable_owner(), '--inputdir=.',
        '--host=' . $node->host, '--port=' . $node->port, "--outputdir=$out", @tests
    ]);
ok($succeeded, "regression tests: @tests") or diag(-e "$out/regression.diffs" ? slurp_file("$out/regression.diffs") : 'no diffs');
is(scalar(my @results = glob "$out/results/*.out"), scalar(@tests), 'each of them was run');

# What both say of a function that users call. How they differ: what makes IDs writes to sequences, which no parallel worker may.
my ($extension, $portable) = map {
    +{ map { split /[|]/, $_, 2 } split /\n/, $node->safe_psql($_, <<'SQL') }
SELECT proname || '(' || pg_get_function_arguments(oid) || ') ' || pg_get_function_result(oid),
       provolatile, proisstrict, proparallel, proretset, obj_description(oid, 'pg_proc')
  FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proname ~ '^snowid_' AND proname <> 'snowid_layout'
SQL
} 'postgres', 'portable';
cmp_ok(scalar(keys %$portable), '>=', 19, 'functions');
foreach my $function (sort keys %$portable)
{
    my $there = $extension->{$function} // 'is not there';
    $there =~ s/^v[|]t[|]r[|]/v|t|u|/ if $function =~ /^snowid_(?:next|next_batch|reserve)\(/;
    is($portable->{$function}, $there, $function);
}

# In sessions whose strings have escapes (before PostgreSQL 19), too. The second ID is waited for.
is(($node->psql('portable', <<'SQL', on_error_stop => 0))[1], "11637205501278089|5\n5", 'with escapes in strings');
SET standard_conforming_strings = off;
SET snowid.default_shard = '5';
SET snowid.max_wait = '5 s';
SELECT snowid_from_base62('B0CRIXKjCuH'), snowid_shard(snowid_next());
SELECT FROM snowid_shards.instagram_5 WHERE setval('snowid_shards.instagram_5', last_value + (2500::bigint << 10)) IS NULL;
SELECT snowid_shard(snowid_next());
SQL
is($node->safe_psql('portable', <<'SQL'), '', 'all objects have comments, and functions a search_path, or a body that was read when they were made');
WITH functions AS (SELECT * FROM pg_proc WHERE proname ~ '^snowid_' OR pronamespace = 'snowid'::regnamespace)
SELECT pg_describe_object(classid, o.objid, 0) FROM (
  SELECT 'pg_proc'::regclass, oid FROM functions
  UNION SELECT 'pg_class'::regclass, oid FROM pg_class WHERE relnamespace::regnamespace::text IN ('snowid', 'snowid_shards')
  UNION SELECT 'pg_trigger'::regclass, oid FROM pg_trigger WHERE tgrelid = 'snowid.settings'::regclass
  UNION SELECT 'pg_type'::regclass, oid FROM pg_type WHERE typname = 'snowid_layout'
  UNION SELECT 'pg_namespace'::regclass, oid FROM pg_namespace WHERE nspname IN ('snowid', 'snowid_shards')) AS o (classid, objid)
 WHERE obj_description(objid, classid::regclass::name) IS NULL
UNION ALL SELECT oid::regprocedure::text FROM functions
 WHERE prosqlbody IS NULL AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (proconfig), false)
SQL
end_test($node);
