# psycopg 2 and 3: what the page does leaves its rows, each with an ID of now, and none of them lossy. How many
# statements many rows take.
# Needs: python3-psycopg python3-psycopg2

use strict;
use warnings;

use SnowidClients;
use Test::More;

# Debian's packages are for Debian's Python, whatever else there is.
my $recipe = new_recipe(statements => 1, env => { PATH => "/usr/bin:$ENV{PATH}" });
# The page's last program reads the outbox of another page.
run_sections($recipe, 'docs/read-in-order.md', 'An outbox', 'Wake up');
run_page($recipe);

is(asked_as_app($recipe, q(SELECT string_agg(title, ' ' ORDER BY id) FROM photos WHERE title !~ '\d')),
    'sunrise noon sunset night moonrise', 'IDs are in the order of what was done');
is(asked_as_app($recipe, q(SELECT count(*) FROM photos WHERE title = 'photo ' || id)), '1000',
    'each row of COPY has the ID that was drawn for it');

is(statements_like($recipe, 'INSERT INTO photos (title) VALUES ($1) RETURNING id'), 5, 'one by one: three rows, and two of executemany');
is(statements_like($recipe, 'INSERT INTO photos (title) VALUES ($1),%'), 10, 'execute_values: 1,000 rows');

is(asked_as_app($recipe, q(SELECT last_id >= (SELECT max(id) FROM outbox) FROM consumers WHERE name = 'search')), 't',
    'an outbox: the position is at the last message');

$recipe->{node}->stop;
done_testing();
