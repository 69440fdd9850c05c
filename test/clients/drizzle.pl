# Drizzle: drizzle-kit push makes the defaults, finds no difference the second time, and leaves the extension alone. Nested
# IDs of relational queries are exact if the columns are of type snowid. With bigint they are not, in either mode.
# Npm: drizzle-orm@0.45.4 drizzle-kit@0.31.11 pg@8.23.1 tsx@4.23.15

use strict;
use warnings;

use SnowidClients;
use Test::More;

# The page's tables with rows whose IDs differ by 1, the same as nested IDs by a schema with `column` for an ID.
sub nested_ids
{
    my ($recipe, $import, $column) = @_;
    put_file($recipe, 'ts', <<"END");
// nested.ts
import { asc, relations } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { bigint, pgTable, text } from 'drizzle-orm/pg-core';
$import

const photos = pgTable('photos', { id: $column.primaryKey(), title: text() });
const comments = pgTable('comments', { id: $column.primaryKey(), photo: $column, body: text() });
const photosRelations = relations(photos, ({ many }) => ({ comments: many(comments) }));
const commentsRelations = relations(comments, ({ one }) => ({ to: one(photos, { fields: [comments.photo], references: [photos.id] }) }));
const db = drizzle(process.env.DATABASE_URL!, { schema: { photos, comments, photosRelations, commentsRelations } });

async function main() {
  const found = await db.query.photos.findMany({ where: (photo, { eq }) => eq(photo.title, 'nested'),
    with: { comments: { orderBy: asc(comments.id), with: { to: true } } } });
  for (const { id, comments } of found) {
    console.log(String(id), ...comments.map((comment) => `\${comment.id}/\${comment.photo}/\${comment.to!.id}`));
  }
  await db.\$client.end();
}

main();
END
    return run_shell($recipe, 'npx tsx nested.ts');
}

sub nested
{
    my ($recipe) = @_;
    asked_as_app($recipe, <<'SQL');
INSERT INTO photos (id, title) VALUES (4039854975688376321, 'nested');
INSERT INTO comments (id, photo, body) SELECT 4039854975688376321 + n, 4039854975688376321, 'nested' FROM generate_series(0, 2) AS n;
SQL
    my $photo = '4039854975688376321';
    is(nested_ids($recipe, q(import { snowid } from './schema';), 'snowid()'),
        join(' ', $photo, map { "403985497568837632$_/$photo/$photo" } 1 .. 3) . "\n", 'the type snowid: nested IDs are exact');
    # The type of the database is what counts.
    asked_as_app($recipe, <<'SQL');
ALTER TABLE comments ALTER id TYPE bigint, ALTER photo TYPE bigint;
ALTER TABLE photos ALTER id TYPE bigint;
SQL
    my $wrong = '4039854975688376300';
    like(nested_ids($recipe, '', q(bigint({ mode: 'bigint' }))), qr{^$photo( (40398549756883763\d\d)/\2/\2){3}$},
        'a bigint: three different IDs, and the one of the photo, are one');
    unlike(nested_ids($recipe, '', q(bigint({ mode: 'bigint' }))), qr{ $photo/}, 'which is none of them');
    return;
}

try_page(<<'END', \&nested);
comments.id: snowid_next((42)::bigint, 'twitter'::snowid_layout)
photos.id: snowid_next()
END
