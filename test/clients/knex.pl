# Knex: its migrations make the default, and undo what they made and no more; IDs come as strings.
# Npm: knex@3.3.0 pg@8.23.1

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

$recipe->{node}->stop;
done_testing();
