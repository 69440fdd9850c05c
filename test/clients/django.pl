# Django: models whose keys are IDs. makemigrations finds nothing to do the second time, and a BigAutoField becomes one
# in a migration, without a row lost.
# Needs: python3-django python3-psycopg2

use strict;
use warnings;

use SnowidClients;
use Test::More;

# Debian's packages are for Debian's Python, whatever else there is.
my $recipe = new_recipe(env => { PATH => "/usr/bin:$ENV{PATH}" });
# A directory that Django takes for an application's.
put_file($recipe, 'python', "# album/__init__.py\n");
run_page($recipe);

is(asked_as_app($recipe, q(SELECT attrelid::regclass, pg_get_expr(adbin, adrelid) FROM pg_attribute
    JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attrelid::regclass::text ~ '^album_' ORDER BY 1)),
    "album_photo|snowid_next()\nalbum_comment|snowid_next()", 'both tables draw IDs');
is(asked_as_app($recipe, q(SELECT min(id), count(*) FROM album_comment)), '1|4', 'keys that were there stay');

$recipe->{node}->stop;
done_testing();
