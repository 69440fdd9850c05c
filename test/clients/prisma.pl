# Prisma: its client leaves IDs to the database, and has them back as BigInt. Its migrations are not tested, since the
# program that does them is no package of npm's.
# Npm: prisma@6.19.3 @prisma/client@6.19.3 @prisma/adapter-pg@6.19.3 tsx@4.23.15

use strict;
use warnings;

use SnowidClients;
use Test::More;

my $recipe = new_recipe();
run_page($recipe);

# What the page rests on: its IDs are beyond what a number holds.
is(asked_as_app($recipe, 'SELECT count(*) FROM photos WHERE id > 9007199254740991'), '4', 'IDs that a number would round');

$recipe->{node}->stop;
done_testing();
