# PgBouncer: in which mode what a session keeps is seen by the next client, and that what the page advises instead
# holds: roles with a shard, SET LOCAL, the shard in the call, RETURNING.
# Unpacks: pgbouncer

use strict;
use warnings;

use SnowidClients;
use Test::More;

my $recipe = new_recipe(port => 6432);
$recipe->{node}->safe_psql('postgres', 'ALTER ROLE app CREATEROLE');
run_page($recipe);

# Clients of all modes at once, who take turns on a connection for each: none is given another's ID.
run_shell($recipe, <<"END");
for mode in session transaction statement; do
  for n in 1 2 3 4; do
    for time in 1 2 3; do echo "INSERT INTO photos (title) SELECT 'of many' FROM generate_series(1, 500);"; done |
      psql -p $recipe->{port} -q \$mode &
  done
done
wait
END
is(asked_as_app($recipe, q(SELECT count(DISTINCT id) FROM photos WHERE title = 'of many')), '18000', 'each has got all of its IDs');

$recipe->{node}->stop;
done_testing();
