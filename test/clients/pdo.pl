# PDO: the page's rows have IDs in order, which are integers; a snowid is a string of digits.
# Debian: forky
# Needs: php-cli php-pgsql

use strict;
use warnings;

use SnowidClients;
use Test::More;

my $recipe = new_recipe();
names_version($recipe, 'PHP', 'php --version');
run_page($recipe);

run_shell($recipe, <<'END', qq(integer true 1000 true\n55000\nstring double\n{"id":"11637205501278089"}\n));
cat photos.php - >more.php <<'PHP'
printf("%s %s %d %s\n", gettype($id), var_export($id > 2 ** 53, true), count($ids), var_export($ids[0] > $id, true));
try {
    $db->lastInsertId();
} catch (PDOException $e) {
    printf("%s\n", $e->getCode());
}
printf("%s %s\n", gettype($db->query('SELECT 1::snowid')->fetchColumn()), gettype(PHP_INT_MAX + $id));
printf("%s\n", json_encode(['id' => (string) 11637205501278089]));
PHP
php more.php
END
is(asked_as_app($recipe, q(SELECT string_agg(title, ' ' ORDER BY id) FROM photos)), 'sunrise noon sunset', 'IDs are in order');

$recipe->{node}->stop;
done_testing();
