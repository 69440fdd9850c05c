# asyncpg: rows of arrays and of COPY have IDs in order; times and layouts go as parameters.
# Needs: python3-asyncpg

use strict;
use warnings;

use SnowidClients;
use Test::More;

# Debian's packages are for Debian's Python, whatever else there is.
my $recipe = new_recipe(env => { PATH => "/usr/bin:$ENV{PATH}" });
run_page($recipe);

is(asked_as_app($recipe, q(SELECT count(*) FROM (SELECT title, row_number() OVER (ORDER BY id) - 1 AS place FROM photos
    WHERE title ~ '^photo') rows WHERE title = 'photo ' || place)), '1000', 'IDs are in the order of an array');
is(asked_as_app($recipe, q(SELECT count(*) FROM photos WHERE title = 'copy ' || id)), '1000', 'each row of COPY has the ID that was drawn for it');

$recipe->{node}->stop;
done_testing();
