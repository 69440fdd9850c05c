# TypeORM: synchronize makes the defaults and finds no difference afterwards; dropSchema leaves the extension alone;
# IDs come as strings. What synchronize does to an adopted table whose entity was left as it was.
# Npm: typeorm@1.1.1 pg@8.23.1

use strict;
use warnings;

use SnowidClients;
use Test::More;

# What the default of the orders' IDs is after synchronize, a second time too, with a column that is said to be so.
sub synchronized
{
    my ($recipe, $column) = @_;
    asked_as_app($recipe, 'ALTER TABLE orders ALTER id SET DEFAULT snowid_next()');
    put_file($recipe, 'js', <<"END");
// left.mjs
import { EntitySchema } from 'typeorm';
import { source } from './source.mjs';

const columns = { id: { type: 'bigint', primary: true, $column }, item: { type: 'text' } };
source.setOptions({ entities: [new EntitySchema({ name: 'Order', tableName: 'orders', columns })] });
await source.initialize();
for (const n of [1, 2]) {
  await source.synchronize();
  const [row] = await source.query(`SELECT pg_get_expr(adbin, adrelid) AS default FROM pg_attribute
    LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum WHERE attrelid = 'orders'::regclass AND attname = 'id'`);
  console.log(row.default);
}
await source.destroy();
END
    return run_shell($recipe, 'node left.mjs');
}

sub left_as_they_were
{
    my ($recipe) = @_;
    asked_as_app($recipe, q(CREATE TABLE orders (id bigserial PRIMARY KEY, item text NOT NULL); INSERT INTO orders (item) VALUES ('tea')));
    asked_as_app($recipe, q(SELECT snowid.adopt('orders', 'id')));
    is(synchronized($recipe, q(generated: 'increment')), "null\nnextval('orders_id_seq'::regclass)\n", 'an entity whose key is generated');
    is(asked_as_app($recipe, q(SELECT nextval('orders_id_seq'))), '1', 'its sequence begins among the old keys');
    is(synchronized($recipe, ''), "null\nnull\n", 'an entity without a default');
    is(synchronized($recipe, q(default: () => 'snowid_next()')), "snowid_next()\nsnowid_next()\n", 'an entity as the page has it');
    return;
}

try_page(<<'END', \&left_as_they_were);
comments.id: snowid_next((42)::bigint, 'twitter'::snowid_layout)
photos.id: snowid_next()
END
