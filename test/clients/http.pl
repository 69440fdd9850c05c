# IDs over HTTP: what the page sets up gives IDs, in order, and its role may call the one function.
# Npm: postgraphile@4.14.1

use strict;
use warnings;

use SnowidClients;
use Test::More;

my $recipe = new_recipe(port => 5678);
$recipe->{node}->safe_psql('postgres', 'ALTER ROLE app CREATEROLE');
run_page($recipe);

is($recipe->{node}->safe_psql('app', <<'SQL'), 'api.next_ids(integer)', 'all that the role may call and that changes anything');
-- What runs with its rights and is no C does nothing that it could not do itself.
SELECT p.oid::regprocedure FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = pronamespace
WHERE nspname NOT IN ('pg_catalog', 'information_schema') AND (provolatile = 'v' OR nspname = 'public')
  AND (prosecdef OR nspname <> 'snowid' OR prolang = (SELECT oid FROM pg_language WHERE lanname = 'c'))
  AND proname <> 'rewound' -- which reads
  AND 'internal'::regtype <> ALL (proargtypes) -- what SQL cannot call
  AND has_schema_privilege('web', n.oid, 'USAGE') AND has_function_privilege('web', p.oid, 'EXECUTE')
SQL
run_shell($recipe, qq(psql -U web -At -v VERBOSITY=sqlstate -c "SELECT $_" 2>&1 || true), "ERROR:  42501\n")
  foreach 'public.snowid_next()', "snowid.draw_above(0, 7, 'instagram')";

$recipe->{node}->stop;
done_testing();
