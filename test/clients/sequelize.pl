# Sequelize: sync makes the defaults, and sets the same ones again; dropAllTables leaves the extension alone;
# IDs come as strings.
# Npm: sequelize@6.37.8 pg@8.23.1 pg-hstore@2.3.4

use strict;
use warnings;

use SnowidClients;

try_page(<<'END');
photos.id: snowid_next()
tags.id: snowid_next((42)::bigint, 'twitter'::snowid_layout)
END
