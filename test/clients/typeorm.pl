# TypeORM: synchronize makes the defaults and finds no difference afterwards; dropSchema leaves the extension alone;
# IDs come as strings.
# Npm: typeorm@1.1.1 pg@8.23.1

use strict;
use warnings;

use SnowidClients;
use Test::More;

my $recipe = new_recipe();
my $before = objects_of_extension($recipe);
run_page($recipe);

is(defaults_of($recipe), <<'END', 'the defaults, as PostgreSQL prints them');
photos.id: snowid_next()
tags.id: snowid_next((42)::bigint, 'twitter'::snowid_layout)
END
is(objects_of_extension($recipe), $before, 'the extension is as it was');
is(asked_as_app($recipe, 'SELECT count(*) FROM snowid.ceiling'), '1', 'it has its ceiling');

$recipe->{node}->stop;
done_testing();
