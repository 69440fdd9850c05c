# Doctrine: keys from the page's generator, and a default for other programs; what the schema tool does to the extension's
# relations, with the filter and without.
# Debian: forky
# Needs: php-cli php-pgsql php-doctrine-orm php-symfony-cache

use strict;
use warnings;

use SnowidClients;
use Test::More;

my $recipe = new_recipe();
names_version($recipe, 'ORM', 'dpkg-query -W php-doctrine-orm');
names_version($recipe, 'DBAL', 'dpkg-query -W php-doctrine-dbal');
names_version($recipe, 'PHP', 'php --version');
run_page($recipe);

put_file($recipe, 'php', <<'END');
<?php // orm.php
require 'Doctrine/ORM/autoload.php';
require 'SnowidGenerator.php';
require 'Photo.php';

$config = Doctrine\ORM\ORMSetup::createAttributeMetadataConfig([__DIR__], true);
$config->enableNativeLazyObjects(true);
if (!getenv('UNFILTERED')) {
    (require 'filter.php')($config);
}
$connection = Doctrine\DBAL\DriverManager::getConnection([
    'driver' => 'pdo_pgsql', 'host' => getenv('PGHOST'), 'port' => (int) getenv('PGPORT'),
    'dbname' => getenv('PGDATABASE'), 'user' => getenv('PGUSER'), 'password' => getenv('PGPASSWORD')], $config);
$em = new Doctrine\ORM\EntityManager($connection, $config);
$tool = new Doctrine\ORM\Tools\SchemaTool($em);
$classes = [$em->getClassMetadata(Photo::class)];
END
put_file($recipe, 'php', <<'END');
<?php // create.php
require 'orm.php';
$tool->createSchema($classes);
END
put_file($recipe, 'php', <<'END');
<?php // update.php
require 'orm.php';
foreach ($tool->getUpdateSchemaSql($classes) as $sql) {
    echo $sql, "\n";
}
END
put_file($recipe, 'php', <<'END');
<?php // rows.php
require 'orm.php';
$ids = [];
foreach (['sunrise', 'noon', 'sunset'] as $title) {
    $em->persist($photo = new Photo($title));
    $ids[] = $photo->id;
}
$em->flush();
$em->clear();
$photo = $em->find(Photo::class, $ids[1]);
printf("%s %s %s\n", gettype($photo->id), var_export($photo->id > 2 ** 53, true), $photo->title);
printf("%s\n", var_export(json_encode($photo) === "{\"id\":\"$ids[1]\",\"title\":\"noon\"}", true));
printf("%s\n", implode(' ', array_map(fn ($photo) => $photo->title, (require 'page.php')($em, $ids[2]))));
END
run_shell($recipe, 'php create.php');
is(asked_as_app($recipe, q(SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'photos'::regclass)), 'snowid_next()', 'the default');
run_shell($recipe, 'php rows.php', "integer true noon\ntrue\nnoon sunrise\n");
run_shell($recipe, 'php update.php | wc -l', "0\n");
run_shell($recipe, q(UNFILTERED=1 php update.php | grep -o 'DROP SEQUENCE snowid_internal.ceiling'), "DROP SEQUENCE snowid_internal.ceiling\n");

$recipe->{node}->stop;
done_testing();
