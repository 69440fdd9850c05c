# Diesel: a snowid is a BigInt, exact in JSON built by serde.
# Debian: trixie
# Needs: cargo libpq-dev librust-diesel-dev librust-serde-dev librust-serde-json-dev

use strict;
use warnings;

use SnowidClients;
use Test::More;

my $recipe = new_recipe();
use_debian_crates($recipe);
run_page($recipe);
is(asked_as_app($recipe, 'SELECT count(*) FROM comments WHERE photo > 9007199254740991'), '2', 'IDs that a number would round');
$recipe->{node}->stop;
done_testing();
