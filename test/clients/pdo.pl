# PDO: what the page does leaves its rows, in order, and IDs are integers.
# Needs: php-cli php-pgsql

use strict;
use warnings;

use SnowidClients;
use Test::More;

my $recipe = new_recipe();
run_page($recipe);

is(asked_as_app($recipe, q(SELECT count(*) FROM (SELECT title, row_number() OVER (ORDER BY id) - 1 AS place FROM photos
    WHERE title <> 'sunrise') rows WHERE title = 'photo ' || place)), '1000', 'IDs are in the order of the rows');

$recipe->{node}->stop;
done_testing();
