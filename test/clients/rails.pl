# Ruby on Rails: tables whose keys are IDs, schema.rb and structure.sql that load again and are the same afterwards, rows
# from ActiveRecord, and a bigserial that becomes one. insert_all is one statement.
# Needs: ruby-railties ruby-activerecord ruby-pg rake

use strict;
use warnings;

use SnowidClients;
use Test::More;

my $recipe = new_recipe(statements => 1);
# Where the page loads its schema again.
$recipe->{node}->safe_psql('postgres', "CREATE DATABASE $_ OWNER app") foreach qw(other third);
run_page($recipe);

my $defaults = q(SELECT attrelid::regclass, pg_get_expr(adbin, adrelid) FROM pg_attribute
    JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attrelid::regclass::text IN ('photos', 'comments') ORDER BY attrelid::regclass::text);
foreach my $database (qw(app other third))
{
    is($recipe->{node}->safe_psql($database, $defaults),
        "comments|snowid_next((7)::bigint, 'twitter'::snowid_layout)\nphotos|snowid_next()", "the defaults in $database");
}
is(asked_as_app($recipe, q(SELECT snowid_shard(id, 'twitter') FROM comments)), '7', 'the layout and shard are those of the migration');
is(asked_as_app($recipe, q(SELECT count(*) FROM (SELECT title, row_number() OVER (ORDER BY id) - 1 AS place FROM photos
    WHERE title ~ '^photo') rows WHERE title = 'photo ' || place)), '1000', 'IDs are in the order of the rows of insert_all');

is(statements_like($recipe, 'INSERT INTO "photos"%VALUES%'), 3, 'INSERTs: one row, and two of insert_all');

$recipe->{node}->stop;
done_testing();
