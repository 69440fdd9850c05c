# Django: models whose keys are IDs. makemigrations finds nothing to do the second time, and a BigAutoField becomes one
# in a migration, without a row lost. Django's test database gets the extension by the first migration, and has no
# IDs without that.
# Needs: python3-django python3-psycopg2

use strict;
use warnings;

use SnowidClients;
use Test::More;

# Debian's packages are for Debian's Python, whatever else there is.
my $recipe = new_recipe(statements => 1, env => { PATH => "/usr/bin:$ENV{PATH}" });
# Where Django makes its test database.
$recipe->{node}->safe_psql('postgres', 'ALTER ROLE app CREATEDB');
# Directories that Django takes for an application's.
put_file($recipe, 'python', "# album/$_\n") foreach qw(__init__.py migrations/__init__.py);
run_page($recipe);

is(asked_as_app($recipe, q(SELECT attrelid::regclass, pg_get_expr(adbin, adrelid) FROM pg_attribute
    JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attrelid::regclass::text ~ '^album_' ORDER BY 1)),
    "album_photo|snowid_next()\nalbum_comment|snowid_next()", 'both tables draw IDs');
is(asked_as_app($recipe, q(SELECT min(id), count(*) FROM album_comment)), '1|4', 'keys that were there stay');

# What create and bulk_create send.
is(statements_like($recipe, 'INSERT INTO "album_photo" ("title") VALUES%'), 2, 'INSERTs of a photo, and of 1,000');

# What the page says of the first migration.
run_shell($recipe, q(sed -i 's/CreateExtension("snowid")//' album/migrations/0001_snowid.py));
run_shell($recipe, q(python3 manage.py test 2>&1 | grep -o 'function snowid_next() does not exist' | head -n 1),
    "function snowid_next() does not exist\n");

$recipe->{node}->stop;
done_testing();
