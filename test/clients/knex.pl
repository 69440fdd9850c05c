# Knex: its migrations make the default, and undo what they made and no more; IDs come as strings.
# Npm: knex@3.3.0 pg@8.23.1

use strict;
use warnings;

use SnowidClients;

try_page(<<'END');
comments.id: snowid_next((42)::bigint, 'twitter'::snowid_layout)
photos.id: snowid_next()
END
