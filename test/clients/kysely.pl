# Kysely: IDs are strings, also in JSON that PostgreSQL makes, if the columns are of type snowid.
# Npm: kysely@0.28.19 pg@8.23.1 tsx@4.23.15

use strict;
use warnings;

use SnowidClients;

try_page(<<'END');
photos.id: snowid_next()
tags.id: snowid_next((42)::bigint, 'twitter'::snowid_layout)
END
