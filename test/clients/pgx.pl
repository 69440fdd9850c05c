# pgx: rows, batches and COPY from Go have IDs in order; layouts and times go as parameters.
# Needs: golang-go golang-github-jackc-pgx-v4-dev

use strict;
use warnings;

use SnowidClients;
use Test::More;

# Debian's packages are sources, without modules. Nothing is fetched.
my $recipe = new_recipe(env => { GO111MODULE => 'off', GOPATH => '/usr/share/gocode', CGO_ENABLED => '0' });
# The page's last program reads the outbox of another page.
run_sections($recipe, 'docs/read-in-order.md', 'An outbox', 'Wake up');
run_page($recipe);

is(asked_as_app($recipe, q(SELECT string_agg(title, ' ' ORDER BY id) FROM photos WHERE title !~ '\d')), 'sunrise noon sunset night',
    'IDs are in the order of an array');
is(asked_as_app($recipe, q(SELECT count(*) FROM (SELECT title, row_number() OVER (PARTITION BY title ~ 'copy' ORDER BY id) - 1 AS place
    FROM photos WHERE title ~ '\d') rows WHERE title ~ ('^(batch|copy) ' || place || '$'))), '1100', 'and in that of a batch, and of COPY');

is(asked_as_app($recipe, q(SELECT last_id >= (SELECT max(id) FROM outbox) FROM consumers WHERE name = 'search')), 't',
    'an outbox: the position is at the last message');

$recipe->{node}->stop;
done_testing();
