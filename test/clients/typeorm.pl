# TypeORM: synchronize makes the defaults and finds no difference afterwards; dropSchema leaves the extension alone;
# IDs come as strings.
# Npm: typeorm@1.1.1 pg@8.23.1

use strict;
use warnings;

use SnowidClients;

try_page(<<'END');
photos.id: snowid_next()
tags.id: snowid_next((42)::bigint, 'twitter'::snowid_layout)
END
