# Kysely: IDs are strings, also in JSON that PostgreSQL makes, if the columns are of type snowid.
# Debian: forky
# Npm: kysely@0.29.9 pg@8.23.1 tsx@4.23.15

use strict;
use warnings;

use SnowidClients;

try_page(<<'END');
comments.id: snowid_next((42)::bigint, 'twitter'::snowid_layout)
photos.id: snowid_next()
END
