# postgres.js: IDs come as strings or as BigInt, and are those of the table.
# Npm: postgres@3.4.9

use strict;
use warnings;

use SnowidClients;
use Test::More;

my $recipe = new_recipe();
run_page($recipe);

# What the page rests on: its IDs are beyond what a number holds.
is(asked_as_app($recipe, 'SELECT count(*) FROM comments WHERE id > 9007199254740991'), '2', 'IDs that a number would round');

put_file($recipe, 'js', <<'JS');
// bigint.mjs
import postgres from 'postgres';

const sql = postgres(process.env.DATABASE_URL, { types: { bigint: postgres.BigInt } });
const [{ id, text }] = await sql`SELECT id, id::text AS text FROM photos`;
const [found] = await sql`SELECT title FROM photos WHERE id = ${id}`;
console.log(typeof id, String(id) === text, found.title);
await sql.end();
JS
run_shell($recipe, 'node bigint.mjs', "bigint true sunrise\n");

$recipe->{node}->stop;
done_testing();
