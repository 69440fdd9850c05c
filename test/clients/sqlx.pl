# SQLx: an ID of type snowid is a type of its own, exact in JSON built by SQL and by serde.
# Debian: forky
# Needs: cargo librust-sqlx-dev librust-tokio-dev librust-serde-dev librust-serde-json-dev

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
