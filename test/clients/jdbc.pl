# JDBC: generated keys of single rows and of batches are those of the rows, whether batches are rewritten or not.
# Needs: default-jdk-headless libpostgresql-jdbc-java

use strict;
use warnings;

use SnowidClients;
use Test::More;

my $recipe = new_recipe(env => { CLASSPATH => '/usr/share/java/postgresql.jar:.' });
run_page($recipe);

is(asked_as_app($recipe, q(SELECT count(*) FROM (SELECT split_part(title, ' ', 2)::int AS n,
    row_number() OVER (PARTITION BY split_part(title, ' ', 1) ORDER BY id) - 1 AS place FROM photos WHERE title LIKE '% %') rows
    WHERE n = place)), '2000', 'IDs are in the order of the rows of a batch');

$recipe->{node}->stop;
done_testing();
