# JDBC: generated keys of single rows and of batches are those of the rows. How many statements each way takes: batches
# that return keys are not rewritten.
# Needs: default-jdk-headless libpostgresql-jdbc-java

use strict;
use warnings;

use SnowidClients;
use Test::More;

my $recipe = new_recipe(statements => 1, env => { CLASSPATH => '/usr/share/java/postgresql.jar:.' });
# The page's last program reads the outbox of another page.
run_sections($recipe, 'docs/read-in-order.md', 'An outbox', 'Wake up');
run_page($recipe);

is(asked_as_app($recipe, q(SELECT count(*) FROM (SELECT split_part(title, ' ', 2)::int AS n,
    row_number() OVER (PARTITION BY split_part(title, ' ', 1) ORDER BY id) - 1 AS place FROM photos WHERE title LIKE '% %') rows
    WHERE n = place)), '4000', 'IDs are in the order of the rows of a batch');

is(statements_like($recipe, 'INSERT INTO photos (title) VALUES%RETURNING%'), 2001, 'one row, and two batches that return keys');
is(statements_like($recipe, 'INSERT INTO photos (title) SELECT%'), 1, 'an array');
is(statements_like($recipe, 'INSERT INTO photos (id, title)%'), 10, 'a batch without keys that is rewritten');
is(statements_like($recipe, 'SELECT snowid_next_batch(%'), 1, 'its IDs');

is(asked_as_app($recipe, q(SELECT last_id >= (SELECT max(id) FROM outbox) FROM consumers WHERE name = 'search')), 't',
    'an outbox: the position is at the last message');

$recipe->{node}->stop;
done_testing();
