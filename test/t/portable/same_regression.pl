# portable/snowid.sql does what the extension does: regression tests of the extension give what they give there, run
# by the owner of a database, who is not a superuser. And its functions are those of the extension, by their names,
# arguments, marks and comments, but for what docs/portable.md says.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my @tests = qw(setup next decode named uuid_ids text);

my $node = new_server('same_regression');
$node->append_conf('postgresql.conf', 'max_locks_per_transaction = 256');
$node->start;
create_portable($node, 'portable', shards => [ 1 .. 999, 8191 ]);
$node->safe_psql('portable', <<'SQL', extra_params => [ '-U', portable_owner() ]);
SELECT snowid.create_shard(3, layout) FROM unnest(enum_range(NULL::snowid_layout)) AS layout;
SQL
my $out = "$ENV{TESTDATADIR}/regression";
my $succeeded = run_log(
    [
        $ENV{PG_REGRESS}, '--use-existing', '--dbname=portable', '--user=' . portable_owner(), '--inputdir=.',
        '--host=' . $node->host, '--port=' . $node->port, "--outputdir=$out", @tests
    ]);
ok($succeeded, "regression tests: @tests") or diag(-e "$out/regression.diffs" ? slurp_file("$out/regression.diffs") : 'no diffs');
is(scalar(my @results = glob "$out/results/*.out"), scalar(@tests), 'each of them was run');

# What both say of a function that users call.
$node->safe_psql('postgres', 'CREATE DATABASE extension');
$node->safe_psql('extension', 'CREATE EXTENSION snowid');
my %functions;
foreach my $database ('extension', 'portable')
{
    my @lines = split /\n/, $node->safe_psql($database, <<'SQL');
SELECT proname || '(' || pg_get_function_arguments(oid) || ') ' || pg_get_function_result(oid),
       provolatile, proisstrict, proparallel, proretset, obj_description(oid, 'pg_proc')
  FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proname ~ '^snowid_' AND proname <> 'snowid_layout';
SQL
    $functions{$database} = { map { split /[|]/, $_, 2 } @lines };
}
my ($portable, $extension) = @functions{qw(portable extension)};
cmp_ok(scalar(keys %$portable), '>=', 19, 'functions');
# How they differ, each: what makes IDs writes to sequences, which no parallel worker may; releasing has no word for where
# the shard goes, counts at once, and cannot be of a null shard; accepting counts at once.
my %differs = map { $_ => 1 } qw(snowid_next snowid_next_batch snowid_reserve);
foreach my $function (sort grep { !/^snowid_(?:release|accept)\(/ } keys %$portable)
{
    my ($name) = $function =~ /^(\w+)/;
    my $there = $extension->{$function} // 'is not there';
    $there =~ s/^v[|]t[|]r[|]/v|t|u|/ if $differs{$name};
    is($portable->{$function}, $there, $function);
}

# In sessions whose strings have escapes (before PostgreSQL 19), too. The second ID is waited for.
is(($node->psql('portable', <<'SQL', on_error_stop => 0))[1], "11637205501278089|5\n5", 'with escapes in strings');
SET standard_conforming_strings = off;
SET snowid.shard = '5';
SET snowid.max_wait = '5 s';
SELECT snowid_from_base62('B0CRIXKjCuH'), snowid_shard(snowid_next());
SELECT FROM snowid_shards.instagram_5 WHERE setval('snowid_shards.instagram_5', last_value + (2500::bigint << 10)) IS NULL;
SELECT snowid_shard(snowid_next());
SQL

# Each object has a comment, and each function a search_path, or a body that was read when it was made.
is($node->safe_psql('portable', <<'SQL'), '', 'all objects have comments');
SELECT classid::regclass, o.objid, pg_describe_object(classid, o.objid, 0) FROM (
  SELECT 'pg_proc'::regclass, oid FROM pg_proc WHERE proname ~ '^snowid_' OR pronamespace = 'snowid'::regnamespace
  UNION SELECT 'pg_class'::regclass, oid FROM pg_class WHERE relnamespace::regnamespace::text IN ('snowid', 'snowid_shards')
  UNION SELECT 'pg_trigger'::regclass, oid FROM pg_trigger WHERE tgrelid = 'snowid.settings'::regclass
  UNION SELECT 'pg_type'::regclass, oid FROM pg_type WHERE typname = 'snowid_layout'
  UNION SELECT 'pg_namespace'::regclass, oid FROM pg_namespace WHERE nspname IN ('snowid', 'snowid_shards')) AS o (classid, objid)
 WHERE obj_description(objid, classid::regclass::name) IS NULL
SQL
is($node->safe_psql('portable', <<'SQL'), '', q(no function goes by its caller's search_path));
SELECT oid::regprocedure FROM pg_proc WHERE (proname ~ '^snowid_' OR pronamespace = 'snowid'::regnamespace)
   AND prosqlbody IS NULL AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (proconfig), false)
SQL

$node->stop;
done_testing();
