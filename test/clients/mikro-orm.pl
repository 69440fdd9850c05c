# MikroORM: its schema generator makes the defaults, finds no difference afterwards, and leaves the extension alone; IDs
# are strings. What it does without ignoreSchema, and with its own type.
# Debian: forky
# Npm: @mikro-orm/core@7.2.5 @mikro-orm/postgresql@7.2.5

use strict;
use warnings;

use SnowidClients;
use Test::More;

sub by_default
{
    my ($recipe) = @_;
    put_file($recipe, 'js', <<'END');
// default.mjs
import { EntitySchema, MikroORM, types } from '@mikro-orm/postgresql';

const Photo = new EntitySchema({
  name: 'Photo',
  tableName: 'photos',
  properties: {
    id: { type: types.bigint, columnType: 'snowid', primary: true, defaultRaw: 'snowid_next()' },
    title: { type: 'text' },
  },
});
const orm = await MikroORM.init({ entities: [Photo], clientUrl: process.env.DATABASE_URL });
const sql = await orm.schema.getUpdateSchemaSQL();
console.log(/drop table .*"snowid_internal"/.test(sql));
const [photo] = await orm.em.fork().findAll(Photo, { limit: 1 });
console.log(typeof photo.id);
console.log(typeof JSON.parse(JSON.stringify(photo)).id);
await orm.close();
END
    run_shell($recipe, 'node default.mjs', "true\nbigint\nstring\n");
    return;
}

try_page(<<'END', \&by_default);
comments.id: snowid_next()
photos.id: snowid_next()
END
