# Drizzle: drizzle-kit push makes the defaults, finds no difference the second time, and leaves the extension alone;
# IDs come as BigInt, those of type snowid as strings.
# Npm: drizzle-orm@0.45.4 drizzle-kit@0.31.11 pg@8.23.1 tsx@4.23.15

use strict;
use warnings;

use SnowidClients;

try_page(<<'END');
pages.id: snowid_next((0)::bigint, 'js53'::snowid_layout)
photos.id: snowid_next()
posts.id: snowid_next()
tags.id: snowid_next((42)::bigint, 'twitter'::snowid_layout)
END
