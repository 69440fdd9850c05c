# node-postgres: IDs come as strings or as BigInt, and are those of the table. In JSON those of type snowid are exact.
# Npm: pg@8.23.1

use strict;
use warnings;

use SnowidClients;
use Test::More;

my $recipe = new_recipe();
run_page($recipe);

# What the page rests on: its default layout's IDs are beyond what a number holds.
is(asked_as_app($recipe, 'SELECT count(*) FROM comments WHERE id > 9007199254740991'), '2', 'IDs that a number would round');

# IDs of all sizes, in JSON that PostgreSQL makes, as JSON.parse reads them: those of type snowid are exact, others are not.
asked_as_app($recipe, <<'SQL');
CREATE TABLE many (id snowid PRIMARY KEY, number bigint);
INSERT INTO many SELECT id, id FROM (SELECT DISTINCT hashint8extended(n, 0) >> (n % 60)::int AS id FROM generate_series(1, 130000) AS n) AS r
  ORDER BY hashint8(id) LIMIT 99998;
INSERT INTO many SELECT id, id FROM unnest('{-9223372036854775808,9223372036854775807}'::bigint[]) AS id;
SQL
put_file($recipe, 'js', <<'JS');
// many.mjs
import pg from 'pg';

const client = new pg.Client();
await client.connect();
const { rows: [{ text, json }] } = await client.query('SELECT json_agg(m ORDER BY id)::text AS text, json_agg(m ORDER BY id) AS json FROM many AS m');
const { rows } = await client.query('SELECT id FROM many ORDER BY id');
const parsed = JSON.parse(text);
const differ = (read) => rows.filter(({ id }, n) => read[n].id !== id).length;
console.log(rows.length, parsed.length, differ(parsed), differ(json), parsed.some(({ id, number }) => id !== String(number)));
await client.end();
JS
run_shell($recipe, 'node many.mjs', "100000 100000 0 0 true\n");

$recipe->{node}->stop;
done_testing();
