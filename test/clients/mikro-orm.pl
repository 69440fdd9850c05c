# MikroORM: its schema generator makes the defaults, finds no difference afterwards, and leaves the extension alone; IDs
# are strings. Without ignoreSchema it would drop tables.
# Debian: forky
# Npm: @mikro-orm/core@7.2.5 @mikro-orm/postgresql@7.2.5

use strict;
use warnings;

use SnowidClients;

try_page(<<'END');
comments.id: snowid_next()
photos.id: snowid_next()
END
