# Sequelize: sync makes the defaults, and sets the same ones again; dropAllTables leaves the extension alone;
# IDs come as strings.
# Npm: sequelize@6.37.8 pg@8.23.1 pg-hstore@2.3.4

use strict;
use warnings;

use SnowidClients;

use Test::More;

# The page's last facts.
sub synced_again
{
    my ($recipe) = @_;
    put_file($recipe, 'js', <<'END');
// again.mjs
import { Photo, sequelize } from './models.mjs';

await sequelize.sync({ alter: true });
await sequelize.getQueryInterface().dropAllTables();
console.log((await sequelize.getQueryInterface().showAllTables()).length);
await sequelize.sync();
await Photo.create({ title: 'again' });
console.log(await Photo.count());
await sequelize.close();
END
    run_shell($recipe, 'node again.mjs', "0\n1\n");
    is(asked_as_app($recipe, 'SELECT count(*) FROM snowid_internal.ceiling'), '1', 'and the extension has its ceiling');
    return;
}

try_page(<<'END', \&synced_again);
comments.id: snowid_next()
photos.id: snowid_next()
END
