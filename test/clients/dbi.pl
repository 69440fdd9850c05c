# DBI with DBD::Pg: the page's rows have IDs in order, and none of them is lossy; a snowid is a string of digits.
# Debian: forky
# Needs: libdbi-perl libdbd-pg-perl

use strict;
use warnings;

use SnowidClients;
use Test::More;

# Debian's packages are for Debian's Perl, whatever else there is.
my $recipe = new_recipe(env => { PATH => "/usr/bin:$ENV{PATH}" });
names_version($recipe, 'DBD::Pg', 'dpkg-query -W libdbd-pg-perl');
run_page($recipe);

run_shell($recipe, <<'END', "1\nno ID\n");
cat photos.pl - >more.pl <<'PERL'
print $id > 2**53, "\n";
$db->{PrintError} = 0;
print eval { $db->last_insert_id(undef, undef, 'photos', undef) } ? "an ID\n" : "no ID\n";
PERL
perl more.pl
END
is(asked_as_app($recipe, q(SELECT string_agg(title, ' ' ORDER BY id) FROM photos WHERE title !~ '\d')), 'sunrise noon sunset', 'IDs are in order');
is(asked_as_app($recipe, q(SELECT count(*), min(id) > 2::bigint ^ 53 FROM photos WHERE title = 'photo ' || id)), '1000|t', 'COPY');
run_shell($recipe, q(perl -MDBI -e 'print DBI->connect("dbi:Pg:")->selectrow_array(q(SELECT 11637205501278089::snowid)), "\n"'), "11637205501278089\n");

$recipe->{node}->stop;
done_testing();
