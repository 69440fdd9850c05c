# PostgreSQL's own statements and programs: who is given an ID, and who keeps his; that a dump of every format, and one
# of all sections, takes the ceiling along; and how PostgreSQL prints a default, as the list of pages says.
# Debian: forky

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use SnowidClients;
use Test::More;

my $recipe = new_recipe();
my $node = $recipe->{node};
$node->safe_psql('postgres', 'ALTER ROLE app CREATEDB');
names_version($recipe, 'PostgreSQL', 'psql --version');
run_page($recipe);

# In pgbench's prepared mode, parameters have no type.
put_file($recipe, 'pgbench', <<'END');
-- photos.pgbench
INSERT INTO photos (title) VALUES (gen_random_uuid()) RETURNING id AS photo \gset
UPDATE photos SET seen = :client_id WHERE id = :photo;
SELECT snowid_next(:client_id);
END
run_shell($recipe, 'pgbench -n -c 4 -j 2 -t 250 -M prepared -f photos.pgbench');

# Dumps of all formats, of all sections, and of a table.
run_blocks($recipe, { language => 'console', text => $_ }) foreach (<<'FORMATS', <<'SECTIONS', <<'TABLE');
$ pg_dump -Fp -f photos.sql
$ createdb plain && psql -q -v ON_ERROR_STOP=1 -d plain -f photos.sql
$ pg_dump -Fc -f photos.dump
$ createdb custom && pg_restore -d custom photos.dump
$ pg_dump -Fd -j 2 -f photos.dir
$ createdb directory && pg_restore -j 2 -d directory photos.dir
$ pg_dump -Ft -f photos.tar
$ createdb tar && pg_restore -d tar photos.tar
FORMATS
$ createdb sections
$ for section in pre-data data post-data; do \
    pg_dump --section=$section | psql -q -v ON_ERROR_STOP=1 -d sections || exit; done
SECTIONS
$ pg_dump -t photos | grep -c -e EXTENSION -e ceiling || true
0
TABLE

# No ID was generated in those that were restored, so their ceilings are the dumps'.
my $select = 'SELECT id, title, seen FROM photos ORDER BY id';
my $rows = $node->safe_psql('app', $select);
my ($last) = $rows =~ /^(\d+)[^\n]*\z/m;
foreach my $database (qw(plain custom directory tar sections))
{
    is($node->safe_psql($database, $select), $rows, "$database: the rows");
    is($node->safe_psql($database, <<"SQL"), 't', "$database: the ceiling is above their times");
SELECT last_value >= (extract(epoch FROM snowid_timestamp($last)) * 1000)::bigint FROM snowid_internal.ceiling
SQL
}

is(asked_as_app($recipe, q(SELECT string_agg(title || ' ' || seen, ', ' ORDER BY title) FROM photos WHERE title IN ('noon', 'night'))), 'night 1, noon 3', 'MERGE');
is(asked_as_app($recipe, q(SELECT count(*) FROM photos WHERE title ~ '-' AND seen BETWEEN 0 AND 3)), '1000', 'pgbench: each row has its own ID');

# How defaults are printed.
my %printed = slurp_file('docs/clients/README.md') =~ /^\|`(snowid_next\(.*)`\|`(.*)`\|$/mg;
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
