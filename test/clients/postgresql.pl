# PostgreSQL's own statements and programs: who is given an ID, and who keeps his; that a dump of every format, and one
# of all sections, takes the ceiling along; and how PostgreSQL prints a default, as the list of pages says.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use SnowidClients;
use Test::More;

my $recipe = new_recipe();
my $node = $recipe->{node};
$node->safe_psql('postgres', 'ALTER ROLE app CREATEDB');
run_page($recipe);

# Nobody has drawn in those that were restored, so what their ceilings say they have from the dumps. What pgbench has
# added since has no words for titles.
my $rows = $node->safe_psql('app', q(SELECT id, title, seen FROM photos WHERE title ~ '^[a-z]+$' ORDER BY id));
my ($last) = $rows =~ /^(\d+)[^\n]*\z/m;
foreach my $database (qw(plain custom directory tar sections))
{
    is($node->safe_psql($database, 'SELECT id, title, seen FROM photos ORDER BY id'), $rows, "$database: the rows");
    is($node->safe_psql($database, <<"SQL"), 't', "$database: the ceiling is above their times");
SELECT last_value >= (extract(epoch FROM snowid_timestamp($last)) * 1000)::bigint FROM snowid_internal.ceiling
SQL
}

is(asked_as_app($recipe, q(SELECT count(*), count(DISTINCT photo_id) FROM tags WHERE word ~ '^of [0-3]$')), '2000|2000',
    'pgbench: each row has its own ID');

# How defaults are printed.
my %printed = slurp_file('docs/clients/README.md') =~ /^\| `(snowid_next\(.*)` \| `(.*)` \|$/mg;
is(scalar(keys %printed), 3, 'defaults are listed');
foreach my $written (sort keys %printed)
{
    my $default = $node->safe_psql('app', <<"SQL");
CREATE TEMPORARY TABLE t (id bigint DEFAULT $written);
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 't'::regclass;
SET search_path = pg_catalog;
SELECT pg_get_expr(adbin, adrelid) LIKE 'public.snowid_next(%' FROM pg_attrdef WHERE adrelid = 'pg_temp.t'::regclass;
SQL
    is($default, "$printed{$written}\nt", "how it is printed: $written");
}

$node->stop;
done_testing();
