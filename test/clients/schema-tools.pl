# Schema tools: what the page says of each, and the extension is as it was afterwards.
# Needs: pgcopydb php-cli php-pgsql php-doctrine-dbal
# Npm: @mikro-orm/core@6.6.16 @mikro-orm/postgresql@6.6.16 drizzle-orm@0.45.4 drizzle-kit@0.31.11 pg@8.23.1

use strict;
use warnings;

use SnowidClients;
use Test::More;

my $recipe = new_recipe();
$recipe->{node}->safe_psql('postgres', 'CREATE DATABASE target OWNER app');
my $objects = q(SELECT string_agg(objid::text, ' ' ORDER BY classid, objid) FROM pg_depend WHERE deptype = 'e');
my $before = asked_as_app($recipe, $objects);
run_page($recipe);
is(asked_as_app($recipe, $objects), $before, 'the extension is as it was');
is(asked_as_app($recipe, 'SELECT count(*) FROM photos WHERE id > snowid_next()'), '0', 'and issues IDs above the rows');
$recipe->{node}->stop;
done_testing();
