# Sequelize: sync makes the defaults, and sets the same ones again; dropAllTables leaves the extension alone;
# IDs come as strings.
# Npm: sequelize@6.37.8 pg@8.23.1 pg-hstore@2.3.4

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
