# node-postgres: IDs come as strings or as BigInt, and are those of the table; as numbers they are exact in js53.
# Npm: pg@8.23.1

use strict;
use warnings;

use SnowidClients;
use Test::More;

my $recipe = new_recipe();
run_page($recipe);

# What the page rests on: its default layout's IDs are beyond what a number holds.
is(asked_as_app($recipe, 'SELECT count(*) FROM photos WHERE id > 9007199254740991'), '4', 'IDs that a number would round');

run_sections($recipe, 'docs/read-in-order.md', 'An outbox', 'Wake up', 'node-postgres');
is(asked_as_app($recipe, q(SELECT last_id >= (SELECT max(id) FROM outbox) FROM consumers WHERE name = 'search')), 't',
    'docs/read-in-order.md: the position is at the last message');

$recipe->{node}->stop;
done_testing();
